// Importing rigid-ipc's scenes: masses, inertia and poses against an independent reading of the files.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <sstream>

#include <nlohmann/json.hpp>

#include "scene/support.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/simulation.hpp"
#include "tenon/state.hpp"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double degree = std::numbers::pi / 180;

fs::path fixtures() {
    return fs::path(TENON_SOURCE_DIR) / ".." / "shared" / "fixtures" / "rigid-ipc";
}

std::string fixture(const std::string& name) {
    return (fixtures() / "3D" / name).string();
}

#define SKIP_WITHOUT_FIXTURES() \
    if (!fs::exists(fixtures() / "3D")) GTEST_SKIP() << "no rigid-ipc scenes at " << fixtures()

std::vector<fs::path> all_scenes() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(fixtures() / "3D"))
        if (entry.path().extension() == ".json") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

struct PlainMesh {
    std::vector<Vec3> vertices;
    std::vector<std::array<int, 3>> triangles;
};

// Vertices, equal ones once, and fans of faces, read without the library.
PlainMesh plain_obj(const fs::path& file) {
    PlainMesh mesh;
    std::map<std::array<double, 3>, int> seen;
    std::vector<int> number;
    std::ifstream in(file);
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "v") {
            std::array<double, 3> v;
            words >> v[0] >> v[1] >> v[2];
            const auto [found, is_new] = seen.emplace(v, static_cast<int>(mesh.vertices.size()));
            if (is_new) mesh.vertices.push_back({v[0], v[1], v[2]});
            number.push_back(found->second);
        }
        if (word != "f") continue;
        std::vector<int> corners;
        while (words >> word) corners.push_back(number[static_cast<std::size_t>(std::stoi(word) - 1)]);
        for (std::size_t k = 2; k < corners.size(); ++k)
            mesh.triangles.push_back({corners[0], corners[k - 1], corners[k]});
    }
    return mesh;
}

// Binary STL: 80 bytes, a count, then 50 bytes a triangle (normal, three corners of floats, two bytes).
PlainMesh plain_stl(const fs::path& file) {
    PlainMesh mesh;
    std::ifstream in(file, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    std::map<std::array<float, 3>, int> seen;
    for (std::size_t at = 84; at + 50 <= bytes.size(); at += 50) {
        std::array<int, 3> triangle;
        for (std::size_t k = 0; k < 3; ++k) {
            std::array<float, 3> corner;
            std::memcpy(corner.data(), bytes.data() + at + 12 + 12 * k, 12);
            const auto [found, is_new] = seen.emplace(corner, static_cast<int>(mesh.vertices.size()));
            if (is_new) mesh.vertices.push_back({corner[0], corner[1], corner[2]});
            triangle[k] = found->second;
        }
        mesh.triangles.push_back(triangle);
    }
    return mesh;
}

PlainMesh plain_mesh(const fs::path& file) {
    return file.extension() == ".stl" ? plain_stl(file) : plain_obj(file);
}

bool closed(const PlainMesh& mesh) {
    std::map<std::pair<int, int>, int> count;
    for (const auto& t : mesh.triangles)
        for (std::size_t k = 0; k < 3; ++k) ++count[std::minmax({t[k], t[(k + 1) % 3]})];
    return !mesh.triangles.empty() &&
           std::all_of(count.begin(), count.end(), [](auto& e) { return e.second == 2; });
}

// Volume, centroid and integral of x x^T from the tetrahedra between the origin and each triangle:
// V = det/6, centroid (a+b+c)/4, second = det/120 (sum of v v^T over corners and their sum).
struct Integrals {
    double volume = 0;
    Vec3 centroid = Vec3::Zero();
    Mat3 second = Mat3::Zero();  // about the centroid
};

Integrals integrals(const PlainMesh& mesh) {
    Integrals sum;
    for (const auto& t : mesh.triangles) {
        const Vec3 &a = mesh.vertices[t[0]], &b = mesh.vertices[t[1]], &c = mesh.vertices[t[2]];
        const double det = a.dot(b.cross(c));
        const Vec3 s = a + b + c;
        sum.volume += det / 6;
        sum.centroid += det / 24 * s;
        sum.second +=
            det / 120 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
    }
    sum.centroid /= sum.volume;
    sum.second -= sum.volume * sum.centroid * sum.centroid.transpose();
    return sum;
}

Vec3 vec(const json& value) {
    return {value[0].get<double>(), value[1].get<double>(), value[2].get<double>()};
}

Mat3 rotation_of(const json& body) {
    const Vec3 angles = body.contains("rotation") ? vec(body["rotation"]) : Vec3(0, 0, 0);
    const auto turn = [](double a, int axis) {
        Mat3 m = Mat3::Identity();
        const int i = (axis + 1) % 3, j = (axis + 2) % 3;
        m(i, i) = m(j, j) = std::cos(a * degree);
        m(j, i) = std::sin(a * degree);
        m(i, j) = -m(j, i);
        return m;
    };
    return turn(angles.z(), 2) * turn(angles.y(), 1) * turn(angles.x(), 0);
}

Vec3 scale_of(const json& body, const PlainMesh& mesh) {
    if (body.contains("dimensions")) {
        Vec3 lo = mesh.vertices[0], hi = lo;
        for (const Vec3& v : mesh.vertices) lo = lo.cwiseMin(v), hi = hi.cwiseMax(v);
        Vec3 size = hi - lo;
        for (int k = 0; k < 3; ++k)
            if (size[k] == 0) size[k] = 1;
        return vec(body["dimensions"]).cwiseQuotient(size);
    }
    if (!body.contains("scale")) return Vec3::Ones();
    return body["scale"].is_number() ? Vec3(Vec3::Constant(body["scale"].get<double>())) : vec(body["scale"]);
}

// Every body of every scene: where its vertices are, what it weighs, how it resists turning.
TEST(RigidIpc, AllScenesBuildWithTheirMassesAndPoses) {
    SKIP_WITHOUT_FIXTURES();
    const std::vector<fs::path> files = all_scenes();
    EXPECT_EQ(files.size(), 38u);
    std::map<std::string, PlainMesh> meshes;
    int compared = 0;
    for (const fs::path& file : files) {
        SCOPED_TRACE(file.filename().string());
        const Scene scene = import_rigid_ipc(file.string());
        const Model model = compile(scene);
        const json problem = json::parse(std::ifstream(file))["rigid_body_problem"];
        int index = 0;
        for (const json& body : problem["rigid_bodies"]) {
            if (!body.value("enabled", true)) continue;
            if (!body.contains("mesh") || body.value("split_components", false)) {
                index += body.value("split_components", false) ? 2 : 1;  // 2cubes.obj
                continue;
            }
            const int i = index++;
            PlainMesh& original = meshes[body["mesh"]];
            if (original.vertices.empty())
                original = plain_mesh(fixtures() / "meshes" / body["mesh"].get<std::string>());
            PlainMesh mesh = original;
            const Vec3 scale = scale_of(body, mesh),
                       position = body.contains("position") ? vec(body["position"]) : Vec3(0, 0, 0);
            const Mat3 rotation = rotation_of(body);
            Vec3 lo = Vec3::Constant(1e9), hi = -lo;
            for (Vec3& v : mesh.vertices) {
                v = rotation * v.cwiseProduct(scale) + position;
                lo = lo.cwiseMin(v), hi = hi.cwiseMax(v);
            }
            const double size = (hi - lo).norm();
            Vec3 lo_built = Vec3::Constant(1e9), hi_built = -lo_built;
            for (const Vec3& v : model.shape_of(i).mesh.vertices) {
                const Vec3 x = transform(model.bodies.start_q[i], v);
                lo_built = lo_built.cwiseMin(x), hi_built = hi_built.cwiseMax(x);
            }
            EXPECT_LT((lo - lo_built).norm() + (hi - hi_built).norm(),
                      1e-12 * (size + position.norm()) + 1e-14)
                << "body " << i;
            if (!closed(mesh)) {  // density times area, as there
                double area = 0;
                for (const auto& t : mesh.triangles)
                    area += 0.5 * (mesh.vertices[t[1]] - mesh.vertices[t[0]])
                                      .cross(mesh.vertices[t[2]] - mesh.vertices[t[0]])
                                      .norm();
                if (model.bodies.start_type[i] != BodyType::dynamic_body) continue;
                EXPECT_NEAR(model.bodies.mass[i], body.value("density", 1000.0) * area,
                            1e-9 * model.bodies.mass[i]);
                continue;
            }
            const Integrals expected = integrals(mesh);
            const double density = body.value("density", 1000.0);
            EXPECT_NEAR(model.bodies.mass[i], density * std::abs(expected.volume),
                        1e-9 * model.bodies.mass[i])
                << "body " << i;
            EXPECT_LT((model.bodies.start_q[i].col(3) - expected.centroid).norm(), 1e-9 * size)
                << "body " << i;
            const Mat3 axes = model.bodies.start_q[i].leftCols<3>();
            const Mat3 second = axes * model.bodies.second_moments[i].asDiagonal() * axes.transpose();
            const Mat3 wanted = density * expected.second * (expected.volume > 0 ? 1 : -1);
            EXPECT_LT((second - wanted).norm(), 1e-9 * wanted.norm()) << "body " << i;
            ++compared;
        }
        EXPECT_EQ(index, model.bodies.size());
    }
    EXPECT_GT(compared, 800);
}

TEST(RigidIpc, ReadsStepsTimesAndContact) {
    SKIP_WITHOUT_FIXTURES();
    std::vector<std::string> warnings;
    const Scene gear = import_rigid_ipc(fixture("unit-tests/rotation/torque-test.json"), "", &warnings);
    EXPECT_EQ(gear.dt, 0.01);
    EXPECT_EQ(gear.seconds, 10);             // 1000 steps
    EXPECT_EQ(gear.gravity, Vec3(0, 0, 0));  // not given
    EXPECT_EQ(*gear.contact.dhat, 0.001);
    EXPECT_EQ(gear.materials[0].friction, 0);
    EXPECT_EQ(gear.materials[0].restitution, 0);  // -1 stands for none
    ASSERT_EQ(gear.forces.size(), 1u);
    EXPECT_NEAR(gear.forces[0].torque.y(), 90 * degree, 1e-15);
    const Scene arch = import_rigid_ipc(fixture("friction/arch/arch-25-stones.json"));
    EXPECT_EQ(arch.materials[0].friction, 0.5);
    EXPECT_EQ(arch.seconds, 20);
    EXPECT_EQ(arch.bodies.size(), 26u);
}

TEST(RigidIpc, FixesWholeBodiesAndSingleCoordinates) {
    SKIP_WITHOUT_FIXTURES();
    const Scene table = import_rigid_ipc(fixture("friction/turntable/turntable-mu=0.5.json"));
    const auto partly = std::find_if(table.bodies.begin(), table.bodies.end(), [](const BodySpec& b) {
        return b.fixed == std::array<bool, 6>{true, true, true, true, false, true};
    });
    ASSERT_NE(partly, table.bodies.end());
    EXPECT_EQ(partly->type, BodyType::dynamic_body);
    const Scene cubes = import_rigid_ipc(fixture("unit-tests/5-cubes.json"));
    EXPECT_EQ(std::count_if(cubes.bodies.begin(), cubes.bodies.end(),
                            [](const BodySpec& b) { return b.type == BodyType::static_body; }),
              1);  // all six coordinates fixed
}

TEST(RigidIpc, LeavesOutDisabledBodiesAndGroupsTheOthers) {
    SKIP_WITHOUT_FIXTURES();
    const Scene gears = import_rigid_ipc(fixture("mechanisms/gears/single-kinematic.json"));
    ASSERT_EQ(gears.bodies.size(), 2u);  // the two pins are disabled
    EXPECT_EQ(gears.bodies[0].type, BodyType::kinematic_body);
    EXPECT_EQ(gears.bodies[1].name, "gear-2");
    const Scene walls = import_rigid_ipc(fixture("unit-tests/tunnel/2-walls.json"));
    std::map<std::string, int> groups;
    for (const BodySpec& body : walls.bodies) ++groups[body.group];
    EXPECT_EQ(groups["static"], 2);  // both walls carry group_id 0 and are fixed
    EXPECT_EQ(groups[""], 1);
}

TEST(RigidIpc, ScriptsKinematicBodies) {
    SKIP_WITHOUT_FIXTURES();
    const Scene scripted = import_rigid_ipc(fixture("examples/kinematically-scripted.json"));
    const Model model = compile(scripted);
    const int cube = 3;
    ASSERT_EQ(model.bodies.start_type[cube], BodyType::kinematic_body);
    // One pose a step of 0.01 s: the centre is at y = 1, 2, 3; then it spins at 1500 degrees a second about x.
    for (int step = 1; step <= 3; ++step)
        EXPECT_LT((scripted_pose(model, cube, 0.01 * step).col(3) - Vec3(0, step, 0)).norm(), 1e-12);
    const Mat34 start = scripted_pose(model, cube, 0.03), later = scripted_pose(model, cube, 0.031);
    const Mat3 turn = later.leftCols<3>() * start.leftCols<3>().transpose();
    EXPECT_NEAR(std::atan2(turn(2, 1), turn(1, 1)), 1.5 * degree, 1e-9);
    const Mat34 rate = scripted_rate(model, cube, 2.0), pose = scripted_pose(model, cube, 2.0);
    const Mat3 spin = rate.leftCols<3>() * pose.leftCols<3>().transpose();  // [omega]x
    EXPECT_NEAR(spin(2, 1), 1500 * degree, 1e-9);
    EXPECT_LT((pose.col(3) - Vec3(0, 3, 0)).norm(), 1e-12);

    const Scene moving = import_rigid_ipc(fixture("examples/kinematic.json"));
    const Model moving_model = compile(moving);
    const Mat34 after = scripted_pose(moving_model, 2, 1.5);  // 1 m/s along x from -2.5
    EXPECT_NEAR(after(0, 3), -1.0, 1e-12);
    ASSERT_EQ(moving.forces.size(), 1u);
    EXPECT_EQ(moving.forces[0].force, Vec3(-1e6, 0, 0));
}

TEST(RigidIpc, SplitsComponents) {
    SKIP_WITHOUT_FIXTURES();
    const Scene scene = import_rigid_ipc(fixture("examples/split-components.json"));
    ASSERT_EQ(scene.bodies.size(), 4u);
    EXPECT_EQ(scene.bodies[0].name, "2cubes");
    EXPECT_EQ(scene.bodies[1].name, "2cubes-part000");
    EXPECT_EQ(scene.bodies[2].name, "2cubes-part001");
    EXPECT_NEAR(scene.bodies[1].angular_velocity.z(), 450 * degree, 1e-12);
    const Model model = compile(scene);
    EXPECT_NEAR(model.bodies.mass[1] + model.bodies.mass[2], model.bodies.mass[0],
                1e-9 * model.bodies.mass[0]);
}

TEST(RigidIpc, TakesInlineEdgesAndPointClouds) {
    SKIP_WITHOUT_FIXTURES();
    const Scene hole = import_rigid_ipc(fixture("codimensional/edges/tet-hole.json"));
    const Model with_wire = compile(hole);
    EXPECT_EQ(with_wire.shape_of(1).mesh.edges.size(), 4u);
    EXPECT_EQ(with_wire.shape_of(1).mesh.triangles.size(), 0u);
    const Model with_points = compile(import_rigid_ipc(fixture("codimensional/points/tet-plane.json")));
    EXPECT_GT(with_points.shape_of(1).mesh.points.size(), 0u);
    EXPECT_EQ(with_points.shape_of(1).mesh.triangles.size(), 0u);
}

TEST(RigidIpc, WhatIsImportedIsAScene) {
    SKIP_WITHOUT_FIXTURES();
    for (const fs::path& file : all_scenes()) {
        SCOPED_TRACE(file.filename().string());
        const std::string text = write_scene(import_rigid_ipc(file.string()));
        EXPECT_EQ(write_scene(parse_scene(text, "again", "")), text);
    }
}

TEST(RigidIpc, SmallScenesStep) {
    SKIP_WITHOUT_FIXTURES();
    for (const fs::path& file : all_scenes()) {
        SCOPED_TRACE(file.filename().string());
        Scene scene = import_rigid_ipc(file.string());
        if (scene.bodies.size() > 20) continue;
        try {
            Simulation simulation(std::move(scene));
            for (int step = 0; step < 2; ++step) simulation.step();
            EXPECT_TRUE(all_finite(simulation.state()));
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

TEST(RigidIpc, NamesUnknownKeysAndWhatIsLeftOut) {
    test::Folder folder;
    folder.write("cube.obj", test::cube_obj());
    const std::string file =
        folder.write("odd.json", R"({"scene_type": "distance_barrier_rb_problem", "tiemstep": 1,
        "max_time": 1, "distance_barrier_constraint": {"detection_method": "bvh"},
        "rigid_body_problem": {"rigid_bodies": [{"mesh": "cube.obj", "desnity": 3, "#note": 1}]}})");
    std::vector<std::string> warnings;
    import_rigid_ipc(file, "", &warnings);
    ASSERT_EQ(warnings.size(), 3u);
    EXPECT_NE(warnings[0].find("tiemstep"), std::string::npos);
    EXPECT_NE(warnings[0].find("did you mean 'timestep'?"), std::string::npos);
    EXPECT_NE(warnings[1].find("rigid_body_problem.rigid_bodies[0].desnity"), std::string::npos);
    EXPECT_NE(warnings[2].find("detection_method"), std::string::npos);
}

TEST(RigidIpc, GivesOpenDynamicMeshesMassByAreaLengthOrPoints) {
    test::Folder folder;
    const std::string file =
        folder.write("open.json", R"({"scene_type": "distance_barrier_rb_problem", "max_time": 1,
        "rigid_body_problem": {"rigid_bodies": [
          {"vertices": [[0,0,0],[2,0,0],[2,3,0],[0,3,0]], "faces": [[0,1,2],[0,2,3]], "edges": [[0,1],[1,2]], "density": 5},
          {"vertices": [[0,0,0],[4,0,0]], "edges": [[0,1]], "density": 7},
          {"vertices": [[0,0,0],[4,0,0],[0,1,0]], "density": 2, "scale": 3}]}})");
    std::vector<std::string> warnings;
    const Model model = compile(import_rigid_ipc(file, "", &warnings));
    EXPECT_EQ(warnings.size(), 3u);
    EXPECT_NEAR(model.bodies.mass[0], 5 * 6, 1e-9);  // density times area
    EXPECT_NEAR(model.bodies.mass[1], 7 * 4, 1e-9);  // density times length
    EXPECT_NEAR(model.bodies.mass[2], 2 * 3, 1e-9);  // density times points
}

// A block of 1 x 2 x 3 m whose faces share no vertices, and a cube of 1 m with a hole of 1 % of its area, both of
// 1000 kg/m^3: 6000 kg by volume (22,000 by area), and 1000 kg with the moments m/6 about its centre.
TEST(RigidIpc, WeldsAndClosesSmallHolesForTheMass) {
    test::Folder folder;
    const auto corner = [](int i) { return Vec3(i & 1, (i >> 1) & 1, (i >> 2) & 1); };
    const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                             {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    std::ostringstream split, holed;
    for (int f = 0; f < 6; ++f) {
        for (const int c : quads[f]) {
            const Vec3 v = corner(c);
            split << "v " << v.x() << " " << 2 * v.y() << " " << 3 * v.z() << "\n";
            holed << "v " << v.x() << " " << v.y() << " " << v.z() << "\n";
        }
        const int k = 4 * f;
        split << "f " << k + 1 << " " << k + 2 << " " << k + 3 << "\nf " << k + 1 << " " << k + 3 << " "
              << k + 4 << "\n";
        if (f > 0)
            holed << "f " << k + 1 << " " << k + 2 << " " << k + 3 << "\nf " << k + 1 << " " << k + 3 << " "
                  << k + 4 << "\n";
    }
    // the bottom: a rim around a square hole with sides of 0.24 m
    const double lo = 0.38, hi = 0.62;
    for (const auto& [x, y] : {std::pair{lo, lo}, {lo, hi}, {hi, hi}, {hi, lo}})
        holed << "v " << x << " " << y << " 0\n";
    for (int k = 0; k < 4; ++k) {
        const int a = 1 + k, b = 1 + (k + 1) % 4, c = 25 + k, d = 25 + (k + 1) % 4;
        holed << "f " << a << " " << b << " " << d << "\nf " << a << " " << d << " " << c << "\n";
    }
    folder.write("split.obj", split.str());
    folder.write("holed.obj", holed.str());
    const std::string file =
        folder.write("masses.json", R"({"max_time": 1, "rigid_body_problem": {"rigid_bodies": [
        {"mesh": "split.obj"}, {"mesh": "holed.obj", "position": [5, 0, 0]},
        {"mesh": "split.obj", "type": "static", "density": 0, "position": [0, 9, 0]}]}})");
    std::vector<std::string> warnings;
    const Model model = compile(import_rigid_ipc(file, "", &warnings));
    EXPECT_NEAR(model.bodies.mass[0], 6000, 1e-9);
    EXPECT_NEAR(model.bodies.mass[1], 1000, 1e-9);
    EXPECT_LT((model.bodies.moments_of_inertia(1) - Vec3::Constant(1000.0 / 6)).norm(), 1e-6);
    EXPECT_LT((model.bodies.start_q[1].col(3) - Vec3(5.5, 0.5, 0.5)).norm(), 1e-12);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("holes"), std::string::npos) << warnings[0];
}

TEST(RigidIpc, RefusesBadScenes) {
    test::Folder folder;
    folder.write("cube.obj", test::cube_obj());
    const auto problem_of = [&](const std::string& bodies, const std::string& more = "") {
        const std::string text =
            R"({"max_time": 1, "rigid_body_problem": {)" + more + R"("rigid_bodies": [)" + bodies + "]}}";
        const InputError error = test::input_error([&] { import_rigid_ipc(folder.write("bad.json", text)); });
        return error.path() + ": " + error.problem();
    };
    EXPECT_EQ(problem_of(R"({"mesh": "nothing.obj"})"),
              "rigid_body_problem.rigid_bodies[0].mesh: no such mesh: nothing.obj");
    EXPECT_EQ(problem_of(R"({"mesh": "cube.obj", "density": 0})"),
              "rigid_body_problem.rigid_bodies[0].density: 0 is out of range");
    EXPECT_EQ(problem_of(R"({"mesh": "cube.obj", "position": [1, 2]})"),
              "rigid_body_problem.rigid_bodies[0].position: has 2 entries");
    EXPECT_EQ(problem_of(R"({"mesh": "cube.obj", "is_dof_fixed": ["x"]})"),
              "rigid_body_problem.rigid_bodies[0].is_dof_fixed: is not six of true and false");
    EXPECT_EQ(problem_of(R"({"mesh": "cube.obj"})", R"("coefficient_restitution": 2, )"),
              "rigid_body_problem.coefficient_restitution: 2 is out of range");
    EXPECT_EQ(problem_of(R"({"mesh": "cube.obj", "enabled": false})"),
              "rigid_body_problem.rigid_bodies: the scene has no enabled bodies");
    EXPECT_EQ(test::input_error([&] { import_rigid_ipc(folder.write("no.json", "{}")); }).problem(),
              "is no rigid-ipc scene");
}

}  // namespace
}  // namespace tenon

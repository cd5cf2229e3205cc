// What the method says about its work: log, dumps, warnings, and complete reports; what it refuses.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <Eigen/Cholesky>

#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

using test::builtin;
using test::ground_scene;
using test::joint_between;
using test::position;
using test::run_for;

std::filesystem::path scratch(const std::string& name) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("tenon_affine_" + name + "_" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    return folder;
}

// Two boxes, one on the other.
Scene pair_of_boxes() {
    Scene scene = ground_scene(0.3);
    scene.contact.dhat = 0.005;
    for (int k = 0; k < 2; ++k)
        scene.add_body(body_spec(scene, "box" + std::to_string(k), box_spec({1, 1, 1}),
                                 Vec3(0.1, 0.504 + 1.004 * k, 0.2)));
    return scene;
}

TEST(AffineDiagnostics, LogHasALineForEveryNewtonIteration) {
    const std::filesystem::path folder = scratch("log");
    for (const char* solve : {"islands", "coupled"}) {
        Scene scene = pair_of_boxes();
        scene.method_params["solve"] = std::string(solve);
        scene.method_params["log"] = (folder / "log.txt").string();
        int iterations = 0;
        {
            Simulation simulation(scene);
            for (int k = 0; k < 5; ++k) iterations += simulation.step().iterations;
        }
        std::ifstream file(folder / "log.txt");
        int lines = 0;
        for (std::string line; std::getline(file, line); ++lines) EXPECT_EQ(line.rfind("step ", 0), 0u);
        EXPECT_EQ(lines, iterations) << solve;
    }
    std::filesystem::remove_all(folder);
}

MatX read_matrix_market(const std::filesystem::path& path, bool symmetric) {
    std::ifstream file(path);
    std::string header;
    std::getline(file, header);
    EXPECT_EQ(header.rfind("%%MatrixMarket matrix", 0), 0u);
    int rows = 0, columns = 0;
    file >> rows >> columns;
    MatX matrix = MatX::Zero(rows, columns);
    if (!symmetric) {
        for (int k = 0; k < rows; ++k) file >> matrix(k, 0);
        return matrix;
    }
    long entries = 0;
    file >> entries;
    for (long k = 0; k < entries; ++k) {
        int i = 0, j = 0;
        double value = 0;
        file >> i >> j >> value;
        EXPECT_GE(i, j);
        matrix(i - 1, j - 1) = matrix(j - 1, i - 1) = value;
    }
    EXPECT_TRUE(static_cast<bool>(file));
    return matrix;
}

TEST(AffineDiagnostics, DumpHoldsTheNewtonSystemOfTheStepAskedFor) {
    const std::filesystem::path folder = scratch("dump");
    Scene scene = pair_of_boxes();
    scene.method_params["dump"] = (folder / "newton").string();
    scene.method_params["dump_step"] = 2.0;
    Simulation simulation(scene);
    for (int k = 0; k < 5; ++k) simulation.step();
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        EXPECT_NE(entry.path().filename().string().find("newton-step2-"), std::string::npos);
    const std::string first = "newton-step2-body1-solve1";
    const MatX matrix = read_matrix_market(folder / (first + ".mtx"), true);
    const MatX right = read_matrix_market(folder / (first + "-rhs.mtx"), false);
    ASSERT_EQ(matrix.rows(), 12);  // two bodies of six unknowns
    ASSERT_EQ(right.rows(), 12);
    EXPECT_EQ(matrix.llt().info(), Eigen::Success);
    EXPECT_GT(matrix(3, 3), 1000.0);  // mass, and what contact adds
    std::filesystem::remove_all(folder);
}

TEST(AffineDiagnostics, DumpOfACoupledSolveHoldsAllBodies) {
    const std::filesystem::path folder = scratch("coupled-dump");
    Scene scene = pair_of_boxes();
    scene.joints.push_back(joint_between(JointType::ball, 1, 2, Vec3(0.1, 1.006, 0.2), Vec3::UnitY()));
    scene.method_params["dump"] = (folder / "newton").string();
    scene.method_params["dump_step"] = 2.0;
    Simulation simulation(scene);
    for (int k = 0; k < 5; ++k) simulation.step();
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        EXPECT_NE(entry.path().filename().string().find("newton-step2-"), std::string::npos);
    const MatX matrix = read_matrix_market(folder / "newton-step2-round0-iteration0.mtx", true);
    const MatX right = read_matrix_market(folder / "newton-step2-round0-iteration0-rhs.mtx", false);
    ASSERT_EQ(matrix.rows(), 24);  // two bodies of twelve unknowns
    ASSERT_EQ(right.rows(), 24);
    EXPECT_EQ(matrix.llt().info(), Eigen::Success);
    EXPECT_GT(std::abs(matrix(15, 3)), 1000.0);  // the joint couples the shifts
    std::filesystem::remove_all(folder);
}

TEST(AffineDiagnostics, WarnsOfBodiesThatTurnMoreThanHalfATurnInAStep) {
    for (const double spin : {300.0, 330.0}) {
        Scene scene;
        scene.dt = 0.01;
        BodySpec top = body_spec(scene, "top", box_spec({1, 1, 1}), Vec3::Zero());
        top.angular_velocity = Vec3(0, spin, 0);
        scene.add_body(top);
        Simulation simulation(scene);
        const StepReport report = simulation.step();
        bool warned = false;
        for (const std::string& warning : report.warnings)
            warned = warned || (warning.find("'top'") != std::string::npos &&
                                warning.find("half a turn") != std::string::npos);
        EXPECT_EQ(warned, spin * 0.01 > EIGEN_PI) << spin;
    }
}

TEST(AffineDiagnostics, ContactsOfIslandsThatFinishEarlyAreReported) {
    // A box at rest is done in a step or two of Newton; beside it a block tumbles at speed and asks for new candidates.
    Scene scene = ground_scene(0.4);
    scene.contact.dhat = 0.003;
    scene.add_body(body_spec(scene, "rests", box_spec({0.5, 0.5, 0.5}), Vec3(-2, 0.2525, 0)));
    BodySpec tumbles =
        body_spec(scene, "tumbles", box_spec({0.6, 0.3, 0.2}), Vec3(2, 0.4, 0), turn(30, Vec3(1, 0, 1)));
    tumbles.linear_velocity = Vec3(2, -6, 0);
    tumbles.angular_velocity = Vec3(10, 0, -20);
    scene.add_body(tumbles);
    Simulation simulation(scene);
    const double weight = 1000 * 0.125 * 9.81;
    double most_builds = 0;
    for (int k = 0; k < 40; ++k) {
        const StepReport report = simulation.step();
        for (const auto& [name, value] : report.metrics)
            if (name == "candidate_builds") most_builds = std::max(most_builds, value);
        double lift = 0;
        std::set<int> touching;
        for (const Contact& contact : simulation.outputs().contacts) {
            touching.insert(contact.b);
            if (contact.b == 1) lift += contact.force.y();
        }
        EXPECT_EQ(report.contacts, static_cast<int>(simulation.outputs().contacts.size()));
        ASSERT_TRUE(touching.count(1)) << "step " << k;
        if (k > 10) {
            EXPECT_NEAR(lift, weight, 0.02 * weight) << "step " << k;
        }
    }
    EXPECT_GT(most_builds, 1);
}

std::string refusal(const Scene& scene) {
    try {
        Simulation simulation(scene);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(AffineBadInput, OverlapIsNamedByBodiesTrianglesAndPlace) {
    Scene scene = ground_scene(0.3);
    scene.add_body(body_spec(scene, "sunk", box_spec({1, 1, 1}), Vec3(2, 0.3, 1)));
    const std::string said = refusal(scene);
    for (const char* part : {"'floor'", "'sunk'", "intersect at (", "triangle"})
        EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST(AffineBadInput, BodiesCloserThanTheirSeparationAreNamed) {
    Scene scene = ground_scene(0.3);
    BodySpec box = body_spec(scene, "near", box_spec({1, 1, 1}), Vec3(0, 0.52, 0));
    box.min_separation = 0.05;
    scene.add_body(box);
    const std::string said = refusal(scene);
    for (const char* part : {"'floor'", "'near'", "0.02 m apart", "minimum separation 0.05 m"})
        EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST(AffineBadInput, BodyWithoutExtentIsRefused) {
    Scene scene = ground_scene(0.3);
    Mesh dot;
    dot.vertices.assign(3, Vec3(0, 1, 0));
    dot.triangles = {{0, 1, 2}};
    BodySpec body = body_spec(scene, "dot", mesh_spec(dot), Vec3::Zero());
    body.mass = 1.0;
    scene.add_body(body);
    EXPECT_NE(refusal(scene).find("bodies[1]"), std::string::npos);
}

TEST(AffineBadInput, BodiesThatCrossTheSceneInOneStepStillCollide) {
    // A cube at 2.5 km/s, 25 m in a step, in a closed room of 2 m: there is no way round the walls.
    Scene scene;
    scene.gravity = Vec3::Zero();
    scene.dt = 0.01;
    for (int axis = 0; axis < 3; ++axis)
        for (const double side : {-1.0, 1.0}) {
            Vec3 size = Vec3::Constant(2.4), position = Vec3::Zero();
            size[axis] = 0.05;
            position[axis] = 1.3 * side;
            BodySpec wall =
                body_spec(scene, "wall" + std::to_string(scene.bodies.size()), box_spec(size), position);
            wall.type = BodyType::static_body;
            scene.add_body(wall);
        }
    BodySpec cube =
        body_spec(scene, "cube", box_spec({0.4, 0.4, 0.4}), Vec3::Zero(), turn(20, Vec3(1, 2, 3)));
    cube.linear_velocity = Vec3(2000, 1500, 300);
    scene.add_body(cube);
    Simulation simulation(scene);
    for (int k = 0; k < 5; ++k) {
        simulation.step();
        EXPECT_LT(position(simulation, 6).cwiseAbs().maxCoeff(), 1.3);
    }
}

}  // namespace
}  // namespace tenon

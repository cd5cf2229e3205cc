// Reading scenes: the published example, defaults, units, names.
#include <cmath>
#include <numbers>

#include "scene/samples.hpp"
#include "scene/support.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/simulation.hpp"
#include "tenon/state.hpp"

namespace tenon {
namespace {

TEST(ReadScene, TakesThePublishedExample) {
    test::Folder folder;
    folder.write("weight.obj", test::cube_obj());
    folder.write("pad.msh", test::tetrahedron_msh());
    const Scene scene = read_scene(folder.write("swing.json", test::published_example));

    EXPECT_EQ(scene.name, "swing");
    EXPECT_EQ(scene.method, "articulated");
    EXPECT_EQ(scene.dt, 0.01);
    EXPECT_EQ(std::get<std::string>(scene.method_params.at("integrator")), "bdf2");
    ASSERT_EQ(scene.bodies.size(), 4u);
    EXPECT_EQ(scene.bodies[0].type, BodyType::static_body);
    EXPECT_EQ(scene.materials[static_cast<std::size_t>(scene.bodies[1].material)].density, 7850);
    EXPECT_EQ(scene.bodies[1].angular_velocity, Vec3(0, 0, 3));
    EXPECT_EQ(scene.geometries[static_cast<std::size_t>(scene.bodies[2].geometry)].scale,
              Vec3::Constant(0.01));
    EXPECT_EQ(*scene.bodies[2].mass, 2.0);
    EXPECT_EQ(scene.bodies[2].inertia->moments, Vec3(0.01, 0.01, 0.02));
    const BodySpec& door = scene.bodies[3];
    EXPECT_FALSE(door.collides);
    EXPECT_EQ(door.position, Vec3(3, 1, 0));  // that of the first keyframe
    ASSERT_EQ(door.motion.size(), 2u);
    EXPECT_LT((door.motion[1].rotation * Vec3::UnitX() - Vec3(0, 0, -1)).norm(), 1e-15);

    ASSERT_EQ(scene.joints.size(), 2u);
    EXPECT_EQ(scene.joints[0].bodies, (std::array<int, 2>{0, 1}));
    ASSERT_EQ(scene.joints[0].drives.size(), 1u);
    EXPECT_EQ((*scene.joints[0].drives[0].limits)[1], 1.5);
    EXPECT_EQ(scene.joints[0].drives[0].motor.max, 10);
    EXPECT_EQ(scene.joints[1].type, JointType::ball);
    ASSERT_EQ(scene.elastic.size(), 1u);
    EXPECT_EQ(scene.elastic[0].tets_file, folder.path("pad.msh"));
    EXPECT_EQ(scene.forces[0].body, 1);
    EXPECT_EQ(scene.forces[0].to, 0.5);
    EXPECT_EQ(scene.expect[0].body, "weight");
    ASSERT_EQ(scene.contact.ignore.size(), 1u);
    EXPECT_EQ(scene.contact.ignore[0], (std::array<int, 2>{1, 0}));
    EXPECT_EQ(*scene.contact.pairs[0].friction, 0.9);
}

TEST(ReadScene, ThePublishedExampleBuildsAWorld) {
    test::Folder folder;
    folder.write("weight.obj", test::cube_obj());
    folder.write("pad.msh", test::tetrahedron_msh());
    const Model model = compile(read_scene(folder.write("swing.json", test::published_example)));
    EXPECT_NEAR(model.bodies.mass[1], 7850 * 0.01, 1e-9);  // 1 x 0.1 x 0.1 m of steel
    EXPECT_EQ(model.bodies.mass[2], 2);
    EXPECT_LT((model.bodies.moments_of_inertia(2) - Vec3(0.01, 0.01, 0.02)).norm(), 1e-7);
    EXPECT_EQ(model.joints.size(), 2u);
    ASSERT_EQ(model.elastic.size(), 1u);
    EXPECT_EQ(model.elastic[0].tets.size(), 1u);
    EXPECT_EQ(model.forces.size(), 1u);
    EXPECT_FALSE(model.may_collide(0, 1));
}

TEST(ReadScene, HasADefaultForEverythingButBodies) {
    const Scene scene = parse_scene(R"({"bodies": [{"shape": "box"}]})", "t", "");
    EXPECT_EQ(scene.gravity, Vec3(0, -9.81, 0));
    EXPECT_EQ(scene.method, "affine");
    EXPECT_EQ(scene.bodies[0].name, "body-0");
    EXPECT_EQ(scene.bodies[0].type, BodyType::dynamic_body);
    EXPECT_EQ(parse_scene(R"({"up": "z", "bodies": [{"shape": "box"}]})", "t", "").gravity,
              Vec3(0, 0, -9.81));
}

TEST(ReadScene, TurnsMillimetresIntoMetres) {
    test::Folder folder;
    folder.write("cube.obj", test::cube_obj());
    const Scene scene = parse_scene(R"({"units": "mm", "gravity": [0, -9.81, 0],
      "contact": {"dhat": 2},
      "bodies": [
        {"name": "a", "shape": {"type": "box", "size": [500, 20, 10]}, "position": [1000, 0, -250],
         "linear_velocity": [100, 0, 0], "angular_velocity": [1, 0, 0], "min_separation": 0.5},
        {"name": "b", "mesh": "cube.obj", "scale": 3, "density": 2000},
        {"name": "c", "vertices": [[0,0,0],[10,0,0]], "edges": [[0,1]], "thickness": 1}],
      "joints": [
        {"name": "slide", "type": "prismatic", "bodies": ["a", "b"], "point": [5, 0, 0], "limits": [-40, 40],
         "motor": {"type": "position", "target": 8}},
        {"name": "turn", "type": "hinge", "bodies": ["b", "c"], "limits": [-2, 2]},
        {"name": "rack", "type": "coupling", "joints": ["turn", "slide"], "ratio": 30, "offset": 7}],
      "expect": [{"body": "a", "quantity": "x", "min": 900}, {"body": "a", "quantity": "tilt", "max": 0.5}]})",
                                    "t", folder.path());
    EXPECT_EQ(*scene.contact.dhat, 0.002);
    EXPECT_EQ(scene.gravity, Vec3(0, -9.81, 0));
    const BodySpec& a = scene.bodies[0];
    EXPECT_LT((a.position - Vec3(1, 0, -0.25)).norm(), 1e-15);
    EXPECT_LT((a.linear_velocity - Vec3(0.1, 0, 0)).norm(), 1e-15);
    EXPECT_EQ(a.angular_velocity, Vec3(1, 0, 0));
    EXPECT_EQ(a.min_separation, 0.0005);
    EXPECT_LT((scene.geometries[0].shape_params.vec3("size") - Vec3(0.5, 0.02, 0.01)).norm(), 1e-15);
    EXPECT_LT((scene.geometries[1].scale - Vec3::Constant(0.003)).norm(), 1e-15);
    EXPECT_EQ(*scene.bodies[1].density, 2000);
    EXPECT_LT((scene.geometries[2].vertices[1] - Vec3(0.01, 0, 0)).norm(), 1e-15);
    EXPECT_EQ(scene.geometries[2].thickness, 0.001);
    EXPECT_NEAR((*scene.joints[0].drives[0].limits)[1], 0.04, 1e-15);
    EXPECT_NEAR(scene.joints[0].drives[0].motor.target, 0.008, 1e-15);
    EXPECT_EQ((*scene.joints[1].drives[0].limits)[1], 2);
    EXPECT_NEAR(scene.joints[2].ratio, 0.03, 1e-15);  // 30 mm of way per radian
    EXPECT_NEAR(scene.joints[2].offset, 0.007, 1e-15);
    EXPECT_NEAR(scene.expect[0].min, 0.9, 1e-15);
    EXPECT_EQ(scene.expect[1].max, 0.5);
}

TEST(ReadScene, EulerAnglesTurnAboutTheBodysOwnXThenYThenZ) {
    const Scene scene =
        parse_scene(R"({"bodies": [{"shape": "box", "rotation_euler": [30, 40, 50]}]})", "t", "");
    const auto turn = [](double degrees, const Vec3& axis) {
        return Eigen::AngleAxisd(degrees * std::numbers::pi / 180, axis).toRotationMatrix();
    };
    const Mat3 expected = turn(30, Vec3::UnitX()) * turn(40, Vec3::UnitY()) * turn(50, Vec3::UnitZ());
    EXPECT_LT((scene.bodies[0].rotation.toRotationMatrix() - expected).norm(), 1e-15);
}

TEST(ReadScene, NormalisesQuaternionsAndAxes) {
    const Scene scene = parse_scene(R"({"bodies": [{"name": "a", "shape": "box", "rotation": [2, 0, 0, 2]}],
        "joints": [{"type": "hinge", "bodies": ["world", "a"], "axis": [3, 0, 4]}]})",
                                    "t", "");
    EXPECT_NEAR(scene.bodies[0].rotation.w(), std::sqrt(0.5), 1e-15);
    EXPECT_NEAR(scene.bodies[0].rotation.z(), std::sqrt(0.5), 1e-15);
    EXPECT_LT((scene.joints[0].axis - Vec3(0.6, 0, 0.8)).norm(), 1e-15);
    EXPECT_EQ(scene.joints[0].bodies[0], -1);
}

TEST(ReadScene, SharesShapesByNameAndByContent) {
    const Scene scene = parse_scene(R"({
        "shapes": {"brick": {"type": "box", "size": [2, 1, 1]},
                   "tall": {"shape": {"type": "box", "size": [2, 1, 1]}, "scale": [1, 3, 1]}},
        "bodies": [{"shape": "brick"}, {"shape": {"type": "box", "size": [2, 1, 1]}}, {"shape": "brick"},
                   {"shape": "tall"}, {"shape": "brick", "scale": [1, 3, 1]}, {"shape": "tall", "scale": 2}]})",
                                    "t", "");
    ASSERT_EQ(scene.geometries.size(), 3u);
    EXPECT_EQ(scene.bodies[1].geometry, scene.bodies[0].geometry);
    EXPECT_EQ(scene.bodies[2].geometry, scene.bodies[0].geometry);
    EXPECT_EQ(scene.bodies[4].geometry, scene.bodies[3].geometry);
    EXPECT_EQ(scene.geometries[2].scale, Vec3(2, 6, 2));
}

TEST(ReadScene, IgnoresPairsOfGroups) {
    const Scene scene = parse_scene(R"({"contact": {"ignore": [["red", "blue"], ["red", "lone"]]},
        "bodies": [{"shape": "box", "group": "red"}, {"shape": "box", "group": "red"},
                   {"shape": "box", "group": "blue"}, {"shape": "box", "name": "lone"}]})",
                                    "t", "");
    const std::vector<std::array<int, 2>> expected = {{0, 2}, {1, 2}, {0, 3}, {1, 3}};
    EXPECT_EQ(scene.contact.ignore, expected);
}

TEST(ReadScene, FixesCoordinatesInThreeSpellings) {
    const Scene scene = parse_scene(R"({"bodies": [{"shape": "box", "fixed": true},
        {"shape": "box", "fixed": ["x", "rz"]},
        {"shape": "box", "fixed": [true, false, false, false, false, true]}]})",
                                    "t", "");
    EXPECT_EQ(scene.bodies[0].fixed, (std::array<bool, 6>{true, true, true, true, true, true}));
    EXPECT_EQ(scene.bodies[1].fixed, (std::array<bool, 6>{true, false, false, false, false, true}));
    EXPECT_EQ(scene.bodies[2].fixed, scene.bodies[1].fixed);
}

TEST(ReadScene, KinematicBodiesAreReleasedWithTheirVelocity) {
    Simulation simulation(parse_scene(R"({"gravity": [0, 0, 0], "method": {"dt": 0.01}, "bodies": [
        {"shape": "box", "type": "kinematic", "kinematic_until": 0.05, "linear_velocity": [2, 0, 0],
         "angular_velocity": [0, 0.5, 0], "motion": [{"time": 0}]},
        {"shape": "box", "position": [0, 5, 0], "type": "kinematic", "kinematic_until": 0.05,
         "motion": [{"time": 0}, {"time": 1, "position": [3, 5, 0]}]}]})",
                                      "t", ""));
    for (int step = 0; step < 5; ++step) simulation.step();
    EXPECT_EQ(simulation.state().q[0](0, 3), 0);  // held so far
    for (int step = 0; step < 10; ++step) simulation.step();
    EXPECT_NEAR(simulation.state().q[0](0, 3), 2 * 0.1, 1e-9);
    EXPECT_NEAR(simulation.state().rate[0](2, 0), -0.5,
                1e-3);  // omega x e_x, with what the integrator loses
    EXPECT_NEAR(simulation.state().q[1](0, 3), 3 * 0.15, 1e-9);  // goes on as its script went
}

TEST(ReadScene, KeyframesKeepWhatTheyLeaveOut) {
    const Scene scene =
        parse_scene(R"({"bodies": [{"shape": "box", "type": "kinematic", "position": [1, 2, 3],
        "motion": [{"time": 0}, {"time": 1, "rotation": [0, 1, 0, 0]}, {"time": 2, "position": [4, 5, 6]}]}]})",
                    "t", "");
    const std::vector<Keyframe>& motion = scene.bodies[0].motion;
    EXPECT_EQ(motion[0].position, Vec3(1, 2, 3));
    EXPECT_EQ(motion[1].position, Vec3(1, 2, 3));
    EXPECT_EQ(motion[2].position, Vec3(4, 5, 6));
    EXPECT_EQ(motion[2].rotation.x(), 1);
}

}  // namespace
}  // namespace tenon

// MJCF: contact pairs and exclusions, frictions of two geoms, tendons and equalities between sites, servos by damping ratio.
#include <cmath>

#include <gtest/gtest.h>

#include "scene/support.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

Scene imported(const std::string& inside) {
    const test::Folder folder;
    return import_scene(folder.write("m.xml", "<mujoco>" + inside + "</mujoco>")).scene;
}

const std::string two_boxes = R"(<worldbody>
  <geom name="floor" type="plane" size="5 5 1" friction="0.2"/>
  <body name="a" pos="0 0 1"><freejoint/><geom name="ga" type="box" size="0.1 0.1 0.1" friction="0.5"/></body>
  <body name="b" pos="1 0 1"><freejoint/><geom name="gb" type="box" size="0.1 0.1 0.1" friction="0.9" contype="0" conaffinity="0"/></body>
  <body name="c" pos="2 0 1"><freejoint/><geom name="gc" type="box" size="0.1 0.1 0.1" friction="0.9"/></body>
</worldbody>)";

TEST(MjcfContact, TheLargerFrictionCountsAndPairsHaveTheirOwn) {
    const Scene scene =
        imported(two_boxes + R"(<contact><pair geom1="ga" geom2="gb" friction="0.3 0.3 0.1"/></contact>)");
    const Model model = compile(scene);
    const int floor = scene.body_index("floor"), a = scene.body_index("a"), b = scene.body_index("b"),
              c = scene.body_index("c");
    EXPECT_EQ(model.pair_friction(floor, a), 0.5);
    EXPECT_EQ(model.pair_friction(a, c), 0.9);
    EXPECT_EQ(model.pair_friction(c, c), 0.9);
    EXPECT_EQ(model.pair_friction(a, b), 0.3);
    EXPECT_EQ(model.pair_friction(b, a), 0.3);
    // b has no masks: it meets a, by the pair, and nothing else
    EXPECT_TRUE(model.may_collide(a, b));
    EXPECT_FALSE(model.may_collide(b, c));
    EXPECT_FALSE(model.may_collide(floor, b));
    EXPECT_TRUE(model.may_collide(floor, a));
}

TEST(MjcfContact, BodiesMayBeExcludedFromTheWorld) {
    const Scene scene = imported(
        two_boxes + R"(<contact><exclude body1="world" body2="a"/><exclude body1="a" body2="c"/></contact>)");
    const Model model = compile(scene);
    EXPECT_FALSE(model.may_collide(scene.body_index("floor"), scene.body_index("a")));
    EXPECT_FALSE(model.may_collide(scene.body_index("c"), scene.body_index("a")));
    EXPECT_TRUE(model.may_collide(scene.body_index("floor"), scene.body_index("c")));
}

TEST(MjcfContact, GeomsOfMasslessBodiesStayWithTheirCarrier) {
    const Scene scene = imported(R"(<compiler inertiafromgeom="false"/><worldbody>
  <body name="arm"><joint axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    <body name="pad" pos="0.5 0 0" euler="0 0 90"><body pos="0.1 0 0"><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/></body></body>
  </body></worldbody>)");
    ASSERT_EQ(scene.bodies.size(), 1u);
    const GeometrySpec& geometry = scene.geometries.at(static_cast<std::size_t>(scene.bodies[0].geometry));
    ASSERT_EQ(geometry.parts.size(), 1u);
    EXPECT_NEAR((geometry.parts[0].position - Vec3(0.5, 0.2, 0)).norm(), 0, 1e-12);
}

const std::string two_arms = R"(<worldbody>
  <body name="left"><joint name="l" axis="0 1 0"/><inertial pos="0 0 0.5" mass="2" diaginertia="0.1 0.1 0.1"/>
    <site name="sl" pos="0.1 0 1"/><site name="knee-l" pos="0.5 0 1"/></body>
  <body name="right" pos="1 0 0"><joint name="r" axis="0 1 0" armature="0.5"/><inertial pos="0 0 0.5" mass="2" diaginertia="0.1 0.1 0.1"/>
    <site name="sr" pos="0.1 0 1"/><site name="knee-r" pos="-0.5 0 1"/></body>
</worldbody>)";

TEST(MjcfTendons, AStraightSpatialTendonIsASpringAndAnActuatorBetweenTwoPoints) {
    const Scene scene = imported(two_arms + R"(
<tendon><spatial name="cable" stiffness="50" springlength="0.8"><site site="sl"/><site site="sr"/></spatial></tendon>
<actuator><motor name="winch" tendon="cable" gear="2"/></actuator>)");
    ASSERT_EQ(scene.joints.size(), 3u);
    const JointSpec& cable = scene.joints[2];
    EXPECT_EQ(cable.type, JointType::distance);
    EXPECT_NEAR((*cable.point_b - cable.point).norm(), 1.0, 1e-15);
    EXPECT_EQ(cable.drives.at(0).spring->stiffness, 50);
    EXPECT_EQ(cable.drives.at(0).spring->rest, 0.8);
    EXPECT_EQ(scene.actuators.at(0).joint, 2);
    Simulation sim(scene);
    set_target(sim.model(), sim.state(), 0, -3.0);  // pulls with 2 * 3 N beside the spring
    sim.step();
    const double length = 1.0, pull = 50 * (length - 0.8);
    const JointOutput& carried = sim.outputs().joints[2];
    EXPECT_NEAR(carried.motor_force[0], -6.0, 1e-9);
    EXPECT_NEAR(carried.force.norm(), pull + 6.0, 1e-2);
    EXPECT_LT(carried.force.x(), 0);  // on the second body, towards the first
}

TEST(MjcfTendons, SitesThatMeetAreJoined) {
    const Scene scene = imported(two_arms + R"(
<equality><connect site1="knee-l" site2="knee-r"/></equality>)");
    ASSERT_EQ(scene.joints.size(), 3u);
    EXPECT_EQ(scene.joints[2].type, JointType::ball);
    EXPECT_NEAR((scene.joints[2].point - Vec3(0.5, 0, 1)).norm(), 0, 1e-15);
}

TEST(MjcfActuators, DampingRatiosAreMeasuredAgainstTheInertiaAtTheJoint) {
    const Scene scene = imported(two_arms + R"(
<actuator><position name="servo" joint="r" kp="40" dampratio="0.7" gear="2"/></actuator>)");
    // about the joint: 0.1 + 2 * 0.5^2, and the armature; seen through the gear a quarter of it
    const double inertia = (0.1 + 2 * 0.25 + 0.5) / 4;
    EXPECT_NEAR(scene.actuators.at(0).kd, 2 * 0.7 * std::sqrt(40 * inertia), 1e-12);
}

// What motors cannot express is listed, and the rest of the robot runs.
TEST(MjcfActuators, ServosOnLooseTendonsAndUnevenBoundsAreListed) {
    const test::Folder folder;
    const auto import = [&](const std::string& more) {
        return import_scene(folder.write("m.xml", "<mujoco>" + two_arms + more + "</mujoco>"));
    };
    const std::string tendon =
        R"(<tendon><fixed name="t"><joint joint="l" coef="1"/><joint joint="r" coef="1"/></fixed></tendon>
<actuator><position name="both" tendon="t" kp="10"/><position name="one" joint="l" kp="10" forcerange="-1 5"/></actuator>)";
    const ImportedScene loose = import(tendon);
    ASSERT_EQ(loose.scene.actuators.size(), 1u);
    EXPECT_EQ(loose.scene.actuators[0].force_limits, (std::array<double, 2>{-5, 5}));
    EXPECT_NE(losses_text(loose.losses).find("servos on tendons whose joints are not coupled"),
              std::string::npos);
    EXPECT_NE(losses_text(loose.losses).find("a forcerange from -1 to 5"), std::string::npos);
    Simulation(loose.scene).step();
    const ImportedScene coupled =
        import(R"(<equality><joint joint1="r" joint2="l" polycoef="0 1 0 0 0"/></equality>)" + tendon);
    EXPECT_EQ(coupled.scene.actuators.size(), 2u);
}

TEST(MjcfActuators, CompensatedBodiesFloat) {
    Scene scene = imported(R"(<worldbody><body name="a" gravcomp="1"><freejoint/>
<inertial pos="0.1 0 0" mass="2" diaginertia="0.1 0.1 0.1"/></body></worldbody>)");
    Simulation sim(scene);
    for (int k = 0; k < 50; ++k) sim.step();
    EXPECT_NEAR(sim.state().rate[0].norm(), 0, 1e-12);
}

TEST(MjcfSensors, TouchDistanceAndActuatorForces) {
    const Scene scene =
        imported(two_boxes + R"(<sensor><distance name="gap" geom1="floor" geom2="ga"/></sensor>)");
    ASSERT_EQ(scene.sensors.size(), 1u);
    EXPECT_EQ(scene.sensors[0].type, SensorSpec::Type::distance);
    const Scene arms = imported(two_arms + R"(<actuator><motor name="m" joint="r"/></actuator>
<sensor><actuatorfrc name="f" actuator="m"/><touch name="t" site="sl"/></sensor>)");
    ASSERT_EQ(arms.sensors.size(), 2u);
    EXPECT_EQ(arms.sensors[0].type, SensorSpec::Type::joint_torque);
    EXPECT_EQ(arms.sensors[0].joint, 1);
    EXPECT_EQ(arms.sensors[1].type, SensorSpec::Type::contact_force);
}

}  // namespace
}  // namespace tenon

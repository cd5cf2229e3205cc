// URDF and MJCF, read and compared with what the formats say.
#include <chrono>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "geometry/mass_properties.hpp"
#include "scene/support.hpp"
#include "tenon/inertia.hpp"
#include "tenon/kinematics.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/state.hpp"

namespace tenon {
namespace {

bool lists(const std::vector<ImportLoss>& losses, const std::string& words, int line) {
    for (const ImportLoss& loss : losses)
        if (loss.what.find(words) != std::string::npos && loss.line == line) return true;
    return false;
}

const char* const urdf_arm = R"(<?xml version="1.0"?>
<robot name="arm">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="upper">
    <inertial><origin xyz="0 0 0.2" rpy="0 0 1.5707963267948966"/><mass value="2"/>
      <inertia ixx="0.03" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
    <visual><geometry><cylinder radius="0.05" length="0.4"/></geometry><material name="red"/></visual>
    <collision><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.05" length="0.4"/></geometry></collision>
  </link>
  <link name="lower"><inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <link name="finger"><inertial><mass value="0.1"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.1" rpy="0 0.5 0"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="30" velocity="3"/><dynamics damping="0.4" friction="0.2"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4"/><axis xyz="0 2 0"/></joint>
  <joint name="slide" type="prismatic"><parent link="lower"/><child link="finger"/><limit lower="0" upper="0.05" effort="1" velocity="1"/>
    <mimic joint="elbow" multiplier="0.1" offset="0.01"/></joint>
  <joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/></joint>
  <transmission name="t"><joint name="shoulder"><hardwareInterface>PositionJointInterface</hardwareInterface></joint>
    <actuator name="motor"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>
</robot>)";

TEST(Urdf, LinksJointsAndInertiaAreWhereTheFormatSays) {
    const test::Folder folder;
    const ImportedScene imported = import_scene(folder.write("arm.urdf", urdf_arm));
    const Scene& scene = imported.scene;
    EXPECT_EQ(scene.name, "arm");
    ASSERT_EQ(scene.bodies.size(), 4u);  // the tool is a frame
    EXPECT_EQ(scene.bodies[0].type, BodyType::static_body);
    const BodySpec& upper = scene.bodies[1];
    EXPECT_EQ(upper.color[0], 1.0);
    // turned by 90 degrees about z: xx and yy change places, xy changes sign
    Mat3 wanted;
    wanted << 0.02, -0.001, 0, -0.001, 0.03, 0, 0, 0, 0.02;
    EXPECT_LT((inertia_matrix(*upper.inertia) - wanted).norm(), 1e-15);
    EXPECT_LT((upper.inertia->center - Vec3(0, 0, 0.2)).norm(), 1e-15);
    // the elbow: 0.4 along the upper arm, which leans by 0.5 about y
    const JointSpec& elbow = scene.joints[1];
    EXPECT_LT((elbow.point - Vec3(0.4 * std::sin(0.5), 0, 0.1 + 0.4 * std::cos(0.5))).norm(), 1e-15);
    EXPECT_LT((elbow.axis - Vec3::UnitY()).norm(), 1e-15);
    EXPECT_TRUE(elbow.drives.empty());
    const DriveSpec& drive = scene.joints[0].drives.at(0);
    EXPECT_EQ(*drive.limits, (std::array<double, 2>{-1, 2}));
    EXPECT_EQ(drive.spring->damping, 0.4);
    EXPECT_EQ(drive.friction, 0.2);
    // slide = 0.1 elbow + 0.01, and starts there
    const JointSpec& mimic = scene.joints.back();
    EXPECT_EQ(mimic.type, JointType::coupling);
    EXPECT_EQ(mimic.joints, (std::array<int, 2>{1, 2}));
    EXPECT_EQ(mimic.ratio, 0.1);
    EXPECT_EQ(scene.joints[2].start, std::vector<double>{0.01});
    ASSERT_EQ(scene.actuators.size(), 1u);
    EXPECT_EQ(scene.actuators[0].gear, 50);
    EXPECT_EQ(scene.actuators[0].force_limits[1], 30.0 / 50);
    EXPECT_EQ(scene.actuators[0].velocity_limit, 150);
    EXPECT_TRUE(lists(imported.losses, "<visual>", 5));
    EXPECT_TRUE(lists(imported.losses, "without mass on fixed joints", 13));
    EXPECT_TRUE(lists(imported.losses, "effort limits", 17));
    const Scene again = parse_scene(write_scene(scene), "again", ".");
    EXPECT_LT(joint_residual_max(compile(again), initial_state(compile(again))), 1e-9);
}

TEST(Urdf, MeshesAreFoundInPackages) {
    const test::Folder folder;
    std::filesystem::create_directories(folder.path("robot_description/meshes"));
    std::filesystem::create_directories(folder.path("robot_description/urdf"));
    folder.write("robot_description/meshes/cube.obj", test::cube_obj());
    const std::string text = R"(<robot name="r"><link name="a"><collision><geometry>
        <mesh filename="package://robot_description/meshes/cube.obj" scale="1 2 3"/></geometry></collision></link></robot>)";
    const Scene scene = import_scene(folder.write("robot_description/urdf/r.urdf", text)).scene;
    EXPECT_EQ(scene.geometries[0].mesh_file, folder.path("robot_description/meshes/cube.obj"));
    EXPECT_EQ(scene.geometries[0].scale, Vec3(1, 2, 3));
    std::filesystem::create_directories(folder.path("elsewhere"));
    const std::string far = folder.write("elsewhere/r.urdf", text);
    ImportOptions options;
    options.mesh_root = folder.path();
    EXPECT_EQ(import_scene(far, options).scene.geometries.size(), 1u);
}

TEST(Urdf, ImpossibleInertiaIsListed) {
    const test::Folder folder;
    const ImportedScene imported = import_scene(folder.write("r.urdf", R"(<robot name="r"><link name="a"/>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="3"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>)"));
    EXPECT_TRUE(lists(imported.losses, "moments of inertia 1, 1, 3", 2));
    compile(imported.scene);
}

TEST(Urdf, AHundredThousandFlatLinksLoadInSeconds) {
    const test::Folder folder;
    std::string text = "<robot name=\"long\">\n<link name=\"l0\"/>\n";
    constexpr int count = 100'000;
    for (int i = 1; i <= count; ++i) {
        const std::string n = std::to_string(i), before = std::to_string(i - 1);
        text += "<link name=\"l" + n +
                "\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" "
                "izz=\"1\"/></inertial></link>\n";
        text += "<joint name=\"j" + n + "\" type=\"continuous\"><origin xyz=\"0 0 1\"/><parent link=\"l" +
                before + "\"/><child link=\"l" + n + "\"/></joint>\n";
    }
    const std::string file = folder.write("long.urdf", text + "</robot>");
    const Scene scene = import_scene(file).scene;
    EXPECT_EQ(scene.bodies.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(scene.joints.size(), static_cast<std::size_t>(count));
    EXPECT_NEAR(scene.bodies.back().position.z(), count, 1e-6);
}

const char* const mjcf_model = R"(<mujoco model="m">
  <compiler angle="degree" eulerseq="xyz"/>
  <option timestep="0.004" gravity="0 0 -10"/>
  <default>
    <joint damping="0.5"/>
    <default class="big"><geom size="0.2" density="500"/><joint armature="0.3"/></default>
    <motor ctrlrange="-1 1"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="5 4 1"/>
    <body name="torso" pos="0 0 1" euler="0 0 90" childclass="big">
      <freejoint name="root"/>
      <geom type="sphere"/>
      <site name="imu" pos="0.1 0 0"/>
      <body name="leg" pos="0.3 0 0">
        <joint name="hip_x" axis="1 0 0" range="-30 45" ref="10"/>
        <joint name="hip_y" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05"/>
        <body name="foot" pos="0 0 -0.5"><joint name="ankle" type="ball"/><geom type="box" size="0.1 0.05 0.02" mass="0.7"/></body>
      </body>
    </body>
  </worldbody>
  <equality><connect body1="foot" body2="torso" anchor="0 0 0.1" active="false"/></equality>
  <tendon><fixed name="both"><joint joint="hip_x" coef="2"/></fixed></tendon>
  <actuator>
    <motor name="x" joint="hip_x" gear="20"/>
    <position name="y" joint="hip_y" kp="30" kv="2"/>
    <general name="g" tendon="both" gainprm="5" biastype="affine" biasprm="1 -10 -1"/>
    <muscle name="m" joint="hip_y"/>
  </actuator>
  <sensor><gyro site="imu"/><jointpos joint="hip_y"/><touch site="imu"/></sensor>
  <keyframe><key name="k" qpos="1 2 3 1 0 0 0 0.2 0.3 0 1 0 0" qvel="1 0 0 0 0 1 0.1 0.2 0 0 0" ctrl="0.5 0.1 2 0"/></keyframe>
</mujoco>)";

TEST(Mjcf, BodiesJointsDefaultsAndKeyframes) {
    const test::Folder folder;
    const ImportedScene imported = import_scene(folder.write("m.xml", mjcf_model));
    const Scene& scene = imported.scene;
    EXPECT_EQ(scene.dt, 0.004);
    EXPECT_EQ(scene.gravity, Vec3(0, 0, -10));
    ASSERT_EQ(scene.bodies.size(), 4u);
    EXPECT_EQ(scene.bodies[0].name, "floor");
    EXPECT_EQ(scene.bodies[0].type, BodyType::static_body);
    EXPECT_NEAR(*scene.bodies[1].mass, 500 * 4.0 / 3 * std::numbers::pi * 0.008, 1e-12);
    // a capsule of density 500, radius 0.05, length 0.5
    const double tube = 500 * std::numbers::pi * 0.0025 * 0.5,
                 ends = 500 * 4.0 / 3 * std::numbers::pi * 0.000125;
    EXPECT_NEAR(*scene.bodies[2].mass, tube + ends, 1e-12);
    EXPECT_LT((scene.bodies[2].position - Vec3(0, 0.3, 1)).norm(), 1e-15);  // the torso is turned
    EXPECT_EQ(*scene.bodies[3].mass, 0.7);
    // two hinges at one point across each other: a universal joint
    ASSERT_EQ(scene.joints.size(), 2u);
    const JointSpec& hip = scene.joints[0];
    EXPECT_EQ(hip.type, JointType::universal);
    EXPECT_LT((hip.axis - Vec3::UnitY()).norm(), 1e-15);
    const double degree = std::numbers::pi / 180;
    EXPECT_NEAR((*hip.drives[0].limits)[1], 35 * degree, 1e-15);  // from the reference
    EXPECT_EQ(hip.drives[0].armature, 0.3);
    EXPECT_EQ(hip.drives[0].spring->damping, 0.5);
    ASSERT_EQ(scene.actuators.size(), 3u);
    EXPECT_EQ(scene.actuators[0].gear, 20);
    EXPECT_EQ(scene.actuators[0].target_limits[1], 1);
    EXPECT_EQ(scene.actuators[1].kp, 30);
    EXPECT_EQ(scene.actuators[1].coordinate, 1);
    // f = 5 u + 1 - 10 l - l': target = (5 u + 1) / 10, less 2 * 10 degrees of reference
    EXPECT_NEAR(scene.actuators[2].target, 0.1 - 20 * degree, 1e-15);
    ASSERT_EQ(scene.keyframes.size(), 1u);
    const KeyframeSpec& key = scene.keyframes[0];
    ASSERT_EQ(key.targets.size(), 3u);
    EXPECT_NEAR(key.targets[2].target, 0.6 - 20 * degree, 1e-15);  // the control, 2, is cut off at 1
    ASSERT_EQ(key.joints.size(), 2u);
    EXPECT_NEAR(key.joints[0].position[0], 0.2 - 10 * degree, 1e-15);
    EXPECT_EQ(key.joints[0].position[1], 0.3);
    ASSERT_EQ(key.bodies.size(), 1u);
    EXPECT_EQ(*key.bodies[0].position, Vec3(1, 2, 3));
    EXPECT_LT((*key.bodies[0].angular_velocity - Vec3(0, 0, 1)).norm(), 1e-15);
    ASSERT_EQ(scene.sensors.size(), 3u);
    EXPECT_TRUE(scene.sensors[0].body_frame);
    EXPECT_EQ(scene.sensors[2].type, SensorSpec::Type::contact_force);
    EXPECT_TRUE(lists(imported.losses, "inactive equalities", 23));
    EXPECT_TRUE(lists(imported.losses, "actuators <muscle>", 29));
    EXPECT_TRUE(lists(imported.losses, "touch sensors", 31));
    // it builds at the keyframe: the leg hangs on the moved torso
    Scene started = parse_scene(write_scene(scene), "again", ".");
    started.start = "k";
    const Model model = compile(started);
    const State state = initial_state(model);
    EXPECT_LT(joint_residual_max(model, state), 1e-9);
    EXPECT_LT((state.q[1].col(3) - Vec3(1, 2, 3)).norm(), 1e-14);
}

// What newer versions of MuJoCo have: inherited ranges, joints that bound their actuators, controls that add up, ratios of
// damping in biasprm, sites between two points.
TEST(Mjcf, BoundsAndLawsOfActuators) {
    const test::Folder folder;
    const ImportedScene imported = import_scene(folder.write("m.xml", R"(<mujoco><compiler angle="radian"/>
  <default><position kp="40" kv="3" inheritrange="0.5"/></default>
  <worldbody>
    <body name="a"><joint name="ja" range="-1 2" ref="0.5" actuatorfrcrange="-30 30"/><geom type="box" size="0.1 0.1 0.1" mass="2"/>
      <site name="rod" fromto="0 0 1 0 0 -1"/></body>
    <body name="b"><joint name="jb" type="slide" axis="1 0 0" actuatorfrcrange="-20 10"/><geom size="0.1" mass="2"/></body>
    <body name="c"><joint name="jc" type="slide" axis="1 0 0"/><geom size="0.1" mass="2"/></body>
  </worldbody>
  <actuator>
    <position name="p" joint="ja"/>
    <motor name="m" joint="jb" gear="4" forcerange="-3 3"/>
    <general name="r" joint="jc" gainprm="50" biastype="affine" biasprm="0 -50 0.7"/>
    <intvelocity name="i" joint="jc" kp="60" actrange="-1 1" inheritrange="0"/>
    <general name="f" joint="jb" dyntype="filter" gainprm="2"/>
  </actuator>
  <sensor><framepos objtype="site" objname="rod"/></sensor>
  <keyframe><key name="k" ctrl="0.2 1 0.3 0.4 5"/></keyframe></mujoco>)"));
    const auto& actuators = imported.scene.actuators;
    ASSERT_EQ(actuators.size(), 5u);
    EXPECT_EQ(actuators[0].kp, 40);
    EXPECT_EQ(actuators[0].kd, 3);  // of the default class
    EXPECT_EQ(actuators[0].force_limits[1], 30);
    // half of the range -1..2 about its middle 0.5, less the reference 0.5
    EXPECT_NEAR(actuators[0].target_limits[0], -0.75, 1e-15);
    EXPECT_NEAR(actuators[0].target_limits[1], 0.75, 1e-15);
    EXPECT_EQ(actuators[1].force_limits[1], 3);  // two actuators share jb: its bound is listed, not split
    EXPECT_TRUE(lists(imported.losses, "actuatorfrcrange of joints with several", 6));
    EXPECT_NEAR(actuators[2].kd, 2 * 0.7 * std::sqrt(50 * 2.0), 1e-12);
    EXPECT_EQ(actuators[3].kp, 60);
    EXPECT_EQ(actuators[3].target_limits[1], 1);
    EXPECT_TRUE(lists(imported.losses, "actuators that integrate", 13));
    EXPECT_TRUE(lists(imported.losses, "actuators with a filter", 14));
    const KeyframeSpec& key = imported.scene.keyframes.at(0);
    ASSERT_EQ(key.targets.size(), 4u);  // a control that adds up is no target
    EXPECT_NEAR(key.targets[0].target, 0.2 - 0.5, 1e-15);
    EXPECT_EQ(key.targets[3].actuator, 4);
    EXPECT_LT((imported.scene.sensors.at(0).rotation.toRotationMatrix() - Mat3::Identity()).norm(), 1e-15);
}

// A joint that follows one which follows another starts where both offsets put it.
TEST(Urdf, RowsOfMimics) {
    const test::Folder folder;
    std::string text = "<robot name=\"r\"><link name=\"l0\"/>";
    for (int i = 1; i <= 3; ++i)
        text += "<link name=\"l" + std::to_string(i) +
                "\" concave=\"yes\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" "
                "izz=\"1\"/></inertial></link>"
                "<joint name=\"j" +
                std::to_string(i) + "\" type=\"continuous\"><origin xyz=\"0 0 1\"/><parent link=\"l" +
                std::to_string(i - 1) + "\"/><child link=\"l" + std::to_string(i) + "\"/>" +
                (i < 3 ? "<mimic joint=\"j" + std::to_string(i + 1) + "\" multiplier=\"2\" offset=\"0.1\"/>"
                       : "") +
                "</joint>";
    const ImportedScene imported = import_scene(folder.write("m.urdf", text + "</robot>"));
    const Scene& scene = imported.scene;
    EXPECT_NEAR(scene.joints[1].start.at(0), 0.1, 1e-15);
    EXPECT_NEAR(scene.joints[0].start.at(0), 2 * 0.1 + 0.1, 1e-15);
    EXPECT_TRUE(scene.joints[2].start.empty());
    EXPECT_TRUE(lists(imported.losses, "the attribute 'concave' of <link>", 1));
    const Model model = compile(scene);
    EXPECT_LT(joint_residual_max(model, initial_state(model)), 1e-9);
}

// A joint that may not be at zero starts at the nearer limit: from beyond it a limit would throw the link.
TEST(Urdf, JointsStartWithinTheirLimits) {
    const test::Folder folder;
    const ImportedScene imported = import_scene(folder.write("m.urdf", R"(<robot name="r"><link name="base"/>
<link name="a"><inertial><origin xyz="0.2 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/><limit lower="-1.5" upper="-0.5"/></joint>
<transmission name="t"><joint name="j"><hardwareInterface>PositionJointInterface</hardwareInterface></joint><actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator></transmission></robot>)"));
    EXPECT_EQ(imported.scene.joints[0].start.at(0), -0.5);
    EXPECT_EQ(imported.scene.actuators.at(0).target, -25);  // held there, on the motor's side of the gear
    EXPECT_TRUE(lists(imported.losses, "limits leave out their zero", 3));
    const Model model = compile(imported.scene);
    const State state = initial_state(model);
    EXPECT_NEAR(state.joint_coordinate[0][0], -0.5, 1e-12);
}

// Joints that follow others start where these put them; a range of "0 0" takes back that of a default class.
TEST(Mjcf, CouplingsAndRangesThatAreTakenBack) {
    const test::Folder folder;
    const Scene scene =
        import_scene(
            folder.write("m.xml",
                         R"(<mujoco><compiler angle="radian"/><default><joint range="0.2 1"/></default>
  <worldbody><body name="a"><joint name="ja"/><geom size="0.1"/></body><body name="b"><joint name="jb" range="0 0"/><geom size="0.1"/></body></worldbody>
  <equality><joint joint1="jb" joint2="ja" polycoef="0.3 -2 0 0 0"/></equality></mujoco>)"))
            .scene;
    EXPECT_TRUE(scene.joints[1].drives.empty());
    EXPECT_EQ(scene.joints[0].start.at(0), 0.2);
    EXPECT_NEAR(scene.joints[1].start.at(0), 0.3 - 2 * 0.2, 1e-15);
    const Model model = compile(scene);
    EXPECT_LT(joint_residual_max(model, initial_state(model)), 1e-12);
}

// A height field is a solid with its base below; the first row of `elevation` is the one at +y.
TEST(Mjcf, HeightFieldsAreSolids) {
    const test::Folder folder;
    const Scene scene = import_scene(folder.write("m.xml", R"(<mujoco><asset>
  <hfield name="h" nrow="3" ncol="2" size="1 2 0.5 0.3" elevation="4 4  2 2  0 0"/></asset>
  <worldbody><geom name="ground" type="hfield" hfield="h"/></worldbody></mujoco>)"))
                            .scene;
    const Model model = compile(scene);
    const Mesh& mesh = model.shape_of(0).mesh;
    double top = -1;
    for (const Vec3& v : mesh.vertices) {
        const Vec3 world = transform(model.bodies.start_q[0], v);
        if (world.y() > 2 - 1e-9) top = std::max(top, world.z());
    }
    EXPECT_NEAR(top, 0.5, 1e-12);
    // 2 x 4 m, 0.3 m of base and a ramp of 0.25 m on average
    const geometry::MassProperties solid = geometry::mass_properties(mesh, 0.0);
    EXPECT_TRUE(solid.solid);
    EXPECT_NEAR(solid.volume, 8 * 0.55, 1e-9);
}

TEST(Mjcf, DeepTreesAndIncludes) {
    const test::Folder folder;
    std::string text = "<mujoco><worldbody>";
    constexpr int deep = 20'000;
    for (int i = 0; i < deep; ++i)
        text += "<body pos=\"0 0 1\"><joint/><inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>";
    for (int i = 0; i < deep; ++i) text += "</body>";
    const Scene scene = import_scene(folder.write("deep.xml", text + "</worldbody></mujoco>")).scene;
    EXPECT_EQ(scene.bodies.size(), static_cast<std::size_t>(deep));
    EXPECT_EQ(scene.bodies.back().position.z(), deep);
    folder.write("part.xml",
                 R"(<mujocoinclude><body name="inner"><geom size="0.1"/><joint/></body></mujocoinclude>)");
    const Scene with =
        import_scene(folder.write("whole.xml", R"(<mujoco><worldbody><body name="outer" pos="1 0 0">
        <geom size="0.2"/><include file="part.xml"/></body></worldbody></mujoco>)"))
            .scene;
    ASSERT_EQ(with.bodies.size(), 2u);
    EXPECT_EQ(with.bodies[1].name, "inner");
    EXPECT_EQ(with.bodies[1].position.x(), 1);
}

}  // namespace
}  // namespace tenon

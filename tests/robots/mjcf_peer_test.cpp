// Odd but legal MJCF files beside MuJoCo's own reading of them: places, masses, joints, dynamics and actuators.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "scene/support.hpp"
#include "tenon/inertia.hpp"
#include "tenon/kinematics.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/state.hpp"

#ifdef TENON_HAVE_MUJOCO
#include <mujoco/mujoco.h>

namespace tenon {
namespace {

// Both readings of one file.
class Peers {
  public:
    explicit Peers(const std::string& file) : imported(import_scene(file)), scene(imported.scene) {
        char error[500] = "";
        model = mj_loadXML(file.c_str(), nullptr, error, sizeof error);
        if (!model) throw std::runtime_error(std::string("MuJoCo: ") + error);
        data = mj_makeData(model);
        mj_forward(model, data);
    }
    ~Peers() {
        mj_deleteData(data);
        mj_deleteModel(model);
    }
    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    ImportedScene imported;
    const Scene& scene;
    mjModel* model = nullptr;
    mjData* data = nullptr;
};

Mat3 rotation(const mjtNum* quat) {
    return Quat(quat[0], quat[1], quat[2], quat[3]).normalized().toRotationMatrix();
}

// Poses, masses and inertia tensors of the bodies that both have, at the reference.
void compare_bodies(const Peers& peers, int expected, double tolerance = 1e-9) {
    int compared = 0;
    for (const BodySpec& body : peers.scene.bodies) {
        const int other = mj_name2id(peers.model, mjOBJ_BODY, body.name.c_str());
        if (other < 0) continue;
        ++compared;
        SCOPED_TRACE(body.name);
        const mjtNum* x = peers.data->xpos + 3 * other;
        EXPECT_LT((body.position - Vec3(x[0], x[1], x[2])).norm(), 1e-12);
        EXPECT_LT((body.rotation.toRotationMatrix() - rotation(peers.data->xquat + 4 * other)).norm(), 1e-12);
        if (!body.mass || !body.inertia) continue;
        const double mass = peers.model->body_mass[other];
        // MuJoCo 2.2 gives a mesh the mass of the box that has its moments: its own volume is in the text below
        const bool mesh = body.name == "mesh";
        if (!mesh) {
            EXPECT_NEAR(*body.mass, mass, tolerance * mass);
        }
        const mjtNum *center = peers.model->body_ipos + 3 * other,
                     *moments = peers.model->body_inertia + 3 * other;
        EXPECT_LT((body.inertia->center - Vec3(center[0], center[1], center[2])).norm(), tolerance);
        const Mat3 axes = rotation(peers.model->body_iquat + 4 * other);
        const Mat3 theirs = axes * Vec3(moments[0], moments[1], moments[2]).asDiagonal() * axes.transpose();
        const Mat3 turn = body.inertia->axes.toRotationMatrix();
        const Mat3 ours = turn * body.inertia->moments.asDiagonal() * turn.transpose();
        EXPECT_LT((ours * (mesh ? mass / *body.mass : 1.0) - theirs).norm(), 10 * tolerance * theirs.norm())
            << ours << "\n\n"
            << theirs;
    }
    EXPECT_EQ(compared, expected);
}

// Limits, springs, damping, friction and armature of hinges and slides, by name.
void compare_joints(const Peers& peers, int expected) {
    int compared = 0;
    for (const JointSpec& joint : peers.scene.joints) {
        const int other = mj_name2id(peers.model, mjOBJ_JOINT, joint.name.c_str());
        if (other < 0 || joint.type == JointType::ball || joint.type == JointType::universal) continue;
        ++compared;
        SCOPED_TRACE(joint.name);
        const DriveSpec drive = joint.drives.empty() ? DriveSpec{} : joint.drives[0];
        const int q = peers.model->jnt_qposadr[other], v = peers.model->jnt_dofadr[other];
        const double reference = peers.model->qpos0[q];
        ASSERT_EQ(drive.limits.has_value(), peers.model->jnt_limited[other] != 0);
        for (int side = 0; side < 2 && drive.limits; ++side)
            EXPECT_NEAR((*drive.limits)[side], peers.model->jnt_range[2 * other + side] - reference, 1e-12);
        const SpringSpec spring = drive.spring.value_or(SpringSpec{});
        EXPECT_EQ(spring.stiffness, peers.model->jnt_stiffness[other]);
        EXPECT_EQ(spring.damping, peers.model->dof_damping[v]);
        if (spring.stiffness > 0) {
            EXPECT_NEAR(spring.rest, peers.model->qpos_spring[q] - reference, 1e-12);
        }
        EXPECT_EQ(drive.friction, peers.model->dof_frictionloss[v]);
        EXPECT_EQ(drive.armature, peers.model->dof_armature[v]);
        const mjtNum *axis = peers.data->xaxis + 3 * other, *anchor = peers.data->xanchor + 3 * other;
        EXPECT_LT((joint.axis - Vec3(axis[0], axis[1], axis[2])).norm(), 1e-12);
        if (joint.type == JointType::hinge) {
            EXPECT_LT((joint.point - Vec3(anchor[0], anchor[1], anchor[2])).norm(), 1e-12);
        }
    }
    EXPECT_EQ(compared, expected);
}

// Places of hinges' and slides' coordinates in the tree, by MuJoCo's joint: the name of the joint, or of the universal joint it is
// part of.
std::vector<int> links_of(const Peers& peers, const kinematics::SceneTree& robot) {
    std::vector<int> links(static_cast<std::size_t>(peers.model->njnt), -1);
    for (int j = 0; j < peers.model->njnt; ++j) {
        const std::string name = mj_id2name(peers.model, mjOBJ_JOINT, j);
        const std::string before = j > 0 ? mj_id2name(peers.model, mjOBJ_JOINT, j - 1) : "";
        for (std::size_t k = 0; k < robot.tree.links.size(); ++k) {
            const std::string& link = robot.tree.links[k].name;
            if (link == name || link == name + ".0" || (!before.empty() && link == before + ".1"))
                links[static_cast<std::size_t>(j)] = static_cast<int>(k);
        }
    }
    return links;
}

// Mass matrix, gravity and Coriolis torques at random poses and speeds; all joints are hinges and slides.
void compare_dynamics(const Peers& peers, double tolerance = 1e-9) {
    const kinematics::SceneTree robot = kinematics::tree_of(peers.scene);
    const std::vector<int> links = links_of(peers, robot);
    const int n = peers.model->nv;
    ASSERT_EQ(robot.tree.freedoms, n);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int pose = 0; pose < 10; ++pose) {
        VecX q = robot.tree.zero(), v(n);
        for (int j = 0; j < n; ++j) {
            ASSERT_GE(links[j], 0) << mj_id2name(peers.model, mjOBJ_JOINT, j);
            const kinematics::Link& link = robot.tree.links[links[j]];
            q[link.q] = uniform(random);
            v[link.v] = uniform(random);
            peers.data->qpos[j] = q[link.q] + peers.model->qpos0[j];
            peers.data->qvel[j] = v[link.v];
        }
        mj_forward(peers.model, peers.data);
        const auto frames = kinematics::forward(robot.tree, q);
        const MatX M = kinematics::mass_matrix(robot.tree, frames);
        const VecX bias = kinematics::gravity_torques(robot.tree, frames) +
                          kinematics::coriolis_torques(robot.tree, frames, v);
        std::vector<mjtNum> full(static_cast<std::size_t>(n * n));
        mj_fullM(peers.model, full.data(), peers.data->qM);
        const double size = M.norm(), force = bias.norm() + 1e-9;
        for (int i = 0; i < n; ++i) {
            const int a = robot.tree.links[links[i]].v;
            EXPECT_NEAR(bias[a], peers.data->qfrc_bias[i], tolerance * force) << i;
            for (int k = 0; k < n; ++k)
                EXPECT_NEAR(M(a, robot.tree.links[links[k]].v), full[i * n + k], tolerance * size)
                    << i << " " << k;
        }
    }
}

// Forces of all actuators at random places of their joints, controls as the first keyframe has them.
void compare_actuators(const Peers& peers, int expected) {
    ASSERT_EQ(peers.scene.keyframes.size(), 1u);
    std::map<int, double> targets;
    for (const auto& target : peers.scene.keyframes[0].targets) targets[target.actuator] = target.target;
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(-0.3, 0.3);
    for (int pose = 0; pose < 5; ++pose) {
        for (int k = 0; k < peers.model->nu; ++k) peers.data->ctrl[k] = peers.model->key_ctrl[k];
        for (int j = 0; j < peers.model->nq; ++j)
            peers.data->qpos[j] = peers.model->qpos0[j] + uniform(random);
        for (int j = 0; j < peers.model->nv; ++j) peers.data->qvel[j] = uniform(random);
        mj_forward(peers.model, peers.data);
        int compared = 0;
        for (std::size_t k = 0; k < peers.scene.actuators.size(); ++k) {
            const ActuatorSpec& actuator = peers.scene.actuators[k];
            const int other = mj_name2id(peers.model, mjOBJ_ACTUATOR, actuator.name.c_str());
            ASSERT_GE(other, 0);
            ++compared;
            SCOPED_TRACE(actuator.name);
            std::vector<TendonSpec::Term> terms{{actuator.joint, actuator.coordinate, 1.0}};
            if (actuator.tendon >= 0) terms = peers.scene.tendons[actuator.tendon].terms;
            double length = 0, speed = 0;
            for (const auto& term : terms) {
                const int joint =
                    mj_name2id(peers.model, mjOBJ_JOINT, peers.scene.joints[term.joint].name.c_str());
                ASSERT_GE(joint, 0);
                const int q = peers.model->jnt_qposadr[joint];
                length += actuator.gear * term.coefficient * (peers.data->qpos[q] - peers.model->qpos0[q]);
                speed += actuator.gear * term.coefficient * peers.data->qvel[peers.model->jnt_dofadr[joint]];
            }
            const double target = targets.at(static_cast<int>(k));
            double force = target;
            if (actuator.type == ActuatorSpec::Type::position)
                force = actuator.kp * (target - length) - actuator.kd * speed;
            if (actuator.type == ActuatorSpec::Type::velocity) force = actuator.kd * (target - speed);
            force = std::clamp(force, actuator.force_limits[0], actuator.force_limits[1]);
            EXPECT_NEAR(force, peers.data->actuator_force[other], 1e-9 * (1 + std::abs(force)));
        }
        EXPECT_EQ(compared, expected);
    }
}

TEST(MjcfPeer, AnglesEulerSequencesAndReferences) {
    for (const char* sequence : {"xyz", "zyx", "XYZ", "ZYX", "zxz", "XyZ", "yXz"})
        for (const char* angle : {"degree", "radian"}) {
            SCOPED_TRACE(std::string(sequence) + " " + angle);
            const test::Folder folder;
            const bool degrees = std::string(angle) == "degree";
            const auto turns = [&](const char* in_degrees, const char* in_radians) {
                return std::string(degrees ? in_degrees : in_radians);
            };
            const std::string file = folder.write("m.xml", R"(<mujoco><compiler autolimits="true" angle=")" +
                                                               std::string(angle) + R"(" eulerseq=")" +
                                                               sequence +
                                                               R"("/>
 <worldbody><body name="a" pos="0.1 0.2 0.3" euler=")" + turns("20 -35 70", "0.3 -0.6 1.2") +
                                                               R"(">
  <inertial pos="0.01 0.02 0.03" euler=")" + turns("10 20 30", "0.1 0.2 0.3") +
                                                               R"(" mass="2" diaginertia="0.02 0.03 0.04"/>
  <joint name="ja" axis="1 2 3" pos="0.1 0 0.05" range=")" + turns("-20 90", "-0.4 1.5") +
                                                               R"(" ref=")" + turns("10", "0.2") +
                                                               R"(" springref=")" + turns("15", "0.25") +
                                                               R"(" stiffness="3" damping="0.2"/>
  <body name="b" pos="0 0.3 0" axisangle="0 1 1 )" + turns("40", "0.7") +
                                                               R"(">
   <joint name="jb" type="slide" axis="0 1 1" range="-0.1 0.2" ref="0.05" springref="0.1" stiffness="20" frictionloss="0.3" armature="0.02"/>
   <geom type="box" size="0.1 0.05 0.02" euler=")" + turns("5 10 15", "0.1 0.2 -0.3") +
                                                               R"(" pos="0.05 0 0"/>
   <body name="c" pos="0.1 0 0" xyaxes="1 1 0 0 1 1"><joint name="jc" axis="0 0 -2" limited="false" range="0 1"/>
    <geom type="capsule" fromto="0 0 0 0.1 0.2 0.1" size="0.03"/>
    <body name="d" pos="0 0.1 0" zaxis="0.3 -0.4 0.2"><joint name="jd" axis="0 1 0"/><geom type="ellipsoid" size="0.05 0.04 0.1" mass="0.3"/>
     <geom type="cylinder" size="0.04 0.1" density="500" pos="0 0 0.1" zaxis="0 0 -1"/></body></body></body></body></worldbody></mujoco>)");
            const Peers peers(file);
            compare_bodies(peers, 4);
            compare_joints(peers, 4);
            compare_dynamics(peers);
        }
}

// Classes in classes, settings of a class that come after the classes inside it, a class twice as deep, childclass and class.
TEST(MjcfPeer, DefaultClasses) {
    const test::Folder folder;
    const std::string file = folder.write("m.xml", R"(<mujoco><compiler angle="radian"/>
 <default>
  <default class="leg"><default class="shin"><joint damping="0.7"/><geom size="0.03"/>
    <default class="toe"><joint axis="1 0 0"/></default></default>
   <joint damping="0.3" stiffness="4" springref="0.2"/><geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.2"/></default>
  <joint armature="0.11" axis="0 1 0"/><geom density="700" type="box" size="0.1 0.1 0.1"/>
  <default class="arm"><joint type="slide" frictionloss="0.4" limited="true" range="-0.2 0.3"/></default>
 </default>
 <worldbody><body name="trunk"><joint name="t" class="arm"/><geom/>
   <body name="thigh" childclass="leg" pos="0 0 -0.2"><joint name="hip"/><geom/>
     <body name="shank" pos="0 0 -0.2"><joint name="knee" class="shin"/><geom class="shin"/>
       <body name="foot" childclass="toe" pos="0 0 -0.2"><joint name="ankle"/><geom/>
         <body name="tip" pos="0 0 -0.2"><joint name="last" class="main"/><geom class="leg" mass="0.2"/></body></body></body></body></body></worldbody></mujoco>)");
    const Peers peers(file);
    compare_bodies(peers, 5);
    compare_joints(peers, 5);
    compare_dynamics(peers);
}

// A default of one kind of actuator counts for the others, as MuJoCo keeps one set for all; controls and forces have limits.
TEST(MjcfPeer, ActuatorsAndTheirDefaults) {
    const test::Folder folder;
    const std::string file = folder.write("m.xml", R"(<mujoco><compiler angle="radian" autolimits="true"/>
 <default><general ctrlrange="-2 2" ctrllimited="true"/>
  <default class="stiff"><position kp="50"/></default>
  <default class="servo"><general gainprm="20" biastype="affine" biasprm="1 -20 -3" forcerange="-6 6" forcelimited="true"/></default>
  <default class="plain"><general gainprm="20" biastype="affine" biasprm="0 -20" forcerange="-6 6" forcelimited="true"/></default>
  <default class="speed"><velocity kv="4" gear="3"/></default>
  <default class="both"><position kp="7"/><motor gear="5"/></default></default>
 <worldbody>
  <body name="a"><joint name="ja" ref="0.3"/><geom size="0.1"/>
   <body name="b" pos="0.3 0 0"><joint name="jb" type="slide" axis="0 1 0" ref="-0.1"/><geom size="0.1"/>
    <body name="c" pos="0.3 0 0"><joint name="jc" axis="0 1 0"/><geom size="0.1"/></body></body></body></worldbody>
 <tendon><fixed name="both"><joint joint="ja" coef="0.5"/><joint joint="jc" coef="-1.5"/></fixed></tendon>
 <actuator>
  <position name="p0" joint="ja"/><position name="p1" joint="ja" class="stiff"/><position name="p2" joint="jb" class="plain" kp="30"/>
  <position name="p3" joint="jb" class="plain"/><general name="g0" joint="jc" class="servo"/><general name="g1" joint="jc" class="stiff"/>
  <motor name="m0" joint="ja" class="servo"/><motor name="m1" joint="jc" class="stiff" gear="-8"/><motor name="m2" tendon="both" gear="2"/>
  <velocity name="v0" joint="jb" class="speed"/><velocity name="v1" joint="jb" class="stiff"/><velocity name="v2" joint="ja" kv="0.5" ctrlrange="-1 0.4"/>
  <general name="g2" joint="jc" gainprm="3" biastype="affine" biasprm="0 0 -2"/><general name="g3" joint="jc" class="speed"/>
  <general name="g4" joint="jc" class="both"/><position name="p4" joint="jc" class="both"/><motor name="m3" joint="jc" class="both"/>
 </actuator>
 <keyframe><key ctrl="0.5 -1 0.2 0.3 -0.4 0.1 1.5 -0.7 3 0.6 0.5 0.9 -0.8 0.2 0.4 0.3 1"/></keyframe></mujoco>)");
    const Peers peers(file);
    compare_bodies(peers, 3);
    compare_joints(peers, 3);
    compare_actuators(peers, peers.model->nu);
}

const char* const tetrahedron =
    R"(<mesh name="tet" vertex="0 0 0  0.3 0 0  0 0.2 0  0.1 0.1 0.4" face="0 2 1  0 1 3  1 2 3  0 3 2")";

// Meshes with scale, mirrored, turned and shifted; primitives fitted to them.
TEST(MjcfPeer, MeshesAndPrimitivesFittedToThem) {
    const std::pair<const char*, double> changes[] = {
        {"", 1},
        {R"( scale="2 1 0.5")", 1},
        {R"( scale="-1 1 1")", 1},
        {R"( scale="-1 -2 1")", 2},
        {R"( refpos="0.1 0.2 0.3")", 1},
        {R"( refquat="0.9 0.1 0.3 0.2")", 1},
        {R"( refpos="0.1 0 0.2" refquat="0.5 0.5 -0.5 0.5")", 1},
        {R"( scale="1 2 3" refpos="0.1 0 0.2" refquat="0.9 0.1 0.3 0.2")", 6}};
    for (const auto& [change, volume] : changes) {
        SCOPED_TRACE(change);
        const test::Folder folder;
        std::string bodies;
        for (const char* type : {"mesh", "sphere", "box", "capsule", "cylinder", "ellipsoid"}) {
            const std::string name = type;
            bodies += "<body name=\"" + name + "\" pos=\"1 0 0\"><joint name=\"j" + name +
                      "\"/><geom type=\"" + name +
                      "\" mesh=\"tet\" pos=\"0.1 0.2 0.3\" euler=\"10 20 30\"/></body>";
        }
        const std::string file =
            folder.write("m.xml", std::string(R"(<mujoco><asset>)") + tetrahedron + change +
                                      "/></asset><worldbody>" + bodies + "</worldbody></mujoco>");
        const Peers peers(file);
        compare_bodies(peers, 6, 1e-6);  // MuJoCo's meshes are of single precision
        // a tetrahedron of 0.3 x 0.2 x 0.4 / 6 m3 at 1000 kg/m3
        EXPECT_NEAR(*peers.scene.bodies.at(0).mass, 4 * volume, 1e-9);
        compare_joints(peers, 6);
    }
}

// The compiler's words about inertia.
TEST(MjcfPeer, CompilerSettingsOfInertia) {
    for (const char* settings :
         {R"(inertiafromgeom="true")", R"(inertiafromgeom="auto")", R"(inertiagrouprange="1 2")",
          R"(boundmass="0.5" boundinertia="0.01")", R"(balanceinertia="true")", R"(settotalmass="7")",
          R"(settotalmass="7" inertiafromgeom="true" boundmass="3")"}) {
        SCOPED_TRACE(settings);
        const test::Folder folder;
        const std::string file =
            folder.write("m.xml", R"(<mujoco><compiler angle="radian" )" + std::string(settings) + R"(/>
 <worldbody><body name="still"><geom size="0.1"/></body>
  <body name="a"><joint name="ja"/><inertial pos="0.1 0 0" mass="0.3" diaginertia="0.001 0.002 0.0025"/><geom size="0.1" group="1"/>
   <geom size="0.2" group="3" pos="0.3 0 0"/>
  <body name="b" pos="0.2 0 0"><joint name="jb" axis="0 1 0"/><inertial pos="0 0 0" mass="1" fullinertia="0.02 0.03 0.04 0.001 0.002 -0.003"/><geom type="box" size="0.1 0.2 0.3" group="2"/></body></body>
 </worldbody></mujoco>)");
        const Peers peers(file);
        compare_bodies(peers, 3, 1e-8);
        compare_joints(peers, 2);
    }
}

// Several joints of one body: two that cross are one universal joint, others have a small body between them.
TEST(MjcfPeer, SeveralJointsOfOneBody) {
    const test::Folder folder;
    const std::string file = folder.write("m.xml", R"(<mujoco><compiler angle="radian" autolimits="true"/>
 <worldbody><body name="a" euler="0.1 0.2 0.3"><joint name="a1" axis="1 0 0" pos="0.1 0 0" armature="0.1"/><joint name="a2" axis="0 0 1" pos="0.1 0 0" armature="0.2"/>
  <geom type="box" size="0.1 0.2 0.3"/>
  <body name="b" pos="0 0 0.4"><joint name="b1" type="slide" axis="0 0 1" range="-1 1"/><joint name="b2" axis="0 1 0" damping="2"/><joint name="b3" axis="1 0 1" ref="0.4"/>
   <geom type="box" size="0.1 0.1 0.2" pos="0.1 0 0"/></body></body></worldbody></mujoco>)");
    const Peers peers(file);
    compare_bodies(peers, 2);
    compare_joints(peers, 3);
    compare_dynamics(peers, 5e-3);  // bodies of a thousandth
}

// Bodies without joints, masses or both; several includes, one in a default class and one deep in the tree.
TEST(MjcfPeer, IncludesAndBodiesWithoutJoints) {
    const test::Folder folder;
    folder.write("defaults.xml", R"(<mujoco><default class="soft"><joint damping="9"/></default></mujoco>)");
    folder.write(
        "tool.xml",
        R"(<mujoco><body name="tool" pos="0 0 0.2" quat="1 2 3 4"><geom type="box" size="0.1 0.02 0.03"/>
      <include file="bit.xml"/></body></mujoco>)");
    folder.write(
        "bit.xml",
        R"(<mujoco><body name="bit" pos="0.1 0 0"><joint name="spin" class="soft" axis="1 1 0"/><geom type="cylinder" size="0.01 0.1"/></body></mujoco>)");
    const std::string file = folder.write(
        "m.xml", R"(<mujoco><compiler angle="radian"/><default><include file="defaults.xml"/></default>
 <worldbody><body name="post" pos="1 0 0"><geom type="box" size="0.1 0.1 0.5"/><body name="frame" euler="0 0.5 0"><body name="arm" pos="0 0 0.5"><joint name="turn" class="soft"/>
   <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/><body name="flange" pos="0.5 0 0"><include file="tool.xml"/></body></body></body></body></worldbody></mujoco>)");
    const Peers peers(file);
    compare_joints(peers, 2);
    compare_dynamics(peers);
}

// MuJoCo reads URDF too: origins that turn, inertials that are turned, fixed links with mass, slides, mirrored axes.
TEST(UrdfPeer, OriginsInertialsAndAxes) {
    const test::Folder folder;
    const std::string file = folder.write(
        "m.urdf", R"(<robot name="r"><mujoco><compiler fusestatic="false" discardvisual="true"/></mujoco>
<link name="base"/>
<link name="a"><inertial><origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.9"/><mass value="2"/><inertia ixx="0.03" ixy="0.002" ixz="-0.001" iyy="0.04" iyz="0.003" izz="0.05"/></inertial></link>
<link name="b"><inertial><origin rpy="1 2 3"/><mass value="0.5"/><inertia ixx="0.003" ixy="0" ixz="0" iyy="0.004" iyz="0" izz="0.005"/></inertial></link>
<link name="c"><inertial><origin xyz="0 0 -0.2"/><mass value="1.5"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>
<link name="d"><inertial><origin xyz="0.05 0 0"/><mass value="0.7"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
<joint name="ja" type="revolute"><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><parent link="base"/><child link="a"/><axis xyz="1 2 -1"/><limit lower="-1" upper="2" effort="10" velocity="3"/><dynamics damping="0.4" friction="0.2"/></joint>
<joint name="jb" type="prismatic"><origin xyz="0.3 0 0" rpy="-1.2 0.4 2.3"/><parent link="a"/><child link="b"/><limit lower="-0.1" upper="0.2" effort="1" velocity="1"/></joint>
<joint name="f" type="fixed"><origin xyz="0.1 0.1 0" rpy="0 1.5707963 0"/><parent link="b"/><child link="c"/></joint>
<joint name="jd" type="continuous"><origin xyz="0 0 -0.4"/><parent link="c"/><child link="d"/><axis xyz="0 0 -1"/></joint></robot>)");
    const Peers peers(file);
    compare_bodies(peers, 4, 1e-7);  // MuJoCo finds principal axes to eight digits
    compare_joints(peers, 3);
    compare_dynamics(peers, 1e-6);
}

// Geoms' places, by the corners of boxes: fromto, frames of the body, of the world.
TEST(MjcfPeer, CornersOfBoxes) {
    const test::Folder folder;
    const std::string file = folder.write("m.xml", R"(<mujoco><compiler angle="radian" eulerseq="zyx"/>
 <worldbody><geom name="w" type="box" size="0.1 0.2 0.3" pos="1 2 3" euler="0.3 0.2 0.1"/>
 <body name="a" pos="0.1 0 0" euler="0.5 0.4 0.3"><joint/><geom name="g" type="box" size="0.05" fromto="0.1 0.2 0.3 -0.2 0.1 0.5"/></body>
 <body name="b" pos="0.1 0 0" zaxis="1 1 1"><joint/><geom name="h" type="box" size="0.05 0.1 0.2" axisangle="1 2 3 0.7" pos="0.3 0 0"/></body>
 </worldbody></mujoco>)");
    const Peers peers(file);
    const Model model = compile(peers.scene);
    for (const auto& [geom, body] : {std::pair{"w", "w"}, {"g", "a"}, {"h", "b"}}) {
        const int id = mj_name2id(peers.model, mjOBJ_GEOM, geom), index = peers.scene.body_index(body);
        ASSERT_GE(index, 0);
        const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> R(peers.data->geom_xmat +
                                                                               9 * id);
        const Vec3 center = Eigen::Map<const Vec3>(peers.data->geom_xpos + 3 * id),
                   half = Eigen::Map<const Vec3>(peers.model->geom_size + 3 * id);
        double worst = 0;
        for (const Vec3& vertex : model.shape_of(index).mesh.vertices) {
            const Vec3 local = R.transpose() * (transform(model.bodies.start_q[index], vertex) - center);
            worst = std::max(worst, (local.cwiseAbs() - half).norm());
        }
        EXPECT_LT(worst, 1e-12) << geom;
    }
}

}  // namespace
}  // namespace tenon

#endif

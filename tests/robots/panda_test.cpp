// The Franka arm of the fixtures, imported, beside MuJoCo's own reading of the same file.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "scene/support.hpp"
#include "tenon/kinematics.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/state.hpp"

#ifdef TENON_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

namespace tenon {
namespace {

namespace fs = std::filesystem;

fs::path panda_folder() {
    return fs::path(TENON_SOURCE_DIR) / ".." / "shared" / "fixtures" / "mjcf" / "franka_emika_panda";
}

#define SKIP_WITHOUT_PANDA() \
    if (!fs::exists(panda_folder() / "panda.xml")) GTEST_SKIP() << "no arm at " << panda_folder()

TEST(Panda, EverythingOfTheFileIsInTheScene) {
    SKIP_WITHOUT_PANDA();
    const ImportedScene panda = import_mjcf((panda_folder() / "panda.xml").string());
    const Scene& scene = panda.scene;
    // link0..link7, hand, two fingers
    ASSERT_EQ(scene.bodies.size(), 11u);
    EXPECT_EQ(scene.bodies[0].type, BodyType::static_body);
    // seven hinges, the hand's weld, two slides, the coupling of the fingers
    int hinges = 0, slides = 0, welds = 0, couplings = 0;
    for (const JointSpec& joint : scene.joints) {
        hinges += joint.type == JointType::hinge;
        slides += joint.type == JointType::prismatic;
        welds += joint.type == JointType::fixed;
        couplings += joint.type == JointType::coupling;
        if (joint.type != JointType::hinge) continue;
        ASSERT_EQ(joint.drives.size(), 1u);
        EXPECT_EQ(joint.drives[0].armature, 0.1);
        EXPECT_EQ(joint.drives[0].spring->damping, 1.0);
        EXPECT_TRUE(joint.drives[0].limits);
    }
    EXPECT_EQ(hinges, 7);
    EXPECT_EQ(slides, 2);
    EXPECT_EQ(welds, 1);
    EXPECT_EQ(couplings, 1);
    ASSERT_EQ(scene.actuators.size(), 8u);
    EXPECT_EQ(scene.actuators[0].kp, 4500);
    EXPECT_EQ(scene.actuators[0].kd, 450);
    EXPECT_EQ(scene.actuators[0].force_limits[1], 87);
    EXPECT_EQ(scene.actuators[7].kp, 100);
    ASSERT_EQ(scene.tendons.size(), 1u);
    EXPECT_EQ(scene.actuators[7].tendon, 0);
    EXPECT_NEAR(scene.actuators[7].target_limits[1], 0.04, 1e-12);  // 255 * 0.01568627451 / 100
    ASSERT_EQ(scene.keyframes.size(), 1u);
    EXPECT_EQ(scene.keyframes[0].name, "home");
    EXPECT_EQ(scene.keyframes[0].joints.size(), 9u);
    EXPECT_EQ(scene.keyframes[0].targets.size(), 8u);
    EXPECT_EQ(scene.contact.ignore, (std::vector<std::array<int, 2>>{{0, 1}}));
    EXPECT_FALSE(panda.losses.empty());
    for (const ImportLoss& loss : panda.losses) EXPECT_GT(loss.line, 0) << loss.what;
    // what is written reads back, builds, and starts at home
    const test::Folder folder;
    Scene again = parse_scene(write_scene(scene, folder.path()), "panda", folder.path());
    again.start = "home";
    const Model model = compile(again);
    const State state = initial_state(model);
    EXPECT_LT(joint_residual_max(model, state), 1e-9);
    EXPECT_NEAR(state.joint_coordinate[3][0], -1.57079, 1e-12);
}

#ifdef TENON_HAVE_MUJOCO

// Debian's MuJoCo does not know the newer integrator: a copy without it, with its meshes where they are.
std::string copy_for_mujoco(const test::Folder& folder) {
    std::ifstream in(panda_folder() / "panda.xml");
    std::stringstream text;
    text << in.rdbuf();
    std::string xml = text.str();
    const std::string option = " integrator=\"implicitfast\"", meshes = "meshdir=\"assets\"";
    if (const auto found = xml.find(option); found != std::string::npos) xml.erase(found, option.size());
    if (const auto found = xml.find(meshes); found != std::string::npos)
        xml.replace(found, meshes.size(), "meshdir=\"" + (panda_folder() / "assets").string() + "\"");
    return folder.write("panda.xml", xml);
}

TEST(Panda, KinematicsMassMatrixAndGravityAreMuJoCos) {
    SKIP_WITHOUT_PANDA();
    const test::Folder folder;
    const std::string file = copy_for_mujoco(folder);
    char error[500] = "";
    mjModel* model = mj_loadXML(file.c_str(), nullptr, error, sizeof error);
    ASSERT_NE(model, nullptr) << error;
    mjData* data = mj_makeData(model);
    Scene scene = import_mjcf(file).scene;
    // MuJoCo keeps principal moments, which it finds from the file's tensors to eight digits only. The dynamics is compared for
    // its moments; that they are those of the file is checked here.
    double worst_tensor = 0;
    for (BodySpec& body : scene.bodies) {
        const int other = mj_name2id(model, mjOBJ_BODY, body.name.c_str());
        ASSERT_GE(other, 0);
        if (!body.inertia) continue;
        const auto tensor = [](const InertiaSpec& inertia) -> Mat3 {
            const Mat3 axes = inertia.axes.toRotationMatrix();
            return axes * inertia.moments.asDiagonal() * axes.transpose();
        };
        InertiaSpec theirs = *body.inertia;
        const mjtNum* quat = model->body_iquat + 4 * other;
        theirs.axes = Quat(quat[0], quat[1], quat[2], quat[3]).normalized();
        for (int k = 0; k < 3; ++k) theirs.moments[k] = model->body_inertia[3 * other + k];
        worst_tensor =
            std::max(worst_tensor, (tensor(theirs) - tensor(*body.inertia)).norm() / theirs.moments.norm());
        body.inertia = theirs;
    }
    EXPECT_LT(worst_tensor, 1e-6);
    const kinematics::SceneTree robot = kinematics::tree_of(scene);
    ASSERT_EQ(robot.tree.freedoms, model->nv);
    ASSERT_EQ(model->nv, 9);

    std::mt19937 random(7);
    double worst_position = 0, worst_rotation = 0, worst_mass = 0, worst_gravity = 0, worst_bias = 0;
    for (int pose = 0; pose < 100; ++pose) {
        VecX q(9), v(9);
        for (int k = 0; k < 9; ++k) {
            std::uniform_real_distribution<double> u(model->jnt_range[2 * k], model->jnt_range[2 * k + 1]);
            q[k] = data->qpos[k] = u(random);
            v[k] = std::uniform_real_distribution<double>(-2, 2)(random);
            data->qvel[k] = 0;
        }
        mj_forward(model, data);
        const kinematics::Frames frames = kinematics::forward(robot.tree, q);
        for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
            const int other = mj_name2id(model, mjOBJ_BODY, scene.bodies[b].name.c_str());
            ASSERT_GE(other, 0);
            const int link = robot.link_of_body[b];
            if (link < 0) continue;
            const Vec3 p = kinematics::point_of(frames, link, robot.body_in_link[b].position);
            const Mat3 R = frames.rotation[link] * robot.body_in_link[b].rotation.toRotationMatrix();
            for (int i = 0; i < 3; ++i) {
                worst_position = std::max(worst_position, std::abs(p[i] - data->xpos[3 * other + i]));
                for (int k = 0; k < 3; ++k)
                    worst_rotation =
                        std::max(worst_rotation, std::abs(R(i, k) - data->xmat[9 * other + 3 * i + k]));
            }
        }
        std::vector<mjtNum> full(81);
        mj_fullM(model, full.data(), data->qM);
        const MatX M = kinematics::mass_matrix(robot.tree, frames);
        for (int i = 0; i < 9; ++i)
            for (int k = 0; k < 9; ++k)
                worst_mass = std::max(worst_mass, std::abs(M(i, k) - full[9 * i + k]));
        const VecX gravity = kinematics::gravity_torques(robot.tree, frames);
        for (int k = 0; k < 9; ++k)
            worst_gravity = std::max(worst_gravity, std::abs(gravity[k] - data->qfrc_bias[k]));
        for (int k = 0; k < 9; ++k) data->qvel[k] = v[k];
        mj_forward(model, data);
        const VecX bias = gravity + kinematics::coriolis_torques(robot.tree, frames, v);
        for (int k = 0; k < 9; ++k) worst_bias = std::max(worst_bias, std::abs(bias[k] - data->qfrc_bias[k]));
    }
    mj_deleteData(data);
    mj_deleteModel(model);
    RecordProperty("position", std::to_string(worst_position));
    EXPECT_LT(worst_position, 1e-9);
    EXPECT_LT(worst_rotation, 1e-9);
    EXPECT_LT(worst_mass, 1e-9);
    EXPECT_LT(worst_gravity, 1e-9);
    EXPECT_LT(worst_bias, 1e-9);
    std::printf(
        "largest differences: position %.2g m, rotation %.2g, mass matrix %.2g, gravity %.2g N m, bias %.2g "
        "N m\n",
        worst_position, worst_rotation, worst_mass, worst_gravity, worst_bias);
}

#endif

}  // namespace
}  // namespace tenon

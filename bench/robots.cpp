// Robots that follow joint trajectories, beside MuJoCo in the same run: time per step, and how well each step size tracks.
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/robots.hpp"
#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/kinematics.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/simulation.hpp"

#ifdef TENON_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

namespace tenon::bench {
namespace {

namespace fs = std::filesystem;

double processor_ms() {
    return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// A box that the robot holds or pushes, or the floor under it (mass 0).
struct Prop {
    std::string name;
    Vec3 size;
    double mass;
    Vec3 at;
    Quat turned = Quat::Identity();
};

// A robot with servos on its joints, and the motion they are told to make: q = home + swing (1 - cos w t)/2.
struct Robot {
    std::string name;
    Scene scene;
    kinematics::SceneTree tree;
    VecX home;
    std::vector<double> swing;      // per servo
    std::vector<int> joint, place;  // of each servo: joint of the scene, entry in q and v
    double rate = M_PI;             // rad/s
    std::string mjcf;               // the same robot for MuJoCo; "{dt}" and "{integrator}" are filled in
    std::vector<Prop> props;        // the last one is watched
    double friction = 1.0;          // of props
    std::string carrier;            // the body it is watched from; empty: the world
    std::vector<std::pair<double, double>>
        grip;  // of the actuators after the servos: target, and MuJoCo's control

    void motion(double time, VecX& q, VecX& v, VecX& a) const {
        q = home;
        v = a = VecX::Zero(tree.tree.freedoms);
        for (std::size_t k = 0; k < joint.size(); ++k) {
            q[place[k]] += 0.5 * swing[k] * (1 - std::cos(rate * time));
            v[place[k]] = 0.5 * swing[k] * rate * std::sin(rate * time);
            a[place[k]] = 0.5 * swing[k] * rate * rate * std::cos(rate * time);
        }
    }
    // Inverse dynamics as targets: kp (target - q) - kd q' = tau + damping q'.
    std::vector<double> targets(double time, VecX& q) const {
        VecX v, a;
        motion(time, q, v, a);
        const VecX tau = kinematics::inverse_dynamics(tree.tree, kinematics::forward(tree.tree, q), v, a);
        std::vector<double> out;
        for (std::size_t k = 0; k < joint.size(); ++k) {
            const ActuatorSpec& servo = scene.actuators[k];
            const auto& spring = scene.joints[joint[k]].drives[0].spring;
            const double damping = servo.kd + (spring ? spring->damping : 0.0);
            out.push_back(q[place[k]] + (tau[place[k]] + damping * v[place[k]]) / servo.kp);
        }
        return out;
    }
    void find_places() {
        for (const ActuatorSpec& servo : scene.actuators) {
            if (servo.joint < 0) continue;
            joint.push_back(servo.joint);
            place.push_back(tree.tree.links[tree.joints[servo.joint].first_link].q);
        }
    }
};

std::optional<Robot> panda() {
    const char* given = std::getenv("TENON_FIXTURES");
    const fs::path folder = fs::path(given ? given : "../shared/fixtures") / "mjcf" / "franka_emika_panda";
    if (!fs::exists(folder / "panda.xml")) return std::nullopt;
    Robot robot;
    robot.name = "panda";
    robot.scene = import_mjcf((folder / "panda.xml").string()).scene;
    robot.scene.start = "home";
    robot.tree = kinematics::tree_of(robot.scene);
    robot.home = robot.tree.tree.zero();
    for (const auto& state : robot.scene.keyframes[0].joints)
        robot.home[robot.tree.tree.links[robot.tree.joints[state.joint].first_link].q] = state.position[0];
    robot.find_places();
    robot.swing = {0.8, 0.4, -0.5, -0.6, 0.7, 0.5, 0.9};
    std::ifstream in(folder / "panda.xml");
    std::stringstream text;
    text << in.rdbuf();
    robot.mjcf = text.str();
    const auto replace = [&](const std::string& from, const std::string& to) {
        const auto found = robot.mjcf.find(from);
        if (found != std::string::npos) robot.mjcf.replace(found, from.size(), to);
    };
    replace("<option integrator=\"implicitfast\"/>",
            "<option integrator=\"{integrator}\" timestep=\"{dt}\"/>");
    replace("meshdir=\"assets\"", "meshdir=\"" + fs::absolute(folder / "assets").string() + "\"");
    // the keyframe is set by hand: it would not fit a model with a box more
    const auto first = robot.mjcf.find("<keyframe>"), last = robot.mjcf.find("</keyframe>");
    robot.mjcf.erase(first, last + 11 - first);
    robot.grip = {{0.04, 255.0}};  // open
    return robot;
}

std::string text_of(const Vec3& v) {
    return fmt::format("{} {} {}", v.x(), v.y(), v.z());
}

// The props as bodies of both engines' scenes.
void place_props(Robot& robot) {
    std::string bodies;
    for (const Prop& prop : robot.props) {
        BodySpec body = body_spec(robot.scene, prop.name, box_spec(prop.size), prop.at, prop.turned);
        if (prop.mass > 0)
            body.mass = prop.mass;
        else
            body.type = BodyType::static_body;
        robot.scene.add_body(body);
        bodies += fmt::format(
            "<body name='{}' pos='{}' quat='{} {} {} {}'>{}<geom type='box' size='{}' {} "
            "friction='{}'/></body>",
            prop.name, text_of(prop.at), prop.turned.w(), prop.turned.x(), prop.turned.y(), prop.turned.z(),
            prop.mass > 0 ? "<freejoint/>" : "", text_of(0.5 * prop.size),
            prop.mass > 0 ? fmt::format("mass='{}'", prop.mass) : "", robot.friction);
    }
    robot.mjcf.insert(robot.mjcf.rfind("</worldbody>"), bodies);
}

// The arm carries a box of 50 g between its fingers along its way.
Robot with_a_box_in_hand(Robot robot) {
    robot.name += "-grip";
    robot.carrier = "hand";
    robot.grip = {{0.0, 0.0}};  // closed
    for (MaterialSpec& material : robot.scene.materials) material.friction = 1.0;
    const auto frames = kinematics::forward(robot.tree.tree, robot.home);
    const int body = robot.scene.body_index("hand"), link = robot.tree.link_of_body[body];
    const Mat3& R = frames.rotation[link];
    const Pose& hand = robot.tree.body_in_link[body];
    const Quat turned = Quat(R) * hand.rotation;
    const Vec3 at = frames.origin[link] + R * hand.position + turned * Vec3(0, 0, 0.1034);
    robot.props = {{"box", {0.04, 0.079, 0.04}, 0.05, at, turned}};
    place_props(robot);
    return robot;
}

constexpr int limb_joints = 6;
constexpr double servo_damping = 40.0;  // N m s

// Limbs at home point along an axis of the world: what is 0.15 m that way is 6 cm across the others.
Vec3 end_size(const Vec3& direction) {
    Vec3 size = Vec3::Constant(0.06);
    Eigen::Index axis = 0;
    direction.cwiseAbs().maxCoeff(&axis);
    size[axis] = 0.15;
    return size;
}

// A link with all that hangs on it. Links are not in the order of the text, which goes limb by limb: joints have names.
std::string mjcf_body(const Robot& robot, int number) {
    const auto& links = robot.tree.tree.links;
    const kinematics::Link& link = links[number];
    const Mat3& I = link.inertia;
    std::string xml = fmt::format(
        "<body pos='{1}'><joint name='{0}' type='hinge' axis='{2}' armature='{3}' damping='{12}'/>"
        "<inertial pos='{4}' mass='{5}' fullinertia='{6} {7} {8} {9} {10} {11}'/>",
        link.name, text_of(link.anchor), text_of(link.axis), link.armature, text_of(link.center), link.mass,
        I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2), servo_damping);
    std::string children;
    for (std::size_t i = 0; i < links.size(); ++i)
        if (links[i].parent == number) children += mjcf_body(robot, static_cast<int>(i));
    if (children.empty())  // the boxes at the ends of limbs are the ones that touch
        xml += fmt::format("<geom type='box' size='{}' pos='{}' mass='0' friction='{}'/>",
                           text_of(0.5 * end_size(2.0 * link.center)), text_of(link.center), robot.friction);
    return xml + children + "</body>";
}

// Servos' damping is that of the joints here: MuJoCo's Euler steps treat it implicitly there, and not in actuators.
std::string mjcf_of(const Robot& robot) {
    const auto& links = robot.tree.tree.links;
    std::string xml =
        "<mujoco><compiler angle='radian'/><option integrator='{integrator}' timestep='{dt}' gravity='" +
        text_of(robot.scene.gravity) + "'/><worldbody>";
    for (std::size_t i = 0; i < links.size(); ++i)
        if (links[i].parent < 0) xml += mjcf_body(robot, static_cast<int>(i));
    xml += "</worldbody><actuator>";
    for (std::size_t k = 0; k < robot.joint.size(); ++k) {
        const ActuatorSpec& servo = robot.scene.actuators[k];
        xml += fmt::format("<general joint='{0}' gainprm='{1}' biastype='affine' biasprm='0 -{1} 0'/>",
                           robot.scene.joints[robot.joint[k]].name, servo.kp);
    }
    return xml + "</actuator></mujoco>";
}

// Five limbs of six hinges on a fixed trunk: 30 joints.
Robot limbs() {
    Robot robot;
    robot.name = "limbs-30";
    Scene& scene = robot.scene;
    scene = articulated_scene(0.005, 2.0);
    const Vec3 roots[5] = {{0, 0.6, 0}, {0.2, 0.5, 0}, {-0.2, 0.5, 0}, {0.1, 0, 0}, {-0.1, 0, 0}};
    const Vec3 ways[5] = {{0, 1, 0}, {1, 0, 0}, {-1, 0, 0}, {0, -1, 0}, {0, -1, 0}};
    for (int limb = 0; limb < 5; ++limb) {
        Vec3 from = roots[limb];
        int below = -1;
        for (int k = 0; k < limb_joints; ++k) {
            const Vec3 to = from + 0.15 * ways[limb];
            BodySpec link = body_spec(scene, "", box_spec(end_size(to - from)), 0.5 * (from + to));
            link.mass = 2.0 - 0.25 * k;
            link.collides = k == limb_joints - 1;
            const int body = scene.add_body(link);
            JointSpec joint = joint_spec(fmt::format("limb-{}-{}", limb, k), JointType::hinge, below, body,
                                         from, Vec3::Unit((k + limb) % 3));
            DriveSpec drive;
            drive.armature = 0.02;
            joint.drives.push_back(drive);
            ActuatorSpec servo;
            servo.name = joint.name;
            servo.type = ActuatorSpec::Type::position;
            servo.joint = static_cast<int>(scene.joints.size());
            servo.kp = 500;
            servo.kd = servo_damping;
            scene.joints.push_back(joint);
            scene.actuators.push_back(servo);
            robot.swing.push_back((k % 2 ? -0.4 : 0.4) + 0.05 * k);
            from = to;
            below = body;
        }
    }
    robot.tree = kinematics::tree_of(scene);
    robot.home = robot.tree.tree.zero();
    robot.find_places();
    robot.mjcf = "";
    return robot;
}

// The ends of two legs push blocks over a floor. A block that is pushed at height h tips over from a friction of half its width
// over h on, and then jams under the foot: these slide.
constexpr double push_friction = 0.4, block_width = 0.16;

Robot with_blocks_to_push(Robot robot) {
    robot.name += "-push";
    robot.friction = push_friction;
    robot.mjcf = mjcf_of(robot);
    for (MaterialSpec& material : robot.scene.materials) material.friction = push_friction;
    robot.props = {{"floor", {4, 0.1, 4}, 0, Vec3(0, -1.03, 0)}};
    const auto ends_at = [&](double time, int limb) {
        VecX q, v, a;
        robot.motion(time, q, v, a);
        const int last = robot.tree.link_of_body[limb * limb_joints + limb_joints - 1];
        return kinematics::point_of(kinematics::forward(robot.tree.tree, q), last,
                                    robot.tree.tree.links[last].center);
    };
    for (const int limb : {3, 4}) {
        const Vec3 start = ends_at(0, limb);
        Vec3 way = ends_at(0.5, limb) - start;
        way.y() = 0;
        // as wide as it is deep, so that its side faces the foot: 15 mm of air at the start
        const double yaw = std::atan2(-way.z(), way.x());
        const Vec3 at = start + (0.5 * 0.06 * std::sqrt(2.0) + 0.015 + 0.5 * block_width) * way.normalized();
        robot.props.push_back({fmt::format("block-{}", limb),
                               {block_width, 0.2, block_width},
                               0.5,
                               {at.x(), -0.879, at.z()},
                               Quat(Eigen::AngleAxisd(yaw, Vec3::UnitY()))});
    }
    place_props(robot);
    return robot;
}

struct Tracked {
    double ms_per_step = 0, error = 0, residual = 0, solves = 0;
    double contacts = 0, moved = 0;  // mean per step; of the watched prop, m
    bool sound = true;               // no number that is not finite, every step converged
};

Tracked with_tenon(const Robot& robot, double dt, double seconds) {
    Scene scene = robot.scene;
    scene.dt = dt;
    Simulation sim(scene);
    Tracked out;
    const long steps = std::lround(seconds / dt);
    VecX q;
    const int watched = robot.props.empty() ? -1 : scene.body_index(robot.props.back().name);
    const int carrier = robot.carrier.empty() ? -1 : scene.body_index(robot.carrier);
    const auto place = [&] {
        const Vec3 x = sim.state().q[watched].col(3);
        if (carrier < 0) return x;
        const Mat34& from = sim.state().q[carrier];
        return Vec3(from.leftCols<3>().transpose() * (x - from.col(3)));
    };
    const Vec3 before = watched < 0 ? Vec3(Vec3::Zero()) : place();
    for (std::size_t k = 0; k < robot.grip.size(); ++k)
        set_target(sim.model(), sim.state(), static_cast<int>(robot.joint.size() + k), robot.grip[k].first);
    for (long n = 1; n <= steps; ++n) {
        const std::vector<double> targets = robot.targets(n * dt, q);
        for (std::size_t k = 0; k < targets.size(); ++k)
            set_target(sim.model(), sim.state(), static_cast<int>(k), targets[k]);
        const double start = processor_ms();
        try {
            const StepReport report = sim.step();
            out.sound = out.sound && report.converged;
            out.residual = std::max(out.residual, report.joint_residual);
            out.solves += static_cast<double>(report.iterations) / static_cast<double>(steps);
            out.contacts += static_cast<double>(report.contacts) / static_cast<double>(steps);
        } catch (const StepFailure&) {
            out.sound = false;
            return out;
        }
        out.ms_per_step += (processor_ms() - start) / static_cast<double>(steps);
        for (std::size_t k = 0; k < robot.joint.size(); ++k)
            out.error = std::max(
                out.error, std::abs(sim.state().joint_coordinate[robot.joint[k]][0] - q[robot.place[k]]));
    }
    if (watched >= 0) out.moved = (place() - before).norm();
    return out;
}

#ifdef TENON_HAVE_MUJOCO
std::optional<Tracked> with_mujoco(const Robot& robot, double dt, double seconds,
                                   const std::string& integrator) {
    std::string xml = robot.mjcf;
    for (const auto& [from, to] :
         {std::pair<std::string, std::string>{"{integrator}", integrator}, {"{dt}", fmt::format("{}", dt)}})
        xml.replace(xml.find(from), from.size(), to);
    const fs::path file = fs::temp_directory_path() / fmt::format("tenon_bench_{}.xml", std::clock());
    std::ofstream(file) << xml;
    char error[500] = "";
    mjModel* model = mj_loadXML(file.c_str(), nullptr, error, sizeof error);
    fs::remove(file);
    if (!model) return std::nullopt;
    mjData* data = mj_makeData(model);
    // the two engines number joints each in its own order
    const auto& links = robot.tree.tree.links;
    std::vector<int> address(robot.tree.tree.positions, -1);
    for (const kinematics::Link& link : links) {
        const int joint = mj_name2id(model, mjOBJ_JOINT, link.name.c_str());
        if (joint >= 0) address[link.q] = model->jnt_qposadr[joint];
    }
    for (int i = 0; i < robot.tree.tree.positions; ++i)
        if (address[i] >= 0) data->qpos[address[i]] = robot.home[i];
    for (const int place : robot.place)
        if (address[place] < 0) throw std::logic_error("MuJoCo's model lacks a joint of " + robot.name);
    for (std::size_t k = 0; k < robot.grip.size(); ++k)
        data->ctrl[robot.joint.size() + k] = robot.grip[k].second;
    mj_forward(model, data);
    const int watched =
        robot.props.empty() ? -1 : mj_name2id(model, mjOBJ_BODY, robot.props.back().name.c_str());
    const int carrier = robot.carrier.empty() ? -1 : mj_name2id(model, mjOBJ_BODY, robot.carrier.c_str());
    const auto place = [&] {
        const Vec3 x = Eigen::Map<const Vec3>(data->xpos + 3 * watched);
        if (carrier < 0) return x;
        const Mat3 R = Eigen::Map<const Mat3>(data->xmat + 9 * carrier);  // by rows: this is its transpose
        return Vec3(R * (x - Eigen::Map<const Vec3>(data->xpos + 3 * carrier)));
    };
    const Vec3 before = watched < 0 ? Vec3(Vec3::Zero()) : place();
    Tracked out;
    const long steps = std::lround(seconds / dt);
    VecX q;
    for (long n = 1; n <= steps && out.sound; ++n) {
        const std::vector<double> targets = robot.targets(n * dt, q);
        for (std::size_t k = 0; k < targets.size(); ++k) data->ctrl[k] = targets[k];
        const double start = processor_ms();
        mj_step(model, data);
        out.ms_per_step += (processor_ms() - start) / static_cast<double>(steps);
        out.contacts += static_cast<double>(data->ncon) / static_cast<double>(steps);
        for (std::size_t k = 0; k < robot.joint.size(); ++k)
            out.error =
                std::max(out.error, std::abs(data->qpos[address[robot.place[k]]] - q[robot.place[k]]));
        out.sound = std::isfinite(out.error) && out.error < 10 && data->warning[mjWARN_BADQACC].number == 0;
    }
    if (watched >= 0) out.moved = (place() - before).norm();
    mj_deleteData(data);
    mj_deleteModel(model);
    return out;
}
#endif

void print(const Options& options, const Robot& robot, const std::string& engine, const std::string& method,
           double dt, const Tracked& run) {
    Row row;
    row.set("bench", std::string("robots"))
        .set("case", robot.name)
        .set("engine", engine)
        .set("method", method);
    row.set("size", static_cast<double>(robot.joint.size())).set("threads", 1.0).set("dt", dt);
    row.set("ms_per_step", run.ms_per_step)
        .set("times_real_time", 1e3 * dt / std::max(run.ms_per_step, 1e-9));
    row.set("error", run.error).set("tracks", run.sound && run.error < 1e-2 ? 1.0 : 0.0);
    if (!robot.props.empty()) row.set("contacts", run.contacts).set("moved", run.moved);
    if (engine == "tenon") row.set("joint_residual_max", run.residual).set("solves_per_step", run.solves);
    options.print(row);
}

void run(const Options& options) {
    const double seconds = options.quick ? 0.5 : 2.0;
    std::vector<Robot> robots;
    const bool plain_arm = options.wants("panda"), gripping_arm = options.wants("panda-grip");
    if (plain_arm || gripping_arm) {
        if (auto found = panda()) {
            if (plain_arm) robots.push_back(*found);
            if (gripping_arm) robots.push_back(with_a_box_in_hand(std::move(*found)));
        } else
            options.note(
                "panda: not at ../shared/fixtures/mjcf/franka_emika_panda; set TENON_FIXTURES to the folder "
                "above mjcf");
    }
    const bool plain_limbs = options.wants("limbs-30"), pushing_limbs = options.wants("limbs-30-push");
    if (plain_limbs || pushing_limbs) {
        Robot thirty = limbs();
        thirty.mjcf = mjcf_of(thirty);
        if (plain_limbs) robots.push_back(thirty);
        if (pushing_limbs) robots.push_back(with_blocks_to_push(std::move(thirty)));
    }
    options.note(
        "error: largest distance of a joint from the trajectory, rad; tracks: below 0.01. Processor time of "
        "one thread. -grip: a box of 50 g is carried by friction; moved: how far it slipped in the hand, m. "
        "-push: two legs push blocks; moved: how far the last one went, m.");
#ifndef TENON_HAVE_MUJOCO
    options.note("MuJoCo is not installed: Tenon alone");
#endif
    for (const Robot& robot : robots)
        for (const double dt : {0.001, 0.002, 0.005, 0.01, 0.02, 0.04}) {
            if (options.quick && dt != 0.005) continue;
            print(options, robot, "tenon", "articulated", dt, with_tenon(robot, dt, seconds));
#ifdef TENON_HAVE_MUJOCO
            for (const char* integrator : {"Euler", "implicit"})
                if (const auto theirs = with_mujoco(robot, dt, seconds, integrator))
                    print(options, robot, "mujoco", integrator, dt, *theirs);
#endif
        }
}

}  // namespace

Bench robots_bench() {
    return {"robots", "arms and limbs that follow joint trajectories, beside MuJoCo", run};
}

}  // namespace tenon::bench

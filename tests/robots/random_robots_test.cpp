// Random arms and legs, open and closed, with every kind of actuator, reach and hold random targets.
#include <cmath>
#include <cstdlib>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

enum class Kind { servo, bounded_servo, hold, bounded_hold, speed, bounded_speed, torque };
constexpr int kinds = 7;

class Robot {
  public:
    explicit Robot(unsigned seed) : random_(seed) {
        scene = articulated_scene(uniform(0, 1) < 0.5 ? 0.005 : 0.002, 2.0);
        const int shape = static_cast<int>(seed % 4);
        if (shape == 3)
            closed_leg();
        else
            open_arm(shape == 2);
    }

    Scene scene;
    std::vector<Kind> kind;  // of each actuator

  private:
    double uniform(double low, double high) {
        return low + (high - low) * static_cast<double>(random_()) / 4294967295.0;
    }
    Vec3 direction() {
        Vec3 d;
        do d = Vec3(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1));
        while (d.norm() < 0.2 || d.norm() > 1);
        return d.normalized();
    }

    int add_link(const Vec3& from, const Vec3& to) {
        BodySpec link = body_spec(scene, "", box_spec({(to - from).norm(), 0.06, 0.05}), 0.5 * (from + to),
                                  along(to - from));
        link.mass = uniform(0.3, 3.0);
        link.collides = false;
        return scene.add_body(link);
    }

    // 3 to 12 joints: a chain, or a tree.
    void open_arm(bool tree) {
        const int joints = 3 + static_cast<int>(uniform(0, 9.99));
        std::vector<Vec3> tip{Vec3::Zero()};
        std::vector<int> body{-1};
        for (int k = 0; k < joints; ++k) {
            const auto parent =
                tree ? static_cast<std::size_t>(uniform(0, static_cast<double>(tip.size()) - 1e-9))
                     : tip.size() - 1;
            const Vec3 from = tip[parent], to = from + uniform(0.1, 0.35) * direction();
            const int link = add_link(from, to);
            const bool slides = uniform(0, 1) < 0.2;
            scene.joints.push_back(joint_spec("joint-" + std::to_string(k),
                                              slides ? JointType::prismatic : JointType::hinge, body[parent],
                                              link, from, direction()));
            drive(k, slides ? 0.1 : 0.7);
            tip.push_back(to);
            body.push_back(link);
        }
    }

    // One to three parallelograms, each on the coupler of the one before: hinges 1 and 4 on what carries it.
    void closed_leg() {
        const int loops = 1 + static_cast<int>(uniform(0, 2.99));
        int carrier = -1;
        Vec3 left = Vec3::Zero();
        for (int k = 0; k < loops; ++k) {
            const double width = uniform(0.1, 0.2), length = uniform(0.2, 0.35), lean = uniform(-0.4, 0.4);
            const Vec3 right = left + Vec3(width, 0, 0);
            const Vec3 down = length * Vec3(std::sin(lean), -std::cos(lean), 0);
            const int a = add_link(left, left + down), b = add_link(right, right + down),
                      coupler = add_link(left + down, right + down);
            const int first = static_cast<int>(scene.joints.size());
            const std::string name = "loop-" + std::to_string(k);
            scene.joints.push_back(joint_spec(name + "-hip", JointType::hinge, carrier, a, left));
            scene.joints.push_back(joint_spec(name + "-1", JointType::hinge, a, coupler, left + down));
            scene.joints.push_back(joint_spec(name + "-2", JointType::hinge, coupler, b, right + down));
            scene.joints.push_back(joint_spec(name + "-3", JointType::hinge, b, carrier, right));
            drive(first, 0.5);
            carrier = coupler;
            left += down;
        }
    }

    // An actuator of a random kind on a joint, its target within the reach given.
    void drive(int joint, double reach) {
        const Kind what = static_cast<Kind>(static_cast<int>(uniform(0, kinds - 1e-9)));
        DriveSpec drive;
        drive.armature = uniform(0.01, 0.1);
        ActuatorSpec motor;
        motor.name = scene.joints[joint].name;
        motor.joint = joint;
        motor.gear = uniform(0, 1) < 0.5 ? 1.0 : uniform(0.5, 3.0);
        motor.target = motor.gear * uniform(-reach, reach);
        const bool speed = what == Kind::speed || what == Kind::bounded_speed;
        motor.type = what == Kind::torque ? ActuatorSpec::Type::torque
                     : speed              ? ActuatorSpec::Type::velocity
                                          : ActuatorSpec::Type::position;
        switch (what) {
            case Kind::servo:
            case Kind::bounded_servo:
                motor.kp = uniform(200, 2000);
                motor.kd = 0.1 * motor.kp;
                if (what == Kind::bounded_servo) motor.force_limits = {-300, 300};
                break;
            case Kind::hold:
                motor.velocity_limit = motor.gear * 2.0;
                break;
            case Kind::bounded_hold:
                motor.force_limits = {-400, 400};
                drive.friction = 0.3;
                break;
            case Kind::bounded_speed:
                motor.force_limits = {-400, 400};
                break;
            case Kind::speed:
                motor.kd = 500;
                break;
            case Kind::torque:
                motor.target *= 10;
                drive.spring = SpringSpec{100, 15, 0};
                break;
        }
        if (!speed && what != Kind::torque) drive.limits = {{-1.5 * reach - 0.5, 1.5 * reach + 0.5}};
        scene.joints[joint].drives.push_back(drive);
        scene.actuators.push_back(motor);
        kind.push_back(what);
    }

    std::mt19937 random_;
};

// Kinetic energy of armatures and potential of springs are not those of bodies.
double stored(const Simulation& sim) {
    double sum = energies(sim.model(), sim.state()).total();
    for (std::size_t j = 0; j < sim.scene().joints.size(); ++j)
        for (const DriveSpec& drive : sim.scene().joints[j].drives) {
            const double q = sim.state().joint_coordinate[j][0],
                         v = sim.outputs().joints[j].coordinate_rate[0];
            sum +=
                0.5 * drive.armature * v * v + (drive.spring ? 0.5 * drive.spring->stiffness * q * q : 0.0);
        }
    return sum;
}

// Of what the motors turn over.
constexpr double most_gain = 1e-3;

// What went wrong, or nothing.
std::string trial(unsigned seed, double& worst_gain) {
    const Robot robot(seed);
    Simulation sim(robot.scene);
    const auto& joints = sim.outputs().joints;
    double residual = 0, work = 0, turnover = 0;
    double start = stored(sim);
    int unconverged = 0;
    const auto say = [&](const std::string& what, double value) {
        return "seed " + std::to_string(seed) + ": " + what + " " + std::to_string(value);
    };
    std::vector<double> force(robot.kind.size(), 0.0);
    while (sim.time() < 2.0 - 1e-9) {
        const auto before = sim.state().joint_coordinate;
        const StepReport report = sim.step();
        unconverged += !report.converged;
        residual = std::max(residual, report.joint_residual);
        for (std::size_t a = 0; a < robot.kind.size();
             ++a) {  // trapezoids: of second order, as the method is
            const auto j = static_cast<std::size_t>(robot.scene.actuators[a].joint);
            const double now = joints[j].motor_force[0], last = std::exchange(force[a], now);
            const double done = 0.5 * (last + now) * (sim.state().joint_coordinate[j][0] - before[j][0]);
            work += done;
            turnover += std::abs(done);
        }
        if (sim.time() > 0.1) continue;  // motors that jump to their speed do so within one step
        start = stored(sim);
        work = turnover = 0;
    }
    const double gained = stored(sim) - start - work;
    if (unconverged > 0) return say("steps that did not converge:", unconverged);
    if (residual > 1e-9) return say("joints opened by, m, times 1e9:", 1e9 * residual);
    worst_gain = std::max(worst_gain, gained / turnover);
    if (gained > most_gain * turnover) return say("energy from nowhere, of the turnover:", gained / turnover);
    for (std::size_t a = 0; a < robot.kind.size(); ++a) {
        const ActuatorSpec& motor = robot.scene.actuators[a];
        const auto j = static_cast<std::size_t>(motor.joint);
        const double l = motor.gear * sim.state().joint_coordinate[j][0],
                     rate = motor.gear * joints[j].coordinate_rate[0],
                     f = joints[j].motor_force[0] / motor.gear;
        // reported rates of affine bodies are right to omega^3 h^2 / 3, some 1e-4 rad/s here
        const double slip = 1e-4 * motor.gear * motor.kd;
        switch (robot.kind[a]) {
            case Kind::servo:
            case Kind::bounded_servo: {
                const double law = motor.kp * (motor.target - l) - motor.kd * rate;
                if (std::abs(f - law) > 1e-5 * (1 + std::abs(f)) + slip)
                    return say("a servo's force is off by", f - law);
                break;
            }
            case Kind::hold:
            case Kind::bounded_hold:
                if (std::abs(l - motor.target) > 1e-2 * motor.gear)
                    return say(motor.name + " misses its target by", l - motor.target);
                break;
            case Kind::bounded_speed:
                if (std::abs(rate - motor.target) > 1e-2 * motor.gear)
                    return say(motor.name + " misses its speed by", rate - motor.target);
                break;
            case Kind::speed:
                if (std::abs(f - motor.kd * (motor.target - rate)) > 1e-5 * (1 + std::abs(f)) + slip)
                    return say("a speed motor's force is off by", f - motor.kd * (motor.target - rate));
                break;
            case Kind::torque:
                if (std::abs(f - motor.target) > 1e-9 * (1 + std::abs(f)))
                    return say("a torque is off by", f - motor.target);
                break;
        }
    }
    return "";
}

// TENON_ROBOTS=200 for more of them.
TEST(RandomRobots, ReachAndHoldRandomTargets) {
    const char* more = std::getenv("TENON_ROBOTS");
    const unsigned count = more ? static_cast<unsigned>(std::atoi(more)) : 20;
    int failed = 0;
    double worst_gain = 0;
    for (unsigned seed = 0; seed < count; ++seed) {
        std::string wrong;
        try {
            wrong = trial(seed, worst_gain);
        } catch (const std::exception& error) {
            wrong = "seed " + std::to_string(seed) + ": " + error.what();
        }
        failed += !wrong.empty();
        EXPECT_TRUE(wrong.empty()) << wrong;
    }
    std::printf("%u robots, %d failed; most energy beyond the motors' work: %.2g of the turnover\n", count,
                failed, worst_gain);
}

}  // namespace
}  // namespace tenon

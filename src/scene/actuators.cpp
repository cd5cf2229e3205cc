#include "scene/actuators.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "math/profile.hpp"
#include "tenon/error.hpp"

namespace tenon::scene {
namespace {

constexpr double unlimited = 1e299;
using Profile = std::vector<std::array<double, 2>>;

// l = factor * q + constant along one joint coordinate.
struct Lever {
    int joint = -1, coordinate = 0;
    double factor = 1.0;
};

// An actuator at one of its coordinates.
struct Pull {
    std::size_t index = 0;
    ActuatorSpec actuator;
    Lever lever;
    double constant = 0.0;
};

struct Transmission {
    std::vector<Lever> levers;
    double constant = 0.0;
};

// The profile cut off at the limits: where a straight piece crosses one, a point is put in.
Profile clamped(const Profile& profile, const std::array<double, 2>& limits) {
    Profile out;
    for (std::size_t k = 0; k < profile.size(); ++k) {
        if (k > 0) {
            const auto &a = profile[k - 1], &b = profile[k];
            std::vector<double> crossings;
            for (const double limit : limits) {
                const double u = (limit - a[1]) / (b[1] - a[1]);
                if (u > 0 && u < 1) crossings.push_back(a[0] + u * (b[0] - a[0]));
            }
            std::sort(crossings.begin(), crossings.end());
            for (const double time : crossings)
                if (time > out.back()[0] && time < b[0])
                    out.push_back({time, std::clamp(profile_at(profile, time), limits[0], limits[1])});
        }
        out.push_back({profile[k][0], std::clamp(profile[k][1], limits[0], limits[1])});
    }
    return out;
}

// One more summand of a motor's target over time.
void add_target(MotorSpec& motor, double target, const Profile& profile) {
    if (motor.profile.empty() && profile.empty()) {
        motor.target += target;
        return;
    }
    const auto value = [](double constant, const Profile& table, double time) {
        return table.empty() ? constant : profile_at(table, time);
    };
    std::vector<double> times;
    for (const auto& [time, unused] : motor.profile) times.push_back(time);
    for (const auto& [time, unused] : profile) times.push_back(time);
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    Profile sum;
    for (const double time : times)
        sum.push_back({time, value(motor.target, motor.profile, time) + value(target, profile, time)});
    motor.target = 0;
    motor.profile = std::move(sum);
}

class Lowering {
  public:
    explicit Lowering(Scene& scene) : scene_(scene) {
        for (const JointSpec& joint : scene.joints)
            if (joint.type == JointType::coupling)
                couplings_[{joint.joints[1], joint.coordinates[1]}] = &joint - scene.joints.data();
    }

    void lower(std::size_t index) {
        index_ = index;
        actuator_ = scene_.actuators[index];
        const Transmission all = transmission();
        if (all.levers.empty())
            refuse("", "moves nothing: its joints' parts cancel", "check the coefficients");
        const bool torque = actuator_.type == ActuatorSpec::Type::torque;
        if (!torque && all.levers.size() > 1)
            refuse(".tendon", "holds a position or speed of a tendon whose joints move on their own",
                   "couple the joints, drive each by its own actuator, or use a torque actuator");
        if (!torque) limit_speed(all.levers[0], all.constant);
        for (const Lever& lever : all.levers)
            pulls_[{lever.joint, lever.coordinate}].push_back({index, actuator_, lever, all.constant});
    }

    // The motors: one for each coordinate, whatever pulls at it.
    void finish() {
        for (const auto& [place, pulls] : pulls_) {
            const auto is_torque = [](const Pull& pull) {
                return pull.actuator.type == ActuatorSpec::Type::torque;
            };
            const bool torques = std::all_of(pulls.begin(), pulls.end(), is_torque);
            if (!torques && pulls.size() > 1) {
                merge(pulls);
                continue;
            }
            for (const Pull& pull : pulls) {
                index_ = pull.index;
                actuator_ = pull.actuator;
                torques ? add_torque(pull.lever) : set_motor(pull.lever, pull.constant);
            }
        }
    }

  private:
    [[noreturn]] void refuse(const std::string& key, const std::string& problem,
                             const std::string& cure) const {
        throw InputError(scene_.file.empty() ? scene_.name : scene_.file,
                         fmt::format("actuators[{}]{}", index_, key), "'" + actuator_.name + "' " + problem,
                         cure);
    }
    JointSpec& joint_of(const Lever& lever) { return scene_.joints[static_cast<std::size_t>(lever.joint)]; }
    DriveSpec& drive_of(const Lever& lever) {
        std::vector<DriveSpec>& drives = joint_of(lever).drives;
        if (drives.size() <= static_cast<std::size_t>(lever.coordinate))
            drives.resize(static_cast<std::size_t>(lever.coordinate) + 1);
        return drives[static_cast<std::size_t>(lever.coordinate)];
    }

    // Coordinates that a coupling ties to another are expressed by that one: q2 = ratio q1 + offset.
    Transmission transmission() const {
        std::vector<TendonSpec::Term> terms;
        if (actuator_.joint >= 0)
            terms.push_back({actuator_.joint, actuator_.coordinate, 1.0});
        else
            terms = scene_.tendons[static_cast<std::size_t>(actuator_.tendon)].terms;
        Transmission all;
        const bool held = actuator_.type != ActuatorSpec::Type::torque && terms.size() > 1;
        for (const TendonSpec::Term& term : terms) {
            Lever lever{term.joint, term.coordinate, actuator_.gear * term.coefficient};
            for (std::size_t hops = 0; held && hops < couplings_.size(); ++hops) {
                const auto found = couplings_.find({lever.joint, lever.coordinate});
                if (found == couplings_.end()) break;
                const JointSpec& coupling = scene_.joints[static_cast<std::size_t>(found->second)];
                all.constant += lever.factor * coupling.offset;
                lever = {coupling.joints[0], coupling.coordinates[0], lever.factor * coupling.ratio};
            }
            const auto same = std::find_if(all.levers.begin(), all.levers.end(), [&](const Lever& other) {
                return other.joint == lever.joint && other.coordinate == lever.coordinate;
            });
            if (same == all.levers.end())
                all.levers.push_back(lever);
            else
                same->factor += lever.factor;
        }
        std::erase_if(all.levers, [](const Lever& lever) { return lever.factor == 0; });
        return all;
    }

    void add_torque(const Lever& lever) {
        const double target =
            std::clamp(actuator_.target, actuator_.force_limits[0], actuator_.force_limits[1]);
        const Profile cut = clamped(actuator_.profile, actuator_.force_limits);
        MotorSpec& motor = drive_of(lever).motor;
        if (motor.type != MotorSpec::Type::none && motor.type != MotorSpec::Type::force) refuse_second(lever);
        if (motor.type == MotorSpec::Type::force && motor.max < unlimited)
            refuse("", fmt::format("joint '{}' has a bounded force motor besides", joint_of(lever).name),
                   "keep one of the two");
        add_part(motor, lever.factor, target, cut, actuator_.force_limits);
        motor.type = MotorSpec::Type::force;
    }

    // One more part of a motor's target: factor times the actuator's own.
    void add_part(MotorSpec& motor, double factor, double target, const Profile& profile,
                  const std::array<double, 2>& limits) {
        Profile scaled = profile;
        for (auto& entry : scaled) entry[1] *= factor;
        add_target(motor, factor * target, scaled);
        motor.sources.push_back({static_cast<int>(index_), factor, 0.0, target, profile, limits});
    }

    [[noreturn]] void refuse_second(const Lever& lever) {
        refuse(
            "", fmt::format("joint '{}' has a motor on that coordinate already", joint_of(lever).name),
            "leave one motor or actuator for each coordinate, or give all of them gains and no force limits");
    }

    // Several actuators with gains and without bounds on one coordinate are one motor with the sum of their gains:
    // sum of f kp (l* - c - f q) - f^2 kd q', of f kd (l'* - f q') and of f times torques.
    void merge(const std::vector<Pull>& pulls) {
        double stiffness = 0, damping = 0;
        for (const Pull& pull : pulls) {
            index_ = pull.index;
            actuator_ = pull.actuator;
            if (actuator_.type == ActuatorSpec::Type::torque) continue;
            if (bounded() || (actuator_.kp == 0 && actuator_.kd == 0)) refuse_second(pull.lever);
            const double square = pull.lever.factor * pull.lever.factor;
            stiffness += square * actuator_.kp;
            damping += square * actuator_.kd;
        }
        MotorSpec& motor = drive_of(pulls[0].lever).motor;
        if (motor.type != MotorSpec::Type::none) refuse_second(pulls[0].lever);
        motor.type = stiffness > 0 ? MotorSpec::Type::position : MotorSpec::Type::velocity;
        motor.stiffness = stiffness;
        motor.damping = damping;
        const double whole = stiffness > 0 ? stiffness : damping;
        for (const Pull& pull : pulls) {
            index_ = pull.index;
            actuator_ = pull.actuator;
            const double factor = pull.lever.factor / whole;
            const std::array<double, 2> none{-1e300, 1e300};
            if (actuator_.type == ActuatorSpec::Type::torque) {
                const auto& limits = actuator_.force_limits;
                add_part(motor, factor, std::clamp(actuator_.target, limits[0], limits[1]),
                         clamped(actuator_.profile, limits), limits);
            } else if (actuator_.type == ActuatorSpec::Type::velocity) {
                add_part(motor, factor * actuator_.kd, actuator_.target, actuator_.profile, none);
            } else {
                add_part(motor, factor * actuator_.kp, actuator_.target, actuator_.profile, none);
                add_target(motor, -factor * actuator_.kp * pull.constant, {});
            }
        }
    }

    bool bounded() const {
        return actuator_.force_limits[0] > -unlimited || actuator_.force_limits[1] < unlimited;
    }

    double bound(const Lever& lever) const {
        const auto& [low, high] = actuator_.force_limits;
        if (!bounded()) return 1e300;
        if (low != -high)
            refuse(".force_limits", fmt::format("has limits {:g} and {:g}, which differ in size", low, high),
                   "motors have one bound for both directions: give [-F, F]");
        return std::abs(lever.factor) * high;
    }

    void set_motor(const Lever& lever, double constant) {
        MotorSpec& motor = drive_of(lever).motor;
        if (motor.type != MotorSpec::Type::none) refuse_second(lever);
        const bool position = actuator_.type == ActuatorSpec::Type::position;
        motor.type = position ? MotorSpec::Type::position : MotorSpec::Type::velocity;
        if (!position) constant = 0.0;
        motor.target = (actuator_.target - constant) / lever.factor;
        motor.profile = actuator_.profile;
        for (auto& entry : motor.profile) entry[1] = (entry[1] - constant) / lever.factor;
        motor.max = bound(lever);
        motor.stiffness = lever.factor * lever.factor * actuator_.kp;
        motor.damping = lever.factor * lever.factor * actuator_.kd;
        motor.sources.push_back({static_cast<int>(index_), lever.factor, constant, 0.0, {}, {}});
    }

    double start_of(const Lever& lever) {
        const JointSpec& joint = joint_of(lever);
        if (joint.type == JointType::distance) return (*joint.point_b - joint.point).norm();
        const auto k = static_cast<std::size_t>(lever.coordinate);
        return joint.type != JointType::ball && joint.start.size() > k ? joint.start[k] : 0.0;
    }

    // A position is approached at the speed allowed; a faster profile or speed is refused.
    void limit_speed(const Lever& lever, double constant) {
        const double limit = actuator_.velocity_limit;
        if (limit > unlimited) return;
        const auto too_fast = [&](double speed) {
            refuse(".velocity_limit",
                   fmt::format("is asked to move at {:g}, beyond its limit {:g}", speed, limit),
                   "slow the target down, or raise the limit");
        };
        if (actuator_.type == ActuatorSpec::Type::velocity) {
            if (std::abs(actuator_.target) > limit) too_fast(actuator_.target);
            for (const auto& entry : actuator_.profile)
                if (std::abs(entry[1]) > limit) too_fast(entry[1]);
            return;
        }
        const double start = lever.factor * start_of(lever) + constant;
        if (actuator_.profile.empty()) {
            const double way = actuator_.target - start;
            if (way == 0) return;
            actuator_.profile = {{0.0, start}, {std::abs(way) / limit, actuator_.target}};
            return;
        }
        for (std::size_t k = 1; k < actuator_.profile.size(); ++k) {
            const auto &a = actuator_.profile[k - 1], &b = actuator_.profile[k];
            const double speed = std::abs(b[1] - a[1]) / (b[0] - a[0]);
            if (speed > limit * (1 + 1e-12)) too_fast(speed);
        }
        if (std::abs(actuator_.profile.front()[1] - start) > 1e-9)
            refuse(".profile",
                   fmt::format("begins at {:g}, but the joint starts at {:g}", actuator_.profile.front()[1],
                               start),
                   "with a velocity limit the profile begins where the joint does");
    }

    Scene& scene_;
    ActuatorSpec actuator_;
    std::size_t index_ = 0;
    std::map<std::pair<int, int>, std::ptrdiff_t> couplings_;  // by the second coordinate
    std::map<std::pair<int, int>, std::vector<Pull>> pulls_;   // by joint and coordinate
};

void apply_keyframe(Scene& scene) {
    const auto found = std::find_if(scene.keyframes.begin(), scene.keyframes.end(),
                                    [&](const KeyframeSpec& key) { return key.name == scene.start; });
    if (found == scene.keyframes.end())
        throw InputError(scene.file, "start", fmt::format("no keyframe is named '{}'", scene.start),
                         "name one of \"keyframes\"");
    for (const KeyframeSpec::JointState& state : found->joints) {
        JointSpec& joint = scene.joints[static_cast<std::size_t>(state.joint)];
        if (!state.position.empty()) joint.start = state.position;
        if (!state.velocity.empty()) joint.start_rate = state.velocity;
    }
    for (const KeyframeSpec::Target& target : found->targets) {
        ActuatorSpec& actuator = scene.actuators[static_cast<std::size_t>(target.actuator)];
        actuator.target = target.target;
        actuator.profile.clear();
    }
}

}  // namespace

bool has_actuators_or_start(const Scene& scene) {
    return !scene.actuators.empty() || !scene.start.empty();
}

std::vector<ActuatorSpec> actuators_at_start(const Scene& scene) {
    if (scene.start.empty() || scene.actuators.empty()) return scene.actuators;
    Scene at_start = scene;
    apply_keyframe(at_start);
    return at_start.actuators;
}

Scene lowered(Scene scene) {
    if (!scene.start.empty()) apply_keyframe(scene);
    Lowering lowering(scene);
    for (std::size_t i = 0; i < scene.actuators.size(); ++i) lowering.lower(i);
    lowering.finish();
    scene.actuators.clear();
    return scene;
}

}  // namespace tenon::scene

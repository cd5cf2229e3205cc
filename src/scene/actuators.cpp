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

// The sum of two motors that give forces over time.
void add_force(MotorSpec& motor, double target, const Profile& profile) {
    motor.type = MotorSpec::Type::force;
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
        if (actuator_.type == ActuatorSpec::Type::torque) return lower_torque(all);
        if (all.levers.size() > 1)
            refuse(".tendon", "holds a position or speed of a tendon whose joints move on their own",
                   "couple the joints, drive each by its own actuator, or use a torque actuator");
        const Lever& lever = all.levers[0];
        limit_speed(lever, all.constant);
        actuator_.type == ActuatorSpec::Type::position
            ? set_motor(lever, MotorSpec::Type::position, all.constant)
            : set_motor(lever, MotorSpec::Type::velocity, 0.0);
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

    void lower_torque(const Transmission& all) {
        const double target =
            std::clamp(actuator_.target, actuator_.force_limits[0], actuator_.force_limits[1]);
        const Profile cut = clamped(actuator_.profile, actuator_.force_limits);
        for (const Lever& lever : all.levers) {
            MotorSpec& motor = drive_of(lever).motor;
            if (motor.type != MotorSpec::Type::none && motor.type != MotorSpec::Type::force)
                refuse("",
                       fmt::format("joint '{}' has another motor on that coordinate", joint_of(lever).name),
                       "leave one motor or actuator for each coordinate");
            if (motor.type == MotorSpec::Type::force && motor.max < unlimited)
                refuse("", fmt::format("joint '{}' has a bounded force motor besides", joint_of(lever).name),
                       "keep one of the two");
            Profile scaled = cut;
            for (auto& entry : scaled) entry[1] *= lever.factor;
            add_force(motor, lever.factor * target, scaled);
            motor.sources.push_back(
                {static_cast<int>(index_), lever.factor, 0.0, target, cut, actuator_.force_limits});
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

    void set_motor(const Lever& lever, MotorSpec::Type type, double constant) {
        MotorSpec& motor = drive_of(lever).motor;
        if (motor.type != MotorSpec::Type::none)
            refuse("", fmt::format("joint '{}' has a motor on that coordinate already", joint_of(lever).name),
                   "leave one motor or actuator for each coordinate");
        motor.type = type;
        motor.target = (actuator_.target - constant) / lever.factor;
        motor.profile = actuator_.profile;
        for (auto& entry : motor.profile) entry[1] = (entry[1] - constant) / lever.factor;
        motor.max = bound(lever);
        motor.stiffness = lever.factor * lever.factor * actuator_.kp;
        motor.damping = lever.factor * lever.factor * actuator_.kd;
        motor.sources.push_back({static_cast<int>(index_), lever.factor, constant, 0.0, {}, {}});
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
        const JointSpec& joint = joint_of(lever);
        const bool turned =
            joint.type != JointType::ball && joint.start.size() > static_cast<std::size_t>(lever.coordinate);
        const double start =
            lever.factor * (turned ? joint.start[static_cast<std::size_t>(lever.coordinate)] : 0.0) +
            constant;
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
    scene.actuators.clear();
    return scene;
}

}  // namespace tenon::scene

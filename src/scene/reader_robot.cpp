// Reads where joints start, and tendons, actuators, sensors and keyframes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "scene/joint_kinds.hpp"
#include "scene/reader.hpp"
#include "tenon/error.hpp"

namespace tenon::scene {
namespace {

std::vector<double> as_list(const Value& value) {
    return value.is_number() ? std::vector<double>{value.number()} : value.numbers();
}

SensorSpec::Type sensor_type(const std::string& name) {
    using enum SensorSpec::Type;
    static const std::unordered_map<std::string, SensorSpec::Type> types = {
        {"pose", pose},
        {"velocity", velocity},
        {"acceleration", acceleration},
        {"joint_position", joint_position},
        {"joint_velocity", joint_velocity},
        {"joint_torque", joint_torque},
        {"force_torque", force_torque},
        {"contact_force", contact_force},
        {"distance", distance}};
    return types.at(name);
}

}  // namespace

int Reader::joint_index(const Where& where, const std::string& name) const {
    if (const auto found = joint_names_.find(name); found != joint_names_.end()) return found->second;
    std::vector<std::string> names;
    for (const JointSpec& joint : scene_.joints) {
        if (names.size() == 1000) break;  // enough to suggest from
        names.push_back(joint.name);
    }
    context_.fail(where, fmt::format("no joint is named '{}'", name), suggestion(name, names));
}

// Such a joint is split into two hinges when it is built, and what names its coordinates would miss them.
void Reader::refuse_linear_universal(const Where& where, const JointSpec& joint) const {
    if (joint.type == JointType::universal && joint.linear)
        context_.fail(where, "a universal joint with \"linear\" is split into two hinges",
                      "leave out \"linear\", or write the two hinges yourself");
}

int Reader::coordinate_of(const Where& where, int joint, double coordinate) const {
    const JointSpec& spec = scene_.joints[static_cast<std::size_t>(joint)];
    refuse_linear_universal(where, spec);
    const std::size_t count = driven_coordinates(spec.type).size();
    if (coordinate != std::floor(coordinate) || coordinate >= static_cast<double>(count))
        context_.fail(where,
                      fmt::format("the {} joint '{}' has no coordinate {:g}", joint_type_name(spec.type),
                                  spec.name, coordinate),
                      fmt::format("it has {} free coordinates, numbered from 0", count));
    return static_cast<int>(coordinate);
}

double Reader::coordinate_unit(int joint, int coordinate) const {
    const JointSpec& spec = scene_.joints[static_cast<std::size_t>(joint)];
    const auto& kinds = driven_coordinates(spec.type);
    return kinds[static_cast<std::size_t>(coordinate)] == Coordinate::length ? context_.length : 1.0;
}

std::vector<double> Reader::read_start(const Where& where, const Value& value, const JointSpec& joint) const {
    std::vector<double> start = as_list(value);
    refuse_linear_universal(where, joint);
    const auto& kinds = free_coordinates(joint.type);
    if (kinds.empty())
        context_.fail(where, fmt::format("a {} joint has no free coordinate", joint_type_name(joint.type)),
                      "leave it out");
    const bool ball = joint.type == JointType::ball;
    const std::size_t count = ball ? 4 : kinds.size();
    if (start.size() != count)
        context_.fail(
            where, fmt::format("has {} numbers", start.size()),
            ball ? "a ball joint takes a quaternion [w,x,y,z]"
                 : fmt::format("a {} joint has {} free coordinates", joint_type_name(joint.type), count));
    if (ball) {
        const Quat q = normalised_quaternion(Quat(start[0], start[1], start[2], start[3]));
        if (!(q.squaredNorm() > 0.5))
            context_.fail(where, "is a quaternion of length zero", "[1, 0, 0, 0] is no rotation");
        return {q.w(), q.x(), q.y(), q.z()};
    }
    for (std::size_t k = 0; k < count; ++k)
        if (kinds[k] == Coordinate::length) start[k] *= context_.length;
    return start;
}

std::vector<double> Reader::read_start_rate(const Where& where, const Value& value,
                                            const JointSpec& joint) const {
    if (joint.type != JointType::ball) return read_start(where, value, joint);
    const std::vector<double> rate = as_list(value);
    if (rate.size() != 3)
        context_.fail(where, fmt::format("has {} numbers", rate.size()),
                      "a ball joint takes an angular velocity of three numbers");
    return rate;
}

std::string Reader::unique_name(const Where& where, const Value& value,
                                std::unordered_map<std::string, int>& names, const char* list) const {
    const std::string& name = value.find("name")->text();
    if (name.empty()) context_.fail(where / "name", "is empty", "give a name");
    const auto [other, is_new] = names.emplace(name, static_cast<int>(names.size()));
    if (!is_new)
        context_.fail(where / "name",
                      fmt::format("'{}' is already the name of {}[{}]", name, list, other->second),
                      "names must be unique");
    return name;
}

void Reader::read_tendons(const Where& where, const Value& tendons) {
    if (!tendons.is_list()) return;
    for (std::size_t i = 0; i < tendons.list().size(); ++i) {
        const Value& value = tendons.list()[i];
        const Where entry = where / static_cast<long>(i);
        TendonSpec tendon;
        tendon.name = unique_name(entry, value, tendon_names_, "tendons");
        const List& joints = value.find("joints")->list();
        const auto numbers = [&](const char* key, double fallback) {
            const Value* given = value.find(key);
            if (!given) return std::vector<double>(joints.size(), fallback);
            const std::vector<double> list = as_list(*given);
            if (list.size() != joints.size())
                context_.fail(entry / key, fmt::format("has {} numbers", list.size()),
                              fmt::format("give one for each of the {} joints", joints.size()));
            return list;
        };
        const std::vector<double> coordinates = numbers("coordinates", 0),
                                  factors = numbers("coefficients", 1);
        for (std::size_t k = 0; k < joints.size(); ++k) {
            const Where list = entry / "joints";
            const int joint = joint_index(list / static_cast<long>(k), joints[k].text());
            tendon.terms.push_back(
                {joint, coordinate_of(entry / "coordinates", joint, coordinates[k]), factors[k]});
            if (factors[k] == 0)
                context_.fail(entry / "coefficients", "has a factor of zero", "leave that joint out");
        }
        scene_.tendons.push_back(std::move(tendon));
    }
}

void Reader::read_profile(const Where& where, const Value& profile, double unit,
                          std::vector<std::array<double, 2>>& out) const {
    for (std::size_t i = 0; i < profile.list().size(); ++i) {
        const Numbers& pair = profile.list()[i].numbers();
        if (i > 0 && pair[0] <= out.back()[0])
            context_.fail(where / static_cast<long>(i),
                          fmt::format("{:g} s does not come after {:g} s", pair[0], out.back()[0]),
                          "profile times must ascend");
        out.push_back({pair[0], pair[1] * unit});
    }
}

void Reader::read_actuators(const Where& where, const Value& actuators) {
    if (!actuators.is_list()) return;
    for (std::size_t i = 0; i < actuators.list().size(); ++i) {
        const Where entry = where / static_cast<long>(i);
        const std::string name = unique_name(entry, actuators.list()[i], actuator_names_, "actuators");
        ActuatorSpec actuator = read_actuator(entry, actuators.list()[i]);
        actuator.name = name;
        check_actuator(entry, actuators.list()[i], actuator);
        scene_.actuators.push_back(std::move(actuator));
    }
}

double Reader::target_unit(const ActuatorSpec& actuator) const {
    if (actuator.type == ActuatorSpec::Type::torque) return 1.0;
    if (actuator.joint >= 0) return coordinate_unit(actuator.joint, actuator.coordinate);
    const auto& terms = scene_.tendons[static_cast<std::size_t>(actuator.tendon)].terms;
    const bool lengths = std::all_of(terms.begin(), terms.end(), [&](const TendonSpec::Term& term) {
        const JointType type = scene_.joints[static_cast<std::size_t>(term.joint)].type;
        return driven_coordinates(type)[static_cast<std::size_t>(term.coordinate)] == Coordinate::length;
    });
    return lengths ? context_.length : 1.0;
}

ActuatorSpec Reader::read_actuator(const Where& where, const Value& value) const {
    ActuatorSpec actuator;
    const std::string& type = value.find("type")->text();
    actuator.type = type == "position"   ? ActuatorSpec::Type::position
                    : type == "velocity" ? ActuatorSpec::Type::velocity
                                         : ActuatorSpec::Type::torque;
    const Value *joint = value.find("joint"), *tendon = value.find("tendon");
    if (!joint == !tendon)
        context_.fail(where, joint ? "has both a joint and a tendon" : "drives nothing",
                      "name a \"joint\" or a \"tendon\"");
    if (joint) {
        actuator.joint = joint_index(where / "joint", joint->text());
        actuator.coordinate =
            coordinate_of(where / "coordinate", actuator.joint, number_or(value, "coordinate", 0));
        if (scene_.joints[static_cast<std::size_t>(actuator.joint)].type == JointType::ball &&
            actuator.coordinate == 0)
            context_.fail(where / "coordinate", "the bend of a ball joint has no direction to push in",
                          "its twist is coordinate 1");
    } else {
        const auto found = tendon_names_.find(tendon->text());
        if (found == tendon_names_.end()) {
            std::vector<std::string> names;
            for (const TendonSpec& other : scene_.tendons) names.push_back(other.name);
            context_.fail(where / "tendon", fmt::format("no tendon is named '{}'", tendon->text()),
                          suggestion(tendon->text(), names));
        }
        if (value.find("coordinate"))
            context_.fail(where / "coordinate", "belongs to a joint", "the tendon has its own coordinates");
        actuator.tendon = found->second;
    }
    actuator.gear = number_or(value, "gear", 1.0);
    if (actuator.gear == 0) context_.fail(where / "gear", "is zero", "a gear has a ratio");
    actuator.kp = number_or(value, "kp", 0.0);
    actuator.kd = number_or(value, "kd", 0.0);
    const auto limits = [&](const char* key, std::array<double, 2>& out, double unit) {
        const Value* given = value.find(key);
        if (!given) return;
        out = {given->numbers()[0] * unit, given->numbers()[1] * unit};
        if (out[0] > out[1]) context_.fail(where / key, "the first limit is above the second", "swap them");
    };
    const double unit = target_unit(actuator);
    limits("force_limits", actuator.force_limits, 1.0);
    limits("target_limits", actuator.target_limits, unit);
    actuator.velocity_limit = number_or(value, "velocity_limit", actuator.velocity_limit / unit) * unit;
    actuator.target = number_or(value, "target", 0.0) * unit;
    if (const Value* profile = value.find("profile"); profile && profile->is_list()) {
        if (value.find("target"))
            context_.fail(where / "target", "is given besides a profile", "keep one of the two");
        read_profile(where / "profile", *profile, unit, actuator.profile);
    }
    return actuator;
}

void Reader::check_target(const Where& where, const ActuatorSpec& actuator, double target) const {
    if (target < actuator.target_limits[0] || target > actuator.target_limits[1])
        context_.fail(where, fmt::format("{:g} is beyond the target limits of '{}'", target, actuator.name),
                      fmt::format("must lie within {:g} and {:g}", actuator.target_limits[0],
                                  actuator.target_limits[1]));
}

void Reader::check_actuator(const Where& where, const Value& value, const ActuatorSpec& actuator) const {
    const std::string& type = value.find("type")->text();
    const auto refuse = [&](const char* key, const char* cure) {
        context_.fail(where / key, fmt::format("a {} actuator has no {}", type, key), cure);
    };
    using Type = ActuatorSpec::Type;
    if (actuator.kp > 0 && actuator.type != Type::position) refuse("kp", "only position actuators have it");
    if (actuator.kd > 0 && actuator.type == Type::torque)
        refuse("kd", "damping belongs to the joint's \"spring\"");
    if (actuator.kd > 0 && actuator.type == Type::position && !(actuator.kp > 0))
        context_.fail(where / "kd", "a position actuator with kd needs kp",
                      "add \"kp\", or leave out both to hold the target exactly");
    if (value.find("velocity_limit") && actuator.type == Type::torque)
        refuse("velocity_limit", "leave it out, or use a velocity actuator");
    if (value.find("target") || (!value.find("profile") && value.find("target_limits")))
        check_target(where / "target", actuator, actuator.target);
    for (std::size_t i = 0; i < actuator.profile.size(); ++i) {
        const Where list = where / "profile";
        check_target(list / static_cast<long>(i), actuator, actuator.profile[i][1]);
    }
}

void Reader::read_sensors(const Where& where, const Value& sensors) {
    if (!sensors.is_list()) return;
    for (std::size_t i = 0; i < sensors.list().size(); ++i) {
        const Where entry = where / static_cast<long>(i);
        const std::string name = unique_name(entry, sensors.list()[i], sensor_names_, "sensors");
        scene_.sensors.push_back(read_sensor(entry, sensors.list()[i]));
        scene_.sensors.back().name = name;
    }
}

SensorSpec Reader::read_sensor(const Where& where, const Value& value) const {
    SensorSpec sensor;
    const std::string& type = value.find("type")->text();
    sensor.type = sensor_type(type);
    using enum SensorSpec::Type;
    const bool of_frame = sensor.type == pose || sensor.type == velocity || sensor.type == acceleration;
    const bool of_pair = sensor.type == contact_force || sensor.type == distance;
    const bool of_coordinate =
        sensor.type == joint_position || sensor.type == joint_velocity || sensor.type == joint_torque;
    std::vector<std::string> allowed = {"name", "type"};
    if (of_frame) allowed.insert(allowed.end(), {"body", "position", "rotation"});
    if (sensor.type == velocity || sensor.type == force_torque) allowed.emplace_back("body_frame");
    if (sensor.type == contact_force) allowed.emplace_back("body");
    if (of_pair) allowed.emplace_back("bodies");
    if (of_coordinate || sensor.type == force_torque) allowed.emplace_back("joint");
    if (of_coordinate) allowed.emplace_back("coordinate");
    for (const Member& member : value.object())
        if (!is_comment(member.key) && std::find(allowed.begin(), allowed.end(), member.key) == allowed.end())
            context_.fail(where / member.key, fmt::format("a {} sensor has no '{}'", type, member.key),
                          fmt::format("it has: {}", fmt::join(allowed, ", ")));

    const auto needed = [&](const char* key) -> const Value& {
        const Value* found = value.find(key);
        if (!found) context_.fail(where, fmt::format("a {} sensor needs '{}'", type, key), "add it");
        return *found;
    };
    if (of_frame) sensor.body = body_index(where / "body", needed("body").text());
    if (of_pair && sensor.type == contact_force && !value.find("bodies"))
        sensor.body = body_index(where / "body", needed("body").text());
    else if (of_pair) {
        const List& names = needed("bodies").list();
        const Where place = where / "bodies";
        sensor.other = body_index(place / 0L, names[0].text());
        sensor.body = body_index(place / 1L, names[1].text());
        if (sensor.body == sensor.other)
            context_.fail(place, fmt::format("pairs '{}' with itself", names[0].text()),
                          "name two different bodies");
        if (value.find("body"))
            context_.fail(where / "body", "is given besides \"bodies\"", "keep one of the two");
        for (int body : {sensor.body, sensor.other})
            if (sensor.type == distance && scene_.bodies[static_cast<std::size_t>(body)].geometry < 0)
                context_.fail(place, "a body without geometry has no surface", "name bodies that have one");
    }
    if (of_coordinate || sensor.type == force_torque) {
        sensor.joint = joint_index(where / "joint", needed("joint").text());
        const JointType joint = scene_.joints[static_cast<std::size_t>(sensor.joint)].type;
        if (joint == JointType::coupling)
            context_.fail(where / "joint", "is a coupling, which joins no bodies", "name another joint");
        if (of_coordinate)
            sensor.coordinate =
                coordinate_of(where / "coordinate", sensor.joint, number_or(value, "coordinate", 0));
    }
    sensor.point = vec3_or(value, "position", sensor.point);
    if (const Value* rotation = value.find("rotation"))
        sensor.rotation = read_quaternion(where / "rotation", *rotation);
    sensor.body_frame = flag_or(value, "body_frame", false);
    return sensor;
}

void Reader::read_keyframes(const Where& where, const Value& keyframes) {
    if (!keyframes.is_list()) return;
    for (std::size_t i = 0; i < keyframes.list().size(); ++i) {
        const Where entry = where / static_cast<long>(i);
        const std::string name = unique_name(entry, keyframes.list()[i], keyframe_names_, "keyframes");
        scene_.keyframes.push_back(read_keyframe(entry, keyframes.list()[i]));
        scene_.keyframes.back().name = name;
    }
}

KeyframeSpec::BodyState Reader::read_body_state(const Where& where, const std::string& name,
                                                const Value& value) const {
    KeyframeSpec::BodyState state;
    state.body = body_index(where, name);
    if (scene_.bodies[static_cast<std::size_t>(state.body)].type != BodyType::dynamic_body)
        context_.fail(where, "is not a dynamic body", "a keyframe places dynamic bodies only");
    if (const Value* position = value.find("position")) state.position = to_vec3(*position);
    if (value.find("rotation") || value.find("rotation_euler")) state.rotation = read_rotation(where, value);
    if (const Value* linear = value.find("linear_velocity")) state.linear_velocity = to_vec3(*linear);
    if (const Value* angular = value.find("angular_velocity")) state.angular_velocity = to_vec3(*angular);
    return state;
}

KeyframeSpec Reader::read_keyframe(const Where& where, const Value& value) const {
    KeyframeSpec keyframe;
    std::unordered_map<int, std::size_t> entry_of;
    const auto joint_state = [&](const Where& place, const std::string& name) -> KeyframeSpec::JointState& {
        const int joint = joint_index(place, name);
        const auto [entry, is_new] = entry_of.emplace(joint, keyframe.joints.size());
        if (is_new) keyframe.joints.push_back({joint, {}, {}});
        return keyframe.joints[entry->second];
    };
    for (const char* key : {"positions", "velocities"})
        if (const Value* map = value.find(key))
            for (const Member& member : map->object()) {
                if (is_comment(member.key)) continue;
                const Where list = where / key, place = list / member.key;
                KeyframeSpec::JointState& state = joint_state(place, member.key);
                const JointSpec& joint = scene_.joints[static_cast<std::size_t>(state.joint)];
                if (key[0] == 'p')
                    state.position = read_start(place, member.value, joint);
                else
                    state.velocity = read_start_rate(place, member.value, joint);
            }
    if (const Value* targets = value.find("targets"))
        for (const Member& member : targets->object()) {
            if (is_comment(member.key)) continue;
            const Where list = where / "targets", place = list / member.key;
            const auto found = actuator_names_.find(member.key);
            if (found == actuator_names_.end()) {
                std::vector<std::string> names;
                for (const ActuatorSpec& actuator : scene_.actuators) names.push_back(actuator.name);
                context_.fail(place, fmt::format("no actuator is named '{}'", member.key),
                              suggestion(member.key, names));
            }
            if (!member.value.is_number()) context_.fail(place, "is a list", "must be one number");
            const ActuatorSpec& actuator = scene_.actuators[static_cast<std::size_t>(found->second)];
            const double target = member.value.number() * target_unit(actuator);
            check_target(place, actuator, target);
            keyframe.targets.push_back({found->second, target});
        }
    if (const Value* bodies = value.find("bodies"))
        for (const Member& member : bodies->object()) {
            if (is_comment(member.key)) continue;
            const Where list = where / "bodies";
            keyframe.bodies.push_back(read_body_state(list / member.key, member.key, member.value));
        }
    return keyframe;
}

}  // namespace tenon::scene

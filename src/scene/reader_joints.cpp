#include <cmath>

#include <fmt/format.h>

#include "scene/joint_kinds.hpp"
#include "scene/reader.hpp"

namespace tenon::scene {
namespace {

SpringSpec read_spring(const Value& value, double length) {
    SpringSpec spring;
    spring.stiffness = number_or(value, "stiffness", spring.stiffness);
    spring.damping = number_or(value, "damping", spring.damping);
    spring.rest = number_or(value, "rest", spring.rest) * length;
    return spring;
}

// Keys that only some joint types have a meaning for.
struct Restricted {
    const char* key;
    std::vector<JointType> types;
    const char* cure;
};

const std::vector<Restricted>& restricted_keys() {
    using enum JointType;
    static const std::vector<Restricted> keys = {
        {"point_b",
         {ball, hinge, universal, prismatic, fixed, cylindrical, planar, distance},
         "a coupling has no points"},
        {"axis_b", {universal}, "only universal joints have a second axis"},
        {"twist", {ball}, "only ball joints twist; use \"spring\""},
        {"bend", {ball}, "only ball joints bend; use \"spring\""},
        {"joints", {coupling}, "only a coupling joins joints; use \"bodies\""},
        {"coordinates", {coupling}, "only a coupling has it"},
        {"ratio", {coupling}, "only a coupling has it"},
        {"offset", {coupling}, "only a coupling has it"},
    };
    return keys;
}

}  // namespace

void Reader::read_joints(const Where& where, const Value& joints) {
    if (!joints.is_list()) return;
    const List& list = joints.list();
    joint_names_.reserve(list.size());
    scene_.joints.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {  // names first: couplings may refer to later joints
        const Where entry = where / static_cast<long>(i);
        const std::string name = text_or(list[i], "name", fmt::format("joint-{}", i));
        if (name.empty()) context_.fail(entry / "name", "is empty", "give a name, or leave the key out");
        const auto [other, is_new] = joint_names_.emplace(name, static_cast<int>(i));
        if (!is_new)
            context_.fail(entry / "name",
                          fmt::format("'{}' is already the name of joints[{}]", name, other->second),
                          "names must be unique");
        JointSpec joint;
        joint.name = name;
        joint.type = joint_type_of(list[i].find("type")->text());
        scene_.joints.push_back(joint);
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string name = scene_.joints[i].name;
        scene_.joints[i] = read_joint(where / static_cast<long>(i), list[i]);
        scene_.joints[i].name = name;
    }
}

JointSpec Reader::read_joint(const Where& where, const Value& value) const {
    JointSpec joint;
    joint.type = joint_type_of(value.find("type")->text());
    for (const Restricted& restricted : restricted_keys())
        if (value.find(restricted.key) &&
            std::find(restricted.types.begin(), restricted.types.end(), joint.type) == restricted.types.end())
            context_.fail(where / restricted.key,
                          fmt::format("a {} joint has no '{}'", joint_type_name(joint.type), restricted.key),
                          restricted.cure);
    if (joint.type == JointType::coupling)
        read_coupling(where, value, joint);
    else
        read_anchors(where, value, joint);
    read_drives(where, value, joint);
    if (const Value* twist = value.find("twist")) joint.twist = read_spring(*twist, 1.0);
    if (const Value* bend = value.find("bend")) joint.bend = read_spring(*bend, 1.0);
    joint.linear = flag_or(value, "linear", false);
    joint.break_force = number_or(value, "break_force", joint.break_force);
    joint.break_torque = number_or(value, "break_torque", joint.break_torque);
    if (const Value* start = value.find("position"))
        joint.start = read_start(where / "position", *start, joint);
    if (const Value* rate = value.find("velocity"))
        joint.start_rate = read_start_rate(where / "velocity", *rate, joint);
    return joint;
}

void Reader::read_anchors(const Where& where, const Value& value, JointSpec& joint) const {
    const Value* bodies = value.find("bodies");
    if (!bodies)
        context_.fail(where, "has no 'bodies'", "name the two bodies it joins; \"world\" is the fixed frame");
    const Where place = where / "bodies";
    for (std::size_t k = 0; k < 2; ++k) {
        const std::string& name = bodies->list()[k].text();
        joint.bodies[k] = name == "world" ? -1 : body_index(place / static_cast<long>(k), name);
    }
    if (joint.bodies[0] == joint.bodies[1])
        context_.fail(place, fmt::format("joins '{}' with itself", bodies->list()[0].text()),
                      "name two different bodies");
    joint.point = vec3_or(value, "point", joint.point);
    if (const Value* point = value.find("point_b")) joint.point_b = to_vec3(*point);
    if (joint.type == JointType::distance && (!joint.point_b || *joint.point_b == joint.point))
        context_.fail(where, "a distance joint needs two different points",
                      "add \"point_b\", the anchor on the second body; a ball joint has distance zero");
    if (const Value* axis = value.find("axis")) joint.axis = read_axis(where / "axis", *axis);
    if (const Value* axis = value.find("axis_b")) {
        joint.axis_b = read_axis(where / "axis_b", *axis);
        if (joint.axis.cross(*joint.axis_b).norm() < 1e-6)
            context_.fail(where / "axis_b", "is parallel to axis", "the two axes must differ");
    }
}

Vec3 Reader::read_axis(const Where& where, const Value& numbers) const {
    const Vec3 axis = to_vec3(numbers);
    if (axis.cwiseAbs().maxCoeff() < 1e-150)
        context_.fail(where, "has length zero", "give a direction, such as [0, 0, 1]");
    return normalised(axis);
}

void Reader::read_drives(const Where& where, const Value& value, JointSpec& joint) const {
    const std::vector<Coordinate>& coordinates = driven_coordinates(joint.type);
    const auto unit = [&](std::size_t i) {
        return coordinates[i] == Coordinate::length ? context_.length : 1.0;
    };
    const char* first_key = nullptr;
    for (const KeyInfo& key : drive_keys().keys)
        if (!first_key && value.find(key.name)) first_key = key.name.c_str();
    const Value* drives = value.find("drives");
    const bool has_list = drives && drives->array_size() > 0;
    if (first_key && has_list)
        context_.fail(where / first_key, "is given besides \"drives\"", "move it into the first drive");
    if ((first_key || has_list) && coordinates.empty())
        context_.fail(where / (first_key ? first_key : "drives"),
                      fmt::format("a {} joint has no free coordinate to drive", joint_type_name(joint.type)),
                      "leave it out");
    // The bend of a ball joint is the size of an angle: it has no direction to push in.
    const auto refuse_bend_motor = [&](const Where& place) {
        if (joint.type == JointType::ball && joint.drives.size() == 1 &&
            joint.drives[0].motor.type != MotorSpec::Type::none)
            context_.fail(place / "motor", "the bend of a ball joint has no motor",
                          "a twist motor goes into the second of \"drives\"");
    };
    // the spring of a distance joint is at rest at the start unless it says otherwise
    const auto rest_at_start = [&](const Value& drive) {
        const Value* spring = drive.find("spring");
        if (joint.type == JointType::distance && spring && !spring->find("rest"))
            joint.drives.back().spring->rest = (*joint.point_b - joint.point).norm();
    };
    if (first_key) {
        joint.drives.push_back(read_drive(where, value, unit(0)));
        refuse_bend_motor(where);
        rest_at_start(value);
    }
    if (!has_list) return;
    const Where list = where / "drives";
    if (drives->array_size() > coordinates.size())
        context_.fail(list, fmt::format("has {} entries", drives->array_size()),
                      fmt::format("a {} joint has {} free coordinates", joint_type_name(joint.type),
                                  coordinates.size()));
    for (std::size_t i = 0; i < drives->array_size(); ++i) {
        joint.drives.push_back(read_drive(list / static_cast<long>(i), drives->list()[i], unit(i)));
        refuse_bend_motor(list / static_cast<long>(i));
        rest_at_start(drives->list()[i]);
    }
}

DriveSpec Reader::read_drive(const Where& where, const Value& value, double length) const {
    DriveSpec drive;
    if (const Value* limits = value.find("limits")) {
        drive.limits = {limits->numbers()[0] * length, limits->numbers()[1] * length};
        if (limits->numbers()[0] > limits->numbers()[1])
            context_.fail(where / "limits", "the first limit is above the second", "swap them");
    }
    if (const Value* spring = value.find("spring")) drive.spring = read_spring(*spring, length);
    drive.friction = number_or(value, "friction", drive.friction);
    drive.armature = number_or(value, "armature", drive.armature);
    if (const Value* motor = value.find("motor")) drive.motor = read_motor(where / "motor", *motor, length);
    return drive;
}

MotorSpec Reader::read_motor(const Where& where, const Value& value, double length) const {
    MotorSpec motor;
    const std::string type = value.find("type")->text();
    motor.type = type == "velocity"   ? MotorSpec::Type::velocity
                 : type == "position" ? MotorSpec::Type::position
                                      : MotorSpec::Type::force;
    const double unit = motor.type == MotorSpec::Type::force ? 1.0 : length;
    motor.target = number_or(value, "target", motor.target) * unit;
    motor.max = number_or(value, "max", motor.max);
    motor.stiffness = number_or(value, "stiffness", 0.0);
    motor.damping = number_or(value, "damping", 0.0);
    if (motor.stiffness > 0 && motor.type != MotorSpec::Type::position)
        context_.fail(where / "stiffness", fmt::format("a {} motor has no stiffness", type),
                      "only position motors have it");
    if (motor.damping > 0 && motor.type == MotorSpec::Type::force)
        context_.fail(where / "damping", "a force motor has no damping", "use the joint's \"spring\"");
    if (motor.damping > 0 && motor.type == MotorSpec::Type::position && !(motor.stiffness > 0))
        context_.fail(where / "damping", "a position motor with damping needs a stiffness",
                      "add \"stiffness\", or leave out both to hold the target exactly");
    const Value* profile = value.find("profile");
    if (!profile || !profile->is_list()) return motor;
    if (value.find("target"))
        context_.fail(where / "target", "is given besides a profile", "keep one of the two");
    read_profile(where / "profile", *profile, unit, motor.profile);
    return motor;
}

void Reader::read_coupling(const Where& where, const Value& value, JointSpec& joint) const {
    for (const char* key : {"bodies", "point", "axis"})
        if (value.find(key))
            context_.fail(where / key, fmt::format("a coupling has no '{}'", key), "it joins two \"joints\"");
    const Value* joints = value.find("joints");
    if (!joints) context_.fail(where, "has no 'joints'", "name the two joints it couples");
    std::array<Coordinate, 2> kind{};
    for (std::size_t k = 0; k < 2; ++k) {
        const std::string& name = joints->list()[k].text();
        const Where list = where / "joints", place = list / static_cast<long>(k);
        const auto found = joint_names_.find(name);
        if (found == joint_names_.end()) {
            std::vector<std::string> names;
            for (const JointSpec& other : scene_.joints) names.push_back(other.name);
            context_.fail(place, fmt::format("no joint is named '{}'", name), suggestion(name, names));
        }
        joint.joints[k] = found->second;
        const JointType type = scene_.joints[static_cast<std::size_t>(found->second)].type;
        const std::vector<Coordinate>& coordinates = free_coordinates(type);
        const Value* chosen = value.find("coordinates");
        const double coordinate = chosen ? chosen->numbers()[k] : 0.0;
        if (coordinate != std::floor(coordinate) || coordinate >= static_cast<double>(coordinates.size()))
            context_.fail(where / "coordinates",
                          fmt::format("the {} joint '{}' has no coordinate {:g}", joint_type_name(type), name,
                                      coordinate),
                          fmt::format("it has {} free coordinates, numbered from 0", coordinates.size()));
        joint.coordinates[k] = static_cast<int>(coordinate);
        kind[k] = coordinates[static_cast<std::size_t>(joint.coordinates[k])];
    }
    if (joint.joints[0] == joint.joints[1] && joint.coordinates[0] == joint.coordinates[1])
        context_.fail(where / "joints", "couples a coordinate with itself", "name two different ones");
    const auto unit = [&](std::size_t k) { return kind[k] == Coordinate::length ? context_.length : 1.0; };
    joint.ratio = number_or(value, "ratio", joint.ratio) * (unit(1) / unit(0));
    joint.offset = number_or(value, "offset", joint.offset) * unit(1);
    if (joint.ratio == 0.0) context_.fail(where / "ratio", "is zero", "a coupling needs a ratio");
}

}  // namespace tenon::scene

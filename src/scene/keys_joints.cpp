// Keys of joints and what drives them.
#include "scene/keys.hpp"

namespace tenon::scene {
namespace {

std::vector<KeyInfo> drive_key_list() {
    return {{.name = "limits",
             .kind = Kind::numbers,
             .help = "Smallest and largest value.",
             .unit = "scene length or rad",
             .count = 2},
            {.name = "spring", .kind = Kind::object, .help = "Spring and damper.", .object = spring_keys},
            {.name = "friction",
             .kind = Kind::number,
             .help = "Dry friction.",
             .fallback = "0",
             .unit = "N or N m",
             .min = 0},
            {.name = "armature",
             .kind = Kind::number,
             .help = "Inertia of the drive seen at the joint.",
             .fallback = "0",
             .unit = "kg or kg m^2",
             .min = 0},
            {.name = "motor", .kind = Kind::object, .help = "Motor.", .object = motor_keys}};
}

}  // namespace

const ObjectInfo& spring_keys() {
    static const ObjectInfo info{"spring",
                                 "A spring and damper along a joint coordinate.",
                                 {{.name = "stiffness",
                                   .kind = Kind::number,
                                   .help = "Force or torque per way.",
                                   .fallback = "0",
                                   .unit = "N/m or N m/rad",
                                   .min = 0},
                                  {.name = "damping",
                                   .kind = Kind::number,
                                   .help = "Force or torque per speed.",
                                   .fallback = "0",
                                   .unit = "N s/m or N m s/rad",
                                   .min = 0},
                                  {.name = "rest",
                                   .kind = Kind::number,
                                   .help = "Where the spring rests.",
                                   .fallback = "0",
                                   .unit = "scene length or rad"}}};
    return info;
}

const ObjectInfo& motor_keys() {
    static const ObjectInfo info{
        "motor",
        "A motor along a joint coordinate.",
        {{.name = "type",
          .kind = Kind::text,
          .help = "What the target is.",
          .choices = {"velocity", "position", "force"},
          .required = true},
         {.name = "target",
          .kind = Kind::number,
          .help = "Speed, position, force or torque.",
          .fallback = "0"},
         {.name = "max",
          .kind = Kind::number,
          .help = "Largest force or torque; unlimited when left out.",
          .unit = "N or N m",
          .min = 0},
         {.name = "stiffness",
          .kind = Kind::number,
          .help = "Position motors: force per error. Without gains the target is held exactly.",
          .fallback = "0",
          .unit = "N/m or N m/rad",
          .min = 0},
         {.name = "damping",
          .kind = Kind::number,
          .help = "Position motors: force per speed. Velocity motors: force per error of speed.",
          .fallback = "0",
          .unit = "N s/m or N m s/rad",
          .min = 0},
         {.name = "profile",
          .kind = Kind::number_pairs,
          .help = "Instead of target: [time, target] with times ascending, straight in between."}}};
    return info;
}

const ObjectInfo& drive_keys() {
    static const ObjectInfo info{"drive", "What acts along one free coordinate of a joint.",
                                 drive_key_list()};
    return info;
}

const ObjectInfo& joint_keys() {
    static const ObjectInfo info = [] {
        ObjectInfo made{
            "joint",
            "A joint between two bodies, or between a body and the \"world\". Points and axes are given in "
            "the "
            "world frame at the start.",
            {{.name = "name",
              .kind = Kind::text,
              .help = "Unique; joint-N for the N-th joint when left out."},
             {.name = "type",
              .kind = Kind::text,
              .help = "What the joint allows.",
              .choices = {"ball", "hinge", "universal", "prismatic", "fixed", "cylindrical", "planar",
                          "distance", "coupling"},
              .required = true},
             {.name = "bodies",
              .kind = Kind::names,
              .help = "Names of the two bodies; \"world\" is the fixed frame.",
              .count = 2},
             {.name = "point", .kind = Kind::vec3, .help = "Anchor.", .fallback = "[0,0,0]", .unit = "m"},
             {.name = "point_b",
              .kind = Kind::vec3,
              .help = "Anchor on the second body (distance joints).",
              .unit = "m"},
             {.name = "axis",
              .kind = Kind::vec3,
              .help = "Axis of turning or sliding; normal of a planar joint. It is normalised.",
              .fallback = "[0,0,1]"},
             {.name = "axis_b", .kind = Kind::vec3, .help = "Second axis of a universal joint."}}};
        for (KeyInfo& key : drive_key_list()) made.keys.push_back(std::move(key));
        const std::vector<KeyInfo> more = {
            {.name = "drives",
             .kind = Kind::objects,
             .help = "Limits, spring, friction, armature and motor of each free coordinate in turn.",
             .object = drive_keys},
            {.name = "twist",
             .kind = Kind::object,
             .help = "Ball joints: spring about the axis.",
             .object = spring_keys},
            {.name = "bend",
             .kind = Kind::object,
             .help = "Ball joints: spring away from the axis.",
             .object = spring_keys},
            {.name = "linear",
             .kind = Kind::flag,
             .help = "Linear form of the joint's rows (hinge, universal).",
             .fallback = "false"},
            {.name = "break_force",
             .kind = Kind::number,
             .help = "The joint breaks beyond it.",
             .unit = "N",
             .min = 0,
             .open_min = true},
            {.name = "break_torque",
             .kind = Kind::number,
             .help = "The joint breaks beyond it.",
             .unit = "N m",
             .min = 0,
             .open_min = true},
            {.name = "joints",
             .kind = Kind::names,
             .help = "Coupling: the two joints, second = ratio * first + offset.",
             .count = 2},
            {.name = "coordinates",
             .kind = Kind::numbers,
             .help = "Coupling: which coordinate of each joint.",
             .fallback = "[0,0]",
             .min = 0,
             .max = 2,
             .count = 2},
            {.name = "ratio", .kind = Kind::number, .help = "Coupling: ratio.", .fallback = "1"},
            {.name = "offset", .kind = Kind::number, .help = "Coupling: offset.", .fallback = "0"},
            {.name = "position",
             .kind = Kind::number_list,
             .help = "Where the joint starts: a number for each free coordinate; a ball joint takes a "
                     "quaternion. Poses of bodies are those at zero.",
             .unit = "scene length or rad"},
            {.name = "velocity",
             .kind = Kind::number_list,
             .help =
                 "How fast the joint starts: a number for each free coordinate; a ball joint takes three.",
             .unit = "scene length/s or rad/s"}};
        made.keys.insert(made.keys.end(), more.begin(), more.end());
        return made;
    }();
    return info;
}

}  // namespace tenon::scene

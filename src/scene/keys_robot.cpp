// Keys of tendons, actuators, sensors and keyframes.
#include "scene/keys.hpp"

namespace tenon::scene {

const ObjectInfo& tendon_keys() {
    static const ObjectInfo info{
        "tendon",
        "A fixed tendon: its length is the sum of coefficient times joint coordinate.",
        {{.name = "name", .kind = Kind::text, .help = "Unique among tendons.", .required = true},
         {.name = "joints", .kind = Kind::name_list, .help = "Names of the joints.", .required = true},
         {.name = "coordinates",
          .kind = Kind::number_list,
          .help = "Which coordinate of each joint; the first when left out.",
          .min = 0,
          .max = 2},
         {.name = "coefficients",
          .kind = Kind::number_list,
          .help = "Factor of each joint's coordinate; 1 when left out."}}};
    return info;
}

const ObjectInfo& actuator_keys() {
    static const ObjectInfo info{
        "actuator",
        "A named drive. It acts with the force f on l = gear * coordinate (or gear * tendon length).",
        {{.name = "name", .kind = Kind::text, .help = "Unique among actuators.", .required = true},
         {.name = "type",
          .kind = Kind::text,
          .help = "What the target is: l, its speed, or f itself.",
          .choices = {"position", "velocity", "torque"},
          .required = true},
         {.name = "joint", .kind = Kind::text, .help = "Name of the joint it drives."},
         {.name = "coordinate",
          .kind = Kind::integer,
          .help = "Which free coordinate of the joint.",
          .fallback = "0",
          .min = 0,
          .max = 2},
         {.name = "tendon", .kind = Kind::text, .help = "Instead of a joint: name of a tendon."},
         {.name = "gear",
          .kind = Kind::number,
          .help = "Ratio of l to the coordinate; the coordinate feels gear * f.",
          .fallback = "1"},
         {.name = "kp",
          .kind = Kind::number,
          .help = "Position: f = kp (target - l) - kd l'. Without gains the target is held exactly.",
          .fallback = "0",
          .unit = "N/m or N m/rad",
          .min = 0},
         {.name = "kd",
          .kind = Kind::number,
          .help = "Gain on speed. Velocity: f = kd (target - l').",
          .fallback = "0",
          .unit = "N s/m or N m s/rad",
          .min = 0},
         {.name = "force_limits",
          .kind = Kind::numbers,
          .help = "Smallest and largest f; unlimited when left out.",
          .unit = "N or N m",
          .count = 2},
         {.name = "velocity_limit",
          .kind = Kind::number,
          .help = "Largest speed of l at which a target is approached.",
          .unit = "scene length/s or rad/s",
          .min = 0,
          .open_min = true},
         {.name = "target_limits",
          .kind = Kind::numbers,
          .help = "Smallest and largest target; others are refused.",
          .count = 2},
         {.name = "target", .kind = Kind::number, .help = "Position, speed or force.", .fallback = "0"},
         {.name = "profile",
          .kind = Kind::number_pairs,
          .help = "Instead of target: [time, target] with times ascending, straight in between."}}};
    return info;
}

const ObjectInfo& sensor_keys() {
    static const ObjectInfo info{
        "sensor",
        "A named measurement, recorded after every step.",
        {{.name = "name", .kind = Kind::text, .help = "Unique among sensors.", .required = true},
         {.name = "type",
          .kind = Kind::text,
          .help = "What is measured.",
          .choices = {"pose", "velocity", "acceleration", "joint_position", "joint_velocity", "joint_torque",
                      "force_torque", "contact_force", "distance"},
          .required = true},
         {.name = "body", .kind = Kind::text, .help = "Pose, velocity, acceleration: the body."},
         {.name = "bodies",
          .kind = Kind::names,
          .help = "Contact force (on the second, from the first) and distance: the two bodies.",
          .count = 2},
         {.name = "joint", .kind = Kind::text, .help = "Joint sensors and force-torque: the joint."},
         {.name = "coordinate",
          .kind = Kind::integer,
          .help = "Joint sensors: which free coordinate.",
          .fallback = "0",
          .min = 0,
          .max = 2},
         {.name = "position",
          .kind = Kind::vec3,
          .help = "Where the sensor sits in the body's geometry frame.",
          .fallback = "[0,0,0]",
          .unit = "m"},
         {.name = "rotation",
          .kind = Kind::numbers,
          .help = "How the sensor is turned in that frame, as a quaternion [w,x,y,z].",
          .fallback = "[1,0,0,0]",
          .count = 4},
         {.name = "body_frame",
          .kind = Kind::flag,
          .help = "Velocity: components along the sensor's axes instead of the world's. Force-torque: along "
                  "those of the joint's second body.",
          .fallback = "false"}}};
    return info;
}

const ObjectInfo& state_keyframe_keys() {
    static const ObjectInfo info{
        "state",
        "A state by name; what it does not mention is as in the scene.",
        {{.name = "name", .kind = Kind::text, .help = "Unique among keyframes.", .required = true},
         {.name = "positions",
          .kind = Kind::number_lists,
          .help = "Joint positions by name of the joint, as a joint's \"position\"."},
         {.name = "velocities",
          .kind = Kind::number_lists,
          .help = "Joint velocities by name of the joint, as a joint's \"velocity\"."},
         {.name = "targets",
          .kind = Kind::number_lists,
          .help = "Targets by name of the actuator, instead of its target or profile."},
         {.name = "bodies",
          .kind = Kind::object_map,
          .help = "Poses and velocities of bodies that no joint holds.",
          .object = body_state_keys}}};
    return info;
}

}  // namespace tenon::scene

#include "scene/keys.hpp"

namespace tenon::scene {

const KeyInfo* ObjectInfo::find(std::string_view key) const {
    for (const KeyInfo& info : keys)
        if (info.name == key) return &info;
    return nullptr;
}

std::vector<std::string> ObjectInfo::names() const {
    std::vector<std::string> list;
    for (const KeyInfo& info : keys) list.push_back(info.name);
    return list;
}

namespace {

const ObjectInfo& material_keys() {
    static const ObjectInfo info{
        "material",
        "What a body is made of.",
        {{.name = "density",
          .kind = Kind::number,
          .help = "Mass per volume.",
          .fallback = "1000",
          .unit = "kg/m^3",
          .min = 0,
          .open_min = true},
         {.name = "young",
          .kind = Kind::number,
          .help = "Young's modulus: stiffness.",
          .fallback = "1e9",
          .unit = "Pa",
          .min = 0,
          .open_min = true},
         {.name = "max_strain",
          .kind = Kind::number,
          .help = "Deformation (largest entry of A^T A - I) that stiff bodies of this material may "
                  "have without a warning; 0: warned of above 1e-3, a fault above 1e-2.",
          .fallback = "0",
          .min = 0},
         {.name = "poisson",
          .kind = Kind::number,
          .help = "Poisson's ratio.",
          .fallback = "0.3",
          .min = -1,
          .max = 0.5,
          .open_min = true,
          .open_max = true},
         {.name = "friction",
          .kind = Kind::number,
          .help = "Coefficient of friction.",
          .fallback = "0.3",
          .min = 0,
          .max = 1000},
         {.name = "restitution",
          .kind = Kind::number,
          .help = "Part of the speed kept in an impact.",
          .fallback = "0",
          .min = 0,
          .max = 1},
         {.name = "rayleigh_mass",
          .kind = Kind::number,
          .help = "Damping of elastic bodies in proportion to mass.",
          .fallback = "0",
          .unit = "1/s",
          .min = 0},
         {.name = "rayleigh_stiffness",
          .kind = Kind::number,
          .help = "Damping of elastic bodies in proportion to stiffness.",
          .fallback = "0",
          .unit = "s",
          .min = 0}}};
    return info;
}

const ObjectInfo& pair_keys() {
    static const ObjectInfo info{
        "pair",
        "Contact between two materials; what is not said here is the mean of the two.",
        {{.name = "materials",
          .kind = Kind::names,
          .help = "Names of the two materials.",
          .count = 2,
          .required = true},
         {.name = "friction",
          .kind = Kind::number,
          .help = "Coefficient of friction.",
          .min = 0,
          .max = 1000},
         {.name = "restitution",
          .kind = Kind::number,
          .help = "Part of the speed kept in an impact.",
          .min = 0,
          .max = 1}}};
    return info;
}

const ObjectInfo& contact_keys() {
    static const ObjectInfo info{
        "contact",
        "How bodies touch.",
        {{.name = "dhat",
          .kind = Kind::number,
          .help = "Distance at which contact begins; chosen from the scene when left out.",
          .unit = "m",
          .min = 0,
          .open_min = true},
         {.name = "pairs",
          .kind = Kind::objects,
          .help = "Friction and restitution of material pairs.",
          .fallback = "[]",
          .object = pair_keys},
         {.name = "ignore",
          .kind = Kind::name_pairs,
          .help = "Pairs that do not collide: names of bodies, elastic bodies or groups.",
          .fallback = "[]"},
         {.name = "jointed_bodies_collide",
          .kind = Kind::flag,
          .help = "Whether bodies that share a joint collide.",
          .fallback = "false"}}};
    return info;
}

const ObjectInfo& force_keys() {
    static const ObjectInfo info{
        "force",
        "A force and torque on one body over a span of time.",
        {{.name = "body", .kind = Kind::text, .help = "Name of the body.", .required = true},
         {.name = "force", .kind = Kind::vec3, .help = "Force.", .fallback = "[0,0,0]", .unit = "N"},
         {.name = "torque", .kind = Kind::vec3, .help = "Torque.", .fallback = "[0,0,0]", .unit = "N m"},
         {.name = "point",
          .kind = Kind::vec3,
          .help = "Where the force acts, in the geometry's frame; the centre of mass when left out.",
          .unit = "m"},
         {.name = "body_frame",
          .kind = Kind::flag,
          .help = "Force and torque turn with the body.",
          .fallback = "false"},
         {.name = "from", .kind = Kind::number, .help = "Begin.", .fallback = "0", .unit = "s"},
         {.name = "to", .kind = Kind::number, .help = "End; never when left out.", .unit = "s"}}};
    return info;
}

const ObjectInfo& wind_keys() {
    static const ObjectInfo info{"wind",
                                 "Wind that pushes every dynamic body.",
                                 {{.name = "velocity",
                                   .kind = Kind::vec3,
                                   .help = "Velocity of the air.",
                                   .fallback = "[0,0,0]",
                                   .unit = "m/s"},
                                  {.name = "drag",
                                   .kind = Kind::number,
                                   .help = "Force per speed and area of bounding-box face.",
                                   .fallback = "0",
                                   .unit = "N s/m^3",
                                   .min = 0},
                                  {.name = "gust",
                                   .kind = Kind::number,
                                   .help = "Relative amplitude of gusts.",
                                   .fallback = "0",
                                   .min = 0},
                                  {.name = "gust_period",
                                   .kind = Kind::number,
                                   .help = "Period of gusts.",
                                   .fallback = "1",
                                   .unit = "s",
                                   .min = 0,
                                   .open_min = true}}};
    return info;
}

const ObjectInfo& expect_keys() {
    static const ObjectInfo info{
        "expect",
        "A statement about a run that `tenon run` checks: a position, or bounds of a quantity.",
        {{.name = "body",
          .kind = Kind::text,
          .help = "Name of a body or elastic body; all dynamic bodies, or the whole scene, when left out."},
         {.name = "at", .kind = Kind::number, .help = "When; the end when left out.", .unit = "s", .min = 0},
         {.name = "position", .kind = Kind::vec3, .help = "Where the geometry's origin is.", .unit = "m"},
         {.name = "within",
          .kind = Kind::number,
          .help = "How near.",
          .fallback = "0",
          .unit = "m",
          .min = 0},
         {.name = "quantity",
          .kind = Kind::text,
          .help = "Of a body: x y z speed spin moved tilt turned_x turned_y turned_z. Of the scene: "
                  "kinetic_energy joint_residual min_distance max_speed intersections.",
          .choices = {"x", "y", "z", "speed", "spin", "moved", "tilt", "turned_x", "turned_y", "turned_z",
                      "kinetic_energy", "joint_residual", "min_distance", "max_speed", "intersections"}},
         {.name = "min", .kind = Kind::number, .help = "Lower bound of the quantity."},
         {.name = "max", .kind = Kind::number, .help = "Upper bound of the quantity."},
         {.name = "note", .kind = Kind::text, .help = "Said beside the verdict."}}};
    return info;
}

const ObjectInfo& camera_keys() {
    static const ObjectInfo info{
        "camera",
        "Hints for pictures.",
        {{.name = "eye", .kind = Kind::vec3, .help = "Where the camera is.", .unit = "m"},
         {.name = "target", .kind = Kind::vec3, .help = "What it looks at.", .unit = "m"},
         {.name = "fov",
          .kind = Kind::number,
          .help = "Vertical field of view.",
          .unit = "degrees",
          .min = 1,
          .max = 170}}};
    return info;
}

}  // namespace

const ObjectInfo& scene_keys() {
    static const ObjectInfo info{
        "scene",
        "A Tenon scene.",
        {{.name = "$schema", .kind = Kind::text, .help = "Address of this schema, for editors."},
         {.name = "tenon",
          .kind = Kind::integer,
          .help = "Version of the format.",
          .fallback = "1",
          .min = 1,
          .max = 1},
         {.name = "name", .kind = Kind::text, .help = "Name of the scene.", .fallback = "\"scene\""},
         {.name = "units",
          .kind = Kind::text,
          .help = "Unit of all lengths and velocities in the file and of its meshes.",
          .fallback = "\"m\"",
          .choices = {"m", "mm"}},
         {.name = "up",
          .kind = Kind::text,
          .help = "Which axis points up in pictures and exports.",
          .fallback = "\"y\"",
          .choices = {"y", "z"}},
         {.name = "gravity",
          .kind = Kind::vec3,
          .help = "Always in m/s^2; 9.81 against the up axis when left out.",
          .unit = "m/s^2",
          .min = -1e8,
          .max = 1e8},
         {.name = "seconds",
          .kind = Kind::number,
          .help = "How long to simulate.",
          .fallback = "1",
          .unit = "s",
          .min = 0,
          .max = 1e9},
         {.name = "method",
          .kind = Kind::method,
          .help = "A method's name, or an object with its type, dt and parameters."},
         {.name = "materials",
          .kind = Kind::object_map,
          .help = "Materials by name. \"default\" is the one of bodies that name none.",
          .object = material_keys},
         {.name = "shapes",
          .kind = Kind::shape_map,
          .help = "Geometry by name, for bodies that look alike: a shape with its type, or mesh keys."},
         {.name = "contact", .kind = Kind::object, .help = "How bodies touch.", .object = contact_keys},
         {.name = "bodies", .kind = Kind::objects, .help = "The stiff bodies.", .object = body_keys},
         {.name = "joints",
          .kind = Kind::objects,
          .help = "The joints.",
          .fallback = "[]",
          .object = joint_keys},
         {.name = "tendons",
          .kind = Kind::objects,
          .help = "Fixed tendons: sums of joint coordinates.",
          .fallback = "[]",
          .object = tendon_keys},
         {.name = "actuators",
          .kind = Kind::objects,
          .help = "Named drives of joints and tendons.",
          .fallback = "[]",
          .object = actuator_keys},
         {.name = "sensors",
          .kind = Kind::objects,
          .help = "Named measurements, recorded after every step.",
          .fallback = "[]",
          .object = sensor_keys},
         {.name = "keyframes",
          .kind = Kind::objects,
          .help = "States by name.",
          .fallback = "[]",
          .object = state_keyframe_keys},
         {.name = "start",
          .kind = Kind::text,
          .help = "Name of the keyframe that a run begins with; the scene as it is when left out."},
         {.name = "elastic",
          .kind = Kind::objects,
          .help = "The elastic bodies.",
          .fallback = "[]",
          .object = elastic_keys},
         {.name = "forces",
          .kind = Kind::objects,
          .help = "Forces and torques over time.",
          .fallback = "[]",
          .object = force_keys},
         {.name = "wind", .kind = Kind::object, .help = "Wind.", .object = wind_keys},
         {.name = "expect",
          .kind = Kind::objects,
          .help = "What should come out.",
          .fallback = "[]",
          .object = expect_keys},
         {.name = "camera", .kind = Kind::object, .help = "Hints for pictures.", .object = camera_keys},
         {.name = "portrait",
          .kind = Kind::number,
          .help = "The moment that shows the scene best, for pictures of it.",
          .unit = "s",
          .min = 0}}};
    return info;
}

std::vector<const ObjectInfo*> all_objects() {
    return {&scene_keys(),  &material_keys(), &contact_keys(),  &pair_keys(),           &geometry_keys(),
            &body_keys(),   &inertia_keys(),  &keyframe_keys(), &joint_keys(),          &drive_keys(),
            &spring_keys(), &motor_keys(),    &elastic_keys(),  &region_keys(),         &pin_keys(),
            &force_keys(),  &wind_keys(),     &expect_keys(),   &camera_keys(),         &part_keys(),
            &tendon_keys(), &actuator_keys(), &sensor_keys(),   &state_keyframe_keys(), &body_state_keys()};
}

}  // namespace tenon::scene

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
    static const ObjectInfo info{"material",
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

const ObjectInfo& inertia_keys() {
    static const ObjectInfo info{
        "inertia",
        "Given mass distribution, instead of the one of the geometry.",
        {{.name = "center",
          .kind = Kind::vec3,
          .help = "Centre of mass in the geometry's frame.",
          .fallback = "[0,0,0]",
          .unit = "m"},
         {.name = "moments",
          .kind = Kind::vec3,
          .help = "Principal moments of inertia; none may exceed the sum of the other two.",
          .unit = "kg m^2",
          .min = 0,
          .open_min = true,
          .required = true},
         {.name = "axes",
          .kind = Kind::numbers,
          .help = "Principal axes in the geometry's frame, as a quaternion [w,x,y,z].",
          .fallback = "[1,0,0,0]",
          .count = 4}}};
    return info;
}

// Position and rotation, with the same meaning wherever something is placed.
std::vector<KeyInfo> pose_keys() {
    return {
        {.name = "position",
         .kind = Kind::vec3,
         .help = "Where the geometry's origin is.",
         .fallback = "[0,0,0]",
         .unit = "m"},
        {.name = "rotation",
         .kind = Kind::numbers,
         .help = "Quaternion [w,x,y,z]; it is normalised.",
         .fallback = "[1,0,0,0]",
         .count = 4},
        {.name = "rotation_euler",
         .kind = Kind::numbers,
         .help =
             "Instead of a quaternion: degrees about the body's own x, then y, then z axis (R = Rx Ry Rz).",
         .unit = "degrees",
         .count = 3}};
}

std::vector<KeyInfo> velocity_keys() {
    return {{.name = "linear_velocity",
             .kind = Kind::vec3,
             .help = "Velocity of the centre of mass.",
             .fallback = "[0,0,0]",
             .unit = "m/s"},
            {.name = "angular_velocity",
             .kind = Kind::vec3,
             .help = "Angular velocity in the world frame.",
             .fallback = "[0,0,0]",
             .unit = "rad/s"}};
}

KeyInfo color_key() {
    return {.name = "color",
            .kind = Kind::numbers,
            .help = "Red, green, blue from 0 to 1.",
            .min = 0,
            .max = 1,
            .count = 3};
}

std::vector<KeyInfo> mesh_keys() {
    return {
        {.name = "shape",
         .kind = Kind::shape,
         .help = "A built-in shape with its parameters, or the name of an entry of \"shapes\"."},
        {.name = "mesh",
         .kind = Kind::text,
         .help = "Mesh file (OBJ, STL, PLY, OFF), relative to the scene."},
        {.name = "vertices", .kind = Kind::points, .help = "Inline mesh: positions.", .unit = "m"},
        {.name = "triangles", .kind = Kind::indices, .help = "Inline mesh: triples of vertices.", .count = 3},
        {.name = "edges", .kind = Kind::indices, .help = "Inline mesh: loose edges.", .count = 2},
        {.name = "points", .kind = Kind::index_list, .help = "Inline mesh: loose points."},
        {.name = "scale",
         .kind = Kind::scale,
         .help = "Factor of the geometry, one or three, about its origin.",
         .fallback = "1"},
        {.name = "thickness",
         .kind = Kind::number,
         .help = "Thickness of open, flat, edge-only and point-only meshes.",
         .fallback = "0",
         .unit = "m",
         .min = 0},
        {.name = "repair",
         .kind = Kind::flag,
         .help = "Weld the mesh, orient it and drop degenerate triangles instead of refusing it.",
         .fallback = "false"}};
}

void append(std::vector<KeyInfo>& keys, std::vector<KeyInfo> more) {
    for (KeyInfo& key : more) keys.push_back(std::move(key));
}

const ObjectInfo& keyframe_keys() {
    static const ObjectInfo info = [] {
        ObjectInfo made{
            "keyframe",
            "A pose at a time. What is left out stays as in the keyframe before; in the first one, "
            "as in the body.",
            {{.name = "time",
              .kind = Kind::number,
              .help = "Time of the pose.",
              .unit = "s",
              .required = true}}};
        append(made.keys, pose_keys());
        return made;
    }();
    return info;
}

const ObjectInfo& body_keys() {
    static const ObjectInfo info = [] {
        ObjectInfo made{
            "body",
            "A stiff body: its geometry is one of shape, mesh or vertices.",
            {{.name = "name", .kind = Kind::text, .help = "Unique; body-N for the N-th body when left out."},
             {.name = "type",
              .kind = Kind::text,
              .help = "Dynamic bodies are simulated, static ones stay, kinematic ones are scripted.",
              .fallback = "\"dynamic\"",
              .choices = {"dynamic", "static", "kinematic"}}}};
        append(made.keys, mesh_keys());
        append(made.keys, pose_keys());
        append(made.keys, velocity_keys());
        append(made.keys,
               {{.name = "material",
                 .kind = Kind::text,
                 .help = "Name of an entry of \"materials\".",
                 .fallback = "\"default\""},
                {.name = "density",
                 .kind = Kind::number,
                 .help = "Instead of the material's.",
                 .unit = "kg/m^3",
                 .min = 0,
                 .open_min = true},
                {.name = "mass",
                 .kind = Kind::number,
                 .help = "Instead of a density.",
                 .unit = "kg",
                 .min = 0,
                 .open_min = true},
                {.name = "inertia",
                 .kind = Kind::object,
                 .help = "Given mass distribution.",
                 .object = inertia_keys},
                {.name = "friction",
                 .kind = Kind::number,
                 .help = "Instead of the material's.",
                 .min = 0,
                 .max = 1000},
                {.name = "restitution",
                 .kind = Kind::number,
                 .help = "Instead of the material's.",
                 .min = 0,
                 .max = 1},
                {.name = "fixed",
                 .kind = Kind::fixed,
                 .help = "World coordinates that stay: true, names out of x y z rx ry rz, or six flags.",
                 .fallback = "[]"},
                {.name = "group",
                 .kind = Kind::text,
                 .help = "Bodies of one group do not collide with each other.",
                 .fallback = "\"\""},
                {.name = "collides",
                 .kind = Kind::flag,
                 .help = "Whether the body collides at all.",
                 .fallback = "true"},
                {.name = "min_separation",
                 .kind = Kind::number,
                 .help = "Distance kept from other bodies.",
                 .fallback = "0",
                 .unit = "m",
                 .min = 0},
                {.name = "motion",
                 .kind = Kind::objects,
                 .help = "Keyframes of a kinematic body, times ascending.",
                 .fallback = "[]",
                 .object = keyframe_keys},
                {.name = "kinematic_until",
                 .kind = Kind::number,
                 .help = "When a kinematic body becomes dynamic.",
                 .unit = "s",
                 .min = 0},
                color_key()});
        return made;
    }();
    return info;
}

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
         {.name = "profile",
          .kind = Kind::number_pairs,
          .help = "Instead of target: [time, target] with times ascending, straight in between."}}};
    return info;
}

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
        append(made.keys, drive_key_list());
        append(made.keys,
               {{.name = "drives",
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
                {.name = "offset", .kind = Kind::number, .help = "Coupling: offset.", .fallback = "0"}});
        return made;
    }();
    return info;
}

const ObjectInfo& region_keys() {
    static const ObjectInfo info{
        "region",
        "Another material inside a box of the rest frame.",
        {{.name = "lo", .kind = Kind::vec3, .help = "Lower corner.", .unit = "m", .required = true},
         {.name = "hi", .kind = Kind::vec3, .help = "Upper corner.", .unit = "m", .required = true},
         {.name = "material",
          .kind = Kind::text,
          .help = "Name of an entry of \"materials\".",
          .required = true}}};
    return info;
}

const ObjectInfo& pin_keys() {
    static const ObjectInfo info{
        "pin",
        "Vertices inside a box of the rest frame stay, follow a motion, or are attached to a body.",
        {{.name = "lo", .kind = Kind::vec3, .help = "Lower corner.", .unit = "m", .required = true},
         {.name = "hi", .kind = Kind::vec3, .help = "Upper corner.", .unit = "m", .required = true},
         {.name = "motion",
          .kind = Kind::objects,
          .help = "Keyframes of the body's frame.",
          .object = keyframe_keys},
         {.name = "body", .kind = Kind::text, .help = "Name of the body they are attached to."}}};
    return info;
}

const ObjectInfo& elastic_keys() {
    static const ObjectInfo info = [] {
        ObjectInfo made{"elastic",
                        "An elastic body: tetrahedra from a file, or a lattice made from a shape or mesh.",
                        {{.name = "name",
                          .kind = Kind::text,
                          .help = "Unique; elastic-N for the N-th one when left out."},
                         {.name = "tets",
                          .kind = Kind::text,
                          .help = "File of tetrahedra (Gmsh MSH), relative to the scene."}}};
        append(made.keys, mesh_keys());
        append(made.keys, pose_keys());
        append(made.keys, velocity_keys());
        append(made.keys,
               {{.name = "cell_size",
                 .kind = Kind::number,
                 .help = "Cell of the lattice made from a shape or mesh; 0 or left out: chosen.",
                 .fallback = "0",
                 .unit = "m",
                 .min = 0},
                {.name = "model",
                 .kind = Kind::text,
                 .help = "Elastic energy.",
                 .fallback = "\"neo-hookean\"",
                 .choices = {"neo-hookean", "stvk", "corotational"}},
                {.name = "material",
                 .kind = Kind::text,
                 .help = "Name of an entry of \"materials\".",
                 .fallback = "\"default\""},
                {.name = "surface",
                 .kind = Kind::text,
                 .help = "Mesh file of a fine surface embedded in the body."},
                {.name = "regions",
                 .kind = Kind::objects,
                 .help = "Other materials inside boxes; the last one wins.",
                 .object = region_keys},
                {.name = "pins", .kind = Kind::objects, .help = "Held vertices.", .object = pin_keys},
                {.name = "plane_strain",
                 .kind = Kind::flag,
                 .help = "Triangles in a plane instead of tetrahedra.",
                 .fallback = "false"},
                color_key()});
        return made;
    }();
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

const ObjectInfo& drive_keys() {
    static const ObjectInfo info{"drive", "What acts along one free coordinate of a joint.",
                                 drive_key_list()};
    return info;
}

const ObjectInfo& geometry_keys() {
    static const ObjectInfo info{"geometry", "Geometry shared by bodies: one of shape, mesh or vertices.",
                                 mesh_keys()};
    return info;
}

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
          .unit = "m/s^2"},
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
         {.name = "camera", .kind = Kind::object, .help = "Hints for pictures.", .object = camera_keys}}};
    return info;
}

std::vector<const ObjectInfo*> all_objects() {
    return {&scene_keys(),  &material_keys(), &contact_keys(),  &pair_keys(),   &geometry_keys(),
            &body_keys(),   &inertia_keys(),  &keyframe_keys(), &joint_keys(),  &drive_keys(),
            &spring_keys(), &motor_keys(),    &elastic_keys(),  &region_keys(), &pin_keys(),
            &force_keys(),  &wind_keys(),     &expect_keys(),   &camera_keys()};
}

}  // namespace tenon::scene

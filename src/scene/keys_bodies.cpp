// Keys of bodies and elastic bodies.
#include "scene/keys.hpp"

namespace tenon::scene {
namespace {

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

KeyInfo parts_key() {
    return {.name = "parts",
            .kind = Kind::objects,
            .help = "Several pieces that make one solid; volumes of pieces that overlap add up.",
            .object = part_keys};
}

void append(std::vector<KeyInfo>& keys, std::vector<KeyInfo> more) {
    for (KeyInfo& key : more) keys.push_back(std::move(key));
}

}  // namespace

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
          .open_min = true},
         {.name = "matrix",
          .kind = Kind::matrix,
          .help = "Instead of moments: the inertia about the centre of mass along the geometry's axes, "
                  "[ixx,ixy,ixz,iyy,iyz,izz] or three rows.",
          .unit = "kg m^2"},
         {.name = "axes",
          .kind = Kind::numbers,
          .help = "Principal axes in the geometry's frame, as a quaternion [w,x,y,z].",
          .fallback = "[1,0,0,0]",
          .count = 4}}};
    return info;
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

const ObjectInfo& part_keys() {
    static const ObjectInfo info = [] {
        ObjectInfo made{"part", "A piece of a geometry: one of shape, mesh or vertices, and where it sits.",
                        mesh_keys()};
        append(made.keys, pose_keys());
        return made;
    }();
    return info;
}

const ObjectInfo& geometry_keys() {
    static const ObjectInfo info = [] {
        ObjectInfo made{"geometry", "Geometry shared by bodies: one of shape, mesh, vertices or parts.",
                        mesh_keys()};
        made.keys.push_back(parts_key());
        return made;
    }();
    return info;
}

const ObjectInfo& body_keys() {
    static const ObjectInfo info = [] {
        ObjectInfo made{
            "body",
            "A stiff body: its geometry is one of shape, mesh, vertices or parts; with mass and inertia "
            "given "
            "it may have none, and then touches nothing.",
            {{.name = "name", .kind = Kind::text, .help = "Unique; body-N for the N-th body when left out."},
             {.name = "type",
              .kind = Kind::text,
              .help = "Dynamic bodies are simulated, static ones stay, kinematic ones are scripted.",
              .fallback = "\"dynamic\"",
              .choices = {"dynamic", "static", "kinematic"}}}};
        append(made.keys, mesh_keys());
        made.keys.push_back(parts_key());
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
                 .help = "When a kinematic body becomes dynamic: with the velocities given, else with those "
                         "of its motion.",
                 .unit = "s",
                 .min = 0},
                color_key()});
        return made;
    }();
    return info;
}

const ObjectInfo& body_state_keys() {
    static const ObjectInfo info = [] {
        ObjectInfo made{"body_state", "Pose and velocity of a body in a keyframe.", pose_keys()};
        append(made.keys, velocity_keys());
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
                        "An elastic body: tetrahedra from a file, or made from a shape or mesh.",
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
                 .help = "Edge length of tetrahedra made from a shape or mesh; 0 or left out: chosen.",
                 .fallback = "0",
                 .unit = "m",
                 .min = 0,
                 .max = 1e15},
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

}  // namespace tenon::scene

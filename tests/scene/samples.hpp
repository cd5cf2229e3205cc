// Scenes that the tests of reading, writing and the schema share.
#pragma once

#include <string>

#include "scene/support.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::test {

// The example of the format's description, word for word but for the parts it names and leaves undefined.
inline const char* const published_example = R"({
  "tenon": 1,
  "name": "swing",
  "units": "m",
  "gravity": [0, -9.81, 0],
  "seconds": 5,
  "method": {"type": "articulated", "dt": 0.01, "integrator": "bdf2"},
  "materials": {"steel": {"density": 7850, "young": 2e11, "poisson": 0.3, "friction": 0.4, "restitution": 0},
                "rubber": {"density": 1100, "young": 1e6, "poisson": 0.45, "friction": 0.8}},
  "contact": {
    "dhat": 0.001,
    "pairs": [{"materials": ["steel", "rubber"], "friction": 0.9}],
    "ignore": [["arm", "post"]]
  },
  "bodies": [
    {"name": "post", "type": "static", "shape": {"type": "box", "size": [0.2, 1, 0.2]}, "position": [0, 0.5, 0]},
    {"name": "arm", "shape": {"type": "box", "size": [1, 0.1, 0.1]}, "position": [0.5, 1.2, 0],
     "rotation": [1, 0, 0, 0], "material": "steel", "linear_velocity": [0, 0, 0], "angular_velocity": [0, 0, 3]},
    {"name": "weight", "mesh": "weight.obj", "scale": 0.01, "mass": 2.0, "position": [1, 1.0, 0],
     "inertia": {"center": [0, 0, 0], "moments": [0.01, 0.01, 0.02]}},
    {"name": "door", "type": "kinematic", "shape": {"type": "box", "size": [1, 2, 0.1]}, "collides": false,
     "motion": [{"time": 0, "position": [3, 1, 0]}, {"time": 2, "position": [3, 1, 1], "rotation_euler": [0, 90, 0]}]}
  ],
  "joints": [
    {"name": "hinge", "type": "hinge", "bodies": ["post", "arm"], "point": [0, 1.2, 0], "axis": [0, 0, 1],
     "limits": [-1.5, 1.5], "spring": {"stiffness": 5, "damping": 0.1, "rest": 0}, "friction": 0.02,
     "motor": {"type": "velocity", "target": 2, "max": 10}},
    {"name": "ball", "type": "ball", "bodies": ["arm", "weight"], "point": [1, 1.2, 0]}
  ],
  "elastic": [
    {"name": "pad", "tets": "pad.msh", "material": "rubber", "model": "neo-hookean", "position": [0, 0, 0]}
  ],
  "forces": [{"body": "arm", "torque": [0, 0, 1], "from": 0, "to": 0.5}],
  "expect": [{"body": "weight", "at": 5, "position": [0.8, 0.9, 0], "within": 0.01}]
})";

// Every field of the format away from its default, with numbers that need all their digits.
inline const char* const full_example = R"({
      "name": "full \"quoted\" \\ \u0001 é", "up": "z", "gravity": [0.1, -0.0, -9.80665], "seconds": 3.3333333333333335,
      "method": {"type": "affine", "dt": 0.0033333333333333335, "integrator": "bdf2"},
      "materials": {"default": {"friction": 0.7}, "steel": {"density": 7850.123456789012, "young": 2.1e11,
          "poisson": 0.29, "restitution": 0.3, "rayleigh_mass": 0.1, "rayleigh_stiffness": 0.001}},
      "shapes": {"brick": {"type": "box", "size": [0.1, 0.2, 0.30000000000000004]}},
      "contact": {"dhat": 0.0011, "jointed_bodies_collide": true, "ignore": [["a", "b"], ["a", "soft"]],
          "pairs": [{"materials": ["steel", "default"], "friction": 0.1, "restitution": 0.2}]},
      "bodies": [
        {"name": "a", "shape": "brick", "position": [0.1, 0.2, 0.3], "rotation": [1, 2, 3, 4], "material": "steel",
         "linear_velocity": [1e-300, 2, 3], "angular_velocity": [0.1, 0.2, 0.7], "mass": 0.1,
         "inertia": {"center": [0.1, 0, 0], "moments": [0.1, 0.2, 0.25], "axes": [1, 1, 0, 0]},
         "friction": 0.2, "restitution": 0.9, "fixed": ["y", "rx"], "min_separation": 1e-4, "color": [0.1, 0.2, 0.3]},
        {"name": "b", "shape": "brick", "density": 123.456, "group": "g", "collides": false},
        {"name": "c", "type": "kinematic", "mesh": "cube.obj", "scale": [1, -2, 3], "thickness": 0.01, "repair": true,
         "kinematic_until": 0.7, "motion": [{"time": 0.1, "position": [1, 1, 1]},
                                            {"time": 0.7, "rotation_euler": [10, 20, 30]}]},
        {"type": "static", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 2, 2]],
         "triangles": [[0, 1, 2]], "edges": [[2, 3]], "points": [4], "thickness": 0.1}],
      "joints": [
        {"name": "slide", "type": "cylindrical", "bodies": ["a", "b"], "point": [0.1, 0, 0], "axis": [1, 1, 1],
         "break_force": 100, "break_torque": 10, "linear": true,
         "drives": [{"limits": [-1, 2], "spring": {"stiffness": 1, "damping": 2, "rest": 0.5}},
                    {"friction": 0.1, "armature": 0.2, "motor": {"type": "position", "max": 5,
                     "profile": [[0, 0], [1, 0.30000000000000004]]}}]},
        {"type": "hinge", "bodies": ["world", "a"], "motor": {"type": "force", "target": 3}},
        {"name": "mix", "type": "coupling", "joints": ["slide", "joint-1"], "coordinates": [1, 0], "ratio": -2,
         "offset": 0.1},
        {"type": "distance", "bodies": ["a", "c"], "point": [0, 0, 0], "point_b": [1, 0, 0]},
        {"type": "universal", "bodies": ["b", "c"], "axis": [1, 0, 0], "axis_b": [0, 1, 0]},
        {"type": "ball", "bodies": ["b", "body-3"], "twist": {"stiffness": 1}, "bend": {"stiffness": 2}}],
      "elastic": [{"name": "soft", "shape": {"type": "box"}, "scale": [0.1, 0.2, 0.3], "cell_size": 0.05,
          "model": "stvk", "material": "steel", "position": [5, 0, 0], "rotation": [0, 1, 0, 0],
          "linear_velocity": [1, 0, 0], "angular_velocity": [0, 1, 0], "surface": "cube.obj", "plane_strain": true,
          "regions": [{"lo": [0, 0, 0], "hi": [1, 1, 1], "material": "steel"}], "color": [0, 1, 0],
          "pins": [{"lo": [0, 0, 0], "hi": [0, 1, 1], "motion": [{"time": 0}, {"time": 1, "position": [0, 1, 0]}]},
                   {"lo": [1, 0, 0], "hi": [1, 1, 1], "body": "a"}]},
          {"tets": "pad.msh", "scale": 0.5}],
      "forces": [{"body": "b", "force": [1, 2, 3], "torque": [0, 0, 1], "point": [0.1, 0, 0], "body_frame": true,
          "from": 0.1, "to": 0.9}],
      "wind": {"velocity": [3, 0, 0], "drag": 0.1, "gust": 0.2, "gust_period": 2.5},
      "expect": [{"body": "a", "at": 1, "position": [1, 2, 3], "within": 0.1, "note": "here"},
          {"quantity": "kinetic_energy", "min": 0, "max": 1.1}],
      "camera": {"eye": [1, 2, 3], "target": [0, 0, 0.1], "fov": 35}})";

inline Scene full_scene(const Folder& folder) {
    folder.write("cube.obj", test::cube_obj());
    folder.write("pad.msh", test::tetrahedron_msh());
    return parse_scene(full_example, "full", folder.path());
}

}  // namespace tenon::test

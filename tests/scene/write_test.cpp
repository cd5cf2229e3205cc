// What is written reads back as the same scene, bit for bit.
#include <cmath>

#include "scene/support.hpp"
#include "tenon/scene_io.hpp"

namespace tenon {
namespace {

// Every field of the format away from its default, with numbers that need all their digits.
Scene full_scene(const test::Folder& folder) {
    folder.write("cube.obj", test::cube_obj());
    folder.write("pad.msh", test::tetrahedron_msh());
    return parse_scene(R"({
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
      "camera": {"eye": [1, 2, 3], "target": [0, 0, 0.1], "fov": 35}})",
                       "full", folder.path());
}

TEST(WriteScene, ReadsBackAsTheSameText) {
    test::Folder folder;
    const std::string once = write_scene(full_scene(folder));
    const Scene again = parse_scene(once, "again", "");
    EXPECT_EQ(write_scene(again), once);
}

TEST(WriteScene, KeepsEveryFieldBitForBit) {
    test::Folder folder;
    const Scene a = full_scene(folder);
    const Scene b = parse_scene(write_scene(a), "again", "");
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.gravity, b.gravity);
    EXPECT_TRUE(std::signbit(b.gravity.y()));
    EXPECT_EQ(a.seconds, b.seconds);
    EXPECT_EQ(a.dt, b.dt);
    EXPECT_EQ(a.method_params, b.method_params);
    EXPECT_EQ(a.materials[1].density, b.materials[1].density);
    EXPECT_EQ(a.materials[0].friction, b.materials[0].friction);
    ASSERT_EQ(a.bodies.size(), b.bodies.size());
    for (std::size_t i = 0; i < a.bodies.size(); ++i) {
        const BodySpec &x = a.bodies[i], &y = b.bodies[i];
        EXPECT_EQ(x.name, y.name);
        EXPECT_EQ(x.type, y.type);
        EXPECT_TRUE(a.geometries[static_cast<std::size_t>(x.geometry)] ==
                    b.geometries[static_cast<std::size_t>(y.geometry)]);
        EXPECT_EQ(x.position, y.position);
        EXPECT_EQ(x.rotation.coeffs(), y.rotation.coeffs());
        EXPECT_EQ(x.linear_velocity, y.linear_velocity);
        EXPECT_EQ(x.angular_velocity, y.angular_velocity);
        EXPECT_EQ(x.density, y.density);
        EXPECT_EQ(x.mass, y.mass);
        EXPECT_EQ(x.friction, y.friction);
        EXPECT_EQ(x.fixed, y.fixed);
        EXPECT_EQ(x.group, y.group);
        EXPECT_EQ(x.collides, y.collides);
        EXPECT_EQ(x.kinematic_until, y.kinematic_until);
        EXPECT_EQ(x.color, y.color);
        ASSERT_EQ(x.motion.size(), y.motion.size());
        for (std::size_t k = 0; k < x.motion.size(); ++k) {
            EXPECT_EQ(x.motion[k].time, y.motion[k].time);
            EXPECT_EQ(x.motion[k].position, y.motion[k].position);
            EXPECT_EQ(x.motion[k].rotation.coeffs(), y.motion[k].rotation.coeffs());
        }
    }
    EXPECT_EQ(a.bodies[0].inertia->axes.coeffs(), b.bodies[0].inertia->axes.coeffs());
    EXPECT_EQ(a.joints[0].axis, b.joints[0].axis);
    EXPECT_EQ(a.joints[0].drives[1].motor.profile, b.joints[0].drives[1].motor.profile);
    EXPECT_EQ(a.joints[2].joints, b.joints[2].joints);
    EXPECT_EQ(a.elastic[0].scale, b.elastic[0].scale);
    EXPECT_EQ(a.elastic[1].scale, b.elastic[1].scale);
    EXPECT_EQ(a.contact.ignore, b.contact.ignore);
    EXPECT_EQ(a.camera, b.camera);
}

TEST(WriteScene, MakesMeshPathsRelativeToTheFolderItIsFor) {
    test::Folder folder;
    const Scene scene = full_scene(folder);
    const std::string text = write_scene(scene, folder.path());
    EXPECT_NE(text.find("\"mesh\": \"cube.obj\""), std::string::npos);
    const Scene again = read_scene(folder.write("moved.json", text));
    EXPECT_EQ(again.geometries[static_cast<std::size_t>(again.bodies[2].geometry)].mesh_file,
              folder.path("cube.obj"));
}

}  // namespace
}  // namespace tenon

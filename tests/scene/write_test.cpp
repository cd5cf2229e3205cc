// What is written reads back as the same scene, bit for bit.
#include <cmath>

#include "scene/samples.hpp"
#include "scene/support.hpp"
#include "tenon/scene_io.hpp"

namespace tenon {
namespace {

TEST(WriteScene, ReadsBackAsTheSameText) {
    test::Folder folder;
    const std::string once = write_scene(test::full_scene(folder));
    const Scene again = parse_scene(once, "again", "");
    EXPECT_EQ(write_scene(again), once);
}

TEST(WriteScene, KeepsEveryFieldBitForBit) {
    test::Folder folder;
    const Scene a = test::full_scene(folder);
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

TEST(WriteScene, RefusesNumbersThatAreNotFinite) {
    Scene scene = parse_scene(R"({"bodies": [{"shape": "box"}]})", "t", "");
    scene.bodies[0].position.x() = std::nan("");
    EXPECT_EQ(test::input_error([&] { write_scene(scene); }).problem(),
              "the scene holds a number that is not finite");
}

TEST(WriteScene, MakesMeshPathsRelativeToTheFolderItIsFor) {
    test::Folder folder;
    const Scene scene = test::full_scene(folder);
    const std::string text = write_scene(scene, folder.path());
    EXPECT_NE(text.find("\"mesh\": \"cube.obj\""), std::string::npos);
    const Scene again = read_scene(folder.write("moved.json", text));
    EXPECT_EQ(again.geometries[static_cast<std::size_t>(again.bodies[2].geometry)].mesh_file,
              folder.path("cube.obj"));
}

}  // namespace
}  // namespace tenon

// Links that lie round half a drum, a weight on either end: the heavier one slides only where it weighs more than friction holds.
//
// A link that turns the pull by an angle d touches the drum in its middle, and at the verge of sliding the pulls at its ends are as
//   (cos d/2 + mu sin d/2) / (cos d/2 - mu sin d/2),
// which is Euler's exp(mu d) for small d.
#include <gtest/gtest.h>

#include <cmath>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

constexpr int links = 12;
constexpr double mu = 0.3, drum = 0.5, thick = 0.02, turn_of_link = M_PI / links;

Vec3 at_angle(double radius, double angle) {
    return radius * Vec3(std::cos(angle), std::sin(angle), 0);
}

Quat turned_about_z(double angle) {
    return Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ()));
}

double most_ratio() {
    const double c = std::cos(0.5 * turn_of_link), s = mu * std::sin(0.5 * turn_of_link);
    return std::pow((c + s) / (c - s), links);
}

void hang_weight(Scene& scene, const std::string& name, int link, const Vec3& end, double mass) {
    BodySpec weight = body_spec(scene, name, box_spec({0.1, 0.1, 0.1}), end - Vec3(0, 0.5, 0));
    weight.mass = mass;
    weight.collides = false;
    JointSpec rope = joint_spec(name + "-rope", JointType::distance, link, scene.add_body(weight), end);
    rope.point_b = end - Vec3(0, 0.5, 0);
    scene.joints.push_back(rope);
}

Scene capstan(const std::string& method, double heavier) {
    Scene scene = articulated_scene(0.005, 0.3);
    scene.method = method;
    scene.materials[0].friction = mu;
    BodySpec body = body_spec(scene, "drum",
                              shape_spec("cylinder", {{"radius", drum}, {"length", 0.3}, {"segments", 96.0}}),
                              Vec3::Zero(), Quat(Eigen::AngleAxisd(M_PI / 2, Vec3::UnitX())));
    body.type = BodyType::static_body;
    scene.add_body(body);
    const double middle = drum + 0.5 * thick + 1e-4, corner = middle / std::cos(0.5 * turn_of_link);
    for (int k = 0; k < links; ++k) {
        const double angle = M_PI - (k + 0.5) * turn_of_link;
        BodySpec link = body_spec(scene, "link" + std::to_string(k),
                                  box_spec({1.2 * middle * std::tan(0.5 * turn_of_link), thick, 0.05}),
                                  at_angle(middle, angle), turned_about_z(angle - M_PI / 2));
        link.mass = 1e-3;
        scene.add_body(link);
        if (k > 0)
            scene.joints.push_back(joint_spec("hinge" + std::to_string(k), JointType::hinge, k, k + 1,
                                              at_angle(corner, M_PI - k * turn_of_link)));
    }
    hang_weight(scene, "light", 1, Vec3(-corner, 0, 0), 1.0);
    hang_weight(scene, "heavy", links, Vec3(corner, 0, 0), heavier);
    return scene;
}

double sunk_by(const std::string& method, double part) {
    Simulation simulation(capstan(method, part * most_ratio()));
    const int heavy = static_cast<int>(simulation.state().q.size()) - 1;
    const double start = simulation.state().q[heavy](1, 3);
    while (simulation.time() < 0.3 - 1e-9) simulation.step();
    return start - simulation.state().q[heavy](1, 3);
}

class Capstan : public testing::TestWithParam<const char*> {};

TEST_P(Capstan, HoldsWhatEulerSaysAndNoMore) {
    EXPECT_NEAR(most_ratio(), std::exp(mu * M_PI), 0.02);
    EXPECT_LT(sunk_by(GetParam(), 0.95), 1.5e-3);  // settles on the drum
    EXPECT_GT(sunk_by(GetParam(), 1.05), 5e-3);
}

INSTANTIATE_TEST_SUITE_P(Methods, Capstan, testing::Values("articulated", "affine"));

}  // namespace
}  // namespace tenon

#include "geometry/mass_properties.hpp"

#include <gtest/gtest.h>

#include "geometry/mesh_check.hpp"
#include "shape_support.hpp"

namespace tenon::geometry {
namespace {

double off_diagonal(const Mat3& m) {
    return std::max({std::abs(m(0, 1)), std::abs(m(0, 2)), std::abs(m(1, 2))});
}

TEST(MassProperties, BoxIsExact) {
    const Vec3 size(1.0, 2.0, 3.0);
    const MassProperties m =
        mass_properties(make_shape("box", {{"size", std::vector<double>{1, 2, 3}}}), 0.0);
    EXPECT_TRUE(m.solid);
    EXPECT_DOUBLE_EQ(m.volume, 6.0);
    EXPECT_NEAR(m.centroid.norm(), 0.0, 1e-15);
    for (int k = 0; k < 3; ++k)
        EXPECT_NEAR(m.second(k, k), 6.0 * size[k] * size[k] / 12.0, 1e-14);  // V a^2/12
    EXPECT_NEAR(off_diagonal(m.second), 0.0, 1e-15);
}

TEST(MassProperties, TetrahedronIsExact) {
    // Regular with edge a: V = a^3 / (6 sqrt 2), integral of x^2 = V a^2 / 40.
    const double a = 0.7, volume = a * a * a / (6.0 * std::sqrt(2.0));
    const MassProperties m = mass_properties(make_shape("tetrahedron", {{"edge", a}}), 0.0);
    EXPECT_NEAR(m.volume, volume, 1e-16);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(m.second(k, k), volume * a * a / 40.0, 1e-17);
    EXPECT_NEAR(off_diagonal(m.second), 0.0, 1e-17);
}

TEST(MassProperties, CornerTetrahedronHasProductMoments) {
    // Unit corner tetrahedron: V = 1/6, centroid 1/4, integral of x^2 = 1/60 and x y = 1/120 about the corner.
    Mesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    mesh.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    const MassProperties m = mass_properties(mesh, 0.0);
    EXPECT_NEAR(m.volume, 1.0 / 6.0, 1e-16);
    EXPECT_NEAR((m.centroid - Vec3::Constant(0.25)).norm(), 0.0, 1e-16);
    EXPECT_NEAR(m.second(0, 0), 1.0 / 60.0 - 1.0 / 96.0, 1e-17);
    EXPECT_NEAR(m.second(0, 1), 1.0 / 120.0 - 1.0 / 96.0, 1e-17);
}

TEST(MassProperties, FarFromTheOriginCostsNoDigits) {
    // Integrals about the origin would lose (1e5)^2 / 1e-3 = 13 digits here.
    const std::map<std::string, ParamValue> size{{"size", std::vector<double>{0.25, 0.5, 0.125}}};
    const Vec3 far(131072.0, -65536.0, 262144.0);  // powers of two: the vertices move without rounding
    const MassProperties near = mass_properties(make_shape("box", size), 0.0);
    const MassProperties m = mass_properties(moved(make_shape("box", size), far), 0.0);
    EXPECT_NEAR(m.volume / near.volume, 1.0, 1e-13);
    EXPECT_NEAR((m.centroid - far).norm(), 0.0, 1e-10);
    EXPECT_NEAR((m.second - near.second).norm() / near.second.norm(), 0.0, 1e-13);
}

TEST(MassProperties, RoundBodiesConvergeAtSecondOrder) {
    const auto error = [](const std::string& shape, const char* count, double n, double exact) {
        return std::abs(mass_properties(make_shape(shape, {{count, n}}), 0.0).volume / exact - 1.0);
    };
    const double r = 0.5, ball = 4.0 / 3.0 * M_PI * r * r * r;
    const double torus = 2.0 * M_PI * M_PI * 0.5 * 0.15 * 0.15;
    EXPECT_NEAR(error("sphere", "segments", 32, ball) / error("sphere", "segments", 64, ball), 4.0, 0.1);
    EXPECT_NEAR(error("icosphere", "subdivisions", 3, ball) / error("icosphere", "subdivisions", 4, ball),
                4.0, 0.1);
    EXPECT_NEAR(
        error("cylinder", "segments", 32, M_PI * 0.25) / error("cylinder", "segments", 64, M_PI * 0.25), 4.0,
        0.1);
    EXPECT_NEAR(error("torus", "segments", 48, torus) / error("torus", "segments", 96, torus), 4.0, 0.1);
    EXPECT_LT(error("icosphere", "subdivisions", 6, ball), 1e-3);
}

TEST(MassProperties, BallSecondMoments) {
    // V r^2 / 5 for a ball; a finely divided icosphere must come near it from below.
    const MassProperties m = mass_properties(make_shape("icosphere", {{"subdivisions", 5.0}}), 0.0);
    const double exact = 4.0 / 3.0 * M_PI * 0.125 * 0.25 / 5.0;
    for (int k = 0; k < 3; ++k) {
        EXPECT_LT(m.second(k, k), exact);
        EXPECT_NEAR(m.second(k, k) / exact, 1.0, 4e-3);
    }
}

TEST(MassProperties, InsideOutSolidHasPositiveVolume) {
    Mesh box = make_shape("box");
    for (Triangle& t : box.triangles) std::swap(t[0], t[1]);
    const MassProperties m = mass_properties(box, 0.0);
    EXPECT_TRUE(m.solid);
    EXPECT_DOUBLE_EQ(m.volume, 1.0);
    EXPECT_GT(m.second(0, 0), 0.0);
}

TEST(MassProperties, CardIsAThinBox) {
    // A flat a x b rectangle of thickness t has exactly the moments of the box a x b x t.
    const double t = 0.01;
    const MassProperties m =
        mass_properties(make_shape("card", {{"size", std::vector<double>{0.6, 0.9}}}), t);
    const double volume = 0.6 * 0.9 * t;
    EXPECT_FALSE(m.solid);
    EXPECT_NEAR(m.volume, volume, 1e-17);
    EXPECT_NEAR(m.second(0, 0), volume * 0.36 / 12, 1e-17);
    EXPECT_NEAR(m.second(1, 1), volume * 0.81 / 12, 1e-17);
    EXPECT_NEAR(m.second(2, 2), volume * t * t / 12, 1e-20);
}

TEST(MassProperties, WiresAndPoints) {
    Mesh wire;
    wire.vertices = {{0, 0, 0}, {2, 0, 0}};
    wire.edges = {{0, 1}};
    const double t = 0.1, volume = 2.0 * t * t;
    const MassProperties m = mass_properties(wire, t);
    EXPECT_NEAR(m.volume, volume, 1e-16);
    EXPECT_NEAR(m.centroid.x(), 1.0, 1e-15);
    EXPECT_NEAR(m.second(0, 0), volume * 4.0 / 12.0, 1e-16);
    EXPECT_NEAR(m.second(1, 1), volume * t * t / 12.0, 1e-18);

    Mesh cloud;
    cloud.vertices = {{-1, 0, 0}, {1, 0, 0}};
    cloud.points = {0, 1};
    const MassProperties c = mass_properties(cloud, t);
    EXPECT_NEAR(c.volume, 2 * t * t * t, 1e-17);
    EXPECT_NEAR(c.second(0, 0), c.volume * (1.0 + t * t / 12.0), 1e-17);
    EXPECT_NEAR(c.second(1, 1), c.volume * t * t / 12.0, 1e-19);
}

TEST(MassProperties, DoubledCardIsNotSolid) {
    Mesh card = make_shape("card");
    card.triangles.push_back({0, 2, 1});
    card.triangles.push_back({0, 3, 2});
    EXPECT_FALSE(mass_properties(card, 0.001).solid);
    EXPECT_GT(mass_properties(card, 0.001).volume, 0.0);
}

TEST(PrincipalFrame, DiagonalInputKeepsItsAxes) {
    const Mat3 diagonal = Vec3(3, 1, 2).asDiagonal();
    const PrincipalFrame frame = principal_frame(diagonal);
    EXPECT_EQ(frame.axes, Mat3(Mat3::Identity()));
    EXPECT_EQ(frame.moments, Vec3(3, 1, 2));
    Mat3 noisy = 2.0 * Mat3::Identity();
    noisy(0, 1) = noisy(1, 0) =
        1e-16;  // equal moments and round-off: any axes would do, the given ones are best
    EXPECT_EQ(principal_frame(noisy).axes, Mat3(Mat3::Identity()));
}

TEST(PrincipalFrame, DiagonalisesAndIsRightHanded) {
    for (int seed = 0; seed < 20; ++seed) {
        const Mat3 rotation = Quat(1.0 + seed, 0.3 * seed, -1.0, 2.0).normalized().toRotationMatrix();
        const Vec3 moments(1.0, 1e-3 * (seed + 1), 5.0);
        const Mat3 second = rotation * moments.asDiagonal() * rotation.transpose();
        const PrincipalFrame frame = principal_frame(second);
        EXPECT_NEAR(frame.axes.determinant(), 1.0, 1e-14);
        EXPECT_NEAR((frame.axes.transpose() * frame.axes - Mat3::Identity()).norm(), 0.0, 1e-14);
        const Mat3 back = frame.axes * frame.moments.asDiagonal() * frame.axes.transpose();
        EXPECT_NEAR((back - second).norm(), 0.0, 1e-13);
    }
}

}  // namespace
}  // namespace tenon::geometry

// The rasteriser against casting a ray through every sample; the camera against its own promise.
#include "render/raster.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "render/camera.hpp"
#include "render/image.hpp"
#include "temporary_folder.hpp"
#include "tenon/error.hpp"

namespace tenon::render {
namespace {

// Distance along the ray (forward part one) to a triangle, or -1; in double, by solving the 3x3 system.
double ray_hit(const Vec3& eye, const Vec3& ray, const Vec3& a, const Vec3& b, const Vec3& c,
               double& edge_gap) {
    Mat3 system;
    system << b - a, c - a, -ray;
    const double determinant = system.determinant();
    if (std::abs(determinant) < 1e-14) return -1;
    const Vec3 uvt = system.inverse() * (eye - a);
    edge_gap = std::min({uvt.x(), uvt.y(), 1 - uvt.x() - uvt.y()});
    return edge_gap >= 0 && uvt.z() > 0 ? uvt.z() : -1;
}

TEST(Raster, EqualsCastingRays) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> unit(-1, 1);
    std::vector<Vec3f> vertices;
    std::vector<std::array<int, 3>> triangles;
    for (int i = 0; i < 60; ++i) {
        const Vec3f middle(2 * unit(random), 2 * unit(random), 2 * unit(random));
        for (int k = 0; k < 3; ++k)
            vertices.push_back(middle + Vec3f(unit(random), unit(random), unit(random)));
        triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
    }
    Camera camera;
    camera.eye = Vec3(1, 0.7, 3.0);  // among the triangles: some are cut by the near plane
    Projection view;
    view.axes = camera.axes().cast<float>();
    view.eye = camera.eye.cast<float>();
    view.width = 200;
    view.height = 150;
    view.scale = 180;
    view.near = 0.01f;
    // two batches: ids go on from one to the next
    const std::vector<Batch> batches = {
        {vertices.data(), triangles.data(), vertices.size(), 25, 0, false},
        {vertices.data(), triangles.data() + 25, vertices.size(), 35, 25, false}};
    const Visibility seen = rasterize(view, batches);

    int wrong = 0, covered = 0;
    for (int y = 0; y < view.height; ++y)
        for (int x = 0; x < view.width; ++x) {
            const Vec3 ray = view.ray(x + 0.5f, y + 0.5f).cast<double>();
            double best = 1e300, nearest_edge = 1;
            std::uint32_t id = nothing;
            for (std::size_t t = 0; t < triangles.size(); ++t) {
                double gap = -1;
                const double hit =
                    ray_hit(camera.eye, ray, vertices[3 * t].cast<double>(),
                            vertices[3 * t + 1].cast<double>(), vertices[3 * t + 2].cast<double>(), gap);
                nearest_edge = std::min(nearest_edge, std::abs(gap));
                if (hit > 0.01 && hit < best) {
                    best = hit;
                    id = static_cast<std::uint32_t>(t);
                }
            }
            covered += id != nothing;
            if (nearest_edge < 1e-3) continue;  // float rounding decides there
            const std::size_t index = seen.index(x, y);
            if (seen.id[index] != id)
                ++wrong;
            else if (id != nothing) {
                EXPECT_NEAR(1.0 / seen.depth[index], best, 1e-3 * best);
            }
        }
    EXPECT_GT(covered, 5000);
    EXPECT_LE(wrong, 3);  // two surfaces within rounding of each other
}

TEST(Raster, CullsOnlyBackFaces) {
    const std::vector<Vec3f> vertices = {{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}};
    const std::array<int, 3> front{0, 1, 2}, back{0, 2, 1};
    Camera camera;
    camera.eye = Vec3(0, 0, 3);
    Projection view;
    view.axes = camera.axes().cast<float>();
    view.eye = camera.eye.cast<float>();
    view.width = view.height = 32;
    view.scale = 40;
    EXPECT_EQ(rasterize(view, {{vertices.data(), &front, 3, 1, 0, true}}).id[16 * 32 + 16], 0u);
    EXPECT_EQ(rasterize(view, {{vertices.data(), &back, 3, 1, 0, true}}).id[16 * 32 + 16], nothing);
    EXPECT_EQ(rasterize(view, {{vertices.data(), &back, 3, 1, 0, false}}).id[16 * 32 + 16], 0u);
}

TEST(Camera, HoldsEveryPointWithItsMarginAndWastesNoRoom) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> unit(-1, 1);
    for (double aspect : {0.5, 1.0, 16.0 / 9.0})
        for (const Vec3& up : {Vec3(0, 1, 0), Vec3(0, 0, 1)}) {
            std::vector<Vec3> points;
            for (int i = 0; i < 50; ++i)
                points.emplace_back(5 * unit(random), unit(random), 2 * unit(random));
            CameraWish wish;
            const Camera camera = fit_camera(points, up, aspect, wish);
            const double half = std::tan(0.5 * camera.fov * M_PI / 180);
            const double half_x = half * std::max(aspect, 1.0), half_y = half * std::max(1 / aspect, 1.0);
            double widest = 0;
            for (const Vec3& point : points) {
                const Vec3 p = camera.axes() * (point - camera.eye);
                ASSERT_GT(p.z(), 0);
                widest =
                    std::max({widest, std::abs(p.x() / p.z()) / half_x, std::abs(p.y() / p.z()) / half_y});
            }
            EXPECT_NEAR(widest, 1 - 2 * wish.margin, 1e-9);
        }
}

TEST(Camera, KeepsTheScenesWishes) {
    CameraWish wish;
    wish.hints = {{"eye", {1, 2, 3}}, {"target", {0, 1, 0}}, {"fov", {50}}};
    const Camera camera = fit_camera({Vec3(0, 0, 0), Vec3(1, 1, 1)}, Vec3::UnitY(), 1.5, wish);
    EXPECT_EQ(camera.eye, Vec3(1, 2, 3));
    EXPECT_EQ(camera.target, Vec3(0, 1, 0));
    EXPECT_EQ(camera.fov, 50);
}

TEST(Image, PngRoundTrip) {
    Image image(37, 21);
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
            image.at(x, y) = {static_cast<std::uint8_t>(7 * x), static_cast<std::uint8_t>(11 * y),
                              static_cast<std::uint8_t>(x * y)};
    const test::TemporaryFolder folder;
    write_png(image, folder / "round-trip.png");
    const Image back = read_png(folder / "round-trip.png");
    EXPECT_EQ(back.width, image.width);
    EXPECT_EQ(back.pixels, image.pixels);
}

TEST(Image, UnwritableFileIsNamed) {
    try {
        write_png(Image(2, 2), "/proc/none/picture.png");
        FAIL() << "no error";
    } catch (const InputError& error) {
        EXPECT_EQ(error.file(), "/proc/none/picture.png");
        EXPECT_NE(error.problem().find("cannot be written"), std::string::npos);
    }
}

}  // namespace
}  // namespace tenon::render

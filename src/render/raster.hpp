// Which triangle is seen at each sample of a picture: a z-buffer in tiles, for perspective and parallel views.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "render/colors.hpp"

namespace tenon::render {

// Maps the world to samples. x and y count samples from the top left; the depth key grows towards the viewer and
// is linear over the picture (1/distance in perspective, minus distance in parallel views).
struct Projection {
    Eigen::Matrix3f axes;  // rows: right, up, forward
    Vec3f eye;
    int width = 0, height = 0;
    float scale = 1.0f;  // samples per unit at distance one (perspective), or per unit (parallel)
    bool parallel = false;
    float near = 1e-3f;  // nothing closer is drawn (perspective)

    Vec3f to_view(const Vec3f& point) const { return axes * (point - eye); }
    Vec3f view_to_sample(const Vec3f& view) const {  // x, y, depth key
        const float k = parallel ? scale : scale / view.z();
        return {0.5f * width + k * view.x(), 0.5f * height - k * view.y(),
                parallel ? -view.z() : 1.0f / view.z()};
    }
    // Direction through a sample, with forward part one (perspective).
    Vec3f ray(float x, float y) const {
        const Vec3f view((x - 0.5f * width) / scale, (0.5f * height - y) / scale, 1.0f);
        return axes.transpose() * view;
    }
};

// A piece of the scene: some triangles over vertices in world space.
struct Batch {
    const Vec3f* vertices = nullptr;
    const std::array<int, 3>* triangles = nullptr;
    std::size_t vertex_count = 0, triangle_count = 0;
    std::size_t first_id = 0;  // of its first triangle: ids are consecutive over batches
    bool cull_back = false;
};

constexpr std::uint32_t nothing = 0xffffffffu;

struct Visibility {
    int width = 0, height = 0;
    std::vector<float> depth;       // depth key; -1e30 where nothing is seen
    std::vector<std::uint32_t> id;  // triangle id or `nothing`

    std::size_t index(int x, int y) const { return static_cast<std::size_t>(y) * width + x; }
};

// Equal depth: the lower id wins, so the picture does not depend on threads.
Visibility rasterize(const Projection& projection, const std::vector<Batch>& batches);

}  // namespace tenon::render

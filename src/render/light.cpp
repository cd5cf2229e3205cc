#include "render/light.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

namespace tenon::render {
namespace {

constexpr int smallest_map = 256, largest_map = 2048;
constexpr int texels_per_pixel = 3;
constexpr int search_taps = 8;
constexpr int filter_taps = 12;
constexpr int occlusion_taps = 8;
constexpr float light_width = 0.14f;      // of the light, as seen from the ground: tangent of its half angle
constexpr float widest_penumbra = 0.05f;  // of the scene's radius

// Order in which a 4x4 block is visited, so that neighbours get very different turns.
constexpr int bayer[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};

// A power of two. A small picture shows no more of a large map, which would cost more than all the rest of it.
int map_size(int picture) {
    int size = smallest_map;
    while (size < largest_map && size < texels_per_pixel * picture) size *= 2;
    return size;
}

}  // namespace

TapPattern::TapPattern(int x, int y) {
    const float turn = 2 * static_cast<float>(M_PI) * static_cast<float>(bayer[y & 3][x & 3]) / 16.0f;
    cosine = std::cos(turn);
    sine = std::sin(turn);
}

Eigen::Vector2f TapPattern::disk(int tap, int taps) const {
    struct Table {
        std::array<Eigen::Vector2f, 16> direction;
        Table() {
            for (int k = 0; k < 16; ++k)
                direction[k] = {std::cos(2.39996323f * k), std::sin(2.39996323f * k)};
        }
    };
    static const Table table;
    const float r = std::sqrt((static_cast<float>(tap) + 0.5f) / static_cast<float>(taps));
    const Eigen::Vector2f& d = table.direction[tap];
    return {r * (cosine * d.x() - sine * d.y()), r * (sine * d.x() + cosine * d.y())};
}

ShadowMap::ShadowMap(const std::vector<Batch>& batches, const Vec3f& to_light, const Vec3f& focus,
                     float radius, int picture)
    : to_light_(to_light) {
    const Vec3f side = to_light.unitOrthogonal();
    view_.axes.row(0) = side.transpose();
    view_.axes.row(1) = to_light.cross(side).transpose() * -1.0f;
    view_.axes.row(2) = -to_light.transpose();
    view_.parallel = true;
    view_.eye = focus + 4 * radius * to_light;
    view_.width = view_.height = map_size(picture);
    view_.scale = static_cast<float>(view_.width) / (2.0f * radius);
    map_ = rasterize(view_, batches);
}

// Whether the map has something nearer to the light than `depth` there, and how far from the light's plane.
bool ShadowMap::blocker(float x, float y, float depth, float& found) const {
    const auto width = static_cast<float>(map_.width), height = static_cast<float>(map_.height);
    if (!(x >= 0 && y >= 0 && x < width && y < height)) return false;  // neither is what overflowed
    found = -map_.depth[map_.index(static_cast<int>(x), static_cast<int>(y))];
    return found < depth;
}

float ShadowMap::light_at(const Vec3f& point, const Vec3f& normal, const TapPattern& pattern) const {
    const float texel = 1.0f / view_.scale;
    const float slope = std::clamp(normal.dot(to_light_), 0.0f, 1.0f);
    const Vec3f lifted = point + texel * (1.5f + 2.0f * (1.0f - slope)) * normal;
    const Vec3f at = view_.view_to_sample(view_.to_view(lifted));
    const float depth = -at.z() - texel;
    const float widest = std::max(2.0f, widest_penumbra * 0.5f * static_cast<float>(view_.width));

    float sum = 0;
    int blockers = 0;
    for (int k = 0; k < search_taps; ++k) {
        const Eigen::Vector2f offset = widest * pattern.disk(k, search_taps);
        float found;
        if (!blocker(at.x() + offset.x(), at.y() + offset.y(), depth, found)) continue;
        sum += found;
        ++blockers;
    }
    if (blockers == 0) return 1.0f;
    const float gap = depth - sum / static_cast<float>(blockers);
    const float width = std::clamp(light_width * gap * view_.scale, 1.5f, widest);
    int lit = 0;
    for (int k = 0; k < filter_taps; ++k) {
        const Eigen::Vector2f offset = width * pattern.disk(k, filter_taps);
        float found;
        // a wide filter on a slanted face would shadow itself: allow for its slope
        lit +=
            !blocker(at.x() + offset.x(), at.y() + offset.y(), depth - 0.35f * offset.norm() * texel, found);
    }
    return static_cast<float>(lit) / static_cast<float>(filter_taps);
}

float ambient_occlusion(const Visibility& seen, const Projection& view, const Vec3f& point,
                        const Vec3f& normal, float radius, const TapPattern& pattern) {
    const Vec3f u = normal.unitOrthogonal(), w = normal.cross(u);
    const Vec3f origin = point + 0.02f * radius * normal;
    float occluded = 0;
    for (int k = 0; k < occlusion_taps; ++k) {
        // cosine-distributed directions, at distances that favour near occluders
        const Eigen::Vector2f d = pattern.disk(k, occlusion_taps);
        const float rise = std::sqrt(std::max(0.0f, 1.0f - d.squaredNorm()));
        const float part = (static_cast<float>((k * 5) % occlusion_taps) + 1.0f) / occlusion_taps;
        const Vec3f tap =
            view.to_view(origin + radius * part * part * (d.x() * u + d.y() * w + rise * normal));
        if (!(tap.z() >= view.near)) continue;  // neither is what overflowed
        const Vec3f at = view.view_to_sample(tap);
        if (!(at.x() >= 0 && at.y() >= 0 && at.x() < view.width && at.y() < view.height)) continue;
        const float key = seen.depth[seen.index(static_cast<int>(at.x()), static_cast<int>(at.y()))];
        if (key <= 0) continue;
        const float gap = tap.z() - 1.0f / key;  // positive: something is in front of the tap
        if (gap > 0.01f * radius) occluded += gap < radius ? 1.0f : radius / gap * radius / gap;
    }
    return 1.0f - occluded / occlusion_taps;
}

}  // namespace tenon::render

#include "render/colors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

namespace tenon::render {
namespace {

constexpr int few_bodies = 10;
constexpr std::array<std::array<double, 3>, 12> palette_srgb = {{
    {0.878, 0.478, 0.247},  // orange
    {0.263, 0.522, 0.741},  // blue
    {0.443, 0.659, 0.369},  // green
    {0.820, 0.337, 0.345},  // red
    {0.925, 0.725, 0.310},  // yellow
    {0.545, 0.455, 0.706},  // violet
    {0.325, 0.675, 0.663},  // teal
    {0.855, 0.545, 0.659},  // rose
    {0.627, 0.475, 0.365},  // brown
    {0.475, 0.580, 0.780},  // light blue
    {0.690, 0.733, 0.329},  // olive
    {0.576, 0.376, 0.506},  // plum
}};

// A repeatable number in [-1, 1] for a body.
float jitter(std::uint32_t seed) {
    seed ^= seed >> 16;
    seed *= 0x7feb352du;
    seed ^= seed >> 15;
    seed *= 0x846ca68bu;
    seed ^= seed >> 16;
    return static_cast<float>(seed & 0xffffu) / 32767.5f - 1.0f;
}

}  // namespace

Vec3f linear_from_srgb(const std::array<double, 3>& srgb) {
    Vec3f linear;
    for (int k = 0; k < 3; ++k) {
        const double s = std::clamp(srgb[k], 0.0, 1.0);
        linear[k] = static_cast<float>(s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4));
    }
    return linear;
}

float srgb_from_linear(float value) {
    const float v = std::clamp(value, 0.0f, 1.0f);
    return v <= 0.0031308f ? 12.92f * v : 1.055f * std::pow(v, 1.0f / 2.4f) - 0.055f;
}

Vec3f palette(int index) {
    const int count = static_cast<int>(palette_srgb.size());
    return linear_from_srgb(palette_srgb[((index % count) + count) % count]);
}

std::vector<Vec3f> choose_colors(const std::vector<ColorKey>& bodies) {
    const auto moving =
        std::count_if(bodies.begin(), bodies.end(), [](const ColorKey& b) { return b.moves; });
    const bool one_each = moving <= few_bodies;
    std::map<int, int> color_of_shape;
    int next = 0;
    std::vector<Vec3f> colors(bodies.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const ColorKey& body = bodies[i];
        if (body.given[0] >= 0) {
            colors[i] = linear_from_srgb(body.given);
        } else if (!body.moves) {
            colors[i] =
                body.scripted ? linear_from_srgb({0.62, 0.66, 0.72}) : linear_from_srgb({0.74, 0.73, 0.71});
        } else if (one_each) {
            colors[i] = palette(next++);
        } else {
            const auto [place, added] = color_of_shape.emplace(body.shape, next);
            next += added;
            colors[i] = palette(place->second) * (1.0f + 0.22f * jitter(static_cast<std::uint32_t>(i)));
            colors[i] = colors[i].cwiseMin(1.0f);
        }
    }
    return colors;
}

}  // namespace tenon::render

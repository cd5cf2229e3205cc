// Colours in linear light, the palette, and which body gets which.
#pragma once

#include <array>
#include <vector>

#include <Eigen/Core>

namespace tenon::render {

using Vec3f = Eigen::Vector3f;

Vec3f linear_from_srgb(const std::array<double, 3>& srgb);  // each 0..1
float srgb_from_linear(float value);                        // 0..1 to 0..1

// A dozen colours that stay apart from each other in print and on screens; cycles.
Vec3f palette(int index);

// What decides a colour that the scene does not give.
struct ColorKey {
    int shape = 0;
    bool moves = true;      // statics are muted
    bool scripted = false;  // kinematic bodies are cooler
    std::array<double, 3> given{-1, -1, -1};
};

// Few bodies: one palette colour each. Many: one per shape, each body a little lighter or darker.
std::vector<Vec3f> choose_colors(const std::vector<ColorKey>& bodies);

}  // namespace tenon::render

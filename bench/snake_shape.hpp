// How a long body on the floor lies there: turned as a whole, or bent.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tenon/types.hpp"

namespace tenon::bench {

struct SnakeShape {
    double turned = 0;  // degrees, of the straight line closest to its centre line
    double bent = 0;    // degrees between the directions of its first and its last third
    double pivot =
        0;  // the point of that line that stayed on the first one, from the middle, over the length
    double far_end = 0;  // how far the free end went sideways, over what the dragged one did
};

// Centre line: means of slices across x, along which the body lay at the start; its free end is that of larger x.
inline SnakeShape snake_shape(const std::vector<Vec3>& start, const std::vector<Vec3>& now) {
    constexpr int slices = 12;
    double lo = 1e300, hi = -1e300;
    for (const Vec3& x : start) lo = std::min(lo, x.x()), hi = std::max(hi, x.x());
    std::vector<Vec3> line(slices, Vec3::Zero()), from(slices, Vec3::Zero());
    std::vector<int> count(slices, 0);
    for (std::size_t i = 0; i < start.size(); ++i) {
        const int slice = std::min(slices - 1, static_cast<int>(slices * (start[i].x() - lo) / (hi - lo)));
        line[slice] += now[i], from[slice] += start[i];
        ++count[slice];
    }
    for (int k = slices - 1; k >= 0; --k) {
        if (count[k] == 0) {  // cells of the body longer than a slice
            line.erase(line.begin() + k), from.erase(from.begin() + k);
            continue;
        }
        line[k] /= count[k], from[k] /= count[k];
    }
    const int n = static_cast<int>(line.size());
    const auto angle = [&](int a, int b) {
        return std::atan2(line[b].z() - line[a].z(), line[b].x() - line[a].x()) * 180 / M_PI;
    };
    Vec3 middle = Vec3::Zero(), middle_from = Vec3::Zero();
    for (int k = 0; k < n; ++k) middle += line[k] / n, middle_from += from[k] / n;
    double xx = 0, xz = 0, zz = 0;
    for (const Vec3& p : line) {
        const double x = p.x() - middle.x(), z = p.z() - middle.z();
        xx += x * x, xz += x * z, zz += z * z;
    }
    const double turn = 0.5 * std::atan2(2 * xz, xx - zz);
    const auto sideways = [&](int k) { return line[k].z() - from[k].z(); };
    SnakeShape shape;
    shape.turned = turn * 180 / M_PI;
    shape.bent = angle(2 * (n - 1) / 3, n - 1) - angle(0, (n - 1) / 3);
    if (std::abs(turn) > 1e-6) shape.pivot = (middle_from.z() - middle.z()) / std::sin(turn) / (hi - lo);
    shape.far_end = sideways(n - 1) / sideways(0);
    return shape;
}

}  // namespace tenon::bench

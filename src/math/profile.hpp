// Tables of values over time.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace tenon {

// The value at a time: straight between the entries, constant before the first and after the last. At least one entry.
inline double profile_at(const std::vector<std::array<double, 2>>& profile, double time) {
    if (time <= profile.front()[0]) return profile.front()[1];
    for (std::size_t k = 1; k < profile.size(); ++k)
        if (time <= profile[k][0]) {
            const auto &a = profile[k - 1], &b = profile[k];
            return a[1] + (time - a[0]) / (b[0] - a[0]) * (b[1] - a[1]);
        }
    return profile.back()[1];
}

}  // namespace tenon

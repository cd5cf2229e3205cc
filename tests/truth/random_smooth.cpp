#include "truth/random_smooth.hpp"

#include <random>

#include <fmt/format.h>

#include "tenon/scene_io.hpp"

namespace tenon::test {

Scene random_smooth_scene(std::uint64_t seed) {
    std::mt19937_64 bits(seed * 7919 + 17);
    const auto number = [&](double lo, double hi) {
        return lo + (hi - lo) * static_cast<double>(bits() >> 11) * 0x1p-53;
    };
    const auto pick = [&](int count) { return static_cast<int>(bits() % static_cast<std::uint64_t>(count)); };
    const auto vector = [&](double size) {
        return fmt::format("[{}, {}, {}]", number(-size, size), number(-size, size), number(-size, size));
    };
    const int kind = pick(4);  // three of four are chains
    const std::string method = kind == 0 ? (pick(2) ? R"("type": "affine")" : R"("type": "impulse")")
                               : pick(4) ? R"("type": "articulated")"
                                         : R"("type": "articulated", "integrator": "euler")";
    const double steps_per_second[] = {100, 200, 400};
    std::string bodies, joints, forces;
    const int links = kind == 0 ? 1 : 1 + pick(3);
    double end = 0;
    for (int i = 0; i < links; ++i) {
        const double length = number(0.3, 1.0), thick = number(0.03, 0.1);
        bodies += fmt::format(
            R"({}{{"name": "l{}", "mass": {}, "shape": {{"type": "box", "size": [{}, {}, {}]}}, "position": [{}, 0, 0]{}}})",
            i ? ", " : "", i, number(0.5, 3), length, thick, number(0.03, 0.1), end + length / 2,
            kind == 0
                ? fmt::format(R"(, "linear_velocity": {}, "angular_velocity": {})", vector(2), vector(4))
                : "");
        if (kind > 0)
            joints += fmt::format(
                R"({}{{"name": "j{}", "type": "{}", "bodies": ["{}", "l{}"], "point": [{}, 0, 0], "axis": [0, {}, 1]{}}})",
                i ? ", " : "", i, pick(4) ? "hinge" : "ball", i ? fmt::format("l{}", i - 1) : "world", i, end,
                i == 0 ? number(-0.5, 0.5) : 0.0, "");
        end += length;
    }
    if (kind == 0 || pick(2))
        forces = fmt::format(R"({{"body": "l{}", "force": {}, "torque": {}}})", pick(links), vector(3),
                             vector(0.2));
    const std::string text = fmt::format(
        R"({{"seconds": 0.5, "gravity": [0, -9.81, 0], "method": {{{}, "dt": {}}}, "bodies": [{}], "joints": [{}], "forces": [{}]}})",
        method, 1 / steps_per_second[pick(3)], bodies, joints, forces);
    return parse_scene(text, fmt::format("smooth-{}.json", seed), "");
}

}  // namespace tenon::test

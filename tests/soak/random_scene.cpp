#include "soak/random_scene.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "tenon/method.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::soak {
namespace {

class Maker {
  public:
    Maker(std::uint64_t seed, const std::string& method, const Range& range)
        : random_(seed), method_(method), range_(range) {}

    Scene make() {
        const int bodies = static_cast<int>(std::lround(between_logs(2, std::max(2, range_.most_bodies))));
        size_ = between_logs(range_.smallest, range_.largest);
        // A body falls by a fraction of its size in a step: what any method should follow.
        dt_ = std::clamp(between(0.05, 0.25) * std::sqrt(size_ / 9.81), 1e-4, 0.05);
        std::string list = fmt::format(
            R"({{"name": "floor", "type": "static", "shape": {{"type": "box", "size": [{0}, {1}, {0}]}},
            "position": [0, {2}, 0]}})",
            60 * size_, size_, -size_ / 2);
        const int side = std::max(1, static_cast<int>(std::ceil(std::cbrt(bodies))));
        for (int i = 0; i < bodies; ++i) list += "," + body(i, side);
        const std::string joint_list = method_ == "articulated" ? joints(bodies, side) : "";
        return parse_scene(
            fmt::format(R"({{"tenon": 1, "name": "soak", "gravity": [0, -9.81, 0], "seconds": {}, "method":
            {{"type": "{}", "dt": {}}}, "bodies": [{}], "joints": [{}]}})",
                        range_.steps * dt_, method_, dt_, list, joint_list),
            "soak", ".");
    }

  private:
    double between(double lo, double hi) {
        return lo + (hi - lo) * (static_cast<double>(random_() >> 11) * 0x1p-53);
    }
    double between_logs(double lo, double hi) { return std::exp(between(std::log(lo), std::log(hi))); }
    int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }

    Vec3 place(int i, int side) const {
        const double cell = 2.6 * size_;
        return {cell * (i % side - 0.5 * (side - 1)), cell * (i / side % side + 0.6),
                cell * (i / side / side - 0.5 * (side - 1))};
    }

    std::string shape() {
        const double s = size_ * between_logs(0.1, 1.0);  // fits its cell however it is turned
        switch (below(7)) {
            case 0:
                return fmt::format(R"({{"type": "box", "size": [{}, {}, {}]}})", s, s * between(0.2, 1),
                                   s * between(0.2, 1));
            case 1:
                return fmt::format(R"({{"type": "sphere", "radius": {}}})", s / 2);
            case 2:
                return fmt::format(R"({{"type": "cylinder", "radius": {}, "length": {}}})", s / 3,
                                   s * between(0.3, 1));
            case 3:
                return fmt::format(R"({{"type": "capsule", "radius": {}, "length": {}}})", s / 5, s / 2);
            case 4:
                return fmt::format(R"({{"type": "cone", "radius": {}, "length": {}}})", s / 3, s * 0.8);
            case 5:
                return fmt::format(R"({{"type": "icosphere", "radius": {}, "subdivisions": 1}})", s / 2);
            default:
                return fmt::format(R"({{"type": "torus", "major": {}, "minor": {}}})", s / 3, s / 8);
        }
    }

    std::string body(int i, int side) {
        const Vec3 at = place(i, side);
        const double speed = std::min(range_.fastest, 0.5 * size_ / dt_) * std::pow(between(0, 1), 3);
        const Vec3 v = speed * Vec3(between(-1, 1), between(-1, 1), between(-1, 1)).normalized();
        const double spin = 0.3 / dt_ * std::pow(between(0, 1), 3);
        std::string text = fmt::format(
            R"({{"name": "b{}", "shape": {}, "position": [{}, {}, {}], "rotation_euler": [{}, {}, {}], "density": {},
            "friction": {}, "restitution": {})",
            i, shape(), at.x(), at.y(), at.z(), between(-180, 180), between(-180, 180), between(-180, 180),
            between_logs(range_.lightest, range_.heaviest), between(0, 2) * below(2),
            method_ == "affine" ? 0.0 : between(0, 1) * below(2));
        return text + fmt::format(R"(, "linear_velocity": [{}, {}, {}], "angular_velocity": [{}, {}, {}]}})",
                                  v.x(), v.y(), v.z(), spin * between(-1, 1), spin * between(-1, 1),
                                  spin * between(-1, 1));
    }

    // Neighbours along x, each at most once: chains of a few bodies.
    std::string joints(int bodies, int side) {
        static const char* const types[] = {"ball", "hinge", "prismatic", "fixed", "universal"};
        std::string list;
        for (int i = 0; i + 1 < bodies; ++i) {
            if ((i + 1) % side == 0 || below(3) != 0) continue;
            const Vec3 middle = 0.5 * (place(i, side) + place(i + 1, side));
            const char* type = types[below(5)];
            list += fmt::format(
                R"({}{{"name": "j{}", "type": "{}", "bodies": ["b{}", "b{}"], "point": [{}, {}, {}], "axis": [1, 0, 0])",
                list.empty() ? "" : ",", i, type, i, i + 1, middle.x(), middle.y(), middle.z());
            if (std::string_view(type) == "universal") list += R"(, "axis_b": [0, 1, 0])";
            list += "}";
        }
        return list;
    }

    std::mt19937_64 random_;
    const std::string& method_;
    const Range& range_;
    double size_ = 1.0, dt_ = 0.01;
};

}  // namespace

Scene random_scene(std::uint64_t seed, const std::string& method, const Range& range) {
    Scene scene = Maker(seed, method, range).make();
    const MethodInfo& info = find_method(method, {"", "method"});
    if (info.supports(scene)) scene.joints.clear();  // joints between bodies that it cannot express
    return scene;
}

}  // namespace tenon::soak

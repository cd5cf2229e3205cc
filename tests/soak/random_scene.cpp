#include "soak/random_scene.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include <fmt/format.h>

#include "tenon/method.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::soak {
namespace {

class Maker {
  public:
    Maker(std::uint64_t seed, const std::string& method, const Range& range)
        : random_(seed), more_(~seed), method_(method), range_(range) {}

    Scene make() {
        const int bodies = static_cast<int>(std::lround(between_logs(2, std::max(2, range_.most_bodies))));
        size_ = between_logs(range_.smallest, range_.largest);
        // A body falls by a fraction of its size in a step: what any method should follow. Methods that look
        // for overlaps once a step ask for steps of less than half a body's thickness: short ones, bodies of one size.
        const double part = once_a_step()         ? between(0.01, 0.02)
                            : method_ == "affine" ? between(0.05, 0.25)
                                                  : between(0.04, 0.12);
        dt_ = std::clamp(part * std::sqrt(size_ / 9.81), 1e-5, 0.05);
        side_ = std::max(1, static_cast<int>(std::ceil(std::cbrt(bodies))));
        const bool joined = method_ == "articulated" || (method_ == "affine" && more(4) == 0);
        const std::string joint_list = joined ? joints(bodies) : "";
        std::string list = fmt::format(
            R"({{"name": "floor", "type": "static", "shape": {{"type": "box", "size": [{0}, {1}, {0}]}},
            "position": [0, {2}, 0]}})",
            60 * size_, size_, -size_ / 2);
        std::string soft;
        soft_ = (method_ == "articulated" || method_ == "affine") && more(4) == 0;
        for (int i = 0; i < bodies; ++i)
            if (is_elastic(i))
                soft += (soft.empty() ? "" : ",") + elastic(i);
            else
                list += "," + body(i);
        return parse_scene(
            fmt::format(R"({{"tenon": 1, "name": "soak", "gravity": [0, -9.81, 0], "seconds": {}, "method":
            {{"type": "{}", "dt": {}}}, "materials": {{{}}}, "bodies": [{}], "joints": [{}], "elastic": [{}]}})",
                        range_.steps * dt_, method_, dt_, materials(), list, joint_list, soft),
            "soak", ".");
    }

  private:
    double between(double lo, double hi) {
        return lo + (hi - lo) * (static_cast<double>(random_() >> 11) * 0x1p-53);
    }
    double between_logs(double lo, double hi) { return std::exp(between(std::log(lo), std::log(hi))); }
    int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
    int more(int n) { return static_cast<int>(more_() % static_cast<std::uint64_t>(n)); }

    bool once_a_step() const { return method_ == "volume" || method_ == "adaptive"; }

    Vec3 place(int i) const {
        const double cell = (once_a_step() ? 1.8 : 2.6) * size_;
        return {cell * (i % side_ - 0.5 * (side_ - 1)), cell * (i / side_ % side_ + 0.6),
                cell * (i / side_ / side_ - 0.5 * (side_ - 1))};
    }

    std::string shape() {
        // Fits its cell however it is turned. Methods without continuous collision get none that a step could carry
        // farther than its own size.
        const double smallest = once_a_step() ? 0.6 : method_ == "affine" ? 0.1 : 0.4;
        const double s = size_ * between_logs(smallest, 1.0);
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

    // Velocities of a body; those of a chain go together, as joints allow it.
    std::string velocities(int i) {
        const double furthest = once_a_step()         ? 0.03
                                : method_ == "affine" ? 0.5
                                                      : 0.2;  // of the size, a step
        const double speed = std::min(range_.fastest, furthest * size_ / dt_) * std::pow(between(0, 1), 3);
        Vec3 v = speed * Vec3(between(-1, 1), between(-1, 1), between(-1, 1)).normalized();
        if (once_a_step()) v.y() -= 0.02 * size_ / dt_ * between(0, 1);  // to land within the run
        const double spin = 0.6 * furthest / dt_ * std::pow(between(0, 1), 3);
        Vec3 w = spin * Vec3(between(-1, 1), between(-1, 1), between(-1, 1));
        const bool alone = static_cast<std::size_t>(i) >= chain_.size() || chain_[i] < 0;
        if (!alone) {
            v = speed_of_chain_.try_emplace(chain_[i], v).first->second;
            w = Vec3::Zero();
        }
        return fmt::format(R"("linear_velocity": [{}, {}, {}], "angular_velocity": [{}, {}, {}])", v.x(),
                           v.y(), v.z(), w.x(), w.y(), w.z());
    }

    std::string pose(int i) {
        const Vec3 at = place(i);
        return fmt::format(R"("position": [{}, {}, {}], "rotation_euler": [{}, {}, {}])", at.x(), at.y(),
                           at.z(), between(-180, 180), between(-180, 180), between(-180, 180));
    }

    // One in twelve follows a script: up and down by a tenth of its size.
    std::string script(int i) {
        const Vec3 at = place(i);
        const double up = at.y() + 0.1 * size_ * between(-1, 1), half = 0.5 * range_.steps * dt_;
        return fmt::format(
            R"({{"name": "b{}", "type": "kinematic", "shape": {}, "motion": [{{"time": 0, "position": [{}, {}, {}]}},
            {{"time": {}, "position": [{}, {}, {}]}}]}})",
            i, shape(), at.x(), at.y(), at.z(), half, at.x(), up, at.z());
    }

    std::string body(int i) {
        const bool jointed = static_cast<std::size_t>(i) < chain_.size() && chain_[i] >= 0;
        if (!jointed && below(12) == 0) return script(i);
        std::string text = fmt::format(R"({{"name": "b{}", "shape": {}, {}, "density": {}, )", i, shape(),
                                       pose(i), between_logs(range_.lightest, range_.heaviest));
        const double friction = between(0, 2) * below(2);
        double restitution = method_ == "affine" ? 0.0 : between(0, 1) * below(2);
        if (soft_) restitution = 0.0;  // elastic bodies spring back by themselves
        text += fmt::format(R"("friction": {}, "restitution": {}, )", friction, restitution);
        const std::string moves = velocities(i);
        return text + (!jointed && more(16) == 0 ? R"("type": "static")" : moves) + "}";
    }

    // One in two joints with one coordinate is driven: limits, a spring or a motor, as strong as a body of middling density
    // is heavy.
    std::string drive(std::string_view type) {
        const bool slides = type == "prismatic";
        if (method_ != "articulated" || (type != "hinge" && !slides) || more(2) == 0) return "";
        const double reach = slides ? 0.2 * size_ : 0.5, weight = 1000 * 9.81 * size_ * size_ * size_,
                     load = slides ? weight : weight * size_;
        switch (more(3)) {
            case 0:
                return fmt::format(R"(, "limits": [{}, {}])", -reach, reach);
            case 1:
                return fmt::format(R"(, "spring": {{"stiffness": {}, "damping": {}}})", load / reach,
                                   load / reach * dt_);
            default:
                return fmt::format(R"(, "motor": {{"type": "velocity", "target": {}, "max": {}}})",
                                   0.2 * reach / (range_.steps * dt_), load);
        }
    }

    bool is_elastic(int i) {
        if (method_ == "adaptive") return below(2) == 0;
        if (method_ == "volume") return below(3) == 0;
        const bool jointed = static_cast<std::size_t>(i) < chain_.size() && chain_[i] >= 0;
        return soft_ && !jointed && more(3) == 0;
    }

    // As stiff as it takes to bear a few thousand times its own height: squashed by a part in a thousand at rest.
    std::string materials() {
        const double density = std::min(2000.0, range_.heaviest);
        const double young = density * 9.81 * size_ * between_logs(300, 3000);
        return fmt::format(R"("soft": {{"density": {}, "young": {}, "poisson": {}, "friction": {}}})",
                           density, young, between(0.1, 0.4), between(0, 1) * below(2));
    }

    std::string elastic(int i) {
        const double s = size_ * between(0.4, 1.0);
        const std::string kind =
            below(2) == 0 ? fmt::format(R"({{"type": "box", "size": [{}, {}, {}]}})", s, s * between(0.5, 1),
                                        s * between(0.5, 1))
                          : fmt::format(R"({{"type": "icosphere", "radius": {}, "subdivisions": 1}})", s / 2);
        const double speed = 0.03 * size_ / dt_ * std::pow(between(0, 1), 3);
        Vec3 v = speed * Vec3(between(-1, 1), between(-1, 1), between(-1, 1));
        v.y() -= 0.02 * size_ / dt_ * between(0, 1);
        return fmt::format(
            R"({{"name": "e{}", "shape": {}, {}, "cell_size": {}, "material": "soft", "linear_velocity": [{}, {}, {}]}})",
            i, kind, pose(i), s / 2, v.x(), v.y(), v.z());
    }

    // Neighbours along x, each at most once: chains of a few bodies.
    std::string joints(int bodies) {
        static const char* const types[] = {"ball", "hinge", "prismatic", "fixed", "universal"};
        std::string list;
        chain_.assign(static_cast<std::size_t>(bodies), -1);
        for (int i = 0; i + 1 < bodies; ++i) {
            if ((i + 1) % side_ == 0 || below(3) != 0) continue;
            const Vec3 middle = 0.5 * (place(i) + place(i + 1));
            const char* type = types[below(5)];
            if (chain_[i] < 0) chain_[i] = i;
            chain_[i + 1] = chain_[i];
            list += fmt::format(
                R"({}{{"name": "j{}", "type": "{}", "bodies": ["b{}", "b{}"], "point": [{}, {}, {}], "axis": [1, 0, 0])",
                list.empty() ? "" : ",", i, type, i, i + 1, middle.x(), middle.y(), middle.z());
            if (std::string_view(type) == "universal") list += R"(, "axis_b": [0, 1, 0])";
            list += drive(type) + "}";
        }
        return list;
    }

    std::mt19937_64 random_;
    std::mt19937_64 more_;  // of its own, so that what it decides leaves the rest of a scene as it is
    const std::string& method_;
    const Range& range_;
    double size_ = 1.0, dt_ = 0.01;
    int side_ = 1;
    bool soft_ = false;       // some bodies are elastic, of a method that need not have such
    std::vector<int> chain_;  // of each body, by its first one; -1: alone
    std::map<int, Vec3> speed_of_chain_;
};

}  // namespace

Scene random_scene(std::uint64_t seed, const std::string& method, const Range& range) {
    Scene scene = Maker(seed, method, range).make();
    const MethodInfo& info = find_method(method, {"", "method"});
    if (info.supports(scene)) scene.joints.clear();  // joints between bodies that it cannot express
    return scene;
}

}  // namespace tenon::soak

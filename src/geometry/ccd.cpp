#include "geometry/ccd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/distance.hpp"

namespace tenon::geometry {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double stop_ratio = 1.05;  // of the target gap, at which advancing ends

// Vertices 0..First-1 against First..Count-1. Positions and velocities are relative to the last vertex, which removes
// common translation from both before any rounding can grow with it.
template <int First, int Count>
struct Motion {
    std::array<Vec3, Count> position, velocity;
    double speed = 0.0;     // l, the fastest vertex difference
    double rounding = 0.0;  // error of a computed distance
    bool finite = true;

    Motion(const std::array<Vec3, Count>& start, const std::array<Vec3, Count>& end) {
        const Vec3 base_velocity = end[Count - 1] - start[Count - 1];
        double extent = 0.0;
        for (int i = 0; i < Count; ++i) {
            position[i] = start[i] - start[Count - 1];
            velocity[i] = (end[i] - start[i]) - base_velocity;
            extent = std::max({extent, position[i].squaredNorm(), (position[i] + velocity[i]).squaredNorm()});
        }
        double fastest = 0.0, sum = 0.0;
        for (int i = 0; i < First; ++i) {
            for (int j = First; j < Count; ++j) {
                const double squared = (velocity[i] - velocity[j]).squaredNorm();
                fastest = std::max(fastest, squared);
                sum += squared;
            }
        }
        finite = sum < infinity;  // false for NaN too, which max would have dropped
        speed = std::sqrt(fastest) * (1.0 + 1e-15);
        rounding = 32.0 * std::numeric_limits<double>::epsilon() * std::sqrt(extent);
    }

    std::array<Vec3, Count> at(double t) const {
        std::array<Vec3, Count> x;
        for (int i = 0; i < Count; ++i) x[i] = position[i] + t * velocity[i];
        return x;
    }

    // How long the slab along n stays thicker than `target`.
    double support_step(const std::array<Vec3, Count>& x, const Vec3& n, double target) const {
        std::array<double, Count> height, rate;
        for (int i = 0; i < Count; ++i) {
            height[i] = n.dot(x[i]);
            rate[i] = n.dot(velocity[i]);
        }
        double step = infinity;
        for (int i = 0; i < First; ++i) {
            for (int j = First; j < Count; ++j) {
                const double slack = height[i] - height[j] - target, closing = rate[j] - rate[i];
                if (closing > 0.0) {
                    if (slack < step * closing) step = slack / closing;
                } else if (slack < 0.0) {
                    return 0.0;
                }
            }
        }
        return step;
    }
};

template <int First, int Count, class Distance>
double advance(const std::array<Vec3, Count>& start, const std::array<Vec3, Count>& end,
               const CcdOptions& options, const Distance& distance) {
    const Motion<First, Count> motion(start, end);
    std::array<Vec3, Count> x = motion.position;
    Closest closest = distance(x);
    double d = std::sqrt(closest.squared);
    const double gap = d - options.min_separation - motion.rounding;
    // Written so that NaN counts as not clear.
    if (!(gap > 0.0) || !motion.finite) return 0.0;
    const double target = options.min_separation + motion.rounding + options.keep * gap;

    double t = 0.0;
    for (int iteration = 0; iteration < options.max_iterations; ++iteration) {
        const double slack = d - target;
        if (slack <= (stop_ratio - 1.0) * options.keep * gap && iteration > 0) {
            // Close enough, unless the rest of the way is known to be free.
            if (motion.support_step(x, closest.difference / d, target) >= options.t_max - t)
                return options.t_max;
            return t;
        }
        if (slack >= (options.t_max - t) * motion.speed) return options.t_max;
        const double step =
            std::max(slack / motion.speed, motion.support_step(x, closest.difference / d, target));
        if (step >= options.t_max - t) return options.t_max;
        if (!(t + step > t)) return t;
        t += step;
        x = motion.at(t);
        closest = distance(x);
        d = std::sqrt(closest.squared);
    }
    return t;
}

}  // namespace

double ccd_point_point(const std::array<Vec3, 2>& start, const std::array<Vec3, 2>& end,
                       const CcdOptions& options) {
    return advance<1, 2>(start, end, options,
                         [](const std::array<Vec3, 2>& x) { return closest_point_point(x[0], x[1]); });
}

double ccd_point_edge(const std::array<Vec3, 3>& start, const std::array<Vec3, 3>& end,
                      const CcdOptions& options) {
    return advance<1, 3>(start, end, options,
                         [](const std::array<Vec3, 3>& x) { return closest_point_edge(x[0], x[1], x[2]); });
}

double ccd_point_triangle(const std::array<Vec3, 4>& start, const std::array<Vec3, 4>& end,
                          const CcdOptions& options) {
    return advance<1, 4>(start, end, options, [](const std::array<Vec3, 4>& x) {
        return closest_point_triangle(x[0], x[1], x[2], x[3]);
    });
}

double ccd_edge_edge(const std::array<Vec3, 4>& start, const std::array<Vec3, 4>& end,
                     const CcdOptions& options) {
    return advance<2, 4>(start, end, options, [](const std::array<Vec3, 4>& x) {
        return closest_edge_edge(x[0], x[1], x[2], x[3]);
    });
}

}  // namespace tenon::geometry

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

    // Rate at which the current closest points separate.
    double separation_rate(const Closest& closest, const Vec3& n) const {
        double rate = 0.0;
        for (int i = 0; i < Count; ++i) rate += closest.weight[i] * n.dot(velocity[i]);
        return rate;
    }

    // Whether the distance stays above `target` all the way from x to y, seen along a direction that turns from n to m.
    // The turning direction is never longer than 1, and the thickness along it is quadratic in time for each pair
    // of vertices: its Bernstein coefficients bound it from below.
    bool clear_between(const std::array<Vec3, Count>& x, const Vec3& n, const std::array<Vec3, Count>& y,
                       const Vec3& m, double target) const {
        std::array<double, Count> nx, ny, mx, my;
        for (int i = 0; i < Count; ++i) {
            nx[i] = n.dot(x[i]);
            ny[i] = n.dot(y[i]);
            mx[i] = m.dot(x[i]);
            my[i] = m.dot(y[i]);
        }
        for (int i = 0; i < First; ++i) {
            for (int j = First; j < Count; ++j) {
                const double middle = 0.5 * ((ny[i] - ny[j]) + (mx[i] - mx[j]));
                if (!(nx[i] - nx[j] >= target && middle >= target && my[i] - my[j] >= target)) return false;
            }
        }
        return true;
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
    const double kept =
        std::max(std::min(options.keep * gap, options.keep_at_most), std::min(options.keep_at_least, gap));
    const double target = options.min_separation + motion.rounding + kept;

    double t = 0.0, trust = 8.0;  // how many safe steps to try at once
    for (int iteration = 0; iteration < options.max_iterations; ++iteration) {
        const double slack = d - target, rest = options.t_max - t;
        const Vec3 n = closest.difference / d;
        const double support = motion.support_step(x, n, target);
        // Close enough, unless the rest of the way is known to be free.
        if (slack <= (stop_ratio - 1.0) * kept && iteration > 0) return support >= rest ? options.t_max : t;
        if (slack >= rest * motion.speed) return options.t_max;
        double step = std::max(slack / motion.speed, support);
        if (step >= rest) return options.t_max;
        if (!(t + step > t)) return t;

        // Further, to where the closest points would meet the target, if the way there can be proven clear.
        const double rate = motion.separation_rate(closest, n);
        const double reach = std::min({rest, trust * step, rate < 0.0 ? -0.98 * slack / rate : infinity});
        if (reach > 1.5 * step) {
            const std::array<Vec3, Count> y = motion.at(t + reach);
            const Closest there = distance(y);
            const double distance_there = std::sqrt(there.squared);
            if (distance_there > target &&
                motion.clear_between(x, n, y, there.difference / distance_there, target)) {
                if (reach >= rest) return options.t_max;
                t += reach;
                x = y;
                closest = there;
                d = distance_there;
                trust *= 4.0;
                continue;
            }
            trust = std::max(1.0, 0.5 * trust);
        }
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

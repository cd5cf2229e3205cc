#include "methods/impulse/sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/parallel.hpp"

namespace tenon::impulse {
namespace {

// Applies P to b and -P to a. What does not move is not written: threads may share it.
inline void apply(const Row& r, const Vec3& P, Twist* twist, const InverseMass* mass) {
    const InverseMass &ma = mass[r.a], &mb = mass[r.b];
    if (ma.movable) {
        twist[r.a].v -= ma.linear(P);
        twist[r.a].w -= ma.angular(r.ra.cross(P));
    }
    if (mb.movable) {
        twist[r.b].v += mb.linear(P);
        twist[r.b].w += mb.angular(r.rb.cross(P));
    }
}

inline Vec3 relative(const Row& r, const Twist* twist) {
    return twist[r.b].v + twist[r.b].w.cross(r.rb) - twist[r.a].v - twist[r.a].w.cross(r.ra);
}

// One contact: normal first, then friction with the new limit (Eqs. 17-19 with both bodies' masses). Returns the
// largest error of its velocity that it found.
template <bool pyramid>
inline double relax(Row& r, Twist* twist, const InverseMass* mass) {
    const Vec3 dv = relative(r, twist);
    const double vn = r.n.dot(dv) - r.target;
    double v1 = r.t1.dot(dv), v2 = r.t2.dot(dv);
    const double pn = std::max(0.0, r.p[0] - vn * r.inverse_kn), dn = pn - r.p[0];
    v1 += r.k1n * dn;
    v2 += r.k2n * dn;
    double p1 = r.p[1] - (r.i11 * v1 + r.i12 * v2), p2 = r.p[2] - (r.i12 * v1 + r.i22 * v2);
    const double limit = r.mu * pn;
    bool sliding = false;
    if constexpr (pyramid) {
        const double q1 = std::clamp(p1, -limit, limit), q2 = std::clamp(p2, -limit, limit);
        sliding = q1 != p1 || q2 != p2;
        p1 = q1;
        p2 = q2;
    } else {
        const double length2 = p1 * p1 + p2 * p2;
        if (length2 > limit * limit) {
            sliding = true;
            const double shrink = limit / std::sqrt(length2);
            p1 *= shrink;
            p2 *= shrink;
        }
    }
    const double d1 = p1 - r.p[1], d2 = p2 - r.p[2];
    if (dn == 0 && d1 == 0 && d2 == 0) return 0;
    r.p = Vec3(pn, p1, p2);
    apply(r, dn * r.n + d1 * r.t1 + d2 * r.t2, twist, mass);
    const double normal_error = std::abs(dn) / r.inverse_kn;
    // a sliding contact's impulse follows its normal; its own error is what friction failed to balance
    const double slip_error = sliding ? (std::abs(d1) + std::abs(d2)) / r.inverse_kn : std::hypot(v1, v2);
    return std::max(normal_error, slip_error);
}

}  // namespace

// Runs the kernel on every row, phase by phase. Returns the largest value met.
template <class Kernel>
double Sweeper::sweep(const std::vector<std::vector<Range>>& phases, bool backward, const Kernel& kernel) {
    double worst = 0;
    std::vector<double> found;
    for (std::size_t k = 0; k < phases.size(); ++k) {
        const std::vector<Range>& ranges = phases[backward ? phases.size() - 1 - k : k];
        found.assign(ranges.size(), 0.0);
        parallel_for(ranges.size(), 1, [&](std::size_t i) {
            const Range range = ranges[i];
            double largest = 0;
            if (backward)
                for (int row = range.end - 1; row >= range.begin; --row)
                    largest = std::max(largest, kernel(row));
            else
                for (int row = range.begin; row < range.end; ++row) largest = std::max(largest, kernel(row));
            found[i] = largest;
        });
        for (double value : found) worst = std::max(worst, value);
    }
    return worst;
}

// Steps from what is fixed, by breadth-first search over contacts; bodies that float start at 1.
void Sweeper::find_levels(const ContactProblem& problem) {
    const int bodies = static_cast<int>(problem.twist.size());
    adjacency_start_.assign(bodies + 1, 0);
    for (const ContactPoint& c : problem.contacts) {
        ++adjacency_start_[c.a + 1];
        ++adjacency_start_[c.b + 1];
    }
    std::partial_sum(adjacency_start_.begin(), adjacency_start_.end(), adjacency_start_.begin());
    adjacency_.resize(2 * problem.contacts.size());
    std::vector<int>& fill = queue_;
    fill.assign(adjacency_start_.begin(), adjacency_start_.end() - 1);
    for (const ContactPoint& c : problem.contacts) {
        adjacency_[fill[c.a]++] = c.b;
        adjacency_[fill[c.b]++] = c.a;
    }
    level_.assign(bodies, -1);
    queue_.clear();
    auto spread = [&] {
        for (std::size_t head = 0; head < queue_.size(); ++head) {
            const int body = queue_[head];
            for (int k = adjacency_start_[body]; k < adjacency_start_[body + 1]; ++k) {
                const int other = adjacency_[k];
                if (level_[other] >= 0 || !problem.mass[other].movable) continue;
                level_[other] = level_[body] + 1;
                queue_.push_back(other);
            }
        }
        queue_.clear();
    };
    for (int i = 0; i < bodies; ++i)
        if (!problem.mass[i].movable) {
            level_[i] = 0;
            if (adjacency_start_[i + 1] > adjacency_start_[i]) queue_.push_back(i);
        }
    spread();
    for (int i = 0; i < bodies; ++i)
        if (level_[i] < 0 && adjacency_start_[i + 1] > adjacency_start_[i]) {
            level_[i] = 1;
            queue_.push_back(i);
            spread();
        }
}

// Contacts sorted by level; for many contacts, cut into stripes across a horizontal axis: stripes touch only
// their neighbours, so interiors run side by side, then even, then odd borders. The plan depends on the
// bodies alone, never on the number of threads.
void Sweeper::plan(const ContactProblem& problem, const std::vector<Vec3>& centers,
                   const std::vector<char>& settled) {
    const int count = static_cast<int>(problem.contacts.size());
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0);
    phases_.assign(1, {{0, count}});
    active_rows_ = count;
    all_phases_ = phases_;
    if (!settings_.graph_order) return;
    find_levels(problem);
    auto is_settled = [&](const ContactPoint& c) {
        return !settled.empty() && (settled[c.a] || settled[c.b]);
    };
    auto level = [&](int contact) {
        const ContactPoint& c = problem.contacts[contact];
        return std::min(level_[c.a], level_[c.b]);
    };
    constexpr int stripe_contacts = 1500;
    const int stripes = std::clamp(count / stripe_contacts, 1, 16);
    const int rest = 3 * stripes,
              done = rest + 1;  // slots: interiors, even borders, odd borders, rest, settled
    std::vector<int> slot(count, 0);
    std::vector<double> borders;
    int axis = 0;
    if (stripes > 1) {
        Box3 box;
        for (std::size_t i = 0; i < centers.size(); ++i)
            if (problem.mass[i].movable) box.add(centers[i]);
        const Vec3 level_extent = box.size() - 2 * box.size().cwiseProduct(settings_.up.cwiseAbs());
        level_extent.maxCoeff(&axis);
        std::vector<double> places;
        for (std::size_t i = 0; i < centers.size(); ++i)
            if (problem.mass[i].movable && adjacency_start_[i + 1] > adjacency_start_[i])
                places.push_back(centers[i][axis]);
        std::sort(places.begin(), places.end());
        for (int s = 1; s < stripes; ++s) borders.push_back(places[places.size() * s / stripes]);
    }
    auto stripe = [&](int body) {
        return static_cast<int>(std::upper_bound(borders.begin(), borders.end(), centers[body][axis]) -
                                borders.begin());
    };
    for (int k = 0; k < count; ++k) {
        const ContactPoint& c = problem.contacts[k];
        if (is_settled(c)) {
            slot[k] = done;
            continue;
        }
        const bool ma = problem.mass[c.a].movable, mb = problem.mass[c.b].movable;
        const int sa = stripe(ma ? c.a : c.b), sb = stripe(mb ? c.b : c.a);
        const int low = std::min(sa, sb), gap = std::abs(sa - sb);
        slot[k] = gap == 0 ? low : gap == 1 ? stripes + (low % 2) * stripes + low : rest;
    }
    std::stable_sort(order_.begin(), order_.end(), [&](int x, int y) {
        if (slot[x] != slot[y]) return slot[x] < slot[y];
        return level(x) < level(y);
    });
    phases_.assign(4, {});
    std::vector<Range> settled_rows;
    for (int begin = 0; begin < count;) {
        const int s = slot[order_[begin]];
        int end = begin;
        while (end < count && slot[order_[end]] == s) ++end;
        (s == done ? settled_rows : phases_[s == rest ? 3 : s / stripes]).push_back({begin, end});
        if (s == done) active_rows_ = begin;
        begin = end;
    }
    std::erase_if(phases_, [](const auto& ranges) { return ranges.empty(); });
    all_phases_ = phases_;
    if (!settled_rows.empty()) all_phases_.push_back(settled_rows);
}

void Sweeper::prepare(const ContactProblem& problem, const std::vector<Vec3>& centers,
                      const SweepSettings& settings, const std::vector<char>& settled) {
    settings_ = settings;
    plan(problem, centers, settled);
    make_rows(problem);
}

void Sweeper::make_rows(const ContactProblem& problem) {
    rows_.resize(problem.contacts.size());
    parallel_for(rows_.size(), 512, [&](std::size_t i) {
        const ContactPoint& c = problem.contacts[order_[i]];
        Row& r = rows_[i];
        r.a = c.a;
        r.b = c.b;
        r.mu = c.friction;
        r.target = c.target;
        r.n = c.normal;
        r.t1 = c.tangent1;
        r.t2 = c.tangent2;
        r.ra = c.ra;
        r.rb = c.rb;
        const Mat3 K = contact_response(c, problem.mass[c.a], problem.mass[c.b]);
        r.inverse_kn = 1.0 / K(0, 0);
        r.k1n = K(1, 0);
        r.k2n = K(2, 0);
        const double det = K(1, 1) * K(2, 2) - K(1, 2) * K(1, 2);
        r.i11 = K(2, 2) / det;
        r.i12 = -K(1, 2) / det;
        r.i22 = K(1, 1) / det;
        r.p = c.impulse;
    });
}

SolveReport Sweeper::solve(ContactProblem& problem) {
    SolveReport report;
    const SweepSettings& settings = settings_;
    if (active_rows_ == 0) return report;
    Twist* twist = problem.twist.data();
    const InverseMass* mass = problem.mass.data();
    sweep(phases_, false, [&](int i) {
        const Row& r = rows_[i];
        if (r.p != Vec3::Zero()) apply(r, r.p[0] * r.n + r.p[1] * r.t1 + r.p[2] * r.t2, twist, mass);
        return 0.0;
    });
    const std::size_t rows = active_rows_, bodies = problem.twist.size();
    if (settings.accelerate) {
        last_p_.resize(rows);
        step_p_.assign(rows, Vec3::Zero());
        last_v_.resize(bodies);
        step_v_.assign(bodies, Twist{});
    }
    double previous_norm = 0;
    report.converged = false;
    while (report.sweeps < settings.max_sweeps) {
        if (settings.accelerate) {
            parallel_for(rows, 2048, [&](std::size_t i) { last_p_[i] = rows_[i].p; });
            last_v_ = problem.twist;
        }
        const bool backward = settings.graph_order && report.sweeps % 2 == 1;
        report.residual =
            settings.pyramid
                ? sweep(phases_, backward, [&](int i) { return relax<true>(rows_[i], twist, mass); })
                : sweep(phases_, backward, [&](int i) { return relax<false>(rows_[i], twist, mass); });
        ++report.sweeps;
        if (report.residual <= settings.tolerance) {
            report.converged = true;
            break;
        }
        if (!settings.accelerate || report.sweeps == settings.max_sweeps) continue;
        // The change of one sweep is minus a gradient: add a multiple of the previous direction (Fletcher-Reeves),
        // and start over where the change grew.
        const double norm = parallel_sum(rows, 2048, 0.0, [&](std::size_t i) {
            return (rows_[i].p - last_p_[i]).squaredNorm() / rows_[i].inverse_kn;
        });
        const double beta = previous_norm > 0 ? norm / previous_norm : 0.0;
        previous_norm = norm;
        const bool restart = beta > 1.0 || beta == 0.0;
        parallel_for(rows, 2048, [&](std::size_t i) {
            const Vec3 change = rows_[i].p - last_p_[i];
            if (restart) {
                step_p_[i] = change;
                return;
            }
            rows_[i].p += beta * step_p_[i];
            step_p_[i] = change + beta * step_p_[i];
        });
        parallel_for(bodies, 2048, [&](std::size_t i) {
            const Vec3 dv = twist[i].v - last_v_[i].v, dw = twist[i].w - last_v_[i].w;
            if (!restart) {
                twist[i].v += beta * step_v_[i].v;
                twist[i].w += beta * step_v_[i].w;
            }
            step_v_[i].v = dv + (restart ? 0.0 : beta) * step_v_[i].v;
            step_v_[i].w = dw + (restart ? 0.0 : beta) * step_v_[i].w;
        });
    }
    for (std::size_t i = 0; i < rows; ++i) problem.contacts[order_[i]].impulse = rows_[i].p;
    return report;
}

void Sweeper::bounce(ContactProblem& problem, int sweeps) {
    bool any = false;
    for (int i = 0; i < active_rows_; ++i) {
        const ContactPoint& c = problem.contacts[order_[i]];
        if (c.bounce <= 0 || rows_[i].p[0] <= 0) continue;
        rows_[i].target = std::max(rows_[i].target, c.bounce);
        any = true;
    }
    if (!any) return;
    Twist* twist = problem.twist.data();
    const InverseMass* mass = problem.mass.data();
    for (int s = 0; s < sweeps; ++s)
        sweep(phases_, s % 2 == 1, [&](int i) { return relax<false>(rows_[i], twist, mass); });
    for (int i = 0; i < active_rows_; ++i) problem.contacts[order_[i]].impulse = rows_[i].p;
}

bool Sweeper::correct(const ContactProblem& problem, double slop, double rate, double max_speed, int sweeps,
                      std::vector<Twist>& pseudo) {
    pseudo_target_.resize(rows_.size());
    bool any = false;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const ContactPoint& c = problem.contacts[order_[i]];
        // where the velocities will have taken the gap by the end of the step
        const double gap = c.distance + problem.dt * c.normal.dot(problem.relative_velocity(c));
        const double excess = -gap - slop;
        pseudo_target_[i] =
            excess > 0 ? std::min(rate * excess / problem.dt, max_speed) : excess / problem.dt;
        any = any || excess > 0;
    }
    if (!any) return false;
    pseudo.assign(problem.twist.size(), Twist{});
    pseudo_impulse_.assign(rows_.size(), 0.0);
    Twist* twist = pseudo.data();
    const InverseMass* mass = problem.mass.data();
    for (int s = 0; s < sweeps; ++s)
        sweep(all_phases_, s % 2 == 1, [&](int i) {
            const Row& r = rows_[i];
            const double vn = r.n.dot(relative(r, twist)) - pseudo_target_[i];
            const double next = std::max(0.0, pseudo_impulse_[i] - vn * r.inverse_kn);
            const double change = next - pseudo_impulse_[i];
            if (change == 0) return 0.0;
            pseudo_impulse_[i] = next;
            apply(r, change * r.n, twist, mass);
            return 0.0;
        });
    return true;
}

}  // namespace tenon::impulse

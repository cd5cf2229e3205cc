#include "methods/impulse/decomposition.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "math/parallel.hpp"

namespace tenon::impulse {
namespace {

constexpr int max_rounds = 12;  // of normal impulses and friction answering each other
// Sweeps of friction in a round: normal impulses answer before friction has settled at limits that will change again.
constexpr int max_sweeps = 3;
// Changes of the twist, relative to the contact impulse, that end the rounds and the sweeps of friction in a round.
constexpr double coupled = 1e-5, settled = 1e-5;

// When every contact can hold still, they do: if one twist stops all slip and separation at once, and impulses
// inside the cones produce it, it is the one that dissipates most. Round-off apart this is exact, however many
// contacts share the work.
bool try_to_stick(BodyBlock& block, const Vec6& before) {
    Mat6 normal_matrix = Mat6::Zero();
    Vec6 rhs = Vec6::Zero();
    for (const BlockContact& c : block.contacts) {
        if (c.target < 0) return false;  // not touching yet
        Eigen::Matrix<double, 3, 6> J;
        J << Mat3::Identity(), Mat3::Zero();
        J(0, 4) = c.r.z();
        J(0, 5) = -c.r.y();
        J(1, 3) = -c.r.z();
        J(1, 5) = c.r.x();
        J(2, 3) = c.r.y();
        J(2, 4) = -c.r.x();
        normal_matrix += J.transpose() * J;
        rhs += J.transpose() * c.other;
    }
    const Eigen::LDLT<Mat6> ldlt(normal_matrix);
    const Vec6 d = ldlt.vectorD();
    if (!(d.minCoeff() > 1e-9 * d.maxCoeff())) return false;  // too few points to hold the body
    const Vec6 still = rhs.isZero(0) ? Vec6(Vec6::Zero()) : Vec6(ldlt.solve(rhs));
    const double scale = 1e-10 * (1 + still.cwiseAbs().maxCoeff());
    for (const BlockContact& c : block.contacts)
        if ((still.head<3>() + still.tail<3>().cross(c.r) - c.other).norm() > scale) return false;
    for (int k = 0; k < 6; ++k)
        if (block.S(k, k) == 0) return false;  // held axes: leave them to the general way
    const Vec6 z = block.S.triangularView<Eigen::Lower>().solve(still - before);
    block.columns.clear();
    block.mu.clear();
    for (const BlockContact& c : block.contacts) {
        block.columns.push_back(c.n);
        block.columns.push_back(c.t1);
        block.columns.push_back(c.t2);
        block.mu.push_back(c.friction);
    }
    if (!solve::smoothest_in_cones(block.columns, block.mu, z, block.x)) return false;
    for (std::size_t k = 0; k < block.contacts.size(); ++k) {
        BlockContact& c = block.contacts[k];
        c.alpha = block.x[3 * k];
        c.tangential = block.x[3 * k + 1] * c.tangent1 + block.x[3 * k + 2] * c.tangent2;
    }
    block.phi = still;
    return true;
}

// Frictional impulses (Eqs. 14-20), contacts in turn with the updated twist: each opposes what slip the others
// left, within mu alpha, so their sum never turns sliding around. `z`: the change of the twist so far, in the body's metric.
void friction(BodyBlock& block, Vec6& z) {
    const double small = settled * z.norm();
    for (std::size_t k = 0; k < block.slips.size(); ++k)
        block.slips[k].limit = block.contacts[k].friction * block.contacts[k].alpha;
    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
        double largest = 0;
        for (Slip& s : block.slips) {
            if (s.limit <= 0 && s.p1 == 0 && s.p2 == 0) continue;
            const double v1 = s.start1 + s.t1.dot(z), v2 = s.start2 + s.t2.dot(z);
            const double square = v1 * v1 + v2 * v2;
            double p1 = s.p1, p2 = s.p2;
            if (square >
                0) {  // along -v / |v| (Eq. 14), by m |v| with m the mass that direction sees (Eqs. 17, 18)
                const double response = v1 * v1 * s.k11 + 2 * v1 * v2 * s.k12 + v2 * v2 * s.k22;
                const double amount = response > 0 ? square / response : 0.0;
                p1 -= amount * v1;
                p2 -= amount * v2;
            }
            if (const double length2 = p1 * p1 + p2 * p2; length2 > s.limit * s.limit) {  // Eq. 19
                const double shrink = s.limit / std::sqrt(length2);
                p1 *= shrink;
                p2 *= shrink;
            }
            const double d1 = p1 - s.p1, d2 = p2 - s.p2;
            z += d1 * s.t1 + d2 * s.t2;
            s.p1 = p1;
            s.p2 = p2;
            largest = std::max(largest, d1 * d1 * s.k11 + 2 * d1 * d2 * s.k12 + d2 * d2 * s.k22);
        }
        if (largest <= small * small) break;
    }
}

// Rounds that approach their end from one side, or swing about it, are extrapolated by the secant of the last two (Aitken).
class RoundSecant {
  public:
    explicit RoundSecant(std::vector<Vec2>& scratch) : impulses_(scratch) {}

    // `start` and `end`: what friction changed the twist by before and after the round. Extrapolates the impulses and `end`.
    void extrapolate(const Vec6& start, std::vector<Slip>& slips, Vec6& end) {
        // Share of the last round's change to add again: extrapolation is bounded, impulses must stay near their limits.
        constexpr double most_back = 0.5, most_ahead = 2.0;
        const Vec6 change = end - start, reached = end;
        double share = 0;
        if (known_) {
            const Vec6 difference = change - change_;
            if (const double square = difference.squaredNorm(); square > 0)
                share = std::clamp(change.dot(difference) / square, -most_ahead, most_back);
            end -= share * (reached - reached_);
        }
        impulses_.resize(slips.size());
        for (std::size_t k = 0; k < slips.size(); ++k) {
            Slip& s = slips[k];
            const Vec2 p(s.p1, s.p2);
            if (known_) {
                s.p1 -= share * (p[0] - impulses_[k][0]);
                s.p2 -= share * (p[1] - impulses_[k][1]);
            }
            impulses_[k] = p;
        }
        change_ = change;
        reached_ = reached;
        known_ = true;
    }

  private:
    bool known_ = false;
    Vec6 change_, reached_;        // of the last round
    std::vector<Vec2>& impulses_;  // where it ended
};

// Slip of every contact at the body's twist, and what friction does to it.
void find_slips(BodyBlock& block) {
    block.slips.clear();
    for (const BlockContact& c : block.contacts) {
        const Vec3 relative = block.point_velocity(c) - c.other;
        block.slips.push_back({c.t1, c.t2, c.tangent1.dot(relative), c.tangent2.dot(relative),
                               c.t1.squaredNorm(), c.t1.dot(c.t2), c.t2.squaredNorm(), 0.0, 0.0, 0.0});
    }
}

}  // namespace

bool solve_body_by_decomposition(BodyBlock& block) {
    const Vec6 before = block.phi;
    if (try_to_stick(block, before)) return true;
    block.phi = before;
    find_slips(block);
    block.columns.clear();
    for (const BlockContact& c : block.contacts) block.columns.push_back(c.n);
    block.split.set(block.columns);
    Vec6 z, by_friction = Vec6::Zero(), previous = Vec6::Constant(1e300);
    double rubbed = 0;  // how far friction moved by_friction in the last round
    bool feasible = true;
    RoundSecant secant(block.earlier);
    // Coupling (Eq. 21): friction changes what the contacts carry. Normal impulses answer the twist with friction,
    // friction answers their new limits, until neither changes; the last word is the normals'.
    for (int round = 0; round < max_rounds; ++round) {
        block.phi = before + block.S * by_friction;
        feasible = block.contact_impulse(z, round > 0);
        // contact distribution (Eqs. 10-13): non-negative normal impulses that add up to z, the smoothest ones
        block.split.solve(z, block.x, 1e-9);
        for (std::size_t k = 0; k < block.contacts.size(); ++k) block.contacts[k].alpha = block.x[k];
        const double small = coupled * z.norm();
        if (((z - previous).norm() <= small && rubbed <= small) || round + 1 == max_rounds) break;
        previous = z;
        Vec6 all = z + by_friction;
        friction(block, all);
        const Vec6 start = by_friction;
        by_friction = all - z;
        rubbed = (by_friction - start).norm();
        if (round + 2 < max_rounds) secant.extrapolate(start, block.slips, by_friction);
    }
    block.phi += block.S * z;
    for (std::size_t k = 0; k < block.contacts.size(); ++k) {
        BlockContact& c = block.contacts[k];
        c.tangential = block.slips[k].p1 * c.tangent1 + block.slips[k].p2 * c.tangent2;
    }
    return feasible;
}

SolveReport solve_by_decomposition(ContactProblem& problem, bool limit_energy) {
    return solve_body_by_body(problem, solve_body_by_decomposition, limit_energy);
}

void hold_single_bodies(ContactProblem& problem, double slow, double deepest, std::vector<char>& done) {
    const std::size_t bodies = problem.twist.size();
    done.assign(bodies, 0);
    std::vector<char> busy(bodies, 0);
    for (const ContactPoint& c : problem.contacts) {
        const bool ma = problem.mass[c.a].movable, mb = problem.mass[c.b].movable;
        if (ma && mb) {
            busy[c.a] = busy[c.b] = 1;
            continue;
        }
        const Twist &a = problem.before[c.a], &b = problem.before[c.b];
        const Vec3 relative = b.v + b.w.cross(c.rb) - a.v - a.w.cross(c.ra);
        const int body = ma ? c.a : c.b;
        done[body] = 1;
        if (relative.squaredNorm() > slow * slow || c.distance < -deepest) busy[body] = 1;
    }
    bool any = false;
    for (std::size_t i = 0; i < bodies; ++i) {
        done[i] = done[i] && !busy[i];
        any = any || done[i];
    }
    if (!any) return;
    ContactGraph graph;
    graph.build(problem);
    parallel_ranges(bodies, 64, [&](std::size_t begin, std::size_t end) {
        BodyBlock block;
        for (std::size_t i = begin; i < end; ++i) {
            if (!done[i]) continue;
            block.gather(problem, graph, static_cast<int>(i), problem.twist);
            done[i] = try_to_stick(block, block.phi);
            if (!done[i]) continue;
            problem.twist[i].v = block.phi.head<3>();
            problem.twist[i].w = block.phi.tail<3>();
            for (const BlockContact& c : block.contacts) {
                ContactPoint& point = problem.contacts[c.index];
                const Vec3 on_b = (c.is_b ? 1.0 : -1.0) * (c.alpha * c.normal + c.tangential);
                point.impulse =
                    Vec3(point.normal.dot(on_b), point.tangent1.dot(on_b), point.tangent2.dot(on_b));
            }
        }
    });
}

}  // namespace tenon::impulse

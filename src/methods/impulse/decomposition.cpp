#include "methods/impulse/decomposition.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "math/parallel.hpp"

namespace tenon::impulse {
namespace {

constexpr int max_rounds = 12;  // of normal impulses and friction answering each other

// Contact distribution (Eqs. 10-13): non-negative normal impulses that add up to z, the smoothest ones.
void distribute(BodyBlock& block, const Vec6& z) {
    block.columns.clear();
    for (const BlockContact& c : block.contacts) block.columns.push_back(c.n);
    solve::smoothest_nonnegative(block.columns, z, block.x);
    for (std::size_t k = 0; k < block.contacts.size(); ++k) block.contacts[k].alpha = block.x[k];
}

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
        Vec3 t1, t2;
        make_tangents(c.normal, t1, t2);
        block.columns.push_back(c.n);
        block.columns.push_back(block.wrench_change(c, t1));
        block.columns.push_back(block.wrench_change(c, t2));
        block.mu.push_back(c.friction);
    }
    if (!solve::smoothest_in_cones(block.columns, block.mu, z, block.x)) return false;
    for (std::size_t k = 0; k < block.contacts.size(); ++k) {
        BlockContact& c = block.contacts[k];
        Vec3 t1, t2;
        make_tangents(c.normal, t1, t2);
        c.alpha = block.x[3 * k];
        c.tangential = block.x[3 * k + 1] * t1 + block.x[3 * k + 2] * t2;
    }
    block.phi = still;
    return true;
}

// Frictional impulses (Eqs. 14-20), contacts in turn with the updated twist: each opposes what slip the others
// left, within mu alpha, so their sum never turns sliding around.
void friction(BodyBlock& block) {
    for (int sweep = 0; sweep < 12; ++sweep) {
        double largest = 0;
        for (BlockContact& c : block.contacts) {
            const double limit = c.friction * c.alpha;
            if (limit <= 0 && c.tangential.isZero(0)) continue;
            const Vec3 slip = block.slip(c);
            const double speed = slip.norm();
            Vec3 wanted = c.tangential;
            if (speed > 0) {
                const Vec3 s = -slip / speed;                                    // Eq. 14, of unit length
                const double m = 1.0 / block.wrench_change(c, s).squaredNorm();  // Eq. 17
                wanted += m * speed * s;                                         // Eq. 18
            }
            if (wanted.norm() > limit) wanted *= limit / wanted.norm();  // Eq. 19
            const Vec3 change = wanted - c.tangential;
            c.tangential = wanted;
            const Vec6 dphi = block.S * block.wrench_change(c, change);
            block.phi += dphi;
            largest = std::max(largest, dphi.norm());
        }
        if (largest < 1e-14) break;
    }
}

}  // namespace

bool solve_body_by_decomposition(BodyBlock& block) {
    const Vec6 before = block.phi;
    if (try_to_stick(block, before)) return true;
    block.phi = before;
    for (BlockContact& c : block.contacts) {
        c.alpha = 0;
        c.tangential.setZero();
    }
    Vec6 z, friction_change = Vec6::Zero(), previous = Vec6::Constant(1e300);
    bool feasible = true;
    // Coupling (Eq. 21): friction changes what the contacts carry. Normal impulses answer the twist with friction,
    // friction answers their new limits, until neither changes; the last word is the normals'.
    for (int round = 0; round < max_rounds; ++round) {
        block.phi = before + block.S * friction_change;
        feasible = block.contact_impulse(z);
        block.phi += block.S * z;
        distribute(block, z);
        if ((z - previous).norm() <= 1e-10 * z.norm()) break;
        previous = z;
        if (round + 1 == max_rounds) break;
        friction(block);
        friction_change.setZero();
        for (const BlockContact& c : block.contacts) friction_change += block.wrench_change(c, c.tangential);
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

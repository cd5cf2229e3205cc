#include "methods/impulse/body_block.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/Cholesky>

namespace tenon::impulse {

void ContactGraph::build(const ContactProblem& problem) {
    const std::size_t bodies = problem.twist.size();
    start.assign(bodies + 1, 0);
    for (const ContactPoint& c : problem.contacts) {
        if (problem.mass[c.a].movable) ++start[c.a + 1];
        if (problem.mass[c.b].movable) ++start[c.b + 1];
    }
    std::partial_sum(start.begin(), start.end(), start.begin());
    entry.resize(start.back());
    std::vector<int> fill(start.begin(), start.end() - 1);
    for (std::size_t k = 0; k < problem.contacts.size(); ++k) {
        const ContactPoint& c = problem.contacts[k];
        if (problem.mass[c.a].movable) entry[fill[c.a]++] = -static_cast<int>(k) - 1;
        if (problem.mass[c.b].movable) entry[fill[c.b]++] = static_cast<int>(k) + 1;
    }
}

void BodyBlock::gather(const ContactProblem& problem, const ContactGraph& graph, int body,
                       const std::vector<Twist>& neighbours) {
    const InverseMass& m = problem.mass[body];
    S.setZero();
    for (int k = 0; k < 3; ++k) S(k, k) = std::sqrt(m.m[k]);
    // a Cholesky factor of the inverse inertia; axes that are held have zero rows
    const Mat3 I = m.inertia();
    for (int j = 0; j < 3; ++j) {
        double d = I(j, j);
        for (int k = 0; k < j; ++k) d -= S(3 + j, 3 + k) * S(3 + j, 3 + k);
        if (d <= 1e-14 * I.trace()) continue;
        S(3 + j, 3 + j) = std::sqrt(d);
        for (int i = j + 1; i < 3; ++i) {
            double s = I(i, j);
            for (int k = 0; k < j; ++k) s -= S(3 + i, 3 + k) * S(3 + j, 3 + k);
            S(3 + i, 3 + j) = s / S(3 + j, 3 + j);
        }
    }
    phi << problem.twist[body].v, problem.twist[body].w;
    contacts.clear();
    for (int e = graph.start[body]; e < graph.start[body + 1]; ++e) {
        const bool is_b = graph.entry[e] > 0;
        const int index = std::abs(graph.entry[e]) - 1;
        const ContactPoint& c = problem.contacts[index];
        BlockContact block;
        block.index = index;
        block.is_b = is_b;
        block.normal = is_b ? c.normal : Vec3(-c.normal);
        block.tangent1 = c.tangent1;
        block.tangent2 = c.tangent2;
        block.r = is_b ? c.rb : c.ra;
        const Twist& other = neighbours[is_b ? c.a : c.b];
        block.other = other.v + other.w.cross(is_b ? c.ra : c.rb);
        block.n = wrench_change(block, block.normal);
        block.t1 = wrench_change(block, block.tangent1);
        block.t2 = wrench_change(block, block.tangent2);
        const double square = block.n.squaredNorm();
        block.inverse_square = square > 0 ? 1 / square : 0.0;
        block.target = c.target;
        block.friction = c.friction;
        contacts.push_back(block);
    }
}

Vec6 BodyBlock::wrench_change(const BlockContact& c, const Vec3& impulse) const {
    const Vec3 turn = c.r.cross(impulse);  // S is diagonal above and lower triangular below
    Vec6 out;
    for (int k = 0; k < 3; ++k) out[k] = S(k, k) * impulse[k];
    out[3] = S(3, 3) * turn[0] + S(4, 3) * turn[1] + S(5, 3) * turn[2];
    out[4] = S(4, 4) * turn[1] + S(5, 4) * turn[2];
    out[5] = S(5, 5) * turn[2];
    return out;
}

Vec3 BodyBlock::slip(const BlockContact& c) const {
    const Vec3 relative = point_velocity(c) - c.other;
    return relative - c.normal.dot(relative) * c.normal;
}

bool BodyBlock::contact_impulse(Vec6& z, bool warm) {
    if (!warm) {
        normals.clear();
        for (const BlockContact& c : contacts) normals.push_back(c.n);
    }
    bounds.clear();
    // The change any one contact asks for by itself; what all ask for together is a small multiple of it unless
    // their half-spaces meet only far away.
    double largest = 0;
    for (const BlockContact& c : contacts) {
        const double bound = c.target - c.normal.dot(point_velocity(c) - c.other);
        bounds.push_back(bound);
        if (bound > 0) largest = std::max(largest, bound * bound * c.inverse_square);
    }
    largest = std::sqrt(largest);
    z.setZero();
    solve::project_onto_halfspaces<6>(normals, bounds, z, projection, 1e-13, warm);
    if (projection.feasible && z.norm() <= 20 * largest) return true;
    return share_violation(largest, z, warm);
}

// Between two that move towards each other no velocity satisfies both, or only a huge one: damped sweeps share the violation.
bool BodyBlock::share_violation(double largest, Vec6& z, bool warm) {
    constexpr double damping = 0.05, settled = 1e-7;
    if (!warm || amount.size() != contacts.size()) amount.assign(contacts.size(), 0.0);
    z.setZero();
    for (std::size_t k = 0; k < contacts.size(); ++k)
        if (amount[k] > 0) z += amount[k] * normals[k];
    for (int sweep = 0; sweep < 30; ++sweep) {
        double moved = 0;
        for (std::size_t k = 0; k < contacts.size(); ++k) {
            const double inverse = contacts[k].inverse_square;
            if (!(inverse > 0)) continue;
            const double wanted = (bounds[k] - normals[k].dot(z)) * inverse;
            const double next = std::max(0.0, amount[k] + (wanted - damping * amount[k]) / (1 + damping));
            if (next == amount[k]) continue;
            const double change = next - amount[k];
            z += change * normals[k];
            amount[k] = next;
            moved = std::max(moved, change * change / inverse);
        }
        if (moved <= settled * settled * largest * largest) break;
    }
    return false;
}

}  // namespace tenon::impulse

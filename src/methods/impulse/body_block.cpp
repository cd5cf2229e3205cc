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
        block.r = is_b ? c.rb : c.ra;
        const Twist& other = neighbours[is_b ? c.a : c.b];
        block.other = other.v + other.w.cross(is_b ? c.ra : c.rb);
        block.n = wrench_change(block, block.normal);
        block.target = c.target;
        block.friction = c.friction;
        contacts.push_back(block);
    }
}

Vec6 BodyBlock::wrench_change(const BlockContact& c, const Vec3& impulse) const {
    Vec6 wrench;
    wrench << impulse, c.r.cross(impulse);
    return S.transpose() * wrench;
}

Vec3 BodyBlock::slip(const BlockContact& c) const {
    const Vec3 relative = point_velocity(c) - c.other;
    return relative - c.normal.dot(relative) * c.normal;
}

bool BodyBlock::contact_impulse(Vec6& z) {
    normals.clear();
    bounds.clear();
    for (const BlockContact& c : contacts) {
        normals.push_back(c.n);
        bounds.push_back(c.target - c.normal.dot(point_velocity(c) - c.other));
    }
    z.setZero();
    solve::project_onto_halfspaces<6>(normals, bounds, z, projection, 1e-13);
    // The change any one contact asks for by itself; what all ask for together is a small multiple of it unless
    // their half-spaces meet only far away.
    double largest = 0;
    for (std::size_t k = 0; k < contacts.size(); ++k)
        if (const double length = normals[k].norm(); length > 0)
            largest = std::max(largest, bounds[k] / length);
    if (projection.feasible && z.norm() <= 20 * largest) return true;
    // Between two that move towards each other no velocity satisfies both, or only a huge one: damped sweeps
    // share the violation.
    std::vector<double>& amount = x;
    amount.assign(contacts.size(), 0.0);
    z.setZero();
    for (int sweep = 0; sweep < 30; ++sweep)
        for (std::size_t k = 0; k < contacts.size(); ++k) {
            const double length2 = normals[k].squaredNorm();
            if (!(length2 > 0)) continue;
            const double damped = 1.05 * length2;
            const double next = std::max(
                0.0, amount[k] + (bounds[k] - normals[k].dot(z) - 0.05 * length2 * amount[k]) / damped);
            z += (next - amount[k]) * normals[k];
            amount[k] = next;
        }
    return false;
}

}  // namespace tenon::impulse

#include "methods/impulse/ffd.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::impulse {
namespace {

constexpr int direction_pairs = 4;  // sampled friction directions per contact, each with its opposite

// Orthonormal basis of what friction can reach: the span of all sampled directions.
int friction_basis(const std::vector<Vec6>& directions, std::array<Vec6, 6>& basis) {
    int count = 0;
    double longest = 0;
    for (const Vec6& d : directions) longest = std::max(longest, d.norm());
    for (const Vec6& d : directions) {
        if (count == 6) break;
        Vec6 rest = d;
        for (int pass = 0; pass < 2; ++pass)
            for (int k = 0; k < count; ++k) rest -= basis[k].dot(rest) * basis[k];
        if (rest.norm() > 1e-9 * longest) basis[count++] = rest.normalized();
    }
    return count;
}

Vec6 onto(const std::array<Vec6, 6>& basis, int count, const Vec6& v) {
    Vec6 out = Vec6::Zero();
    for (int k = 0; k < count; ++k) out += basis[k].dot(v) * basis[k];
    return out;
}

}  // namespace

bool solve_body_by_ffd(BodyBlock& block) {
    Vec6 z;
    const bool feasible = block.contact_impulse(z);
    for (BlockContact& c : block.contacts) {
        // Eq. 7, per unit response so that a single contact gets its exact impulse
        c.alpha = std::max(0.0, c.n.dot(z)) / c.n.squaredNorm();
        c.tangential.setZero();
    }
    block.phi += block.S * z;

    // Eq. 9: the friction nearest to cancelling the body's own motion, within bounds. Its last line, taken
    // literally, forbids any friction under a box (which always turns it into its leading contacts): instead
    // the normals answer once more, as in Eq. 21.
    std::vector<Vec6> directions;
    std::vector<double> limits;
    for (const BlockContact& c : block.contacts) {
        Vec3 t1, t2;
        make_tangents(c.normal, t1, t2);
        for (int k = 0; k < direction_pairs; ++k) {
            const double angle = M_PI * k / direction_pairs;
            const Vec6 s = block.wrench_change(c, std::cos(angle) * t1 + std::sin(angle) * t2);
            directions.push_back(s);
            limits.push_back(c.friction * c.alpha * s.squaredNorm());
        }
    }
    std::array<Vec6, 6> basis;
    const int rank = friction_basis(directions, basis);
    block.normals.clear();
    block.bounds.clear();
    for (std::size_t k = 0; k < directions.size(); ++k)
        for (double sign : {1.0, -1.0}) {
            block.normals.push_back(-sign * directions[k]);  // sign s.f <= limit
            block.bounds.push_back(-limits[k]);
        }
    // the own twist in these coordinates, by least squares where axes are held
    Vec6 own = Vec6::Zero();
    for (int j = 0; j < 6; ++j) {
        if (block.S(j, j) == 0) continue;
        double s = block.phi[j];
        for (int k = 0; k < j; ++k) s -= block.S(j, k) * own[k];
        own[j] = s / block.S(j, j);
    }
    Vec6 f = -onto(basis, rank, own);
    solve::project_onto_halfspaces<6>(block.normals, block.bounds, f, block.projection, 1e-13);
    if (block.projection.feasible) block.phi += block.S * f;
    block.contact_impulse(z);
    block.phi += block.S * z;
    return feasible;
}

SolveReport solve_by_ffd(ContactProblem& problem, bool limit_energy) {
    return solve_body_by_body(problem, solve_body_by_ffd, limit_energy);
}

}  // namespace tenon::impulse

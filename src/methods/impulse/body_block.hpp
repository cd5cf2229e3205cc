// One body with its contacts, neighbours' contact velocities given: the six-dimensional problem that the paper
// solves per body, in coordinates where the body's metric is the identity.
#pragma once

#include "methods/impulse/problem.hpp"
#include "solve/nnls.hpp"
#include "solve/small_qp.hpp"

namespace tenon::impulse {

// Contacts of each body, as a compressed list; entry +k+1: the body is b of contact k, -k-1: it is a.
struct ContactGraph {
    std::vector<int> start, entry;
    void build(const ContactProblem& problem);
};

// Contact k of a body: directions point from the neighbour to this body. With M^-1 = S S^T, a twist change is
// S z, and an impulse x along a direction d at lever r changes z by x S^T (d, r x d).
struct BlockContact {
    Vec3 normal, tangent1, tangent2, r;  // world frame
    Vec6 n, t1, t2;                      // S^T Gamma^T of these directions
    double inverse_square;               // 1 / |n|^2, 0 where the body cannot move along the normal
    Vec3 other;                          // the neighbour's velocity at the contact
    double target, friction;
    int index;  // of the contact in the problem
    bool is_b;
    double alpha = 0.0;              // normal impulse
    Vec3 tangential = Vec3::Zero();  // friction impulse, world frame, on this body
};

// Friction of a contact, in its tangents.
struct Slip {
    Vec6 t1, t2;            // as in the contact: close together, since sweeps go over them again and again
    double start1, start2;  // relative velocity before any impulse
    double k11, k12, k22;   // its response to impulses
    double p1, p2;          // impulses
    double limit;           // of their length
};

struct BodyBlock {
    Mat6 S = Mat6::Zero();    // twist order: v, w
    Vec6 phi = Vec6::Zero();  // the body's twist
    std::vector<BlockContact> contacts;
    std::vector<Slip> slips;
    std::vector<Vec2> earlier;  // scratch: frictional impulses of the round before
    // scratch
    std::vector<Vec6> normals;
    std::vector<double> bounds, x, amount;
    solve::Projection projection;
    solve::SmoothestSplit split;
    solve::Columns6 columns;
    std::vector<double> mu;

    // `neighbours`: the twists with which the others are seen.
    void gather(const ContactProblem& problem, const ContactGraph& graph, int body,
                const std::vector<Twist>& neighbours);

    Vec6 wrench_change(const BlockContact& c, const Vec3& impulse) const;  // S^T Gamma^T impulse
    Vec3 point_velocity(const BlockContact& c) const { return phi.head<3>() + phi.tail<3>().cross(c.r); }
    Vec3 slip(const BlockContact& c) const;  // tangential, relative to the other

    // Contact impulse solver: the least change of z (in the body's metric) that satisfies every contact
    // (Eq. 6). False: the contacts contradict each other; z is then a compromise. `warm`: the contacts are those of the
    // last call, whose active set is a good start.
    bool contact_impulse(Vec6& z, bool warm = false);

  private:
    bool share_violation(double largest, Vec6& z, bool warm);
};

}  // namespace tenon::impulse

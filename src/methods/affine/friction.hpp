// Friction of a pair of bodies as a Newton step sees it: lagged normal forces, directions that are unknowns of their own.
#pragma once

#include "math/symmetric3.hpp"
#include "methods/affine/contact_field.hpp"

namespace tenon::affine {

// Relative sliding since the start of the step, perpendicular to the contact's normal.
[[gnu::always_inline]] inline Vec3 sliding(const FrictionPoint& p, const Mat34& moved_a,
                                           const Mat34& moved_b) {
    Vec3 u = moved_a.col(3) - moved_b.col(3);
    for (int k = 0; k < 3; ++k) u += p.local_a[k] * moved_a.col(k) - p.local_b[k] * moved_b.col(k);
    return u - p.normal * p.normal.dot(u);
}

struct FrictionSpring {
    Vec3 force;            // on a, of the energy: dE/dx
    Symmetric3 stiffness;  // of the model: (I - sym(f grad psi^T)) / psi across the normal, never negative
};

[[gnu::always_inline]] inline FrictionSpring friction_spring(const FrictionPoint& p, const Vec3& u,
                                                             double scale, double eps) {
    const double y = u.norm();
    const FrictionScale psi = friction_scale(y, eps);
    const double stiffness = scale * p.limit / psi.psi;
    FrictionSpring spring{stiffness * u, Symmetric3::across(p.normal, stiffness)};
    if (y > 0.0) spring.stiffness.add_product(p.dual, u, -0.5 * stiffness * psi.slope / y);
    return spring;
}

// Friction without directions of its own: a model that is nowhere below friction's energy, so that no step overshoots.
void stiffen_friction(PairContacts& pair);

// The energy, J, by which a Newton step of the pair's bodies exceeds what the model of friction says: contacts whose
// sliding it reverses. `stiffen`: those lose their directions.
double friction_excess(PairContacts& pair, const Mat34& moved_a, const Mat34& moved_b, const Mat34& step_a,
                       const Mat34& step_b, double eps, bool stiffen);

// Moves the friction directions of a pair along with a Newton step of its bodies. Returns the force, N, by which the
// step's model of friction differs from friction itself at its end.
double update_friction_duals(PairContacts& pair, const Mat34& moved_a, const Mat34& moved_b,
                             const Mat34& step_a, const Mat34& step_b, double eps);

double friction_energy(const PairContacts& pair, const Mat34& qa, const Mat34& qb, const Mat34& start_a,
                       const Mat34& start_b, double eps);

// Friction on body b of one contact.
Vec3 friction_force(const FrictionPoint& point, const Mat34& moved_a, const Mat34& moved_b, double eps);

}  // namespace tenon::affine

// The clamped logarithmic barrier on squared distances (Eq. 11), and the smoothed friction of lagged contacts.
#pragma once

#include <algorithm>
#include <cmath>

namespace tenon::affine {

// b(u) = -(u - 1)^2 ln u with u = D / D_hat in (0, 1): zero with two derivatives at u = 1, infinite at 0.
struct Barrier {
    double value, slope, curvature;
};

inline Barrier barrier(double u) {
    if (u >= 1.0) return {0.0, 0.0, 0.0};
    const double ln = std::log(u), e = u - 1.0;
    return {-e * e * ln, -2.0 * e * ln - e * e / u, -2.0 * ln - 4.0 * e / u + e * e / (u * u)};
}

// The range of one contact: bodies act on each other from a gap of dhat beyond their minimum separation xi.
// D = d^2 - xi^2 and D_hat = (dhat + xi)^2 - xi^2.
struct ContactRange {
    double dhat = 1e-3;
    double separation = 0.0;
    double reach_squared() const { return (dhat + separation) * (dhat + separation); }
    double separation_squared() const { return separation * separation; }
};

// Energy, force and stiffness along the distance d for a contact of strength kappa (in joules).
struct RadialBarrier {
    double energy, force, stiffness;  // E, -dE/dd >= 0, d2E/dd2 >= 0
};

inline RadialBarrier radial_barrier(double squared_distance, const ContactRange& range, double kappa) {
    const double scale = range.reach_squared() - range.separation_squared();
    const Barrier b = barrier((squared_distance - range.separation_squared()) / scale);
    const double d = std::sqrt(squared_distance);
    const double slope = kappa * b.slope / scale, curvature = kappa * b.curvature / (scale * scale);
    return {kappa * b.value, -2.0 * d * slope,
            std::max(0.0, 4.0 * squared_distance * curvature + 2.0 * slope)};
}

// The strength at which one contact at half its range pushes with `force`.
inline double strength_for_force(double force, double dhat) {
    const ContactRange range{dhat, 0.0};
    return force / radial_barrier(0.25 * dhat * dhat, range, 1.0).force;
}

// Smoothed |u|: f0 is quadratic-cubic below eps and |u| - eps/3 above it; f1 = f0' rises from 0 to 1.
struct Friction {
    double value, slope, curvature;
};

inline Friction friction_norm(double y, double eps) {
    if (y >= eps) return {y - eps / 3.0, 1.0, 0.0};
    const double r = y / eps;
    return {eps * r * r * (1.0 - r / 3.0), r * (2.0 - r), 2.0 * (1.0 - r) / eps};
}

// f1(y) / y, finite at zero.
inline double friction_slope_over(double y, double eps) {
    return y >= eps ? 1.0 / y : (2.0 - y / eps) / eps;
}

// The force of smoothed friction is limit x u / psi(|u|). Its curvature along u ends abruptly where sticking ends, so
// Newton's method on the energy alone jumps back and forth across it. The primal-dual form linearises psi f = u with
// the force's direction f (|f| <= 1) as an unknown of its own: curvature (I - f grad psi^T) / psi.
struct FrictionScale {
    double psi, slope;
};

inline FrictionScale friction_scale(double y, double eps) {
    if (y >= eps) return {y, 1.0};
    const double r = 1.0 / (2.0 - y / eps);
    return {eps * r, r * r};
}

}  // namespace tenon::affine

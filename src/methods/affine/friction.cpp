#include "methods/affine/friction.hpp"

namespace tenon::affine {

void stiffen_friction(PairContacts& pair) {
    for (FrictionPoint& p : pair.friction) p.dual.setZero();
    ++pair.duals;
}

double friction_excess(PairContacts& pair, const Mat34& moved_a, const Mat34& moved_b, const Mat34& step_a,
                       const Mat34& step_b, double eps, bool stiffen) {
    double sum = 0.0;
    bool changed = false;
    for (FrictionPoint& p : pair.friction) {
        if (p.dual.isZero(0.0)) continue;
        const Vec3 u = sliding(p, moved_a, moved_b), du = sliding(p, step_a, step_b), end = u + du;
        if (u.dot(end) >= 0.0) continue;
        const FrictionSpring spring = friction_spring(p, u, 1.0, eps);
        const double model = spring.force.dot(du) + 0.5 * du.dot(spring.stiffness * du);
        const double excess =
            p.limit * (friction_norm(end.norm(), eps).value - friction_norm(u.norm(), eps).value) - model;
        if (excess <= 0.0) continue;
        sum += excess;
        if (!stiffen) continue;
        p.dual.setZero();
        changed = true;
    }
    pair.duals += changed;
    return sum;
}

double update_friction_duals(PairContacts& pair, const Mat34& moved_a, const Mat34& moved_b,
                             const Mat34& step_a, const Mat34& step_b, double eps) {
    Vec3 error = Vec3::Zero();
    bool changed = false;
    for (FrictionPoint& p : pair.friction) {
        const Vec3 before = p.dual;
        const Vec3 u = sliding(p, moved_a, moved_b), du = sliding(p, step_a, step_b), end = u + du;
        const double y = u.norm();
        const FrictionScale psi = friction_scale(y, eps);
        const double stretch = y > 0.0 ? psi.slope * u.dot(du) / y : 0.0;
        p.dual = (end - stretch * p.dual) / psi.psi;
        error += p.limit * (p.dual - end / friction_scale(end.norm(), eps).psi);
        const double length = p.dual.norm();
        if (length > 1.0) p.dual /= length;
        changed = changed || p.dual != before;
    }
    pair.duals += changed;
    return error.norm();
}

double friction_energy(const PairContacts& pair, const Mat34& qa, const Mat34& qb, const Mat34& start_a,
                       const Mat34& start_b, double eps) {
    if (pair.friction.empty()) return 0.0;
    const Mat34 moved_a = qa - start_a, moved_b = qb - start_b;
    double sum = 0.0;
    for (const FrictionPoint& p : pair.friction)
        sum += p.limit * friction_norm(sliding(p, moved_a, moved_b).norm(), eps).value;
    return sum;
}

Vec3 friction_force(const FrictionPoint& point, const Mat34& moved_a, const Mat34& moved_b, double eps) {
    const Vec3 u = sliding(point, moved_a, moved_b);
    return point.limit * friction_slope_over(u.norm(), eps) * u;
}

}  // namespace tenon::affine

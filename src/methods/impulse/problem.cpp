#include "methods/impulse/problem.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/LU>

namespace tenon::impulse {

void make_tangents(const Vec3& n, Vec3& t1, Vec3& t2) {
    // from the world axis that is farthest from the normal
    int axis;
    n.cwiseAbs().minCoeff(&axis);
    t1 = Vec3::Unit(axis).cross(n).normalized();
    t2 = n.cross(t1);
}

Mat3 contact_response(const ContactPoint& c, const InverseMass& a, const InverseMass& b) {
    const Vec3 direction[3] = {c.normal, c.tangent1, c.tangent2};
    Mat3 K = Mat3::Zero();
    auto add = [&](const InverseMass& m, const Vec3& r) {
        if (!m.movable) return;
        for (int j = 0; j < 3; ++j) {
            const Vec3 lever = r.cross(direction[j]), turn = m.angular(lever), push = m.linear(direction[j]);
            for (int i = 0; i <= j; ++i) K(i, j) += direction[i].dot(push) + r.cross(direction[i]).dot(turn);
        }
    };
    add(a, c.ra);
    add(b, c.rb);
    K(1, 0) = K(0, 1);
    K(2, 0) = K(0, 2);
    K(2, 1) = K(1, 2);
    return K;
}

ContactResponse response_of(const Mat3& K) {
    ContactResponse r;
    r.kn = K(0, 0);
    r.inverse_kn = r.kn > 0 ? 1.0 / r.kn : 0.0;
    r.k1n = K(1, 0);
    r.k2n = K(2, 0);
    const double mean = 0.5 * (K(1, 1) + K(2, 2)), half = 0.5 * (K(1, 1) - K(2, 2));
    const double largest = mean + std::sqrt(half * half + K(1, 2) * K(1, 2));
    r.slide = largest > 0 ? 1.0 / largest : 0.0;
    const double det = K(1, 1) * K(2, 2) - K(1, 2) * K(1, 2);
    const bool regular = det > 1e-9 * largest * largest;
    r.i11 = regular ? K(2, 2) / det : r.slide;
    r.i12 = regular ? -K(1, 2) / det : 0.0;
    r.i22 = regular ? K(1, 1) / det : r.slide;
    return r;
}

double contact_residual(const ContactProblem& problem) {
    double worst = 0;
    for (const ContactPoint& c : problem.contacts) {
        const Mat3 K = contact_response(c, problem.mass[c.a], problem.mass[c.b]);
        const Vec3 dv = problem.relative_velocity(c);
        const double k = K(0, 0), vn = c.normal.dot(dv) - c.target;
        if (!(k > 0)) continue;
        worst = std::max(worst, k * std::abs(c.impulse[0] - std::max(0.0, c.impulse[0] - vn / k)));
        const double kt = std::max(K(1, 1), K(2, 2)), limit = c.friction * c.impulse[0];
        const Vec2 now(c.impulse[1], c.impulse[2]);
        Vec2 next = now - Vec2(c.tangent1.dot(dv), c.tangent2.dot(dv)) / kt;
        if (next.norm() > limit) next *= limit / next.norm();
        worst = std::max(worst, kt * (now - next).norm());
    }
    return worst;
}

double kinetic_energy(const InverseMass& m, const Twist& t) {
    double energy = 0;
    for (int k = 0; k < 3; ++k)
        if (m.m[k] > 0) energy += 0.5 * t.v[k] * t.v[k] / m.m[k];
    Mat3 inverse = m.inertia();
    for (int k = 0; k < 3; ++k)
        if (inverse(k, k) == 0) inverse(k, k) = 1.0;  // held: no spin about this axis
    return energy + 0.5 * t.w.dot(inverse.inverse() * t.w);
}

double kinetic_energy(const ContactProblem& problem) {
    double energy = 0;
    for (std::size_t i = 0; i < problem.twist.size(); ++i)
        if (problem.mass[i].movable) energy += kinetic_energy(problem.mass[i], problem.twist[i]);
    return energy;
}

}  // namespace tenon::impulse

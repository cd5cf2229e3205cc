#include "math/svd3.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace tenon {
namespace {

// Turns columns p and q of b (and of v with them) until they are orthogonal. False when they were already.
bool orthogonalise(Mat3& b, Mat3& v, int p, int q) {
    const double a = b.col(p).squaredNorm(), d = b.col(q).squaredNorm(), c = b.col(p).dot(b.col(q));
    if (std::abs(c) <= 4 * std::numeric_limits<double>::epsilon() * std::sqrt(a * d)) return false;
    const double zeta = (d - a) / (2 * c);
    const double t = (zeta >= 0 ? 1.0 : -1.0) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
    const double cosine = 1 / std::sqrt(1 + t * t), sine = t * cosine;
    for (Mat3* m : {&b, &v}) {
        const Vec3 x = m->col(p), y = m->col(q);
        m->col(p) = cosine * x - sine * y;
        m->col(q) = sine * x + cosine * y;
    }
    return true;
}

Vec3 any_normal(const Vec3& u) {
    const Vec3 seed = std::abs(u.x()) < 0.6 ? Vec3::UnitX() : Vec3::UnitY();
    return u.cross(seed).normalized();
}

}  // namespace

// One-sided Jacobi: accurate for nearly singular and for inverted matrices alike.
RotationSvd rotation_svd(const Mat3& f) {
    RotationSvd r;
    Mat3 b = f;
    r.v.setIdentity();
    for (int sweep = 0; sweep < 12; ++sweep) {
        bool turned = orthogonalise(b, r.v, 0, 1);
        turned = orthogonalise(b, r.v, 0, 2) || turned;
        turned = orthogonalise(b, r.v, 1, 2) || turned;
        if (!turned) break;
    }
    // largest first; a swap with a change of sign keeps v a rotation
    for (const auto& [p, q] : {std::pair{0, 1}, std::pair{1, 2}, std::pair{0, 1}})
        if (b.col(p).squaredNorm() < b.col(q).squaredNorm())
            for (Mat3* m : {&b, &r.v}) {
                const Vec3 x = m->col(p);
                m->col(p) = m->col(q);
                m->col(q) = -x;
            }
    const double first = b.col(0).norm(), second = b.col(1).norm();
    const double tiny = 1e-150 + 1e-15 * first;
    r.u.col(0) = first > 1e-150 ? Vec3(b.col(0) / first) : Vec3(Vec3::UnitX());
    const Vec3 rest = b.col(1) - r.u.col(0) * r.u.col(0).dot(b.col(1));
    r.u.col(1) = second > tiny ? Vec3(rest.normalized()) : any_normal(r.u.col(0));
    r.u.col(2) = r.u.col(0).cross(r.u.col(1));
    r.s = {first, second, r.u.col(2).dot(b.col(2))};
    return r;
}

}  // namespace tenon

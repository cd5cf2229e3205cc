#include "methods/affine/landing.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::affine {
namespace {

constexpr int directions = 8;  // across the motion, in which the width is measured

// Extent of a body's box along a direction.
double width_along(const Mat34& q, const Box3& box, const Vec3& direction) {
    return (q.leftCols<3>().transpose() * direction).cwiseAbs().dot(box.size());
}

}  // namespace

double width_across(const Mat34& qa, const Box3& a, const Mat34& qb, const Box3& b, const Vec3& motion) {
    const Vec3 along = motion.normalized();
    const Vec3 e1 = along.unitOrthogonal(), e2 = along.cross(e1);
    double least = 1e300;
    for (int k = 0; k < directions; ++k) {
        const double angle = EIGEN_PI * k / directions;
        const Vec3 across = std::cos(angle) * e1 + std::sin(angle) * e2;
        least = std::min(least, width_along(qa, a, across) + width_along(qb, b, across));
    }
    return least;
}

void FrictionLimits::add(int body, double lagged, double now) {
    of_body_[body].lagged += lagged;
    of_body_[body].now += now;
}

bool FrictionLimits::some_are_outdated() const {
    return std::any_of(of_body_.begin(), of_body_.end(), [](const auto& body) {
        const Limits& limits = body.second;
        return limits.lagged < 0.5 * limits.now || limits.now < 0.5 * limits.lagged;
    });
}

}  // namespace tenon::affine

// Rotations as axis times angle.
#pragma once

#include <cmath>

#include "tenon/types.hpp"

namespace tenon {

// exp of a rotation vector.
inline Quat turn_by(const Vec3& w) {
    const double angle = w.norm();
    return angle < 1e-12 ? Quat(1, 0.5 * w.x(), 0.5 * w.y(), 0.5 * w.z()).normalized()
                         : Quat(Eigen::AngleAxisd(angle, w / angle));
}

// Its inverse, of at most half a turn.
inline Vec3 rotation_vector(Quat q) {
    if (q.w() < 0) q.coeffs() *= -1;
    const double sine = q.vec().norm();
    return sine < 1e-12 ? Vec3(2 * q.vec()) : Vec3(q.vec() * (2 * std::atan2(sine, q.w()) / sine));
}

}  // namespace tenon

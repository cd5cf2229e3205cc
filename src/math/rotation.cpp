#include "math/rotation.hpp"

#include <cmath>

#include <Eigen/SVD>

#include "math/svd3.hpp"

namespace tenon {

Quat exponential_map(const Vec3& rotation_vector) {
    const double angle = rotation_vector.norm();
    // sin(a/2)/a, by its series where the quotient loses digits
    const double s = angle < 1e-4 ? 0.5 - angle * angle / 48.0 : std::sin(0.5 * angle) / angle;
    Quat q;
    q.w() = std::cos(0.5 * angle);
    q.vec() = s * rotation_vector;
    return q.normalized();
}

Vec3 logarithm_map(const Quat& rotation) {
    const double sign = rotation.w() < 0 ? -1.0 : 1.0;
    const Vec3 v = sign * rotation.vec();
    const double s = v.norm();
    if (s < 1e-9) return 2.0 * v;
    return (2.0 * std::atan2(s, sign * rotation.w()) / s) * v;
}

Mat3 rotation_matrix(const Vec3& w) {
    const double angle = w.norm();
    return angle > 0.0 ? Mat3(Eigen::AngleAxisd(angle, w / angle).toRotationMatrix())
                       : Mat3(Mat3::Identity());
}

Quat shortest_turn(const Vec3& from, const Vec3& to) {
    return Quat::FromTwoVectors(from, to);
}

Mat3 nearest_rotation(const Mat3& A) {
    const RotationSvd svd = rotation_svd(A);
    return svd.u * svd.v.transpose();
}

}  // namespace tenon

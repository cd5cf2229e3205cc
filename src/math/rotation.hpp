// Rotations: cross-product matrices and axial vectors, exponential and logarithm maps, the rotation nearest to a matrix.
#pragma once

#include "tenon/types.hpp"

namespace tenon {

// skew(w) v = w x v.
inline Mat3 skew(const Vec3& w) {
    Mat3 W;
    W << 0, -w.z(), w.y(), w.z(), 0, -w.x(), -w.y(), w.x(), 0;
    return W;
}

// The vector w of the skew part of X: skew(w) = (X - X^T) / 2.
inline Vec3 axial(const Mat3& X) {
    return 0.5 * Vec3(X(2, 1) - X(1, 2), X(0, 2) - X(2, 0), X(1, 0) - X(0, 1));
}

// World-frame angular velocity of a linear part A, a rotation but for a little strain: the axial vector of dA/dt A^T.
inline Vec3 spin_of(const Mat3& A, const Mat3& A_rate) {
    return axial(A_rate * A.transpose());
}
inline Vec3 spin_of(const Mat34& q, const Mat34& rate) {
    const Mat3 W = rate.leftCols<3>() * q.leftCols<3>().transpose();
    return axial(W);
}

// exp of a rotation vector, accurate for tiny and for large angles; and its inverse, with an angle in [0, pi].
Quat exponential_map(const Vec3& rotation_vector);
Vec3 logarithm_map(const Quat& rotation);

// exp(skew(w)).
Mat3 rotation_matrix(const Vec3& w);

// The rotation by the least angle that takes one direction to another.
Quat shortest_turn(const Vec3& from, const Vec3& to);

// The rotation nearest to A in the Frobenius norm, for any sign of det A.
Mat3 nearest_rotation(const Mat3& A);

}  // namespace tenon

// Products of 3x3 matrices written out, so that they are inlined in the loops over links whatever the compiler thinks of
// expression templates.
#pragma once

#include "tenon/types.hpp"

namespace tenon::articulated {

[[gnu::always_inline]] inline Mat3 product(const Mat3& A, const Mat3& B) {
    Mat3 C;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) C(i, j) = A(i, 0) * B(0, j) + A(i, 1) * B(1, j) + A(i, 2) * B(2, j);
    return C;
}

// A^T B
[[gnu::always_inline]] inline Mat3 product_left_transposed(const Mat3& A, const Mat3& B) {
    Mat3 C;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) C(i, j) = A(0, i) * B(0, j) + A(1, i) * B(1, j) + A(2, i) * B(2, j);
    return C;
}

// A B^T
[[gnu::always_inline]] inline Mat3 product_right_transposed(const Mat3& A, const Mat3& B) {
    Mat3 C;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) C(i, j) = A(i, 0) * B(j, 0) + A(i, 1) * B(j, 1) + A(i, 2) * B(j, 2);
    return C;
}

[[gnu::always_inline]] inline Vec3 product(const Mat3& A, const Vec3& x) {
    return {A(0, 0) * x[0] + A(0, 1) * x[1] + A(0, 2) * x[2],
            A(1, 0) * x[0] + A(1, 1) * x[1] + A(1, 2) * x[2],
            A(2, 0) * x[0] + A(2, 1) * x[1] + A(2, 2) * x[2]};
}

// q (x, 1)
[[gnu::always_inline]] inline Vec3 point_at(const Mat34& q, const Vec3& x) {
    return {q(0, 0) * x[0] + q(0, 1) * x[1] + q(0, 2) * x[2] + q(0, 3),
            q(1, 0) * x[0] + q(1, 1) * x[1] + q(1, 2) * x[2] + q(1, 3),
            q(2, 0) * x[0] + q(2, 1) * x[1] + q(2, 2) * x[2] + q(2, 3)};
}

[[gnu::always_inline]] inline Mat3 linear_part(const Mat34& q) {
    Mat3 A;
    for (int k = 0; k < 9; ++k) A.data()[k] = q.data()[k];
    return A;
}

[[gnu::always_inline]] inline void set_linear_part(Mat34& q, const Mat3& A) {
    for (int k = 0; k < 9; ++k) q.data()[k] = A.data()[k];
}

}  // namespace tenon::articulated

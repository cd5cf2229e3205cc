// Singular values of 3x3 matrices with proper rotations on both sides.
#pragma once

#include "tenon/types.hpp"

namespace tenon {

// F = u diag(s) v^T with det u = det v = 1 and s0 >= s1 >= |s2|: the sign of det F is that of s2.
struct RotationSvd {
    Mat3 u;
    Vec3 s;
    Mat3 v;
};

RotationSvd rotation_svd(const Mat3& f);

}  // namespace tenon

// A symmetric 3x3 matrix as its six numbers: sums of many stay in registers.
#pragma once

#include "tenon/types.hpp"

namespace tenon {

struct Symmetric3 {
    double xx = 0.0, xy = 0.0, xz = 0.0, yy = 0.0, yz = 0.0, zz = 0.0;

    // s (I - n n^T)
    [[gnu::always_inline]] static Symmetric3 across(const Vec3& n, double s) {
        const double x = s * n[0], y = s * n[1], z = s * n[2];
        return {s - x * n[0], -x * n[1], -x * n[2], s - y * n[1], -y * n[2], s - z * n[2]};
    }
    // s v v^T
    [[gnu::always_inline]] void add_square(const Vec3& v, double s) {
        const double x = s * v[0], y = s * v[1], z = s * v[2];
        xx += x * v[0];
        xy += x * v[1];
        xz += x * v[2];
        yy += y * v[1];
        yz += y * v[2];
        zz += z * v[2];
    }
    // s (u v^T + v u^T)
    [[gnu::always_inline]] void add_product(const Vec3& u, const Vec3& v, double s) {
        const double x = s * u[0], y = s * u[1], z = s * u[2];
        xx += 2.0 * x * v[0];
        xy += x * v[1] + y * v[0];
        xz += x * v[2] + z * v[0];
        yy += 2.0 * y * v[1];
        yz += y * v[2] + z * v[1];
        zz += 2.0 * z * v[2];
    }
    [[gnu::always_inline]] void add(const Symmetric3& other) {
        xx += other.xx;
        xy += other.xy;
        xz += other.xz;
        yy += other.yy;
        yz += other.yz;
        zz += other.zz;
    }
    [[gnu::always_inline]] Vec3 column(int k) const {
        return k == 0 ? Vec3(xx, xy, xz) : k == 1 ? Vec3(xy, yy, yz) : Vec3(xz, yz, zz);
    }
    [[gnu::always_inline]] Vec3 operator*(const Vec3& v) const {
        return Vec3(xx * v[0] + xy * v[1] + xz * v[2], xy * v[0] + yy * v[1] + yz * v[2],
                    xz * v[0] + yz * v[1] + zz * v[2]);
    }
    Mat3 full() const {
        Mat3 M;
        M << xx, xy, xz, xy, yy, yz, xz, yz, zz;
        return M;
    }
};

}  // namespace tenon

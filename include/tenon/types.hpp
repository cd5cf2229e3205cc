// Small fixed-size vectors and matrices, by the names used throughout Tenon.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace tenon {

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Vec4 = Eigen::Vector4d;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Vec12 = Eigen::Matrix<double, 12, 1>;
using Mat2 = Eigen::Matrix2d;
using Mat3 = Eigen::Matrix3d;
using Mat4 = Eigen::Matrix4d;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using Mat12 = Eigen::Matrix<double, 12, 12>;
using VecX = Eigen::VectorXd;
using MatX = Eigen::MatrixXd;
using Quat = Eigen::Quaterniond;

// The affine map of a body, [a1 a2 a3 t]: stored by columns, so its 12 numbers in memory are the
// generalised coordinates q of the affine methods, in the one order used everywhere.
using Mat34 = Eigen::Matrix<double, 3, 4>;

using Edge = std::array<int, 2>;
using Triangle = std::array<int, 3>;
using Tet = std::array<int, 4>;

struct Pose {
    Vec3 position = Vec3::Zero();
    Quat rotation = Quat::Identity();
};

struct Box3 {
    Vec3 lo = Vec3::Constant(1e300);
    Vec3 hi = Vec3::Constant(-1e300);

    void add(const Vec3& point) {
        lo = lo.cwiseMin(point);
        hi = hi.cwiseMax(point);
    }
    void add(const Box3& other) {
        lo = lo.cwiseMin(other.lo);
        hi = hi.cwiseMax(other.hi);
    }
    void inflate(double margin) {
        lo.array() -= margin;
        hi.array() += margin;
    }
    bool empty() const { return (lo.array() > hi.array()).any(); }
    bool overlaps(const Box3& other) const {
        return (lo.array() <= other.hi.array()).all() && (other.lo.array() <= hi.array()).all();
    }
    bool contains(const Vec3& point) const {
        return (lo.array() <= point.array()).all() && (point.array() <= hi.array()).all();
    }
    Vec3 center() const { return 0.5 * (lo + hi); }
    Vec3 size() const { return hi - lo; }
    double diagonal() const { return empty() ? 0.0 : (hi - lo).norm(); }
};

inline Vec3 linear_part_times(const Mat34& q, const Vec3& x) {
    return q.leftCols<3>() * x;
}
inline Vec3 transform(const Mat34& q, const Vec3& x) {
    return q.leftCols<3>() * x + q.col(3);
}

inline Mat34 to_matrix(const Pose& pose) {
    Mat34 q;
    q.leftCols<3>() = pose.rotation.toRotationMatrix();
    q.col(3) = pose.position;
    return q;
}

}  // namespace tenon

#include "methods/affine/bodies.hpp"

namespace tenon::affine {

Inertia inertia_of(const Bodies& bodies, int body) {
    return {bodies.second_moments[body], bodies.mass[body]};
}

void HoldBuilder::fix_row(const Vec12& row) {
    // Gram-Schmidt, twice for round-off; dependent rows add nothing.
    Vec12 r = row.normalized();
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < count_; ++k) r -= rows_.row(k).dot(r) * rows_.row(k).transpose();
    const double rest = r.norm();
    if (count_ == 12 || rest < 1e-9) return;
    rows_.row(count_++) = (r / rest).transpose();
}

void HoldBuilder::fix_point(const Vec3& local, const Vec3& direction) {
    Vec12 row;
    for (int k = 0; k < 3; ++k) row.segment<3>(3 * k) = local[k] * direction;
    row.tail<3>() = direction;
    fix_row(row);
}

void HoldBuilder::fix_direction(const Vec3& local) {
    for (int axis = 0; axis < 3; ++axis) {
        Vec12 row = Vec12::Zero();
        for (int k = 0; k < 3; ++k) row[3 * k + axis] = local[k];
        fix_row(row);
    }
}

Mat12 HoldBuilder::projection() const {
    return Mat12::Identity() - rows_.topRows(count_).transpose() * rows_.topRows(count_);
}

void add_fixed_coordinates(HoldBuilder& hold, const std::array<bool, 6>& fixed, const Mat34& q) {
    for (int axis = 0; axis < 3; ++axis)
        if (fixed[axis]) hold.fix_point(Vec3::Zero(), Vec3::Unit(axis));
    const Mat3 A = q.leftCols<3>();
    const int turns_fixed = fixed[3] + fixed[4] + fixed[5];
    if (turns_fixed == 3) {
        for (int k = 0; k < 3; ++k) hold.fix_direction(Vec3::Unit(k));
    } else if (turns_fixed == 2) {
        // One free axis: the body's direction along it stays.
        const int axis = !fixed[3] ? 0 : !fixed[4] ? 1 : 2;
        hold.fix_direction(A.transpose() * Vec3::Unit(axis));
    } else if (turns_fixed == 1) {
        // No turning about one world axis: a condition on the rate, linear at the start of each step.
        const int axis = fixed[3] ? 0 : fixed[4] ? 1 : 2;
        const Mat3 turn = skew(Vec3::Unit(axis)) * A;
        Vec12 row = Vec12::Zero();
        row.head<9>() = Eigen::Map<const Eigen::Matrix<double, 9, 1>>(turn.data());
        hold.fix_row(row);
    }
}

}  // namespace tenon::affine

#include "tenon/inertia.hpp"

#include <Eigen/Eigenvalues>

namespace tenon {

InertiaSpec principal_inertia(const Mat3& inertia) {
    InertiaSpec result;
    Mat3 off = inertia;
    off.diagonal().setZero();
    if (off.isZero(0.0)) {
        result.moments = inertia.diagonal();
        return result;
    }
    const Eigen::SelfAdjointEigenSolver<Mat3> solver(inertia);
    Mat3 axes = solver.eigenvectors();
    if (axes.determinant() < 0) axes.col(0) *= -1;
    result.moments = solver.eigenvalues();
    result.axes = Quat(axes).normalized();
    return result;
}

Mat3 inertia_matrix(const InertiaSpec& inertia) {
    const Mat3 axes = inertia.axes.toRotationMatrix();
    return axes * inertia.moments.asDiagonal() * axes.transpose();
}

}  // namespace tenon

#include "methods/affine/rigidity.hpp"
#include "math/svd3.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

namespace tenon::affine {
namespace {

Eigen::Matrix<double, 9, 1> flatten(const Mat3& matrix) {
    return Eigen::Map<const Eigen::Matrix<double, 9, 1>>(matrix.data());
}

// The rotation mode of axes i, j: U (e_i e_j^T - e_j e_i^T) V^T / sqrt 2.
Eigen::Matrix<double, 9, 1> twist_mode(const RotationSvd& svd, int i, int j) {
    const Mat3 mode = svd.u.col(i) * svd.v.col(j).transpose() - svd.u.col(j) * svd.v.col(i).transpose();
    return flatten(mode) * std::sqrt(0.5);
}

constexpr int pairs[3][2] = {{0, 1}, {1, 2}, {2, 0}};

// 2 |dC|^2 + 4 tr(dA C dA^T): Gauss-Newton part plus 4 C (x) I3 (Eq. 8). Projecting the 3x3 matrix C is enough.
Mat9 orthogonality_hessian(const Mat3& A, bool project) {
    Mat9 H;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) H.block<3, 3>(3 * i, 3 * j) = 4.0 * A.col(j) * A.col(i).transpose();
    const Mat3 all = 4.0 * A * A.transpose();
    for (int i = 0; i < 3; ++i) H.block<3, 3>(3 * i, 3 * i) += all;
    const Mat3 C = strain(A);
    const Mat3 stress = 4.0 * (project ? positive_part(C) : C);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) H.block<3, 3>(3 * i, 3 * j).diagonal().array() += stress(i, j);
    return H;
}

// 8 I - 8 dR/dA: the rotation modes have eigenvalue 8 - 16 / (s_i + s_j), all others 8.
Mat9 arap_hessian(const Mat3& A, bool project) {
    const RotationSvd svd = rotation_svd(A);
    Mat9 H = 8.0 * Mat9::Identity();
    for (const auto& [i, j] : pairs) {
        double softening = 16.0 / std::max(svd.s(i) + svd.s(j), 1e-6);
        if (project) softening = std::min(softening, 8.0);
        const auto mode = twist_mode(svd, i, j);
        H -= softening * mode * mode.transpose();
    }
    return H;
}

// 4 dA + 4 A^-T dA^T A^-T: only the rotation modes, 4 - 4 / (s_i s_j), can be negative.
Mat9 neo_hookean_hessian(const Mat3& A, bool project) {
    const Mat3 B = A.inverse().transpose();
    Mat9 H = 4.0 * Mat9::Identity();
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) H.block<3, 3>(3 * i, 3 * j) += 4.0 * B.col(j) * B.col(i).transpose();
    if (!project) return H;
    const RotationSvd svd = rotation_svd(A);
    for (const auto& [i, j] : pairs) {
        const double eigenvalue = 4.0 - 4.0 / (svd.s(i) * svd.s(j));
        if (eigenvalue >= 0.0) continue;
        const auto mode = twist_mode(svd, i, j);
        H -= eigenvalue * mode * mode.transpose();
    }
    return H;
}

}  // namespace

RigidityModel rigidity_model(const std::string& name) {
    if (name == "arap") return RigidityModel::arap;
    if (name == "neo-hookean") return RigidityModel::neo_hookean;
    return RigidityModel::orthogonality;
}

Mat3 positive_part(const Mat3& symmetric) {
    const Eigen::SelfAdjointEigenSolver<Mat3> eigen(symmetric);
    if (eigen.eigenvalues()(0) >= 0.0) return symmetric;
    const Vec3 kept = eigen.eigenvalues().cwiseMax(0.0);
    return eigen.eigenvectors() * kept.asDiagonal() * eigen.eigenvectors().transpose();
}

double rigidity_energy(RigidityModel model, const Mat3& A) {
    switch (model) {
        case RigidityModel::arap: {
            const Vec3 s = rotation_svd(A).s;
            return 4.0 * (s.array() - 1.0).square().sum();
        }
        case RigidityModel::neo_hookean: {
            const double det = A.determinant();
            if (det <= 0.0) return 1e300;
            return 2.0 * (A.squaredNorm() - 3.0) - 4.0 * std::log(det);
        }
        default:
            return strain(A).squaredNorm();
    }
}

Mat3 rigidity_gradient(RigidityModel model, const Mat3& A) {
    switch (model) {
        case RigidityModel::arap: {
            const RotationSvd svd = rotation_svd(A);
            return 8.0 * (A - svd.u * svd.v.transpose());
        }
        case RigidityModel::neo_hookean:
            return 4.0 * (A - Mat3(A.inverse().transpose()));
        default:
            return 4.0 * A * strain(A);
    }
}

Mat9 rigidity_hessian(RigidityModel model, const Mat3& A, bool project) {
    switch (model) {
        case RigidityModel::arap:
            return arap_hessian(A, project);
        case RigidityModel::neo_hookean:
            return neo_hookean_hessian(A, project);
        default:
            return orthogonality_hessian(A, project);
    }
}

}  // namespace tenon::affine

#include "methods/articulated/corotated.hpp"

#include <Eigen/SVD>
#include <cmath>

namespace tenon::articulated {

BodyKind make_kind(double mass, const Vec3& second_moments, double volume, double young, double poisson) {
    BodyKind kind;
    kind.mass = mass;
    kind.moments = second_moments;
    kind.volume_mu = volume * young / (2.0 * (1.0 + poisson));
    kind.volume_lambda = volume * young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    return kind;
}

KindMatrix make_kind_matrix(const BodyKind& kind, double eta) {
    KindMatrix matrix;
    const double rate = 1.0 / (eta * eta);
    matrix.mass_rate = kind.mass * rate;
    matrix.inertia = kind.moments * rate;
    matrix.volume_mu = kind.volume_mu;
    matrix.volume_lambda = kind.volume_lambda;
    matrix.translation_inverse = 1.0 / matrix.mass_rate;
    // (D + c 1 1^T)^-1 by Sherman and Morrison, D diagonal.
    const Vec3 d = (matrix.inertia.array() + 2.0 * kind.volume_mu).inverse();
    matrix.stretch_inverse =
        -(kind.volume_lambda / (1.0 + kind.volume_lambda * d.sum())) * (d * d.transpose());
    matrix.stretch_inverse.diagonal() += d;
    return matrix;
}

Polar safe_polar(const Mat3& A) {
    Polar polar;
    Mat3 R = A;
    Mat3 C = product_left_transposed(R, R);
    const double start = (C - Mat3::Identity()).cwiseAbs().maxCoeff();
    polar.fallback = !(start < 0.4) || A.determinant() <= 0.0;
    if (!polar.fallback) {
        double error = start;
        for (int iteration = 0; iteration < 12 && error > 4e-16; ++iteration) {
            const Mat3 factor = 1.5 * Mat3::Identity() - 0.5 * C;
            R = product(R, factor);
            if (error < 1e-8) break;  // quadratic: the next error is below round-off
            C = product_left_transposed(R, R);
            error = (C - Mat3::Identity()).cwiseAbs().maxCoeff();
        }
    } else {
        const Eigen::JacobiSVD<Mat3> svd(A, Eigen::ComputeFullU | Eigen::ComputeFullV);
        Mat3 U = svd.matrixU();
        if ((U * svd.matrixV().transpose()).determinant() < 0.0) U.col(2) = -U.col(2);
        R.noalias() = U * svd.matrixV().transpose();
    }
    polar.rotation = R;
    const Mat3 S = product_left_transposed(R, A);
    polar.stretch = 0.5 * (S + S.transpose());
    return polar;
}

Mat3 normalised_columns(const Mat3& A) {
    Mat3 R = A;
    for (int k = 0; k < 3; ++k) R.col(k) *= 1.0 / R.col(k).norm();
    return R;
}

Mat12 dense_body_matrix(const KindMatrix& kind, const Vec3& g, const Mat3& rotation) {
    Eigen::Matrix<double, 9, 9> local = Eigen::Matrix<double, 9, 9>::Zero();  // F stored by columns
    const auto at = [](int i, int j) { return i + 3 * j; };
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) local(at(i, i), at(j, j)) = kind.volume_lambda;
        local(at(i, i), at(i, i)) += kind.inertia[i] + 2.0 * kind.volume_mu;
    }
    for (int p = 0; p < 3; ++p) {
        const int i = (p + 1) % 3, j = (p + 2) % 3;
        local(at(i, j), at(i, j)) = kind.inertia[j] + kind.volume_mu + g[p];
        local(at(j, i), at(j, i)) = kind.inertia[i] + kind.volume_mu + g[p];
        local(at(i, j), at(j, i)) = local(at(j, i), at(i, j)) = kind.volume_mu - g[p];
    }
    Mat12 H = Mat12::Zero();
    for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l)
            H.block<3, 3>(3 * k, 3 * l) = rotation * local.block<3, 3>(3 * k, 3 * l) * rotation.transpose();
    H.block<3, 3>(9, 9).diagonal().setConstant(kind.mass_rate);
    return H;
}

}  // namespace tenon::articulated

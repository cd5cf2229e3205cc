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
    kind.gyration = std::sqrt(second_moments.sum() / mass);
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
    matrix.rigid = kind.rigid;
    matrix.gyration = kind.gyration;
    if (kind.rigid) return matrix;
    // (D + c 1 1^T)^-1 by Sherman and Morrison, D diagonal.
    const Vec3 d = (matrix.inertia.array() + 2.0 * kind.volume_mu).inverse();
    matrix.stretch_inverse =
        -(kind.volume_lambda / (1.0 + kind.volume_lambda * d.sum())) * (d * d.transpose());
    matrix.stretch_inverse.diagonal() += d;
    return matrix;
}

Mat3 turn_matrix(const KindMatrix& kind, const Mat3& stress) {
    const double trace = stress.trace();
    Mat3 G = -stress;
    G.diagonal().array() += trace;
    // positive semidefinite by its minors, or bounded from above pair by pair
    const double size = G.cwiseAbs().maxCoeff(), none = -1e-12 * size;
    const double m2 = G(0, 0) * G(1, 1) - G(0, 1) * G(1, 0), m1 = G(1, 1) * G(2, 2) - G(1, 2) * G(2, 1),
                 m3 = G(0, 0) * G(2, 2) - G(0, 2) * G(2, 0);
    const bool definite = G(0, 0) >= none && G(1, 1) >= none && G(2, 2) >= none && m1 >= none * size &&
                          m2 >= none * size && m3 >= none * size && G.determinant() >= none * size * size;
    if (!definite) {
        const Vec3 g = geometric_stiffness(stress);
        G = Mat3::Zero();
        for (int p = 0; p < 3; ++p) G(p, p) = 4.0 * g[p];
    }
    for (int p = 0; p < 3; ++p) G(p, p) += kind.inertia[(p + 1) % 3] + kind.inertia[(p + 2) % 3];
    return G;
}

BodyInverse make_rigid_inverse(const KindMatrix& kind, const Mat3& stress) {
    BodyInverse inverse;
    inverse.kind = &kind;
    inverse.turn = turn_matrix(kind, stress).inverse();
    inverse.turn = (0.5 * (inverse.turn + inverse.turn.transpose())).eval();
    return inverse;
}

Mat3 exponential(const Vec3& w) {
    const double square = w.squaredNorm();
    double s = 1.0 - square / 6.0 * (1.0 - square / 20.0), c = 0.5 - square / 24.0 * (1.0 - square / 30.0);
    if (square > 1e-4) {
        const double angle = std::sqrt(square), half = std::sin(0.5 * angle) / angle;
        s = std::sin(angle) / angle;
        c = 2.0 * half * half;
    }
    const Mat3 W = skew(w);
    return Mat3::Identity() + s * W + c * product(W, W);
}

void retract(const KindMatrix& kind, const Mat3& F, Mat3& rotation, Mat3& stretch) {
    Vec3 w = 0.5 * torque_of(F);
    if (kind.rigid) {
        stretch.setIdentity();
    } else {
        Mat3 K = -stretch;
        K.diagonal().array() += stretch.trace();
        w = K.inverse() * torque_of(F);
        const Mat3 dS = F - product(skew(w), stretch);
        stretch += 0.5 * (dS + dS.transpose());
    }
    rotation = product(rotation, exponential(w));
    // one step of R <- R (3 I - R^T R)/2 keeps round-off from adding up
    const Mat3 C = product_left_transposed(rotation, rotation);
    rotation = product(rotation, Mat3(1.5 * Mat3::Identity() - 0.5 * C));
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

#include "model/elastic_model.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <stdexcept>

#include "math/svd3.hpp"

namespace tenon {
namespace {

// Energy and its first and second derivatives over the singular values.
struct Principal {
    double energy = 0;
    Vec3 gradient = Vec3::Zero();
    Mat3 hessian = Mat3::Zero();
};

// The stable neo-Hookean energy's parameters that match linear elasticity at rest.
struct NeoHookean {
    double mu, lambda, alpha;
    explicit NeoHookean(const Lame& m)
        : mu(4.0 / 3.0 * m.mu), lambda(m.lambda + 5.0 / 6.0 * m.mu), alpha(1 + 0.75 * mu / lambda) {}
};

// Derivative of the determinant, and the derivative of that along d.
Mat3 cofactor(const Mat3& f) {
    Mat3 c;
    c << f.col(1).cross(f.col(2)), f.col(2).cross(f.col(0)), f.col(0).cross(f.col(1));
    return c;
}
Mat3 cofactor_change(const Mat3& f, const Mat3& d) {
    Mat3 c;
    c << d.col(1).cross(f.col(2)) + f.col(1).cross(d.col(2)),
        d.col(2).cross(f.col(0)) + f.col(2).cross(d.col(0)),
        d.col(0).cross(f.col(1)) + f.col(0).cross(d.col(1));
    return c;
}

Mat3 stvk_second_stress(const Lame& m, const Mat3& f) {
    const Mat3 e = 0.5 * (f.transpose() * f - Mat3::Identity());
    return 2 * m.mu * e + m.lambda * e.trace() * Mat3::Identity();
}

Principal neo_hookean(const Lame& m, const Vec3& s) {
    const auto [mu, lambda, alpha] = NeoHookean(m);
    const double c = s.squaredNorm(), j = s.prod();
    const Vec3 dj(s[1] * s[2], s[2] * s[0], s[0] * s[1]);
    Principal p;
    p.energy = 0.5 * mu * (c - 3) + 0.5 * lambda * (j - alpha) * (j - alpha) - 0.5 * mu * std::log(c + 1);
    p.energy -= 0.5 * lambda * (1 - alpha) * (1 - alpha) - 0.5 * mu * std::log(4.0);  // zero at rest
    const double factor = mu * (1 - 1 / (c + 1));
    p.gradient = factor * s + lambda * (j - alpha) * dj;
    p.hessian = factor * Mat3::Identity() + (2 * mu / ((c + 1) * (c + 1))) * s * s.transpose() +
                lambda * dj * dj.transpose();
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            if (i != k) p.hessian(i, k) += lambda * (j - alpha) * s[3 - i - k];
    return p;
}

Principal stvk(const Lame& m, const Vec3& s) {
    const Vec3 e = 0.5 * (s.cwiseProduct(s) - Vec3::Ones());
    const Vec3 stress = 2 * m.mu * e + Vec3::Constant(m.lambda * e.sum());  // dE/de
    Principal p;
    p.energy = m.mu * e.squaredNorm() + 0.5 * m.lambda * e.sum() * e.sum();
    p.gradient = s.cwiseProduct(stress);
    p.hessian = m.lambda * s * s.transpose();
    p.hessian.diagonal() += 2 * m.mu * s.cwiseProduct(s) + stress;
    return p;
}

Principal corotational(const Lame& m, const Vec3& s) {
    const Vec3 e = s - Vec3::Ones();
    Principal p;
    p.energy = m.mu * e.squaredNorm() + 0.5 * m.lambda * e.sum() * e.sum();
    p.gradient = 2 * m.mu * e + Vec3::Constant(m.lambda * e.sum());
    p.hessian = Mat3::Constant(m.lambda);
    p.hessian.diagonal().array() += 2 * m.mu;
    return p;
}

Principal principal(ElasticModel model, const Lame& material, const Vec3& s) {
    switch (model) {
        case ElasticModel::neo_hookean:
            return neo_hookean(material, s);
        case ElasticModel::stvk:
            return stvk(material, s);
        case ElasticModel::corotational:
            break;
    }
    return corotational(material, s);
}

Mat3 clamp_eigenvalues(const Mat3& m) {
    Eigen::SelfAdjointEigenSolver<Mat3> eigen;
    eigen.computeDirect(m);
    return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() *
           eigen.eigenvectors().transpose();
}

}  // namespace

ElasticModel elastic_model(const std::string& name) {
    if (name == "neo-hookean") return ElasticModel::neo_hookean;
    if (name == "stvk") return ElasticModel::stvk;
    if (name == "corotational") return ElasticModel::corotational;
    throw std::invalid_argument("unknown elastic model " + name);
}

Lame lame_parameters(double young, double poisson) {
    return {young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))};
}

// Only the co-rotational model needs the singular values themselves for energy and stress.
double elastic_energy(ElasticModel model, const Lame& material, const Mat3& f) {
    if (model == ElasticModel::neo_hookean) {
        const NeoHookean n(material);
        const double c = f.squaredNorm(), j = f.determinant() - n.alpha;
        return 0.5 * n.mu * (c - 3 - std::log(0.25 * (c + 1))) +
               0.5 * n.lambda * (j * j - (1 - n.alpha) * (1 - n.alpha));
    }
    if (model == ElasticModel::stvk) {
        const Mat3 e = 0.5 * (f.transpose() * f - Mat3::Identity());
        return material.mu * e.squaredNorm() + 0.5 * material.lambda * e.trace() * e.trace();
    }
    return principal(model, material, rotation_svd(f).s).energy;
}

Mat3 elastic_stress(ElasticModel model, const Lame& material, const Mat3& f) {
    if (model == ElasticModel::neo_hookean) {
        const NeoHookean n(material);
        return n.mu * (1 - 1 / (f.squaredNorm() + 1)) * f +
               n.lambda * (f.determinant() - n.alpha) * cofactor(f);
    }
    if (model == ElasticModel::stvk) return f * stvk_second_stress(material, f);
    const RotationSvd svd = rotation_svd(f);
    return svd.u * principal(model, material, svd.s).gradient.asDiagonal() * svd.v.transpose();
}

// In the frames of the singular vectors the 9x9 matrix falls apart into one 3x3 block on the diagonal entries,
// and for each pair (i, j) a symmetric and an antisymmetric mode with eigenvalues
//   (g_i - g_j) / (s_i - s_j)   and   (g_i + g_j) / (s_i + s_j).
ElasticResponse elastic_response(ElasticModel model, const Lame& material, const Mat3& f, bool project) {
    const RotationSvd svd = rotation_svd(f);
    const Vec3& s = svd.s;
    const Principal p = principal(model, material, s);
    const double scale = material.mu + material.lambda;
    const auto clamped = [project](double value) { return project && value < 0 ? 0.0 : value; };

    const Mat3 stretch = project ? clamp_eigenvalues(p.hessian) : p.hessian;
    std::array<Eigen::Matrix<double, 9, 1>, 3> diagonal;
    for (int i = 0; i < 3; ++i) {
        const Mat3 d = svd.u.col(i) * svd.v.col(i).transpose();
        diagonal[i] = Eigen::Map<const Eigen::Matrix<double, 9, 1>>(d.data());
    }
    Mat9 h = Mat9::Zero();
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) h += stretch(i, j) * diagonal[i] * diagonal[j].transpose();
    for (int i = 0; i < 3; ++i)
        for (int j = i + 1; j < 3; ++j) {
            const double difference = s[i] - s[j], sum = s[i] + s[j];
            const double symmetric = std::abs(difference) > 1e-6
                                         ? (p.gradient[i] - p.gradient[j]) / difference
                                         : p.hessian(i, i) - p.hessian(i, j);
            // as s_i + s_j passes through zero the mode's stiffness has a pole: it is cut off at a large value
            const double safe = std::abs(sum) > 1e-6 ? sum : std::copysign(1e-6, sum);
            const double antisymmetric =
                std::clamp((p.gradient[i] + p.gradient[j]) / safe, -1e6 * scale, 1e6 * scale);
            const Mat3 ij = svd.u.col(i) * svd.v.col(j).transpose(),
                       ji = svd.u.col(j) * svd.v.col(i).transpose();
            const Mat3 even = (ij + ji) * M_SQRT1_2, odd = (ij - ji) * M_SQRT1_2;
            const Eigen::Map<const Eigen::Matrix<double, 9, 1>> e(even.data()), o(odd.data());
            h += clamped(symmetric) * e * e.transpose() + clamped(antisymmetric) * o * o.transpose();
        }
    return {svd.u * p.gradient.asDiagonal() * svd.v.transpose(), h};
}

Mat9 elastic_stiffness(ElasticModel model, const Lame& material, const Mat3& f, bool project) {
    return elastic_response(model, material, f, project).stiffness;
}

ElasticDifferential elastic_differential(ElasticModel model, const Lame& material, const Mat3& f,
                                         const Mat3& df) {
    ElasticDifferential d;
    if (model == ElasticModel::neo_hookean) {
        const NeoHookean n(material);
        const Mat3 cof = cofactor(f);
        const double c = f.squaredNorm() + 1, stretch = n.mu * (1 - 1 / c),
                     pressure = n.lambda * (f.determinant() - n.alpha);
        const double along_f = f.cwiseProduct(df).sum(), along_cof = cof.cwiseProduct(df).sum();
        d.stress = stretch * f + pressure * cof;
        d.change = stretch * df + (2 * n.mu * along_f / (c * c)) * f + (n.lambda * along_cof) * cof +
                   pressure * cofactor_change(f, df);
    } else if (model == ElasticModel::stvk) {
        const Mat3 s = stvk_second_stress(material, f);
        const Mat3 half = f.transpose() * df, e = 0.5 * (half + half.transpose());
        d.stress = f * s;
        d.change = df * s + f * (2 * material.mu * e + material.lambda * e.trace() * Mat3::Identity());
    } else {
        const ElasticResponse response = elastic_response(model, material, f, false);
        d.stress = response.stress;
        Eigen::Map<Eigen::Matrix<double, 9, 1>>(d.change.data()) =
            response.stiffness * Eigen::Map<const Eigen::Matrix<double, 9, 1>>(df.data());
    }
    return d;
}

}  // namespace tenon

// One co-rotated affine body in its principal frame: energy, stress, and the closed-form inverse of its matrix.
//
// Elastic energy of q = [A t] with A = R S (polar decomposition):  V (mu |S - I|^2 + lambda/2 tr(S - I)^2).
// The body matrix in the rotated frame has, for an increment F = R^T dA,
//   one constant 3x3 block for the diagonal entries of F: diag(I_k/eta^2 + 2 V mu) + V lambda,
//   one 2x2 block per pair (F_ij, F_ji), with the geometric stiffness g of the stress,
//   one scalar m/eta^2 for the translation,
// so that its inverse needs no factorisation. eta is the effective step: h (implicit Euler) or 2h/3 (BDF2).
//
// A rigid body is the limit of infinite stiffness. Its increments are turns, F = [w]: the 3x3 block's inverse vanishes, and the
// three 2x2 inverses become [1 -1; -1 1]/K_pp with the matrix of turns K = diag(I_i + I_j)/eta^2 + tr(VP) - VP. The stress VP no
// longer comes from strain but from the forces, VP = sym R^T (sum of all affine forces on the body).
#pragma once

#include <algorithm>
#include <cmath>

#include "math/rotation.hpp"
#include "methods/articulated/small_products.hpp"
#include "tenon/model.hpp"
#include "tenon/types.hpp"

namespace tenon::articulated {

// Bodies are elastic when the scene gives their material a modulus, and rigid otherwise. What has no volume has no stiffness to give.
inline bool is_elastic(const Model& model, int body) {
    return model.materials[model.bodies.material[body]].young_given && model.bodies.volume[body] > 0.0;
}

// What alike bodies share: mass distribution and stiffness.
struct BodyKind {
    double mass = 1.0;
    Vec3 moments = Vec3::Ones();  // integral of rho x_k^2 in the principal frame
    double volume_mu = 0.0;       // V mu
    double volume_lambda = 0.0;   // V lambda
    bool rigid = false;           // no strain at all: the two above are not used
    double gyration = 1.0;        // m, root of (sum of moments / mass): turns torques into forces
};

BodyKind make_kind(double mass, const Vec3& second_moments, double volume, double young, double poisson);

// The step-dependent constants of a kind.
struct KindMatrix {
    double mass_rate = 0.0;       // m/eta^2
    Vec3 inertia = Vec3::Zero();  // I_k/eta^2
    double volume_mu = 0.0, volume_lambda = 0.0;
    Mat3 stretch_inverse = Mat3::Zero();  // of the 3x3 block of the diagonal entries
    double translation_inverse = 0.0;     // eta^2/m
    bool rigid = false;
    double gyration = 1.0;
};

KindMatrix make_kind_matrix(const BodyKind& kind, double eta);

// Rotation nearest to A. Near a rotation by the iteration R <- R (3 I - R^T R)/2; far from one, or when A is
// inverted, by a singular value decomposition with the determinant fixed (`fallback`).
struct Polar {
    Mat3 rotation;
    Mat3 stretch;  // symmetric part of R^T A
    bool fallback = false;
};
Polar safe_polar(const Mat3& A);

// The polar-free normalisation of the paper (Eq. 17), column by column.
Mat3 normalised_columns(const Mat3& A);

// Stress times volume, V P with P = 2 mu (S - I) + lambda tr(S - I) I, and the energy of that strain.
inline Mat3 volume_stress(const KindMatrix& kind, const Mat3& stretch) {
    const Mat3 strain = stretch - Mat3::Identity();
    Mat3 stress = 2.0 * kind.volume_mu * strain;
    stress.diagonal().array() += kind.volume_lambda * strain.trace();
    return stress;
}

// The stretch that has this stress.
inline Mat3 stretch_of_stress(const KindMatrix& kind, const Mat3& stress) {
    const double pressure =
        kind.volume_lambda * stress.trace() / (2.0 * kind.volume_mu + 3.0 * kind.volume_lambda);
    Mat3 stretch = stress / (2.0 * kind.volume_mu);
    stretch.diagonal().array() += 1.0 - pressure / (2.0 * kind.volume_mu);
    return stretch;
}

inline double elastic_energy(const KindMatrix& kind, const Mat3& stretch) {
    const Mat3 strain = stretch - Mat3::Identity();
    const double trace = strain.trace();
    return kind.volume_mu * strain.squaredNorm() + 0.5 * kind.volume_lambda * trace * trace;
}

// Inertial part of the incremental potential, |q - target|^2_M / (2 eta^2).
inline double inertial_energy(const KindMatrix& kind, const Mat34& q, const Mat34& target) {
    double sum = 0.0;
    for (int k = 0; k < 4; ++k) {
        const double x = q(0, k) - target(0, k), y = q(1, k) - target(1, k), z = q(2, k) - target(2, k);
        sum += (k < 3 ? kind.inertia[k] : kind.mass_rate) * (x * x + y * y + z * z);
    }
    return 0.5 * sum;
}

// Minus the gradient of the incremental potential. The stress of a rigid body does not push: it is made by the other forces.
inline Mat34 body_force(const KindMatrix& kind, const Mat34& q, const Mat34& target, const Mat3& rotation,
                        const Mat3& stress) {
    Mat34 force;
    const Mat3 elastic = kind.rigid ? Mat3(Mat3::Zero()) : product(rotation, stress);
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i) force(i, k) = -elastic(i, k) - kind.inertia[k] * (q(i, k) - target(i, k));
    for (int i = 0; i < 3; ++i) force(i, 3) = -kind.mass_rate * (q(i, 3) - target(i, 3));
    return force;
}

// The inverse body matrix in the rotated frame. Pair p is (i, j) = (p+1, p+2) mod 3.
struct BodyInverse {
    const KindMatrix* kind = nullptr;
    Vec3 ij = Vec3::Zero();     // (F_ij, F_ij) entry
    Vec3 ji = Vec3::Zero();     // (F_ji, F_ji) entry
    Vec3 cross = Vec3::Zero();  // (F_ij, F_ji) entry
    Mat3 turn;                  // of rigid bodies, instead of the above: K^-1
};

// Geometric stiffness of each pair: g = max(0, V (P_ii + P_jj + |P_ik| + |P_jk|) / 4).
inline Vec3 geometric_stiffness(const Mat3& stress) {
    Vec3 g;
    for (int p = 0; p < 3; ++p) {
        const int i = (p + 1) % 3, j = (p + 2) % 3;
        g[p] = std::max(
            0.0, 0.25 * (stress(i, i) + stress(j, j) + std::abs(stress(i, p)) + std::abs(stress(j, p))));
    }
    return g;
}

inline BodyInverse make_body_inverse(const KindMatrix& kind, const Vec3& g) {
    BodyInverse inverse;
    inverse.kind = &kind;
    for (int p = 0; p < 3; ++p) {
        const double a_i = kind.inertia[(p + 1) % 3], a_j = kind.inertia[(p + 2) % 3];
        const double stiff = kind.volume_mu + g[p];
        // Expanded determinant: subtracting squares would lose seven digits for small steel parts.
        const double scale = 1.0 / (a_i * a_j + (a_i + a_j) * stiff + 4.0 * kind.volume_mu * g[p]);
        inverse.ij[p] = (a_i + stiff) * scale;
        inverse.ji[p] = (a_j + stiff) * scale;
        inverse.cross[p] = -(kind.volume_mu - g[p]) * scale;
    }
    return inverse;
}

// What is skew in G, as the torque of its columns: sum_k e_k x G_k.
inline Vec3 torque_of(const Mat3& G) {
    return 2.0 * axial(G);
}

// The matrix of turns K of a rigid body; where its geometric part is indefinite, its bound from above.
Mat3 turn_matrix(const KindMatrix& kind, const Mat3& stress);
BodyInverse make_rigid_inverse(const KindMatrix& kind, const Mat3& stress);

// The inverse of a body's matrix under the given stress, elastic or rigid.
inline BodyInverse make_body_inverse(const KindMatrix& kind, const Mat3& stress) {
    return kind.rigid ? make_rigid_inverse(kind, stress)
                      : make_body_inverse(kind, geometric_stiffness(stress));
}

// F = H^-1 G for the affine part, both in the rotated frame.
inline Mat3 apply_rotated(const BodyInverse& inverse, const Mat3& G) {
    if (inverse.kind->rigid) return skew(product(inverse.turn, torque_of(G)));
    Mat3 F;
    const Vec3 stretched = product(inverse.kind->stretch_inverse, Vec3(G(0, 0), G(1, 1), G(2, 2)));
    for (int k = 0; k < 3; ++k) F(k, k) = stretched[k];
    for (int p = 0; p < 3; ++p) {
        const int i = (p + 1) % 3, j = (p + 2) % 3;
        F(i, j) = inverse.ij[p] * G(i, j) + inverse.cross[p] * G(j, i);
        F(j, i) = inverse.cross[p] * G(i, j) + inverse.ji[p] * G(j, i);
    }
    return F;
}

// H^-1 force. The force is the world's; the affine part F of the increment is in the rotated frame, dA = R F.
inline Mat34 apply(const BodyInverse& inverse, const Mat3& rotation, const Mat34& force) {
    const Mat3 rotated = product_left_transposed(rotation, linear_part(force));
    Mat34 out;
    set_linear_part(out, apply_rotated(inverse, rotated));
    for (int i = 0; i < 3; ++i) out(i, 3) = inverse.kind->translation_inverse * force(i, 3);
    return out;
}

// Movement of body point x under a unit force at body point y, in the rotated frame: J(x) H^-1 J(y)^T.
inline Mat3 point_compliance(const BodyInverse& inverse, const Vec3& x, const Vec3& y) {
    if (inverse.kind->rigid) {
        Mat3 S = -product(skew(x), product(inverse.turn, skew(y)));
        S.diagonal().array() += inverse.kind->translation_inverse;
        return S;
    }
    const Mat3& stretch = inverse.kind->stretch_inverse;
    Mat3 S;
    for (int i = 0; i < 3; ++i) S(i, i) = stretch(i, i) * x[i] * y[i] + inverse.kind->translation_inverse;
    for (int p = 0; p < 3; ++p) {
        const int i = (p + 1) % 3, j = (p + 2) % 3;
        S(i, i) += inverse.ij[p] * x[j] * y[j];
        S(j, j) += inverse.ji[p] * x[i] * y[i];
        S(i, j) = stretch(i, j) * x[i] * y[j] + inverse.cross[p] * x[j] * y[i];
        S(j, i) = stretch(i, j) * x[j] * y[i] + inverse.cross[p] * x[i] * y[j];
    }
    return S;
}

// exp([w]), to round-off.
Mat3 exponential(const Vec3& w);

// A <- R exp([w]) (S + dS) for the increment F in the frame of R, where A = R S: turns turn, and only what is symmetric
// strains (of a rigid body nothing does). With F = [w] S + dS, dS symmetric: (tr(S) - S) w = torque of F.
void retract(const KindMatrix& kind, const Mat3& F, Mat3& rotation, Mat3& stretch);

// The body matrix itself, 12x12 in the world frame: for oracles, and for bodies that carry contact terms.
Mat12 dense_body_matrix(const KindMatrix& kind, const Vec3& g, const Mat3& rotation);

}  // namespace tenon::articulated

// One co-rotated body: derivatives by finite differences, the closed-form inverse against a dense one.
#include "methods/articulated/contacts.hpp"
#include "methods/articulated/corotated.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>
#include <set>

using namespace tenon;
using namespace tenon::articulated;

namespace {

std::mt19937 engine(11);
double uniform() {
    return std::uniform_real_distribution<double>(-1, 1)(engine);
}
Mat3 random_matrix() {
    Mat3 m;
    for (int i = 0; i < 9; ++i) m(i % 3, i / 3) = uniform();
    return m;
}
Mat3 random_rotation() {
    return Quat(Vec4(uniform(), uniform(), uniform(), uniform()).normalized()).toRotationMatrix();
}

BodyKind steel_link() {
    return make_kind(0.314, {2.6e-4, 1.0e-5, 1.1e-5}, 4e-5, 2e11, 0.3);
}
BodyKind soft_block() {
    return make_kind(2.0, {0.02, 0.03, 0.05}, 2e-3, 1e5, 0.4);
}

Vec12 flat(const Mat34& q) {
    return Eigen::Map<const Vec12>(q.data());
}
Mat34 unflat(const Vec12& v) {
    return Eigen::Map<const Mat34>(v.data());
}

}  // namespace

TEST(SafePolar, FindsTheRotationNearAndFar) {
    for (double strain : {0.0, 1e-9, 1e-3, 0.1, 0.7}) {
        const Mat3 R = random_rotation();
        Mat3 E = random_matrix();
        E = (0.25 * strain * (E + E.transpose())).eval();
        const Mat3 S = Mat3::Identity() + E;
        const Polar polar = safe_polar(R * S);
        EXPECT_LT((polar.rotation - R).norm(), 1e-13) << strain;
        EXPECT_LT((polar.stretch - S).norm(), 1e-13) << strain;
    }
    Mat3 inverted = random_rotation();
    inverted.col(1) *= -1.2;
    const Polar polar = safe_polar(inverted);
    EXPECT_TRUE(polar.fallback);
    EXPECT_NEAR(polar.rotation.determinant(), 1.0, 1e-12);
    EXPECT_LT((polar.rotation.transpose() * polar.rotation - Mat3::Identity()).norm(), 1e-12);
}

TEST(Corotated, ForceIsMinusTheGradientOfTheIncrementalPotential) {
    const KindMatrix kind = make_kind_matrix(soft_block(), 0.02);
    Mat34 q, target;
    q.leftCols<3>() = random_rotation() * (Mat3::Identity() + 0.1 * random_matrix());
    q.col(3) = Vec3(0.1, 0.2, 0.3);
    target = q + Mat34::Constant(0.01);
    const auto energy = [&](const Mat34& x) {
        return inertial_energy(kind, x, target) + elastic_energy(kind, safe_polar(x.leftCols<3>()).stretch);
    };
    const Polar polar = safe_polar(q.leftCols<3>());
    const Mat34 force = body_force(kind, q, target, polar.rotation, volume_stress(kind, polar.stretch));
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 4; ++c) {
            Mat34 up = q, down = q;
            up(r, c) += 1e-5;
            down(r, c) -= 1e-5;
            EXPECT_NEAR(-(energy(up) - energy(down)) / 2e-5, force(r, c), 1e-5 * (1 + std::abs(force(r, c))));
        }
}

TEST(Corotated, ClosedFormInverseMatchesTheDenseMatrix) {
    for (const BodyKind& body : {steel_link(), soft_block()}) {
        const KindMatrix kind = make_kind_matrix(body, 0.01);
        const Vec3 g(0.1 * kind.volume_mu, 0.0, 2.0 * kind.volume_mu);
        const Mat3 R = random_rotation();
        const BodyInverse inverse = make_body_inverse(kind, g);
        const Mat12 H = dense_body_matrix(kind, g, R);
        for (int trial = 0; trial < 5; ++trial) {
            Mat34 x;
            for (int i = 0; i < 12; ++i) x(i % 3, i / 3) = uniform();
            const Mat34 back = unflat(H * flat(in_world(apply(inverse, R, x), R)));
            EXPECT_LT((back - x).norm(), 1e-9 * H.norm() * in_world(apply(inverse, R, x), R).norm());
            EXPECT_LT((in_world(apply(inverse, R, unflat(H * flat(x))), R) - x).norm(), 1e-7);
        }
    }
}

// A rigid body is the limit of infinite stiffness: increments, compliances and the matrix of turns.
TEST(Corotated, RigidInverseIsTheLimitOfStiffBodies) {
    BodyKind body = steel_link();
    BodyKind stiff = make_kind(body.mass, body.moments, 4e-5, 1e15, 0.3);
    body.rigid = true;
    const KindMatrix rigid = make_kind_matrix(body, 0.01), limit = make_kind_matrix(stiff, 0.01);
    const BodyInverse inverse = make_body_inverse(rigid, Mat3(Mat3::Zero())),
                      near = make_body_inverse(limit, Mat3(Mat3::Zero()));
    Mat3 G;
    for (int i = 0; i < 9; ++i) G.data()[i] = uniform();
    const Mat3 F = apply_rotated(inverse, G);
    EXPECT_LT((F - apply_rotated(near, G)).norm(), 1e-6 * F.norm());
    EXPECT_LT((F + F.transpose()).norm(), 1e-15 * F.norm());
    const Vec3 x(0.03, -0.02, 0.05), y(-0.01, 0.04, 0.02);
    const Mat3 S = point_compliance(inverse, x, y);
    EXPECT_LT((S - point_compliance(near, x, y)).norm(), 1e-6 * S.norm());
}

// Of an increment [w] S + dS the turn turns and dS strains, exactly.
TEST(Corotated, RetractionTurnsByRotations) {
    const KindMatrix kind = make_kind_matrix(soft_block(), 0.01);
    const Vec3 w(0.3, -0.2, 0.1);
    Mat3 S = Mat3::Identity(), dS;
    for (int i = 0; i < 9; ++i) dS.data()[i] = 0.01 * uniform();
    dS = (0.5 * (dS + dS.transpose())).eval();
    S += 2.0 * dS;
    const Mat3 R = random_rotation();
    Mat3 rotation = R, stretch = S;
    retract(kind, skew(w) * S + dS, rotation, stretch);
    EXPECT_LT((stretch - S - dS).norm(), 1e-14);
    const Mat3 turn = Eigen::AngleAxisd(w.norm(), w.normalized()).toRotationMatrix();
    EXPECT_LT((rotation - R * turn).norm(), 1e-14);
}

// Contacts of different pairs and features have different names.
TEST(Contacts, KeysOfDifferentContactsDiffer) {
    std::set<std::uint64_t> keys;
    std::size_t count = 0;
    for (int a : {0, 1, 255, 256, 65536})
        for (int b : {0, 1, 255, 256, 65536, 1 << 24})
            for (std::uint64_t feature : {0ull, 1ull, 65536ull, 1ull << 24, 1ull << 40}) {
                keys.insert(contact_key(a, b, feature));
                ++count;
            }
    EXPECT_EQ(keys.size(), count);
}

TEST(Corotated, PointComplianceIsTheInverseBetweenTwoPoints) {
    const KindMatrix kind = make_kind_matrix(soft_block(), 0.01);
    const Vec3 g(0.3 * kind.volume_mu, 0.1 * kind.volume_mu, 0.0);
    const Mat3 R = random_rotation();
    const BodyInverse inverse = make_body_inverse(kind, g);
    const Vec3 x(0.3, -0.2, 0.5), y(-0.1, 0.4, 0.2);
    Eigen::Matrix<double, 3, 12> Jx, Jy;
    for (int k = 0; k < 3; ++k) {
        Jx.middleCols<3>(3 * k) = x[k] * Mat3::Identity();
        Jy.middleCols<3>(3 * k) = y[k] * Mat3::Identity();
    }
    Jx.rightCols<3>() = Jy.rightCols<3>() = Mat3::Identity();
    const Mat12 H = dense_body_matrix(kind, g, R);
    const Mat3 expected = Jx * H.ldlt().solve(Jy.transpose());
    const Mat3 found = R * point_compliance(inverse, x, y) * R.transpose();
    EXPECT_LT((found - expected).norm(), 1e-12 * expected.norm());
}

// The true second derivative of the co-rotated energy, by differences of the force: the matrix with g must not
// be softer than it in any direction while the body is stretched (that is what keeps a loaded chain stable).
TEST(Corotated, GeometricStiffnessIsNeverTooSoftUnderTension) {
    const BodyKind body = soft_block();
    const KindMatrix kind = make_kind_matrix(body, 1e3);  // hardly any inertia: elasticity alone
    for (int trial = 0; trial < 20; ++trial) {
        const Mat3 M = random_matrix();
        const Mat3 S = Mat3::Identity() + 0.05 * M * M.transpose();
        Mat34 q = Mat34::Zero();
        q.leftCols<3>() = S;
        const auto force_at = [&](const Vec12& v) {
            const Mat34 x = unflat(v);
            const Polar polar = safe_polar(x.leftCols<3>());
            return flat(body_force(kind, x, x, polar.rotation, volume_stress(kind, polar.stretch)));
        };
        Mat12 exact;
        for (int c = 0; c < 12; ++c) {
            Vec12 up = flat(q), down = flat(q);
            up[c] += 1e-6;
            down[c] -= 1e-6;
            exact.col(c) = -(force_at(up) - force_at(down)) / 2e-6;
        }
        const Polar polar = safe_polar(q.leftCols<3>());
        const Vec3 g = geometric_stiffness(volume_stress(kind, polar.stretch));
        const Mat12 model = dense_body_matrix(kind, g, polar.rotation);
        const Mat12 excess = model - 0.5 * (exact + exact.transpose());
        const double scale = kind.volume_mu;
        // Rotations of the stretched body: the direction that explodes when the stiffness is left out.
        for (int axis = 0; axis < 3; ++axis) {
            Mat34 turn = Mat34::Zero();
            for (int k = 0; k < 3; ++k) turn.col(k) = Vec3::Unit(axis).cross(Vec3(polar.rotation.col(k)));
            const double value = flat(turn).dot(excess * flat(turn));
            EXPECT_GT(value, -0.02 * scale) << trial;
        }
    }
}

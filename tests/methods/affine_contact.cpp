// Barrier, friction and the assembled Newton system against finite differences and a naive assembly.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <random>
#include <set>

#include "math/rotation.hpp"
#include "methods/affine/contact_corners.hpp"
#include "methods/affine/island.hpp"
#include "methods/affine/newton_system.hpp"
#include "methods/affine_world.hpp"

namespace tenon::affine {
namespace {

TEST(AffineBarrier, DerivativesMatchFiniteDifferences) {
    for (const double separation : {0.0, 0.3}) {
        const ContactRange range{0.2, separation};
        for (const double gap : {0.003, 0.02, 0.1, 0.19}) {
            const double d = separation + gap, eps = 1e-6;
            const auto at = [&](double x) { return radial_barrier(x * x, range, 7.0); };
            EXPECT_NEAR(at(d).force, -(at(d + eps).energy - at(d - eps).energy) / (2 * eps),
                        1e-4 * at(d).force);
            EXPECT_NEAR(at(d).stiffness, -(at(d + eps).force - at(d - eps).force) / (2 * eps),
                        1e-4 * at(d).stiffness);
        }
        const double edge = 0.2 + separation;
        EXPECT_EQ(radial_barrier(edge * edge, range, 7.0).energy, 0.0);
    }
    EXPECT_NEAR(radial_barrier(0.25e-6, {1e-3, 0.0}, strength_for_force(5.0, 1e-3)).force, 5.0, 1e-9);
}

TEST(AffineFriction, DerivativesMatchFiniteDifferences) {
    const double eps = 0.1, step = 1e-7;
    for (const double y : {0.01, 0.05, 0.0999, 0.1001, 0.5}) {
        const Friction f = friction_norm(y, eps);
        EXPECT_NEAR(f.slope,
                    (friction_norm(y + step, eps).value - friction_norm(y - step, eps).value) / (2 * step),
                    1e-6);
        EXPECT_NEAR(f.curvature,
                    (friction_norm(y + step, eps).slope - friction_norm(y - step, eps).slope) / (2 * step),
                    1e-5);
        EXPECT_NEAR(friction_slope_over(y, eps), f.slope / y, 1e-12);
    }
    EXPECT_EQ(friction_norm(0.5, eps).slope, 1.0);  // Coulomb beyond eps
}

// Two boxes, one turned and strained a little, with faces, edges and corners of the other in contact range.
struct TwoBoxes {
    Model model;
    State state;
    Settings settings;
    StepBodies bodies;
    std::vector<Motion> motions;
    std::unique_ptr<ContactField> field;
    std::vector<Mat34> q, wanted;
    std::vector<char> outside;
    std::vector<ConstraintRow> rows;
    std::vector<double> multipliers;
    std::vector<Motor> motors;
    std::vector<int> node{0, 1};
    std::vector<std::unique_ptr<solve::BlockCholesky>> solvers;
    IslandMemories memories;
    Island island;
    std::unique_ptr<StepContext> context;

    explicit TwoBoxes(unsigned seed) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> number(-1, 1);
        for (int k = 0; k < 2; ++k) {
            test::add_test_body(model, 2.0, Vec3(0.2, 0.3, 0.25), Vec3::Zero(), Vec3::Zero());
            model.bodies.collides[k] = 1;
        }
        state = initial_state(model);
        state.q[0].col(3).setZero();
        state.q[1].leftCols<3>() = Quat(1, 0.1 * number(random), 0.4 * number(random), 0.1 * number(random))
                                       .normalized()
                                       .toRotationMatrix();
        for (int k = 0; k < 9; ++k) state.q[1].data()[k] += 1e-3 * number(random);
        state.q[1].col(3) = Vec3(0.3 * number(random), 1.12, 0.3 * number(random));
        q = wanted = state.q;
        outside.assign(q.size(), 0);
        bodies.potential_scale = 1e-4;
        settings.kappa = 1e5;
        for (int k = 0; k < 2; ++k) {
            BodyStep body;
            body.type = BodyType::dynamic_body;
            body.inertia = inertia_of(model.bodies, k);
            body.start = q[k];
            for (int i = 0; i < 12; ++i) body.start.data()[i] += 3e-4 * number(random);
            body.slide_from = body.start;
            body.target = body.predicted = q[k];
            body.target.col(3).y() += k ? -0.05 : 0.05;
            body.rigidity = bodies.potential_scale * settings.kappa;
            bodies.body.push_back(body);
            motions.push_back({q[k], q[k], 0.05, true});
        }
        field = std::make_unique<ContactField>(model, state);
        ContactScale scale;
        scale.dhat = 0.3;
        scale.reference_acceleration = 1e4;
        field->rebuild(model, motions, scale, {{2.0, 2.0}});
        solvers.resize(2);
        context =
            std::make_unique<StepContext>(StepContext{settings, bodies, motions, *field, q, rows, motors,
                                                      multipliers, wanted, outside, node, solvers, memories});
        context->friction_eps = 1e-3;
        island.bodies = {0, 1};
        for (int k = 0; k < field->pair_count(); ++k) island.pairs.push_back(k);
        evaluate_pairs(island, *context, q);
        for (int k = 0; k < field->pair_count(); ++k) {
            field->lag_friction(k);
            // Newton's own model of friction, which has the true curvature.
            for (FrictionPoint& p : field->contacts(k).friction) {
                const Vec3 u = sliding(p);
                p.dual = u / friction_scale(u.norm(), context->friction_eps).psi;
            }
        }
    }

    Vec3 sliding(const FrictionPoint& p) const {
        const Vec3 u = transform(q[0] - bodies.body[0].slide_from, p.local_a) -
                       transform(q[1] - bodies.body[1].slide_from, p.local_b);
        return u - p.normal * p.normal.dot(u);
    }
};

// A corner that slides over the line between the two triangles of a flat face feels one face, wherever it is.
TEST(AffineContacts, TwoTrianglesOfAFaceAreOneSurface) {
    Model model;
    for (int k = 0; k < 2; ++k) {
        test::add_test_body(model, 2.0, Vec3(0.2, 0.3, 0.25), Vec3::Zero(), Vec3::Zero());
        model.bodies.collides[k] = 1;
    }
    State state = initial_state(model);
    state.q[0].col(3).setZero();
    // stands on one corner, so that nothing else is in range
    state.q[1].leftCols<3>() = rotation_matrix(Vec3(0.6, 0.0, 0.5));
    const double lowest = (state.q[1].leftCols<3>().row(1)).cwiseAbs().sum() * 0.5;
    const Vec3 corner = -0.5 * state.q[1].leftCols<3>().row(1).transpose().cwiseSign();
    const Vec3 place = state.q[1].leftCols<3>() * corner;
    state.q[1].col(3) = Vec3(-place.x(), 0.5 + 0.02 + lowest, -place.z());
    std::vector<Motion> motions;
    for (int k = 0; k < 2; ++k) motions.push_back({state.q[k], state.q[k], 1.0, true});
    ContactScale scale;
    scale.dhat = 0.05;
    ContactField field(model, state);
    field.rebuild(model, motions, scale, {{2.0, 2.0}});
    ASSERT_EQ(field.pair_count(), 1);
    double first = -1.0;
    for (const double x : {0.2, 0.1, 0.02, 1e-3, 1e-7, 1e-15, 0.0, -1e-15, -1e-7, -1e-3, -0.02, -0.2})
        for (const double z : {0.0, 0.03}) {
            Mat34 q = state.q[1];
            q.col(3) = Vec3(x - place.x(), 0.5 + 0.02 + lowest, z - place.z());
            field.set_pose(0, state.q[0]);
            field.set_pose(1, q);
            field.evaluate(0);
            ASSERT_EQ(field.contacts(0).points.size(), 1u) << x << ", " << z;
            const double energy = field.contacts(0).energy;
            if (first < 0.0) first = energy;
            EXPECT_NEAR(energy, first, 1e-9 * first) << x << ", " << z;
            EXPECT_NEAR(std::abs(field.contacts(0).points[0].normal.y()), 1.0, 1e-12) << x << ", " << z;
        }
}

TEST(AffineNewtonSystem, GradientMatchesFiniteDifferencesOfTheEnergy) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        TwoBoxes two(seed);
        ASSERT_EQ(two.field->pair_count(), 1);
        ASSERT_GT(two.field->contacts(0).points.size(), 3u);
        ASSERT_GT(two.field->contacts(0).friction.size(), 3u);
        NewtonSystem<12> system;
        system.assemble(two.island, *two.context);
        const std::vector<Mat34> gradient = system.gradient();
        const std::vector<Mat34> base = two.q;
        double scale = 0.0;
        for (const Mat34& g : gradient) scale = std::max(scale, g.cwiseAbs().maxCoeff());
        for (int body = 0; body < 2; ++body)
            for (int k = 0; k < 12; ++k) {
                const double eps = 1e-7;
                const auto at = [&](double shift) {
                    std::vector<Mat34> poses = base;
                    poses[body].data()[k] += shift;
                    evaluate_pairs(two.island, *two.context, poses);
                    return energy_at(two.island, *two.context, poses);
                };
                EXPECT_NEAR(gradient[body].data()[k], (at(eps) - at(-eps)) / (2 * eps), 2e-5 * scale);
            }
    }
}

// One 24-vector per contact, added one by one to a dense matrix.
MatX naive_matrix(const TwoBoxes& two) {
    MatX H = MatX::Zero(24, 24);
    const PairContacts& pair = two.field->contacts(0);
    const double scale = two.bodies.potential_scale;
    const auto add = [&](const Vec3& la, const Vec3& lb, const Vec3& direction, double stiffness) {
        VecX j = VecX::Zero(24);
        const Vec4 xa(la.x(), la.y(), la.z(), 1.0), xb(lb.x(), lb.y(), lb.z(), 1.0);
        for (int k = 0; k < 4; ++k) {
            j.segment<3>(3 * k) = xa[k] * direction;
            j.segment<3>(12 + 3 * k) = -xb[k] * direction;
        }
        H += stiffness * j * j.transpose();
    };
    for (const ContactPoint& p : pair.points) add(p.local_a, p.local_b, p.normal, scale * p.stiffness);
    for (const FrictionPoint& p : pair.friction) {
        const Vec3 u = two.sliding(p);
        const Vec3 along = u.normalized();
        const Friction f = friction_norm(u.norm(), two.context->friction_eps);
        add(p.local_a, p.local_b, along, scale * p.limit * f.curvature);
        add(p.local_a, p.local_b, p.normal.cross(along), scale * p.limit * f.slope / u.norm());
    }
    std::array<ContactCurvature, 2> parts;
    for (const ContactPoint& p : pair.points) {
        if (p.force < relevant_force(*two.context, two.field->pair(0))) continue;
        const int count = two.field->curvatures(0, p, parts);
        for (int k = 0; k < count; ++k) {
            VecX j(24);
            j.head<12>() = Eigen::Map<const Vec12>(parts[k].a.data());
            j.tail<12>() = Eigen::Map<const Vec12>(parts[k].b.data());
            H += scale * parts[k].stiffness * j * j.transpose();
        }
    }
    for (int body = 0; body < 2; ++body) {
        const BodyStep& step = two.bodies.body[body];
        for (int k = 0; k < 12; ++k) H(12 * body + k, 12 * body + k) += step.inertia.of_column(k / 3);
        H.block<9, 9>(12 * body, 12 * body) +=
            step.rigidity * rigidity_hessian(RigidityModel::orthogonality, two.q[body].leftCols<3>(), true);
    }
    return H;
}

// The positive part of force x (-second derivative of the distance) over the vertices of a contact, by its eigenvalues:
// with D = d^2 the second derivative is D''/(2 d) - D' D'^T / (4 d^3). `sub_cases` collects which were met.
MatX positive_curvature(const TwoBoxes& two, const ContactPoint& p, std::set<geometry::SubCase>& sub_cases) {
    const CandidatePair& pair = two.field->pair(0);
    const Candidate& candidate = two.field->candidates().candidates[pair.begin + p.candidate];
    const Corners c = corners_of(candidate, *two.field->shapes()[0], *two.field->shapes()[1]);
    std::array<Vec3, 4> x;
    const Vec3* at[4];
    MatX J = MatX::Zero(12, 24);
    for (int n = 0; n < c.count; ++n) {
        const int body = (n < c.split) == c.a_first ? 0 : 1;
        const Vec3& rest = two.field->shapes()[body]->shape->mesh.vertices[c.vertex[n]];
        x[n] = transform(two.q[body], rest);
        at[n] = &x[n];
        for (int k = 0; k < 4; ++k)
            J.block<3, 3>(3 * n, 12 * body + 3 * k) = (k < 3 ? rest[k] : 1.0) * Mat3::Identity();
    }
    const geometry::Closest closest = closest_of(candidate, at);
    sub_cases.insert(closest.sub_case);
    const double d = std::sqrt(closest.squared);
    VecX slope(12);
    for (int n = 0; n < 4; ++n) slope.segment<3>(3 * n) = closest.gradient(n);
    const MatX curvature =
        geometry::hessian(closest, x) / (2 * d) - slope * slope.transpose() / (4 * d * d * d);
    const Eigen::SelfAdjointEigenSolver<MatX> eigen(-p.force * curvature);
    const VecX positive = eigen.eigenvalues().cwiseMax(0.0);
    return J.transpose() * eigen.eigenvectors() * positive.asDiagonal() * eigen.eigenvectors().transpose() *
           J;
}

TEST(AffineContact, BendsAreThePositivePartOfTheCurvature) {
    std::set<geometry::SubCase> sub_cases;
    for (unsigned seed = 1; seed < 12; ++seed) {
        const TwoBoxes two(seed);
        std::array<ContactCurvature, 2> parts;
        for (const ContactPoint& p : two.field->contacts(0).points) {
            const MatX wanted = positive_curvature(two, p, sub_cases);
            MatX H = MatX::Zero(24, 24);
            const int count = two.field->curvatures(0, p, parts);
            for (int k = 0; k < count; ++k) {
                VecX j(24);
                j.head<12>() = Eigen::Map<const Vec12>(parts[k].a.data());
                j.tail<12>() = Eigen::Map<const Vec12>(parts[k].b.data());
                H += parts[k].stiffness * j * j.transpose();
            }
            EXPECT_LT((H - wanted).norm(), 1e-9 * (wanted.norm() + p.force)) << seed;
        }
    }
    EXPECT_GE(sub_cases.size(), 3u);
}

MatX dense_of(const solve::BlockMatrix& matrix, int size) {
    MatX dense(size, size);
    for (int k = 0; k < size; ++k) {
        const VecX unit = VecX::Unit(size, k);
        matrix.multiply(unit.data(), dense.col(k).data());
    }
    return dense;
}

TEST(AffineNewtonSystem, MatrixEqualsContactByContactAssembly) {
    TwoBoxes two(5);
    NewtonSystem<12> system;
    system.assemble(two.island, *two.context);
    const MatX naive = naive_matrix(two);
    const MatX dense = dense_of(system.matrix(), 24);
    EXPECT_LT((dense - naive).cwiseAbs().maxCoeff(), 1e-10 * naive.cwiseAbs().maxCoeff());
}

// Six unknowns see friction with the arms that its points have on each body, also after they slid apart.
TEST(AffineNewtonSystem, RigidFrictionKeepsTheArmsOfPointsThatSlidApart) {
    TwoBoxes two(6);
    PairContacts& pair = two.field->contacts(0);
    for (FrictionPoint& p : pair.friction) {
        p.local_b += 0.4 * p.normal.unitOrthogonal();
        p.dual.setZero();
    }
    NewtonSystem<6> with, without;
    with.assemble(two.island, *two.context);
    MatX expected = MatX::Zero(12, 12);
    for (const FrictionPoint& p : pair.friction) {
        const double stiffness = two.bodies.potential_scale * p.limit /
                                 friction_scale(two.sliding(p).norm(), two.context->friction_eps).psi;
        const Vec3 across = p.normal.unitOrthogonal();
        for (const Vec3& direction : {across, Vec3(p.normal.cross(across))}) {
            VecX j(12);
            j << linear_part_times(two.q[0], p.local_a).cross(direction), direction,
                -linear_part_times(two.q[1], p.local_b).cross(direction), -direction;
            expected += stiffness * j * j.transpose();
        }
    }
    pair.friction.clear();
    without.assemble(two.island, *two.context);
    const MatX friction = dense_of(with.matrix(), 12) - dense_of(without.matrix(), 12);
    EXPECT_LT((friction - expected).norm(), 1e-9 * expected.norm());
}

TEST(AffineNewtonSystem, MatrixNeverUndercutsTheTrueCurvature) {
    // Only negative parts are left out: z^T H z >= z^T E'' z for every z, by differences of the gradient.
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    for (unsigned seed = 6; seed < 9; ++seed) {
        TwoBoxes two(seed);
        const MatX H = naive_matrix(two);
        const std::vector<Mat34> base = two.q;
        const auto gradient_at = [&](const VecX& z, double t) {
            for (int body = 0; body < 2; ++body)
                two.q[body] = base[body] + t * Eigen::Map<const Mat34>(z.data() + 12 * body);
            evaluate_pairs(two.island, *two.context, two.q);
            NewtonSystem<12> system;
            system.assemble(two.island, *two.context);
            VecX g(24);
            for (int body = 0; body < 2; ++body)
                g.segment<12>(12 * body) = Eigen::Map<const Vec12>(system.gradient()[body].data());
            return g;
        };
        for (int trial = 0; trial < 20; ++trial) {
            VecX z(24);
            for (int k = 0; k < 24; ++k) z[k] = normal(random);
            const double eps = 1e-7;
            const double curvature = z.dot(gradient_at(z, eps) - gradient_at(z, -eps)) / (2 * eps);
            EXPECT_GE(z.dot(H * z), curvature - 1e-4 * std::abs(curvature));
        }
    }
}

}  // namespace
}  // namespace tenon::affine

#include "model/elastic_elements.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <random>

#include "math/parallel.hpp"

namespace tenon {
namespace {

constexpr ElasticModel kModels[] = {ElasticModel::neo_hookean, ElasticModel::stvk,
                                    ElasticModel::corotational};

Mat3 random_matrix(std::mt19937& random, double spread) {
    std::normal_distribution<double> normal;
    Mat3 f = Mat3::Identity();
    for (int i = 0; i < 9; ++i) f.data()[i] += spread * normal(random);
    return f;
}

TEST(ElasticModel, StressIsTheGradientOfTheEnergy) {
    std::mt19937 random(1);
    const Lame material = lame_parameters(1e3, 0.4);
    for (ElasticModel model : kModels)
        for (double spread : {0.0, 0.2, 0.8})
            for (int trial = 0; trial < 20; ++trial) {
                const Mat3 f = random_matrix(random, spread);
                const Mat3 stress = elastic_stress(model, material, f);
                for (int i = 0; i < 9; ++i) {
                    const double step = 1e-6;
                    Mat3 plus = f, minus = f;
                    plus.data()[i] += step, minus.data()[i] -= step;
                    const double slope =
                        (elastic_energy(model, material, plus) - elastic_energy(model, material, minus)) /
                        (2 * step);
                    EXPECT_NEAR(stress.data()[i], slope, 1e-5 * (1 + stress.norm()));
                }
            }
}

TEST(ElasticModel, StiffnessIsTheDerivativeOfTheStress) {
    std::mt19937 random(2);
    const Lame material = lame_parameters(1e3, 0.3);
    for (ElasticModel model : kModels)
        for (double spread : {0.0, 0.15, 0.4})
            for (int trial = 0; trial < 10; ++trial) {
                const Mat3 f = random_matrix(random, spread);
                if (f.determinant() < 0.05) continue;  // near the pole of the co-rotational model
                const Mat9 h = elastic_stiffness(model, material, f, false);
                EXPECT_LT((h - h.transpose()).norm(), 1e-9 * h.norm());
                for (int i = 0; i < 9; ++i) {
                    const double step = 1e-5;
                    Mat3 plus = f, minus = f;
                    plus.data()[i] += step, minus.data()[i] -= step;
                    const Mat3 slope =
                        (elastic_stress(model, material, plus) - elastic_stress(model, material, minus)) /
                        (2 * step);
                    EXPECT_LT((Eigen::Map<const Eigen::Matrix<double, 9, 1>>(slope.data()) - h.col(i)).norm(),
                              1e-5 * h.norm());
                }
            }
}

// Two ways to compute the same: through singular values, and directly from F.
TEST(ElasticModel, DifferentialAndResponseAgreeWithStressAndStiffness) {
    std::mt19937 random(21);
    const Lame material = lame_parameters(2e3, 0.35);
    for (ElasticModel model : kModels)
        for (double spread : {0.0, 0.2, 0.5})
            for (int trial = 0; trial < 10; ++trial) {
                const Mat3 f = random_matrix(random, spread);
                if (f.determinant() < 0.05) continue;
                const Mat3 df = random_matrix(random, 1.0);
                const ElasticResponse response = elastic_response(model, material, f, false);
                const ElasticDifferential d = elastic_differential(model, material, f, df);
                const Eigen::Matrix<double, 9, 1> change =
                    response.stiffness * Eigen::Map<const Eigen::Matrix<double, 9, 1>>(df.data());
                const double scale = response.stiffness.norm() * (1 + df.norm());
                EXPECT_LT((d.stress - response.stress).norm(), 1e-9 * scale);
                EXPECT_LT((elastic_stress(model, material, f) - response.stress).norm(), 1e-9 * scale);
                EXPECT_LT((Eigen::Map<const Eigen::Matrix<double, 9, 1>>(d.change.data()) - change).norm(),
                          1e-8 * scale);
            }
}

TEST(ElasticModel, ProjectionIsSemidefiniteAndLeavesConvexStatesAlone) {
    std::mt19937 random(3);
    const Lame material = lame_parameters(1e3, 0.45);
    for (ElasticModel model : kModels) {
        for (int trial = 0; trial < 30; ++trial) {
            const Mat9 h = elastic_stiffness(model, material, random_matrix(random, 1.0), true);
            const double least = Eigen::SelfAdjointEigenSolver<Mat9>(h).eigenvalues().minCoeff();
            EXPECT_GT(least, -1e-9 * h.norm());
        }
        const Mat9 plain = elastic_stiffness(model, material, Mat3::Identity(), false);
        const Mat9 projected = elastic_stiffness(model, material, Mat3::Identity(), true);
        EXPECT_LT((plain - projected).norm(), 1e-9 * plain.norm());
    }
}

// Linear elasticity at rest: stress = 2 mu eps + lambda tr(eps) I.
TEST(ElasticModel, AllModelsAgreeWithLinearElasticityForSmallStrains) {
    const Lame material = lame_parameters(2e5, 0.3);
    Mat3 strain;
    strain << 1, 0.3, -0.2, 0.3, -0.5, 0.1, -0.2, 0.1, 0.7;
    strain *= 1e-6;
    const Mat3 wanted = 2 * material.mu * strain + material.lambda * strain.trace() * Mat3::Identity();
    for (ElasticModel model : kModels)
        EXPECT_LT((elastic_stress(model, material, Mat3::Identity() + strain) - wanted).norm(),
                  1e-5 * wanted.norm());
}

ElasticBody two_tets(const std::string& model) {
    ElasticBody body;
    body.model = model;
    body.rest = {{0, 0, 0}, {1, 0, 0}, {0.1, 1.1, 0}, {0, 0.2, 0.9}, {1, 1, 1}};
    body.tets = {{0, 1, 2, 3}, {1, 4, 2, 3}};
    body.tet_material = {0, 0};
    return body;
}

TEST(ElasticElements, ForcesAndStiffnessMatchFiniteDifferencesOfTheEnergy) {
    std::mt19937 random(5);
    std::normal_distribution<double> normal(0, 0.1);
    for (const char* model : {"neo-hookean", "stvk", "corotational"}) {
        const ElasticBody body = two_tets(model);
        const ElasticElements elements = make_elements(body, {MaterialSpec{"soft", 1000, 1e3, true, 0.3}});
        for (double v : elements.volume) EXPECT_GT(v, 0);
        std::vector<Vec3> x = body.rest;
        for (Vec3& at : x) at += Vec3(normal(random), normal(random), normal(random));
        std::vector<Vec3> force(5, Vec3::Zero());
        add_elastic_forces(elements, x, force);
        Vec3 total = Vec3::Zero(), torque = Vec3::Zero();
        for (int i = 0; i < 5; ++i) {
            total += force[i];
            torque += x[i].cross(force[i]);
        }
        EXPECT_LT(total.norm(), 1e-10);
        EXPECT_LT(torque.norm(), 1e-10);

        std::vector<int> node(5);
        for (int i = 0; i < 5; ++i) node[i] = i;
        const ElasticAssembly assembly = make_assembly(elements, node, 5);
        solve::BlockMatrix matrix;
        matrix.resize(assembly.pattern, 3);
        add_stiffness(elements, assembly, x, 1.0, false, matrix);
        const double step = 1e-6;
        for (int i = 0; i < 15; ++i) {
            std::vector<Vec3> plus = x, minus = x, up(5, Vec3::Zero()), down(5, Vec3::Zero());
            plus[i / 3][i % 3] += step, minus[i / 3][i % 3] -= step;
            const double slope =
                (elastic_energy(elements, plus) - elastic_energy(elements, minus)) / (2 * step);
            EXPECT_NEAR(force[i / 3][i % 3], -slope, 1e-5 * (1 + std::abs(slope)));
            add_elastic_forces(elements, plus, up), add_elastic_forces(elements, minus, down);
            Eigen::VectorXd unit = Eigen::VectorXd::Unit(15, i), column(15);
            matrix.multiply(unit.data(), column.data());
            for (int r = 0; r < 15; ++r)
                EXPECT_NEAR(column[r], -(up[r / 3][r % 3] - down[r / 3][r % 3]) / (2 * step), 1e-2);
        }
    }
}

// Patch test: an affine map of the vertices gives that map as F in every element.
TEST(ElasticElements, AffineFieldsAreReproducedExactly) {
    const ElasticBody body = two_tets("neo-hookean");
    const ElasticElements elements = make_elements(body, {MaterialSpec{"soft", 1000, 1e3, true, 0.3}});
    Mat3 f;
    f << 1.1, 0.2, 0, -0.1, 0.9, 0.3, 0, 0.1, 1.2;
    std::vector<Vec3> x = body.rest;
    for (Vec3& at : x) at = f * at + Vec3(3, -2, 1);
    for (int i = 0; i < elements.size(); ++i) EXPECT_LT((elements.deformation(i, x) - f).norm(), 1e-14);
}

TEST(ElasticElements, PlaneStrainTrianglesKeepTheirPlane) {
    ElasticBody body;
    body.model = "neo-hookean";
    body.plane_strain = true;
    body.thickness = 0.5;
    body.rest = {{0, 0, 0}, {2, 0, 0}, {0, 1, 0}};
    body.tets = {{0, 1, 2, -1}};
    body.tet_material = {0};
    const ElasticElements elements = make_elements(body, {MaterialSpec{"soft", 1000, 1e3, true, 0.3}});
    EXPECT_DOUBLE_EQ(elements.volume[0], 0.5);
    std::vector<Vec3> x = body.rest, force(3, Vec3::Zero());
    EXPECT_NEAR(elastic_energy(elements, x), 0, 1e-12);
    x[1].x() = 2.5;
    add_elastic_forces(elements, x, force);
    EXPECT_LT(force[1].x(), 0);
    const Mat12 k = element_stiffness(elements, 0, x, true);
    EXPECT_EQ(k.row(2).norm() + k.row(5).norm() + k.row(8).norm(), 0.0);
}

}  // namespace
}  // namespace tenon

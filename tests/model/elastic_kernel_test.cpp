// The batched element kernel against the plain formulas.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <random>

#include "model/elastic_elements.hpp"

namespace tenon {
namespace {

using Mat43 = Eigen::Matrix<double, 4, 3>;

Mat3 random_matrix(std::mt19937& random, double size) {
    std::uniform_real_distribution<double> uniform(-size, size);
    Mat3 m;
    for (int k = 0; k < 9; ++k) m.data()[k] = uniform(random);
    return m;
}

struct Lanes {
    ElementBatch batch;
    std::array<Mat3, 4> f, rate;
    std::array<Mat43, 4> gradient;
    Lame material{0.4, 0.9};

    void set(int lane, const Mat3& deformation, const Mat3& velocity, const Mat3& corners) {
        f[lane] = deformation;
        rate[lane] = velocity;
        gradient[lane].bottomRows<3>() = corners.transpose();
        gradient[lane].row(0) = -gradient[lane].bottomRows<3>().colwise().sum();
        for (int k = 0; k < 9; ++k) {
            batch.f[k][lane] = deformation.data()[k];
            batch.rate[k][lane] = velocity.data()[k];
            batch.gradient[k][lane] = corners.data()[k];
        }
        batch.mu[lane] = material.mu;
        batch.lambda[lane] = material.lambda;
        batch.push[lane] = 0.3;
        batch.stiffening[lane] = 1.7;
        batch.damping[lane] = batch.step[lane] = 0.0;
    }
    Mat12 stiffness(int lane) const {
        ElementResponse response;
        read_lane(batch, lane, 4, response);
        return response.stiffness;
    }
    Vec12 load(int lane) const {
        Vec12 l;
        for (int k = 0; k < 12; ++k) l[k] = batch.load[k][lane];
        return l;
    }
    // dF over the corners' coordinates
    Eigen::Matrix<double, 9, 12> map(int lane) const {
        Eigen::Matrix<double, 9, 12> b = Eigen::Matrix<double, 9, 12>::Zero();
        for (int c = 0; c < 4; ++c)
            for (int j = 0; j < 3; ++j)
                for (int i = 0; i < 3; ++i) b(3 * j + i, 3 * c + i) = gradient[lane](c, j);
        return b;
    }
};

Mat3 kind_of_deformation(std::mt19937& random, int kind) {
    if (kind == 0) return Mat3::Identity() + random_matrix(random, 0.05);
    if (kind == 1) return Mat3::Identity() + random_matrix(random, 0.6);
    if (kind == 2) return random_matrix(random, 1.0);
    return Vec3(1.0, 1.0, -0.3).asDiagonal();  // inverted, with equal singular values
}

TEST(ElasticKernel, AgreesWithThePlainFormulas) {
    std::mt19937 random(3);
    for (ElasticModel model : {ElasticModel::neo_hookean, ElasticModel::stvk, ElasticModel::corotational})
        for (bool project : {false, true})
            for (int round = 0; round < 40; ++round) {
                Lanes lanes;
                for (int l = 0; l < 4; ++l)
                    lanes.set(l, kind_of_deformation(random, (round + l) % 4), random_matrix(random, 1.0),
                              random_matrix(random, 1.0));
                element_kernel().respond(model, false, project, true, lanes.batch);
                for (int l = 0; l < 4; ++l) {
                    const ElasticResponse at = elastic_response(model, lanes.material, lanes.f[l], project);
                    const auto b = lanes.map(l);
                    const Mat12 wanted = 1.7 * b.transpose() * at.stiffness * b;
                    EXPECT_LT((lanes.stiffness(l) - wanted).norm(), 1e-9 * (1 + wanted.norm())) << round;
                    const Eigen::Map<const Eigen::Matrix<double, 9, 1>> stress(at.stress.data()),
                        rate(lanes.rate[l].data());
                    const Vec12 load = -b.transpose() * (0.3 * stress + 1.7 * at.stiffness * rate);
                    EXPECT_LT((lanes.load(l) - load).norm(), 1e-9 * (1 + load.norm())) << round;
                }
            }
}

TEST(ElasticKernel, EveryProcessorGivesTheSameBits) {
    if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this processor has no AVX2";
    std::mt19937 random(4);
    for (int round = 0; round < 50; ++round) {
        Lanes a;
        for (int l = 0; l < 4; ++l) {
            a.set(l, kind_of_deformation(random, (round + l) % 4), random_matrix(random, 1.0),
                  random_matrix(random, 1.0));
            a.batch.damping[l] = 0.2;
            a.batch.step[l] = 0.01;
        }
        Lanes b = a;
        portable_element_kernel.respond(ElasticModel::neo_hookean, false, true, true, a.batch);
        avx2_element_kernel.respond(ElasticModel::neo_hookean, false, true, true, b.batch);
        for (int l = 0; l < 4; ++l) {
            EXPECT_EQ(a.load(l), b.load(l));
            EXPECT_EQ(a.stiffness(l), b.stiffness(l));
        }
    }
}

// At rest damping is the stiffness; elsewhere it is semidefinite and does not feel rotations.
TEST(ElasticKernel, DampingFeelsStrainRatesOnly) {
    std::mt19937 random(5);
    for (int round = 0; round < 40; ++round) {
        Lanes lanes;
        for (int l = 0; l < 4; ++l) {
            const Mat3 f = l == 0 ? Mat3(Mat3::Identity()) : kind_of_deformation(random, l);
            const Mat3 m = random_matrix(random, 1.0), spin = m - m.transpose();
            lanes.set(l, f, spin * f, random_matrix(random, 1.0));
            lanes.batch.push[l] = lanes.batch.stiffening[l] = 0;
            lanes.batch.damping[l] = 1.0;
        }
        element_kernel().respond(ElasticModel::neo_hookean, false, true, true, lanes.batch);
        const auto b = lanes.map(0);
        const Mat9 rest =
            elastic_stiffness(ElasticModel::neo_hookean, lanes.material, Mat3::Identity(), true);
        const Mat12 wanted = b.transpose() * rest * b;
        EXPECT_LT((lanes.stiffness(0) - wanted).norm(), 1e-9 * wanted.norm());
        for (int l = 0; l < 4; ++l) {
            EXPECT_LT(lanes.load(l).norm(), 1e-9 * (1 + lanes.stiffness(l).norm()));
            const Eigen::SelfAdjointEigenSolver<Mat12> eigen(lanes.stiffness(l));
            EXPECT_GT(eigen.eigenvalues()[0], -1e-9 * eigen.eigenvalues()[11]);
        }
    }
}

// The velocity of a turning body changes direction within a step; that is not a strain rate.
TEST(ElasticKernel, DampingLetsThingsTurn) {
    const double h = 0.01;
    Lanes lanes;
    std::mt19937 random(6);
    for (int l = 0; l < 4; ++l) {
        const Mat3 f = Mat3::Identity() + random_matrix(random, 0.2), m = random_matrix(random, 3.0);
        lanes.set(l, f, (m - m.transpose()) * f, Mat3::Identity() + random_matrix(random, 0.3));
        lanes.batch.push[l] = lanes.batch.stiffening[l] = 0;
        lanes.batch.damping[l] = 1.0;
        lanes.batch.step[l] = h;
    }
    element_kernel().respond(ElasticModel::neo_hookean, false, true, true, lanes.batch);
    for (int l = 0; l < 4; ++l) {  // S v_end = load in a steady turn: v_end = w x + h w w x
        const Mat3 spin = lanes.rate[l] * lanes.f[l].inverse(), change = h * spin * spin * lanes.f[l];
        Vec12 v;
        const Mat3 edges = lanes.gradient[l].bottomRows<3>().transpose().inverse();
        v.head<3>().setZero();
        for (int c = 0; c < 3; ++c) v.segment<3>(3 * (c + 1)) = change * edges.row(c).transpose();
        EXPECT_LT((lanes.stiffness(l) * v - lanes.load(l)).norm(), 1e-8 * lanes.stiffness(l).norm());
    }
}

}  // namespace
}  // namespace tenon

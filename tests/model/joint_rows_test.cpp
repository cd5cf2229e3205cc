// Joint rows and coordinates: gradients by finite differences, values on motions the joint allows.
#include "model/joint_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tenon;

namespace {

std::mt19937 random_engine(7);

double uniform() {
    return std::uniform_real_distribution<double>(-1, 1)(random_engine);
}
Vec3 random_vector() {
    return {uniform(), uniform(), uniform()};
}
Mat3 random_rotation() {
    return Quat(Eigen::Vector4d(uniform(), uniform(), uniform(), uniform()).normalized()).toRotationMatrix();
}

Mat34 random_map(double strain) {
    Mat34 q;
    q.leftCols<3>() = random_rotation();
    for (int i = 0; i < 9; ++i) q(i % 3, i / 3) += strain * uniform();
    q.col(3) = random_vector();
    return q;
}

constexpr JointType all_types[] = {JointType::ball,      JointType::hinge,   JointType::universal,
                                   JointType::prismatic, JointType::fixed,   JointType::cylindrical,
                                   JointType::planar,    JointType::distance};

Joint random_joint(JointType type) {
    Joint joint;
    joint.spec.type = type;
    joint.rest_length = 0.7;
    for (int side = 0; side < 2; ++side) {
        joint.point[side] = random_vector();
        joint.frame[side] = random_rotation();
    }
    return joint;
}

// Central difference of f in entry (r, c) of q.
template <class F>
double difference(const F& f, Mat34 q, int r, int c) {
    const double step = 1e-6;
    q(r, c) += step;
    const double up = f(q);
    q(r, c) -= 2 * step;
    return (up - f(q)) / (2 * step);
}

template <class F>
void expect_gradient(const F& value, const std::array<Mat34, 2>& gradient, const Mat34& qa, const Mat34& qb) {
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 4; ++c) {
            EXPECT_NEAR(difference([&](const Mat34& q) { return value(q, qb); }, qa, r, c), gradient[0](r, c),
                        1e-7);
            EXPECT_NEAR(difference([&](const Mat34& q) { return value(qa, q); }, qb, r, c), gradient[1](r, c),
                        1e-7);
        }
}

}  // namespace

TEST(JointRows, GradientsMatchFiniteDifferences) {
    for (JointType type : all_types)
        for (bool linear : {false, true}) {
            Joint joint = random_joint(type);
            joint.spec.linear = linear;
            const Mat34 qa = random_map(0.1), qb = random_map(0.1);
            JointRows rows;
            joint_rows(joint, qa, qb, rows);
            ASSERT_EQ(rows.count, joint_row_count(joint.spec));
            for (int row = 0; row < rows.count; ++row) {
                const auto value = [&](const Mat34& a, const Mat34& b) {
                    double values[max_joint_rows];
                    joint_row_values(joint, a, b, values);
                    return values[row];
                };
                EXPECT_DOUBLE_EQ(value(qa, qb), rows.value[row]);
                expect_gradient(value, {rows.gradient[0][row], rows.gradient[1][row]}, qa, qb);
            }
        }
}

TEST(JointRows, LinearRowsAreLinear) {
    for (JointType type : {JointType::ball, JointType::hinge}) {
        Joint joint = random_joint(type);
        joint.spec.linear = true;
        ASSERT_TRUE(joint_rows_are_linear(joint.spec));
        const Mat34 qa = random_map(0.1), qb = random_map(0.1), da = random_map(1), db = random_map(1);
        double start[6], middle[6], end[6];
        joint_row_values(joint, qa, qb, start);
        joint_row_values(joint, qa + 0.5 * da, qb + 0.5 * db, middle);
        joint_row_values(joint, qa + da, qb + db, end);
        for (int i = 0; i < joint_row_count(joint.spec); ++i)
            EXPECT_NEAR(middle[i], 0.5 * (start[i] + end[i]), 1e-14);
    }
}

TEST(JointCoordinates, GradientsMatchFiniteDifferences) {
    for (JointType type : all_types) {
        const Joint joint = random_joint(type);
        const Mat34 qa = random_map(0.05), qb = random_map(0.05);
        const int count = type == JointType::distance ? 1 : joint_coordinate_count(type);
        for (int k = 0; k < count; ++k) {
            const auto value = [&](const Mat34& a, const Mat34& b) {
                return joint_coordinate(joint, k, a, b).value;
            };
            expect_gradient(value, joint_coordinate(joint, k, qa, qb).gradient, qa, qb);
            EXPECT_DOUBLE_EQ(joint_coordinate_value(joint, k, qa, qb), value(qa, qb));
        }
    }
}

TEST(JointCoordinates, BendComponentsHaveTheBendAngleAsLength) {
    const Joint joint = random_joint(JointType::ball);
    for (double angle : {0.0, 1e-3, 0.3, 1.5, 2.5}) {
        Mat34 qa = Mat34::Zero(), qb;
        qa.leftCols<3>() = random_rotation();
        // b: a's frame turned by `angle` about a direction across the axis
        const Mat3 target = qa.leftCols<3>() * joint.frame[0];
        const Vec3 across = (0.6 * target.col(1) + 0.8 * target.col(2)).normalized();
        qb.leftCols<3>() = Eigen::AngleAxisd(angle, across) * target * joint.frame[1].transpose();
        qb.col(3).setZero();
        EXPECT_NEAR(
            std::hypot(bend_component_value(joint, 0, qa, qb), bend_component_value(joint, 1, qa, qb)), angle,
            1e-9);
    }
    const Mat34 qa = random_map(0), qb = random_map(0);
    for (int i = 0; i < 2; ++i) {
        // Derivatives are those for unit axes, so compare along rotations of b.
        const Vec3 w = random_vector();
        Mat34 dq = Mat34::Zero();
        for (int k = 0; k < 3; ++k) dq.col(k) = w.cross(qb.col(k));
        const double step = 1e-6;
        const double slope = (bend_component_value(joint, i, qa, qb + step * dq) -
                              bend_component_value(joint, i, qa, qb - step * dq)) /
                             (2 * step);
        EXPECT_NEAR(slope, bend_component(joint, i, qa, qb).gradient[1].cwiseProduct(dq).sum(), 1e-6);
    }
}

TEST(JointCoordinates, HingeAngleIsTheAngleTurned) {
    Joint joint = random_joint(JointType::hinge);
    const Mat34 qa = random_map(0);
    for (double angle : {-3.0, -0.4, 0.0, 0.7, 2.9}) {
        const Mat3 frame = qa.leftCols<3>() * joint.frame[0];
        Mat34 qb;
        qb.leftCols<3>() =
            Eigen::AngleAxisd(angle, frame.col(0).normalized()) * frame * joint.frame[1].transpose();
        qb.col(3) = transform(qa, joint.point[0]) - linear_part_times(qb, joint.point[1]);
        EXPECT_NEAR(joint_coordinate(joint, 0, qa, qb).value, angle, 1e-12);
        double values[max_joint_rows];
        joint_row_values(joint, qa, qb, values);
        for (int i = 0; i < 5; ++i) EXPECT_NEAR(values[i], 0.0, 1e-12);
    }
    EXPECT_NEAR(unwrapped(-3.0, 3.2), 2 * M_PI - 3.0, 1e-12);
}

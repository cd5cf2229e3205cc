// Free flight against closed forms, at each integrator's order.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "methods/affine/free_body.hpp"
#include "methods/affine_world.hpp"

namespace tenon {
namespace {

using test::add_test_body;
using test::advance;
using test::make_affine;
using test::make_world;
using test::TestWorld;

double fall_error(const std::string& integrator, double h) {
    Model model;
    model.gravity = Vec3(0, -9.81, 0);
    add_test_body(model, 2.0, Vec3(0.1, 0.2, 0.3), Vec3(3, 4, 0), Vec3::Zero());
    TestWorld world = make_world(model);
    const auto method = make_affine(world, {{"integrator", integrator}});
    const int steps = static_cast<int>(std::lround(1.0 / h));
    for (int k = 0; k < steps; ++k) advance(world, *method, h);
    const double t = steps * h;
    return (world.state.q[0].col(3) - Vec3(3 * t, 4 * t - 0.5 * 9.81 * t * t, 0)).norm();
}

TEST(AffineFreeFlight, ProjectileFollowsEachIntegratorsOwnSum) {
    // Implicit Euler adds g h t / 2 to the fall; the trapezoidal rule is exact.
    EXPECT_NEAR(fall_error("implicit-euler", 0.01), 0.5 * 9.81 * 0.01, 1e-9);
    EXPECT_LT(fall_error("newmark", 0.01), 1e-10);
    const double coarse = fall_error("bdf2", 0.02), fine = fall_error("bdf2", 0.01);
    EXPECT_LT(fine, 1e-2);
    EXPECT_NEAR(coarse / fine, 4.0, 0.4);
}

double spin_after(const std::string& integrator, double h, double seconds, double spin) {
    Model model;
    add_test_body(model, 1.0, Vec3(0.1, 0.1, 0.2), Vec3::Zero(), Vec3(0, 0, spin));
    TestWorld world = make_world(model);
    const auto method = make_affine(world, {{"integrator", integrator}, {"kappa", 1e13}});
    const int steps = static_cast<int>(std::lround(seconds / h));
    for (int k = 0; k < steps; ++k) EXPECT_TRUE(advance(world, *method, h).converged);
    return angular_momentum(world.model, world.state).z() / 0.2;
}

TEST(AffineFreeFlight, ImplicitEulerLosesSpinByItsRecursion) {
    // For a rigid body A_{n+1} is the rotation nearest to 2 A_n - A_{n-1}: angles per step follow
    // d' = atan2(sin d, 2 - cos d), about (omega h)^2 lost per step: 10 rad/s become 5.8 in a second at 10 ms.
    // The first step starts from the rate itself: A_1 is the rotation nearest to A_0 + h [w] A_0.
    double angle = std::atan2(0.1, 1.0);
    for (int k = 1; k < 100; ++k) angle = std::atan2(std::sin(angle), 2 - std::cos(angle));
    // Angular momentum of the rate (A_n - A_{n-1}) / h is that of a spin sin(d) / h.
    EXPECT_NEAR(spin_after("implicit-euler", 0.01, 1.0, 10.0), std::sin(angle) / 0.01, 1e-4);
    EXPECT_NEAR(spin_after("implicit-euler", 0.01, 1.0, 10.0), 5.8, 0.05);
}

TEST(AffineFreeFlight, SecondOrderIntegratorsKeepSpin) {
    // The first step of BDF2 is implicit Euler: it costs (omega h)^2 once.
    const double coarse = 10.0 - spin_after("bdf2", 0.01, 1.0, 10.0),
                 fine = 10.0 - spin_after("bdf2", 0.005, 1.0, 10.0);
    EXPECT_LT(std::abs(coarse), 0.2);
    EXPECT_GT(coarse / fine, 3.4);
    EXPECT_NEAR(spin_after("newmark", 0.01, 1.0, 10.0), 10.0, 0.02);
}

TEST(AffineFreeFlight, TorqueAndForceAddMomentum) {
    for (const char* integrator : {"implicit-euler", "bdf2", "newmark"}) {
        Model model;
        add_test_body(model, 2.0, Vec3(0.1, 0.2, 0.3), Vec3::Zero(), Vec3::Zero());
        ForceSpec load;
        load.body = 0;
        load.force = Vec3(1, 0, 2);
        load.torque = Vec3(0, 0, 0.06);
        model.forces.push_back(load);
        TestWorld world = make_world(model);
        const auto method = make_affine(world, {{"integrator", std::string(integrator)}});
        for (int k = 0; k < 200; ++k) advance(world, *method, 0.005);
        EXPECT_LT((linear_momentum(world.model, world.state) - Vec3(1, 0, 2)).norm(), 2e-3) << integrator;
        // omega(1 s) = 0.06 / (0.1 + 0.2); implicit Euler loses about the sum of (omega h)^2.
        EXPECT_NEAR(angular_momentum(world.model, world.state).z() - 2.0 * 0, 0.06, 3e-4) << integrator;
    }
}

TEST(AffineFreeFlight, HandleFlipsAtReferenceTimes) {
    // Euler's equations of a body spinning about its intermediate axis, by RK4 with a tiny step.
    const Vec3 second(0.03, 0.02, 0.06);  // moments of inertia 0.08, 0.09, 0.05: x is intermediate
    const Vec3 I(second.y() + second.z(), second.z() + second.x(), second.x() + second.y());
    const Vec3 start(5.0, 0.01, 0.0);
    const auto slope = [&](const Vec3& w) -> Vec3 {
        return -w.cross(Vec3(I.cwiseProduct(w))).cwiseQuotient(I);
    };
    std::vector<double> reference;
    Vec3 w = start;
    const double tiny = 1e-4;
    for (int k = 0; k < 80000; ++k) {
        const Vec3 k1 = slope(w), k2 = slope(w + 0.5 * tiny * k1), k3 = slope(w + 0.5 * tiny * k2),
                   k4 = slope(w + tiny * k3);
        const Vec3 next = w + tiny / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4);
        if (next.x() * w.x() < 0) reference.push_back(k * tiny);
        w = next;
    }
    ASSERT_GE(reference.size(), 1u);

    Model model;
    add_test_body(model, 1.0, second, Vec3::Zero(), start);
    TestWorld world = make_world(model);
    const auto method = make_affine(world, {{"integrator", std::string("newmark")}});
    const Vec3 before = angular_momentum(world.model, world.state);
    std::vector<double> flips;
    double last = start.x();
    const double h = 1e-3;
    for (int k = 0; k < 8000; ++k) {
        advance(world, *method, h);
        const Vec3 body_spin = world.state.q[0].leftCols<3>().transpose() *
                               affine::angular_velocity(world.state.q[0], world.state.rate[0], {second, 1.0});
        if (body_spin.x() * last < 0) flips.push_back(world.state.time);
        last = body_spin.x();
    }
    ASSERT_EQ(flips.size(), reference.size());
    for (std::size_t k = 0; k < flips.size(); ++k) EXPECT_NEAR(flips[k], reference[k], 0.02 * (k + 1));
    EXPECT_LT((angular_momentum(world.model, world.state) - before).norm(), 2e-3 * before.norm());
}

TEST(AffineFreeFlight, FixedCoordinatesStay) {
    Model model;
    model.gravity = Vec3(0, -9.81, 0);
    add_test_body(model, 1.0, Vec3(0.1, 0.2, 0.3), Vec3(1, 0, 1), Vec3(0, 0, 2));
    model.bodies.fixed[0] = {true, false, true, true, true, false};  // free to fall and to turn about z
    add_test_body(model, 1.0, Vec3(0.1, 0.2, 0.3), Vec3::Zero(), Vec3::Zero());
    model.bodies.fixed[1] = {false, false, false, true, true, true};  // no turning at all
    ForceSpec push;
    push.body = 1;
    push.torque = Vec3(1, 2, 3);
    model.forces.push_back(push);
    TestWorld world = make_world(model);
    const auto method = make_affine(world, {{"integrator", std::string("bdf2")}});
    for (int k = 0; k < 50; ++k) ASSERT_TRUE(advance(world, *method, 0.01).converged);
    const Mat34& q = world.state.q[0];
    EXPECT_NEAR(q(0, 3), 0.0, 1e-14);
    EXPECT_NEAR(q(2, 3), 0.0, 1e-14);
    EXPECT_LT(q(1, 3), -1.0);
    EXPECT_LT((q.col(2) - Vec3::UnitZ()).norm(), 1e-13);
    EXPECT_NEAR(std::atan2(q(1, 0), q(0, 0)), 1.0, 0.01);  // 2 rad/s for 0.5 s
    EXPECT_LT((world.state.q[1].leftCols<3>() - Mat3::Identity()).norm(), 1e-13);
}

TEST(AffineFreeFlight, ScriptedBodiesFollowTheirScriptAndStaticOnesStay) {
    Model model;
    model.gravity = Vec3(0, -9.81, 0);
    for (int k = 0; k < 2; ++k) add_test_body(model, 1.0, Vec3(0.1, 0.2, 0.3), Vec3::Zero(), Vec3::Zero());
    model.bodies.start_type[0] = BodyType::kinematic_body;
    model.bodies.motion[0] = {{0.0, Vec3::Zero(), Quat::Identity()}, {1.0, Vec3(0, 2, 0), Quat::Identity()}};
    model.bodies.start_type[1] = BodyType::static_body;
    TestWorld world = make_world(model);
    const Mat34 before = world.state.q[1];
    const auto method = make_affine(world, {});
    for (int k = 0; k < 25; ++k) advance(world, *method, 0.01);
    EXPECT_LT((world.state.q[0].col(3) - Vec3(0, 0.5, 0)).norm(), 1e-9);
    EXPECT_LT((world.state.rate[0].col(3) - Vec3(0, 2, 0)).norm(), 1e-9);
    EXPECT_EQ(world.state.q[1], before);
}

TEST(AffineFreeFlight, ClosedFormStepAgreesWithNewton) {
    const Vec3 spin(3, -20, 7);
    affine::Inertia inertia{Vec3(0.02, 0.05, 0.04), 1.0};
    Mat34 q = Mat34::Zero(), rate = Mat34::Zero();
    q.leftCols<3>() = Quat(0.1, 0.7, -0.5, 0.2).normalized().toRotationMatrix();
    for (int k = 0; k < 3; ++k) rate.col(k) = spin.cross(Vec3(q.col(k)));
    for (const double h : {0.001, 0.01, 0.1}) {
        const Mat34 target = q + h * rate;
        const Mat34 start = affine::extrapolate_rigidly(q, rate, inertia, h);
        const auto fast = affine::solve_free_body(start, target, inertia, h * h * 1e10,
                                                  affine::RigidityModel::orthogonality);
        const auto slow = affine::solve_held_body(start, target, inertia, h * h * 1e10,
                                                  affine::RigidityModel::orthogonality, Mat12::Identity());
        EXPECT_TRUE(fast.converged);
        if (h < 0.1) {
            EXPECT_TRUE(slow.converged);
            EXPECT_LT((fast.q - slow.q).norm(), 1e-8) << h;
        } else {
            // Two radians in one step. In the rigid limit it is the rotation nearest to target x moments.
            const Mat3 limit = nearest_rotation(target.leftCols<3>() * inertia.moments.asDiagonal());
            EXPECT_LT((fast.q.leftCols<3>() - limit).norm(), 1e-6);
        }
    }
}

TEST(AffineFreeFlight, ResumesBitForBit) {
    Model model;
    model.gravity = Vec3(0, -9.81, 0);
    add_test_body(model, 1.0, Vec3(0.1, 0.2, 0.3), Vec3(1, 2, 3), Vec3(3, 1, 2));
    for (const char* integrator : {"bdf2", "newmark"}) {
        TestWorld whole = make_world(model);
        const auto method = make_affine(whole, {{"integrator", std::string(integrator)}});
        for (int k = 0; k < 5; ++k) advance(whole, *method, 0.01);
        TestWorld rest = whole;
        std::stringstream saved;
        method->save(saved);
        const auto other = make_affine(rest, {{"integrator", std::string(integrator)}});
        other->load(saved);
        for (int k = 0; k < 5; ++k) {
            advance(whole, *method, 0.01);
            advance(rest, *other, 0.01);
        }
        EXPECT_EQ(whole.state.q[0], rest.state.q[0]);
        EXPECT_EQ(whole.state.rate[0], rest.state.rate[0]);
    }
}

}  // namespace
}  // namespace tenon

// The articulated method against published and independently integrated motions of jointed bodies.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

constexpr double g = 9.81;

// Classical Runge-Kutta for x'' = f(x, x').
template <int N>
struct Oscillator {
    using Vector = Eigen::Matrix<double, N, 1>;
    Vector x, v;
    std::function<Vector(const Vector&, const Vector&)> f;

    void advance(double time, int steps) {
        const double h = time / steps;
        for (int i = 0; i < steps; ++i) {
            const Vector a1 = f(x, v), a2 = f(x + h / 2 * v, v + h / 2 * a1),
                         a3 = f(x + h / 2 * v + h * h / 4 * a1, v + h / 2 * a2),
                         a4 = f(x + h * v + h * h / 2 * a2, v + h * a3);
            x += h * v + h * h / 6 * (a1 + a2 + a3);
            v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        }
    }
};

BodySpec without_shape(const std::string& name, double mass, const Vec3& moments, const Vec3& at) {
    BodySpec body;
    body.name = name;
    body.mass = mass;
    body.position = at;
    InertiaSpec inertia;
    inertia.moments = moments;
    body.inertia = inertia;
    return body;
}

// Andrews' squeezer mechanism, as the test sets of initial value problems have it: seven flat bodies, hinges at O, A and B of
// the ground, a spring from D on the third body to C, a torque on the crank.
struct Squeezer {
    static constexpr double d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, rr = 0.007, ra = 0.00092,
                            ss = 0.035, sa = 0.01874, sb = 0.01043, sc = 0.018, sd = 0.02, ta = 0.02308,
                            tb = 0.00916, u = 0.04, ua = 0.01228, ub = 0.00449, zf = 0.02, zt = 0.04,
                            fa = 0.01421, stiffness = 4530, rest = 0.07785, torque = 0.033;
    static constexpr double beta = -0.0617138900142764496, theta = 0, gamma = 0.455279819163070380,
                            phi = 0.222668390165885885, delta = 0.487364979543842550,
                            omega = -0.222668390165885885, epsilon = 1.23054744454982119;

    Scene make(double dt) const {
        Scene scene = articulated_scene(dt, 0.03);
        scene.gravity.setZero();
        const auto flat = [](double x, double y) { return Vec3(x, y, 0); };
        const Vec3 A = flat(-0.06934, -0.00227), B = flat(-0.03635, 0.03273), C = flat(0.014, 0.072);
        const auto turned = [&](double angle, double x, double y) {
            return flat(x * std::cos(angle) - y * std::sin(angle), x * std::sin(angle) + y * std::cos(angle));
        };
        const Vec3 crank = turned(beta, rr, 0), E = crank - turned(beta + theta, d, 0);
        const Vec3 H = A + turned(delta, zt, 0), G = A + turned(epsilon, 0, -u);
        const Vec3 D = B + turned(gamma, sd, -sc);
        const auto add = [&](int k, double mass, double inertia, const Vec3& at) {
            return scene.add_body(
                without_shape("b" + std::to_string(k), mass, inertia * Vec3(0.6, 0.6, 1.0), at));
        };
        const int b1 = add(1, 0.04325, 2.194e-6, turned(beta, ra, 0));
        const int b2 = add(2, 0.00365, 4.410e-7, crank - turned(beta + theta, da, 0));
        const int b3 = add(3, 0.02373, 5.255e-6, B + turned(gamma, sb, -sa));
        const int b4 = add(4, 0.00706, 5.667e-7, H + turned(phi + delta, 0, ea - e));
        const int b5 = add(5, 0.07050, 1.169e-5, A + turned(delta, ta, tb));
        const int b6 = add(6, 0.00706, 5.667e-7, G + turned(omega + epsilon, zf - fa, 0));
        const int b7 = add(7, 0.05498, 1.912e-5, A + turned(epsilon, -ub, -ua));
        const auto hinge = [&](const char* name, int a, int b, const Vec3& at) {
            scene.joints.push_back(joint_spec(name, JointType::hinge, a, b, at));
        };
        hinge("O", -1, b1, Vec3::Zero());
        hinge("crank", b1, b2, crank);
        hinge("E3", b2, b3, E);
        hinge("E4", b2, b4, E);
        hinge("E6", b2, b6, E);
        hinge("B", -1, b3, B);
        hinge("H", b4, b5, H);
        hinge("A5", -1, b5, A);
        hinge("G", b6, b7, G);
        hinge("A7", -1, b7, A);
        JointSpec spring = joint_spec("spring", JointType::distance, -1, b3, C);
        spring.point_b = D;
        DriveSpec drive;
        drive.spring = SpringSpec{stiffness, 0.0, rest};
        spring.drives.push_back(drive);
        scene.joints.push_back(spring);
        ForceSpec force;
        force.body = b1;
        force.torque = Vec3(0, 0, torque);
        scene.forces.push_back(force);
        return scene;
    }
};

// Poses of a chain of six links of unit length along an orthogonal threefold-symmetric Bricard linkage, the first of them held:
// with theta, phi the angles between successive links, in turn, cos theta + cos phi + cos theta cos phi = 0.
std::array<Vec3, 7> bricard_corners(double theta) {
    const double c = std::cos(theta), phi = std::acos(-c / (1 + c));
    // from the corner (1,0,0) on; in the cube's position the axes are z, x, y, ... and all angles right ones
    const Vec3 start_axis[6] = {Vec3::UnitZ(), Vec3::UnitX(), -Vec3::UnitY(),
                                Vec3::UnitZ(), Vec3::UnitX(), -Vec3::UnitY()};
    const Vec3 start_link[6] = {Vec3::UnitX(),  Vec3::UnitY(),  Vec3::UnitZ(),
                                -Vec3::UnitX(), -Vec3::UnitY(), -Vec3::UnitZ()};
    std::array<Vec3, 7> corners;
    corners[0] = Vec3::Zero();
    Mat3 turn = Mat3::Identity();  // of the link at hand since the start
    for (int k = 0; k < 6; ++k) {
        corners[k + 1] = corners[k] + turn * start_link[k];
        const double sign = start_link[k].cross(start_link[(k + 1) % 6]).dot(start_axis[k]);
        const double change = (k % 2 == 0 ? theta : phi) - M_PI / 2;
        turn = turn * Eigen::AngleAxisd(sign * change, start_axis[k]).toRotationMatrix();
    }
    return corners;
}

}  // namespace

// Angles of crank and coupler at 0.03 s, after two and a half turns, as published to 14 digits.
TEST(ArticulatedMechanics, SevenBodySqueezerReachesItsPublishedAngles) {
    const double exact[2] = {15.81077119629904, -15.75637105984298};  // beta, theta
    double errors[2];
    int which = 0;
    for (const double dt : {2e-5, 1e-5}) {
        Simulation simulation(Squeezer().make(dt));
        while (simulation.time() < 0.03 - 1e-9) ASSERT_TRUE(simulation.step().converged) << simulation.time();
        const auto& coordinate = simulation.state().joint_coordinate;
        errors[which++] = std::max(std::abs(Squeezer::beta + coordinate[0][0] - exact[0]),
                                   std::abs(coordinate[1][0] - exact[1]));
    }
    EXPECT_LT(errors[1], 0.01);
    EXPECT_GT(std::log2(errors[0] / errors[1]), 1.8);
}

// Five rods of 1 m and 1 kg on six hinges along the edges of a cube, the sixth edge the ground: one degree of freedom although its
// conditions count to none. T = M(theta) theta'^2 / 2 and V(theta), by differences of the closed form's poses.
TEST(ArticulatedMechanics, BricardsLinkageFallsAsItsOneEquationSays) {
    const double thick = 0.1, across = (1.0 + thick * thick) / 12, along_it = thick * thick / 6;
    const auto potential = [](double theta) {
        const auto c = bricard_corners(theta);
        double sum = 0;
        for (int k = 1; k < 6; ++k) sum += g * 0.5 * (c[k].y() + c[k + 1].y());
        return sum;
    };
    // rods may spin about themselves: their poses from the axes, which the corners before and after span
    const auto mass = [&](double theta) {
        const double step = 1e-4;
        const auto a = bricard_corners(theta - step), b = bricard_corners(theta + step),
                   c = bricard_corners(theta);
        double sum = 0;
        for (int k = 1; k < 6; ++k) {
            const auto frame = [&](const std::array<Vec3, 7>& corners) {
                const Vec3 x = corners[k + 1] - corners[k], before = corners[k] - corners[k - 1];
                Mat3 F;
                F.col(0) = x.normalized();
                F.col(2) = before.cross(x).normalized();
                F.col(1) = F.col(2).cross(Vec3(F.col(0)));
                return F;
            };
            const Mat3 rate = (frame(b) - frame(a)) / (2 * step), W = frame(c).transpose() * rate;
            const Vec3 spin(W(2, 1), W(0, 2), W(1, 0)),
                move = 0.5 * (b[k] + b[k + 1] - a[k] - a[k + 1]) / (2 * step);
            sum += move.squaredNorm() + along_it * spin.x() * spin.x() +
                   across * (spin.y() * spin.y() + spin.z() * spin.z());
        }
        return sum;
    };
    Oscillator<1> exact;
    exact.x[0] = M_PI / 2;
    exact.v[0] = 0;
    exact.f = [&](const auto& x, const auto& v) -> Oscillator<1>::Vector {
        const double e = 1e-4, slope = (potential(x[0] + e) - potential(x[0] - e)) / (2 * e);
        const double change = (mass(x[0] + e) - mass(x[0] - e)) / (2 * e);
        return Oscillator<1>::Vector((-slope - 0.5 * change * v[0] * v[0]) / mass(x[0]));
    };
    const double until = 0.4;
    exact.advance(until, 200);

    double errors[2];
    int which = 0;
    for (const double dt : {0.008, 0.004}) {
        Scene scene = articulated_scene(dt, until);
        const auto corner = bricard_corners(M_PI / 2);
        for (int k = 1; k < 6; ++k) {
            BodySpec rod = body_spec(scene, "rod" + std::to_string(k), box_spec({1, thick, thick}),
                                     0.5 * (corner[k] + corner[k + 1]), along(corner[k + 1] - corner[k]));
            rod.mass = 1.0;
            rod.collides = false;
            scene.add_body(rod);
        }
        for (int k = 0; k < 6; ++k) {
            const Vec3 link = corner[k + 1] - corner[k],
                       next = k < 5 ? Vec3(corner[k + 2] - corner[k + 1]) : Vec3::UnitX();
            scene.joints.push_back(joint_spec("h" + std::to_string(k), JointType::hinge, k - 1,
                                              k < 5 ? k : -1, corner[k + 1], link.cross(next)));
        }
        Simulation simulation(scene);
        double open = 0, rule = 0;
        while (simulation.time() < until - 1e-9) {
            const StepReport report = simulation.step();
            ASSERT_TRUE(report.converged) << simulation.time();
            open = std::max(open, report.joint_residual);
            const auto angle = [&](int k) { return M_PI / 2 + simulation.state().joint_coordinate[k][0]; };
            for (int k = 0; k < 5; ++k) {
                const double p = std::cos(angle(k)), q = std::cos(angle(k + 1));
                rule = std::max(rule, std::abs(p + q + p * q));
            }
        }
        EXPECT_LT(open, 1e-9);
        EXPECT_LT(rule, 1e-6);
        errors[which++] = std::abs(M_PI / 2 + simulation.state().joint_coordinate[0][0] - exact.x[0]);
    }
    EXPECT_GT(std::abs(exact.x[0] - M_PI / 2), 0.1);
    EXPECT_LT(errors[1], 1e-3 * std::abs(exact.x[0] - M_PI / 2));
    EXPECT_GT(std::log2(errors[0] / errors[1]), 1.7);
}

// Two rods of 1 m, the masses equal or a million times apart, against Lagrange's equations.
TEST(ArticulatedMechanics, DoublePendulumAtMassRatiosToAMillion) {
    for (const auto& [m1, m2] : {std::pair{1.0, 1.0}, {1e-3, 1e3}, {1e3, 1e-3}}) {
        const double thick = 0.02, moment = (1 + thick * thick) / 12;
        Oscillator<2> exact;
        exact.x = Eigen::Vector2d(M_PI / 2, M_PI / 2);
        exact.v.setZero();
        exact.f = [&, m1 = m1, m2 = m2](const auto& x, const auto& v) -> Eigen::Vector2d {
            const double sine = std::sin(x[0] - x[1]), cosine = std::cos(x[0] - x[1]);
            Eigen::Matrix2d M;
            M << m1 * (moment + 0.25) + m2, 0.5 * m2 * cosine, 0.5 * m2 * cosine, m2 * (moment + 0.25);
            return M.inverse() *
                   Eigen::Vector2d(-0.5 * m2 * sine * v[1] * v[1] - (0.5 * m1 + m2) * g * std::sin(x[0]),
                                   0.5 * m2 * sine * v[0] * v[0] - 0.5 * m2 * g * std::sin(x[1]));
        };
        const double until = 0.5;
        exact.advance(until, 4000);
        double errors[2];
        int which = 0;
        for (const double dt : {0.004, 0.002}) {
            Scene scene = articulated_scene(dt, until);
            for (int k = 0; k < 2; ++k) {
                BodySpec rod = body_spec(scene, "rod" + std::to_string(k), box_spec({1, thick, thick}),
                                         Vec3(0.5 + k, 0, 0));
                rod.mass = k == 0 ? m1 : m2;
                rod.collides = false;
                scene.add_body(rod);
                scene.joints.push_back(
                    joint_spec("h" + std::to_string(k), JointType::hinge, k - 1, k, Vec3(k, 0, 0)));
            }
            Simulation simulation(scene);
            while (simulation.time() < until - 1e-9) ASSERT_TRUE(simulation.step().converged) << m1;
            const double first = M_PI / 2 + simulation.state().joint_coordinate[0][0];
            const double second = first + simulation.state().joint_coordinate[1][0];
            errors[which++] = std::max(std::abs(first - exact.x[0]), std::abs(second - exact.x[1]));
        }
        EXPECT_LT(errors[1], 2e-3) << m1;
        EXPECT_GT(std::log2(errors[0] / errors[1]), 1.7) << m1;
    }
}

// A rod on a hinge with a rotor behind it, from horizontal: (I + J) theta'' = -m g l/2 cos(theta).
TEST(ArticulatedMechanics, ArmatureAddsToAPendulumsInertia) {
    const double armature = 0.1, moment = (1 + 0.0025) / 12 + 0.25;
    Oscillator<1> exact;
    exact.x.setZero();
    exact.v.setZero();
    exact.f = [&](const auto& x, const auto&) {
        return Oscillator<1>::Vector(-0.5 * g * std::cos(x[0]) / (moment + armature));
    };
    exact.advance(1.0, 2000);
    double errors[2];
    int which = 0;
    for (const double dt : {0.01, 0.005}) {
        Scene scene = articulated_scene(dt, 1.0);
        BodySpec rod = body_spec(scene, "rod", box_spec({1, 0.05, 0.05}), Vec3(0.5, 0, 0));
        rod.mass = 1.0;
        scene.add_body(rod);
        scene.joints.push_back(joint_spec("hinge", JointType::hinge, -1, 0, Vec3::Zero()));
        DriveSpec drive;
        drive.armature = armature;
        scene.joints[0].drives.push_back(drive);
        Simulation simulation(scene);
        while (simulation.time() < 1.0 - 1e-9) ASSERT_TRUE(simulation.step().converged);
        errors[which++] = std::abs(simulation.state().joint_coordinate[0][0] - exact.x[0]);
    }
    EXPECT_LT(errors[0], 0.01);
    EXPECT_GT(std::log2(errors[0] / errors[1]), 1.7);
}

// A top in steady precession: I_3 w_3 W - I_1 W^2 cos(tilt) = m g l. Its axis keeps the tilt and goes round at W.
TEST(ArticulatedMechanics, TopPrecessesSteadily) {
    const double m = 2, l = 0.3, across = 0.02, along_axis = 0.01, tilt = 0.6, W = 3;
    const double about_tip = across + m * l * l;
    const double spin = (m * g * l + about_tip * W * W * std::cos(tilt)) / (along_axis * W);
    const Vec3 axis(std::sin(tilt), std::cos(tilt), 0),
        rate = W * Vec3::UnitY() + (spin - W * std::cos(tilt)) * axis;
    double errors[2];
    int which = 0;
    const double until = 0.5;
    for (const double dt : {0.0002, 0.0001}) {
        Scene scene = articulated_scene(dt, until);
        BodySpec top = without_shape("top", m, Vec3(across, along_axis, across), l * axis);
        top.rotation = Quat::FromTwoVectors(Vec3::UnitY(), axis);
        top.angular_velocity = rate;
        top.linear_velocity = rate.cross(l * axis);
        scene.add_body(top);
        scene.joints.push_back(joint_spec("tip", JointType::ball, -1, 0, Vec3::Zero()));
        Simulation simulation(scene);
        while (simulation.time() < until - 1e-9) ASSERT_TRUE(simulation.step().converged);
        const Vec3 wanted = Eigen::AngleAxisd(W * until, Vec3::UnitY()) * axis;
        errors[which++] = (simulation.state().q[0].col(3) / l - wanted).norm();
    }
    EXPECT_LT(errors[1], 0.01);
    EXPECT_GT(std::log2(errors[0] / errors[1]), 1.7);
}

}  // namespace tenon

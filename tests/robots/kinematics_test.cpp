// Trees in joint coordinates against closed forms, finite differences and each other.
#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "tenon/kinematics.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/state.hpp"

namespace tenon::kinematics {
namespace {

constexpr double g = 9.81;

// Two uniform rods in the plane of x and y, gravity along -y, hinges about z.
Tree two_rods(double l1, double l2, double m1, double m2) {
    Tree tree;
    tree.gravity = Vec3(0, -g, 0);
    Link a;
    a.motion = Link::Motion::hinge;
    a.mass = m1;
    a.center = Vec3(l1 / 2, 0, 0);
    a.inertia = Vec3(0, m1 * l1 * l1 / 12, m1 * l1 * l1 / 12).asDiagonal();
    tree.add(a);
    Link b = a;
    b.parent = 0;
    b.anchor = Vec3(l1, 0, 0);
    b.mass = m2;
    b.center = Vec3(l2 / 2, 0, 0);
    b.inertia = Vec3(0, m2 * l2 * l2 / 12, m2 * l2 * l2 / 12).asDiagonal();
    tree.add(b);
    return tree;
}

// A tree with every kind of joint and masses everywhere.
Tree mixed_tree(std::mt19937& random) {
    std::uniform_real_distribution<double> u(-1, 1);
    const auto vec = [&] { return Vec3(u(random), u(random), u(random)); };
    Tree tree;
    tree.gravity = Vec3(0.3, -0.2, -g);
    const Link::Motion motions[] = {Link::Motion::free,  Link::Motion::hinge, Link::Motion::slide,
                                    Link::Motion::ball,  Link::Motion::fixed, Link::Motion::hinge,
                                    Link::Motion::slide, Link::Motion::hinge};
    const int parents[] = {-1, 0, 1, 1, 2, 3, 4, 0};
    for (int i = 0; i < 8; ++i) {
        Link link;
        link.parent = parents[i];
        link.motion = motions[i];
        link.anchor = vec();
        link.axis = vec().normalized();
        link.mass = 1 + 0.5 * u(random);
        link.center = 0.3 * vec();
        const Mat3 A = Mat3::Identity() + 0.3 * (Mat3() << vec(), vec(), vec()).finished();
        link.inertia = 0.1 * A * A.transpose();
        tree.add(link);
    }
    return tree;
}

VecX random_vector(int n, std::mt19937& random) {
    std::uniform_real_distribution<double> u(-1, 1);
    VecX v(n);
    for (int i = 0; i < n; ++i) v[i] = u(random);
    return v;
}

TEST(Kinematics, TwoRodsHaveTheTextbookEquations) {
    const double l1 = 0.7, l2 = 0.4, m1 = 2, m2 = 1.5;
    const Tree tree = two_rods(l1, l2, m1, m2);
    const VecX q = Eigen::Vector2d(0.4, -1.1), v = Eigen::Vector2d(0.8, 1.7);
    const Frames frames = forward(tree, q);
    const Vec3 tip = point_of(frames, 1, Vec3(l2, 0, 0));
    EXPECT_NEAR(tip.x(), l1 * std::cos(q[0]) + l2 * std::cos(q[0] + q[1]), 1e-15);
    EXPECT_NEAR(tip.y(), l1 * std::sin(q[0]) + l2 * std::sin(q[0] + q[1]), 1e-15);
    // rods about their ends: m l^2 / 3; coupling m2 l1 l2/2 cos q2
    const double c = m2 * l1 * l2 / 2 * std::cos(q[1]), s = m2 * l1 * l2 / 2 * std::sin(q[1]);
    const double I2 = m2 * l2 * l2 / 3;
    const MatX M = mass_matrix(tree, frames);
    EXPECT_NEAR(M(0, 0), m1 * l1 * l1 / 3 + m2 * l1 * l1 + I2 + 2 * c, 1e-14);
    EXPECT_NEAR(M(0, 1), I2 + c, 1e-14);
    EXPECT_NEAR(M(1, 1), I2, 1e-14);
    const VecX gravity = gravity_torques(tree, frames);
    EXPECT_NEAR(gravity[1], m2 * g * l2 / 2 * std::cos(q[0] + q[1]), 1e-13);
    EXPECT_NEAR(gravity[0], (m1 / 2 + m2) * g * l1 * std::cos(q[0]) + gravity[1], 1e-13);
    const VecX coriolis = coriolis_torques(tree, frames, v);
    EXPECT_NEAR(coriolis[0], -s * (2 * v[0] * v[1] + v[1] * v[1]), 1e-13);
    EXPECT_NEAR(coriolis[1], s * v[0] * v[0], 1e-13);
}

TEST(Kinematics, JacobiansAreDerivatives) {
    std::mt19937 random(1);
    const Tree tree = mixed_tree(random);
    const VecX q = integrate(tree, tree.zero(), random_vector(tree.freedoms, random), 1.0);
    const Frames frames = forward(tree, q);
    const Vec3 local(0.2, -0.1, 0.4);
    for (int link = 0; link < static_cast<int>(tree.links.size()); ++link) {
        const MatX J = jacobian(tree, frames, link, local);
        for (int k = 0; k < tree.freedoms; ++k) {
            const double e = 1e-6;
            const VecX unit = VecX::Unit(tree.freedoms, k);
            const Frames plus = forward(tree, integrate(tree, q, unit, e)),
                         minus = forward(tree, integrate(tree, q, unit, -e));
            const Vec3 slope = (point_of(plus, link, local) - point_of(minus, link, local)) / (2 * e);
            EXPECT_LT((slope - J.col(k).head<3>()).norm(), 1e-8) << link << " " << k;
            const Mat3 W =
                (plus.rotation[link] - minus.rotation[link]) / (2 * e) * frames.rotation[link].transpose();
            EXPECT_LT((Vec3(W(2, 1), W(0, 2), W(1, 0)) - J.col(k).tail<3>()).norm(), 1e-8)
                << link << " " << k;
        }
    }
}

// Column k of M is what unit acceleration of freedom k takes beyond gravity.
TEST(Kinematics, MassMatrixAgreesWithInverseDynamics) {
    std::mt19937 random(2);
    Tree tree = mixed_tree(random);
    tree.links[1].armature = 0.3;
    const VecX q = integrate(tree, tree.zero(), random_vector(tree.freedoms, random), 1.0);
    const Frames frames = forward(tree, q);
    const MatX M = mass_matrix(tree, frames);
    const VecX zero = VecX::Zero(tree.freedoms), rest = gravity_torques(tree, frames);
    for (int k = 0; k < tree.freedoms; ++k) {
        const VecX column = inverse_dynamics(tree, frames, zero, VecX::Unit(tree.freedoms, k)) - rest;
        EXPECT_LT((column - M.col(k)).norm(), 1e-12) << k;
    }
    const VecX v = random_vector(tree.freedoms, random), a = random_vector(tree.freedoms, random);
    const VecX tau = inverse_dynamics(tree, frames, v, a);
    EXPECT_LT((forward_dynamics(tree, frames, v, tau) - a).norm(), 1e-10);
}

// Power of the torques is the change of kinetic and potential energy: checks Coriolis terms of every joint kind.
TEST(Kinematics, TorquesDoTheWorkThatEnergyGains) {
    std::mt19937 random(3);
    const Tree tree = mixed_tree(random);
    const VecX q = integrate(tree, tree.zero(), random_vector(tree.freedoms, random), 1.0);
    const VecX v = random_vector(tree.freedoms, random), a = random_vector(tree.freedoms, random);
    const auto energy = [&](double t) {
        const VecX now = v + t * a;
        // q'(t) = v + t a, integrated to second order
        const Frames frames = forward(tree, integrate(tree, q, v + 0.5 * t * a, t));
        double potential = 0;
        for (std::size_t i = 0; i < tree.links.size(); ++i)
            potential -= tree.links[i].mass *
                         tree.gravity.dot(point_of(frames, static_cast<int>(i), tree.links[i].center));
        return 0.5 * now.dot(mass_matrix(tree, frames) * now) + potential;
    };
    const double e = 1e-5, power = (energy(e) - energy(-e)) / (2 * e);
    const VecX tau = inverse_dynamics(tree, forward(tree, q), v, a);
    EXPECT_NEAR(power, tau.dot(v), 1e-6 * (1 + std::abs(power)));
}

TEST(Kinematics, InverseKinematicsReachesPosesWithinLimits) {
    Tree tree;
    const Vec3 axes[] = {Vec3::UnitZ(), Vec3::UnitY(), Vec3::UnitZ(), Vec3::UnitY(),
                         Vec3::UnitZ(), Vec3::UnitY(), Vec3::UnitZ()};
    for (int i = 0; i < 7; ++i) {
        Link link;
        link.parent = i - 1;
        link.motion = Link::Motion::hinge;
        link.axis = axes[i];
        link.anchor = Vec3(0, 0, i == 0 ? 0.3 : 0.2);
        link.limits = {-2.5, 2.5};
        tree.add(link);
    }
    std::mt19937 random(4);
    int reached = 0;
    for (int trial = 0; trial < 50; ++trial) {
        const VecX goal = 1.2 * random_vector(7, random), start = goal + 0.5 * random_vector(7, random);
        const Frames frames = forward(tree, goal);
        const Target target{6, Vec3(0, 0, 0.1), point_of(frames, 6, Vec3(0, 0, 0.1)),
                            Quat(frames.rotation[6])};
        const InverseResult result = inverse_kinematics(tree, {target}, start);
        reached += result.converged;
        for (int k = 0; k < 7; ++k) EXPECT_LE(std::abs(result.q[k]), 2.5);
        if (result.converged) {
            const Frames found = forward(tree, result.q);
            EXPECT_LT((point_of(found, 6, target.point) - target.position).norm(), 1e-9);
        }
    }
    EXPECT_GE(reached, 48);
    // out of reach: says so
    const InverseResult far =
        inverse_kinematics(tree, {{6, Vec3::Zero(), Vec3(5, 0, 0), std::nullopt}}, tree.zero());
    EXPECT_FALSE(far.converged);
    EXPECT_GT(far.error, 3.0);
}

TEST(Kinematics, TrajectoriesKeepTheirLimits) {
    const Tree tree = two_rods(0.7, 0.4, 2, 1.5);
    const VecX from = Eigen::Vector2d(0.1, 0.4), to = Eigen::Vector2d(1.3, 1.2);
    const VecX speed = Eigen::Vector2d(1.0, 0.3), acceleration = Eigen::Vector2d(4.0, 2.0);
    const JointTrajectory path = joint_trajectory(tree, from, to, speed, acceleration);
    EXPECT_LT((path.at(path.profile.duration) - to).norm(), 1e-14);
    EXPECT_LT((path.at(0) - from).norm(), 1e-14);
    double fastest = 0;
    for (double t = 0; t < path.profile.duration; t += 0.01) {
        const VecX v = path.rate(t), a = (path.rate(t + 1e-6) - path.rate(t - 1e-6)) / 2e-6;
        for (int k = 0; k < 2; ++k) {
            EXPECT_LE(std::abs(v[k]), speed[k] * (1 + 1e-9));
            EXPECT_LE(std::abs(a[k]), acceleration[k] * (1 + 1e-6));
            fastest = std::max(fastest, std::abs(v[k]) / speed[k]);
        }
    }
    EXPECT_NEAR(fastest, 1.0, 1e-9);  // one joint is at its limit: the path is as quick as it may be
    const Frames first = forward(tree, from);
    const Vec3 start = point_of(first, 1, Vec3(0.4, 0, 0)), end = start + Vec3(-0.2, 0.1, 0);
    const LineTrajectory line =
        line_trajectory(tree, from, {1, Vec3(0.4, 0, 0), end, std::nullopt}, 0.5, 2.0, 0.005);
    for (const VecX& q : line.q) {
        const Vec3 x = point_of(forward(tree, q), 1, Vec3(0.4, 0, 0)) - start;
        EXPECT_LT(x.cross((end - start).normalized()).norm(), 1e-8);  // straight
    }
    EXPECT_LT((point_of(forward(tree, line.q.back()), 1, Vec3(0.4, 0, 0)) - end).norm(), 1e-8);
    EXPECT_THROW(
        line_trajectory(tree, from, {1, Vec3(0.4, 0, 0), Vec3(3, 0, 0), std::nullopt}, 0.5, 2.0, 0.01),
        std::runtime_error);
}

// The tree of a scene and the scene's own joints agree: bodies moved by starts are where the tree says.
TEST(Kinematics, TreeOfASceneFollowsItsJoints) {
    const char* const text = R"({"up": "z", "method": "articulated", "bodies": [
        {"name": "base", "type": "static", "shape": "box"},
        {"name": "a", "shape": {"type": "box", "size": [0.2, 0.3, 0.4]}, "position": [1, 0, 0], "rotation_euler": [10, 20, 30]},
        {"name": "b", "mass": 2, "inertia": {"matrix": [2, 0.1, 0, 3, 0, 4], "center": [0.1, 0, 0]}, "position": [2, 0, 1]},
        {"name": "c", "shape": "sphere", "position": [3, 0, 1]}, {"name": "d", "shape": "sphere", "position": [4, 0, 1]}],
      "joints": [
        {"name": "u", "type": "universal", "bodies": ["base", "a"], "point": [0.5, 0, 0], "axis": [0, 0, 1], "axis_b": [0, 1, 0], "position": [0.3, -0.4]},
        {"name": "c", "type": "cylindrical", "bodies": ["b", "a"], "point": [1.5, 0, 0], "axis": [1, 0, 1], "position": [0.5, 0.2]},
        {"name": "p", "type": "planar", "bodies": ["b", "c"], "point": [2.5, 0, 1], "axis": [0, 1, 1], "position": [0.1, -0.2, 0.7]},
        {"name": "ball", "type": "ball", "bodies": ["c", "d"], "point": [3.5, 0, 1], "position": [0.9, 0.1, 0.2, 0.3]}]})";
    const Scene scene = parse_scene(text, "tree", ".");
    const SceneTree robot = tree_of(scene);
    EXPECT_TRUE(robot.cut_joints.empty());
    VecX q = robot.tree.zero();
    for (std::size_t j = 0; j < scene.joints.size(); ++j) {
        const auto& place = robot.joints[j];
        std::vector<double> start = scene.joints[j].start;
        if (place.reversed) std::reverse(start.begin(), start.end());
        for (std::size_t k = 0; k < start.size(); ++k)
            q[robot.tree.links[place.first_link].q + static_cast<int>(k)] = start[k];
    }
    const Frames frames = forward(robot.tree, q);
    const Model model = compile(scene);
    const State state = initial_state(model);
    for (int body = 1; body < model.bodies.size(); ++body) {
        const int link = robot.link_of_body[body];
        const Vec3 wanted = point_of(frames, link, robot.tree.links[link].center);
        EXPECT_LT((state.q[body].col(3) - wanted).norm(), 1e-12) << body;
        const Mat3 turned = frames.rotation[link] * robot.body_in_link[body].rotation.toRotationMatrix();
        const Mat3 now =
            state.q[body].leftCols<3>() * model.shape_of(body).geometry_frame.rotation.toRotationMatrix();
        EXPECT_LT((turned - now).norm(), 1e-12) << body;
    }
}

}  // namespace
}  // namespace tenon::kinematics

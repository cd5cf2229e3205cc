// Elastic bodies of the articulated method against closed forms, a static solution and an independent integration.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <sstream>

#include "model/elastic_elements.hpp"
#include "scene/builtin/affine_scene_parts.hpp"
#include "tenon/simulation.hpp"
#include "truth/elastic_parts.hpp"

namespace tenon {
namespace {

using test::centre_of;
using test::elastic_box;
using test::mass_of;
using test::soft_material;

constexpr double gravity = 9.81;

Scene articulated_elastic(double dt, bool euler = false) {
    Scene scene;
    scene.method = "articulated";
    scene.dt = dt;
    if (euler) scene.method_params["integrator"] = std::string("euler");
    return scene;
}

double largest_gap(const Simulation& simulation) {
    double gap = 0.0;
    const Model& model = simulation.model();
    for (std::size_t e = 0; e < model.elastic.size(); ++e)
        for (const ElasticBody::Pin& pin : model.elastic[e].pins)
            if (pin.body >= 0)
                gap = std::max(gap, (simulation.state().elastic[e].x[pin.vertex] -
                                     transform(simulation.state().q[pin.body], pin.local))
                                        .norm());
    return gap;
}

double metric(const StepReport& report, const std::string& name) {
    for (const auto& [key, value] : report.metrics)
        if (key == name) return value;
    return std::nan("");
}

// x = x0 + v t - g t^2/2, without strain.
TEST(ArticulatedElastic, AThrownCubeFollowsItsParabola) {
    double before = 0.0;
    for (double dt : {0.02, 0.01}) {
        Scene scene = articulated_elastic(dt);
        ElasticSpec cube =
            elastic_box(scene, {0.2, 0.2, 0.2}, Vec3(0, 1, 0), 0.1, soft_material(scene, 1e5, 0.3, 0));
        cube.linear_velocity = Vec3(1, 2, 0);
        scene.elastic.push_back(cube);
        Simulation simulation(scene);
        StepReport report;
        while (simulation.time() < 0.5 - 1e-9) {
            report = simulation.step();
            EXPECT_TRUE(report.converged);
        }
        const Vec3 centre = centre_of(simulation.model().elastic[0], simulation.state().elastic[0].x);
        const double off = (centre - Vec3(0.5, 1 + 1.0 - 0.5 * gravity * 0.25, 0)).norm();
        EXPECT_LT(off, 2.0 * gravity * dt * dt);
        if (before > 0.0) {
            EXPECT_LT(off, 0.35 * before);
        }
        before = off;
        EXPECT_LT(metric(report, "elastic_energy"), 1e-12);
    }
}

// Soft and rigid parts that spin about each other in free space: momentum is kept to rounding, angular momentum at the
// integrator's order.
TEST(ArticulatedElastic, MomentaOfAttachedPartsAreKept) {
    double before = 0.0;
    for (double dt : {0.004, 0.002}) {
        Scene scene = articulated_elastic(dt);
        scene.gravity.setZero();
        const int rigid = scene.add_body(body_spec(scene, "core", box_spec({0.2, 0.2, 0.2}), Vec3::Zero()));
        scene.bodies[rigid].linear_velocity = Vec3(0.3, 0.1, -0.2);
        scene.bodies[rigid].angular_velocity = Vec3(0, 0, 3);
        ElasticSpec arm =
            elastic_box(scene, {0.4, 0.1, 0.1}, Vec3(0.3, 0, 0), 0.1, soft_material(scene, 2e6, 0.3, 0));
        arm.linear_velocity = Vec3(0.3, 0.1 + 3 * 0.3, -0.2);
        arm.angular_velocity = Vec3(0, 0, 3);
        arm.pins.push_back({Vec3(-0.201, -1, -1), Vec3(-0.199, 1, 1), {}, "core"});
        scene.elastic.push_back(arm);
        Simulation simulation(scene);
        const Vec3 p = linear_momentum(simulation.model(), simulation.state()),
                   l = angular_momentum(simulation.model(), simulation.state());
        double gap = 0.0;
        while (simulation.time() < 0.5 - 1e-9) {
            EXPECT_TRUE(simulation.step().converged);
            gap = std::max(gap, largest_gap(simulation));
        }
        const double off = (angular_momentum(simulation.model(), simulation.state()) - l).norm() / l.norm();
        std::cout << "h = " << dt << ": angular momentum off by " << off << ", gap " << gap << " m\n";
        EXPECT_LT((linear_momentum(simulation.model(), simulation.state()) - p).norm(), 1e-6 * p.norm());
        EXPECT_LT(gap, 1e-9);
        EXPECT_LT(off, 0.02);
        if (before > 0.0) {
            EXPECT_LT(off, 0.35 * before);
        }
        before = off;
    }
}

// The sag of a clamped beam, by vertex, from one linear system made here: K u = m g.
std::vector<Vec3> static_sag(const Model& model) {
    const ElasticBody& body = model.elastic[0];
    const ElasticElements elements = make_elements(body, model.materials);
    const int n = 3 * static_cast<int>(body.rest.size());
    Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n, n);
    Eigen::VectorXd f(n);
    for (int i = 0; i < elements.size(); ++i) {
        const Mat12 k = element_stiffness(elements, i, body.rest, false);
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b)
                K.block<3, 3>(3 * elements.tets[i][a], 3 * elements.tets[i][b]) +=
                    k.block<3, 3>(3 * a, 3 * b);
    }
    for (int v = 0; v < n / 3; ++v) f.segment<3>(3 * v) = body.vertex_mass[v] * Vec3(0, -gravity, 0);
    for (const ElasticBody::Pin& pin : body.pins)
        for (int k = 0; k < 3; ++k) K(3 * pin.vertex + k, 3 * pin.vertex + k) += 1e20;
    const Eigen::VectorXd u = K.ldlt().solve(f);
    std::vector<Vec3> out;
    for (int v = 0; v < n / 3; ++v) out.push_back(u.segment<3>(3 * v));
    return out;
}

Scene cantilever(const std::string& method, const std::string& holder) {
    Scene scene = articulated_elastic(0.2, method == "articulated");
    scene.method = method;
    if (!holder.empty()) {
        BodySpec wall = body_spec(scene, "wall", box_spec({0.2, 0.4, 0.4}), Vec3(-0.6, 0, 0));
        wall.type = holder == "jointed" ? BodyType::dynamic_body : BodyType::static_body;
        const int body = scene.add_body(wall);
        if (holder == "jointed")
            add_joint(scene, "weld", JointType::fixed, -1, body, Vec3(-0.6, 0, 0), Vec3::UnitY());
    }
    ElasticSpec beam =
        elastic_box(scene, {1.0, 0.1, 0.1}, Vec3::Zero(), 0.1, soft_material(scene, 2e9, 0.3, 0));
    beam.pins.push_back({Vec3(-0.501, -1, -1), Vec3(-0.499, 1, 1), {}, holder.empty() ? "" : "wall"});
    scene.elastic.push_back(beam);
    return scene;
}

// Held by the world, by a static body, and by a body that a joint welds to the world.
TEST(ArticulatedElastic, ACantileverSagsAsTheStaticSolutionSays) {
    for (const char* holder : {"", "static", "jointed"}) {
        Simulation simulation(cantilever("articulated", holder));
        for (int k = 0; k < 40; ++k) EXPECT_TRUE(simulation.step().converged) << k;
        const std::vector<Vec3> exact = static_sag(simulation.model());
        double off = 0.0, most = 0.0;
        for (std::size_t v = 0; v < exact.size(); ++v) {
            const Vec3 sag = simulation.state().elastic[0].x[v] - simulation.model().elastic[0].start_x[v];
            off = std::max(off, (sag - exact[v]).norm());
            most = std::max(most, exact[v].norm());
        }
        std::cout << "held by '" << holder << "': sag " << most << " m, off by " << off / most << "\n";
        EXPECT_LT(off, 2e-3 * most) << holder;
        EXPECT_LT(largest_gap(simulation), 1e-9);
    }
}

TEST(ArticulatedElastic, ACantileverSagsAsUnderTheAffineMethod) {
    const auto tip = [](const std::string& method) {
        Simulation simulation(cantilever(method, ""));
        for (int k = 0; k < 40; ++k) simulation.step();
        double lowest = 0.0;
        for (std::size_t v = 0; v < simulation.state().elastic[0].x.size(); ++v)
            lowest = std::min(lowest, simulation.state().elastic[0].x[v].y() -
                                          simulation.model().elastic[0].start_x[v].y());
        return lowest;
    };
    const double own = tip("articulated"), other = tip("affine");
    EXPECT_NEAR(own, other, 2e-3 * std::abs(other));
}

struct Swing {
    double worst = 0.0;  // rad, from the rigid pendulum
    double gap = 0.0;    // m
};

// An arm on a hinge with an elastic cube attached to its end, beside the rigid pendulum of the same masses:
// I theta'' = -m g d cos(theta), by Runge and Kutta in steps of 1e-4 s.
Swing swing_of_elastic_bob(double young) {
    Scene scene = articulated_elastic(0.005);
    const int arm = scene.add_body(body_spec(scene, "arm", box_spec({1, 0.05, 0.05}), Vec3(0.5, 0, 0)));
    add_joint(scene, "pivot", JointType::hinge, -1, arm, Vec3::Zero(), Vec3::UnitZ());
    ElasticSpec bob =
        elastic_box(scene, {0.2, 0.2, 0.2}, Vec3(1.1, 0, 0), 0.1, soft_material(scene, young, 0.3, 0.002));
    bob.pins.push_back({Vec3(-0.101, -1, -1), Vec3(-0.099, 1, 1), {}, "arm"});
    scene.elastic.push_back(bob);
    Simulation simulation(scene);
    const Model& model = simulation.model();
    double inertia = model.bodies.moments_of_inertia(arm).z() + model.bodies.mass[arm] * 0.25;
    Vec3 moment = model.bodies.mass[arm] * Vec3(0.5, 0, 0);
    for (std::size_t v = 0; v < model.elastic[0].rest.size(); ++v) {
        const Vec3& x = model.elastic[0].rest[v];
        inertia += model.elastic[0].vertex_mass[v] * x.head<2>().squaredNorm();
        moment += model.elastic[0].vertex_mass[v] * x;
    }
    double angle = 0.0, rate = 0.0;
    const auto pull = [&](double at) {
        return -gravity * (moment.x() * std::cos(at) - moment.y() * std::sin(at)) / inertia;
    };
    Swing swing;
    while (simulation.time() < 1.0 - 1e-9) {
        EXPECT_TRUE(simulation.step().converged);
        for (int k = 0; k < 50; ++k) {
            const double h = 1e-4;
            const double a1 = pull(angle), a2 = pull(angle + 0.5 * h * rate);
            const double a3 = pull(angle + 0.5 * h * rate + 0.25 * h * h * a1);
            const double a4 = pull(angle + h * rate + 0.5 * h * h * a2);
            angle += h * rate + h * h / 6 * (a1 + a2 + a3);
            rate += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        }
        const Vec3 along = simulation.state().q[arm].col(0);
        double off = std::atan2(along.y(), along.x()) - angle;
        off -= 2 * M_PI * std::round(off / (2 * M_PI));
        swing.worst = std::max(swing.worst, std::abs(off));
        swing.gap = std::max(
            {swing.gap, largest_gap(simulation), joint_residual_max(simulation.model(), simulation.state())});
    }
    return swing;
}

TEST(ArticulatedElastic, APendulumWithAnElasticBobConvergesToTheRigidOne) {
    const Swing soft = swing_of_elastic_bob(3e4), firm = swing_of_elastic_bob(3e5),
                stiff = swing_of_elastic_bob(3e8);
    std::cout << "pendulum off by " << soft.worst << ", " << firm.worst << ", " << stiff.worst
              << " rad at 3e4, 3e5, 3e8 Pa; gaps " << soft.gap << ", " << firm.gap << ", " << stiff.gap
              << " m\n";
    EXPECT_LT(firm.worst, 0.5 * soft.worst);
    EXPECT_LT(stiff.worst, firm.worst);
    EXPECT_LT(stiff.worst, 3e-3);
    for (const Swing* swing : {&soft, &firm, &stiff}) EXPECT_LT(swing->gap, 1e-9);
}

// A bar stretched by a tenth swings in its length: with small steps its energy stays what it was.
TEST(ArticulatedElastic, AVibratingBarKeepsItsEnergy) {
    const auto lost = [](double dt) {
        Scene scene = articulated_elastic(dt);
        scene.gravity.setZero();
        scene.elastic.push_back(
            elastic_box(scene, {0.4, 0.1, 0.1}, Vec3::Zero(), 0.1, soft_material(scene, 1e5, 0.3, 0)));
        const Method method(scene);
        const Model model = compile(scene);
        State state = initial_state(model);
        Outputs outputs(model);
        for (Vec3& x : state.elastic[0].x) x.x() *= 1.1;
        const double start =
            elastic_energy(make_elements(model.elastic[0], model.materials), state.elastic[0].x);
        double end = 0.0;
        while (state.time < 0.1 - 1e-9) {
            const StepReport report = method.step(model, state, outputs, dt);
            EXPECT_TRUE(report.converged);
            end = energies(model, state).kinetic + metric(report, "elastic_energy");
            EXPECT_LT(end, start * (1 + 1e-6));
        }
        return 1.0 - end / start;
    };
    const double coarse = lost(1e-3), fine = lost(5e-4);
    std::cout << "energy lost: " << coarse << " at 1 ms, " << fine << " at 0.5 ms\n";
    EXPECT_LT(coarse, 0.2);
    EXPECT_LT(fine, 0.4 * coarse);
}

int add_floor(Scene& scene) {
    BodySpec floor = body_spec(scene, "floor", box_spec({8, 0.4, 8}), Vec3(0, -0.2, 0));
    floor.type = BodyType::static_body;
    return scene.add_body(floor);
}

// A soft cube on a rigid box on the floor: each carries what lies on it.
TEST(ArticulatedElastic, RestingForcesAreWeights) {
    Scene scene = articulated_elastic(0.01);
    const int floor = add_floor(scene);
    const int box = scene.add_body(body_spec(scene, "box", box_spec({0.5, 0.2, 0.5}), Vec3(0, 0.1, 0)));
    scene.elastic.push_back(
        elastic_box(scene, {0.2, 0.2, 0.2}, Vec3(0, 0.301, 0), 0.1, soft_material(scene, 2e5, 0.3, 0.01)));
    Simulation simulation(scene);
    // the box rocks by a micrometre from step to step: means of the last ones
    Vec3 on_cube = Vec3::Zero(), on_box = Vec3::Zero();
    constexpr int steps = 100, last = 20, cube = 2;
    for (int k = 0; k < steps; ++k) {
        EXPECT_TRUE(simulation.step().converged) << k;
        for (const Contact& c : simulation.outputs().contacts) {
            if (k < steps - last) continue;
            if (c.b == cube && c.a == box) on_cube += c.force / last;
            if (c.a == cube && c.b == box) on_cube -= c.force / last;
            if (c.a == floor && c.b == box) on_box += c.force / last;
        }
    }
    const double soft = mass_of(simulation.model().elastic[0]) * gravity,
                 all = soft + simulation.model().bodies.mass[box] * gravity;
    std::cout << "on the cube " << on_cube.y() << " of " << soft << " N, on the box " << on_box.y() << " of "
              << all << " N\n";
    EXPECT_NEAR(on_cube.y(), soft, 5e-3 * soft);
    EXPECT_NEAR(on_box.y(), all, 5e-3 * all);
    EXPECT_LT(Vec3(on_cube.x(), 0, on_cube.z()).norm(), 5e-3 * soft);
}

// v^2 / (2 mu g), on a static floor.
TEST(ArticulatedElastic, ASlidingCubeStopsWhereFrictionStopsIt) {
    Scene scene = articulated_elastic(0.005);
    scene.materials[0].friction = 0.4;
    add_floor(scene);
    const int material = soft_material(scene, 2e6, 0.3, 0.005);
    scene.materials[material].friction = 0.4;
    ElasticSpec cube = elastic_box(scene, {0.3, 0.1, 0.3}, Vec3(0, 0.05, 0), 0.1, material);
    cube.linear_velocity = Vec3(1.5, 0, 0);
    scene.elastic.push_back(cube);
    Simulation simulation(scene);
    const double x0 = centre_of(simulation.model().elastic[0], simulation.state().elastic[0].x).x();
    while (simulation.time() < 0.6 - 1e-9) EXPECT_TRUE(simulation.step().converged);
    const double exact = 1.5 * 1.5 / (2 * 0.4 * gravity);
    const double slid = centre_of(simulation.model().elastic[0], simulation.state().elastic[0].x).x() - x0;
    std::cout << "slid " << slid << " m of " << exact << "\n";
    EXPECT_NEAR(slid, exact, 0.01 * exact);
}

// A copy of a state, saved and read again, goes on bit for bit.
TEST(ArticulatedElastic, AResumedRunIsTheSame) {
    Scene scene = articulated_elastic(0.01);
    add_floor(scene);
    const int arm = scene.add_body(body_spec(scene, "arm", box_spec({0.4, 0.05, 0.05}), Vec3(0.2, 0.5, 0)));
    add_joint(scene, "pivot", JointType::ball, -1, arm, Vec3(0, 0.5, 0), Vec3::UnitZ());
    const int material = soft_material(scene, 1e5, 0.3, 0.002);
    ElasticSpec bob = elastic_box(scene, {0.2, 0.2, 0.2}, Vec3(0.5, 0.5, 0), 0.1, material);
    bob.pins.push_back({Vec3(-0.101, -1, -1), Vec3(-0.099, 1, 1), {}, "arm"});
    scene.elastic.push_back(bob);
    ElasticSpec cube = elastic_box(scene, {0.2, 0.2, 0.2}, Vec3(-0.4, 0.12, 0), 0.1, material);
    cube.name = "cube";
    scene.elastic.push_back(cube);
    const Method method(scene);
    const Model model = compile(scene);
    State state = initial_state(model), other = initial_state(model);
    Outputs outputs(model);
    const auto step = [&](State& s) { method.step(model, s, outputs, scene.dt); };
    for (int k = 0; k < 12; ++k) step(state);
    std::stringstream saved;
    save_state(state, saved);
    load_state(model, other, saved);
    for (int k = 0; k < 12; ++k) step(state), step(other);
    ASSERT_EQ(state.time, other.time);
    for (std::size_t e = 0; e < model.elastic.size(); ++e)
        for (std::size_t v = 0; v < state.elastic[e].x.size(); ++v) {
            EXPECT_EQ(state.elastic[e].x[v], other.elastic[e].x[v]);
            EXPECT_EQ(state.elastic[e].v[v], other.elastic[e].v[v]);
        }
    EXPECT_EQ(state.q[arm], other.q[arm]);
}

// What the method cannot do is refused by the body's name.
TEST(ArticulatedElastic, BouncesAreRefused) {
    Scene scene = articulated_elastic(0.01);
    add_floor(scene);
    const int material = soft_material(scene, 1e5, 0.3, 0.002);
    scene.materials[material].restitution = 0.5;
    scene.elastic.push_back(elastic_box(scene, {0.2, 0.2, 0.2}, Vec3(0, 0.5, 0), 0.1, material));
    try {
        Simulation simulation(scene);
        FAIL() << "not refused";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("soft"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace tenon

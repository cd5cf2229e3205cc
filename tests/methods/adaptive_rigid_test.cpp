// Parts that become rigid and elastic again.
#include <gtest/gtest.h>

#include <cmath>

#include "adaptive_support.hpp"
#include "methods/adaptive/components.hpp"
#include "methods/adaptive/contacts.hpp"

namespace tenon {
namespace {

MaterialSpec rubber(double young = 1e5) {
    return soft_material("rubber", 1000, young, 0.3, 0, 0.02);
}

Vec3 momentum_about(const Model& model, const State& state, const Vec3& point) {
    return angular_momentum(model, state) - point.cross(linear_momentum(model, state));
}

// Any set of elements may be declared rigid and elastic again: linear and angular momentum stay, to round-off.
TEST(AdaptiveRigid, MomentumIsKeptAcrossEverySwitch) {
    Scene scene = soft_scene(0.01, true);
    add_soft_box(scene, "box", {0.6, 0.2, 0.2}, 0.1, {0.3, 1, 2}, rubber());
    const Model model = compile(scene);
    const State start = initial_state(model);
    const adaptive::Solid solid = adaptive::make_solid(model, start, 0);
    adaptive::SolidState state = adaptive::make_state(solid, start.elastic[0]);
    for (std::size_t v = 0; v < state.v.size(); ++v)
        state.v[v] = Vec3(1, -2, 0.5) + Vec3(3, 1, -2).cross(state.x[v]) +
                     0.3 * Vec3(std::sin(9.0 * v), std::cos(5.0 * v), std::sin(2.0 * v));
    const auto measure = [&](Vec3& p, Vec3& l) {
        p = l = Vec3::Zero();
        for (std::size_t v = 0; v < state.v.size(); ++v) {
            p += solid.mass[v] * state.v[v];
            l += solid.mass[v] * state.x[v].cross(state.v[v]);
        }
    };
    Vec3 p0, l0, p, l;
    measure(p0, l0);
    for (int round = 0; round < 6; ++round) {
        for (int i = 0; i < solid.elements.size(); ++i) state.rigid[i] = (i / 7 + round) % 3 != 0;
        adaptive::form_components(model, start, solid, 1, 0.0, 0.0, state);
        ASSERT_FALSE(state.components.empty());
        measure(p, l);
        EXPECT_LT((p - p0).norm(), 1e-12 * p0.norm());
        EXPECT_LT((l - l0).norm(), 1e-12 * l0.norm());
    }
}

// No two components share a vertex; each is connected through faces; every element of one is flagged.
TEST(AdaptiveRigid, ComponentsHaveNoHinges) {
    Scene scene = soft_scene(0.01, true);
    add_soft_box(scene, "box", {0.6, 0.3, 0.3}, 0.1, {0, 0, 0}, rubber());
    const Model model = compile(scene);
    const State start = initial_state(model);
    const adaptive::Solid solid = adaptive::make_solid(model, start, 0);
    adaptive::SolidState state = adaptive::make_state(solid, start.elastic[0]);
    for (int round = 1; round < 8; ++round) {
        for (int i = 0; i < solid.elements.size(); ++i) state.rigid[i] = (i * 7919 / 13 + round) % round != 1;
        adaptive::form_components(model, start, solid, 1, 0.0, 0.0, state);
        std::vector<int> seen(state.x.size(), 0);
        for (const adaptive::Component& c : state.components)
            for (int v : c.vertices) ++seen[v];
        for (std::size_t v = 0; v < seen.size(); ++v) {
            EXPECT_LE(seen[v], 1);
            EXPECT_EQ(seen[v] == 1, state.owner[v] >= 0);
        }
    }
}

// Contacts of rigid solids are looked for in their frames, by trees: the same as looking at every vertex where it is.
TEST(AdaptiveRigid, FramesHaveTheSameContacts) {
    Scene scene = soft_scene(0.01, true);
    add_floor(scene);
    BodySpec step =
        body_spec(scene, "step", box_spec({0.3, 0.2, 1.0}), {0.25, 0.1, 0}, turn(20, Vec3::UnitY()));
    step.type = BodyType::static_body;
    scene.add_body(step);
    add_soft_box(scene, "lower", {0.6, 0.2, 0.2}, 0.07, {0, 0.1, 0}, rubber());
    add_soft_box(scene, "upper", {0.4, 0.2, 0.3}, 0.07, {-0.1, 0.27, 0.04}, rubber());
    scene.elastic[0].rotation = turn(8, Vec3(1, 2, 3));
    scene.elastic[1].rotation = turn(-15, Vec3(3, 1, 2));
    const Model model = compile(scene);
    const State state = initial_state(model);
    std::vector<adaptive::Solid> solids;
    std::vector<adaptive::SolidState> states;
    for (int s = 0; s < 2; ++s) {
        solids.push_back(adaptive::make_solid(model, state, s));
        states.push_back(adaptive::make_state(solids[s], state.elastic[s]));
    }
    const geometry::SignedDistanceOptions field{.cells = 20, .padding = 3};
    adaptive::Contacts plain(model, state, solids, field), framed(model, state, solids, field);
    plain.find(model, state, solids, states, state.q, 0.01, 0.2);
    for (int s = 0; s < 2; ++s) {
        std::fill(states[s].rigid.begin(), states[s].rigid.end(), char{1});
        adaptive::form_components(model, state, solids[s], 1, 0.0, 0.0, states[s]);
        ASSERT_TRUE(states[s].wholly_rigid());
    }
    framed.find(model, state, solids, states, state.q, 0.01, 0.2);
    int with_solid = 0;
    ASSERT_EQ(plain.points().size(), framed.points().size());
    for (std::size_t k = 0; k < plain.points().size(); ++k) {
        EXPECT_EQ(plain.points()[k].key, framed.points()[k].key);
        EXPECT_NEAR(plain.points()[k].distance, framed.points()[k].distance, 1e-9);
        EXPECT_LT((plain.points()[k].normal - framed.points()[k].normal).norm(), 1e-6);
        with_solid += plain.points()[k].on_b.solid >= 0 ? 1 : 0;
    }
    EXPECT_GT(with_solid, 2);
    EXPECT_GT(plain.points().size(), 10u);
}

// A free body that spins becomes rigid, keeps its spin, and stays rigid.
TEST(AdaptiveRigid, SpinningBodyStaysRigid) {
    Scene scene = soft_scene(0.01, true);
    add_soft_box(scene, "box", {0.6, 0.2, 0.2}, 0.1, {0, 0, 0}, rubber(1e6));
    scene.elastic[0].angular_velocity = Vec3(0, 3, 0);
    scene.method_params["tau_R"] = 1e-4;
    Simulation simulation(scene);
    for (int i = 0; i < 100; ++i) simulation.step();
    const Vec3 before = momentum_about(simulation.model(), simulation.state(), Vec3::Zero());
    for (int i = 0; i < 300; ++i) {
        const StepReport report = simulation.step();
        EXPECT_EQ(figure(report, "rigid_fraction"), 1.0);
        EXPECT_EQ(figure(report, "elements_woken"), 0.0);
    }
    const Vec3 after = momentum_about(simulation.model(), simulation.state(), Vec3::Zero());
    EXPECT_LT((after - before).norm(), 1e-9 * before.norm());
    EXPECT_GT(after.norm(), 0);
}

// At the turning point of its swing the beam has no strain rate, but it is out of balance: it must not freeze there.
TEST(AdaptiveRigid, VibratingCantileverIsNotFrozenAtItsExtreme) {
    std::vector<double> lowest, last;
    for (bool adaptive : {false, true}) {
        Scene scene = soft_scene(0.005, adaptive);
        scene.gravity = Vec3(0, -9.81, 0);
        scene.method_params["tau_R"] = 1e-4;
        scene.method_params["steps_before_rigid"] = 2.0;
        add_soft_box(scene, "beam", {0.8, 0.15, 0.15}, 0.075, {0.4, 0, 0},
                     soft_material("rubber", 1000, 3e6, 0.3, 0, 0));
        scene.elastic[0].pins.push_back({Vec3(-0.401, -1, -1), Vec3(-0.399, 1, 1), {}, ""});
        Simulation simulation(scene);
        double lo = 0;
        std::vector<double> path;
        for (int i = 0; i < 150; ++i) {
            simulation.step();
            path.push_back(mass_center(simulation).y());
            lo = std::min(lo, path.back());
        }
        lowest.push_back(lo);
        last.push_back(path.back());
    }
    EXPECT_NEAR(lowest[1], lowest[0], 0.02 * std::abs(lowest[0]));
    EXPECT_NEAR(last[1], last[0], 0.05 * std::abs(lowest[0]));
}

// What rests becomes rigid and stays so, without waking again and again.
TEST(AdaptiveRigid, RestingStackDoesNotFlicker) {
    Scene scene = soft_scene(0.01, true);
    scene.gravity = Vec3(0, -9.81, 0);
    add_floor(scene);
    for (int k = 0; k < 2; ++k)
        add_soft_box(scene, k == 0 ? "lower" : "upper", {0.4, 0.2, 0.4}, 0.1, {0, 0.1 + 0.2 * k, 0},
                     soft_material("foam", 200, 1e5, 0.3, 0.5, 0.05));
    scene.method_params["tau_R"] = 1e-4;
    Simulation simulation(scene);
    for (int i = 0; i < 220; ++i) simulation.step();
    int woken = 0;
    double rigid = 1;
    for (int i = 0; i < 100; ++i) {
        const StepReport report = simulation.step();
        woken += static_cast<int>(figure(report, "elements_woken"));
        rigid = std::min(rigid, figure(report, "rigid_fraction"));
    }
    EXPECT_EQ(woken, 0);
    EXPECT_EQ(rigid, 1.0);
}

// A rigid solid at rest is carried by few solved contacts and by others that go on pushing: it does not move, all of them
// carry its weight, and a blow gives them all back.
TEST(AdaptiveRigid, RestsOnContactsThatAreHeld) {
    Scene scene = soft_scene(0.01, true);
    scene.gravity = Vec3(0, -9.81, 0);
    add_floor(scene);
    add_soft_box(scene, "box", {0.4, 0.2, 0.4}, 0.1, {0, 0.1, 0},
                 soft_material("foam", 200, 1e5, 0.3, 0.5, 0.05));
    BodySpec ball = body_spec(scene, "ball", shape_spec("sphere", {{"radius", 0.1}}), {0.1, 18, 0});
    scene.add_body(ball);  // falls for 1.9 s
    scene.method_params["tau_R"] = 1e-4;
    Simulation simulation(scene);
    StepReport report;
    while (simulation.time() < 1.0) report = simulation.step();
    const Vec3 before = mass_center(simulation);
    double mass = 0;
    for (double m : simulation.model().elastic[0].vertex_mass) mass += m;
    while (simulation.time() < 1.7) {
        report = simulation.step();
        EXPECT_GT(figure(report, "contacts_held"), 4.0);
        EXPECT_EQ(figure(report, "oracles"), 0.0);
        Vec3 force = Vec3::Zero();
        for (const Contact& c : simulation.outputs().contacts) force += c.force;
        EXPECT_NEAR(std::abs(force.y()), 9.81 * mass, 1e-3 * 9.81 * mass);
    }
    EXPECT_LT((mass_center(simulation) - before).norm(), 1e-6);
    while (simulation.time() < 2.0 && figure(report, "rigid_fraction") == 1.0) report = simulation.step();
    EXPECT_LT(figure(report, "rigid_fraction"), 1.0);
    EXPECT_EQ(figure(report, "contacts_held"), 0.0);
}

// What is rigid with a pinned end still notices that something pushes it, near the push first.
TEST(AdaptiveRigid, HeldPartsWakeWhenTouched) {
    Scene scene = soft_scene(0.01, true);
    scene.method_params["tau_R"] = 1e-3;
    add_soft_box(scene, "post", {0.1, 0.8, 0.1}, 0.05, {0, 0.4, 0}, rubber(1e6));
    scene.elastic[0].pins.push_back({Vec3(-1, -0.401, -1), Vec3(1, -0.399, 1), {}, ""});
    BodySpec fist = body_spec(scene, "fist", shape_spec("sphere", {{"radius", 0.08}}), {-0.3, 0.7, 0});
    fist.type = BodyType::kinematic_body;
    fist.motion = {{0, {-0.3, 0.7, 0}, Quat::Identity()},
                   {0.2, {-0.3, 0.7, 0}, Quat::Identity()},
                   {0.6, {-0.05, 0.7, 0}, Quat::Identity()}};
    scene.add_body(fist);
    Simulation simulation(scene);
    StepReport report;
    while (simulation.time() < 0.2) report = simulation.step();
    EXPECT_EQ(figure(report, "rigid_fraction"), 1.0);
    while (simulation.time() < 0.6) report = simulation.step();
    EXPECT_LT(figure(report, "rigid_fraction"), 0.9);
    double top = 0;
    for (const Vec3& x : simulation.state().elastic[0].x)
        if (x.y() > 0.65) top = std::max(top, x.x());
    EXPECT_GT(top, 0.08);  // 0.05 at rest, pushed by 0.08
}

// A given force moves a rigid solid as Newton says, and wakes what it bends.
TEST(AdaptiveRigid, GivenForcesMoveAndWake) {
    Scene scene = soft_scene(0.01, true);
    scene.method_params["tau_R"] = 1e-4;
    add_soft_box(scene, "rod", {1.0, 0.1, 0.1}, 0.05, {0, 0, 0}, rubber(1e6));
    ForceSpec even;
    even.body = 0;
    even.force = Vec3(0, 2, 0);
    even.from = 0.2;
    even.to = 0.7;
    ForceSpec bend = even;
    bend.point = Vec3(0.45, 0, 0);
    bend.force = Vec3(0, 40, 0);
    bend.from = 1.0;
    bend.to = 1.1;
    scene.forces = {even, bend};
    Simulation simulation(scene);
    StepReport report;
    while (simulation.time() < 0.95) {
        report = simulation.step();
        if (simulation.time() > 0.1) {
            EXPECT_EQ(figure(report, "rigid_fraction"), 1.0);
        }
    }
    EXPECT_NEAR(linear_momentum(simulation.model(), simulation.state()).y(), 2 * 0.5, 1e-9);
    double least = 1;
    while (simulation.time() < 1.2) least = std::min(least, figure(simulation.step(), "rigid_fraction"));
    EXPECT_LT(least, 0.5);
    EXPECT_NEAR(linear_momentum(simulation.model(), simulation.state()).y(), 2 * 0.5 + 40 * 0.1, 1e-9);
}

// Neither strong damping nor stiffness brakes what merely turns, and it keeps its size: a step follows the circle. Elastic
// forces linearised about the start would take it for a stretch of (h w)^2 / 2, that is 1.25e-3.
TEST(AdaptiveRigid, TurningIsNotResisted) {
    for (const auto& [young, damping] : {std::pair{1e7, 0.2}, std::pair{1e9, 1e-3}, std::pair{1e6, 0.0}}) {
        Scene scene = soft_scene(0.01, false);
        add_soft_box(scene, "box", {0.6, 0.2, 0.2}, 0.1, {0, 0, 0},
                     soft_material("stiff", 1000, young, 0.3, 0, damping));
        scene.elastic[0].angular_velocity = Vec3(0, 5, 0);
        Simulation simulation(scene);
        const double before = angular_momentum(simulation.model(), simulation.state()).y(),
                     energy = energies(simulation.model(), simulation.state()).kinetic;
        StepReport report;
        for (int i = 0; i < 100; ++i) report = simulation.step();
        EXPECT_NEAR(angular_momentum(simulation.model(), simulation.state()).y(), before, 1e-3 * before)
            << young;
        EXPECT_NEAR(energies(simulation.model(), simulation.state()).kinetic, energy, 5e-3 * energy) << young;
        EXPECT_LT(figure(report, "elastic_energy"), 0.01 * energy) << young;
    }
}

// A mattress on the floor wakes where a ball strikes it, and more of it by a harder blow, whatever the threshold.
TEST(AdaptiveRigid, HarderBlowsWakeMore) {
    int partly = 0;
    for (double tau : {0.05, 0.2, 0.8}) {
        double last = 0;
        for (double speed : {0.3, 0.7, 1.5}) {
            Scene scene = soft_scene(0.01, true);
            scene.gravity = Vec3(0, -9.81, 0);
            add_floor(scene);
            scene.method_params["tau_R"] = 2e-3;
            scene.method_params["tau_E"] = tau;
            add_soft_box(scene, "mattress", {2.0, 0.2, 0.3}, 0.13, {0, 0.1, 0},
                         soft_material("foam", 60, 3e4, 0.3, 0.5, 0.05));
            BodySpec ball = body_spec(scene, "ball", shape_spec("sphere", {{"radius", 0.1}}), {-0.8, 2, 0});
            ball.type = BodyType::kinematic_body;
            const double until = 0.8, drop = 0.08;  // at rest by then
            ball.motion = {{0, {-0.8, 0.31, 0}, Quat::Identity()},
                           {until, {-0.8, 0.31, 0}, Quat::Identity()},
                           {until + drop / speed, {-0.8, 0.31 - drop, 0}, Quat::Identity()}};
            scene.add_body(ball);
            Simulation simulation(scene);
            StepReport report;
            while (simulation.time() < until - 1e-9) report = simulation.step();
            EXPECT_EQ(figure(report, "rigid_fraction"), 1.0);
            double near = 0, far = 0, awake = 0;
            for (int i = 0; i < 40 && awake == 0; ++i) {
                report = simulation.step();
                awake = 1 - figure(report, "rigid_fraction");
                const ElasticBody& body = simulation.model().elastic[0];
                for (std::size_t t = 0; t < body.tets.size(); ++t)
                    if (simulation.outputs().element_state[0][t] < 1)
                        (body.rest[body.tets[t][0]].x() < 0 ? near : far) += 1;
            }
            if (last < 1) {  // more than all cannot wake
                EXPECT_GT(awake, last) << tau << " " << speed;
            } else {
                EXPECT_EQ(awake, 1.0) << tau << " " << speed;
            }
            if (awake < 1) {
                EXPECT_GT(near, far) << tau << " " << speed;
                ++partly;
            }
            last = awake;
        }
    }
    EXPECT_GE(partly, 5);
}

}  // namespace
}  // namespace tenon

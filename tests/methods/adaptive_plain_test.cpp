// The plain elastic run: motion without contact, beams, patches, contact.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "adaptive_support.hpp"
#include "math/parallel.hpp"

namespace tenon {
namespace {

// Backward Euler falls by g h^2 n (n + 1) / 2, whole and without strain.
TEST(AdaptivePlain, FreeFallIsExactAndStrainFree) {
    for (bool adaptive : {false, true}) {
        Scene scene = soft_scene(0.01, adaptive);
        scene.gravity = Vec3(0, -9.81, 0);
        add_soft_box(scene, "box", {0.4, 0.2, 0.2}, 0.1, {0, 0, 0},
                     soft_material("rubber", 1000, 1e5, 0.3, 0, 0.01));
        Simulation simulation(scene);
        const std::vector<Vec3> start = simulation.state().elastic[0].x;
        const int steps = 40;
        StepReport report;
        for (int i = 0; i < steps; ++i) report = simulation.step();
        const double fall = 9.81 * 1e-4 * steps * (steps + 1) / 2;
        for (std::size_t v = 0; v < start.size(); ++v)
            EXPECT_LT((simulation.state().elastic[0].x[v] - start[v] + Vec3(0, fall, 0)).norm(), 1e-9);
        EXPECT_LT(figure(report, "elastic_energy"), 1e-9);
        EXPECT_EQ(figure(report, "rigid_fraction"), adaptive ? 1.0 : 0.0);
    }
}

TEST(AdaptivePlain, MomentumOfAFreeWobblingBodyIsKept) {
    Scene scene = soft_scene(0.01, false);
    add_soft_box(scene, "box", {0.4, 0.2, 0.2}, 0.1, {0, 0, 0},
                 soft_material("rubber", 1000, 2e4, 0.3, 0, 0));
    scene.elastic[0].linear_velocity = Vec3(1, 2, 3);
    Simulation simulation(scene);
    ElasticState& body = simulation.state().elastic[0];
    for (Vec3& v : body.v) v += Vec3(2 * body.x[&v - body.v.data()].x(), 0, 0);  // stretching
    const Vec3 before = linear_momentum(simulation.model(), simulation.state());
    for (int i = 0; i < 50; ++i) simulation.step();
    EXPECT_LT((linear_momentum(simulation.model(), simulation.state()) - before).norm(),
              1e-10 * before.norm());
}

// Tip deflection under its own weight, w L^4 / (8 E I), and its shear part w L^2 / (2 k G A) with k = 5/6. Linear
// tetrahedra are too stiff in bending: the error shrinks as cells do.
TEST(AdaptivePlain, CantileverSagsAsBeamTheorySays) {
    const double length = 1.0, side = 0.2, young = 1e7, poisson = 0.3, density = 1000, g = 9.81;
    const double inertia = std::pow(side, 4) / 12, load = density * side * side * g;
    const double shear_modulus = young / (2 * (1 + poisson));
    const double theory = load * std::pow(length, 4) / (8 * young * inertia) +
                          load * length * length / (2 * 5.0 / 6.0 * shear_modulus * side * side);
    std::vector<double> error;
    for (double cell : {0.1, 0.05}) {
        Scene scene = soft_scene(0.05, false);
        scene.gravity = Vec3(0, -g, 0);
        add_soft_box(scene, "beam", {length, side, side}, cell, {0.5 * length, 0, 0},
                     soft_material("rubber", density, young, poisson, 0, 0.1));
        scene.elastic[0].pins.push_back({Vec3(-0.501, -1, -1), Vec3(-0.499, 1, 1), {}, ""});
        Simulation simulation(scene);
        const std::vector<Vec3> rest = simulation.state().elastic[0].x;
        for (int i = 0; i < 60; ++i) simulation.step();
        double sag = 0;
        int count = 0;
        for (std::size_t v = 0; v < rest.size(); ++v)
            if (rest[v].x() > length - 1e-6) {
                sag -= simulation.state().elastic[0].x[v].y() - rest[v].y();
                ++count;
            }
        error.push_back(std::abs(sag / count - theory) / theory);
    }
    EXPECT_LT(error[0], 0.35);
    EXPECT_LT(error[1], 0.12);
    EXPECT_LT(error[1], 0.5 * error[0]);
}

// The boundary is held in an affine field: the inside follows it exactly.
TEST(AdaptivePlain, PatchTestIsExact) {
    for (const char* model : {"neo-hookean", "stvk", "corotational"}) {
        Scene scene = soft_scene(0.05, false);
        add_soft_box(scene, "box", {0.4, 0.4, 0.4}, 0.1, {0, 0, 0},
                     soft_material("rubber", 100, 1e4, 0.3, 0, 0.1));
        scene.elastic[0].model = model;
        scene.elastic[0].pins.push_back({Vec3(-1, -1, -0.2001), Vec3(1, 1, -0.1999), {}, ""});
        Model held = compile(scene);
        ElasticBody& body = held.elastic[0];
        Mat3 f;
        f << 1.05, 0.08, 0.02, 0, 0.95, -0.03, 0.01, 0, 1.02;
        std::vector<char> outside(body.rest.size(), 0);
        for (const Triangle& t : body.surface)
            for (int v : t) outside[v] = 1;
        body.pins.clear();
        for (std::size_t v = 0; v < body.rest.size(); ++v)
            if (outside[v]) {
                ElasticBody::Pin pin;
                pin.vertex = static_cast<int>(v);
                pin.script = 0;
                pin.local = f * body.rest[v];
                body.pins.push_back(pin);
            }
        State state = initial_state(held);
        Outputs outputs(held);
        const Params params = resolve_params(find_method("adaptive", {}).parameters, scene.method_params, {});
        const auto method = find_method("adaptive", {}).make(held, state, params);
        for (int i = 0; i < 80; ++i) {
            method->step(held, state, outputs, 0.05);
            state.time += 0.05;
        }
        for (std::size_t v = 0; v < body.rest.size(); ++v)
            EXPECT_LT((state.elastic[0].x[v] - f * body.rest[v]).norm(), 1e-7) << model;
    }
}

// A soft box at rest on the floor: contact forces carry its weight, and penetration is gamma lambda / k_b.
TEST(AdaptivePlain, FloorCarriesTheWeight) {
    Scene scene = soft_scene(0.01, false);
    scene.gravity = Vec3(0, -9.81, 0);
    add_floor(scene);
    scene.method_params["compliance"] = 1e-3;
    add_soft_box(scene, "box", {0.4, 0.4, 0.4}, 0.2, {0, 0.2, 0},
                 soft_material("foam", 200, 1e5, 0.3, 0.5, 0.05));
    Simulation simulation(scene);
    for (int i = 0; i < 200; ++i) simulation.step();
    EXPECT_NEAR(carried_part(simulation), 1.0, 1e-3);
    for (const Contact& c : simulation.outputs().contacts)
        EXPECT_NEAR(-c.distance, 1e-3 * c.force.y() * 0.01 * (0.01 / 0.2), 1e-6);
}

// A block of foam on a slope with tan = 0.5.
TEST(AdaptivePlain, FrictionHoldsAndSlidesAsTheorySays) {
    const double angle = std::atan(0.5);
    for (double mu : {0.3, 0.6}) {
        Scene scene = soft_scene(0.01, false);
        scene.gravity = Vec3(0, -9.81 * std::cos(angle), 0);  // settles first
        scene.materials[0].friction = mu;
        add_floor(scene);
        add_soft_box(scene, "box", {0.4, 0.2, 0.4}, 0.1, {0, 0.1 - 1e-5, 0},  // touches already
                     soft_material("foam", 200, 1e6, 0.3, 0, 0.02, mu));
        Simulation simulation(scene);
        for (int i = 0; i < 40; ++i) simulation.step();
        simulation.state().gravity.x() = 9.81 * std::sin(angle);
        for (int i = 0; i < 40; ++i) simulation.step();
        double mass = 0;
        for (double m : simulation.model().elastic[0].vertex_mass) mass += m;
        const double start = linear_momentum(simulation.model(), simulation.state()).x() / mass;
        for (int i = 0; i < 40; ++i) simulation.step();
        const double gained = linear_momentum(simulation.model(), simulation.state()).x() / mass - start;
        const double wanted = 0.4 * std::max(0.0, 9.81 * (std::sin(angle) - mu * std::cos(angle)));
        EXPECT_NEAR(gained, wanted, 0.02 * wanted + 1e-3) << mu;
        if (mu > 0.5) {
            EXPECT_NEAR(start, 0, 1e-3);
        }
    }
}

TEST(AdaptivePlain, SameBitsForAnyNumberOfThreads) {
    std::vector<std::vector<Vec3>> ends;
    for (int threads : {1, 2}) {
        set_threads(threads);
        Scene scene = soft_scene(0.01, true);
        scene.gravity = Vec3(0, -9.81, 0);
        add_floor(scene);
        add_soft_box(scene, "a", {0.4, 0.4, 0.4}, 0.13, {0, 0.3, 0},
                     soft_material("foam", 200, 3e4, 0.3, 0, 0.02));
        Simulation simulation(scene);
        for (int i = 0; i < 40; ++i) simulation.step();
        ends.push_back(simulation.state().elastic[0].x);
    }
    set_threads(0);
    EXPECT_EQ(ends[0], ends[1]);
}

// Vertices below a dent, in a plane of symmetry or in folded elements are equally near to several triangles: a nanometre's
// millionth at the start must not choose another normal.
TEST(AdaptivePlain, RoundingDoesNotChooseContacts) {
    for (int k : {1, 2}) {
        Scene scene = soft_scene(0.01, false);
        for (int i = 0; i < 2; ++i)
            scene.elastic.push_back(elastic_spec(
                scene, i == 0 ? "lower" : "upper",
                shape_spec("capsule", {{"radius", 0.1}, {"length", 0.14}, {"segments", 16.0}}),
                scene.add_material(soft_material(i == 0 ? "a" : "b", 100, 5e3, 0.35, 0, 0.1, 0.3)), 0.06,
                {0.03 * k * i, 0.26 * i, 0}, turn(37.0 * (k + 3 * i), Vec3::UnitZ())));
        Simulation one(scene), other(scene);
        for (Simulation* s : {&one, &other})
            for (Vec3& v : s->state().elastic[1].v) v.y() = -3;
        for (Vec3& x : other.state().elastic[1].x) x.x() += 1e-15;
        double apart = 0;
        int touched = 0;
        for (int i = 0; i < 10; ++i) {
            one.step();
            other.step();
            touched += static_cast<int>(one.outputs().contacts.size());
        }
        for (int i = 0; i < 2; ++i)
            for (std::size_t v = 0; v < one.state().elastic[i].x.size(); ++v)
                apart = std::max(apart, (one.state().elastic[i].x[v] - other.state().elastic[i].x[v]).norm());
        EXPECT_GT(touched, 0) << k;
        EXPECT_LT(apart, 1e-9) << k;
    }
}

TEST(AdaptivePlain, ResumesBitForBit) {
    Scene scene = soft_scene(0.01, true);
    scene.gravity = Vec3(0, -9.81, 0);
    add_floor(scene);
    add_soft_box(scene, "a", {0.4, 0.2, 0.4}, 0.13, {0, 0.25, 0},
                 soft_material("foam", 200, 3e4, 0.3, 0.1, 0.05));
    scene.method_params["tau_R"] = 1e-3;
    Simulation whole(scene), first(scene), second(scene);
    for (int i = 0; i < 60; ++i) whole.step();
    for (int i = 0; i < 35; ++i) first.step();
    std::stringstream state;
    first.save(state);
    second.load(state);
    for (int i = 0; i < 25; ++i) second.step();
    EXPECT_EQ(whole.state().elastic[0].x, second.state().elastic[0].x);
    EXPECT_EQ(whole.state().elastic[0].v, second.state().elastic[0].v);
}

// Two rubber pads on a dynamic steel block between them move as one free body: momentum is kept.
TEST(AdaptivePlain, BodiesAndSolidsHoldOnToEachOther) {
    Scene scene = soft_scene(0.005, false);
    BodySpec block = body_spec(scene, "block", box_spec({0.2, 0.2, 0.2}), {0, 0, 0});
    block.linear_velocity = Vec3(0, 2, 0);
    scene.add_body(block);
    for (double side : {-1.0, 1.0}) {
        add_soft_box(scene, side < 0 ? "left" : "right", {0.2, 0.2, 0.2}, 0.1, {0.2 * side, 0, 0},
                     soft_material("rubber", 500, 1e6, 0.3, 0, 0));
        const double face = -0.1 * side;
        scene.elastic.back().pins.push_back(
            {Vec3(face - 1e-3, -1, -1), Vec3(face + 1e-3, 1, 1), {}, "block"});
    }
    Simulation simulation(scene);
    const Vec3 before = linear_momentum(simulation.model(), simulation.state());
    for (int i = 0; i < 100; ++i) simulation.step();
    // pinned vertices move with the block from the first step on: their momentum is the block's to give
    const Vec3 after = linear_momentum(simulation.model(), simulation.state());
    EXPECT_LT((after - before).norm(), 0.15 * before.norm());
    const Model& model = simulation.model();
    const State& state = simulation.state();
    for (std::size_t e = 0; e < 2; ++e)
        for (const ElasticBody::Pin& pin : model.elastic[e].pins)
            EXPECT_LT((state.elastic[e].x[pin.vertex] - transform(state.q[0], pin.local)).norm(), 1e-12);
}

}  // namespace
}  // namespace tenon

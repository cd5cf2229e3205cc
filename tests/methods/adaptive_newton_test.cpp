// Newton's method in a step, elements that invert, and meshes that are nearly or wholly flat.
#include <gtest/gtest.h>

#include <cmath>

#include "adaptive_support.hpp"
#include "model/elastic_elements.hpp"
#include "scene/support.hpp"
#include "tenon/error.hpp"

namespace tenon {
namespace {

// What is left of M (v1 - v0) = h f(x1), over the largest force.
double imbalance(const Model& model, const State& state, const std::vector<Vec3>& before, double h) {
    const ElasticBody& body = model.elastic[0];
    const ElasticState& now = state.elastic[0];
    std::vector<Vec3> force(now.x.size(), Vec3::Zero());
    add_elastic_forces(make_elements(body, model.materials), now.x, force);
    double worst = 0, largest = 0;
    for (std::size_t v = 0; v < now.x.size(); ++v) {
        worst = std::max(worst, (body.vertex_mass[v] * (now.v[v] - before[v]) - h * force[v]).norm());
        largest = std::max(largest, h * force[v].norm());
    }
    return worst / largest;
}

Scene stretched_rod(double newton) {
    Scene scene = soft_scene(0.02, false);
    scene.method_params["newton"] = newton;
    scene.method_params["tolerance"] = 1e-10;
    add_soft_box(scene, "rod", {0.6, 0.2, 0.2}, 0.1, {0, 0, 0},
                 soft_material("rubber", 1000, 1e5, 0.3, 0, 0));
    return scene;
}

// Backward Euler's equations hold to round-off after Newton's method; one linearisation leaves a rest.
TEST(AdaptiveNewton, SolvesBackwardEuler) {
    for (double newton : {1.0, 30.0}) {
        Simulation simulation(stretched_rod(newton));
        ElasticState& body = simulation.state().elastic[0];
        for (Vec3& x : body.x) x = Vec3(1.6 * x.x(), 0.7 * x.y() + 0.3 * x.x() * x.x(), 0.8 * x.z());
        double worst = 0;
        for (int i = 0; i < 5; ++i) {
            const std::vector<Vec3> before = body.v;
            const StepReport report = simulation.step();
            worst = std::max(worst, imbalance(simulation.model(), simulation.state(), before, 0.02));
            if (newton > 1) {
                EXPECT_GT(figure(report, "linearisations"), 2);
            }
        }
        if (newton > 1)
            EXPECT_LT(worst, 1e-6);
        else
            EXPECT_GT(worst, 1e-2);
    }
}

// Backward Euler never gains energy, however far from rest it starts: the line search finds its minimum.
TEST(AdaptiveNewton, EnergyFallsFromAnyStart) {
    Simulation simulation(stretched_rod(100));
    ElasticState& body = simulation.state().elastic[0];
    const ElasticElements elements =
        make_elements(simulation.model().elastic[0], simulation.model().materials);
    for (std::size_t v = 0; v < body.x.size(); ++v)  // crumpled: many elements are inside out
        body.x[v] += 0.15 * Vec3(std::sin(7.0 * v), std::cos(11.0 * v), std::sin(3.0 * v + 1));
    int inverted = 0;
    for (int i = 0; i < elements.size(); ++i)
        inverted += elements.deformation(i, body.x).determinant() < 0 ? 1 : 0;
    ASSERT_GT(inverted, 10);
    double energy = elastic_energy(elements, body.x);
    for (int i = 0; i < 20; ++i) {
        simulation.step();
        const double now =
            elastic_energy(elements, body.x) + energies(simulation.model(), simulation.state()).kinetic;
        EXPECT_LE(now, energy * (1 + 1e-9));
        energy = now;
    }
}

// With contact: the box lies on the floor and its weight is carried, as after one linearisation.
TEST(AdaptiveNewton, FloorCarriesTheWeight) {
    for (bool adaptive : {false, true}) {
        Scene scene = soft_scene(0.01, adaptive);
        scene.gravity = Vec3(0, -9.81, 0);
        scene.method_params["newton"] = 20.0;
        add_floor(scene);
        add_soft_box(scene, "box", {0.4, 0.4, 0.4}, 0.2, {0, 0.2, 0},
                     soft_material("foam", 200, 1e5, 0.3, 0.5, 0.05));
        Simulation simulation(scene);
        for (int i = 0; i < 150; ++i) simulation.step();
        EXPECT_NEAR(carried_part(simulation), 1.0, 1e-3);
    }
}

// Elements turned inside out by a blow do not end the run; they turn back.
TEST(AdaptiveInversion, DoesNotEndARun) {
    for (const char* model : {"neo-hookean", "stvk", "corotational"}) {
        Scene scene = soft_scene(0.01, true);
        add_soft_box(scene, "box", {0.4, 0.2, 0.2}, 0.1, {0, 0, 0},
                     soft_material("rubber", 1000, 1e5, 0.3, 0, 0.01));
        scene.elastic[0].model = model;
        Simulation simulation(scene);
        ElasticState& body = simulation.state().elastic[0];
        const ElasticElements elements =
            make_elements(simulation.model().elastic[0], simulation.model().materials);
        const auto inverted = [&] {
            int count = 0;
            for (int i = 0; i < elements.size(); ++i)
                count += elements.deformation(i, body.x).determinant() < 0 ? 1 : 0;
            return count;
        };
        for (std::size_t v = 0; v < body.x.size(); ++v)
            if (simulation.model().elastic[0].rest[v].x() > 0.19)
                body.v[v].x() = -60;  // the end face flies into the body
        int most = 0;
        for (int i = 0; i < 150; ++i) {
            simulation.step();
            most = std::max(most, inverted());
        }
        EXPECT_GT(most, 0) << model;
        EXPECT_TRUE(all_finite(simulation.state())) << model;
        if (std::string(model) != "stvk") {  // which is weak in compression and may stay inside out
            EXPECT_EQ(inverted(), 0) << model;
        }
    }
}

// Two tetrahedra on a common face; the fifth corner is given.
Scene two_tetrahedra(const test::Folder& folder, const std::string& corner) {
    Scene scene = soft_scene(0.01, true);
    ElasticSpec body;
    body.name = "block";
    body.tets_file = folder.write("two.mesh",
                                  "MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n"
                                  "0 1 0 0\n0 0 1 0\n" +
                                      corner + " 0\nTetrahedra\n2\n1 2 3 4 0\n2 3 4 5 0\nEnd\n");
    body.material = scene.add_material(soft_material("rubber", 1000, 1e5, 0.3, 0, 0));
    scene.elastic.push_back(body);
    return scene;
}

// Slivers are counted and named in the first step's warnings; the run goes on.
TEST(AdaptiveInput, SliversAreCountedAndNamed) {
    const test::Folder folder;
    Simulation simulation(two_tetrahedra(folder, "0.33334 0.33334 0.33334"));
    const StepReport report = simulation.step();
    ASSERT_EQ(report.warnings.size(), 1u);
    EXPECT_EQ(report.warnings[0],
              "elastic body 'block': 1 of 2 tetrahedra are nearly flat (first: number 1)");
    EXPECT_TRUE(simulation.step().warnings.empty());
}

// Inverted and flat ones are refused, with their number and the first of them.
TEST(AdaptiveInput, InvertedAndFlatTetrahedraAreRefused) {
    const test::Folder folder;
    const auto message = [&](const std::string& corner) {
        return std::string(test::input_error([&] { compile(two_tetrahedra(folder, corner)); }).what());
    };
    EXPECT_NE(message("0.1 0.1 0.1").find("1 is inverted (first: number 1)"), std::string::npos);
    EXPECT_NE(message("0.5 0.5 0").find("1 is flat (first: number 1)"), std::string::npos);
}

}  // namespace
}  // namespace tenon

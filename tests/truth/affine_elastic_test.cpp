// Elastic bodies of the affine method's coupled solve against theory. TENON_REFINED adds the meshes that take minutes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "truth/elastic_parts.hpp"

namespace tenon {
namespace {

using test::centre_of;
using test::elastic_box;
using test::mass_of;
using test::soft_material;

constexpr double gravity = 9.81;

bool refined() {
    return std::getenv("TENON_REFINED") != nullptr;
}

// The centre of a cube that falls from 0.1 m and slides to rest, after each step; of Young's modulus `young`, or affine when
// that is 0.
std::vector<Vec3> slide_of_cube(double young) {
    Scene scene = test::ground_scene(0.3);
    const Vec3 start(0, 0.2, 0), velocity(0.6, 0, 0.2);
    if (young > 0.0) {
        ElasticSpec cube =
            elastic_box(scene, {0.2, 0.2, 0.2}, start, 0.1, soft_material(scene, young, 0.3, 0.01));
        cube.linear_velocity = velocity;
        scene.elastic.push_back(cube);
    } else {
        BodySpec cube = body_spec(scene, "cube", box_spec({0.2, 0.2, 0.2}), start);
        cube.linear_velocity = velocity;
        scene.add_body(cube);
        scene.method_params["solve"] = std::string("coupled");
    }
    scene.contact.dhat = 1e-3;
    Simulation simulation(scene);
    std::vector<Vec3> centre;
    for (int k = 0; k < 60; ++k) {
        EXPECT_TRUE(simulation.step().converged) << k;
        const State& state = simulation.state();
        centre.push_back(young > 0.0 ? centre_of(simulation.model().elastic[0], state.elastic[0].x)
                                     : Vec3(state.q[1].col(3)));
    }
    return centre;
}

// The motion of an elastic cube goes over into the affine one's as its modulus grows.
TEST(AffineElasticTruth, AStiffeningCubeConvergesToTheAffineOne) {
    const std::vector<Vec3> rigid = slide_of_cube(0.0);
    const auto off = [&](double young) {
        const std::vector<Vec3> soft = slide_of_cube(young);
        double worst = 0.0;
        for (std::size_t k = 0; k < rigid.size(); ++k) worst = std::max(worst, (soft[k] - rigid[k]).norm());
        std::cout << "E = " << young << " Pa: centre within " << worst << " m of the affine cube's\n";
        return worst;
    };
    const double softest = off(3e4), soft = off(3e5), stiff = off(3e7);
    EXPECT_LT(soft, 0.3 * softest);
    EXPECT_LT(stiff, 0.3 * soft);
    EXPECT_LT(stiff, 1e-3);  // dhat
}

constexpr double length = 1.0, thickness = 0.1;  // m, of beams with a square section

// A beam along x that is clamped at one end; its upper half may be of another modulus.
ElasticSpec clamped_beam(Scene& scene, double cell, double young, double upper_young) {
    const int material = soft_material(scene, young, 0.0, 0.0);
    ElasticSpec beam = elastic_box(scene, {length, thickness, thickness}, Vec3::Zero(), cell, material);
    const double end = -0.5 * length;
    beam.pins.push_back({Vec3(end - 1e-3, -1, -1), Vec3(end + 1e-3, 1, 1), {}, ""});
    if (upper_young != young) {
        MaterialSpec upper = scene.materials[material];
        upper.name = "upper";
        upper.young = upper_young;
        beam.regions.push_back({Vec3(-1, 0, -1), Vec3(1, 1, 1), scene.add_material(upper)});
    }
    return beam;
}

// How far the tip of a clamped beam sags under its own weight, m. Large implicit Euler steps leave no swing.
double sag(double cell, double young, double upper_young) {
    Scene scene;
    scene.dt = 0.2;
    scene.elastic.push_back(clamped_beam(scene, cell, young, upper_young));
    Simulation simulation(scene);
    for (int k = 0; k < 20; ++k) EXPECT_TRUE(simulation.step().converged) << k;
    const ElasticBody& body = simulation.model().elastic[0];
    double tip = 0.0;
    int count = 0;
    for (std::size_t v = 0; v < body.rest.size(); ++v)
        if (body.rest[v].x() > 0.499) {
            tip += body.start_x[v].y() - simulation.state().elastic[0].x[v].y();
            ++count;
        }
    return tip / count;
}

constexpr double weight_per_length = 1000.0 * gravity * thickness * thickness;  // N/m

// Linear tetrahedra are too stiff in bending by a part that falls with the square of their size.
void expect_bending(const std::string& name, double young, double upper_young, double bending_stiffness) {
    const double exact = weight_per_length * std::pow(length, 4) / (8.0 * bending_stiffness);
    const auto stiffer = [&](double cell) { return 1.0 - sag(cell, young, upper_young) / exact; };
    const double coarse = stiffer(0.1), fine = stiffer(0.05);
    EXPECT_GT(fine, 0.0);
    EXPECT_LT(fine, upper_young == young ? 0.3 : 0.36);  // a layer has one cell where the beam has two
    EXPECT_LT(fine, 0.6 * coarse);
    std::cout << name << " too stiff by " << 100 * coarse << " % at one cell across, " << 100 * fine
              << " % at two\n";
    if (!refined()) return;
    const double finer = stiffer(0.025);
    std::cout << "by " << 100 * finer << " % at four\n";
    EXPECT_LT(finer, 0.4 * fine);
    const double finest = stiffer(0.0125);  // 61,440 tetrahedra
    std::cout << "by " << 100 * finest << " % at eight\n";
    EXPECT_LT(std::abs(finest), 0.1);
    EXPECT_LT(std::abs(finest), finer);
}

// w L^4 / (8 E I) with I = H^4 / 12 for a square section.
TEST(AffineElasticTruth, ACantileverSagsAsBeamTheorySays) {
    const double young = 2e7;
    expect_bending("cantilever", young, young, young * std::pow(thickness, 4) / 12.0);
}

// Layers of thickness t and moduli E1, E2: the neutral axis is at y = (E2 - E1) / (E1 + E2) t/2 from their border, and
// E I = W t (E1 + E2) t^2 / 12 + W t (E1 (t/2 + y)^2 + E2 (t/2 - y)^2).
TEST(AffineElasticTruth, ABeamOfTwoMaterialsSagsAsItsLayersSay) {
    const double lower = 1e7, upper = 4e7, t = 0.5 * thickness, area = thickness * t;
    const double axis = (upper - lower) / (upper + lower) * 0.5 * t;
    const double stiffness =
        area * (lower + upper) * t * t / 12.0 +
        area * (lower * std::pow(0.5 * t + axis, 2) + upper * std::pow(0.5 * t - axis, 2));
    expect_bending("cantilever of two layers", lower, upper, stiffness);
}

// A clamped beam whose tip comes to rest on an edge that is `gap` below it. At a distance a from the clamp its weight alone
// bends it by w a^2 (6 L^2 - 4 a L + a^2) / (24 E I) and a force R by R a^3 / (3 E I): R closes what is more than the gap.
TEST(AffineElasticTruth, AProppedBeamPressesAsBeamTheorySays) {
    const double young = 2e7, stiffness = young * std::pow(thickness, 4) / 12.0, a = 0.95 * length,
                 gap = 0.005;
    Scene scene;
    scene.dt = 0.1;
    scene.contact.dhat = 5e-4;
    scene.materials[0].friction = 0.0;
    BodySpec post = body_spec(scene, "post", box_spec({0.2, 0.2, 0.2}),
                              Vec3(a - 0.5 * length, -0.5 * thickness - gap - 0.1 * std::sqrt(2.0), 0),
                              turn(45.0, Vec3::UnitZ()));
    post.type = BodyType::static_body;
    scene.add_body(post);
    scene.elastic.push_back(clamped_beam(scene, refined() ? 0.0125 : 0.05, young, young));
    Simulation simulation(scene);
    for (int k = 0; k < 40; ++k) EXPECT_TRUE(simulation.step().converged) << k;
    double force = 0.0, left = 0.0;
    for (const Contact& contact : simulation.outputs().contacts) {
        force += std::abs(contact.force.y());
        left += std::abs(contact.force.y()) * contact.distance;
    }
    const double below = weight_per_length * a * a * (6 * length * length - 4 * a * length + a * a) / 24.0;
    const double exact = (below - stiffness * (gap - left / force)) * 3.0 / (a * a * a);
    std::cout << "propped: presses with " << force << " N, theory " << exact << " N\n";
    EXPECT_NEAR(force, exact, (refined() ? 0.02 : 0.1) * exact);
}

struct Hertz {
    double radius = 0.0, force = 0.0;  // of contact
    std::size_t tets = 0;
};

// A ball of radius R pressed on a plane by its own weight, in large implicit Euler steps that leave no swing. Under Hertz's
// pressure p0 sqrt(1 - r^2/a^2) the force's mean r^2 is 2/5 a^2, which gives `a` without asking where contact ends.
Hertz press_ball(double R, double cell, double young, double poisson, double density) {
    Scene scene = test::ground_scene(0.0);
    scene.dt = 0.05;
    scene.contact.dhat = 2e-3 * R;
    const int material = soft_material(scene, young, poisson, 0.0);
    scene.materials[material].density = density;
    scene.materials[material].friction = 0.0;
    ElasticSpec ball;
    ball.name = "ball";
    ball.geometry = scene.add_geometry(shape_spec("icosphere", {{"radius", R},
                                                                {"subdivisions", cell < 0.12 * R   ? 4.0
                                                                                 : cell < 0.25 * R ? 3.0
                                                                                                   : 2.0}}));
    ball.material = material;
    ball.cell_size = cell;
    ball.position = Vec3(0, 1.01 * R, 0);
    scene.elastic.push_back(ball);
    Simulation simulation(scene);
    for (int k = 0; k < 25; ++k) EXPECT_TRUE(simulation.step().converged) << k;
    const ElasticBody& body = simulation.model().elastic[0];
    const Vec3 centre = centre_of(body, simulation.state().elastic[0].x);
    Hertz result;
    result.tets = body.tets.size();
    double moment = 0.0;
    for (const Contact& contact : simulation.outputs().contacts) {
        const double force = std::abs(contact.force.y());
        result.force += force;
        moment += force *
                  (std::pow(contact.point.x() - centre.x(), 2) + std::pow(contact.point.z() - centre.z(), 2));
    }
    EXPECT_NEAR(result.force, mass_of(body) * gravity,
                0.01 * mass_of(body) * gravity);  // it has come to rest
    result.radius = std::sqrt(2.5 * moment / result.force);
    return result;
}

// a^3 = 3 F R / (4 E*), E* = E / (1 - nu^2). Here a/R is about 0.3; Hertz neglects (a/R)^2.
TEST(AffineElasticTruth, ABallOnAPlaneTouchesAsHertzSays) {
    const double R = 0.1, young = 1e6, poisson = 0.3, density = 9600.0;
    const auto error = [&](double cell) {
        const Hertz found = press_ball(R, cell, young, poisson, density);
        const double exact = std::cbrt(0.75 * found.force * R * (1.0 - poisson * poisson) / young);
        std::cout << found.tets << " tetrahedra: contact radius " << found.radius << " m, Hertz " << exact
                  << " m (" << 100 * (found.radius / exact - 1.0) << " %)\n";
        return std::abs(found.radius / exact - 1.0);
    };
    EXPECT_LT(error(0.4 * R), 0.1);
    if (!refined()) return;
    EXPECT_LT(error(0.2 * R), 0.05);
    EXPECT_LT(error(0.093 * R), 0.05);  // 50,000 tetrahedra
}

}  // namespace
}  // namespace tenon

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

// How far the tip of a clamped beam sags under its own weight, m. Large implicit Euler steps leave no swing.
double sag(double cell, double young) {
    Scene scene;
    scene.dt = 0.2;
    const int material = soft_material(scene, young, 0.0, 0.0);
    ElasticSpec beam = elastic_box(scene, {1.0, 0.1, 0.1}, Vec3::Zero(), cell, material);
    beam.pins.push_back({Vec3(-0.501, -1, -1), Vec3(-0.499, 1, 1), {}, ""});
    scene.elastic.push_back(beam);
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

// 12 rho g L^4 / (8 E H^2) for a square section. Linear tetrahedra are too stiff in bending by a part that falls with
// the square of their size.
TEST(AffineElasticTruth, ACantileverSagsAsBeamTheorySays) {
    const double young = 2e7, exact = 1.5 * 1000.0 * gravity / (young * 0.01);
    const double coarse = 1.0 - sag(0.1, young) / exact, fine = 1.0 - sag(0.05, young) / exact;
    EXPECT_GT(fine, 0.0);
    EXPECT_LT(fine, 0.3);
    EXPECT_LT(fine, 0.6 * coarse);
    std::cout << "cantilever too stiff by " << 100 * coarse << " % at one cell across, " << 100 * fine
              << " % at two\n";
    if (!refined()) return;
    const double finer = 1.0 - sag(0.025, young) / exact;
    std::cout << "by " << 100 * finer << " % at four\n";
    EXPECT_LT(finer, 0.4 * fine);
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
    EXPECT_LT(error(0.1 * R), 0.05);
}

}  // namespace
}  // namespace tenon

#include "model/initial_check.hpp"

#include "geometry/crossing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "geometry/mesh_check.hpp"
#include "math/parallel.hpp"
#include "test_meshes.hpp"

namespace tenon::geometry {
namespace {

using geometry::crosses;
using model::check_initial_state;
using model::describe;
using model::InitialCheck;
using model::InitialProblem;

int add_shape(Model& model, const Mesh& mesh, bool closed) {
    auto shape = std::make_shared<Shape>();
    shape->mesh = mesh;
    shape->all_edges = all_edges(mesh);
    shape->closed = closed;
    for (const Vec3& v : mesh.vertices) shape->box.add(v);
    model.shapes.push_back(shape);
    return static_cast<int>(model.shapes.size()) - 1;
}

int add(Model& model, int shape, const Vec3& position, double separation = 0.0,
        const Quat& turn = Quat::Identity()) {
    Bodies& bodies = model.bodies;
    bodies.name.push_back("body" + std::to_string(bodies.size()));
    bodies.shape.push_back(shape);
    bodies.start_type.push_back(BodyType::dynamic_body);
    bodies.start_q.push_back(to_matrix({position, turn}));
    bodies.start_rate.push_back(Mat34::Zero());
    bodies.mass.push_back(1.0);
    bodies.min_separation.push_back(separation);
    bodies.group.emplace_back();
    bodies.collides.push_back(1);
    return bodies.size() - 1;
}

Mesh points_mesh(std::vector<Vec3> points) {
    Mesh mesh;
    mesh.vertices = std::move(points);
    for (std::size_t i = 0; i < mesh.vertices.size(); ++i) mesh.points.push_back(static_cast<int>(i));
    return mesh;
}

Mesh wire_mesh(const Vec3& from, const Vec3& to) {
    Mesh mesh;
    mesh.vertices = {from, to};
    mesh.edges = {{0, 1}};
    return mesh;
}

InitialCheck check_start(const Model& model) {
    return check_initial_state(model, initial_state(model));
}

using Kind = InitialProblem::Kind;

TEST(InitialCheck, SeparateBodiesAreClean) {
    Model model;
    const int cube = add_shape(model, cube_mesh(1.0), true);
    add(model, cube, Vec3(0, 0, 0));
    add(model, cube, Vec3(1.0 + 1e-9, 0, 0));
    add(model, cube, Vec3(0, 5, 0));
    const InitialCheck check = check_start(model);
    EXPECT_TRUE(check.problems.empty());
    EXPECT_EQ(check.pairs, 0);
}

TEST(InitialCheck, NamesBodiesTrianglesAndPlaceOfAnIntersection) {
    Model model;
    const int cube = add_shape(model, cube_mesh(1.0), true);
    add(model, cube, Vec3(0, 0, 0));
    add(model, cube, Vec3(5, 0, 0));
    // Its lowest corner reaches 0.05 into the top of body 0, at x = z = 0.1.
    const Quat on_corner = Quat::FromTwoVectors(Vec3(1, 1, 1), Vec3(0, 1, 0));
    const double half_diagonal = std::sqrt(0.75);
    add(model, cube, Vec3(0.1, 0.45 + half_diagonal, 0.1), 0.0, on_corner);
    const InitialCheck check = check_start(model);
    ASSERT_EQ(check.problems.size(), 1u);
    const InitialProblem& problem = check.problems[0];
    EXPECT_EQ(problem.kind, Kind::intersection);
    EXPECT_EQ(problem.a, 0);
    EXPECT_EQ(problem.b, 2);
    EXPECT_NEAR(problem.point.y(), 0.5, 1e-12);
    EXPECT_NEAR((problem.point - Vec3(0.1, 0.5, 0.1)).norm(), 0.0, 0.1);
    // Faces y = +0.5 are triangles 6 and 7 of the cube.
    EXPECT_TRUE(problem.on_a.triangle == 6 || problem.on_a.triangle == 7);
    EXPECT_GE(problem.on_b.triangle, 0);
    const std::string text = describe(model, problem);
    EXPECT_NE(text.find("'body0' and 'body2' intersect at ("), std::string::npos) << text;
    EXPECT_NE(text.find("triangle "), std::string::npos) << text;
}

TEST(InitialCheck, TouchingFacesEdgesAndCorners) {
    for (const Vec3& offset : {Vec3(1, 0, 0), Vec3(1, 0.3, 0.2), Vec3(1, 1, 0), Vec3(1, 1, 1)}) {
        Model model;
        const int cube = add_shape(model, cube_mesh(1.0), true);
        add(model, cube, Vec3(3, 1, 2));
        add(model, cube, Vec3(3, 1, 2) + offset);
        const InitialCheck check = check_start(model);
        ASSERT_EQ(check.problems.size(), 1u);
        EXPECT_EQ(check.problems[0].kind, Kind::touching);
        EXPECT_NE(describe(model, check.problems[0]).find("touch"), std::string::npos);
    }
}

TEST(InitialCheck, MinimumSeparation) {
    Model model;
    const int cube = add_shape(model, cube_mesh(1.0), true);
    add(model, cube, Vec3(0, 0, 0), 0.005);
    add(model, cube, Vec3(1.02, 0, 0), 0.02);   // 0.02 from body 0, where 0.025 is asked for
    add(model, cube, Vec3(0, 1.02, 0), 0.012);  // 0.02 from body 0: fine; 0.0283 from body 1, not 0.032
    const InitialCheck check = check_start(model);
    ASSERT_EQ(check.problems.size(), 2u);
    EXPECT_EQ(check.problems[0].kind, Kind::too_close);
    EXPECT_EQ(check.problems[0].b, 1);
    EXPECT_NEAR(check.problems[0].distance, 0.02, 1e-14);
    EXPECT_DOUBLE_EQ(check.problems[0].required, 0.025);
    EXPECT_NEAR(check.problems[1].distance, 0.02 * std::sqrt(2.0), 1e-14);
    EXPECT_NE(describe(model, check.problems[0]).find("0.02 m apart"), std::string::npos);
}

TEST(InitialCheck, ExactlyTheSeparationIsAllowed) {
    Model model;
    const int cube = add_shape(model, cube_mesh(1.0), true);
    add(model, cube, Vec3(0, 0, 0), 0.125);
    add(model, cube, Vec3(1.125, 0, 0), 0.0);
    EXPECT_TRUE(check_start(model).problems.empty());
}

TEST(InitialCheck, OpenWireAndPointBodies) {
    Model model;
    Mesh quad;
    quad.vertices = {Vec3(-1, 0, -1), Vec3(1, 0, -1), Vec3(1, 0, 1), Vec3(-1, 0, 1)};
    quad.triangles = {{0, 1, 2}, {0, 2, 3}};
    const int card = add(model, add_shape(model, quad, false), Vec3(0, 0, 0));
    const int wire =
        add(model, add_shape(model, wire_mesh(Vec3(0.3, -1, 0.1), Vec3(0.3, 1, 0.1)), false), Vec3(0, 0, 0));
    const int other =
        add(model, add_shape(model, wire_mesh(Vec3(-5, 0.5, 0.1), Vec3(5, 0.5, 0.1)), false), Vec3(0, 0, 0));
    const int point =
        add(model, add_shape(model, points_mesh({Vec3(-4, 0.5, 0.1), Vec3(0, 9, 0)}), false), Vec3(0, 0, 0));
    const int twin = add(model, add_shape(model, points_mesh({Vec3(0, 9, 0)}), false), Vec3(0, 0, 0));
    const InitialCheck check = check_start(model);
    ASSERT_EQ(check.problems.size(), 4u);
    EXPECT_EQ(check.problems[0].a, card);
    EXPECT_EQ(check.problems[0].b, wire);
    EXPECT_EQ(check.problems[0].kind, Kind::intersection);
    EXPECT_NEAR((check.problems[0].point - Vec3(0.3, 0, 0.1)).norm(), 0, 1e-14);
    EXPECT_EQ(check.problems[0].on_b.edge, 0);
    EXPECT_EQ(check.problems[1].b, other);  // wires that cross each other touch
    EXPECT_EQ(check.problems[1].kind, Kind::touching);
    EXPECT_EQ(check.problems[2].a, other);  // a point on a wire
    EXPECT_EQ(check.problems[2].b, point);
    EXPECT_EQ(check.problems[3].a, point);  // a point on a point
    EXPECT_EQ(check.problems[3].b, twin);
    EXPECT_EQ(check.problems[3].on_a.vertex, 1);
}

TEST(InitialCheck, BodiesInsideClosedBodiesAreTold) {
    Model model;
    const int big = add_shape(model, cube_mesh(4.0), true), small = add_shape(model, cube_mesh(1.0), true);
    add(model, small, Vec3(0.2, 0.1, 0.3));
    add(model, big, Vec3(0, 0, 0));
    Mesh shell = cube_mesh(4.0);  // open at the top
    shell.triangles.erase(shell.triangles.begin() + 6, shell.triangles.begin() + 8);
    add(model, add_shape(model, shell, false), Vec3(10, 0, 0));
    add(model, small, Vec3(10, 0, 0));
    const InitialCheck check = check_start(model);
    ASSERT_EQ(check.problems.size(), 1u);
    EXPECT_EQ(check.problems[0].kind, Kind::enclosed);
    EXPECT_EQ(check.problems[0].a, 0);
    EXPECT_EQ(check.problems[0].b, 1);
    EXPECT_NE(describe(model, check.problems[0]).find("'body0' lies inside 'body1'"), std::string::npos);
}

TEST(InitialCheck, RespectsWhatMayNotCollide) {
    Model model;
    const int cube = add_shape(model, cube_mesh(1.0), true);
    for (int i = 0; i < 4; ++i) add(model, cube, Vec3(0.3 * i, 0.1 * i, 0));
    model.bodies.collides[0] = 0;
    model.bodies.group[1] = model.bodies.group[2] = "arm";
    const InitialCheck check = check_start(model);
    std::vector<std::pair<int, int>> pairs;
    for (const InitialProblem& problem : check.problems) pairs.emplace_back(problem.a, problem.b);
    EXPECT_EQ(pairs, (std::vector<std::pair<int, int>>{{1, 3}, {2, 3}}));
}

TEST(InitialCheck, ElasticBodiesTakePart) {
    Model model;
    add(model, add_shape(model, cube_mesh(1.0), true), Vec3(0, 0, 0));
    ElasticBody elastic;
    elastic.name = "pad";
    elastic.start_x = {Vec3(0.4, 0, 0), Vec3(2, 0, 0), Vec3(2, 1, 0), Vec3(2, 0, 1)};
    elastic.surface = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    model.elastic.push_back(elastic);
    const InitialCheck check = check_start(model);
    ASSERT_EQ(check.problems.size(), 1u);
    EXPECT_EQ(check.problems[0].b, 1);
    EXPECT_NE(describe(model, check.problems[0]).find("'pad'"), std::string::npos);
    ElasticBody::Pin pin;
    pin.vertex = 0;
    pin.body = 0;
    model.elastic[0].pins.push_back(pin);  // what is pinned may overlap what it is pinned to
    EXPECT_TRUE(check_start(model).problems.empty());
}

// Brute force over all edges and triangles of random, crowded tori.
TEST(InitialCheck, EqualsBruteForceAndThreadsDoNotMatter) {
    Model model;
    const int torus = add_shape(model, torus_mesh(10, 6, 1.0, 0.3), true);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-2, 2);
    std::normal_distribution<double> normal;
    for (int i = 0; i < 10; ++i)
        add(model, torus, Vec3(uniform(random), uniform(random), uniform(random)), 0.0,
            Quat(normal(random), normal(random), normal(random), normal(random)).normalized());
    set_threads(1);
    const InitialCheck one = check_start(model);
    set_threads(2);
    const InitialCheck two = check_start(model);
    set_threads(0);
    ASSERT_EQ(one.problems.size(), two.problems.size());
    for (std::size_t i = 0; i < one.problems.size(); ++i) {
        EXPECT_EQ(one.problems[i].point, two.problems[i].point);
        EXPECT_EQ(one.problems[i].count, two.problems[i].count);
    }
    const Shape& shape = *model.shapes[0];
    std::size_t k = 0;
    for (int a = 0; a < 10; ++a) {
        for (int b = a + 1; b < 10; ++b) {
            long count = 0;
            for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)})
                for (const Edge& e : shape.all_edges)
                    for (const Triangle& t : shape.mesh.triangles) {
                        auto x = [&](int body, int v) {
                            return transform(model.bodies.start_q[body], shape.mesh.vertices[v]);
                        };
                        count += crosses(x(from, e[0]), x(from, e[1]), x(to, t[0]), x(to, t[1]), x(to, t[2]));
                    }
            if (count == 0) continue;
            ASSERT_LT(k, one.problems.size());
            EXPECT_EQ(one.problems[k].a, a);
            EXPECT_EQ(one.problems[k].b, b);
            EXPECT_EQ(one.problems[k].count, count);
            ++k;
        }
    }
    EXPECT_EQ(k, one.problems.size());
    EXPECT_GT(k, 3u);
}

TEST(InitialCheck, CrossingIsOnlyClaimedWhenCertain) {
    const Vec3 a(0, 0, 0), b(1, 0, 0), c(0, 1, 0);
    EXPECT_TRUE(crosses(Vec3(0.2, 0.2, -1), Vec3(0.2, 0.2, 1), a, b, c));
    EXPECT_FALSE(crosses(Vec3(0.2, 0.2, 0.1), Vec3(0.2, 0.2, 1), a, b, c));
    EXPECT_FALSE(crosses(Vec3(0.8, 0.8, -1), Vec3(0.8, 0.8, 1), a, b, c));
    EXPECT_FALSE(crosses(Vec3(0.2, 0.2, 0), Vec3(0.2, 0.2, 1), a, b, c));     // an end in the plane
    EXPECT_FALSE(crosses(Vec3(0.5, 0.5, -1), Vec3(0.5, 0.5, 1), a, b, c));    // through a side
    EXPECT_FALSE(crosses(Vec3(-1, 0.2, 0), Vec3(1, 0.2, 0), a, b, c));        // in the plane
    EXPECT_FALSE(crosses(Vec3(0.2, 0, -1), Vec3(0.2, 0, 1), a, b, 0.5 * b));  // no area
}

}  // namespace
}  // namespace tenon::geometry

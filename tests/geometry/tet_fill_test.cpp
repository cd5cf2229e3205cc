// Tetrahedra from surfaces: they keep volume, faces, edges and corners, fit together, and are well shaped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "geometry/closest.hpp"
#include "geometry/distance.hpp"
#include "geometry/mass_properties.hpp"
#include "geometry/mesh_check.hpp"
#include "geometry/shapes.hpp"
#include "geometry/tet_delaunay.hpp"
#include "geometry/tet_improve.hpp"
#include "geometry/tet_mesh.hpp"

namespace tenon::geometry {
namespace {

Mesh shape(const std::string& name, const std::map<std::string, ParamValue>& given) {
    const ShapeInfo* info = find_shape(name);
    return info->make(resolve_params(info->parameters, given, {}));
}

Mesh turned(Mesh mesh) {
    const Quat rotation = Quat(0.3, 0.5, -0.2, 0.8).normalized();
    for (Vec3& v : mesh.vertices) v = rotation * v + Vec3(0.1, 0.2, 0.3);
    return mesh;
}

// A prism over a polygon, given with the triangles that fill it.
Mesh prism(const std::vector<Vec2>& outline, const std::vector<Triangle>& filled, double height) {
    Mesh mesh;
    const int n = static_cast<int>(outline.size());
    for (double z : {0.0, height})
        for (const Vec2& p : outline) mesh.vertices.emplace_back(p.x(), p.y(), z);
    for (int i = 0; i < n; ++i) {
        const int j = (i + 1) % n;
        mesh.triangles.push_back({i, j, n + j});
        mesh.triangles.push_back({i, n + j, n + i});
    }
    for (const Triangle& t : filled) {
        mesh.triangles.push_back({t[0] + n, t[1] + n, t[2] + n});
        mesh.triangles.push_back({t[0], t[2], t[1]});
    }
    return mesh;
}

Mesh l_shape() {
    return prism({{0, 0}, {1, 0}, {1, 0.4}, {0.4, 0.4}, {0.4, 1}, {0, 1}},
                 {{3, 4, 5}, {3, 5, 0}, {3, 0, 1}, {3, 1, 2}}, 0.3);
}
// The same with a slanted end: bricks cannot make it.
Mesh slanted() {
    return prism({{0, 0}, {1.2, 0}, {1, 0.4}, {0.4, 0.4}, {0.4, 1}, {0, 1}},
                 {{3, 4, 5}, {3, 5, 0}, {3, 0, 1}, {3, 1, 2}}, 0.3);
}

// A wheel with a hub that stands out on both sides, turned from its profile about y.
Mesh wheel_with_hub() {
    const std::vector<Vec2> profile{{0, -0.12},  {0.1, -0.12}, {0.1, -0.06}, {0.3, -0.06},
                                    {0.3, 0.06}, {0.1, 0.06},  {0.1, 0.12},  {0, 0.12}};
    constexpr int segments = 48;
    Mesh mesh;
    mesh.vertices = {Vec3(0, -0.12, 0), Vec3(0, 0.12, 0)};
    const int rings = static_cast<int>(profile.size()) - 2;
    for (int r = 1; r <= rings; ++r)
        for (int k = 0; k < segments; ++k) {
            const double turn = 2 * M_PI * k / segments;
            mesh.vertices.emplace_back(profile[r].x() * std::cos(turn), profile[r].y(),
                                       -profile[r].x() * std::sin(turn));
        }
    const auto at = [&](int r, int k) { return 2 + r * segments + k % segments; };
    for (int k = 0; k < segments; ++k) {
        mesh.triangles.push_back({0, at(0, k + 1), at(0, k)});
        mesh.triangles.push_back({1, at(rings - 1, k), at(rings - 1, k + 1)});
        for (int r = 0; r + 1 < rings; ++r) {
            mesh.triangles.push_back({at(r, k), at(r, k + 1), at(r + 1, k + 1)});
            mesh.triangles.push_back({at(r, k), at(r + 1, k + 1), at(r + 1, k)});
        }
    }
    return mesh;
}

double volume_of(const TetMesh& mesh, const Tet& t) {
    const Vec3& a = mesh.vertices[t[0]];
    return (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a).dot(mesh.vertices[t[3]] - a) / 6;
}
double volume_of(const TetMesh& mesh) {
    double sum = 0;
    for (const Tet& t : mesh.tets) sum += volume_of(mesh, t);
    return sum;
}

// Degrees, from the normals of the faces: not the formula that the mesher uses.
double least_angle(const TetMesh& mesh) {
    double least = 180;
    for (const Tet& t : mesh.tets) {
        std::array<Vec3, 4> normal;
        constexpr int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
        for (int f = 0; f < 4; ++f) {
            const Vec3& a = mesh.vertices[t[faces[f][0]]];
            normal[f] =
                (mesh.vertices[t[faces[f][1]]] - a).cross(mesh.vertices[t[faces[f][2]]] - a).normalized();
        }
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < i; ++j)
                least = std::min(
                    least, 180 - std::acos(std::clamp(normal[i].dot(normal[j]), -1.0, 1.0)) * 180 / M_PI);
    }
    return least;
}

// Every face belongs to one tetrahedron or to two that see it from opposite sides; those of one make a closed surface
// that faces outward and holds the volume of the tetrahedra.
void expect_conforming(const TetMesh& mesh) {
    std::map<std::array<int, 3>, std::pair<int, int>> faces;  // count, sum of orientations
    for (const Tet& t : mesh.tets) {
        EXPECT_GT(volume_of(mesh, t), 0);
        for (const Triangle& f : {Triangle{t[0], t[2], t[1]}, Triangle{t[0], t[1], t[3]},
                                  Triangle{t[1], t[2], t[3]}, Triangle{t[0], t[3], t[2]}}) {
            std::array<int, 3> key{f[0], f[1], f[2]};
            std::sort(key.begin(), key.end());
            const bool even = f == Triangle{key[0], key[1], key[2]} ||
                              f == Triangle{key[1], key[2], key[0]} || f == Triangle{key[2], key[0], key[1]};
            faces[key].first += 1;
            faces[key].second += even ? 1 : -1;
        }
    }
    Mesh surface;
    surface.vertices = mesh.vertices;
    surface.triangles = tet_surface(mesh.tets);
    std::size_t single = 0;
    for (const auto& [key, face] : faces) {
        EXPECT_LE(face.first, 2);
        EXPECT_TRUE(face.first == 1 || face.second == 0);
        single += face.first == 1;
    }
    EXPECT_EQ(single, surface.triangles.size());
    const MeshReport report = check_mesh(surface);
    EXPECT_EQ(report.boundary_edges, 0);
    EXPECT_EQ(report.non_manifold_edges, 0);
    EXPECT_EQ(report.inconsistent_edges, 0);
    EXPECT_NEAR(report.signed_volume, volume_of(mesh), 1e-9 * volume_of(mesh));
    EXPECT_EQ(check_tets(mesh).unused_vertices, 0);
}

// The farthest that points all over one surface are from another.
double distance_to(const Mesh& from, const Mesh& to) {
    const std::vector<Edge> edges = all_edges(to);
    const SurfaceTree tree(to, edges);
    double most = 0;
    constexpr int n = 6;
    for (const Triangle& t : from.triangles)
        for (int i = 0; i <= n; ++i)
            for (int j = 0; i + j <= n; ++j) {
                const Vec3& a = from.vertices[t[0]];
                const Vec3 p =
                    a + (from.vertices[t[1]] - a) * i / double(n) + (from.vertices[t[2]] - a) * j / double(n);
                most = std::max(most, closest_point(tree, p).squared);
            }
    return std::sqrt(most);
}

// Points of the input's sharp edges (faces at more than 30 degrees, found here anew), and how far the edges of the boundary
// that are as sharp as 20 degrees are from them.
double features_missed(const Mesh& input, const Mesh& boundary) {
    const auto sharp_edges = [](const Mesh& mesh, double degrees) {
        std::map<Edge, std::vector<Vec3>> normals;
        for (const Triangle& t : mesh.triangles) {
            const Vec3& a = mesh.vertices[t[0]];
            const Vec3 n = (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a).normalized();
            for (int k = 0; k < 3; ++k)
                normals[{std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])}].push_back(n);
        }
        std::vector<Edge> sharp;
        for (const auto& [edge, n] : normals)
            if (n.size() == 2 && n[0].dot(n[1]) < std::cos(degrees * M_PI / 180)) sharp.push_back(edge);
        return sharp;
    };
    const Mesh clean = weld(input, 0);
    const std::vector<Edge> kept = sharp_edges(boundary, 20);
    double most = 0;
    for (const Edge& e : sharp_edges(clean, 30.5))
        for (int i = 0; i <= 12; ++i) {
            const Vec3 p = clean.vertices[e[0]] + i / 12.0 * (clean.vertices[e[1]] - clean.vertices[e[0]]);
            double nearest = 1e300;
            for (const Edge& k : kept)
                nearest = std::min(nearest, squared_distance_point_edge(p, boundary.vertices[k[0]],
                                                                        boundary.vertices[k[1]]));
            most = std::max(most, nearest);
        }
    return std::sqrt(most);
}

struct Case {
    std::string name;
    Mesh mesh;
    double cell;
    double distance;  // most, in cells, either way
    double feature;   // most distance of a sharp edge, in cells
};

// Flat solids are met to rounding. Round ones: the height of an arc of a cell's chord, h^2 / 8R, is spread to both sides.
std::vector<Case> cases() {
    return {{"box", shape("box", {{"size", std::vector<double>{1, 0.5, 0.3}}}), 0.12, 1e-9, 1e-9},
            {"oriented box", turned(shape("box", {{"size", std::vector<double>{1, 0.5, 0.3}}})), 0.12, 1e-9,
             1e-9},
            {"L", l_shape(), 0.1, 1e-9, 1e-9},
            {"slanted L", turned(slanted()), 0.1, 1e-6, 1e-6},
            {"sphere", shape("icosphere", {{"radius", 0.5}, {"subdivisions", 4.0}}), 0.12, 0.1, 0},
            {"wheel", shape("cylinder", {{"radius", 0.3}, {"length", 0.16}, {"segments", 48.0}}), 0.06, 0.1,
             0.05},
            {"wheel with hub", wheel_with_hub(), 0.05, 0.1, 0.08},
            {"torus", shape("torus", {{"major", 0.3}, {"minor", 0.1}}), 0.06, 0.25, 0},
            {"gear", shape("gear", {{"teeth", 12.0}, {"module", 0.04}, {"width", 0.15}, {"bore", 0.06}}),
             0.04, 0.15, 0.1}};
}

TEST(TetFill, KeepsShapesAndMakesWellShapedTetrahedra) {
    for (const Case& c : cases()) {
        SCOPED_TRACE(c.name);
        const TetMesh tets = fill_with_tets(c.mesh, c.cell);
        expect_conforming(tets);
        EXPECT_GT(least_angle(tets), 12);
        const double volume = mass_properties(c.mesh, 0).volume;
        EXPECT_NEAR(volume_of(tets), volume, 2e-3 * volume);
        Mesh boundary;
        boundary.vertices = tets.vertices;
        boundary.triangles = tet_surface(tets.tets);
        boundary = weld(boundary, 0);
        EXPECT_LT(distance_to(boundary, c.mesh), c.distance * c.cell);
        EXPECT_LT(distance_to(c.mesh, boundary), c.distance * c.cell);
        EXPECT_LE(features_missed(c.mesh, boundary), c.feature * c.cell);
        double mean = 0;  // edges are about as long as the cell
        const std::vector<Edge> edges = all_edges(boundary);
        for (const Edge& e : edges)
            mean += (boundary.vertices[e[0]] - boundary.vertices[e[1]]).norm() / double(edges.size());
        EXPECT_LT(mean, 1.5 * c.cell);
        EXPECT_GT(mean, 0.4 * c.cell);
    }
}

TEST(TetFill, IsTheSameEveryTime) {
    const Mesh mesh = shape("cylinder", {{"radius", 0.3}, {"length", 0.16}, {"segments", 48.0}});
    const TetMesh one = fill_with_tets(mesh, 0.08), two = fill_with_tets(mesh, 0.08);
    EXPECT_EQ(one.tets, two.tets);
    EXPECT_EQ(one.vertices, two.vertices);
}

// A sphere's inscribed triangles of side a lose 3 a^2 / 8 R^2 of its volume: 6 % here. Balanced faces do not.
TEST(TetFill, KeepsTheVolumeOfRoundSolidsInCoarseCells) {
    const Mesh sphere = shape("icosphere", {{"radius", 0.5}, {"subdivisions", 5.0}});
    const double volume = mass_properties(sphere, 0).volume;
    EXPECT_NEAR(volume_of(fill_with_tets(sphere, 0.2)), volume, 5e-3 * volume);
}

TEST(TetFill, BricksMeetThePlanesOfRegions) {
    const Mesh beam = shape("box", {{"size", std::vector<double>{1, 0.1, 0.1}}});
    Box3 region;
    region.add(Vec3(-1, -1, -1));
    region.add(Vec3(0.137, 1, 1));
    const TetMesh tets = fill_with_tets(beam, 0.05, {region});
    expect_conforming(tets);
    double below = 0;
    for (const Tet& t : tets.tets) {
        double lo = 1, hi = -1;
        for (int v : t) lo = std::min(lo, tets.vertices[v].x()), hi = std::max(hi, tets.vertices[v].x());
        const double middle =
            0.25 *
            (tets.vertices[t[0]] + tets.vertices[t[1]] + tets.vertices[t[2]] + tets.vertices[t[3]]).x();
        EXPECT_TRUE(hi < 0.137 + 1e-12 || lo > 0.137 - 1e-12);
        if (middle < 0.137) below += volume_of(tets, t);
    }
    EXPECT_NEAR(below, 0.637 * 0.01, 1e-12);
}

TEST(TetFill, ChoosesCellsThatGoThroughThinWalls) {
    const Mesh beam = shape("box", {{"size", std::vector<double>{1, 0.1, 0.1}}});
    EXPECT_NEAR(chosen_cell_size(beam), 0.04, 1e-9);
    const Mesh disc = shape("cylinder", {{"radius", 0.5}, {"length", 0.1}, {"segments", 64.0}});
    const double cell = chosen_cell_size(disc);
    EXPECT_GT(0.1 / cell, 2);
    EXPECT_LT(0.1 / cell, 3);
    const Mesh ball = shape("icosphere", {{"radius", 0.5}});
    EXPECT_NEAR(chosen_cell_size(ball), 0.1, 0.01);
}

TEST(TetFill, RefusesOpenSurfacesAndTooManyCells) {
    Mesh open = shape("box", {{"size", std::vector<double>{1, 1, 1}}});
    open.triangles.pop_back();
    EXPECT_THROW(fill_with_tets(open, 0.2), std::invalid_argument);
    EXPECT_THROW(chosen_cell_size(open), std::invalid_argument);
    const Mesh cube = shape("box", {{"size", std::vector<double>{1, 1, 1}}});
    EXPECT_THROW(fill_with_tets(cube, 1e-4), std::invalid_argument);
}

TEST(TetFill, LeastSineIsThatOfTheNormals) {
    std::mt19937 random(3);
    const auto unit = [&] { return std::ldexp(static_cast<double>(random()), -31) - 1; };
    for (int i = 0; i < 200; ++i) {
        TetMesh mesh;
        for (int v = 0; v < 4; ++v) {
            const double x = unit(), y = unit();
            mesh.vertices.emplace_back(x, y, unit());
        }
        mesh.tets = {{0, 1, 2, 3}};
        double least = 1;  // sine of the angle between two faces' normals
        constexpr int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
        std::array<Vec3, 4> n;
        for (int f = 0; f < 4; ++f)
            n[f] = (mesh.vertices[faces[f][1]] - mesh.vertices[faces[f][0]])
                       .cross(mesh.vertices[faces[f][2]] - mesh.vertices[faces[f][0]])
                       .normalized();
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < a; ++b) least = std::min(least, n[a].cross(n[b]).norm());
        const double sign = volume_of(mesh) > 0 ? 1 : -1;
        const auto& x = mesh.vertices;
        const double found = least_dihedral_sine(x[0], x[1], x[2], x[3]);
        if (sign > 0) {
            EXPECT_NEAR(found, least, 1e-9);
        } else {
            EXPECT_LT(found, 0);
        }
    }
}

// No point lies inside any sphere, neighbours know each other, volumes add up to that of the surrounding tetrahedron.
// Points of a lattice and of planes make most decisions ties.
TEST(Delaunay, SpheresAreEmptyForLatticesAndRandomPoints) {
    std::mt19937 random(5);
    Delaunay delaunay;
    std::vector<GridPoint> points;
    for (int z = 0; z < 4; ++z)
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 4; ++x) points.push_back({x * 400000, y * 400000, z * 400000});
    for (int i = 0; i < 150; ++i) {
        GridPoint p;
        for (int k = 0; k < 3; ++k) p[k] = static_cast<std::int32_t>(random() % Delaunay::range);
        if (i % 3 == 0) p[2] = 700000;
        points.push_back(p);
    }
    for (std::size_t i = 0; i < points.size(); ++i)
        EXPECT_EQ(delaunay.insert(points[i]), static_cast<int>(i));
    EXPECT_EQ(delaunay.insert(points[17]), 17);
    const auto& cells = delaunay.cells();
    for (std::size_t c = 0; c < cells.size(); ++c) {
        if (!cells[c].used()) continue;
        std::array<const GridPoint*, 4> corner;
        for (int k = 0; k < 4; ++k) corner[k] = &delaunay.point(cells[c].vertex[k]);
        ASSERT_GT(Delaunay::orientation(*corner[0], *corner[1], *corner[2], *corner[3]), 0);
        for (const GridPoint& p : points) ASSERT_LE(Delaunay::in_sphere(corner, p), 0);
        for (int f = 0; f < 4; ++f) {
            const int next = cells[c].neighbor[f];
            if (next < 0) continue;
            const auto& back = cells[next].neighbor;
            ASSERT_NE(std::find(back.begin(), back.end(), static_cast<int>(c)), back.end());
        }
    }
    // against the definition: the centre of a regular arrangement is inside, a far point outside
    const GridPoint a{0, 0, 0}, b{8, 0, 0}, c{0, 8, 0}, d{0, 0, 8}, in{4, 4, 4}, on{8, 8, 8}, out{9, 9, 9};
    EXPECT_EQ(Delaunay::in_sphere({&a, &b, &c, &d}, in), 1);
    EXPECT_EQ(Delaunay::in_sphere({&a, &b, &c, &d}, on), 0);
    EXPECT_EQ(Delaunay::in_sphere({&a, &b, &c, &d}, out), -1);
}

}  // namespace
}  // namespace tenon::geometry

#include "geometry/overlap.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "geometry/distance.hpp"
#include "geometry/mesh_check.hpp"
#include "test_meshes.hpp"

namespace tenon::geometry {
namespace {

struct Body {
    Mesh mesh;
    std::vector<Edge> edges;
    SurfaceTree surface;

    explicit Body(Mesh m, SurfaceTree::Blocks blocks = SurfaceTree::Blocks::neighbours)
        : mesh(std::move(m)), edges(all_edges(mesh)), surface(mesh, edges, blocks) {}
    Body(const Body&) = delete;
};

Box3 box_of(const Posed& body, std::initializer_list<int> vertices) {
    Box3 box;
    for (int v : vertices) {
        box.add(transform(body.q0, body.surface->vertices()[v]));
        if (body.swept) box.add(transform(body.q1, body.surface->vertices()[v]));
    }
    return box;
}

std::vector<int> used_vertices(const Mesh& mesh) {
    std::vector<char> used(mesh.vertices.size(), 0);
    for (const Triangle& t : mesh.triangles)
        for (int v : t) used[v] = 1;
    for (const Edge& e : mesh.edges)
        for (int v : e) used[v] = 1;
    for (int v : mesh.points) used[v] = 1;
    std::vector<int> list;
    for (std::size_t v = 0; v < used.size(); ++v)
        if (used[v]) list.push_back(static_cast<int>(v));
    return list;
}

// Everything against everything, straight from the definition.
Candidates brute_force(const Body& ma, const Body& mb, const Posed& a, const Posed& b, double margin) {
    Candidates out;
    auto close = [&](Box3 box, const Box3& other) {
        box.inflate(margin);
        return box.overlaps(other);
    };
    auto edge_box = [&](const Posed& body, int e) {
        const Edge& edge = body.surface->edges()[e];
        return box_of(body, {edge[0], edge[1]});
    };
    auto triangle_box = [&](const Posed& body, int t) {
        const Triangle& tri = body.surface->triangles()[t];
        return box_of(body, {tri[0], tri[1], tri[2]});
    };
    const int ta = static_cast<int>(ma.mesh.triangles.size()),
              tb = static_cast<int>(mb.mesh.triangles.size());
    const int ea = static_cast<int>(ma.edges.size()), eb = static_cast<int>(mb.edges.size());
    for (int v : used_vertices(ma.mesh))
        for (int t = 0; t < tb; ++t)
            if (close(box_of(a, {v}), triangle_box(b, t))) out.vertex_triangle.push_back({v, t});
    for (int t = 0; t < ta; ++t)
        for (int v : used_vertices(mb.mesh))
            if (close(triangle_box(a, t), box_of(b, {v}))) out.triangle_vertex.push_back({t, v});
    for (int e = 0; e < ea; ++e)
        for (int f = 0; f < eb; ++f)
            if (close(edge_box(a, e), edge_box(b, f))) out.edge_edge.push_back({e, f});
    auto is_loose = [](const Mesh& mesh, const Edge& edge) {
        return std::any_of(mesh.edges.begin(), mesh.edges.end(), [&](const Edge& loose) {
            return std::minmax(loose[0], loose[1]) == std::minmax(edge[0], edge[1]);
        });
    };
    for (int v : ma.mesh.points) {
        for (int f = 0; f < eb; ++f)
            if (is_loose(mb.mesh, mb.edges[f]) && close(box_of(a, {v}), edge_box(b, f)))
                out.point_edge.push_back({v, f});
        for (int w : mb.mesh.points)
            if (close(box_of(a, {v}), box_of(b, {w}))) out.point_point.push_back({v, w});
    }
    for (int e = 0; e < ea; ++e)
        for (int w : mb.mesh.points)
            if (is_loose(ma.mesh, ma.edges[e]) && close(edge_box(a, e), box_of(b, {w})))
                out.edge_point.push_back({e, w});
    return out;
}

void expect_same(Candidates found, Candidates expected) {
    auto same = [](std::vector<ItemPair>& x, std::vector<ItemPair>& y) {
        std::sort(x.begin(), x.end());
        std::sort(y.begin(), y.end());
        EXPECT_EQ(x, y);
    };
    same(found.vertex_triangle, expected.vertex_triangle);
    same(found.triangle_vertex, expected.triangle_vertex);
    same(found.edge_edge, expected.edge_edge);
    same(found.point_edge, expected.point_edge);
    same(found.edge_point, expected.edge_point);
    same(found.point_point, expected.point_point);
}

constexpr std::array<OverlapMethod, 3> all_methods{OverlapMethod::blocks, OverlapMethod::region,
                                                   OverlapMethod::region_tree};

// How near two primitives come on their ways, at a few places of them.
class Nearest {
  public:
    Nearest(const Posed& a, const Posed& b) : a_(a), b_(b) {}

    double vertex_triangle(const ItemPair& p) const { return least(a_, {p.a}, b_, triangle(b_, p.b)); }
    double triangle_vertex(const ItemPair& p) const { return least(b_, {p.b}, a_, triangle(a_, p.a)); }
    double edge_edge(const ItemPair& p) const { return least(a_, edge(a_, p.a), b_, edge(b_, p.b)); }
    double point_edge(const ItemPair& p) const { return least(a_, {p.a}, b_, edge(b_, p.b)); }
    double edge_point(const ItemPair& p) const { return least(b_, {p.b}, a_, edge(a_, p.a)); }
    double point_point(const ItemPair& p) const { return least(a_, {p.a}, b_, {p.b}); }

  private:
    struct Corners {
        int count;
        std::array<int, 3> vertex;
        Corners(int v) : count(1), vertex{v, v, v} {}
        Corners(const Edge& e) : count(2), vertex{e[0], e[1], e[1]} {}
        Corners(const Triangle& t) : count(3), vertex{t[0], t[1], t[2]} {}
    };
    static Corners triangle(const Posed& body, int t) { return body.surface->triangles()[t]; }
    static Corners edge(const Posed& body, int e) { return body.surface->edges()[e]; }

    static double least(const Posed& one, const Corners& first, const Posed& other, const Corners& second) {
        double squared = 1e300;
        // One may stay behind while the other goes on.
        const int places = 3, of_one = one.swept ? places : 0, of_other = other.swept ? places : 0;
        for (int k = 0; k < (of_one + 1) * (of_other + 1); ++k) {
            const double s = static_cast<double>(k % (of_one + 1)) / places;
            const double t = static_cast<double>(k / (of_one + 1)) / places;
            std::array<Vec3, 3> x, y;
            for (int n = 0; n < first.count; ++n) x[n] = at(one, first.vertex[n], s);
            for (int n = 0; n < second.count; ++n) y[n] = at(other, second.vertex[n], t);
            squared = std::min(squared, first.count == 2 ? squared_distance_edge_edge(x[0], x[1], y[0], y[1])
                                        : second.count == 3
                                            ? squared_distance_point_triangle(x[0], y[0], y[1], y[2])
                                        : second.count == 2 ? squared_distance_point_edge(x[0], y[0], y[1])
                                                            : (x[0] - y[0]).squaredNorm());
        }
        return std::sqrt(squared);
    }
    static Vec3 at(const Posed& body, int vertex, double t) {
        const Vec3& rest = body.surface->vertices()[vertex];
        const Vec3 x0 = transform(body.q0, rest);
        return body.swept ? Vec3((1.0 - t) * x0 + t * transform(body.q1, rest)) : x0;
    }

    const Posed &a_, &b_;
};

// No pair may be missing that comes within the margin. Returns how many there are; all of them are among `boxes`.
std::size_t expect_all_near(Candidates found, Candidates boxes, const Nearest& nearest, double margin) {
    std::size_t near = 0;
    auto check = [&](std::vector<ItemPair>& have, std::vector<ItemPair>& all, auto distance) {
        std::sort(have.begin(), have.end());
        std::sort(all.begin(), all.end());
        EXPECT_EQ(std::adjacent_find(have.begin(), have.end()), have.end());
        for (const ItemPair& pair : all) {
            if ((nearest.*distance)(pair) > margin) continue;
            ++near;
            EXPECT_TRUE(std::binary_search(have.begin(), have.end(), pair)) << pair.a << " " << pair.b;
        }
    };
    check(found.vertex_triangle, boxes.vertex_triangle, &Nearest::vertex_triangle);
    check(found.triangle_vertex, boxes.triangle_vertex, &Nearest::triangle_vertex);
    check(found.edge_edge, boxes.edge_edge, &Nearest::edge_edge);
    check(found.point_edge, boxes.point_edge, &Nearest::point_edge);
    check(found.edge_point, boxes.edge_point, &Nearest::edge_point);
    check(found.point_point, boxes.point_point, &Nearest::point_point);
    return near;
}

// The vertices of either body that candidates have.
std::array<std::vector<int>, 2> vertices_of(const Candidates& found, const Body& a, const Body& b) {
    std::array<std::vector<int>, 2> out;
    auto add = [](std::vector<int>& to, const auto& corners) {
        to.insert(to.end(), corners.begin(), corners.end());
    };
    auto one = [](int v) { return std::array<int, 1>{v}; };
    auto each = [&](const std::vector<ItemPair>& list, auto of_a, auto of_b) {
        for (const ItemPair& p : list) {
            add(out[0], of_a(p.a));
            add(out[1], of_b(p.b));
        }
    };
    auto triangle_a = [&](int t) { return a.mesh.triangles[t]; };
    auto triangle_b = [&](int t) { return b.mesh.triangles[t]; };
    auto edge_a = [&](int e) { return a.edges[e]; };
    auto edge_b = [&](int e) { return b.edges[e]; };
    each(found.vertex_triangle, one, triangle_b);
    each(found.triangle_vertex, triangle_a, one);
    each(found.edge_edge, edge_a, edge_b);
    each(found.point_edge, one, edge_b);
    each(found.edge_point, edge_a, one);
    each(found.point_point, one, one);
    return out;
}

std::vector<int> sorted_once(std::vector<int> list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
}

void check_pair(const Body& ma, const Body& mb, double spread, double margin, unsigned seed, int trials) {
    std::mt19937 random(seed);
    OverlapScratch scratch;
    Candidates found;
    std::size_t near = 0, by_blocks = 0, by_boxes = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const Mat34 qa = random_map(random, spread, 0.05), qb = random_map(random, spread, 0.05);
        Posed a = posed(ma.surface, qa), b = posed(mb.surface, qb);
        if (trial % 2 == 1) {
            a = posed(ma.surface, qa, random_map(random, spread, 0.05));
            b = posed(mb.surface, qb, random_map(random, spread, 0.05));
        }
        const Candidates expected = brute_force(ma, mb, a, b, margin);
        for (OverlapMethod method : {OverlapMethod::region, OverlapMethod::region_tree}) {
            find_candidates(a, b, margin, scratch, found, method);
            expect_same(found, expected);
        }
        find_candidates(a, b, margin, scratch, found);
        near += expect_all_near(found, expected, Nearest(a, b), margin);
        const auto vertices = vertices_of(found, ma, mb);
        EXPECT_EQ(sorted_once(found.vertices_a), sorted_once(vertices[0]));
        EXPECT_EQ(sorted_once(found.vertices_b), sorted_once(vertices[1]));
        by_blocks += found.size();
        by_boxes += expected.size();
    }
    EXPECT_GT(margin > 0.0 ? near : by_blocks, 0u);
    EXPECT_LT(by_blocks, by_boxes);
}

TEST(Overlap, CandidatesEqualBruteForce) {
    const Body torus(torus_mesh(12, 6, 1.0, 0.3)), cube(cube_mesh(1.0)), soup(soup_mesh(40, 30, 20, 1));
    check_pair(torus, torus, 0.8, 0.02, 1, 8);
    check_pair(torus, cube, 0.8, 0.0, 2, 8);
    check_pair(cube, cube, 0.6, 0.1, 3, 20);
    check_pair(soup, torus, 0.6, 0.05, 4, 6);
    check_pair(soup, soup, 0.4, 0.05, 5, 6);
}

TEST(Overlap, OpenWireAndPointBodies) {
    const Body wires(soup_mesh(0, 50, 0, 2)), points(soup_mesh(0, 0, 60, 3)), quad(soup_mesh(2, 0, 0, 4));
    check_pair(wires, points, 0.3, 0.2, 6, 4);
    check_pair(points, wires, 0.3, 0.2, 7, 4);
    check_pair(points, points, 0.3, 0.3, 8, 4);
    check_pair(wires, quad, 0.3, 0.2, 9, 4);
}

TEST(Overlap, LargeElementsByThemselves) {
    const auto single = SurfaceTree::Blocks::single_elements;
    const Body torus(torus_mesh(30, 14, 1.0, 0.3)), cube(cube_mesh(1.0), single),
        ring(torus_mesh(5, 4, 0.8, 0.2), single), soup(soup_mesh(30, 20, 20, 7), single),
        other(soup_mesh(40, 30, 20, 8));
    EXPECT_EQ(cube.surface.blocks(), 12);
    check_pair(cube, torus, 0.8, 0.02, 13, 8);
    check_pair(torus, cube, 0.8, 0.02, 14, 8);
    check_pair(ring, torus, 0.8, 0.05, 15, 8);
    check_pair(soup, other, 0.6, 0.05, 16, 6);
    check_pair(other, soup, 0.6, 0.05, 17, 6);
    check_pair(ring, cube, 0.6, 0.05, 18, 8);
}

// Turned by `angle` about an axis through the origin, and moved.
Mat34 turned(const Mat34& q, const Vec3& axis, double angle, const Vec3& shift) {
    Mat34 out = Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix() * q;
    out.col(3) += shift;
    return out;
}

TEST(Overlap, FastTurningSweepsMissNothing) {
    // A torus inside another: both turn, by up to a third of a turn, and fly, and one may stay behind.
    const Body outer(torus_mesh(24, 12, 1.0, 0.3)), inner(torus_mesh(20, 8, 1.0, 0.27));
    std::mt19937 random(11);
    std::normal_distribution<double> normal;
    auto direction = [&] { return Vec3(normal(random), normal(random), normal(random)).normalized(); };
    OverlapScratch scratch;
    Candidates found;
    for (const double angle : {0.01, 0.3, 2.0}) {
        const Mat34 q = turned(Mat34::Identity(), direction(), normal(random), 0.01 * direction());
        const Vec3 axis = direction(), flight = 0.5 * angle * direction();
        const Posed a = posed(outer.surface, q, turned(q, axis, angle, flight));
        const Posed b = posed(inner.surface, q, turned(q, axis, -0.5 * angle, flight));
        find_candidates(a, b, 0.03, scratch, found);
        const std::size_t near =
            expect_all_near(found, brute_force(outer, inner, a, b, 0.03), Nearest(a, b), 0.03);
        EXPECT_GT(near, 100u);
    }
}

TEST(Overlap, OneBodyMayStayBehind) {
    // Two cubes fly side by side, a metre apart, along the line between them: one that stops is hit by the other.
    const Body cube(cube_mesh(1.0));
    Mat34 qa = Mat34::Identity(), qb = qa;
    qb(0, 3) = 2.0;
    Mat34 qa1 = qa, qb1 = qb;
    qa1(0, 3) += 5.0;
    qb1(0, 3) += 5.0;
    OverlapScratch scratch;
    Candidates found;
    find_candidates(posed(cube.surface, qa, qa1), posed(cube.surface, qb, qb1), 0.01, scratch, found);
    EXPECT_GT(found.vertex_triangle.size(), 0u);
    EXPECT_GT(found.triangle_vertex.size(), 0u);
    EXPECT_GT(found.edge_edge.size(), 0u);
}

TEST(Overlap, WhatDoesNotCountIsLeftOut) {
    const Body torus(torus_mesh(30, 14, 1.0, 0.3));
    std::vector<char> vertices(torus.mesh.vertices.size()), edges(torus.edges.size());
    for (std::size_t i = 0; i < vertices.size(); ++i) vertices[i] = i % 3 == 0;
    for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = i % 2 == 0;
    std::mt19937 random(12);
    Posed a = posed(torus.surface, random_map(random, 0.3, 0)),
          b = posed(torus.surface, random_map(random, 0.3, 0));
    OverlapScratch scratch;
    Candidates all, some;
    find_candidates(a, b, 0.05, scratch, all);
    a.vertex_counts = vertices;
    b.edge_counts = edges;
    find_candidates(a, b, 0.05, scratch, some);
    std::erase_if(all.vertex_triangle, [&](const ItemPair& p) { return !vertices[p.a]; });
    std::erase_if(all.edge_edge, [&](const ItemPair& p) { return !edges[p.b]; });
    EXPECT_GT(some.size(), 0u);
    expect_same(some, all);
}

TEST(Overlap, FarApartBodiesHaveNone) {
    const Body cube(cube_mesh(1.0));
    Mat34 q = Mat34::Identity();
    q(0, 3) = 1.2;
    OverlapScratch scratch;
    Candidates found;
    find_candidates(posed(cube.surface, Mat34::Identity()), posed(cube.surface, q), 0.1, scratch, found);
    EXPECT_EQ(found.size(), 0u);
    find_candidates(posed(cube.surface, Mat34::Identity()), posed(cube.surface, q), 0.21, scratch, found);
    // Facing sides: 4 vertices against 2 + 2 x (triangles of other faces that touch the side).
    EXPECT_GT(found.size(), 0u);
}

TEST(Overlap, WorldBoxIsExact) {
    const Body torus(torus_mesh(120, 50, 1.0, 0.3)), soup(soup_mesh(100, 50, 30, 5)), cube(cube_mesh(2.0));
    std::mt19937 random(6);
    for (const Body* body : {&torus, &soup, &cube}) {
        for (int trial = 0; trial < 10; ++trial) {
            const Mat34 q = random_map(random, 10, 0.1);
            Box3 expected;
            for (int v : used_vertices(body->mesh)) expected.add(transform(q, body->mesh.vertices[v]));
            const Box3 box = world_box(body->surface, q);
            EXPECT_LT((box.lo - expected.lo).norm() + (box.hi - expected.hi).norm(), 1e-12);
            EXPECT_TRUE((box.lo.array() <= expected.lo.array()).all());
            EXPECT_TRUE((box.hi.array() >= expected.hi.array()).all());
        }
    }
}

TEST(Overlap, TreesNeedFewerTestsWhenCrowded) {
    // A torus inside another with a gap of 0.02: all of both is in the overlap, few primitives are neighbours.
    const Body outer(torus_mesh(60, 40, 1.0, 0.3)), inner(torus_mesh(60, 40, 1.0, 0.28));
    const Posed a = posed(outer.surface, Mat34::Identity()), b = posed(inner.surface, Mat34::Identity());
    OverlapScratch scratch;
    Candidates found;
    std::array<OverlapStats, 3> stats;
    std::array<std::size_t, 3> count{};
    for (int k = 0; k < 3; ++k) {
        find_candidates(a, b, 1e-3, scratch, found, all_methods[k], &stats[k]);
        count[k] = found.size();
    }
    EXPECT_GT(count[1], 1000u);
    EXPECT_EQ(count[2], count[1]);
    EXPECT_LT(count[0], count[1]);
    EXPECT_LT(stats[2].box_tests + stats[2].node_tests, stats[1].box_tests / 20);
    EXPECT_LT(stats[0].box_tests + stats[0].node_tests, stats[1].box_tests / 20);
}

// Also in the same order.
void expect_parts_are_the_whole(const Posed& a, const Posed& b, double margin, std::size_t least_parts) {
    OverlapScratch scratch;
    Candidates whole, part, joined;
    find_candidates(a, b, margin, scratch, whole);
    std::vector<NodePair> parts;
    split_search(a, b, margin, 16, parts);
    EXPECT_GE(parts.size(), least_parts);
    for (const NodePair& start : parts) {
        find_candidates(a, b, margin, start, scratch, part);
        auto append = [](std::vector<ItemPair>& to, const std::vector<ItemPair>& from) {
            to.insert(to.end(), from.begin(), from.end());
        };
        append(joined.vertex_triangle, part.vertex_triangle);
        append(joined.triangle_vertex, part.triangle_vertex);
        append(joined.edge_edge, part.edge_edge);
    }
    EXPECT_GT(whole.size(), 0u);
    EXPECT_EQ(joined.vertex_triangle, whole.vertex_triangle);
    EXPECT_EQ(joined.triangle_vertex, whole.triangle_vertex);
    EXPECT_EQ(joined.edge_edge, whole.edge_edge);
}

TEST(Overlap, PartsTogetherAreTheWhole) {
    const Body outer(torus_mesh(60, 40, 1.0, 0.3)), inner(torus_mesh(50, 30, 1.0, 0.28)),
        coarse(torus_mesh(6, 4, 1.0, 0.25), SurfaceTree::Blocks::single_elements);
    const Mat34 here = Mat34::Identity();
    const Posed a = posed(outer.surface, here), b = posed(inner.surface, here),
                few = posed(coarse.surface, here);
    expect_parts_are_the_whole(a, b, 1e-3, 16);
    expect_parts_are_the_whole(few, a, 0.1, 16);
    expect_parts_are_the_whole(a, few, 0.1, 16);
    Mat34 far = here;
    far(0, 3) = 10;
    std::vector<NodePair> parts;
    split_search(a, posed(inner.surface, far), 1e-3, 16, parts);
    EXPECT_TRUE(parts.empty());
}

TEST(Overlap, EveryPrimitiveIsOwnedOnce) {
    const Body torus(torus_mesh(30, 11, 1.0, 0.3)), soup(soup_mesh(70, 33, 21, 6));
    for (const Body* body : {&torus, &soup}) {
        const SurfaceTree& surface = body->surface;
        std::vector<int> vertices(body->mesh.vertices.size()), edges(body->edges.size());
        std::vector<int> triangles(body->mesh.triangles.size());
        for (int b = 0; b < surface.blocks(); ++b) {
            const SurfaceTree::Block block = surface.block(b);
            for (int i = 0; i < block.owned; ++i) ++vertices[block.vertices[i]];
            for (const auto& edge : block.edges) {
                ++edges[edge.id];
                for (int k = 0; k < 2; ++k)
                    EXPECT_EQ(block.vertices[edge.corner[k]], body->edges[edge.id][k]);
            }
            for (const auto& triangle : block.triangles) {
                ++triangles[triangle.id];
                for (int k = 0; k < 3; ++k)
                    EXPECT_EQ(block.vertices[triangle.corner[k]], body->mesh.triangles[triangle.id][k]);
            }
        }
        EXPECT_EQ(std::count(edges.begin(), edges.end(), 1), static_cast<long>(edges.size()));
        EXPECT_EQ(std::count(triangles.begin(), triangles.end(), 1), static_cast<long>(triangles.size()));
        for (int v : used_vertices(body->mesh)) EXPECT_EQ(vertices[v], 1);
    }
}

TEST(Overlap, RegionSearchIsSubLinear) {
    // A region that holds a hundredth of a surface of 80,000 triangles.
    const Body torus(torus_mesh(400, 100, 1.0, 0.3));
    std::mt19937 random(7);
    const Posed body = posed(torus.surface, random_map(random, 1, 0));
    Box3 region;
    region.add(transform(body.q0, torus.mesh.vertices[1234]));
    region.inflate(0.05);
    RegionPrimitives found;
    OverlapStats stats;
    primitives_in_region(body, region, found, &stats);
    int expected = 0;
    for (const Triangle& t : torus.mesh.triangles)
        expected += box_of(body, {t[0], t[1], t[2]}).overlaps(region);
    EXPECT_EQ(static_cast<int>(found.triangles.size()), expected);
    EXPECT_GT(expected, 100);
    EXPECT_LT(stats.node_tests + stats.box_tests, 20 * expected);
}

}  // namespace
}  // namespace tenon::geometry

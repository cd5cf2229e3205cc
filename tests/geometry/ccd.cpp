#include "geometry/ccd.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "geometry/distance.hpp"

namespace tenon::geometry {
namespace {

using Four = std::array<Vec3, 4>;

enum class Kind { point_point, point_edge, point_triangle, edge_edge };
constexpr std::array<Kind, 4> all_kinds{Kind::point_point, Kind::point_edge, Kind::point_triangle,
                                        Kind::edge_edge};

int vertex_count(Kind kind) {
    if (kind == Kind::point_point) return 2;
    return kind == Kind::point_edge ? 3 : 4;
}
int first_side(Kind kind) {
    return kind == Kind::edge_edge ? 2 : 1;
}

double ccd(Kind kind, const Four& x0, const Four& x1, const CcdOptions& options = {}) {
    switch (kind) {
        case Kind::point_point:
            return ccd_point_point({x0[0], x0[1]}, {x1[0], x1[1]}, options);
        case Kind::point_edge:
            return ccd_point_edge({x0[0], x0[1], x0[2]}, {x1[0], x1[1], x1[2]}, options);
        case Kind::point_triangle:
            return ccd_point_triangle(x0, x1, options);
        default:
            return ccd_edge_edge(x0, x1, options);
    }
}

double distance(Kind kind, const Four& x) {
    switch (kind) {
        case Kind::point_point:
            return (x[0] - x[1]).norm();
        case Kind::point_edge:
            return std::sqrt(squared_distance_point_edge(x[0], x[1], x[2]));
        case Kind::point_triangle:
            return std::sqrt(squared_distance_point_triangle(x[0], x[1], x[2], x[3]));
        default:
            return std::sqrt(squared_distance_edge_edge(x[0], x[1], x[2], x[3]));
    }
}

Four between(const Four& x0, const Four& x1, double t) {
    Four x;
    for (int i = 0; i < 4; ++i) x[i] = x0[i] + t * (x1[i] - x0[i]);
    return x;
}

class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}
    double uniform(double lo, double hi) { return lo + (hi - lo) * unit_(engine_); }
    Vec3 vector(double size) { return {uniform(-size, size), uniform(-size, size), uniform(-size, size)}; }
    int index(int count) { return static_cast<int>(uniform(0, count)); }

  private:
    std::mt19937_64 engine_;
    std::uniform_real_distribution<double> unit_{0.0, 1.0};
};

// A pair that touches at time tau by construction: both sides' weighted means coincide there.
struct Hit {
    Kind kind;
    Four x0, x1;
    double tau;
};

Hit random_hit(Random& random, Kind kind) {
    Hit hit;
    hit.kind = kind;
    hit.tau = random.uniform(0.02, 1.0);
    const int first = first_side(kind), count = vertex_count(kind);
    const double size = std::pow(10.0, random.uniform(-4, 2)), speed = std::pow(10.0, random.uniform(-4, 3));
    Four x, v;
    for (int i = 0; i < 4; ++i) {
        x[i] = random.vector(size);
        v[i] = random.vector(speed);
    }
    // Degenerate and special configurations, a few of each.
    const int special = random.index(12);
    if (special == 0 && count == 4) x[3] = x[2];                  // collapsed
    if (special == 1 && count == 4) x[3] = x[2] + (x[1] - x[0]);  // parallel edges
    if (special == 2)
        for (Vec3& p : x) p.z() = 0;  // coplanar at the hit
    if (special == 3)
        for (Vec3& p : v) p.z() = 0;
    if (special == 2 && random.index(2) == 0)
        for (Vec3& p : v) p.z() = 0;  // moving in the plane
    if (special == 4)
        for (int i = 1; i < first; ++i) v[i] = v[0];  // rigid sides
    if (special == 4)
        for (int i = first; i < count; ++i) v[i] = v[first];
    const bool fast_frame = special == 5;
    std::array<double, 4> w{};
    double sums[2] = {0, 0};
    for (int i = 0; i < count; ++i) {
        // Weights of exactly zero put the hit on an edge or a vertex.
        w[i] = random.index(6) == 0 ? 0.0 : random.uniform(0, 1);
        sums[i >= first] += w[i];
    }
    for (int side = 0; side < 2; ++side) {
        if (sums[side] > 0) continue;
        w[side == 0 ? 0 : first] = sums[side] = 1.0;
    }
    Vec3 shift = Vec3::Zero();
    for (int i = 0; i < count; ++i) shift += (i < first ? 1 : -1) * w[i] / sums[i >= first] * x[i];
    for (int i = first; i < count; ++i) x[i] += shift;
    const Vec3 frame = fast_frame ? random.vector(1e3 * speed) : Vec3::Zero();
    for (int i = 0; i < 4; ++i) {
        hit.x0[i] = x[i] - hit.tau * (v[i] + frame);
        hit.x1[i] = x[i] + (1 - hit.tau) * (v[i] + frame);
    }
    return hit;
}

TEST(Ccd, NeverMissesAHitInAMillionQueries) {
    Random random(2024);
    int late = 0, stuck = 0, apart = 0;
    const int total = 1000000;
    for (int query = 0; query < total; ++query) {
        const Hit hit = random_hit(random, all_kinds[query % 4]);
        const double t = ccd(hit.kind, hit.x0, hit.x1);
        late += !(t < hit.tau);
        stuck += t == 0.0;
        apart += apart_along_axes(hit.x0, hit.x1, first_side(hit.kind), vertex_count(hit.kind), 0.0);
    }
    EXPECT_EQ(late, 0);
    EXPECT_EQ(apart, 0);
    // Starts that touch already are rare; returning 0 for everything would not count as an answer.
    EXPECT_LT(stuck, total / 100);
}

TEST(Ccd, KeepsItsPromiseAgainstTimeSampling) {
    Random random(5);
    int hits = 0, misses = 0;
    for (int query = 0; query < 40000; ++query) {
        const Kind kind = all_kinds[query % 4];
        Four x0, x1;
        for (int i = 0; i < 4; ++i) {
            x0[i] = random.vector(1.0);
            x1[i] = x0[i] + random.vector(1.5);
        }
        CcdOptions options;
        options.min_separation = query % 3 == 0 ? 0.05 : 0.0;
        options.keep = query % 2 == 0 ? 0.1 : 0.3;
        const double gap = distance(kind, x0) - options.min_separation;
        if (gap < 1e-3) continue;
        if (query % 5 == 0) options.keep_at_most = 0.05;
        const double t = ccd(kind, x0, x1, options);
        const double kept = std::min(options.keep * gap, options.keep_at_most);
        const double target = options.min_separation + kept;
        double lowest = 1e300;
        for (int k = 0; k <= 20; ++k)
            lowest = std::min(lowest, distance(kind, between(x0, x1, t * k / 20.0)));
        ASSERT_GE(lowest, target - 1e-12);
        if (t < 1.0) {
            // Tight: the gap has fallen to the target, it did not stop for nothing.
            ASSERT_LE(distance(kind, between(x0, x1, t)), target + 0.051 * kept + 1e-12);
            ++hits;
        } else {
            ++misses;
        }
    }
    EXPECT_GT(hits, 2000);
    EXPECT_GT(misses, 2000);
}

TEST(Ccd, WhatAnAxisKeepsApartStaysApart) {
    Random random(6);
    int apart = 0;
    for (int query = 0; query < 40000; ++query) {
        const Kind kind = all_kinds[query % 4];
        Four x0, x1;
        for (int i = 0; i < 4; ++i) {
            x0[i] = random.vector(1.0) + (i < first_side(kind) ? Vec3(0.8, 0, 0) : Vec3(0, 0.8, 0));
            x1[i] = x0[i] + random.vector(0.5);
        }
        if (!apart_along_axes(x0, x1, first_side(kind), vertex_count(kind), 0.1)) continue;
        ++apart;
        for (int k = 0; k <= 10; ++k) ASSERT_GT(distance(kind, between(x0, x1, k / 10.0)), 0.1);
    }
    EXPECT_GT(apart, 2000);
}

// A point falls on a triangle from height 1 at speed 2: the gap is down to 10 % at t = 0.45.
TEST(Ccd, HeadOnIsExact) {
    const Four x0{Vec3(0.2, 0.2, 1), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
    Four x1 = x0;
    x1[0].z() = -1;
    EXPECT_NEAR(ccd_point_triangle(x0, x1), 0.45, 1e-12);
    CcdOptions options;
    options.keep = 0.2;
    EXPECT_NEAR(ccd_point_triangle(x0, x1, options), 0.4, 1e-12);
    options.min_separation = 0.5;  // gap 0.5, target 0.6
    EXPECT_NEAR(ccd_point_triangle(x0, x1, options), 0.2, 1e-12);
    options.t_max = 0.1;
    EXPECT_EQ(ccd_point_triangle(x0, x1, options), 0.1);
}

TEST(Ccd, CrossingEdgesAreExact) {
    const Four x0{Vec3(-1, 0, 1), Vec3(1, 0, 1), Vec3(0, -1, 0), Vec3(0, 1, 0)};
    Four x1 = x0;
    x1[0].z() = x1[1].z() = -3;
    EXPECT_NEAR(ccd_edge_edge(x0, x1), 0.9 / 4, 1e-12);
}

TEST(Ccd, PointsAndEdges) {
    EXPECT_NEAR(ccd_point_point({Vec3(0, 0, 0), Vec3(1, 0, 0)}, {Vec3(2, 0, 0), Vec3(1, 0, 0)}), 0.45, 1e-12);
    // A point against the end of an edge, along it.
    EXPECT_NEAR(ccd_point_edge({Vec3(3, 0, 0), Vec3(0, 0, 0), Vec3(1, 0, 0)},
                               {Vec3(-1, 0, 0), Vec3(0, 0, 0), Vec3(1, 0, 0)}),
                1.8 / 4, 1e-12);
}

TEST(Ccd, CommonTranslationIsFree) {
    const Vec3 fast(1e7, -3e6, 2e6);
    const Four x0{Vec3(0.2, 0.2, 1e-6), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
    Four x1 = x0;
    for (Vec3& x : x1) x += Vec3(64, 32, 16);  // exact in binary
    EXPECT_EQ(ccd_point_triangle(x0, x1), 1.0);
    for (int i = 0; i < 4; ++i) x1[i] = x0[i] + fast;
    x1[0].z() -= 2e-6 + 1e-7;
    EXPECT_LT(ccd_point_triangle(x0, x1), 0.5);
}

TEST(Ccd, NoRelativeMotion) {
    const Four x{Vec3(0.2, 0.2, 1e-9), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
    for (Kind kind : all_kinds) EXPECT_EQ(ccd(kind, x, x), 1.0);
}

TEST(Ccd, SlidingAndSeparatingFromCloseAreFree) {
    // Almost touching, sliding 100 m along the face or lifting off: the support bound sees no approach.
    const Four x0{Vec3(0.2, 0.2, 1e-8), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
    Four x1 = x0;
    x1[0] += Vec3(100, -30, 0);
    EXPECT_EQ(ccd_point_triangle(x0, x1), 1.0);
    x1[0] = x0[0] + Vec3(0, 0, 5);
    EXPECT_EQ(ccd_point_triangle(x0, x1), 1.0);
}

TEST(Ccd, GrazingPasses) {
    // A point passes the corner of a triangle at distance 0.5 while starting 1 away: 0.5 > 0.1, never stopped.
    const Four x0{Vec3(-1, 0, 0), Vec3(0, 0.5, 0), Vec3(0.01, 2, 0), Vec3(-0.01, 2, 0)};
    Four x1 = x0;
    x1[0] = Vec3(1, 0, 0);
    EXPECT_EQ(ccd_point_triangle(x0, x1), 1.0);
    // At distance 0.05 it must stop: the target is 0.1 * sqrt(1.0025).
    Four y0 = x0, y1 = x1;
    y0[1].y() = y1[1].y() = 0.05;
    const double t = ccd_point_triangle(y0, y1);
    const double target = 0.1 * std::sqrt(1.0025), x = -std::sqrt(target * target - 0.0025);
    EXPECT_LE(t, (x + 1) / 2 + 1e-12);
    EXPECT_GT(t, (-std::sqrt(1.1025 * target * target - 0.0025) + 1) / 2 - 1e-3);
}

TEST(Ccd, CoplanarMotion) {
    // Everything in one plane: the classical cubic is zero for all t; here it is just another query.
    const Four x0{Vec3(3, 0.25, 0), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
    Four x1 = x0;
    x1[0].x() = -1;
    // Hits the slanted side x + y = 1 at x = 0.75; distance (x - 0.75) / sqrt 2 while the foot is on the edge.
    const double t = ccd_point_triangle(x0, x1);
    EXPECT_LT(t, 2.25 / 4);
    EXPECT_GT(t, 1.9 / 4);
    const Four e0{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(2, 0.0, 0), Vec3(3, 0, 0)};  // collinear edges
    Four e1 = e0;
    e1[2].x() -= 2, e1[3].x() -= 2;
    EXPECT_NEAR(ccd_edge_edge(e0, e1), 0.45, 1e-12);
}

TEST(Ccd, ParallelEdgesFalling) {
    const Four x0{Vec3(0, 0, 1), Vec3(1, 0, 1), Vec3(0, 0, 0), Vec3(1, 0, 0)};
    Four x1 = x0;
    x1[0].z() = x1[1].z() = -1;
    EXPECT_NEAR(ccd_edge_edge(x0, x1), 0.45, 1e-12);
}

TEST(Ccd, TouchingOrBadInputStopsAtZero) {
    const Four x{Vec3(0.2, 0.2, 0), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
    Four y = x;
    y[0].z() = 1;
    EXPECT_EQ(ccd_point_triangle(x, y), 0.0);
    CcdOptions options;
    options.min_separation = 2.0;
    EXPECT_EQ(ccd_point_triangle(y, x, options), 0.0);
    Four bad = y;
    bad[2].x() = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(ccd_point_triangle(y, bad), 0.0);
    EXPECT_EQ(ccd_point_triangle(bad, y), 0.0);
    bad[2].x() = std::numeric_limits<double>::infinity();
    EXPECT_EQ(ccd_point_triangle(y, bad), 0.0);
}

// A vertex above a triangle, with a floor of 1e-6: it may come down to that, one that is lower may only rise.
TEST(Ccd, GapsKeepTheirFloor) {
    const auto above = [](double height) {
        return Four{Vec3(0.2, 0.2, height), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
    };
    CcdOptions options;
    options.keep = 0.1;
    options.keep_at_least = 1e-6;
    const double t = ccd_point_triangle(above(5e-6), above(-1), options);
    EXPECT_GE(5e-6 - t * (1 + 5e-6), 1e-6);
    EXPECT_GT(t, 3e-6);
    EXPECT_EQ(ccd_point_triangle(above(5e-7), above(-1), options), 0.0);
    EXPECT_EQ(ccd_point_triangle(above(5e-7), above(1), options), 1.0);
}

TEST(Ccd, IterationCapIsSafe) {
    Random random(9);
    for (int query = 0; query < 2000; ++query) {
        const Hit hit = random_hit(random, all_kinds[query % 4]);
        CcdOptions options;
        double previous = -1;
        for (int cap : {1, 2, 4, 256}) {
            options.max_iterations = cap;
            const double t = ccd(hit.kind, hit.x0, hit.x1, options);
            EXPECT_LT(t, hit.tau);
            EXPECT_GE(t, previous);
            previous = t;
        }
    }
}

}  // namespace
}  // namespace tenon::geometry

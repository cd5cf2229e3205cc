// The verifier's own geometry against brute force and hand-made cases.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "verify/bodies.hpp"
#include "verify/path_sweep.hpp"
#include "verify/sweep.hpp"

namespace tenon::verify {
namespace {

using Random = std::mt19937;

Vec3 random_point(Random& random, double size = 1.0) {
    std::uniform_real_distribution<double> coordinate(-size, size);
    return {coordinate(random), coordinate(random), coordinate(random)};
}

Corners random_cell(Random& random, double size) {
    const Vec3 at = random_point(random, 1.0);
    return {at + random_point(random, size), at + random_point(random, size),
            at + random_point(random, size)};
}

Mesh box_mesh(const Vec3& half) {
    Mesh mesh;
    for (int k = 0; k < 8; ++k)
        mesh.vertices.push_back(half.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
    mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                      {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    return mesh;
}

Mat34 random_pose(Random& random, double size) {
    return to_matrix({random_point(random, size), Quat::UnitRandom()});
}

TEST(ExactCells, HandMadeCases) {
    const Corners flat{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
    const auto moved = [&](const Vec3& by) { return Corners{flat[0] + by, flat[1] + by, flat[2] + by}; };
    EXPECT_TRUE(cells_intersect(flat, flat));
    EXPECT_TRUE(cells_intersect(flat, moved(Vec3(0.25, 0.25, 0))));  // coplanar, overlapping
    EXPECT_TRUE(cells_intersect(flat, moved(Vec3(1, 0, 0))));        // a common corner
    EXPECT_FALSE(cells_intersect(flat, moved(Vec3(1.0000001, 0, 0))));
    EXPECT_FALSE(cells_intersect(flat, moved(Vec3(0, 0, 1e-300))));  // parallel, as near as can be
    const Corners needle{Vec3(0.2, 0.2, -1), Vec3(0.2, 0.2, 1), Vec3(0.2, 0.2, 1)};  // an edge
    EXPECT_TRUE(cells_intersect(flat, needle));
    EXPECT_TRUE(cells_intersect(needle, flat));
    const Corners sliver{Vec3(0.2, 0.2, -1), Vec3(0.2, 0.2, 0.5), Vec3(0.2, 0.2, 1)};  // collinear corners
    EXPECT_TRUE(cells_intersect(flat, sliver));
    const Corners beside{Vec3(0.6, 0.6, -1), Vec3(0.6, 0.6, 1), Vec3(0.6, 0.6, 1)};
    EXPECT_FALSE(cells_intersect(flat, beside));
    const Corners point{Vec3(0.2, 0.2, 0), Vec3(0.2, 0.2, 0), Vec3(0.2, 0.2, 0)};
    EXPECT_FALSE(cells_intersect(flat, point));  // left to the check of motion
}

TEST(ClosestCells, MatchDenseSampling) {
    Random random(7);
    for (int round = 0; round < 40; ++round) {
        const Corners a = random_cell(random, 0.5), b = random_cell(random, 0.5);
        if (cells_intersect(a, b)) continue;
        const int n = 24;
        double sampled = 1e300;
        const auto at = [&](const Corners& c, int i, int j) -> Vec3 {
            return c[0] + (c[1] - c[0]) * i / n + (c[2] - c[0]) * j / n;
        };
        for (int i = 0; i <= n; ++i)
            for (int j = 0; i + j <= n; ++j)
                for (int k = 0; k <= n; ++k)
                    for (int l = 0; k + l <= n; ++l)
                        sampled = std::min(sampled, (at(a, i, j) - at(b, k, l)).norm());
        const Closest found = closest(a, b);
        EXPECT_LE(found.distance, sampled + 1e-12);
        EXPECT_GE(found.distance, sampled - 2.0 / n);  // two cells of the sampling
        // The direction separates: every corner of b lies beyond every corner of a.
        double last = -1e300, first = 1e300;
        for (int k = 0; k < 3; ++k) {
            last = std::max(last, found.direction.dot(a[k]));
            first = std::min(first, found.direction.dot(b[k]));
        }
        EXPECT_NEAR(first - last, found.distance, 1e-9);
    }
}

// Whatever intersects at some sampled time must be reported; whatever is reported must come close.
TEST(SweepCells, NeverMissesWhatSamplingFinds) {
    Random random(11);
    int hits = 0, frees = 0;
    for (int round = 0; round < 3000; ++round) {
        const Corners a0 = random_cell(random, 0.4), b0 = random_cell(random, 0.4);
        const Corners a1 = random_cell(random, 0.4), b1 = random_cell(random, 0.4);
        if (cells_intersect(a0, b0)) continue;
        const auto at = [](const Corners& from, const Corners& to, double t) {
            return Corners{from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1]),
                           from[2] + t * (to[2] - from[2])};
        };
        bool sampled = false;
        for (int k = 1; k <= 60 && !sampled; ++k)
            sampled = cells_intersect(at(a0, a1, k / 60.0), at(b0, b1, k / 60.0));
        const SweepHit swept = sweep_cells(a0, a1, b0, b1);
        if (sampled) {
            EXPECT_TRUE(swept.hit);
            ++hits;
        }
        if (swept.hit)
            EXPECT_LT(closest(at(a0, a1, swept.at), at(b0, b1, swept.at)).distance,
                      1e-7);  // half the digits: nearly parallel edges
        else
            ++frees;
    }
    EXPECT_GT(hits, 100);
    EXPECT_GT(frees, 100);
}

TEST(SweepCells, CloseCellsWithNearlyParallelEdgesAreFree) {
    // A small face a micron above a large one, their diagonals over each other and almost parallel, both a little tilted:
    // closest points of the diagonals are lost to round-off.
    Random random(3);
    std::uniform_real_distribution<double> number(-1, 1);
    for (int trial = 0; trial < 2000; ++trial) {
        const double turn = 1e-6 * number(random), tilt = 3e-7 * number(random), lean = 3e-7 * number(random);
        const auto place = [&](double x, double z, double height, double by) {
            return Vec3(x + by * turn * z, height + by * (tilt * x + lean * z), z - by * turn * x);
        };
        const Corners large{Vec3(-5, 7, -5), Vec3(5, 7, 5), Vec3(5, 7, -5)};
        const auto small = [&](double height, double by) {
            return Corners{place(-0.5, -0.5, height, by), place(0.5, 0.5, height, by),
                           place(-0.5, 0.5, height, by)};
        };
        EXPECT_FALSE(sweep_cells(large, large, small(7 + 1.6e-6, 0.0), small(7 + 1.2e-6, 1.0)).hit) << trial;
    }
}

TEST(SweepCells, SlidesAndGrazesAreFree) {
    const Corners flat{Vec3(-5, 0, -5), Vec3(5, 0, -5), Vec3(0, 0, 5)};
    Corners above{Vec3(-1, 1e-9, 0), Vec3(-0.5, 1e-9, 0.1), Vec3(-0.7, 1e-9, 0.5)}, after = above;
    for (Vec3& corner : after) corner.x() += 1.5;
    EXPECT_FALSE(sweep_cells(flat, flat, above, after).hit);
    for (Vec3& corner : after) corner.y() = -1e-9;
    EXPECT_TRUE(sweep_cells(flat, flat, above, after).hit);
    // A point passes through the middle of a triangle in one step.
    const Corners from{Vec3(0, 3, 0), Vec3(0, 3, 0), Vec3(0, 3, 0)},
        to{Vec3(0, -3, 0), Vec3(0, -3, 0), Vec3(0, -3, 0)};
    const SweepHit through = sweep_cells(flat, flat, from, to);
    EXPECT_TRUE(through.hit);
    EXPECT_NEAR(through.at, 0.5, 1e-9);
}

TEST(Surfaces, PairTestEqualsBruteForce) {
    Random random(3);
    srand(5);
    Mesh mesh;
    for (int i = 0; i < 120; ++i) {
        const Corners cell = random_cell(random, 0.15);
        for (int k = 0; k < 3; ++k) mesh.vertices.push_back(cell[k]);
        mesh.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
    }
    const Surface surface = make_surface(mesh.vertices, mesh, false);
    int hits = 0;
    for (int round = 0; round < 30; ++round) {
        Placed a, b;
        a.surface = b.surface = &surface;
        a.q = random_pose(random, 1.2);
        b.q = random_pose(random, 1.2);
        bool brute = false;
        for (int i = 0; i < 120 && !brute; ++i)
            for (int j = 0; j < 120 && !brute; ++j) brute = cells_intersect(a.corners(i), b.corners(j));
        int i = -1, j = -1;
        EXPECT_EQ(surfaces_intersect(a, b, i, j), brute);
        if (brute) {
            ++hits;
            EXPECT_TRUE(cells_intersect(a.corners(i), b.corners(j)));
        }
    }
    EXPECT_GT(hits, 3);
    EXPECT_LT(hits, 30);
}

TEST(Surfaces, OverlappingBoxesEqualBruteForce) {
    Random random(9);
    std::vector<Box3> boxes(400);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        if (i % 50 == 7) continue;  // an empty box
        const Vec3 at = random_point(random, 3.0);
        boxes[i].add(at);
        boxes[i].add(Vec3(at + random_point(random, 1.0).cwiseAbs()));
    }
    boxes[1] = boxes[2];  // equal ones
    std::vector<std::array<int, 2>> brute;
    for (int i = 0; i < 400; ++i)
        for (int j = i + 1; j < 400; ++j)
            if (!boxes[i].empty() && !boxes[j].empty() && boxes[i].overlaps(boxes[j]))
                brute.push_back({i, j});
    EXPECT_EQ(overlapping_pairs(boxes), brute);
    EXPECT_GT(brute.size(), 50u);
}

TEST(Surfaces, ContainmentOfABox) {
    Random random(13);
    const Vec3 half(0.5, 0.3, 0.8);
    const Mesh mesh = box_mesh(half);
    const Surface surface = make_surface(mesh.vertices, mesh, true);
    Placed box;
    box.surface = &surface;
    box.q = to_matrix({Vec3(1, 2, 3), Quat(0.5, -0.1, 0.7, 0.2).normalized()});
    for (int round = 0; round < 500; ++round) {
        const Vec3 local = random_point(random, 1.0);
        const bool inside = (local.cwiseAbs().array() < half.array()).all();
        EXPECT_EQ(contains(box, transform(box.q, local)), inside);
    }
    box.q = to_matrix(Pose{});
    EXPECT_TRUE(contains(box, Vec3::Zero()));  // rays through edges are turned until they are not
}

// Elastic cells that end one to 1e7 units in the last place before or behind each other: far from the origin their gap along
// an axis is known no better than that, and may not stand for the exact test.
TEST(PathSweep, ElasticCellsFarFromTheOrigin) {
    for (const double far : {0.0, 1e3, 1e5}) {
        Random random(31);
        Mesh mesh;
        mesh.vertices = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
        mesh.triangles = {{0, 1, 2}};
        BodySet bodies;
        bodies.surfaces = {make_surface(mesh.vertices, mesh, false)};
        bodies.surface_of = {0, 0};
        const Vec3 origin = far * Vec3(0.6, -0.7, 0.8);
        const double unit = 2e-16 * std::max(1.0, far);
        int hits = 0, misses = 0;
        for (int round = 0; round < 400; ++round) {
            const Mat3 turn =
                Quat(random_point(random, 1).x(), random_point(random, 1).x(), random_point(random, 1).y(), 1)
                    .normalized()
                    .toRotationMatrix();
            // a lies in z = 0; a corner of b comes down on its middle from `height`
            const auto at = [&](double height) {
                std::vector<std::vector<Vec3>> x{
                    {Vec3(-1, -1, 0), Vec3(2, -1, 0), Vec3(-1, 2, 0)},
                    {Vec3(0, 0, height), Vec3(1, 0, height + 1), Vec3(0, 1, height + 1)}};
                for (auto& body : x)
                    for (Vec3& corner : body) corner = origin + turn * corner;
                return x;
            };
            const double end =
                unit * (random() % 2 == 0 ? 1 : -1) * std::pow(10.0, static_cast<int>(random() % 8));
            PathSweep path;
            std::vector<std::vector<Vec3>> x = at(3e-4);
            for (const double height : {2e-4, 1e-4, end}) {
                std::vector<std::vector<Vec3>> next = at(height);
                const Placement from(bodies, {}, x), to(bodies, {}, next);
                const bool exact = sweep(from[0], to[0], from[1], to[1]).hit;
                EXPECT_EQ(path.advance(from, to, {{0, 1}})[0].hit, exact)
                    << far << " " << height << " " << round;
                if (height == end) (exact ? hits : misses) += 1;
                x = std::move(next);
            }
        }
        EXPECT_GT(hits, 40);
        EXPECT_GT(misses, 40);
    }
}

// A path in long and short pieces, through and past each other: the pairs that are skipped are those that do not hit.
TEST(PathSweep, FindsWhatSweepingEveryPieceFinds) {
    Random random(23);
    srand(11);
    Mesh mesh;
    for (int i = 0; i < 60; ++i) {
        const Corners cell = random_cell(random, 0.1);
        for (int k = 0; k < 3; ++k) mesh.vertices.push_back(cell[k]);
        mesh.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
    }
    BodySet bodies;
    bodies.surfaces = {make_surface(mesh.vertices, mesh, false)};
    bodies.surface_of = {0, 0, 0};
    bodies.rigid = 3;
    const std::vector<std::array<int, 2>> pairs{{0, 1}, {0, 2}, {1, 2}};
    int hits = 0;
    long skipped = 0;
    for (int round = 0; round < 12; ++round) {
        std::vector<Mat34> q(3);
        for (Mat34& pose : q) pose = random_pose(random, 2.5);
        PathSweep path;
        for (int piece = 0; piece < 60; ++piece) {
            std::vector<Mat34> next = q;
            const double size = piece % 10 == 0 ? 0.05 : 1e-4;
            for (std::size_t i = 0; i < 3; ++i) {
                next[i].leftCols<3>() += size * 0.3 * Mat3::Random();
                next[i].col(3) += random_point(random, size) - size * q[i].col(3);  // towards the middle
            }
            const Placement from(bodies, q, {}), to(bodies, next, {});
            const std::vector<SweepHit> found = path.advance(from, to, pairs);
            for (std::size_t k = 0; k < pairs.size(); ++k) {
                const auto [a, b] = pairs[k];
                EXPECT_EQ(found[k].hit, sweep(from[a], to[a], from[b], to[b]).hit);
                hits += found[k].hit;
            }
            q = next;
        }
        skipped += path.skipped();
    }
    EXPECT_GT(hits, 10);
    EXPECT_GT(skipped, 12 * 60);
}

TEST(Surfaces, KeptApartOnlyWhenTheyAre) {
    Random random(17);
    srand(3);
    const Mesh mesh = box_mesh(Vec3(0.3, 0.4, 0.5));
    const Surface surface = make_surface(mesh.vertices, mesh, true);
    int apart = 0, hits = 0;
    for (int round = 0; round < 2000; ++round) {
        Placed a0, a1, b0, b1;
        for (Placed* placed : {&a0, &a1, &b0, &b1}) {
            placed->surface = &surface;
            placed->q = random_pose(random, 1.5);
        }
        if (!kept_apart(a0, a1, b0, b1)) continue;
        ++apart;
        for (int i = 0; i < 12; ++i)
            for (int j = 0; j < 12; ++j)
                hits += sweep_cells(a0.corners(i), a1.corners(i), b0.corners(j), b1.corners(j)).hit;
    }
    EXPECT_GT(apart, 50);
    EXPECT_EQ(hits, 0);
}

}  // namespace
}  // namespace tenon::verify

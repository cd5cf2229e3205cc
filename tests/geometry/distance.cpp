#include "geometry/distance.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <set>

namespace tenon::geometry {
namespace {

using Four = std::array<Vec3, 4>;
using Closer = std::function<Closest(const Four&)>;

Closest point_point(const Four& x) {
    return closest_point_point(x[0], x[1]);
}
Closest point_edge(const Four& x) {
    return closest_point_edge(x[0], x[1], x[2]);
}
Closest point_triangle(const Four& x) {
    return closest_point_triangle(x[0], x[1], x[2], x[3]);
}
Closest edge_edge(const Four& x) {
    return closest_edge_edge(x[0], x[1], x[2], x[3]);
}

// Independent oracle: minimise |sum w x|^2 over a grid of both parameters, refined around its best cell.
double sampled_squared_distance(const Four& x, const std::string& kind) {
    double s0 = 0, s1 = 1, t0 = 0, t1 = 1, best = 1e300;
    for (int level = 0; level < 30; ++level) {
        double bs = 0, bt = 0;
        const double ds = (s1 - s0) / 8, dt = (t1 - t0) / 8;
        for (int i = 0; i <= 8; ++i) {
            for (int j = 0; j <= 8; ++j) {
                const double s = s0 + i * ds, t = t0 + j * dt;
                Vec3 r;
                if (kind == "pe") r = x[0] - ((1 - s) * x[1] + s * x[2]);
                // (s, t) -> triangle by collapsing one side: t (1 - s), t s
                if (kind == "pt") r = x[0] - ((1 - t) * x[1] + t * ((1 - s) * x[2] + s * x[3]));
                if (kind == "ee") r = (1 - s) * x[0] + s * x[1] - (1 - t) * x[2] - t * x[3];
                if (r.squaredNorm() < best || (i == 0 && j == 0)) bs = s, bt = t, best = r.squaredNorm();
            }
        }
        s0 = std::max(0.0, bs - 2 * ds), s1 = std::min(1.0, bs + 2 * ds);
        t0 = std::max(0.0, bt - 2 * dt), t1 = std::min(1.0, bt + 2 * dt);
    }
    return best;
}

struct Differences {
    Vec12 gradient = Vec12::Zero();
    Mat12 hessian = Mat12::Zero();
};

// Fourth-order central differences: of d^2 for the gradient, of the gradient for the Hessian.
Differences differentiate(const std::function<double(const Four&)>& value,
                          const std::function<Vec12(const Four&)>& gradient, const Four& x, double h) {
    Differences result;
    for (int i = 0; i < 12; ++i) {
        auto at = [&](double step) {
            Four y = x;
            y[i / 3][i % 3] += step;
            return y;
        };
        result.gradient[i] =
            (8 * (value(at(h)) - value(at(-h))) - (value(at(2 * h)) - value(at(-2 * h)))) / (12 * h);
        result.hessian.col(i) =
            (8 * (gradient(at(h)) - gradient(at(-h))) - (gradient(at(2 * h)) - gradient(at(-2 * h)))) /
            (12 * h);
    }
    return result;
}

// The sub-case must not change within the stencil: its identity is (sub_case, active).
bool same_sub_case_around(const Closer& closer, const Four& x, double h) {
    const Closest here = closer(x);
    for (int i = 0; i < 12; ++i) {
        for (double step : {-3 * h, 3 * h}) {
            Four y = x;
            y[i / 3][i % 3] += step;
            const Closest there = closer(y);
            if (there.sub_case != here.sub_case || there.active != here.active) return false;
        }
    }
    return true;
}

void check_weights(const Closest& c, const Four& x) {
    double first = 0, second = 0;
    Vec3 r = Vec3::Zero();
    for (int i = 0; i < c.vertices; ++i) {
        (i < c.first_side ? first : second) += c.weight[i];
        EXPECT_GE((i < c.first_side ? 1 : -1) * c.weight[i], 0.0);
        if (!c.takes_part(i)) {
            EXPECT_EQ(c.weight[i], 0.0);
        }
        r += c.weight[i] * x[i];
    }
    EXPECT_NEAR(first, 1.0, 1e-14);
    EXPECT_NEAR(second, -1.0, 1e-14);
    EXPECT_NEAR((r - c.difference).norm(), 0.0, 1e-13 * (1 + r.norm()));
    EXPECT_NEAR(c.squared, c.difference.squaredNorm(), 1e-15 * c.squared);
}

// Random vertices until every sub-case named by `wanted` activity masks was seen `each` times.
void check_kind(const Closer& closer, const std::string& kind, const std::set<int>& wanted, int vertices) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::map<int, int> seen;
    const double h = 1e-4;
    int total = 0;
    for (int trial = 0; trial < 20000 && total < 20 * static_cast<int>(wanted.size()); ++trial) {
        Four x;
        for (Vec3& point : x) point = Vec3(uniform(random), uniform(random), uniform(random));
        const Closest c = closer(x);
        if (seen[c.active] >= 20 || !same_sub_case_around(closer, x, h)) continue;
        ASSERT_TRUE(wanted.count(c.active)) << "unknown sub-case " << int(c.active);
        // Slivers and nearly parallel edges have honest, but large, higher derivatives.
        if (c.sub_case == SubCase::edge_edge && (x[1] - x[0]).cross(x[3] - x[2]).norm() < 0.2) continue;
        if (c.sub_case == SubCase::point_triangle && (x[2] - x[1]).cross(x[3] - x[1]).norm() < 0.2) continue;
        ++seen[c.active];
        ++total;
        check_weights(c, x);
        if (kind != "pp") {
            EXPECT_NEAR(c.squared, sampled_squared_distance(x, kind), 1e-9);
        }
        const Differences fd = differentiate([&](const Four& y) { return closer(y).squared; },
                                             [&](const Four& y) { return gradient(closer(y)); }, x, h);
        EXPECT_LT((fd.gradient - gradient(c)).norm(), 1e-9 * (1 + fd.gradient.norm()));
        EXPECT_LT((fd.hessian - hessian(c, x)).norm(), 1e-7 * (1 + fd.hessian.norm()))
            << kind << " " << int(c.active);
        for (int i = 3 * vertices; i < 12; ++i) EXPECT_EQ(hessian(c, x).col(i).norm(), 0.0);
    }
    for (int mask : wanted) EXPECT_GE(seen[mask], 20) << kind << " sub-case " << mask;
}

TEST(Distance, PointPointDerivatives) {
    check_kind(point_point, "pp", {0b11}, 2);
}

TEST(Distance, PointEdgeDerivatives) {
    check_kind(point_edge, "pe", {0b011, 0b101, 0b111}, 3);
}

TEST(Distance, PointTriangleDerivatives) {
    check_kind(point_triangle, "pt", {0b0011, 0b0101, 0b1001, 0b0111, 0b1101, 0b1011, 0b1111}, 4);
}

TEST(Distance, EdgeEdgeDerivatives) {
    check_kind(edge_edge, "ee", {0b0101, 0b1001, 0b0110, 0b1010, 0b1101, 0b1110, 0b0111, 0b1011, 0b1111}, 4);
}

TEST(Distance, HandMadeValues) {
    const Vec3 t0(0, 0, 0), t1(1, 0, 0), t2(0, 1, 0);
    EXPECT_DOUBLE_EQ(closest_point_triangle({0.25, 0.25, 2}, t0, t1, t2).squared, 4.0);
    EXPECT_DOUBLE_EQ(closest_point_triangle({-3, 0, 4}, t0, t1, t2).squared, 25.0);
    EXPECT_NEAR(closest_point_triangle({1, 1, 0}, t0, t1, t2).squared, 0.5, 1e-15);
    // Crossing edges one above the other.
    const Closest cross = closest_edge_edge({-1, 0, 0}, {1, 0, 0}, {0, -1, 3}, {0, 1, 3});
    EXPECT_EQ(cross.sub_case, SubCase::edge_edge);
    EXPECT_DOUBLE_EQ(cross.squared, 9.0);
    EXPECT_EQ(cross.difference, Vec3(0, 0, -3));
}

TEST(Distance, ParallelEdges) {
    // Side by side, shifted along the axis by less and more than their length; equal, anti-parallel and collinear.
    for (double shift : {-2.5, -0.5, 0.0, 0.3, 1.0, 1.7}) {
        for (double sign : {1.0, -1.0}) {
            for (double height : {0.0, 1e-6, 0.5}) {
                const double b0 = sign > 0 ? shift : shift + 1, b1 = sign > 0 ? shift + 1 : shift;
                const Four x{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(b0, height, 0), Vec3(b1, height, 0)};
                const Closest c = edge_edge(x);
                const double along = std::max({0.0, shift - 1.0, -1.0 - shift});
                EXPECT_NEAR(c.squared, along * along + height * height, 1e-15);
                EXPECT_NE(c.sub_case, SubCase::edge_edge);
                check_weights(c, x);
                EXPECT_TRUE(hessian(c, x).allFinite());
            }
        }
    }
}

TEST(Distance, NearlyParallelEdgesAreContinuous) {
    // Turning one edge through parallel: d^2 stays height^2 while they cross, whatever the angle.
    for (double angle = 1e-1; angle > 1e-14; angle *= 0.3) {
        const Vec3 d(std::cos(angle), 0, std::sin(angle));
        const Vec3 b0 = Vec3(0.5, 0.25, 0) - 0.4 * d, b1 = Vec3(0.5, 0.25, 0) + 0.4 * d;
        const Closest c = closest_edge_edge({0, 0, 0}, {1, 0, 0}, b0, b1);
        EXPECT_NEAR(c.squared, 0.0625, 1e-14) << angle;
        EXPECT_TRUE(hessian(c, {Vec3(0, 0, 0), Vec3(1, 0, 0), b0, b1}).allFinite());
        EXPECT_EQ(c.squared, squared_distance_edge_edge({0, 0, 0}, {1, 0, 0}, b0, b1));
    }
}

TEST(Distance, SliversAreAccurate) {
    // Triangles of length 100 and width 2 w, a point above the middle: d = height to round-off of the length, however thin.
    for (double width = 1e-2; width > 1e-18; width *= 0.1) {
        for (double height : {1e-3, 1e-7, 1e-11}) {
            const Mat3 turn = Quat(0.3, 0.5, -0.2, 0.7).normalized().toRotationMatrix();
            const Vec3 t0(-60, 0, 0), t1(40, width, 0), t2(40, -width, 0), p(0.3, 0.1 * width, height);
            const double expected = height * height;
            for (const Closest& c : {closest_point_triangle(turn * p, turn * t0, turn * t1, turn * t2),
                                     closest_point_triangle(turn * p, turn * t2, turn * t0, turn * t1)})
                EXPECT_NEAR(std::sqrt(c.squared), std::sqrt(expected), 1e-13) << width;
        }
    }
}

TEST(Distance, DegeneratePrimitives) {
    const Vec3 p(1, 2, 3), o(0, 0, 0), x(2, 0, 0);
    const double to_o = p.squaredNorm();
    EXPECT_DOUBLE_EQ(closest_point_edge(p, o, o).squared, to_o);
    EXPECT_DOUBLE_EQ(closest_point_triangle(p, o, o, o).squared, to_o);
    EXPECT_DOUBLE_EQ(closest_point_triangle(p, o, x, 0.3 * x).squared, 13.0);  // a line along x
    EXPECT_DOUBLE_EQ(closest_point_triangle(p, x, x, o).squared, 13.0);
    EXPECT_DOUBLE_EQ(closest_edge_edge(p, p, o, o).squared, to_o);
    EXPECT_DOUBLE_EQ(closest_edge_edge(p, p, o, x).squared, 13.0);
    EXPECT_DOUBLE_EQ(closest_edge_edge(o, x, p, p).squared, 13.0);
    EXPECT_EQ(closest_point_triangle(o, o, x, p).squared, 0.0);
    for (const Closest& c : {closest_edge_edge(p, p, o, o), closest_point_triangle(p, o, o, o)}) {
        EXPECT_TRUE(std::isfinite(c.weight[0] + c.weight[1] + c.weight[2] + c.weight[3]));
        EXPECT_TRUE(hessian(c, {p, p, o, o}).allFinite());
    }
}

TEST(Distance, ValueOnlyFunctionsAgree) {
    std::mt19937 random(11);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 2000; ++trial) {
        Four x;
        for (Vec3& point : x) point = Vec3(normal(random), normal(random), normal(random));
        EXPECT_EQ(squared_distance_point_edge(x[0], x[1], x[2]), point_edge(x).squared);
        EXPECT_EQ(squared_distance_point_triangle(x[0], x[1], x[2], x[3]), point_triangle(x).squared);
        EXPECT_EQ(squared_distance_edge_edge(x[0], x[1], x[2], x[3]), edge_edge(x).squared);
    }
}

TEST(Distance, CurvatureFactorsTheHessian) {
    // H = 2 (w w^T) (x) I - sum scale u u^T, assembled with plain outer products.
    std::mt19937 random(13);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 200; ++trial) {
        Four x;
        for (Vec3& point : x) point = Vec3(normal(random), normal(random), normal(random));
        for (const Closest& c : {point_triangle(x), edge_edge(x)}) {
            const Curvature factors = curvature(c, x);
            Mat12 h = Mat12::Zero();
            for (int k = 0; k < factors.count; ++k) {
                Vec12 u;
                for (int i = 0; i < 4; ++i) u.segment<3>(3 * i) = factors.direction[k][i];
                h -= factors.scale[k] * u * u.transpose();
            }
            for (int i = 0; i < 12; ++i)
                for (int j = i % 3; j < 12; j += 3) h(i, j) += 2 * c.weight[i / 3] * c.weight[j / 3];
            EXPECT_LT((h - hessian(c, x)).norm(), 1e-12 * (1 + h.norm()));
        }
    }
}

TEST(Mollifier, DerivativesAndShape) {
    std::mt19937 random(17);
    std::normal_distribution<double> normal;
    int active = 0;
    for (int trial = 0; trial < 200; ++trial) {
        Four x;
        for (Vec3& point : x) point = Vec3(normal(random), normal(random), normal(random));
        x[3] = x[2] + (x[1] - x[0]) + 0.3 * Vec3(normal(random), normal(random), normal(random));
        const double threshold = 0.1 * (x[1] - x[0]).squaredNorm() * (x[3] - x[2]).squaredNorm();
        const Mollifier m = mollifier(x[0], x[1], x[2], x[3], threshold);
        EXPECT_EQ(m.value, mollifier_value(x[1] - x[0], x[3] - x[2], threshold));
        EXPECT_GE(m.value, 0.0);
        EXPECT_LE(m.value, 1.0);
        const double c = (x[1] - x[0]).cross(x[3] - x[2]).squaredNorm();
        if (c > 0.9 * threshold && c < 1.1 * threshold) continue;  // a kink in the second derivative
        active += m.active;
        auto flat = [&](const Four& y) {
            const Mollifier there = mollifier(y[0], y[1], y[2], y[3], threshold);
            Vec12 g;
            for (int i = 0; i < 4; ++i) g.segment<3>(3 * i) = there.gradient[i];
            return g;
        };
        auto value = [&](const Four& y) { return mollifier_value(y[1] - y[0], y[3] - y[2], threshold); };
        const Differences fd = differentiate(value, flat, x, 1e-4);
        EXPECT_LT((fd.gradient - flat(x)).norm(), 1e-7 * (1 + fd.gradient.norm()));
        const Mat12 h = mollifier_hessian(x[0], x[1], x[2], x[3], threshold);
        EXPECT_LT((fd.hessian - h).norm(), 1e-7 * (1 + fd.hessian.norm()));
    }
    EXPECT_GT(active, 50);
}

TEST(Mollifier, ZeroWhenParallelOneWhenNot) {
    const double threshold = mollifier_threshold(1.0, 4.0);
    EXPECT_DOUBLE_EQ(threshold, 4e-3);
    EXPECT_EQ(mollifier_value({1, 0, 0}, {2, 0, 0}, threshold), 0.0);
    EXPECT_EQ(mollifier_value({1, 0, 0}, {0, 2, 0}, threshold), 1.0);
    EXPECT_FALSE(mollifier({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 3, 0}, threshold).active);
    // Half way in c: m = (2 - 1/2) / 2 = 3/4, with |u x v|^2 = threshold / 2.
    const double y = std::sqrt(threshold / 2.0);
    EXPECT_NEAR(mollifier_value({1, 0, 0}, {1, y, 0}, threshold), 0.75, 1e-14);
}

TEST(Mollifier, MollifiedBarrierIsSmoothThroughParallel) {
    // The product m * f(d^2) has a vanishing gradient at parallel edges, where d^2 alone has a kink.
    const double threshold = mollifier_threshold(1.0, 1.0);
    auto product = [&](double angle) {
        const Vec3 d(std::cos(angle), std::sin(angle), 0), b0(0.2, 0, 0.1);
        const Vec3 b1 = b0 + d;
        return mollifier_value({1, 0, 0}, b1 - b0, threshold) *
               closest_edge_edge({0, 0, 0}, {1, 0, 0}, b0, b1).squared;
    };
    const double h = 1e-4;
    EXPECT_NEAR((product(h) - product(-h)) / (2 * h), 0.0, 1e-9);
    EXPECT_NEAR((product(h) - product(0)) / h, 0.0, 0.01 * 2 * h / threshold);
}

}  // namespace
}  // namespace tenon::geometry

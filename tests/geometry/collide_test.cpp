#include "geometry/collide/collide.hpp"

#include <random>

#include <gtest/gtest.h>

#include "geometry/collide/convex.hpp"
#include "geometry/shapes.hpp"
#include "tenon/builtin.hpp"
#include "tenon/model.hpp"

namespace tenon::geometry::collide {
namespace {

Collider primitive(Collider::Kind kind, const Vec3& half) {
    Collider c;
    c.kind = kind;
    c.half = half;
    c.radius = kind == Collider::Kind::box      ? half.norm()
               : kind == Collider::Kind::sphere ? half.x()
                                                : half.x() + half.y();
    return c;
}

Collider cube_hull() {
    // The convex hull collider of a 1 x 1 x 1 box mesh: must act like the box primitive.
    Scene scene;
    GeometrySpec geometry;
    for (int i = 0; i < 8; ++i)
        geometry.vertices.push_back(Vec3(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5));
    geometry.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                          {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    BodySpec body;
    body.name = "cube";
    body.geometry = 0;
    scene.geometries = {geometry};
    scene.bodies = {body};
    const Model model = compile(scene);
    return make_collider(*model.shapes[0], false, {}, {});
}

Mat3 turn(double x, double y, double z) {
    return Quat(1, x, y, z).normalized().toRotationMatrix();
}

const Mat3 upright = Mat3::Identity();

ContactList contacts(const Collider& a, const Vec3& ta, const Collider& b, const Vec3& tb,
                     double margin = 0.01, const Mat3& Ra = upright, const Mat3& Rb = upright) {
    ContactList list;
    find_contacts(a, Ra, ta, b, Rb, tb, margin, list);
    return list;
}

void expect_square(const ContactList& list, double side, double height, double distance) {
    ASSERT_EQ(list.size(), 4u);
    double sum_x = 0, sum_z = 0;
    for (const PairContact& c : list) {
        EXPECT_NEAR(std::abs(c.point.x()), side / 2, 1e-9);
        EXPECT_NEAR(std::abs(c.point.z()), side / 2, 1e-9);
        EXPECT_NEAR(c.point.y(), height, 1e-9);
        EXPECT_NEAR(c.distance, distance, 1e-9);
        EXPECT_LT((c.normal - Vec3::UnitY()).norm(), 1e-9);
        sum_x += c.point.x();
        sum_z += c.point.z();
    }
    EXPECT_NEAR(sum_x, 0, 1e-9);  // four different corners
    EXPECT_NEAR(sum_z, 0, 1e-9);
}

TEST(Collide, StackedBoxesTouchAtFourCorners) {
    const Collider big = primitive(Collider::Kind::box, Vec3(1, 0.5, 1)),
                   small = primitive(Collider::Kind::box, Vec3(0.3, 0.2, 0.3));
    expect_square(contacts(big, Vec3::Zero(), small, Vec3(0, 0.699, 0)), 0.6, 0.4995, -0.001);
    expect_square(contacts(big, Vec3::Zero(), small, Vec3(0, 0.705, 0)), 0.6, 0.5025, 0.005);
    EXPECT_TRUE(contacts(big, Vec3::Zero(), small, Vec3(0, 0.72, 0)).empty());
}

TEST(Collide, HullsActLikeBoxes) {
    const Collider hull = cube_hull();
    ASSERT_EQ(hull.kind, Collider::Kind::hull);
    EXPECT_EQ(hull.hull.faces.size(), 6u);
    expect_square(contacts(hull, Vec3::Zero(), hull, Vec3(0, 0.999, 0)), 1.0, 0.4995, -0.001);
    expect_square(contacts(hull, Vec3::Zero(), hull, Vec3(0, 1.004, 0)), 1.0, 0.502, 0.004);
    const Collider plane = primitive(Collider::Kind::plane, Vec3::Zero());
    expect_square(contacts(plane, Vec3::Zero(), hull, Vec3(0, 0.5, 0)), 1.0, 0, 0);
}

TEST(Collide, OrderOfThePairOnlyFlipsNormals) {
    std::mt19937 random(8);
    std::uniform_real_distribution<double> uniform(-1, 1);
    using Kind = Collider::Kind;
    const std::vector<Collider> all = {
        primitive(Kind::sphere, Vec3(0.4, 0, 0)),  primitive(Kind::capsule, Vec3(0.2, 0.4, 0)),
        primitive(Kind::box, Vec3(0.3, 0.4, 0.5)), primitive(Kind::cylinder, Vec3(0.3, 0.4, 0)),
        primitive(Kind::cone, Vec3(0.4, 0.4, 0)),  cube_hull(),
        primitive(Kind::plane, Vec3::Zero())};
    for (int trial = 0; trial < 300; ++trial) {
        const Collider &a = all[trial % 7], &b = all[trial / 7 % 7];
        const Mat3 Ra = turn(uniform(random), uniform(random), uniform(random)),
                   Rb = turn(uniform(random), uniform(random), uniform(random));
        const Vec3 tb = 0.6 * Vec3(uniform(random), uniform(random), uniform(random));
        const ContactList forward = contacts(a, Vec3::Zero(), b, tb, 0.02, Ra, Rb);
        const ContactList backward = contacts(b, tb, a, Vec3::Zero(), 0.02, Rb, Ra);
        ASSERT_EQ(forward.empty(), backward.empty()) << trial;
        if (forward.empty()) continue;
        auto deepest = [](const ContactList& list) {
            return *std::min_element(list.begin(), list.end(),
                                     [](auto& x, auto& y) { return x.distance < y.distance; });
        };
        const PairContact f = deepest(forward), r = deepest(backward);
        // boxes prefer the first body's faces by a hair: 2 % of the smallest half length
        EXPECT_NEAR(f.distance, r.distance, 0.015) << trial;
        for (const PairContact& c : forward) {
            EXPECT_NEAR(c.normal.norm(), 1, 1e-9);
            EXPECT_TRUE(c.point.allFinite());
        }
    }
}

double shadow_overlap(const Collider& a, const Placement& pa, const Collider& b, const Placement& pb,
                      const Vec3& n) {
    return n.dot(pa.to_world(core_support(a, pa.R.transpose() * n))) -
           n.dot(pb.to_world(core_support(b, pb.R.transpose() * -n))) + a.core_radius() + b.core_radius();
}

// Depth of penetration by its definition: the least overlap of the shadows over all directions.
double depth_by_search(const Collider& a, const Placement& pa, const Collider& b, const Placement& pb) {
    auto overlap = [&](const Vec3& n) { return shadow_overlap(a, pa, b, pb, n); };
    double best = 1e300;
    Vec3 at = Vec3::UnitX();
    const int rings = 60;
    for (int i = 0; i <= rings; ++i)
        for (int j = 0; j < 2 * rings; ++j) {
            const double t = M_PI * i / rings, p = M_PI * j / rings;
            const Vec3 n(std::sin(t) * std::cos(p), std::cos(t), std::sin(t) * std::sin(p));
            if (const double o = overlap(n); o < best) {
                best = o;
                at = n;
            }
        }
    // refine by random steps of shrinking size around the best direction
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    for (double step = 0.05; step > 1e-6; step *= 0.97) {
        for (int k = 0; k < 4; ++k) {
            const Vec3 n = (at + step * Vec3(normal(random), normal(random), normal(random))).normalized();
            if (const double o = overlap(n); o < best) {
                best = o;
                at = n;
            }
        }
    }
    return best;
}

TEST(Collide, PenetrationIsTheLeastOverlapOfShadows) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform(-1, 1);
    using Kind = Collider::Kind;
    const std::vector<Collider> all = {
        primitive(Kind::box, Vec3(0.3, 0.4, 0.5)), primitive(Kind::cylinder, Vec3(0.3, 0.4, 0)),
        primitive(Kind::cone, Vec3(0.4, 0.4, 0)), cube_hull(), primitive(Kind::capsule, Vec3(0.2, 0.3, 0))};
    int overlapping = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const Collider &a = all[trial % 5], &b = all[trial / 5 % 5];
        const Placement pa{turn(uniform(random), uniform(random), uniform(random)), Vec3::Zero()};
        const Placement pb{turn(uniform(random), uniform(random), uniform(random)),
                           0.5 * Vec3(uniform(random), uniform(random), uniform(random))};
        ConvexGap gap;
        if (!convex_gap(a, pa, b, pb, 0.5, gap)) continue;
        const double depth = depth_by_search(a, pa, b, pb);
        overlapping += depth > 0;
        EXPECT_LE(-gap.distance, depth + 1e-7) << trial;  // no direction does better
        EXPECT_NEAR(-gap.distance, shadow_overlap(a, pa, b, pb, gap.normal), 1e-6) << trial;
        // the witnesses lie on the two surfaces, one gap apart along the normal
        EXPECT_NEAR((gap.on_b - gap.on_a).dot(gap.normal), gap.distance, 1e-6) << trial;
    }
    EXPECT_GT(overlapping, 20);
}

TEST(Collide, ShapesThatNearlyTouchHaveNoDeepContacts) {
    // Two support points put on each other along a direction, a known gap apart: that gap is the distance. Faces, rims
    // and edges meet flat, or off by as little as round-off.
    std::mt19937 random(21);
    std::uniform_real_distribution<double> uniform(-1, 1);
    auto vector = [&] { return Vec3(uniform(random), uniform(random), uniform(random)); };
    auto small = [&] { return std::pow(10.0, -1.0 - static_cast<double>(random() % 8)); };
    using Kind = Collider::Kind;
    const std::vector<Collider> all = {
        primitive(Kind::box, Vec3(0.3, 0.4, 0.5)),      primitive(Kind::cylinder, Vec3(0.3, 0.4, 0)),
        primitive(Kind::cone, Vec3(0.4, 0.4, 0)),       primitive(Kind::capsule, Vec3(0.2, 0.3, 0)),
        primitive(Kind::cylinder, Vec3(0.5, 0.02, 0)),  primitive(Kind::box, Vec3(2, 0.05, 2)),
        primitive(Kind::cylinder, Vec3(0.2, 0.5, 0.0)), cube_hull()};
    auto orientation = [&]() -> Mat3 {
        const Vec3 axis = Vec3::Unit(random() % 3);
        switch (random() % 4) {
            case 0:
                return Mat3::Identity();
            case 1:
                return Quat(Eigen::AngleAxisd(0.5 * M_PI * (random() % 4), axis)).toRotationMatrix();
            case 2:
                return Quat(Eigen::AngleAxisd(uniform(random) * small(), axis)).toRotationMatrix();
            default:
                return turn(uniform(random), uniform(random), uniform(random));
        }
    };
    const double gaps[] = {0, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3};
    for (int trial = 0; trial < 20000; ++trial) {
        const Collider &a = all[random() % all.size()], &b = all[random() % all.size()];
        const Placement pa{orientation(), Vec3::Zero()};
        Placement pb{orientation(), Vec3::Zero()};
        Vec3 d = vector().normalized();
        if (random() % 3 == 0) d = pa.R.col(random() % 3);
        if (random() % 3 == 0) d = (-pb.R.col(random() % 3) + small() * vector()).normalized();
        const double gap = gaps[random() % std::size(gaps)] * (random() % 2 ? 1 : -1);
        pb.t = pa.R * core_support(a, pa.R.transpose() * d) - pb.R * core_support(b, pb.R.transpose() * -d) +
               (a.core_radius() + b.core_radius() + gap) * d;
        const ContactList list = contacts(a, Vec3::Zero(), b, pb.t, 0.02, pa.R, pb.R);
        ASSERT_FALSE(list.empty()) << trial;
        double deepest = 1e300;
        for (const PairContact& c : list) deepest = std::min(deepest, c.distance);
        EXPECT_GT(deepest, std::min(gap, 0.0) - 1e-3) << trial;
        EXPECT_LT(deepest, std::max(gap, 0.0) + 1e-3) << trial;  // another direction may overlap less
    }
}

TEST(Collide, DistancesOfRoundShapesMatchFormulas) {
    using Kind = Collider::Kind;
    const Collider ball = primitive(Kind::sphere, Vec3(0.5, 0, 0)),
                   cylinder = primitive(Kind::cylinder, Vec3(0.4, 1.0, 0));
    ConvexGap gap;
    ASSERT_TRUE(convex_gap(cylinder, {}, ball, {upright, Vec3(1.2, 0.3, 0)}, 1, gap));
    EXPECT_NEAR(gap.distance, 1.2 - 0.4 - 0.5, 1e-8);
    ASSERT_TRUE(convex_gap(cylinder, {}, ball, {upright, Vec3(0.8, 1.3, 0)}, 1, gap));
    EXPECT_NEAR(gap.distance, std::hypot(0.4, 0.3) - 0.5, 1e-8);  // to the rim
    const ContactList box_ball =
        contacts(primitive(Kind::box, Vec3(1, 1, 1)), Vec3::Zero(), ball, Vec3(1.3, 1.4, 0), 0.1);
    ASSERT_EQ(box_ball.size(), 1u);
    EXPECT_NEAR(box_ball[0].distance, 0.5 - 0.5, 1e-12);
    EXPECT_LT((box_ball[0].normal - Vec3(0.6, 0.8, 0)).norm(), 1e-12);
    EXPECT_LT((box_ball[0].point - Vec3(1, 1, 0)).norm(), 1e-12);
}

TEST(Collide, LyingCylinderTouchesAlongALine) {
    using Kind = Collider::Kind;
    const Mat3 lying = Quat(Eigen::AngleAxisd(M_PI / 2, Vec3::UnitX())).toRotationMatrix();
    const Collider cylinder = primitive(Kind::cylinder, Vec3(0.2, 0.5, 0));
    for (const Collider& ground :
         {primitive(Kind::plane, Vec3::Zero()), primitive(Kind::box, Vec3(2, 1, 2))}) {
        const double top = ground.kind == Kind::plane ? 0.0 : 1.0;
        const ContactList line =
            contacts(ground, Vec3::Zero(), cylinder, Vec3(0, top + 0.199, 0), 0.01, upright, lying);
        ASSERT_EQ(line.size(), 2u);
        for (const PairContact& c : line) {
            EXPECT_NEAR(std::abs(c.point.z()), 0.5, 1e-6);
            EXPECT_NEAR(c.distance, -0.001, 1e-6);
        }
    }
    // standing on its end it has a ring of contacts, reduced to four that surround the middle
    const ContactList ring =
        contacts(primitive(Kind::box, Vec3(2, 1, 2)), Vec3::Zero(), cylinder, Vec3(0, 1.499, 0));
    ASSERT_EQ(ring.size(), 4u);
    Vec3 sum = Vec3::Zero();
    for (const PairContact& c : ring) sum += c.point - Vec3(0, c.point.y(), 0);
    EXPECT_LT(sum.norm(), 0.2);
}

TEST(Collide, CrossedEdgesMeetInOnePoint) {
    // Two cubes turned 45 degrees about perpendicular axes: edge on edge, sqrt(2)/2 from each centre.
    const Collider cube = primitive(Collider::Kind::box, Vec3(0.5, 0.5, 0.5));
    const Mat3 about_z = Quat(Eigen::AngleAxisd(M_PI / 4, Vec3::UnitZ())).toRotationMatrix();
    const Mat3 about_x = Quat(Eigen::AngleAxisd(M_PI / 4, Vec3::UnitX())).toRotationMatrix();
    const ContactList list =
        contacts(cube, Vec3::Zero(), cube, Vec3(0.1, std::sqrt(2.0) - 0.003, -0.2), 0.01, about_z, about_x);
    ASSERT_EQ(list.size(), 1u);
    EXPECT_NEAR(list[0].distance, -0.003, 1e-9);
    EXPECT_LT((list[0].normal - Vec3::UnitY()).norm(), 1e-9);
    // a's edge runs along z at x = 0, b's along x at z = -0.2
    EXPECT_LT((list[0].point - Vec3(0, std::sqrt(0.5) - 0.0015, -0.2)).norm(), 1e-9);
}

TEST(Collide, IdsStayWhileBoxesSlide) {
    const Collider cube = primitive(Collider::Kind::box, Vec3(0.5, 0.5, 0.5));
    auto ids = [&](double x) {
        std::vector<std::uint32_t> list;
        for (const PairContact& c : contacts(cube, Vec3::Zero(), cube, Vec3(x, 0.999, 0.1)))
            list.push_back(c.id);
        std::sort(list.begin(), list.end());
        return list;
    };
    const auto first = ids(0.2);
    EXPECT_EQ(first.size(), 4u);
    EXPECT_EQ(std::adjacent_find(first.begin(), first.end()), first.end());  // all different
    for (double x : {0.21, 0.25, 0.3}) EXPECT_EQ(ids(x), first) << x;
}

TEST(Collide, MeshesMeetThroughSignedDistances) {
    // A torus lies on a box, and a ball sits in its hole.
    Scene scene;
    GeometrySpec torus;
    torus.shape = "torus";
    torus.shape_params =
        resolve_params(find_shape("torus")->parameters, {{"major", 0.5}, {"minor", 0.2}}, {});
    BodySpec body;
    body.name = "torus";
    body.geometry = 0;
    scene.geometries = {torus};
    scene.bodies = {body};
    const Model model = compile(scene);
    const Collider ring = make_collider(*model.shapes[0], true, {}, {});
    ASSERT_EQ(ring.kind, Collider::Kind::mesh);
    const Mat3 R = model.bodies.start_q[0].leftCols<3>();
    const Collider ground = primitive(Collider::Kind::box, Vec3(2, 1, 2));
    const ContactList flat = contacts(ground, Vec3::Zero(), ring, Vec3(0, 1.199, 0), 0.005, upright, R);
    ASSERT_GE(flat.size(), 3u);
    for (const PairContact& c : flat) {
        EXPECT_NEAR(c.distance, -0.001, 2e-3);
        EXPECT_GT(c.normal.y(), 0.99);
        EXPECT_NEAR(std::hypot(c.point.x(), c.point.z()), 0.5, 0.06);
    }
    // ball of radius 0.25 in the hole of radius 0.3, off centre: 0.05 into the tube
    const ContactList hole = contacts(ring, Vec3::Zero(), primitive(Collider::Kind::sphere, Vec3(0.25, 0, 0)),
                                      Vec3(0.1, 0, 0), 0.1, R, upright);
    ASSERT_EQ(hole.size(), 1u);
    EXPECT_NEAR(hole[0].distance, -0.05, 0.01);
    EXPECT_LT(hole[0].normal.x(), -0.9);
}

TEST(Collide, ReductionKeepsTheDeepestAndTheExtremes) {
    ContactList list;
    for (int i = 0; i < 20; ++i) {
        PairContact c;
        const double a = 2 * M_PI * i / 20;
        c.point = Vec3(std::cos(a), 0, std::sin(a));
        c.distance = i == 7 ? -0.01 : 0.0;
        c.id = static_cast<std::uint32_t>(i);
        list.push_back(c);
    }
    reduce(list, 0, false);
    ASSERT_EQ(list.size(), 4u);
    EXPECT_TRUE(std::any_of(list.begin(), list.end(), [](const PairContact& c) { return c.id == 7; }));
    double area = 0;  // shoelace over the kept points, in order of angle: near the square's 2
    for (int i = 0; i < 4; ++i) {
        const Vec3 &p = list[i].point, &q = list[(i + 1) % 4].point;
        area += 0.5 * (p.x() * q.z() - p.z() * q.x());
    }
    EXPECT_GT(std::abs(area), 1.5);
}

}  // namespace
}  // namespace tenon::geometry::collide

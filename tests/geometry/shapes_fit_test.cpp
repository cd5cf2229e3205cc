// Parts made to fit each other do: gears mesh, bolts turn in nuts, no shape cuts through itself.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "geometry/mass_properties.hpp"
#include "geometry/mesh_check.hpp"
#include "shape_support.hpp"

namespace tenon::geometry {
namespace {

// Whether the segment pq passes through the triangle abc; touching counts as no.
bool pierces(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c) {
    const auto volume = [](const Vec3& o, const Vec3& x, const Vec3& y, const Vec3& z) {
        return (x - o).dot((y - o).cross(z - o));
    };
    const double sp = volume(p, a, b, c), sq = volume(q, a, b, c);
    if (sp * sq >= 0.0) return false;
    const double s1 = volume(p, q, a, b), s2 = volume(p, q, b, c), s3 = volume(p, q, c, a);
    return (s1 > 0 && s2 > 0 && s3 > 0) || (s1 < 0 && s2 < 0 && s3 < 0);
}

Box3 box_of(const Mesh& mesh, const Triangle& t) {
    Box3 box;
    for (int v : t) box.add(mesh.vertices[v]);
    return box;
}

bool share_vertex(const Triangle& a, const Triangle& b) {
    return std::any_of(a.begin(), a.end(), [&](int v) { return v == b[0] || v == b[1] || v == b[2]; });
}

// Pairs of triangles that cross, found by sweeping along x. With `same`, a mesh against itself.
int crossings(const Mesh& first, const Mesh& second, bool same) {
    struct Item {
        Box3 box;
        int index;
        bool of_second;
    };
    std::vector<Item> items;
    for (std::size_t i = 0; i < first.triangles.size(); ++i)
        items.push_back({box_of(first, first.triangles[i]), static_cast<int>(i), false});
    for (std::size_t i = 0; i < second.triangles.size() && !same; ++i)
        items.push_back({box_of(second, second.triangles[i]), static_cast<int>(i), true});
    std::sort(items.begin(), items.end(),
              [](const Item& a, const Item& b) { return a.box.lo.x() < b.box.lo.x(); });
    int count = 0;
    const auto cuts = [](const Mesh& m, const Triangle& s, const Mesh& n, const Triangle& t) {
        for (int k = 0; k < 3; ++k)
            if (pierces(m.vertices[s[k]], m.vertices[s[(k + 1) % 3]], n.vertices[t[0]], n.vertices[t[1]],
                        n.vertices[t[2]]))
                return true;
        return false;
    };
    for (std::size_t i = 0; i < items.size(); ++i) {
        for (std::size_t j = i + 1; j < items.size() && items[j].box.lo.x() <= items[i].box.hi.x(); ++j) {
            if ((!same && items[i].of_second == items[j].of_second) || !items[i].box.overlaps(items[j].box))
                continue;
            const Mesh& m = items[i].of_second ? second : first;
            const Mesh& n = items[j].of_second ? second : first;
            const Triangle &s = m.triangles[items[i].index], &t = n.triangles[items[j].index];
            if (same && share_vertex(s, t)) continue;
            count += cuts(m, s, n, t) || cuts(n, t, m, s);
        }
    }
    return count;
}

Mesh turned(Mesh mesh, const Vec3& axis, double angle, const Vec3& by) {
    const Mat3 rotation = Eigen::AngleAxisd(angle, axis).toRotationMatrix();
    for (Vec3& v : mesh.vertices) v = rotation * v + by;
    return mesh;
}

TEST(ShapesFit, NoShapeCutsItself) {
    for (const ShapeInfo& shape : all_shapes()) {
        const Mesh mesh = make_shape(shape.name);
        EXPECT_EQ(crossings(mesh, mesh, true), 0) << shape.name;
    }
}

TEST(ShapesFit, CrossingsAreSeen) {
    const Mesh box = make_shape("box");
    EXPECT_GT(crossings(box, turned(box, Vec3::UnitY(), 0.3, Vec3(0.5, 0.2, 0.1)), false), 0);
    EXPECT_EQ(crossings(box, turned(box, Vec3::UnitY(), 0.3, Vec3(1.5, 0.2, 0.1)), false), 0);
}

TEST(ShapesFit, GearsMeshThroughAWholeTooth) {
    // Centre distance m (z1 + z2) / 2; gear 2 turns back by z1 / z2. Without the backlash's play they would touch,
    // and turned by a tenth of a tooth against each other they must cut.
    for (const auto& [z1, z2] : {std::pair{20, 20}, std::pair{17, 40}, std::pair{12, 24}}) {
        const Mesh a = make_shape("gear", {{"teeth", double(z1)}}),
                   b = make_shape("gear", {{"teeth", double(z2)}});
        const Vec3 apart(0.1 * (z1 + z2) / 2, 0, 0);
        const double mesh_phase =
            z2 % 2 == 0 ? M_PI / z2 : 0.0;  // a gap of gear 2 faces gear 1's tooth at angle 0
        for (int step = 0; step < 9; ++step) {
            const double turn = 2 * M_PI / z1 * step / 9.0;
            const Mesh first = turned(a, Vec3::UnitY(), turn, Vec3::Zero());
            const double back = mesh_phase - turn * z1 / z2;
            EXPECT_EQ(crossings(first, turned(b, Vec3::UnitY(), back, apart), false), 0)
                << z1 << " " << z2 << " " << step;
            const double skew = 2 * M_PI / z2 / 10;
            EXPECT_GT(crossings(first, turned(b, Vec3::UnitY(), back + skew, apart), false), 0);
        }
    }
}

TEST(ShapesFit, BoltTurnsInItsNut) {
    const Mesh bolt = make_shape("bolt"), nut = make_shape("nut");
    const double pitch = 0.25;
    for (const double turns : {0.0, 0.013, 0.29, -0.5, 1.71, -2.37}) {
        const Vec3 up(0, pitch * turns, 0);
        EXPECT_EQ(crossings(nut, turned(bolt, Vec3::UnitY(), 2 * M_PI * turns, up), false), 0) << turns;
        // Pushed straight through by half a pitch, the threads must meet.
        const Vec3 pushed(0, pitch * (turns + 0.5), 0);
        EXPECT_GT(crossings(nut, turned(bolt, Vec3::UnitY(), 2 * M_PI * turns, pushed), false), 0);
    }
}

TEST(ShapesFit, BoltAndNutWithoutMuchClearance) {
    const std::map<std::string, ParamValue> fine{{"segments", 96.0}, {"rows", 32.0}};
    std::map<std::string, ParamValue> tight = fine;
    tight["clearance"] = 0.004;
    const Mesh bolt = make_shape("bolt", fine), nut = make_shape("nut", tight);
    EXPECT_EQ(crossings(nut, turned(bolt, Vec3::UnitY(), 2.2, Vec3(0, 0.25 * 2.2 / (2 * M_PI), 0)), false),
              0);
}

TEST(ShapesFit, LinkedRingsDoNotTouch) {
    // Two links through each other, a quarter turn apart, hanging by just less than the hole's length.
    const Mesh ring = make_shape("ring");
    const double step = 1.0 - 4 * 0.1 - 0.01;  // length - 4 wire_radius is where they touch
    EXPECT_GT(crossings(ring, turned(ring, Vec3::UnitY(), M_PI / 2, Vec3(0, step + 0.2, 0)), false), 0);
    EXPECT_EQ(crossings(ring, turned(ring, Vec3::UnitY(), M_PI / 2, Vec3(0, step, 0)), false), 0);
}

TEST(ShapesFit, VolumesAgainstClosedForms) {
    const auto volume = [](const std::string& name, const std::map<std::string, ParamValue>& given = {}) {
        return mass_properties(make_shape(name, given), 0.0).volume;
    };
    // T: bar 1 x 0.15 x 0.15 and stem 0.6 x 0.15 x 0.15.
    EXPECT_NEAR(volume("t_handle"), 1.6 * 0.15 * 0.15, 1e-14);
    // Star: 2 n triangles of R r sin(pi/n) / 2 each, times the width.
    EXPECT_NEAR(volume("star"), 5 * 0.5 * 0.22 * std::sin(M_PI / 5) * 0.2, 1e-14);
    // Stone with chords for arcs: (R^2 - r^2) sin(span) / 2 times the depth.
    EXPECT_NEAR(volume("arch_stone"), 0.5 * (1.69 - 1.0) * std::sin(15 * M_PI / 180) * 0.3, 1e-14);
    EXPECT_TRUE(is_convex(make_shape("arch_stone"), 1e-9));
    // Ring: the wire's section times the middle line (Pappus), 2 pi 0.25 + 2 * 0.3.
    EXPECT_NEAR(volume("ring", {{"segments", 200.0}, {"sides", 100.0}}) / (M_PI * 0.01 * (0.5 * M_PI + 0.6)),
                1.0, 2e-3);
    // Half a hollow sphere.
    EXPECT_NEAR(volume("bowl", {{"segments", 256.0}}) / (2.0 / 3.0 * M_PI * (std::pow(0.55, 3) - 0.125)), 1.0,
                1e-3);
    // Cone, capsule.
    EXPECT_NEAR(volume("cone", {{"segments", 512.0}}) / (M_PI * 0.25 / 3), 1.0, 1e-4);
    EXPECT_NEAR(volume("capsule", {{"segments", 512.0}}) / (M_PI * 0.0625 + 4.0 / 3.0 * M_PI * 0.015625), 1.0,
                2e-4);
    // A lathe's cylinder, given from top to bottom.
    EXPECT_NEAR(volume("lathe", {{"profile", std::vector<double>{0.5, 1, 0.5, 0}}, {"segments", 4.0}}), 0.5,
                1e-14);
    // Bolt: a round thread's section has the mean area pi (c^2 + (depth/2)^2 / 2) with c the mean radius; ends fade.
    const double c = 0.44, section = M_PI * (c * c + 0.5 * 0.06 * 0.06);
    const std::map<std::string, ParamValue> longer{{"length", 12.0}, {"segments", 96.0}},
        shorter{{"length", 2.0}, {"segments", 96.0}};
    EXPECT_NEAR((volume("bolt", longer) - volume("bolt", shorter)) / (10.0 * section), 1.0, 2e-3);
    // Gear: the area must lie between the root's and the tip's circles, near the pitch circle's.
    EXPECT_NEAR(volume("gear", {{"bore", 0.0}}) / (M_PI * 0.3), 1.0, 0.08);
}

TEST(ShapesFit, DetailReachesLargeMeshes) {
    EXPECT_GT(make_shape("gear", {{"detail", 16.0}}).triangles.size(), 200'000u);
    EXPECT_EQ(make_shape("blob", {{"detail", 50.0}}).triangles.size(), 50'000u);
    EXPECT_EQ(make_shape("icosphere", {{"subdivisions", 4.0}}).triangles.size(), 20u * 256u);
}

}  // namespace
}  // namespace tenon::geometry

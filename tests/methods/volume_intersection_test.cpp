#include "methods/volume/intersection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "geometry/mesh_check.hpp"
#include "geometry/shapes.hpp"
#include "tests/methods/polyhedra_volume.hpp"

namespace tenon::volume {
namespace {

struct Made {
    Mesh mesh;
    std::vector<Edge> edges;
    geometry::SurfaceTree tree;
};

std::unique_ptr<Made> make(const std::string& name, const std::map<std::string, ParamValue>& given) {
    const geometry::ShapeInfo* info = geometry::find_shape(name);
    auto made = std::make_unique<Made>();
    made->mesh = info->make(resolve_params(info->parameters, given, {}));
    made->edges = geometry::all_edges(made->mesh);
    made->tree = geometry::SurfaceTree(made->mesh, made->edges);
    return made;
}

Solid at(const Made& made, const Vec3& position, const Mat3& rotation = Mat3::Identity()) {
    Solid solid;
    solid.surface = &made.tree;
    solid.q.leftCols<3>() = rotation;
    solid.q.col(3) = position;
    for (const Vec3& vertex : made.mesh.vertices) solid.box.add(transform(solid.q, vertex));
    return solid;
}

std::vector<CellVolume> cells_of(const Solid& a, const Solid& b, const Grid& grid,
                                 IntersectionStats* stats = nullptr) {
    Intersection intersection;
    IntersectionStats own;
    std::vector<CellVolume> cells;
    intersection.begin(a, b, grid);
    for (int axis = 0; axis < 3; ++axis) intersection.image(axis);
    intersection.finish(cells, stats ? *stats : own);
    return cells;
}

double total(const std::vector<CellVolume>& cells) {
    double sum = 0;
    for (const CellVolume& cell : cells) sum += cell.volume();
    return sum;
}

// Box faces on pixel boundaries: (1 - 0.25) (1 - 0.5) (1 - 0.125), exactly.
TEST(VolumeIntersection, BoxesOnPixelBoundariesAreExact) {
    const auto box = make("box", {{"size", std::vector<double>{1, 1, 1}}});
    for (int cells : {0, 4}) {
        const auto found = cells_of(at(*box, {0, 0, 0}), at(*box, {0.25, 0.5, 0.125}), {1.0 / 16, cells});
        EXPECT_NEAR(total(found), 0.75 * 0.5 * 0.875, 1e-14);
        for (const CellVolume& cell : found)
            EXPECT_LT((cell.axis_volume.array() - cell.volume()).abs().maxCoeff(), 1e-14);
    }
}

Mesh posed(const Made& made, const Solid& solid) {
    Mesh mesh = made.mesh;
    for (Vec3& v : mesh.vertices) v = transform(solid.q, v);
    return mesh;
}

TEST(VolumeIntersection, TheReferenceKnowsBoxesAndSpheres) {
    const auto box = make("box", {{"size", std::vector<double>{1, 1, 1}}});
    EXPECT_NEAR(
        intersection_volume(posed(*box, at(*box, {0, 0, 0})), posed(*box, at(*box, {0.25, 0.5, 0.125}))),
        0.75 * 0.5 * 0.875, 1e-14);
    // two unit spheres at distance d: pi (4 + d) (2 - d)^2 / 12; the polyhedra are inscribed, a little smaller
    const auto sphere = make("icosphere", {{"radius", 1.0}, {"subdivisions", 3.0}});
    const double d = 1.1, wanted = M_PI * (4 + d) * (2 - d) * (2 - d) / 12;
    const double found =
        intersection_volume(posed(*sphere, at(*sphere, {0, 0, 0})), posed(*sphere, at(*sphere, {d, 0, 0})));
    EXPECT_LT(found, wanted);
    EXPECT_NEAR(found, wanted, 0.03 * wanted);
}

// Volumes along the three axes from whole images of both solids: every triangle, every ray, from outside to outside.
Vec3 volumes_of_whole_images(const Mesh& a, const Mesh& b, double pixel) {
    std::vector<geometry::LdiTriangle> triangles;
    Box3 box;
    for (int s = 0; s < 2; ++s)
        for (const Triangle& t : (s == 0 ? a : b).triangles) {
            geometry::LdiTriangle made;
            for (int k = 0; k < 3; ++k) box.add(made.corner[k] = (s == 0 ? a : b).vertices[t[k]]);
            made.surface = s;
            triangles.push_back(made);
        }
    for (int k = 0; k < 3; ++k) {
        box.lo[k] = (std::floor(box.lo[k] / pixel) - 1) * pixel;
        box.hi[k] = (std::ceil(box.hi[k] / pixel) + 1) * pixel;
    }
    Vec3 volume = Vec3::Zero();
    geometry::LayeredDepthImage image;
    for (int axis = 0; axis < 3; ++axis) {
        image.rasterise(axis, box, pixel, triangles);
        for (int ray = 0; ray < image.rays(); ++ray) {
            std::array<int, 2> depth{0, 0};
            double since = 0;
            for (const geometry::LdiCrossing& crossing : image.ray(ray)) {
                if (depth[0] > 0 && depth[1] > 0) volume[axis] += pixel * pixel * (crossing.depth - since);
                depth[crossing.surface] += crossing.exit ? -1 : 1;
                since = crossing.depth;
            }
        }
    }
    return volume;
}

// What is left out, regions, rays, blocks and triangles, never matters: fine meshes and coarse ones, one contact patch
// and several, one solid inside the other, near misses.
TEST(VolumeIntersection, LeavesNothingOutThatCounts) {
    const auto blob = make("blob", {{"radius", 1.0}, {"amplitude", 0.3}, {"detail", 40.0}});
    const auto torus = make("torus", {{"major", 0.7}, {"minor", 0.2}});
    const auto box = make("box", {{"size", std::vector<double>{0.4, 0.5, 2}}});
    const Made* shapes[] = {blob.get(), torus.get(), box.get()};
    std::mt19937 random(3);
    std::uniform_real_distribution<double> unit(-1, 1);
    int met = 0;
    for (int i = 0; i < 60; ++i) {
        const Made &first = *shapes[i % 3], &second = *shapes[i / 3 % 3];
        const auto turned = [&] {
            Quat q(unit(random), unit(random), unit(random), unit(random));
            return q.normalized().toRotationMatrix();
        };
        const Mat3 turn_a = turned(), turn_b = turned();
        const Vec3 apart(unit(random), unit(random), unit(random));
        const Solid a = at(first, Vec3(0.1, 0.2, 0.3), turn_a), b = at(second, 1.5 * apart, turn_b);
        const double pixel = i % 2 ? 0.1 : 0.045;
        Vec3 found = Vec3::Zero();
        for (const CellVolume& cell : cells_of(a, b, {pixel, i % 4 ? 4 : 0})) found += cell.axis_volume;
        const Vec3 wanted = volumes_of_whole_images(posed(first, a), posed(second, b), pixel);
        met += wanted.sum() > 0;
        for (int k = 0; k < 3; ++k) EXPECT_NEAR(found[k], wanted[k], 1e-12) << i << " along axis " << k;
    }
    EXPECT_GT(met, 30);
}

// Two balls in one mesh overlap as two bodies would: the surface is inside itself twice there.
TEST(VolumeIntersection, ASurfaceMayOverlapItself) {
    const auto ball = make("icosphere", {{"radius", 1.0}, {"subdivisions", 3.0}});
    const Solid left = at(*ball, {0.1, 0.2, 0.3}), right = at(*ball, {1.4, 0.5, 0.6});
    Made both;
    both.mesh = posed(*ball, left);
    const int count = static_cast<int>(both.mesh.vertices.size());
    for (const Vec3& v : posed(*ball, right).vertices) both.mesh.vertices.push_back(v);
    for (const Triangle& t : ball->mesh.triangles)
        both.mesh.triangles.push_back({t[0] + count, t[1] + count, t[2] + count});
    both.edges = geometry::all_edges(both.mesh);
    both.tree = geometry::SurfaceTree(both.mesh, both.edges);
    const Solid solid = at(both, Vec3::Zero());
    for (int cell_pixels : {0, 6}) {
        const Grid grid{0.05, cell_pixels};
        Intersection intersection;
        intersection.begin_self(solid, grid);
        for (int axis = 0; axis < 3; ++axis) intersection.image(axis);
        std::vector<CellVolume> cells;
        IntersectionStats stats;
        intersection.finish(cells, stats);
        EXPECT_NEAR(total(cells), total(cells_of(left, right, grid)), 1e-12);
        EXPECT_GT(total(cells), 0.1);
    }
}

// The mean error of the measured volume over places of the pair in the lattice, at n pixels across.
double mean_error(const Made& made, const Vec3& offset, const Mat3& turn, double wanted, double pixel) {
    const int places = 12;
    double sum = 0;
    for (int k = 0; k < places; ++k) {
        const Vec3 place = Vec3(std::fmod(0.137 * k, 1), std::fmod(0.411 * k, 1), std::fmod(0.263 * k, 1));
        const auto cells = cells_of(at(made, place), at(made, place + offset, turn), {pixel, 0});
        sum += std::abs(total(cells) - wanted) / wanted / places;
    }
    return sum;
}

// Against the polyhedra's own intersection: within 1 % at 64 pixels across, and of order one at least. The measured
// order is that of a mean over random places; a tenth is left to chance.
TEST(VolumeIntersection, VolumesAreWithinOnePercentAndImproveLinearly) {
    const Mat3 turn = Eigen::AngleAxisd(0.7, Vec3(1, 2, 0.5).normalized()).toRotationMatrix();
    const auto sphere = make("icosphere", {{"radius", 1.0}, {"subdivisions", 2.0}});
    const auto torus = make("torus", {{"major", 1.0}, {"minor", 0.4}, {"segments", 16.0}});
    const auto box = make("box", {{"size", std::vector<double>{1, 1.3, 0.8}}});
    const struct {
        const Made& made;
        Vec3 offset;
        double across;  // of the overlap, roughly
    } pairs[] = {{*sphere, {1.1, 0, 0}, 1.6}, {*torus, {0.9, 0.3, 0.1}, 1.6}, {*box, {0.4, 0.5, 0.3}, 0.8}};
    for (const auto& [made, offset, across] : pairs) {
        const double wanted = intersection_volume(made.mesh, posed(made, at(made, offset, turn)));
        const double coarse = mean_error(made, offset, turn, wanted, across / 16);
        const double fine = mean_error(made, offset, turn, wanted, across / 64);
        EXPECT_LT(fine, 0.01) << made.mesh.triangles.size();
        EXPECT_GT(std::log(coarse / fine) / std::log(4.0), 0.9) << made.mesh.triangles.size();
    }
}

TEST(VolumeIntersection, ForcesAndTorquesBalanceInEveryCell) {
    const auto torus = make("torus", {{"major", 1.0}, {"minor", 0.3}});
    const Mat3 turn = Eigen::AngleAxisd(0.7, Vec3(1, 2, 0.5).normalized()).toRotationMatrix();
    const auto cells = cells_of(at(*torus, {0, 0, 0}), at(*torus, {0.9, 0.3, 0.1}, turn), {0.03, 6});
    ASSERT_GT(cells.size(), 3u);
    for (const CellVolume& cell : cells) {
        const Vec3 force = cell.side[0].area + cell.side[1].area;
        const Vec3 torque = cell.side[0].torque(Vec3::Zero()) + cell.side[1].torque(Vec3::Zero());
        EXPECT_LT(force.norm(), 1e-13);
        EXPECT_LT(torque.norm(), 1e-13);
    }
}

// Along each axis, the volume seen along that axis changes at the rate of its gradient when the solid moves along it,
// up to rays that begin or cease to hit.
TEST(VolumeIntersection, GradientIsTheDerivativeOfEachAxisVolume) {
    const auto box = make("box", {{"size", std::vector<double>{1, 1, 1}}});
    const Mat3 turn = Eigen::AngleAxisd(0.4, Vec3(1, 1, 0.3).normalized()).toRotationMatrix();
    const Solid a = at(*box, {0, 0, 0});
    const Vec3 place(0.6, 0.55, 0.5);
    const Grid grid{0.004, 0};
    const auto middle = cells_of(a, at(*box, place, turn), grid);
    ASSERT_EQ(middle.size(), 1u);
    for (int axis = 0; axis < 3; ++axis) {
        const double step = 1e-3;
        const auto plus = cells_of(a, at(*box, place + step * Vec3::Unit(axis), turn), grid);
        const auto minus = cells_of(a, at(*box, place - step * Vec3::Unit(axis), turn), grid);
        const double slope = (plus[0].axis_volume[axis] - minus[0].axis_volume[axis]) / (2 * step);
        EXPECT_NEAR(middle[0].side[1].area[axis], slope, 0.02 * std::abs(slope) + 1e-4);
    }
}

TEST(VolumeIntersection, VertexGradientsAddUpToTheRigidOnes) {
    const auto sphere = make("icosphere", {{"radius", 1.0}, {"subdivisions", 3.0}});
    Solid a = at(*sphere, {0, 0, 0}), b = at(*sphere, {1.5, 0.3, 0.2});
    a.gradient_per_vertex = true;
    const auto cells = cells_of(a, b, {0.02, 10});
    for (const CellVolume& cell : cells) {
        Vec3 sum = Vec3::Zero(), torque = Vec3::Zero();
        for (const auto& [vertex, gradient] : cell.side[0].vertex) {
            sum += gradient;
            torque += sphere->mesh.vertices[vertex].cross(gradient);
        }
        EXPECT_LT((sum - cell.side[0].area).norm(), 1e-13);
        EXPECT_LT((torque - cell.side[0].torque(Vec3::Zero())).norm(), 1e-12);
        EXPECT_TRUE(cell.side[1].vertex.empty());
    }
}

TEST(VolumeIntersection, RaysThroughEdgesAndCornersDoNotLeak) {
    const auto box = make("box", {{"size", std::vector<double>{1, 1, 1}}});
    const auto sphere = make("sphere", {{"radius", 0.5}});
    // pixel centres fall on the faces' diagonals, on poles and meridians
    for (double shift : {0.0, 0.5 / 16, 1.0 / 16}) {
        IntersectionStats stats;
        cells_of(at(*box, {shift, 0, 0}), at(*sphere, {shift + 0.25, 0.25, 0.25}), {1.0 / 16, 0}, &stats);
        cells_of(at(*sphere, {shift, 0, 0}), at(*sphere, {0.25, 0, 0}), {1.0 / 16, 0}, &stats);
        EXPECT_EQ(stats.parity_errors, 0);
        EXPECT_GT(stats.crossings, 0);
    }
}

TEST(VolumeIntersection, KnowsWhetherARayStartsInside) {
    const auto sphere = make("icosphere", {{"radius", 1.0}, {"subdivisions", 3.0}});
    const Solid solid = at(*sphere, {5, 0, 0});
    EXPECT_TRUE(inside(solid, {5.1, 0.2, 0.3}));
    EXPECT_FALSE(inside(solid, {4.2, 0.8, 0.8}));
    EXPECT_FALSE(inside(solid, {0, 0, 0}));
    // a small box wholly inside a large one
    const auto small = make("box", {{"size", std::vector<double>{0.25, 0.25, 0.25}}});
    const auto large = make("box", {{"size", std::vector<double>{2, 2, 2}}});
    EXPECT_NEAR(total(cells_of(at(*small, {0, 0, 0}), at(*large, {0.1, 0, 0}), {1.0 / 32, 0})), 1.0 / 64,
                1e-14);
}

}  // namespace
}  // namespace tenon::volume

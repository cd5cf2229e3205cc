#include "methods/volume/linked.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "geometry/bvh_surface.hpp"
#include "methods/volume/intersection.hpp"

namespace tenon::volume {
namespace {

// Euler's number of a closed mesh: 2 for a ball, 0 for a ring, less with every further hole.
bool has_hole(const Shape& shape) {
    if (!shape.closed) return false;
    std::set<int> used;
    for (const Triangle& t : shape.mesh.triangles) used.insert(t.begin(), t.end());
    return static_cast<long>(used.size()) - static_cast<long>(shape.mesh.triangles.size()) / 2 <= 0;
}

class Pairs {
  public:
    Pairs(const Model& model, const State& state, const Motion& motion, double pixel)
        : model_(model), state_(state), motion_(motion), pixel_(pixel) {}

    bool near(int a, int b) { return placed(a).box.overlaps(placed(b).box); }

    // Whether b can leave a along a direction, in steps that do not jump over a.
    bool leads_out(int a, int b, const Vec3& direction) {
        const double way = way_out(model_, motion_, a, b, direction);
        const double step = 0.4 * std::min(model_.shape_of(a).box.size().minCoeff(),
                                           model_.shape_of(b).box.size().minCoeff());
        for (double gone = step; gone < way; gone += step)
            if (overlap(a, b, gone * direction)) return false;
        return true;
    }

  private:
    Solid placed(int body, const Vec3& shift = Vec3::Zero()) {
        const int shape = model_.bodies.shape[body];
        std::unique_ptr<geometry::SurfaceTree>& surface = surface_[shape];
        if (!surface)
            surface = std::make_unique<geometry::SurfaceTree>(model_.shapes[shape]->mesh,
                                                              model_.shapes[shape]->all_edges);
        Solid solid;
        solid.surface = surface.get();
        solid.q = motion_.pose(body);
        solid.q.col(3) += shift;
        solid.box = geometry::world_box(*surface, solid.q);
        return solid;
    }

    bool overlap(int a, int b, const Vec3& shift) {
        const Solid fixed = placed(a), moved = placed(b, shift);
        intersection_.begin(fixed, moved, {pixel_, 0});
        for (int axis = 0; axis < 3; ++axis) intersection_.image(axis);
        return !intersection_.empty();
    }

    const Model& model_;
    const State& state_;
    const Motion& motion_;
    double pixel_;
    std::map<int, std::unique_ptr<geometry::SurfaceTree>> surface_;
    Intersection intersection_;
};

}  // namespace

std::vector<Vec3> ways() {
    std::vector<Vec3> made;
    for (int code = 0; code < 27; ++code) {
        const Vec3 direction(code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1);
        if (!direction.isZero()) made.push_back(direction.normalized());
    }
    return made;
}

double way_out(const Model& model, const Motion& motion, int a, int b, const Vec3& direction) {
    double far = -1e300, near = 1e300;
    for (const Vec3& v : model.shape_of(a).mesh.vertices)
        far = std::max(far, direction.dot(transform(motion.pose(a), v)));
    for (const Vec3& v : model.shape_of(b).mesh.vertices)
        near = std::min(near, direction.dot(transform(motion.pose(b), v)));
    return far - near;
}

std::vector<std::pair<int, int>> linked_pairs(const Model& model, const State& state, const Motion& motion,
                                              double pixel) {
    std::vector<int> rings;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (has_hole(model.shape_of(i))) rings.push_back(i);
    Pairs pairs(model, state, motion, pixel);
    const std::vector<Vec3> directions = ways();
    std::vector<std::pair<int, int>> linked;
    for (std::size_t i = 0; i < rings.size(); ++i)
        for (std::size_t k = i + 1; k < rings.size(); ++k) {
            const int a = rings[i], b = rings[k];
            if (!model.may_collide(a, b) || !pairs.near(a, b)) continue;
            const auto free = [&](const Vec3& direction) { return pairs.leads_out(a, b, direction); };
            if (std::none_of(directions.begin(), directions.end(), free)) linked.emplace_back(a, b);
        }
    return linked;
}

}  // namespace tenon::volume

#include "verify/bodies.hpp"

#include <algorithm>

namespace tenon::verify {
namespace {

void add_elastic(BodySet& set, const std::string& name, const std::vector<Vec3>& rest,
                 const std::vector<Triangle>& surface) {
    Mesh mesh;
    mesh.triangles = surface;
    set.surface_of.push_back(static_cast<int>(set.surfaces.size()));
    set.surfaces.push_back(make_surface(rest, mesh, true));
    set.name.push_back(name);
    set.is_static.push_back(0);
    set.collides.push_back(1);
    set.group.emplace_back();
}

void add_body(BodySet& set, const std::string& name, int shape, BodyType type, bool collides,
              const std::string& group) {
    set.surface_of.push_back(shape);
    set.name.push_back(name);
    set.is_static.push_back(type == BodyType::static_body);
    set.collides.push_back(collides);
    set.group.push_back(group);
}

std::uint64_t key_of(int a, int b) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(std::max(a, b))) << 32) |
           static_cast<std::uint32_t>(std::min(a, b));
}

// Directions that no model is aligned with.
const Vec3 directions[] = {{0.5377, 0.6138, 0.5780},   {-0.3121, 0.8817, 0.3537},  {0.7713, -0.2391, 0.5899},
                           {-0.6177, -0.4133, 0.6690}, {0.1739, 0.3371, -0.9253},  {-0.8931, 0.1277, -0.4313},
                           {0.4219, -0.7793, -0.4634}, {-0.2689, -0.9129, -0.3071}};

// Crossings of the segment with the surface, or -1 when it passes through an edge or a corner.
int count_crossings(const Placed& closed, const Vec3& from, const Vec3& to) {
    Box3 segment_box;
    segment_box.add(from);
    segment_box.add(to);
    int count = 0;
    std::vector<int> stack{0};
    const Tree& tree = closed.surface->tree;
    const NodeBoxes boxes(closed);
    while (!stack.empty()) {
        const int index = stack.back();
        stack.pop_back();
        if (!boxes(index).overlaps(segment_box)) continue;
        const Node& node = tree.nodes()[index];
        if (node.count == 0) {
            stack.push_back(node.first);
            stack.push_back(node.first + 1);
            continue;
        }
        for (int k = 0; k < node.count; ++k) {
            const int cell = tree.order()[node.first + k];
            if (cell >= static_cast<int>(closed.surface->triangles)) continue;
            switch (crossing(from, to, closed.corners(cell))) {
                case Crossing::none:
                    break;
                case Crossing::once:
                    ++count;
                    break;
                case Crossing::degenerate:
                    return -1;
            }
        }
    }
    return count;
}

}  // namespace

bool BodySet::may_touch(int a, int b) const {
    if (is_static[a] && is_static[b]) return true;
    if (!collides[a] || !collides[b]) return true;
    if (!group[a].empty() && group[a] == group[b]) return true;
    return !ignored.empty() && ignored.count(key_of(a, b)) > 0;
}

BodySet bodies_of(const run::RunReader& run) {
    BodySet set;
    for (const run::ShapeData& shape : run.shapes())
        set.surfaces.push_back(make_surface(shape.mesh.vertices, shape.mesh, shape.closed));
    for (const run::BodyInfo& body : run.bodies())
        add_body(set, body.name, body.shape, body.type, body.collides, body.group);
    set.rigid = run.bodies().size();
    for (const run::ElasticInfo& body : run.elastic()) add_elastic(set, body.name, body.rest, body.surface);
    for (const auto& pair : run.ignored_pairs()) set.ignored.insert(key_of(pair[0], pair[1]));
    return set;
}

BodySet bodies_of(const Model& model, const State& state) {
    BodySet set;
    for (const auto& shape : model.shapes)
        set.surfaces.push_back(make_surface(shape->mesh.vertices, shape->mesh, shape->closed));
    const Bodies& bodies = model.bodies;
    for (int i = 0; i < bodies.size(); ++i)
        add_body(set, bodies.name[i], bodies.shape[i], state.type[i], bodies.collides[i] != 0,
                 bodies.group[i]);
    set.rigid = state.q.size();
    for (std::size_t i = 0; i < model.elastic.size(); ++i) {
        const ElasticBody& body = model.elastic[i];
        add_elastic(set, body.name, body.rest, body.surface);
        for (const ElasticBody::Pin& pin : body.pins)
            if (pin.body >= 0) set.ignored.insert(key_of(pin.body, static_cast<int>(set.rigid + i)));
    }
    set.ignored.insert(model.ignored_pairs.begin(), model.ignored_pairs.end());
    return set;
}

Placement::Placement(const BodySet& bodies, const std::vector<Mat34>& q,
                     const std::vector<std::vector<Vec3>>& x)
    : x_(x), node_boxes_(x.size()), placed_(bodies.size()) {
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        placed_[i].surface = &bodies.surfaces[bodies.surface_of[i]];
        if (i < bodies.rigid) {
            placed_[i].q = q[i];
            continue;
        }
        const std::size_t k = i - bodies.rigid;
        node_boxes_[k] = elastic_node_boxes(*placed_[i].surface, x_[k]);
        placed_[i].x = &x_[k];
        placed_[i].node_boxes = &node_boxes_[k];
    }
}

std::vector<Box3> Placement::boxes() const {
    std::vector<Box3> all;
    all.reserve(placed_.size());
    for (const Placed& placed : placed_) all.push_back(placed.box());
    return all;
}

bool surfaces_intersect(const Placed& a, const Placed& b, int& cell_a, int& cell_b) {
    const auto gather = [](const Placed& placed, const Node& leaf) {
        LeafCells<Corners> cells;
        cells.count = leaf.count;
        for (int k = 0; k < leaf.count; ++k) {
            cells.cell[k] = placed.corners(placed.surface->tree.order()[leaf.first + k]);
            for (const Vec3& corner : cells.cell[k]) cells.box[k].add(corner);
        }
        return cells;
    };
    return visit_leaves(a.surface->tree, b.surface->tree, NodeBoxes(a), NodeBoxes(b),
                        [&](const Node& na, const Node& nb) {
                            const auto first = gather(a, na), second = gather(b, nb);
                            for (int i = 0; i < first.count; ++i)
                                for (int j = 0; j < second.count; ++j) {
                                    if (!first.box[i].overlaps(second.box[j])) continue;
                                    if (!cells_intersect(first.cell[i], second.cell[j])) continue;
                                    cell_a = a.surface->tree.order()[na.first + i];
                                    cell_b = b.surface->tree.order()[nb.first + j];
                                    return true;
                                }
                            return false;
                        });
}

bool contains(const Placed& closed, const Vec3& point) {
    const Box3 box = closed.box();
    if (!box.contains(point)) return false;
    for (const Vec3& direction : directions) {
        const int count = count_crossings(closed, point, point + 2.5 * box.diagonal() * direction);
        if (count >= 0) return count % 2 == 1;
    }
    return false;
}

}  // namespace tenon::verify

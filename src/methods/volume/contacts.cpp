#include "methods/volume/contacts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "geometry/mesh_check.hpp"
#include "math/parallel.hpp"
#include "methods/volume/inflate.hpp"

namespace tenon::volume {
namespace {

constexpr int kMany = 256;  // blocks of triangles

Box3 box_of(const Mesh& mesh, const Mat34& q) {
    Box3 box;
    for (const Vec3& vertex : mesh.vertices) box.add(transform(q, vertex));
    return box;
}

bool has_embedded(const ElasticBody& body) {
    return !body.embedded.triangles.empty();
}

void pose_elastic(const ElasticBody& body, const std::vector<Vec3>& x, Mesh& mesh) {
    if (!has_embedded(body)) {
        mesh.vertices = x;
        return;
    }
    mesh.vertices.resize(body.embedded_tet.size());
    for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
        const Tet& tet = body.tets[body.embedded_tet[i]];
        mesh.vertices[i].setZero();
        for (int k = 0; k < 4; ++k) mesh.vertices[i] += body.embedded_weight[i][k] * x[tet[k]];
    }
}

// Boxes of a surface's blocks as its vertices are now.
std::vector<Box3> block_boxes(const geometry::SurfaceTree& surface, const Mesh& mesh) {
    std::vector<Box3> boxes(surface.blocks());
    for (int b = 0; b < surface.blocks(); ++b)
        for (int v : surface.block(b).vertices) boxes[b].add(mesh.vertices[v]);
    return boxes;
}

}  // namespace

ContactFinder::ContactFinder(const Model& model, const State& state, const ContactSettings& settings)
    : settings_(settings) {
    prepare_shapes(model);
    const int bodies = model.bodies.size(), all = bodies + static_cast<int>(model.elastic.size());
    solids_.resize(all);
    boxes_.resize(all);
    moves_.assign(all, 1);
    for (int i = 0; i < bodies; ++i) moves_[i] = state.type[i] != BodyType::static_body;
    elastic_mesh_.resize(model.elastic.size());
    elastic_edges_.resize(model.elastic.size());
    elastic_tree_.resize(model.elastic.size());
    placed_.resize(model.elastic.size());
    elastic_blocks_.resize(model.elastic.size());
    for (std::size_t e = 0; e < model.elastic.size(); ++e) {
        const ElasticBody& body = model.elastic[e];
        elastic_mesh_[e].triangles = has_embedded(body) ? body.embedded.triangles : body.surface;
        // trees are made of the shape at rest, whatever the body looks like now: a run that is resumed has the same ones
        pose_elastic(body, body.rest, elastic_mesh_[e]);
        elastic_edges_[e] = geometry::all_edges(elastic_mesh_[e]);
        elastic_tree_[e] = geometry::SurfaceTree(elastic_mesh_[e], elastic_edges_[e]);
        elastic_blocks_[e].build(block_boxes(elastic_tree_[e], elastic_mesh_[e]));
    }
    thickness_.assign(all, 1e300);
    for (int i = 0; i < bodies; ++i)
        if (shapes_[model.bodies.shape[i]]->usable) {
            Box3 box;
            for (const Vec3& vertex : shapes_[model.bodies.shape[i]]->mesh.vertices) box.add(vertex);
            thickness_[i] = box.size().minCoeff();
        }
    for (std::size_t e = 0; e < model.elastic.size(); ++e)
        thickness_[bodies + e] = box_of(elastic_mesh_[e], Mat34::Identity()).size().minCoeff();
    warn_of_open_surfaces(model);
}

void ContactFinder::warn_of_open_surfaces(const Model& model) {
    const auto warn = [&](const std::string& name) {
        warnings_.push_back(
            fmt::format("body '{}' takes no part in contact: its mesh encloses no volume; give it a "
                        "closed mesh, or use --method affine",
                        name));
    };
    for (int i = 0; i < model.bodies.size(); ++i)
        if (model.bodies.collides[i] && !shapes_[model.bodies.shape[i]]->usable) warn(model.bodies.name[i]);
    elastic_usable_.assign(model.elastic.size(), 1);
    for (std::size_t e = 0; e < model.elastic.size(); ++e) {
        if (geometry::is_closed_cycle(elastic_mesh_[e])) continue;
        elastic_usable_[e] = 0;
        warn(model.elastic[e].name);
    }
}

// Pixels are halved for thin bodies; cells keep their size.
Grid ContactFinder::grid_of(int a, int b) const {
    Grid grid = settings_.grid;
    const double thinnest = std::min(thickness_[a], thickness_[b]);
    for (int k = 0; k < settings_.refine && thinnest < 4 * grid.pixel; ++k) {
        grid.pixel *= 0.5;
        grid.cell_pixels *= 2;
    }
    return grid;
}

// A plane becomes a slab under it; every other open surface has no inside.
void ContactFinder::prepare_shapes(const Model& model) {
    for (const auto& shape : model.shapes) {
        auto made = std::make_unique<ShapeSurface>();
        if (shape->closed)
            made->mesh = shape->mesh;
        else if (shape->primitive.kind == Primitive::Kind::plane)
            made->mesh = slab_under(*shape);
        made->usable = !made->mesh.triangles.empty();
        if (settings_.inflate > 0) inflate(made->mesh, settings_.inflate);
        made->edges = geometry::all_edges(made->mesh);
        made->tree = geometry::SurfaceTree(made->mesh, made->edges);
        shapes_.push_back(std::move(made));
    }
}

void ContactFinder::place(const Model& model, const Motion& motion) {
    const int bodies = model.bodies.size();
    moved_.assign(solids_.size(), 1);
    parallel_for(bodies, 16, [&](std::size_t i) {
        const ShapeSurface& shape = *shapes_[model.bodies.shape[i]];
        Solid& solid = solids_[i];
        const Mat34 q = motion.pose(static_cast<int>(i));
        if (solid.surface && solid.q == q) {
            moved_[i] = 0;
            return;
        }
        solid.surface = &shape.tree;
        solid.q = q;
        // a loose box costs the same for any mesh; the region of a pair is narrowed anyway
        solid.box = !shape.usable                 ? Box3{}
                    : shape.tree.blocks() > kMany ? NodeBoxes(solid).whole()
                                                  : geometry::world_box(shape.tree, solid.q);
        boxes_[i] = solid.box;
    });
    parallel_for(model.elastic.size(), 1, [&](std::size_t e) {
        Mesh& mesh = elastic_mesh_[e];
        Solid& solid = solids_[bodies + e];
        if (solid.surface && placed_[e] == motion.vertices[e]) {
            moved_[bodies + e] = 0;
            return;
        }
        placed_[e] = motion.vertices[e];
        pose_elastic(model.elastic[e], motion.vertices[e], mesh);
        solid.surface = &elastic_tree_[e];
        solid.blocks = &elastic_blocks_[e];
        solid.gradient_per_vertex = true;
        solid.box = box_of(mesh, solid.q);
        boxes_[bodies + e] = solid.box;
    });
}

// Deformed surfaces need new boxes of their blocks, but only where something may touch them.
void ContactFinder::prepare_touching(const Model& model) {
    std::vector<char> needed(model.elastic.size(), 0);
    for (const auto& [a, b] : pairs_)
        for (int body : {a, b})
            if (body >= model.bodies.size()) needed[body - model.bodies.size()] = 1;
    stale_.resize(needed.size(), 1);
    parallel_for(needed.size(), 1, [&](std::size_t e) {
        stale_[e] = stale_[e] || moved_[model.bodies.size() + e];
        if (!needed[e] || !stale_[e]) return;
        elastic_blocks_[e].refit(block_boxes(elastic_tree_[e], elastic_mesh_[e]));
        stale_[e] = 0;
    });
}

void ContactFinder::find_pairs(const Model& model) {
    broad_phase_.find_pairs(boxes_, pairs_, moves_);
    const auto usable = [&](int body) {
        return body < model.bodies.size() || elastic_usable_[body - model.bodies.size()];
    };
    std::erase_if(pairs_, [&](const geometry::ItemPair& pair) {
        return !model.may_collide(pair.a, pair.b) || !usable(pair.a) || !usable(pair.b);
    });
    if (settings_.self_contact)
        for (int e = 0; e < static_cast<int>(model.elastic.size()); ++e)
            if (elastic_usable_[e]) pairs_.push_back({model.bodies.size() + e, model.bodies.size() + e});
}

// Both lists are in the same order: pairs ascending, then surfaces that may meet themselves.
void ContactFinder::find_unchanged() {
    const auto before = [](const geometry::ItemPair& x, const geometry::ItemPair& y) {
        const bool x_alone = x.a == x.b, y_alone = y.a == y.b;
        return x_alone != y_alone ? y_alone : x < y;
    };
    unchanged_.assign(pairs_.size(), -1);
    searched_.clear();
    std::size_t k = 0;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        while (k < last_pairs_.size() && before(last_pairs_[k].pair, pairs_[i])) ++k;
        const bool known = k < last_pairs_.size() && last_pairs_[k].pair == pairs_[i];
        if (known && !moved_[pairs_[i].a] && !moved_[pairs_[i].b])
            unchanged_[i] = static_cast<int>(k);
        else
            searched_.push_back(static_cast<int>(i));
    }
}

void ContactFinder::find(const Model& model, const Motion& motion, std::vector<VolumeContact>& contacts) {
    place(model, motion);
    // a step begins where the last one looked in the end
    if (std::find(moved_.begin(), moved_.end(), 1) != moved_.end()) {
        find_pairs(model);
        last_pairs_.swap(found_pairs_);
        last_.swap(found_);
        find_unchanged();
        prepare_touching(model);
        search();
        collect(model);
    }
    contacts = found_;
}

void ContactFinder::search() {
    const std::size_t count = searched_.size();
    if (images_.size() < count) images_.resize(count);
    found_pairs_.assign(pairs_.size(), {});
    cells_.assign(count, {});
    parallel_for(count, 1, [&](std::size_t i) {
        const auto [a, b] = pairs_[searched_[i]];
        if (a == b)
            images_[i].begin_self(solids_[a], grid_of(a, a));
        else
            images_[i].begin(solids_[a], solids_[b], grid_of(a, b));
    });
    parallel_for(3 * count, 1, [&](std::size_t k) { images_[k / 3].image(static_cast<int>(k % 3)); });
    parallel_for(count, 4,
                 [&](std::size_t i) { images_[i].finish(cells_[i], found_pairs_[searched_[i]].stats); });
}

void ContactFinder::collect(const Model& model) {
    stats_ = {};
    leaking_.clear();
    found_.clear();
    std::size_t next = 0;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        FoundPair& found = found_pairs_[i];
        found.pair = pairs_[i];
        found.begin = found_.size();
        if (unchanged_[i] >= 0) {
            const FoundPair& last = last_pairs_[unchanged_[i]];
            found.stats = last.stats;
            for (std::size_t k = last.begin; k < last.end; ++k) found_.push_back(std::move(last_[k]));
        } else {
            add_contacts(model, found.pair.a, found.pair.b, cells_[next++], found_);
        }
        found.end = found_.size();
        stats_.add(found.stats);
        if (found.stats.parity_errors > 0) leaking_.insert(leaking_.end(), {found.pair.a, found.pair.b});
    }
}

namespace {

// The frame of a contact: the image's gradient says how large it is, the surfaces' own normals which way it faces.
// A cell at the rim of a patch also holds a strip of the bodies' sides, as high as they overlap, which leans its normal;
// within the angle that a pixel's depth makes in a cell the patch's own normal is taken instead, or flat bodies would
// plough. False where gradient and normals disagree, in slivers that a few pixels see from one side only.
bool set_frame(const CellVolume& cell, const Vec3& patch_normal, double lean, VolumeContact& contact) {
    const Vec3 facing = cell.surface_area[0] - cell.surface_area[1];
    if (!(facing.norm() > 0)) return false;
    contact.normal = facing.normalized();
    if (contact.normal.dot(patch_normal) > std::cos(lean)) contact.normal = patch_normal;
    contact.area = cell.side[0].area.dot(contact.normal);
    if (contact.area < 0.25 * cell.side[0].area.norm()) return false;
    contact.center =
        0.5 * (cell.side[0].moment * contact.normal - cell.side[1].moment * contact.normal) / contact.area;
    return true;
}

void add_side_gradient(const SideGradient& from, SideGradient& to) {
    to.area += from.area;
    to.moment += from.moment;
    std::vector<std::pair<int, Vec3>> both;
    auto x = from.vertex.begin();
    auto y = std::as_const(to.vertex).begin();
    while (x != from.vertex.end() || y != to.vertex.end()) {
        const bool take_x = y == to.vertex.end() || (x != from.vertex.end() && x->first <= y->first);
        const bool take_y = x == from.vertex.end() || (y != to.vertex.end() && y->first <= x->first);
        both.emplace_back(take_x ? x->first : y->first, Vec3::Zero());
        if (take_x) both.back().second += (x++)->second;
        if (take_y) both.back().second += (y++)->second;
    }
    to.vertex = std::move(both);
}

// Cells that hold only the rim of a patch see mostly the bodies' sides and would face anywhere. Volumes and gradients
// add up, so such a cell joins its largest neighbour.
void join_slivers(const Grid& grid, std::vector<CellVolume>& cells) {
    if (grid.cell_pixels == 0) return;
    const double side = grid.cell_pixels * grid.pixel, small = 0.3 * side * side;
    std::vector<double> area;
    for (const CellVolume& cell : cells) area.push_back(cell.side[0].area.norm());
    std::vector<char> gone(cells.size(), 0);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (area[i] >= small) continue;
        int best = -1;
        for (int code = 0; code < 27; ++code) {
            std::array<int, 3> near = cells[i].cell;
            near[0] += code % 3 - 1, near[1] += code / 3 % 3 - 1, near[2] += code / 9 - 1;
            const auto at =
                std::lower_bound(cells.begin(), cells.end(), near,
                                 [](const CellVolume& c, const auto& key) { return c.cell < key; });
            const std::size_t k = at - cells.begin();
            if (at == cells.end() || at->cell != near || k == i || gone[k] || area[k] <= area[i]) continue;
            if (best < 0 || area[k] > area[best]) best = static_cast<int>(k);
        }
        if (best < 0) continue;
        cells[best].axis_volume += cells[i].axis_volume;
        cells[best].longest = cells[best].longest.cwiseMax(cells[i].longest);
        for (int s = 0; s < 2; ++s) {
            cells[best].surface_area[s] += cells[i].surface_area[s];
            add_side_gradient(cells[i].side[s], cells[best].side[s]);
        }
        gone[i] = 1;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (!gone[i]) {
            if (kept != i) cells[kept] = std::move(cells[i]);
            ++kept;
        }
    cells.resize(kept);
}

// A solid swallowed by another feels no repulsion, since its surface is pressed from all sides: the way out is then
// along the line of centres.
void push_apart(const Vec3& from, const Vec3& to, CellVolume& cell, VolumeContact& contact) {
    const Vec3 way = to - from;
    contact.normal = way.norm() > 1e-12 ? Vec3(way.normalized()) : Vec3(Vec3::UnitY());
    contact.area = std::pow(cell.volume(), 2.0 / 3.0);
    contact.center = 0.5 * (from + to);
    const Vec3 area = contact.area * contact.normal;
    for (int side = 0; side < 2; ++side) {
        cell.side[side] = {};
        cell.side[side].area = side == 0 ? area : Vec3(-area);
        cell.side[side].moment = contact.center * cell.side[side].area.transpose();
    }
}

}  // namespace

void ContactFinder::add_contacts(const Model& model, int a, int b, std::vector<CellVolume>& cells,
                                 std::vector<VolumeContact>& contacts) const {
    const Grid grid = grid_of(a, b);
    const double pixel_area = grid.pixel * grid.pixel;
    join_slivers(grid, cells);
    const double lean = grid.cell_pixels > 0 ? 2.0 / grid.cell_pixels : 0.0;
    Vec3 repulsion = Vec3::Zero(), facing = Vec3::Zero();
    double volume = 0;
    for (const CellVolume& cell : cells) {
        facing += cell.surface_area[0] - cell.surface_area[1];
        repulsion += cell.side[0].area;
        volume += cell.volume();
    }
    const bool swallowed = a != b && repulsion.norm() < 0.05 * std::pow(volume, 2.0 / 3.0);
    for (CellVolume& cell : cells) {
        VolumeContact contact;
        contact.a = a, contact.b = b;
        if (!(cell.volume() > 0)) continue;
        if (swallowed)
            push_apart(boxes_[a].center(), boxes_[b].center(), cell, contact);
        else if (!set_frame(cell, facing.normalized(), lean, contact) || contact.area < pixel_area)
            continue;
        const Vec3 seed = std::abs(contact.normal.x()) < 0.6 ? Vec3::UnitX() : Vec3::UnitY();
        contact.tangent[0] = contact.normal.cross(seed).normalized();
        contact.tangent[1] = contact.normal.cross(contact.tangent[0]);
        contact.friction = model.pair_friction(a, b);
        contact.pixel = grid.pixel;
        contact.cell = std::move(cell);
        contacts.push_back(std::move(contact));
    }
}

}  // namespace tenon::volume

// Which primitives of surfaces can come into range of each other.
#include <algorithm>

#include "math/parallel.hpp"
#include "methods/affine/contact_shape.hpp"
#include "methods/affine/coupled_contacts.hpp"

namespace tenon::affine {
namespace {

constexpr double least_mollifier = 0.01;
constexpr double spare_motion = 0.5;  // of the expected motion: how much farther points may go

std::vector<Edge> edges_of(const std::vector<Triangle>& triangles) {
    std::vector<Edge> edges;
    for (const Triangle& t : triangles)
        for (int k = 0; k < 3; ++k)
            edges.push_back({std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])});
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
}

}  // namespace

CoupledContacts::CoupledContacts(const Model& model, const State& state, const CoupledNodes& nodes)
    : model_(&model) {
    for (int i = 0; i < model.bodies.size(); ++i) {
        const Shape& shape = model.shape_of(i);
        CoupledSurface& surface = surfaces_.emplace_back();
        surface.first = static_cast<int>(points_.size());
        for (const Vec3& local : shape.mesh.vertices) points_.push_back(nodes.point_of(state, i, local));
        surface.last = static_cast<int>(points_.size());
        surface.moves = nodes.of_body[i] >= 0;
        if (!model.bodies.collides[i]) continue;
        const std::unique_ptr<ContactShape> touch = contact_shape(shape);
        for (std::size_t v = 0; v < touch->vertex_touches.size(); ++v)
            if (touch->vertex_touches[v]) surface.points.push_back(surface.first + static_cast<int>(v));
        for (std::size_t e = 0; e < touch->edge_touches.size(); ++e) {
            if (!touch->edge_touches[e]) continue;
            const Edge edge = touch->edge(static_cast<int>(e));
            surface.edges.push_back({surface.first + edge[0], surface.first + edge[1]});
            surface.edge_length_squared.push_back(touch->edge_length_squared[e]);
        }
        for (const Triangle& t : shape.mesh.triangles)
            surface.triangles.push_back({surface.first + t[0], surface.first + t[1], surface.first + t[2]});
    }
    for (std::size_t e = 0; e < model.elastic.size(); ++e) {
        const ElasticBody& body = model.elastic[e];
        CoupledSurface& surface = surfaces_.emplace_back();
        surface.first = static_cast<int>(points_.size());
        surface.deforms = surface.moves = true;
        std::vector<int> number(body.rest.size(), -1);
        const auto point = [&](int v) {
            if (number[v] < 0) {
                number[v] = static_cast<int>(points_.size());
                points_.push_back(nodes.vertex[e][v]);
                surface.points.push_back(number[v]);
            }
            return number[v];
        };
        for (const Triangle& t : body.surface)
            surface.triangles.push_back({point(t[0]), point(t[1]), point(t[2])});
        surface.last = static_cast<int>(points_.size());
        for (const Edge& edge : edges_of(body.surface)) {
            surface.edges.push_back({number[edge[0]], number[edge[1]]});
            surface.edge_length_squared.push_back((body.rest[edge[1]] - body.rest[edge[0]]).squaredNorm());
        }
        for (const ElasticBody::Pin& pin : body.pins)
            if (pin.body >= 0)
                never_.push_back(pair_key(pin.body, model.bodies.size() + static_cast<int>(e)));
    }
    std::sort(never_.begin(), never_.end());
    trees_.resize(surfaces_.size());
    turns_with_.resize(points_.size());
    for (std::size_t i = 0; i < points_.size(); ++i)
        turns_with_[i] = points_[i].node < 0 || nodes.node[points_[i].node].turns();
}

// Points that keep their distances whatever happens: of one body.
bool CoupledContacts::fixed_together(const std::array<int, 4>& point) const {
    for (const int p : point)
        if (!turns_with_[p] || points_[p].node != points_[point[0]].node) return false;
    return true;
}

int CoupledContacts::pair_number(int a, int b) {
    const auto [place, fresh] = pair_of_.try_emplace(pair_key(a, b), static_cast<int>(pairs_.size()));
    if (fresh) {
        SurfacePair& pair = pairs_.emplace_back();
        pair.a = a;
        pair.b = b;
        pair.mu = model_->pair_friction(a, b);
        const int bodies = model_->bodies.size();
        for (const int side : {a, b})
            if (a != b && side < bodies) pair.range.separation += model_->bodies.min_separation[side];
        const auto known = memory_.find(pair_key(a, b));
        pair.range.dhat = known != memory_.end() ? known->second.dhat : scale_.dhat;
        pair.stiffening = known != memory_.end() ? known->second.stiffening : 1.0;
        set_strength(pair);
    }
    return place->second;
}

void CoupledContacts::build_trees(int k) {
    const CoupledSurface& surface = surfaces_[k];
    Trees& trees = trees_[k];
    if (trees.built && !surface.moves) return;
    trees.built = true;
    const double apart =
        0.5 * scale_.dhat + (k < model_->bodies.size() ? model_->bodies.min_separation[k] : 0.0);
    const auto grown = [&](int point) {
        Box3 box;
        box.add(reference_[point]);
        box.inflate(reach_[point] + apart);
        return box;
    };
    trees.point_boxes.resize(surface.points.size());
    trees.edge_boxes.resize(surface.edges.size());
    trees.triangle_boxes.resize(surface.triangles.size());
    for (std::size_t i = 0; i < surface.points.size(); ++i) trees.point_boxes[i] = grown(surface.points[i]);
    for (std::size_t i = 0; i < surface.edges.size(); ++i) {
        trees.edge_boxes[i] = grown(surface.edges[i][0]);
        trees.edge_boxes[i].add(grown(surface.edges[i][1]));
    }
    for (std::size_t i = 0; i < surface.triangles.size(); ++i) {
        trees.triangle_boxes[i] = grown(surface.triangles[i][0]);
        trees.triangle_boxes[i].add(grown(surface.triangles[i][1]));
        trees.triangle_boxes[i].add(grown(surface.triangles[i][2]));
    }
    trees.points.build(trees.point_boxes);
    trees.edges.build(trees.edge_boxes);
    trees.triangles.build(trees.triangle_boxes);
}

const std::vector<geometry::ItemPair>& CoupledContacts::surface_pairs() {
    boxes_.assign(surfaces_.size(), Box3{});
    moves_.resize(surfaces_.size());
    for (std::size_t k = 0; k < surfaces_.size(); ++k) {
        moves_[k] = surfaces_[k].moves;
        double reach = 0.0;
        for (int p = surfaces_[k].first; p < surfaces_[k].last; ++p) {
            boxes_[k].add(reference_[p]);
            reach = std::max(reach, reach_[p]);
        }
        const double separation =
            k < static_cast<std::size_t>(model_->bodies.size()) ? model_->bodies.min_separation[k] : 0.0;
        boxes_[k].inflate(reach + 0.5 * scale_.dhat + separation);
    }
    broad_phase_.find_pairs(boxes_, body_pairs_, moves_);
    std::erase_if(body_pairs_, [&](const geometry::ItemPair& pair) {
        return !model_->may_collide(pair.a, pair.b) ||
               std::binary_search(never_.begin(), never_.end(), pair_key(pair.a, pair.b));
    });
    return body_pairs_;
}

void CoupledContacts::add_candidate(int pair, bool edges, std::array<int, 4> point, double rest_lengths) {
    SurfaceCandidate candidate{point, pair, edges, 1.0};
    if (edges) {
        const double value = geometry::mollifier_value(start_[point[1]] - start_[point[0]],
                                                       start_[point[3]] - start_[point[2]],
                                                       geometry::mollifier_threshold(1.0, rest_lengths));
        candidate.weight = std::max(value, least_mollifier);
    }
    candidates_.push_back(candidate);
}

void CoupledContacts::find_pair(int a, int b) {
    const CoupledSurface &sa = surfaces_[a], &sb = surfaces_[b];
    const Trees &ta = trees_[a], &tb = trees_[b];
    const bool own = a == b;
    int number = -1;
    const auto add = [&](bool edges, const std::array<int, 4>& point, double rest_lengths) {
        if (own) {
            for (int i = 0; i < (edges ? 2 : 1); ++i)
                for (int j = edges ? 2 : 1; j < 4; ++j)
                    if (point[i] == point[j]) return;
            if (fixed_together(point)) return;
        }
        if (number < 0) number = pair_number(a, b);
        add_candidate(number, edges, point, rest_lengths);
    };
    const auto points_against = [&](const CoupledSurface& p, const Trees& tp, const CoupledSurface& t,
                                    const Trees& tt) {
        if (p.points.empty() || t.triangles.empty()) return;
        geometry::tree_pairs(tp.points, tp.point_boxes, tt.triangles, tt.triangle_boxes, found_);
        for (const auto& [i, j] : found_)
            add(false, {p.points[i], t.triangles[j][0], t.triangles[j][1], t.triangles[j][2]}, 0.0);
    };
    points_against(sa, ta, sb, tb);
    if (!own) points_against(sb, tb, sa, ta);
    if (sa.edges.empty() || sb.edges.empty()) return;
    if (own)
        geometry::self_pairs(ta.edges, ta.edge_boxes, found_);
    else
        geometry::tree_pairs(ta.edges, ta.edge_boxes, tb.edges, tb.edge_boxes, found_);
    for (const auto& [i, j] : found_)
        add(true, {sa.edges[i][0], sa.edges[i][1], sb.edges[j][0], sb.edges[j][1]},
            sa.edge_length_squared[i] * sb.edge_length_squared[j]);
}

void CoupledContacts::find(const std::vector<Vec3>& x, const std::vector<Vec3>& ahead) {
    ++builds_;
    candidates_.clear();
    contacts_.clear();
    measured_.clear();
    reference_.resize(x.size());
    reach_.resize(x.size());
    parallel_for(x.size(), 2048, [&](std::size_t i) {
        const Vec3 way = ahead[i] - x[i];
        reference_[i] = points_[i].node < 0 ? x[i] : Vec3(x[i] + 0.5 * way);
        reach_[i] = points_[i].node < 0 ? 0.0 : (0.5 + spare_motion) * way.norm() + scale_.dhat;
    });
    std::vector<char> needed(surfaces_.size(), 0);
    const std::vector<geometry::ItemPair>& pairs = surface_pairs();
    for (const auto& [a, b] : pairs) needed[a] = needed[b] = 1;
    for (std::size_t k = 0; k < surfaces_.size(); ++k) {
        if (surfaces_[k].deforms) needed[k] = 1;
        if (needed[k]) build_trees(static_cast<int>(k));
    }
    for (const auto& [a, b] : pairs) find_pair(a, b);
    for (std::size_t k = 0; k < surfaces_.size(); ++k)
        if (surfaces_[k].deforms) find_pair(static_cast<int>(k), static_cast<int>(k));
}

}  // namespace tenon::affine

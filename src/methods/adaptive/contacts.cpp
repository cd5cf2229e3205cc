#include "methods/adaptive/contacts.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/closest.hpp"
#include "geometry/distance.hpp"
#include "geometry/primitive_distance.hpp"
#include "math/binary_io.hpp"

namespace tenon::adaptive {

namespace collide = geometry::collide;

namespace {

constexpr double kSinking = 1e-3;        // of a body's least side, under its own weight
constexpr double kGiving = 0.5;          // compliance over inverse mass, at most
constexpr double kClearlyNearer = 0.01;  // of a solid's mean edge
constexpr double kTied = 1e-6;           // of a solid's mean edge, and of cosines: more than rounding
constexpr double kOnFace = 1e-9;         // weights this far below zero count as zero
constexpr int kSampledVertices = 64;     // bodies with few vertices are also looked for inside solids

// Pair and feature in 64 bits: 20 + 20 for the pair, 24 for the feature.
std::uint64_t make_key(int a, int b, std::uint32_t feature) {
    return (static_cast<std::uint64_t>(a) << 44) | (static_cast<std::uint64_t>(b) << 24) |
           (feature & 0xffffffu);
}

Support body_support(int body) {
    Support s;
    s.body = body;
    return s;
}

Support vertex_support(int solid, int vertex) {
    Support s;
    s.solid = solid;
    s.count = 1;
    s.vertex[0] = vertex;
    s.weight[0] = 1;
    return s;
}

bool attached(const Solid& solid, int body) {
    for (const Solid::Drive& d : solid.drives)
        if (d.body == body) return true;
    return std::find(solid.holders.begin(), solid.holders.end(), body) != solid.holders.end();
}

// Pinned vertices may lie in what holds them. What merely is rigid with them still has to notice that it is touched.
bool held(const Solid& solid, const SolidState& part, int vertex) {
    return part.owner[vertex] >= 0 && part.owner[vertex] < static_cast<int>(solid.drives.size()) &&
           solid.pinned[vertex];
}

Vec3 normal_of(const std::vector<Vec3>& x, const Triangle& t) {
    return (x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]).normalized();
}

bool faces(const std::vector<Vec3>& x, const Triangle& t, const Vec3& normal) {
    return normal_of(x, t).dot(normal) < -0.05;
}

// Distance and outward normal of a body's surface at a point of the world.
struct Field {
    const Shape* shape = nullptr;
    const geometry::SignedDistance* grid = nullptr;
    Mat3 R;
    Vec3 t;

    Field(const Shape& s, const collide::Collider& collider, const Mat34& pose) : shape(&s) {
        R = pose.leftCols<3>();
        t = pose.col(3);
        if (geometry::has_closed_form(s.primitive.kind)) {
            t += R * s.primitive.frame.position;
            R = R * s.primitive.frame.rotation.toRotationMatrix();
        } else {
            grid = collider.field.get();
        }
    }
    geometry::FieldSample at(const Vec3& point) const {
        const Vec3 local = R.transpose() * (point - t);
        if (!grid) {
            geometry::FieldSample sample = geometry::primitive_distance(shape->primitive, local);
            sample.normal = R * sample.normal;
            return sample;
        }
        const auto sample = grid->sample(local);
        const double length = sample.gradient.norm();
        return {sample.distance, length > 1e-9 ? Vec3(R * sample.gradient / length) : Vec3(Vec3::UnitY())};
    }
};

}  // namespace

double inverse_mass_of(const Solid& solid, const Support& point, const Vec3& direction, double dt) {
    double sum = 0;
    for (int k = 0; k < point.count; ++k) {
        const int v = point.vertex[k];
        const Mat3 block = dt * dt * solid.rest_block[v] + dt * solid.rest_damping_block[v];
        sum += point.weight[k] * point.weight[k] /
               (solid.mass[v] + dt * solid.damping[v] + direction.dot(block * direction));
    }
    return sum;
}

Contacts::Contacts(const Model& model, const State& state, const std::vector<Solid>& solids,
                   const geometry::SignedDistanceOptions& options) {
    std::vector<char> used(model.shapes.size(), 0);
    for (int i = 0; i < model.bodies.size(); ++i) used[model.bodies.shape[i]] |= model.bodies.collides[i];
    bool any_mesh = false;
    for (std::size_t s = 0; s < model.shapes.size(); ++s)
        any_mesh |= used[s] && collide::needs_field(*model.shapes[s]);
    colliders_.resize(model.shapes.size());
    for (std::size_t s = 0; s < model.shapes.size(); ++s) {
        if (!used[s]) continue;
        const bool closed_form = geometry::has_closed_form(model.shapes[s]->primitive.kind);
        colliders_[s] = collide::make_collider(*model.shapes[s], any_mesh || !closed_form, options,
                                               {"", model.shapes[s]->name});
    }
    for (int i = 0; i < model.bodies.size(); ++i)
        is_plane_.push_back(model.bodies.collides[i] &&
                            model.shape_of(i).primitive.kind == Primitive::Kind::plane);
    shapes_.resize(solids.size());
    if (state.gravity.norm() > 0) gravity_ = state.gravity.norm();
    for (int i = 0; i < model.bodies.size(); ++i) {
        mass_.push_back(state.dynamic(i) ? model.bodies.mass[i] : 0.0);
        softness_.push_back(state.dynamic(i) ? kSinking * model.shape_of(i).box.size().minCoeff() /
                                                   (mass_[i] * gravity_ / collide::max_points)
                                             : 1e300);
    }
    for (const Solid& solid : solids) {
        Box3 box;
        double mass = 0;
        for (const Vec3& x : solid.rest) box.add(x);
        for (double m : solid.mass) mass += m;
        Vec3 size = box.size();
        if (solid.elements.corners == 3) size.z() = size.head<2>().minCoeff();
        const double points = 1.0 + static_cast<double>(solid.surface_vertices.size()) / 8;
        softness_.push_back(kSinking * size.minCoeff() / (mass * gravity_ / points));
    }
}

void Contacts::find(const Model& model, const State& state, const std::vector<Solid>& solids,
                    const std::vector<SolidState>& states, const std::vector<Mat34>& poses, double dt,
                    double baumgarte) {
    points_.clear();
    ranges_.clear();
    for (std::size_t k = 0; k < shapes_.size(); ++k) find_frame(solids[k], states[k], shapes_[k]);
    find_pairs(model, state, poses);
    const int bodies = model.bodies.size();
    for (const geometry::ItemPair& pair : pairs_) {
        if (!model.may_collide(pair.a, pair.b)) continue;
        if (pair.b < bodies) {
            bodies_touch(model, pair.a, pair.b, poses);
        } else if (pair.a < bodies) {
            if (attached(solids[pair.b - bodies], pair.a)) continue;
            const int first = static_cast<int>(points_.size());
            solid_in_body(model, state, pair.a, pair.b - bodies, solids, states, poses[pair.a]);
            const int last = static_cast<int>(points_.size());
            if (last > first && shapes_[pair.b - bodies].in_frame &&
                state.type[pair.a] == BodyType::static_body)
                ranges_.push_back({pair.b - bodies, pair.a, first, last});
            body_in_solid(model, pair.a, pair.b - bodies, solids, states, poses[pair.a]);
        } else {
            solid_in_solid(model, pair.a - bodies, pair.b - bodies, solids, states);
            solid_in_solid(model, pair.b - bodies, pair.a - bodies, solids, states);
        }
    }
    for (TouchPoint& p : points_) {
        p.friction = model.pair_friction(p.a, p.b);
        p.restitution = model.pair_restitution(p.a, p.b);
        if (const Memory* known = recall(p.key)) {
            p.fresh = false;
            p.impulse = known->impulse;
            p.stretch = known->stretch - known->stretch.dot(p.normal) * p.normal;
        }
        p.softness = softness_of(p, solids, dt, baumgarte);
    }
}

// The stiffer side's, which is made for a weight at rest. Two loads are larger: a blow, which would take many short steps to
// stop, and what a light rigid body carries besides itself. A blow leaves at most kGiving / (1 + kGiving) of the speed
// after a step; and what pushed a rigid body with more than its own weight in the last step finds it as deep as its
// weight on one contact would have it.
double Contacts::softness_of(const TouchPoint& p, const std::vector<Solid>& solids, double dt,
                             double baumgarte) const {
    const int stiffer = softness_[p.a] <= softness_[p.b] ? p.a : p.b;
    const Support& side = stiffer == p.a ? p.on_a : p.on_b;
    double softness = softness_[stiffer];
    const double inverse_mass = side.solid >= 0      ? inverse_mass_of(solids[side.solid], side, p.normal, dt)
                                : mass_[stiffer] > 0 ? 1 / mass_[stiffer]
                                                     : 0.0;
    if (baumgarte > 0 && inverse_mass > 0)
        softness = std::min(softness, kGiving * dt * dt / baumgarte * inverse_mass);
    if (side.solid >= 0) return softness;
    const double load = p.impulse.dot(p.normal) / dt, weight = mass_[stiffer] * gravity_;
    return load > weight && weight > 0 ? softness * weight / load : softness;
}

const Contacts::Memory* Contacts::recall(std::uint64_t key) const {
    const auto known = std::lower_bound(memory_.begin(), memory_.end(), key,
                                        [](const Memory& m, std::uint64_t k) { return m.key < k; });
    return known == memory_.end() || known->key != key ? nullptr : &*known;
}

void Contacts::find_frame(const Solid& solid, const SolidState& part, SolidShape& shape) const {
    const bool was = shape.in_frame && shape.framed == part.formed;
    shape.in_frame = was || (part.wholly_rigid() && part.components.size() == 1 &&
                             part.components[0].vertices.size() == part.x.size());
    if (!shape.in_frame) {
        shape.rotation.setIdentity();
        shape.position.setZero();
    } else {
        shape.rotation = part.components[0].state.rotation.toRotationMatrix();
        shape.position = part.components[0].state.position;
    }
    shape.framed = part.formed;
    if (was) return;
    shape.current = shape.vertices_current = false;
    const std::vector<Vec3>& at = shape.in_frame ? part.local : part.x;
    shape.box = {};
    for (int v : solid.surface_vertices) shape.box.add(at[v]);
}

void Contacts::find_pairs(const Model& model, const State& state, const std::vector<Mat34>& poses) {
    const int bodies = model.bodies.size();
    const Box3 nowhere{Vec3::Constant(1e30), Vec3::Constant(1e30)};
    boxes_.assign(bodies + shapes_.size(), Box3{});
    moves_.assign(bodies + shapes_.size(), 1);
    for (int i = 0; i < bodies; ++i) {
        moves_[i] = state.dynamic(i);
        if (is_plane_[i] || !model.bodies.collides[i]) {
            boxes_[i] = nowhere;
            moves_[i] = 0;
            continue;
        }
        const Box3& local = model.shape_of(i).box;
        const Vec3 center = transform(poses[i], local.center());
        const Vec3 half = poses[i].leftCols<3>().cwiseAbs() * (0.5 * local.size());
        boxes_[i] = {center - half, center + half};
    }
    for (std::size_t s = 0; s < shapes_.size(); ++s) {
        const SolidShape& shape = shapes_[s];
        boxes_[bodies + s] = shape.box;
        if (!shape.in_frame) continue;
        const Vec3 center = shape.position + shape.rotation * shape.box.center();
        const Vec3 half = shape.rotation.cwiseAbs() * (0.5 * shape.box.size());
        boxes_[bodies + s] = {center - half, center + half};
    }
    broad_.find_pairs(boxes_, pairs_, moves_);
    for (int plane = 0; plane < bodies; ++plane) {
        if (!is_plane_[plane]) continue;
        for (int i = 0; i < static_cast<int>(boxes_.size()); ++i)
            if (moves_[i]) pairs_.push_back({std::min(plane, i), std::max(plane, i)});
    }
}

void Contacts::add(TouchPoint point) {
    points_.push_back(std::move(point));
}

void Contacts::bodies_touch(const Model& model, int a, int b, const std::vector<Mat34>& poses) {
    found_.clear();
    collide::find_contacts(colliders_[model.bodies.shape[a]], poses[a].leftCols<3>(), poses[a].col(3),
                           colliders_[model.bodies.shape[b]], poses[b].leftCols<3>(), poses[b].col(3), 0.0,
                           found_);
    for (const collide::PairContact& c : found_) {
        TouchPoint p;
        p.key = make_key(a, b, c.id);
        p.a = b;
        p.b = a;
        p.on_a = body_support(b);
        p.on_b = body_support(a);
        p.point = c.point;
        p.normal = c.normal;
        p.distance = c.distance;
        add(p);
    }
}

void Contacts::update_vertices(const Solid& solid, const SolidState& part, SolidShape& shape) {
    if (shape.vertices_current) return;
    shape.vertex_boxes.clear();
    for (int v : solid.surface_vertices) shape.vertex_boxes.push_back({part.local[v], part.local[v]});
    if (shape.vertex_tree.empty())
        shape.vertex_tree.build(shape.vertex_boxes);
    else
        shape.vertex_tree.refit(shape.vertex_boxes);
    shape.vertices_current = true;
}

const std::vector<int>& Contacts::vertices_below(const Solid& solid, const SolidState& part,
                                                 SolidShape& shape, const Mat34& pose, const Shape& plane) {
    if (!shape.in_frame) return solid.surface_vertices;
    update_vertices(solid, part, shape);
    Mat3 turned = pose.leftCols<3>();
    Vec3 origin = pose.col(3);
    origin += turned * plane.primitive.frame.position;
    turned = turned * plane.primitive.frame.rotation.toRotationMatrix();
    // distances to the plane over the vertex tree's boxes, with room for their rounding
    const Vec3 up = shape.rotation.transpose() * turned.col(1);
    const double height =
        up.dot(shape.to_frame(origin) - shape.vertex_tree.origin()) + 1e-6 * shape.box.size().maxCoeff();
    const auto nodes = shape.vertex_tree.nodes();
    shape.near.clear();
    shape.vertex_tree.visit_where(
        [&](int i) {
            double lowest = 0;
            for (int k = 0; k < 3; ++k) lowest += up[k] * (up[k] > 0 ? nodes[i].lo[k] : nodes[i].hi[k]);
            return lowest < height;
        },
        [&](int item) { shape.near.push_back(solid.surface_vertices[item]); });
    std::sort(shape.near.begin(), shape.near.end());
    return shape.near;
}

const std::vector<int>& Contacts::vertices_in(const Box3& box, const Solid& solid, const SolidState& part,
                                              SolidShape& shape) {
    if (!shape.in_frame) return solid.surface_vertices;
    update_vertices(solid, part, shape);
    const Vec3 center = shape.to_frame(box.center());
    const Vec3 half = shape.rotation.transpose().cwiseAbs() * (0.5 * box.size());
    shape.near.clear();
    shape.vertex_tree.visit_overlaps({center - half, center + half},
                                     [&](int item) { shape.near.push_back(solid.surface_vertices[item]); });
    std::sort(shape.near.begin(), shape.near.end());
    return shape.near;
}

void Contacts::solid_in_body(const Model& model, const State& state, int body, int solid,
                             const std::vector<Solid>& solids, const std::vector<SolidState>& states,
                             const Mat34& pose) {
    const int bodies = model.bodies.size();
    const Field field(model.shape_of(body), colliders_[model.bodies.shape[body]], pose);
    for (int v : is_plane_[body] ? vertices_below(solids[solid], states[solid], shapes_[solid], pose,
                                                  model.shape_of(body))
                                 : vertices_in(boxes_[body], solids[solid], states[solid], shapes_[solid])) {
        const Vec3& x = states[solid].x[v];
        if (!is_plane_[body] && !boxes_[body].contains(x)) continue;
        const geometry::FieldSample sample = field.at(x);
        if (sample.distance >= 0) continue;
        if (!state.dynamic(body) && held(solids[solid], states[solid], v)) continue;
        TouchPoint p;
        p.key = make_key(bodies + solid, body, static_cast<std::uint32_t>(v));
        p.a = bodies + solid;
        p.b = body;
        p.on_a = vertex_support(solid, v);
        p.on_b = body_support(body);
        p.point = x;
        p.normal = sample.normal;
        p.distance = sample.distance;
        add(p);
    }
}

// Corners of bodies that are smaller than the solid's own triangles.
void Contacts::body_in_solid(const Model& model, int body, int solid, const std::vector<Solid>& solids,
                             const std::vector<SolidState>& states, const Mat34& pose) {
    const std::vector<Vec3>& corners = model.shape_of(body).mesh.vertices;
    if (is_plane_[body] || corners.size() > kSampledVertices || solids[solid].elements.corners == 3) return;
    const int bodies = model.bodies.size();
    for (std::size_t k = 0; k < corners.size(); ++k) {
        const Vec3 at = transform(pose, corners[k]);
        if (!boxes_[bodies + solid].contains(at)) continue;
        TouchPoint p;
        p.key = make_key(body, bodies + solid, static_cast<std::uint32_t>(k));
        if (!surface_of(solid, solids, states, at, -1, -1, p)) continue;
        p.a = body;
        p.b = bodies + solid;
        p.on_a = body_support(body);
        p.point = at;
        add(p);
    }
}

void Contacts::solid_in_solid(const Model& model, int inner, int outer, const std::vector<Solid>& solids,
                              const std::vector<SolidState>& states) {
    if (solids[outer].elements.corners == 3) return;
    const int bodies = model.bodies.size();
    for (int v : vertices_in(boxes_[bodies + outer], solids[inner], states[inner], shapes_[inner])) {
        const Vec3& x = states[inner].x[v];
        if (!boxes_[bodies + outer].contains(x)) continue;
        TouchPoint p;
        p.key = make_key(bodies + inner, bodies + outer, static_cast<std::uint32_t>(v));
        if (!surface_of(outer, solids, states, x, v, inner, p)) continue;
        p.a = bodies + inner;
        p.b = bodies + outer;
        p.on_a = vertex_support(inner, v);
        p.point = x;
        add(p);
    }
}

void Contacts::fill_around(const Solid& solid, SolidShape& shape) {
    if (!shape.around.empty()) return;
    shape.around.resize(solid.rest.size());
    for (std::size_t t = 0; t < solid.surface.size(); ++t)
        for (int v : solid.surface[t]) shape.around[v].push_back(static_cast<int>(t));
}

Vec3 Contacts::vertex_normal(const Solid& solid, const SolidState& part, SolidShape& shape,
                             int vertex) const {
    fill_around(solid, shape);
    Vec3 sum = Vec3::Zero();
    for (int t : shape.around[vertex]) sum += normal_of(part.x, solid.surface[t]);
    return sum.normalized();
}

int Contacts::nearest_facing(const SolidShape& shape, const std::vector<Vec3>& x, const Vec3& at_rest,
                             const Vec3& facing, Vec3& nearest) const {
    int best = -1;
    double least = 1e300;
    const std::vector<Vec3>& rest = shape.rest.vertices;
    for (std::size_t t = 0; t < shape.rest.triangles.size(); ++t) {
        const Triangle& f = shape.rest.triangles[t];
        if (!faces(x, f, facing)) continue;
        const geometry::Closest found =
            geometry::closest_point_triangle(at_rest, rest[f[0]], rest[f[1]], rest[f[2]]);
        if (found.squared >= least) continue;
        least = found.squared;
        best = static_cast<int>(t);
        nearest = at_rest - found.difference;
    }
    return best;
}

// Below a dent all triangles around its edge or corner are equally near, and rounding must not choose between them: the one
// that faces most what touches it counts, and of equals the first.
void Contacts::settle_ties(const Solid& solid, const SolidShape& shape, const std::vector<Vec3>& x,
                           const Vec3& at_rest, const Vec3& facing, int& triangle, Vec3& nearest) const {
    const std::vector<Vec3>& rest = shape.rest.vertices;
    const Triangle found = shape.rest.triangles[triangle];
    const auto closest = [&](const Triangle& f) {
        return geometry::closest_point_triangle(at_rest, rest[f[0]], rest[f[1]], rest[f[2]]);
    };
    const geometry::Closest first = closest(found);
    if (first.sub_case == geometry::SubCase::point_triangle) return;
    const double least = std::sqrt(first.squared) + kTied * solid.mean_edge();
    double most = 2;
    for (int v : found)
        for (int t : shape.around[v]) {
            const Triangle& f = shape.rest.triangles[t];
            const double turned = normal_of(x, f).dot(facing);
            if (turned > most + kTied || (turned > most - kTied && t >= triangle)) continue;
            const geometry::Closest other = closest(f);
            if (std::sqrt(other.squared) > least) continue;
            most = turned;
            triangle = t;
            nearest = at_rest - other.difference;
        }
}

bool Contacts::surface_of(int solid, const std::vector<Solid>& solids, const std::vector<SolidState>& states,
                          const Vec3& point, int vertex, int of_solid, TouchPoint& touch) {
    const ElasticElements& e = solids[solid].elements;
    const std::vector<Vec3>& x = states[solid].x;
    SolidShape& shape = shapes_[solid];
    const std::vector<Vec3>& in_frame = shape.in_frame ? states[solid].local : x;
    const Vec3 asked = shape.in_frame ? shape.to_frame(point) : point;
    if (!shape.current) {
        shape.boxes.resize(e.tets.size());
        for (std::size_t i = 0; i < e.tets.size(); ++i) {
            shape.boxes[i] = {};
            for (int v : e.tets[i]) shape.boxes[i].add(in_frame[v]);
        }
        if (shape.built) {
            shape.tree.refit(shape.boxes);
        } else {
            shape.tree.build(shape.boxes);
            shape.rest.vertices = solids[solid].rest;
            shape.rest.triangles = solids[solid].surface;
            shape.surface = geometry::SurfaceTree(shape.rest, shape.edges);
            fill_around(solids[solid], shape);
            shape.built = true;
        }
        shape.current = true;
    }
    int inside = -1;
    Vec3 weights;  // of corners 1 to 3
    shape.tree.visit_overlaps({asked, asked}, [&](int i) {
        if (inside >= 0 && i > inside) return;  // folded elements overlap: always the same one
        const Tet& t = e.tets[i];
        Mat3 edges;
        const Vec3& corner = in_frame[t[0]];
        edges << in_frame[t[1]] - corner, in_frame[t[2]] - corner, in_frame[t[3]] - corner;
        if (edges.determinant() == 0) return;
        const Vec3 w = edges.inverse() * (asked - corner);
        if (w.minCoeff() >= -kOnFace && w.sum() <= 1 + kOnFace) {
            inside = i;
            weights = w;
        }
    });
    if (inside < 0) return false;
    const Tet& t = e.tets[inside];
    const std::vector<Vec3>& rest = shape.rest.vertices;
    Vec3 at_rest = (1 - weights.sum()) * rest[t[0]];
    for (int k = 0; k < 3; ++k) at_rest += weights[k] * rest[t[k + 1]];
    // Lattices are symmetric, and what falls straight is as near to one triangle as to its mirror image.
    at_rest += kTied * solids[solid].mean_edge() * Vec3(1, 0.6, 0.3);
    const geometry::SurfacePoint found = geometry::closest_point(shape.surface, at_rest);
    if (found.triangle < 0) return false;
    Vec3 nearest = found.point;
    int triangle = found.triangle;
    Vec3 facing = Vec3::Zero();
    if (of_solid >= 0) {
        facing = vertex_normal(solids[of_solid], states[of_solid], shapes_[of_solid], vertex);
        if (!faces(x, shape.rest.triangles[triangle], facing))
            triangle = nearest_facing(shape, x, at_rest, facing, nearest);
    }
    if (triangle < 0) return false;
    settle_ties(solids[solid], shape, x, at_rest, facing, triangle, nearest);
    const Memory* known = recall(touch.key);
    const long triangles = static_cast<long>(shape.rest.triangles.size());
    if (known && known->triangle >= 0 && known->triangle < triangles && known->triangle != triangle) {
        const Triangle& last = shape.rest.triangles[known->triangle];
        const geometry::Closest to =
            geometry::closest_point_triangle(at_rest, rest[last[0]], rest[last[1]], rest[last[2]]);
        if (std::sqrt(to.squared) < (at_rest - nearest).norm() + kClearlyNearer * solids[solid].mean_edge()) {
            triangle = static_cast<int>(known->triangle);
            nearest = at_rest - to.difference;
        }
    }
    touch.triangle = triangle;
    Support& support = touch.on_b;
    const Triangle& f = shape.rest.triangles[triangle];
    const Vec3 ab = rest[f[1]] - rest[f[0]], ac = rest[f[2]] - rest[f[0]], ap = nearest - rest[f[0]];
    const Vec3 area = ab.cross(ac);
    const double wb = ap.cross(ac).dot(area) / area.squaredNorm(),
                 wc = ab.cross(ap).dot(area) / area.squaredNorm();
    support.solid = solid;
    support.count = 3;
    support.vertex = {f[0], f[1], f[2]};
    support.weight = {1 - wb - wc, wb, wc};
    Vec3 on_surface = Vec3::Zero();
    for (int k = 0; k < 3; ++k) on_surface += support.weight[k] * x[f[k]];
    touch.normal = normal_of(x, f);
    touch.distance = (point - on_surface).dot(touch.normal);
    return touch.distance < 0;
}

void Contacts::remember(const std::vector<TouchPoint>& others) {
    memory_.clear();
    for (const std::vector<TouchPoint>* list : {&std::as_const(points_), &others})
        for (const TouchPoint& p : *list)
            if (p.solved) memory_.push_back({p.key, p.impulse, p.stretch, p.triangle});
    std::sort(memory_.begin(), memory_.end(), [](const Memory& a, const Memory& b) { return a.key < b.key; });
}

void Contacts::save(std::ostream& out) const {
    write_values(out, memory_);
}

void Contacts::load(std::istream& in) {
    read_values(in, memory_);
}

}  // namespace tenon::adaptive

#include "methods/articulated/elastic_contacts.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/distance.hpp"

namespace tenon::articulated {
namespace {

using Kind = geometry::collide::Collider::Kind;

constexpr double heavier = 10.0;  // times a vertex: contacts hold what rests on it without a visible dent
constexpr std::uint64_t of_body = 1ull << 32, of_solid = 1ull << 33;  // kinds of features

}  // namespace

ElasticContacts::ElasticContacts(const Model& model, const std::vector<ElasticSolid>& solids,
                                 const ContactOptions& options)
    : options_(options),
      holds_(solids.size(), std::vector<char>(model.bodies.size(), 0)),
      trees_(solids.size()),
      boxes_(solids.size()) {
    const int count = model.bodies.size();
    for (std::size_t e = 0; e < solids.size(); ++e)
        for (const ElasticBody::Pin& pin : model.elastic[e].pins)
            if (pin.body >= 0) holds_[e][pin.body] = 1;
    colliders_.resize(model.shapes.size());
    probes_.resize(model.shapes.size());
    for (int i = 0; i < count; ++i) {
        if (!model.bodies.collides[i]) continue;
        bodies_.push_back(i);
        const int s = model.bodies.shape[i];
        const Shape& shape = *model.shapes[s];
        if (!probes_[s].empty() || colliders_[s].field || colliders_[s].radius > 0.0) continue;
        colliders_[s] = geometry::collide::make_collider(shape, !has_closed_form(shape.primitive.kind), {},
                                                         {"", shape.name});
        if (colliders_[s].kind != Kind::plane) probes_[s] = make_probes(shape);
    }
}

void ElasticContacts::find(const Model& model, const State& state, const BodyField& field,
                           const std::vector<ElasticSolid>& solids, double h, std::vector<char>& hit,
                           std::vector<int>& impacts) {
    points_.clear();
    slide_ = options_.slide_speed * h;
    const Step step{model, state, field, solids, h, hit, impacts};
    const int count = model.bodies.size();
    std::vector<double> reach(solids.size(), 0.0);
    for (std::size_t e = 0; e < solids.size(); ++e) {
        const ElasticState& now = state.elastic[e];
        triangle_boxes_.assign(solids[e].surface.size(), {});
        boxes_[e] = {};
        for (std::size_t t = 0; t < triangle_boxes_.size(); ++t) {
            for (int v : solids[e].surface[t]) triangle_boxes_[t].add(now.x[v]);
            boxes_[e].add(triangle_boxes_[t]);
        }
        trees_[e].build(triangle_boxes_);
        double speed = 0.0;
        for (const Vec3& v : now.v) speed = std::max(speed, v.norm());
        reach[e] = h * speed + 0.5 * h * h * state.gravity.norm();
    }
    for (std::size_t e = 0; e < solids.size(); ++e) {
        const int solid = static_cast<int>(e);
        for (int body : bodies_) {
            if (holds_[e][body] || !model.may_collide(body, count + solid)) continue;
            const auto& collider = colliders_[model.bodies.shape[body]];
            const double near =
                std::max(1.2 * (reach[e] + step_reach(state, field, body, collider.radius, h)),
                         1e-3 * solids[e].mean_edge);
            const Box3 box = collider_box(collider, field.x[body], near);
            if (!box.overlaps(boxes_[e])) continue;
            solid_on_body(step, solid, body, box, near);
            body_on_solid(step, body, solid, near);
        }
        for (std::size_t f = 0; f < e; ++f) {
            const double near = std::max(1.2 * (reach[e] + reach[f]), 1e-3 * solids[e].mean_edge);
            Box3 box = boxes_[e];
            box.inflate(near);
            if (!box.overlaps(boxes_[f])) continue;
            solid_on_solid(step, solid, static_cast<int>(f), near);
            solid_on_solid(step, static_cast<int>(f), solid, near);
        }
    }
}

void ElasticContacts::solid_on_body(const Step& step, int solid, int body, const Box3& box, double near) {
    const Shape& shape = step.model.shape_of(body);
    const auto& collider = colliders_[step.model.bodies.shape[body]];
    const bool closed = has_closed_form(shape.primitive.kind);
    if (!closed && !collider.field) return;
    const PlacedDistance distance(closed ? &shape.primitive : nullptr, collider.field.get(),
                                  step.field.x[body]);
    FieldSample sample;
    for (int v : step.solids[solid].surface_vertices) {
        const Vec3& x = step.state.elastic[solid].x[v];
        if (!box.contains(x) || !distance.at(x, sample) || sample.distance > near) continue;
        add(step, {body, -1, {}, x - sample.distance * sample.normal}, {-1, solid, solid_vertex(v), x},
            sample.normal, sample.distance, static_cast<std::uint64_t>(v));
    }
}

// Bodies that are smaller than the triangles of a solid lie between its vertices.
void ElasticContacts::body_on_solid(const Step& step, int body, int solid, double near) {
    const auto& probes = probes_[step.model.bodies.shape[body]];
    for (std::size_t k = 0; k < probes.size(); ++k) {
        const Vec3 center = transform(step.field.x[body], probes[k].center);
        const Nearest found =
            nearest(step.solids[solid], step.state.elastic[solid].x, center, near + probes[k].radius);
        if (!found.found || found.distance - probes[k].radius > near) continue;
        add(step, {-1, solid, found.point, center - found.distance * found.normal},
            {body, -1, {}, center - probes[k].radius * found.normal}, found.normal,
            found.distance - probes[k].radius, of_body | k);
    }
}

void ElasticContacts::solid_on_solid(const Step& step, int of, int on, double near) {
    for (int v : step.solids[of].surface_vertices) {
        const Vec3& x = step.state.elastic[of].x[v];
        const Nearest found = nearest(step.solids[on], step.state.elastic[on].x, x, near);
        if (!found.found || found.distance > near) continue;
        add(step, {-1, on, found.point, x - found.distance * found.normal}, {-1, of, solid_vertex(v), x},
            found.normal, found.distance, of_solid | static_cast<std::uint64_t>(v));
    }
}

// The nearest point of a solid's surface; inside it is looked for as deep as a triangle is long.
ElasticContacts::Nearest ElasticContacts::nearest(const ElasticSolid& solid, const std::vector<Vec3>& x,
                                                  const Vec3& point, double reach) const {
    Nearest out;
    const double far = reach + solid.mean_edge;
    Box3 box{point, point};
    box.inflate(far);
    if (!box.overlaps(boxes_[solid.index])) return out;
    struct Found {
        int triangle;
        geometry::Closest closest;
    };
    std::vector<Found> near;
    double least = far * far;
    trees_[solid.index].visit_overlaps(box, [&](int t) {
        const Triangle& f = solid.surface[t];
        const geometry::Closest c = geometry::closest_point_triangle(point, x[f[0]], x[f[1]], x[f[2]]);
        least = std::min(least, c.squared);
        near.push_back({t, c});
    });
    // the same triangle whatever the tree looks like; all that share the nearest edge or corner say what is outside
    const Found* first = nullptr;
    Vec3 outward = Vec3::Zero();
    for (const Found& found : near) {
        if (found.closest.squared > least * (1.0 + 1e-9) + 1e-24) continue;
        const Triangle& f = solid.surface[found.triangle];
        outward += (x[f[1]] - x[f[0]]).cross(x[f[2]] - x[f[0]]).normalized();
        if (!first || found.triangle < first->triangle) first = &found;
    }
    if (!first) return out;
    outward.normalize();
    const double length = std::sqrt(first->closest.squared);
    const bool outside = first->closest.difference.dot(outward) >= 0.0;
    out.found = true;
    out.distance = outside ? length : -length;
    out.normal = length > 1e-9 * solid.mean_edge ? Vec3(first->closest.difference / out.distance) : outward;
    out.point.count = 3;
    const Triangle& f = solid.surface[first->triangle];
    for (int k = 0; k < 3; ++k) {
        out.point.vertex[k] = f[k];
        out.point.weight[k] = -first->closest.weight[k + 1];
    }
    return out;
}

void ElasticContacts::add(const Step& step, const Side& a, const Side& b, const Vec3& normal, double distance,
                          std::uint64_t feature) {
    const int count = step.model.bodies.size();
    ElasticContact contact;
    ContactPoint& law = contact.law;
    const Side* sides[2] = {&a, &b};
    Vec3 start[2], velocity[2];
    int number[2], moving = 0;
    double stiffness = 1e300;
    for (int k = 0; k < 2; ++k) {
        const Side& side = *sides[k];
        number[k] = side.solid < 0 ? side.body : count + side.solid;
        contact.solid[k] = side.solid;
        contact.point[k] = side.point;
        if (side.solid < 0) {
            const Mat34& pose = step.field.x[side.body];
            Vec3& local = k == 0 ? law.xa : law.xb;
            local = pose.leftCols<3>().inverse() * (side.at - pose.col(3));
            start[k] = transform(step.state.q[side.body], local);
            velocity[k] = transform(step.state.rate[side.body], local);
            moving += step.field.moving[side.body];
            continue;
        }
        const ElasticSolid& solid = step.solids[side.solid];
        start[k] = velocity[k] = Vec3::Zero();
        for (int p = 0; p < side.point.count; ++p) {
            start[k] += side.point.weight[p] * step.state.elastic[side.solid].x[side.point.vertex[p]];
            velocity[k] += side.point.weight[p] * step.state.elastic[side.solid].v[side.point.vertex[p]];
        }
        stiffness =
            std::min(stiffness, std::max(solid.young * solid.mean_edge,
                                         heavier * solid.mass_at(side.point) / (solid.eta * solid.eta)));
        ++moving;
    }
    contact.both_move = moving == 2;
    law.a = number[0];
    law.b = number[1];
    law.both_move = contact.both_move;
    law.normal = normal;
    law.stiffness = options_.stiffness * stiffness;
    law.friction = step.model.pair_friction(number[0], number[1]);
    law.aim = distance < 0.0 ? overlap_left * distance : 0.0;
    law.key = contact_key(number[0], number[1], feature);
    law.start = start[1] - start[0];
    const Vec3 relative = velocity[1] - velocity[0];
    const double approach = -relative.dot(normal);
    const auto last = last_force_.find(law.key);
    const bool fresh = last == last_force_.end();
    law.force = fresh ? 0.0 : last->second;
    law.active = distance - step.h * approach < law.aim || law.force > 0.0;
    if (law.active && fresh && approach > 3.0 * step.h * step.state.gravity.norm())
        for (const Side* side : sides) {
            if (side->solid >= 0)
                step.hit[side->solid] = 1;
            else if (step.field.moving[side->body])
                step.impacts.push_back(side->body);
        }
    law.friction_limit = law.friction * law.force;
    choose_contact_branch(law, law.start + step.h * relative, slide_);
    law.active = law.active || law.force > 0.0;
    points_.push_back(contact);
}

Vec3 ElasticContacts::separation(const ElasticContact& contact, const BodyField& field,
                                 const std::vector<ElasticSolid>& solids) {
    const auto end = [&](int side) -> Vec3 {
        if (const int solid = contact.solid[side]; solid >= 0) return solids[solid].at(contact.point[side]);
        return side == 0 ? transform(field.x[contact.law.a], contact.law.xa)
                         : transform(field.x[contact.law.b], contact.law.xb);
    };
    return end(1) - end(0);
}

void ElasticContacts::write(const BodyField& field, const std::vector<ElasticSolid>& solids,
                            Outputs& outputs) const {
    for (const ElasticContact& c : points_) {
        const Vec3 s = separation(c, field, solids);
        const Vec3 force = -contact_slope(c.law, s, slide_);
        if (!(force.dot(c.law.normal) > 0.0)) continue;
        Contact out;
        out.a = c.law.a;
        out.b = c.law.b;
        out.point =
            c.solid[1] >= 0 ? solids[c.solid[1]].at(c.point[1]) : transform(field.x[c.law.b], c.law.xb);
        out.normal = c.law.normal;
        out.distance = c.law.normal.dot(s);
        out.force = force;
        outputs.contacts.push_back(out);
    }
}

double ElasticContacts::min_distance(const BodyField& field, const std::vector<ElasticSolid>& solids) const {
    double least = 1e300;
    for (const ElasticContact& c : points_)
        least = std::min(least, c.law.normal.dot(separation(c, field, solids)));
    return least;
}

void ElasticContacts::remember() {
    last_force_.clear();
    for (const ElasticContact& c : points_)
        if (c.law.force > 0.0) last_force_[c.law.key] = c.law.force;
}

}  // namespace tenon::articulated

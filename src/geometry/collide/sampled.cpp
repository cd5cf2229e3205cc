// Contacts of non-convex meshes: points of each surface where they are inside, or near, the other.
#include <algorithm>
#include <cmath>

#include "geometry/collide/collide.hpp"

namespace tenon::geometry::collide {
namespace {

using Kind = Collider::Kind;
constexpr int max_groups = 4;

SignedDistance::Sample box_field(const Vec3& half, const Vec3& p) {
    const Vec3 outside = p.cwiseAbs() - half;
    SignedDistance::Sample s;
    if ((outside.array() <= 0).all()) {
        int axis;
        s.distance = outside.maxCoeff(&axis);
        s.gradient[axis] = p[axis] < 0 ? -1 : 1;
        return s;
    }
    const Vec3 d = p - p.cwiseMax(-half).cwiseMin(half);
    s.distance = d.norm();
    s.gradient = d / s.distance;
    return s;
}

// Signed distance of a collider at a point of its body frame.
SignedDistance::Sample field_at(const Collider& c, const Vec3& p) {
    if (c.kind != Kind::box) return c.field->sample(p);
    if (!c.framed) return box_field(c.half, p);
    SignedDistance::Sample s = box_field(c.half, c.frame.rotation.conjugate() * (p - c.frame.position));
    s.gradient = c.frame.rotation * s.gradient;
    return s;
}

// The points of `from` against the field of `into`. `flip`: `into` is the second body.
void one_way(const Collider& from, const Placement& pf, const Collider& into, const Placement& pi,
             double margin, bool flip, ContactList& out) {
    auto offer = [&](const Vec3& world, double radius, std::uint32_t id) {
        const SignedDistance::Sample s = field_at(into, pi.to_local(world));
        const double distance = s.distance - radius;
        const double slope = s.gradient.norm();
        if (distance > margin || slope < 0.3) return;  // flat spots of the field have no direction
        PairContact c;
        const Vec3 outward = pi.R * (s.gradient / slope);
        c.normal = flip ? Vec3(-outward) : outward;
        c.distance = distance;
        c.point = world - (radius + 0.5 * distance) * outward;
        c.id = id << 1 | (flip ? 1u : 0u);
        out.push_back(c);
    };
    if (from.kind == Kind::sphere) {
        offer(placement(from, pf.R, pf.t).t, from.half.x(), 0);
    } else if (from.kind == Kind::capsule) {
        const Placement place = placement(from, pf.R, pf.t);
        for (int k = 0; k <= 8; ++k)
            offer(place.to_world(Vec3(0, from.half.y() * (k / 4.0 - 1.0), 0)), from.half.x(),
                  static_cast<std::uint32_t>(k));
    } else {
        const Mat3 R = pi.R.transpose() * pf.R;
        const Vec3 t = pi.R.transpose() * (pf.t - pi.t);
        for (const SurfaceSamples::Cluster& cluster : from.samples.clusters) {
            if (field_at(into, R * cluster.center + t).distance > cluster.radius + margin) continue;
            for (int i = cluster.begin; i < cluster.end; ++i)
                offer(pf.to_world(from.samples.points[i]), 0.0, static_cast<std::uint32_t>(i));
        }
    }
}

bool has_field(const Collider& c) {
    return c.kind == Kind::box || c.field;
}

}  // namespace

void sampled_contacts(const Collider& a, const Placement& body_a, const Collider& b, const Placement& body_b,
                      double margin, ContactList& out) {
    const std::size_t first = out.size();
    if (has_field(a)) one_way(b, body_b, a, body_a, margin, false, out);
    if (has_field(b)) one_way(a, body_a, b, body_b, margin, true, out);
    reduce_by_normal(out, first, max_groups);
}

}  // namespace tenon::geometry::collide

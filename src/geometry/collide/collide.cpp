#include "geometry/collide/collide.hpp"

#include <algorithm>

#include "geometry/collide/features.hpp"

namespace tenon::geometry::collide {
namespace {

using Kind = Collider::Kind;

void flip_from(ContactList& contacts, std::size_t first) {
    for (std::size_t i = first; i < contacts.size(); ++i) contacts[i].normal = -contacts[i].normal;
}

bool takes_second_place(const Collider& a, const Collider& b) {
    // analytic pairs are written for one order: plane first, sphere last
    if (b.kind == Kind::plane) return a.kind != Kind::plane;
    return a.kind == Kind::sphere && b.kind != Kind::sphere;
}

void ordered(const Collider& a, const Mat3& Ra, const Vec3& ta, const Collider& b, const Mat3& Rb,
             const Vec3& tb, double margin, ContactList& out) {
    if (a.kind == Kind::plane && b.kind == Kind::plane) return;
    if (a.kind == Kind::mesh || b.kind == Kind::mesh) {
        if (a.kind == Kind::plane) return plane_convex(placement(a, Ra, ta), b, {Rb, tb}, margin, out);
        return sampled_contacts(a, {Ra, ta}, b, {Rb, tb}, margin, out);
    }
    const Placement pa = placement(a, Ra, ta), pb = placement(b, Rb, tb);
    if (a.kind == Kind::plane) return plane_convex(pa, b, pb, margin, out);
    const std::size_t first = out.size();
    if (a.kind == Kind::box && b.kind == Kind::box) {
        if (!box_box(a.half, pa, b.half, pb, margin, out) || out.size() > first) return;
        // within the margin, but past each other's faces: corner to corner, or corner to edge
    }
    if (b.kind == Kind::sphere) {
        if (a.kind == Kind::sphere) return sphere_sphere(a.half.x(), pa.t, b.half.x(), pb.t, margin, out);
        if (a.kind == Kind::box) return box_sphere(a.half, pa, b.half.x(), pb.t, margin, out);
        if (a.kind == Kind::capsule)
            return capsule_sphere(a.half.y(), a.half.x(), pa, b.half.x(), pb.t, margin, out);
    }
    ConvexGap gap;
    if (convex_gap(a, pa, b, pb, margin, gap)) contacts_from_features(a, pa, b, pb, gap, margin, out);
}

}  // namespace

void find_contacts(const Collider& a, const Mat3& Ra, const Vec3& ta, const Collider& b, const Mat3& Rb,
                   const Vec3& tb, double margin, ContactList& out) {
    if (!takes_second_place(a, b)) return ordered(a, Ra, ta, b, Rb, tb, margin, out);
    const std::size_t first = out.size();
    ordered(b, Rb, tb, a, Ra, ta, margin, out);
    flip_from(out, first);
}

void sphere_sphere(double ra, const Vec3& a, double rb, const Vec3& b, double margin, ContactList& out) {
    const Vec3 d = b - a;
    const double length = d.norm(), distance = length - ra - rb;
    if (distance > margin) return;
    PairContact c;
    c.normal = length > 0 ? Vec3(d / length) : Vec3::UnitY();
    c.distance = distance;
    c.point = a + (ra + 0.5 * distance) * c.normal;
    out.push_back(c);
}

void box_sphere(const Vec3& half, const Placement& box, double radius, const Vec3& sphere, double margin,
                ContactList& out) {
    const Vec3 p = box.to_local(sphere);
    const Vec3 nearest = p.cwiseMax(-half).cwiseMin(half);
    const Vec3 d = p - nearest;
    const double length = d.norm();
    Vec3 normal;
    double distance;
    if (length > 1e-12 * half.maxCoeff()) {
        normal = d / length;
        distance = length - radius;
    } else {  // the centre is inside: out through the nearest face
        int axis;
        const double depth = (half - p.cwiseAbs()).minCoeff(&axis);
        normal = Vec3::Zero();
        normal[axis] = p[axis] < 0 ? -1 : 1;
        distance = -depth - radius;
    }
    if (distance > margin) return;
    PairContact c;
    c.normal = box.R * normal;
    c.distance = distance;
    c.point = sphere - (radius + 0.5 * distance) * c.normal;
    out.push_back(c);
}

void capsule_sphere(double half_length, double capsule_radius, const Placement& capsule, double radius,
                    const Vec3& sphere, double margin, ContactList& out) {
    const double y = std::clamp(capsule.to_local(sphere).y(), -half_length, half_length);
    sphere_sphere(capsule_radius, capsule.to_world(Vec3(0, y, 0)), radius, sphere, margin, out);
}

void plane_convex(const Placement& plane, const Collider& b, const Placement& place, double margin,
                  ContactList& out) {
    const Vec3 n = plane.R.col(1);
    const std::size_t first = out.size();
    auto offer = [&](const Vec3& p, double radius, std::uint32_t id) {
        const double distance = n.dot(p - plane.t) - radius;
        if (distance > margin) return;
        PairContact c;
        c.normal = n;
        c.distance = distance;
        c.point = p - (radius + 0.5 * distance) * n;
        c.id = id;
        out.push_back(c);
    };
    if (b.kind == Kind::mesh) {
        for (const SurfaceSamples::Cluster& cluster : b.samples.clusters) {
            if (n.dot(place.to_world(cluster.center) - plane.t) > cluster.radius + margin) continue;
            for (int i = cluster.begin; i < cluster.end; ++i)
                offer(place.to_world(b.samples.points[i]), 0.0, static_cast<std::uint32_t>(i));
        }
    } else if (b.kind == Kind::box || b.kind == Kind::hull) {
        if (b.kind == Kind::box)
            for (int i = 0; i < 8; ++i)
                offer(place.to_world(Vec3(i & 1 ? b.half.x() : -b.half.x(), i & 2 ? b.half.y() : -b.half.y(),
                                          i & 4 ? b.half.z() : -b.half.z())),
                      0.0, static_cast<std::uint32_t>(i));
        else
            for (std::size_t i = 0; i < b.hull.vertices.size(); ++i)
                offer(place.to_world(b.hull.vertices[i]), 0.0, static_cast<std::uint32_t>(i));
    } else {
        const Feature f = facing_feature(b, place, -n);
        for (int i = 0; i < f.polygon.count; ++i) offer(f.polygon.p[i], b.core_radius(), f.polygon.id[i]);
    }
    reduce(out, first, b.kind != Kind::box);
}

}  // namespace tenon::geometry::collide

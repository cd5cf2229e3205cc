#include "geometry/collide/features.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::geometry::collide {
namespace {

constexpr double face_cosine = 0.985;
constexpr double edge_sine = 0.17;
constexpr int disc_corners = 12;

void box_feature(const Vec3& h, const Vec3& d, Feature& f) {
    int axis;
    const Vec3 size = d.cwiseAbs();
    size.maxCoeff(&axis);
    auto sign = [&](int a) { return d[a] < 0 ? -1.0 : 1.0; };
    if (size[axis] > face_cosine) {
        const int u = (axis + 1) % 3, v = (axis + 2) % 3;
        const double s = sign(axis);
        static constexpr int corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
        for (int i = 0; i < 4; ++i) {
            const int k = s > 0 ? i : 3 - i;
            Vec3 p;
            p[axis] = s * h[axis];
            p[u] = corner[k][0] * h[u];
            p[v] = corner[k][1] * h[v];
            f.polygon.add(p, static_cast<std::uint32_t>(k));
        }
        f.normal[axis] = s;
        return;
    }
    int thin;
    size.minCoeff(&thin);
    Vec3 p(sign(0) * h.x(), sign(1) * h.y(), sign(2) * h.z());
    if (size[thin] < edge_sine) {
        for (double end : {-1.0, 1.0}) {
            p[thin] = end * h[thin];
            f.polygon.add(p, end < 0 ? 8 : 9);
        }
        return;
    }
    f.polygon.add(p, 10);
}

// A disc as a polygon with one corner at the deepest rim point: a coin that rolls on its rim stays round.
void disc(double radius, double y, double outward, const Vec3& d, Feature& f) {
    const double flat = std::hypot(d.x(), d.z());
    const double start = flat > 1e-6 ? std::atan2(d.z(), d.x()) : 0.0;
    for (int i = 0; i < disc_corners; ++i) {
        const double a = start - outward * 2 * M_PI * i / disc_corners;
        f.polygon.add(Vec3(radius * std::cos(a), y, radius * std::sin(a)), static_cast<std::uint32_t>(i));
    }
    f.normal = Vec3(0, outward, 0);
}

void cylinder_feature(const Collider& c, const Vec3& d, Feature& f) {
    const double r = c.half.x(), h = c.half.y();
    if (std::abs(d.y()) > face_cosine) return disc(r, std::copysign(h, d.y()), d.y() < 0 ? -1 : 1, d, f);
    if (std::abs(d.y()) < edge_sine) {
        const Vec3 out = Vec3(d.x(), 0, d.z()).normalized() * r;
        f.polygon.add(out - Vec3(0, h, 0), 16);
        f.polygon.add(out + Vec3(0, h, 0), 17);
        return;
    }
    f.polygon.add(core_support(c, d), 18);
}

void cone_feature(const Collider& c, const Vec3& d, Feature& f) {
    const double r = c.half.x(), h = c.half.y();
    if (d.y() < -face_cosine) return disc(r, -h, -1, d, f);
    const double flat = std::hypot(d.x(), d.z()), slant = std::hypot(r, 2 * h);
    if ((2 * h * flat + r * d.y()) / slant > face_cosine) {  // the side's normal is (2h, r) / slant
        f.polygon.add(Vec3(d.x() / flat * r, -h, d.z() / flat * r), 16);
        f.polygon.add(Vec3(0, h, 0), 17);
        return;
    }
    f.polygon.add(core_support(c, d), 18);
}

void hull_feature(const Hull& hull, const Vec3& d, Feature& f) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < hull.normals.size(); ++i)
        if (hull.normals[i].dot(d) > hull.normals[best].dot(d)) best = i;
    if (hull.normals[best].dot(d) > face_cosine) {
        for (int v : hull.faces[best]) f.polygon.add(hull.vertices[v], static_cast<std::uint32_t>(v) & 0xff);
        f.normal = hull.normals[best];
        return;
    }
    int top = 0;
    for (std::size_t v = 1; v < hull.vertices.size(); ++v)
        if (hull.vertices[v].dot(d) > hull.vertices[top].dot(d)) top = static_cast<int>(v);
    int along = -1;
    double flattest = edge_sine;
    for (int n : hull.neighbours[top]) {
        const double slope = std::abs((hull.vertices[n] - hull.vertices[top]).normalized().dot(d));
        if (slope < flattest) {
            flattest = slope;
            along = n;
        }
    }
    f.polygon.add(hull.vertices[top], static_cast<std::uint32_t>(top) & 0xff);
    if (along >= 0) f.polygon.add(hull.vertices[along], static_cast<std::uint32_t>(along) & 0xff);
}

// A face clipped by the other's face, or a segment or point above it.
void clip_to_face(const Feature& reference, const Feature& incident, const Vec3& toward_incident,
                  double margin, double radii, bool flip, ContactList& out) {
    Polygon work[2];
    work[0] = incident.polygon;
    int current = 0;
    const Polygon& face = reference.polygon;
    for (int i = 0; i < face.count; ++i) {
        const Vec3 edge = face.p[(i + 1) % face.count] - face.p[i];
        const Vec3 side = edge.cross(reference.normal);
        clip(work[current], side, side.dot(face.p[i]), static_cast<std::uint32_t>(i), work[1 - current]);
        current = 1 - current;
    }
    const double along = toward_incident.dot(reference.normal);
    for (int i = 0; i < work[current].count; ++i) {
        const Vec3& p = work[current].p[i];
        // how far along the contact normal until the reference plane
        const double core = (p - face.p[0]).dot(reference.normal) / along;
        if (core - radii > margin) continue;
        PairContact c;
        c.point = p - 0.5 * core * toward_incident;
        c.normal = flip ? Vec3(-toward_incident) : toward_incident;
        c.distance = core - radii;
        c.id = work[current].id[i] | (flip ? 1u << 31 : 0u);
        out.push_back(c);
    }
}

// Two nearly parallel segments touch along their common length.
bool overlap_segments(const Polygon& a, const Polygon& b, const ConvexGap& gap, double margin, double radii,
                      ContactList& out) {
    const Vec3 da = a.p[1] - a.p[0], db = b.p[1] - b.p[0];
    const double length = da.norm();
    if (da.cross(db).norm() > 0.05 * length * db.norm()) return false;
    const Vec3 u = da / length;
    double lo = u.dot(b.p[0] - a.p[0]), hi = u.dot(b.p[1] - a.p[0]);
    const bool reversed = lo > hi;
    if (reversed) std::swap(lo, hi);
    const double from = std::max(0.0, lo), to = std::min(length, hi);
    if (to - from < 1e-3 * length) return false;
    for (int end = 0; end < 2; ++end) {
        const double s = end == 0 ? from : to;
        const double t = (s - lo) / std::max(hi - lo, 1e-300);
        const Vec3 on_a = a.p[0] + s * u, on_b = b.p[0] + (reversed ? 1 - t : t) * db;
        PairContact c;
        c.normal = gap.normal;
        c.distance = (on_b - on_a).dot(gap.normal) - radii;
        c.point = 0.5 * (on_a + on_b);
        c.id = 0x100u + static_cast<std::uint32_t>(end);
        if (c.distance <= margin) out.push_back(c);
    }
    return true;
}

}  // namespace

Feature facing_feature(const Collider& collider, const Placement& place, const Vec3& direction) {
    Feature f;
    const Vec3 d = place.R.transpose() * direction;
    switch (collider.kind) {
        case Collider::Kind::sphere:
            f.polygon.add(Vec3::Zero(), 0);
            break;
        case Collider::Kind::capsule:
            if (std::abs(d.y()) < edge_sine) {
                f.polygon.add(Vec3(0, -collider.half.y(), 0), 0);
                f.polygon.add(Vec3(0, collider.half.y(), 0), 1);
            } else {
                f.polygon.add(core_support(collider, d), 2);
            }
            break;
        case Collider::Kind::box:
            box_feature(collider.half, d, f);
            break;
        case Collider::Kind::cylinder:
            cylinder_feature(collider, d, f);
            break;
        case Collider::Kind::cone:
            cone_feature(collider, d, f);
            break;
        default:
            hull_feature(collider.hull, d, f);
            break;
    }
    for (int i = 0; i < f.polygon.count; ++i) f.polygon.p[i] = place.to_world(f.polygon.p[i]);
    f.normal = place.R * f.normal;
    return f;
}

void contacts_from_features(const Collider& a, const Placement& pa, const Collider& b, const Placement& pb,
                            const ConvexGap& gap, double margin, ContactList& out) {
    const std::size_t first = out.size();
    const double radii = a.core_radius() + b.core_radius();
    const Feature fa = facing_feature(a, pa, gap.normal), fb = facing_feature(b, pb, -gap.normal);
    const double align_a = fa.face() ? fa.normal.dot(gap.normal) : -1.0;
    const double align_b = fb.face() ? -fb.normal.dot(gap.normal) : -1.0;
    if (align_a > 0 && align_a >= align_b - 1e-3)
        clip_to_face(fa, fb, gap.normal, margin, radii, false, out);
    else if (align_b > 0)
        clip_to_face(fb, fa, -gap.normal, margin, radii, true, out);
    else if (fa.polygon.count == 2 && fb.polygon.count == 2)
        overlap_segments(fa.polygon, fb.polygon, gap, margin, radii, out);
    // The witness points know the true depth; keep them when the features saw less, or nothing.
    double deepest = 1e300;
    for (std::size_t i = first; i < out.size(); ++i) deepest = std::min(deepest, out[i].distance);
    if (deepest > gap.distance + 1e-3 * std::min(a.radius, b.radius)) {
        PairContact c;
        c.point = 0.5 * (gap.on_a + gap.on_b);
        c.normal = gap.normal;
        c.distance = gap.distance;
        c.id = 0x40000000u;
        out.push_back(c);
    }
    reduce(out, first, true);
}

}  // namespace tenon::geometry::collide

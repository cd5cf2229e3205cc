// Two boxes: separating axes, then the incident face clipped by the reference face.
#include <algorithm>
#include <cmath>

#include "geometry/collide/collide.hpp"

namespace tenon::geometry::collide {
namespace {

// A convex polygon in the plane of the reference face.
struct Flat {
    double u[8], v[8], depth[8];
    std::uint32_t id[8];
    int count = 0;
};

// Cuts away sign * coordinate > limit.
void cut(const Flat& in, bool along_u, double sign, double limit, std::uint32_t plane, Flat& out) {
    out.count = 0;
    const double* x = along_u ? in.u : in.v;
    for (int i = 0; i < in.count; ++i) {
        const int j = i + 1 == in.count ? 0 : i + 1;
        const double di = sign * x[i] - limit, dj = sign * x[j] - limit;
        if ((di <= 0) != (dj <= 0) && out.count < 8) {
            const double t = di / (di - dj);
            out.u[out.count] = in.u[i] + t * (in.u[j] - in.u[i]);
            out.v[out.count] = in.v[i] + t * (in.v[j] - in.v[i]);
            out.depth[out.count] = in.depth[i] + t * (in.depth[j] - in.depth[i]);
            const std::uint32_t stays = di <= 0 ? in.id[i] : in.id[j];
            out.id[out.count++] = (stays & 0xff) | (di <= 0 ? 1u : 2u) << 8 | (plane + 1) << 10;
        }
        if (dj <= 0 && out.count < 8) {
            out.u[out.count] = in.u[j];
            out.v[out.count] = in.v[j];
            out.depth[out.count] = in.depth[j];
            out.id[out.count++] = in.id[j];
        }
    }
}

// Reference face `axis` (with sign s) of box r; i is the other box. `flip`: the reference is the second body.
void face_contacts(const Vec3& hr, const Placement& r, int axis, double s, const Vec3& hi, const Placement& i,
                   double margin, bool flip, ContactList& out) {
    const int ua = (axis + 1) % 3, va = (axis + 2) % 3;
    const Vec3 n = s * r.R.col(axis), eu = r.R.col(ua), ev = r.R.col(va);
    const Vec3 local = i.R.transpose() * n;
    int k;
    local.cwiseAbs().maxCoeff(&k);
    const double sk = local[k] > 0 ? -1.0 : 1.0;  // the face of i that looks at r
    const Vec3 d = i.t - r.t;
    const Vec3 center = d + sk * hi[k] * i.R.col(k);
    const Vec3 e1 = hi[(k + 1) % 3] * i.R.col((k + 1) % 3), e2 = hi[(k + 2) % 3] * i.R.col((k + 2) % 3);
    Flat a, b;
    static constexpr double corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int c = 0; c < 4; ++c) {
        const Vec3 p = center + corner[c][0] * e1 + corner[c][1] * e2;
        a.u[c] = eu.dot(p);
        a.v[c] = ev.dot(p);
        a.depth[c] = n.dot(p) - hr[axis];
        a.id[c] = static_cast<std::uint32_t>(c);
    }
    a.count = 4;
    cut(a, true, 1, hr[ua], 0, b);
    cut(b, true, -1, hr[ua], 1, a);
    cut(a, false, 1, hr[va], 2, b);
    cut(b, false, -1, hr[va], 3, a);
    const std::size_t first = out.size();
    const std::uint32_t faces = static_cast<std::uint32_t>((axis * 2 + (s > 0)) | (k * 2 + (sk > 0)) << 3)
                                    << 16 |
                                (flip ? 1u << 24 : 0u);
    for (int c = 0; c < a.count; ++c) {
        if (a.depth[c] > margin) continue;
        PairContact contact;
        contact.point = r.t + a.u[c] * eu + a.v[c] * ev + (hr[axis] + 0.5 * a.depth[c]) * n;
        contact.normal = flip ? Vec3(-n) : n;
        contact.distance = a.depth[c];
        contact.id = a.id[c] | faces;
        out.push_back(contact);
    }
    reduce(out, first, false);
}

// The two edges nearest to each other along `n` (from a to b), at their closest points.
void edge_contact(const Vec3& ha, const Placement& a, int i, const Vec3& hb, const Placement& b, int j,
                  const Vec3& n, double distance, ContactList& out) {
    Vec3 pa = a.t, pb = b.t;
    std::uint32_t id = 1u << 25 | static_cast<std::uint32_t>(i * 3 + j) << 8;
    for (int k = 0; k < 3; ++k) {
        if (k != i) {
            const bool up = n.dot(a.R.col(k)) > 0;
            pa += (up ? ha[k] : -ha[k]) * a.R.col(k);
            id |= static_cast<std::uint32_t>(up) << k;
        }
        if (k != j) {
            const bool up = n.dot(b.R.col(k)) < 0;
            pb += (up ? hb[k] : -hb[k]) * b.R.col(k);
            id |= static_cast<std::uint32_t>(up) << (k + 3);
        }
    }
    const Vec3 ea = a.R.col(i), eb = b.R.col(j), w = pb - pa;
    const double c = ea.dot(eb), det = 1 - c * c;
    const double s = std::clamp((ea.dot(w) - c * eb.dot(w)) / det, -ha[i], ha[i]);
    const double t = std::clamp((c * ea.dot(w) - eb.dot(w)) / det, -hb[j], hb[j]);
    PairContact contact;
    contact.point = 0.5 * (pa + s * ea + pb + t * eb);
    contact.normal = n;
    contact.distance = distance;
    contact.id = id;
    out.push_back(contact);
}

}  // namespace

bool box_box(const Vec3& ha, const Placement& a, const Vec3& hb, const Placement& b, double margin,
             ContactList& out) {
    const Vec3 world = b.t - a.t;
    const Mat3 R = a.R.transpose() * b.R;
    const Vec3 t = a.R.transpose() * world, tb = b.R.transpose() * world;
    const Mat3 Q = R.cwiseAbs();

    // faces of a, then of b: a new one must be clearly better, so that resting boxes do not switch
    double best = -1e300;
    int kind = -1;
    const double hysteresis = 1e-3 * std::min(ha.minCoeff(), hb.minCoeff());
    const Vec3 sa = t.cwiseAbs() - ha - Q * hb;
    for (int i = 0; i < 3; ++i) {
        if (sa[i] > margin) return false;
        if (sa[i] > best + (kind < 0 ? 0 : hysteresis)) {
            best = sa[i];
            kind = i;
        }
    }
    const Vec3 sb = tb.cwiseAbs() - hb - Q.transpose() * ha;
    for (int j = 0; j < 3; ++j) {
        if (sb[j] > margin) return false;
        if (sb[j] > best + hysteresis) {
            best = sb[j];
            kind = 3 + j;
        }
    }
    // edges: in the frame of a the axis i x b_j has components that need no cross product
    const double edge_bias = 0.02 * std::min(ha.minCoeff(), hb.minCoeff());
    double edge_best = best + edge_bias;
    for (int i = 0; i < 3; ++i) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; ++j) {
            const double x = R(i1, j), y = R(i2, j);
            const double length2 = x * x + y * y;
            if (length2 < 1e-4) continue;
            const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            const double reach =
                ha[i1] * Q(i2, j) + ha[i2] * Q(i1, j) + hb[j1] * Q(i, j2) + hb[j2] * Q(i, j1);
            const double s = (std::abs(t[i2] * x - t[i1] * y) - reach) / std::sqrt(length2);
            if (s > margin) return false;
            if (s > edge_best) {
                edge_best = s;
                kind = 6 + 3 * i + j;
            }
        }
    }

    if (kind < 3) {
        face_contacts(ha, a, kind, t[kind] < 0 ? -1 : 1, hb, b, margin, false, out);
    } else if (kind < 6) {
        face_contacts(hb, b, kind - 3, tb[kind - 3] > 0 ? -1 : 1, ha, a, margin, true, out);
    } else {
        const int i = (kind - 6) / 3, j = (kind - 6) % 3;
        Vec3 n = a.R.col(i).cross(b.R.col(j)).normalized();
        if (n.dot(world) < 0) n = -n;
        edge_contact(ha, a, i, hb, b, j, n, edge_best, out);
    }
    return true;
}

}  // namespace tenon::geometry::collide

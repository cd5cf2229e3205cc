#include "geometry/collide/convex.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tenon::geometry::collide {
namespace {

struct Corner {
    Vec3 w, a, b;  // w = a - b: a point of the Minkowski difference and where it comes from
};

struct Pair {
    const Collider &a, &b;
    const Placement &pa, &pb;
    Corner support(const Vec3& d) const {
        Corner c;
        c.a = pa.to_world(core_support(a, pa.R.transpose() * d));
        c.b = pb.to_world(core_support(b, pb.R.transpose() * -d));
        c.w = c.a - c.b;
        return c;
    }
};

struct Simplex {
    int count = 0;
    std::array<Corner, 4> c;
    std::array<double, 4> weight{};

    Vec3 nearest() const {
        Vec3 p = Vec3::Zero();
        for (int i = 0; i < count; ++i) p += weight[i] * c[i].w;
        return p;
    }
    void keep(std::initializer_list<int> which, std::initializer_list<double> weights) {
        std::array<Corner, 4> old = c;
        count = 0;
        auto w = weights.begin();
        for (int i : which) {
            weight[count] = *w++;
            c[count++] = old[i];
        }
    }
};

// Each reduces the simplex to the smallest part whose hull holds the point nearest to the origin.
void solve_segment(Simplex& s) {
    const Vec3 ab = s.c[1].w - s.c[0].w;
    const double length2 = ab.squaredNorm(), t = length2 > 0 ? -s.c[0].w.dot(ab) / length2 : 0;
    if (t <= 0) return s.keep({0}, {1});
    if (t >= 1) return s.keep({1}, {1});
    s.keep({0, 1}, {1 - t, t});
}

void solve_triangle(Simplex& s) {
    const Vec3 &a = s.c[0].w, &b = s.c[1].w, &c = s.c[2].w;
    const Vec3 ab = b - a, ac = c - a;
    const double d1 = -ab.dot(a), d2 = -ac.dot(a);
    if (d1 <= 0 && d2 <= 0) return s.keep({0}, {1});
    const double d3 = -ab.dot(b), d4 = -ac.dot(b);
    if (d3 >= 0 && d4 <= d3) return s.keep({1}, {1});
    const double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        const double t = d1 / (d1 - d3);
        return s.keep({0, 1}, {1 - t, t});
    }
    const double d5 = -ab.dot(c), d6 = -ac.dot(c);
    if (d6 >= 0 && d5 <= d6) return s.keep({2}, {1});
    const double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        const double t = d2 / (d2 - d6);
        return s.keep({0, 2}, {1 - t, t});
    }
    const double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        const double t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return s.keep({1, 2}, {1 - t, t});
    }
    const double sum = va + vb + vc;
    if (!(std::abs(sum) > 0)) return s.keep({0}, {1});
    s.keep({0, 1, 2}, {va / sum, vb / sum, vc / sum});
}

// True when the origin is inside.
bool solve_tetrahedron(Simplex& s) {
    static constexpr int faces[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};
    const Simplex whole = s;
    double best = 1e300;
    bool outside = false;
    for (const auto& f : faces) {
        const Vec3 &p = whole.c[f[0]].w, &q = whole.c[f[1]].w, &r = whole.c[f[2]].w;
        const Vec3 n = (q - p).cross(r - p);
        const double origin = -n.dot(p), apex = n.dot(whole.c[f[3]].w - p);
        if (origin * apex > 0) continue;  // the origin is on the inner side of this face
        outside = true;
        Simplex part;
        part.count = 3;
        for (int i = 0; i < 3; ++i) part.c[i] = whole.c[f[i]];
        solve_triangle(part);
        if (const double d = part.nearest().squaredNorm(); d < best) {
            best = d;
            s = part;
        }
    }
    return !outside;
}

bool solve(Simplex& s) {
    switch (s.count) {
        case 1:
            s.weight[0] = 1;
            return false;
        case 2:
            solve_segment(s);
            return false;
        case 3:
            solve_triangle(s);
            return false;
        default:
            return solve_tetrahedron(s);
    }
}

enum class Outcome { far, apart, overlapping };

Outcome gjk(const Pair& pair, double limit, double size, Simplex& s, Vec3& direction) {
    s.count = 1;
    s.c[0] = pair.support(pair.pb.t - pair.pa.t + Vec3(1e-9, 2e-9, 3e-9));
    s.weight[0] = 1;
    Vec3 v = s.c[0].w;
    const double tiny = 1e-7 * size;
    for (int iteration = 0; iteration < 64; ++iteration) {
        const double length = v.norm();
        if (length < tiny) return Outcome::overlapping;
        const Corner c = pair.support(-v);
        const double bound = v.dot(c.w) / length;  // a lower bound of the distance
        if (bound > limit) return Outcome::far;
        direction = -v / length;
        if (length - bound <= 1e-10 * size + 1e-9 * length) return Outcome::apart;
        for (int i = 0; i < s.count; ++i)
            if ((s.c[i].w - c.w).squaredNorm() < 1e-28 * size * size) return Outcome::apart;
        s.c[s.count++] = c;
        if (solve(s)) return Outcome::overlapping;
        const Vec3 next = s.nearest();
        if (next.squaredNorm() >= v.squaredNorm()) return Outcome::apart;
        v = next;
    }
    return Outcome::apart;
}

// Sets the witness points `distance` apart along the normal, about their middle.
void spread(ConvexGap& gap, double distance) {
    const Vec3 middle = 0.5 * (gap.on_a + gap.on_b);
    gap.distance = distance;
    gap.on_a = middle - 0.5 * distance * gap.normal;
    gap.on_b = middle + 0.5 * distance * gap.normal;
}

// The expanding polytope: faces of the Minkowski difference around the origin, grown where they are nearest.
class Polytope {
  public:
    explicit Polytope(const Pair& pair, double size) : pair_(pair), tolerance_(1e-8 * size) {}

    // The direction of least overlap found, with its overlap as depth: never less than there is, and exact when the
    // polytope has converged. An origin just outside is separated by its nearest face, with a negative depth.
    bool run(const Simplex& start, ConvexGap& gap) {
        if (!open(start)) return false;
        double least = 1e300;
        for (int iteration = 0; iteration < max_iterations; ++iteration) {
            const int f = nearest();
            if (f < 0) break;
            const Face face = faces_[f];
            const Corner c = pair_.support(face.n);
            const double reach = face.n.dot(c.w);
            if (reach < least) {
                least = reach;
                finish(face, reach, gap);
            }
            if (reach - face.d <= tolerance_ || corners_ == max_corners || face_count_ + 8 > max_faces) break;
            corner_[corners_++] = c;
            if (!grow(corners_ - 1)) break;
        }
        return least < 1e300;
    }

  private:
    struct Face {
        int v[3];
        Vec3 n;
        double d;
        bool alive;
    };
    static constexpr int max_iterations = 90, max_corners = 96, max_faces = 640;

    bool add_face(int a, int b, int c) {
        const Vec3 n = (corner_[b].w - corner_[a].w).cross(corner_[c].w - corner_[a].w);
        const double area = n.norm();
        Face face{{a, b, c}, Vec3::Zero(), 1e300, true};
        if (area > 1e-300) {
            face.n = n / area;
            face.d = face.n.dot(corner_[a].w);
        }
        faces_[face_count_++] = face;
        return area > 1e-300;
    }

    // A tetrahedron from whatever simplex GJK stopped with.
    bool open(const Simplex& start) {
        corners_ = 0;
        for (int i = 0; i < start.count; ++i) try_corner(start.c[i]);
        static const Vec3 directions[] = {Vec3::UnitX(),  -Vec3::UnitX(), Vec3::UnitY(), -Vec3::UnitY(),
                                          Vec3::UnitZ(),  -Vec3::UnitZ(), Vec3(1, 1, 1), Vec3(-1, -1, -1),
                                          Vec3(1, -1, 1), Vec3(-1, 1, -1)};
        for (const Vec3& d : directions) {
            if (corners_ == 4) break;
            try_corner(pair_.support(d.normalized()));
        }
        if (corners_ == 3) {
            const Vec3 n = (corner_[1].w - corner_[0].w).cross(corner_[2].w - corner_[0].w).normalized();
            try_corner(pair_.support(n));
            if (corners_ == 3) try_corner(pair_.support(-n));
        }
        if (corners_ < 4) return false;
        const Vec3 n = (corner_[1].w - corner_[0].w).cross(corner_[2].w - corner_[0].w);
        if (n.dot(corner_[3].w - corner_[0].w) > 0) std::swap(corner_[1], corner_[2]);
        face_count_ = 0;
        add_face(0, 1, 2);
        add_face(0, 3, 1);
        add_face(0, 2, 3);
        add_face(1, 3, 2);
        return true;
    }
    // Accepts a corner that adds a dimension.
    void try_corner(const Corner& c) {
        const double eps = 10 * tolerance_;
        bool adds = true;
        if (corners_ == 1) adds = (c.w - corner_[0].w).norm() > eps;
        if (corners_ == 2)
            adds = (corner_[1].w - corner_[0].w).normalized().cross(c.w - corner_[0].w).norm() > eps;
        if (corners_ == 3)
            adds = std::abs((corner_[1].w - corner_[0].w)
                                .cross(corner_[2].w - corner_[0].w)
                                .normalized()
                                .dot(c.w - corner_[0].w)) > eps;
        if (adds && corners_ < 4) corner_[corners_++] = c;
    }
    int nearest() const {
        int best = -1;
        for (int f = 0; f < face_count_; ++f)
            if (faces_[f].alive && (best < 0 || faces_[f].d < faces_[best].d)) best = f;
        return best;
    }
    // Replaces the faces that see the new corner by a fan around their rim.
    bool grow(int corner) {
        rim_count_ = 0;
        const Vec3& w = corner_[corner].w;
        int killed = 0;
        for (int f = 0; f < face_count_; ++f) {
            Face& face = faces_[f];
            if (!face.alive || face.n.dot(w - corner_[face.v[0]].w) <= 1e-3 * tolerance_) continue;
            face.alive = false;
            ++killed;
            for (int i = 0; i < 3; ++i) add_rim(face.v[i], face.v[(i + 1) % 3]);
        }
        if (killed == 0) return false;
        for (int i = 0; i < rim_count_; ++i) {
            if (face_count_ == max_faces) return false;
            add_face(rim_[i][0], rim_[i][1], corner);
        }
        return true;
    }
    void add_rim(int a, int b) {
        for (int i = 0; i < rim_count_; ++i)
            if (rim_[i][0] == b && rim_[i][1] == a) {
                rim_[i] = rim_[--rim_count_];
                return;
            }
        if (rim_count_ < max_faces) rim_[rim_count_++] = {a, b};
    }
    // The origin's projection on the face, in barycentric weights, gives the witness points.
    void finish(const Face& face, double depth, ConvexGap& gap) const {
        const Corner &a = corner_[face.v[0]], &b = corner_[face.v[1]], &c = corner_[face.v[2]];
        const Vec3 p = face.d * face.n, ab = b.w - a.w, ac = c.w - a.w, ap = p - a.w;
        const double d00 = ab.dot(ab), d01 = ab.dot(ac), d11 = ac.dot(ac), d20 = ap.dot(ab), d21 = ap.dot(ac);
        const double det = d00 * d11 - d01 * d01;
        const double v = det > 0 ? (d11 * d20 - d01 * d21) / det : 0,
                     w = det > 0 ? (d00 * d21 - d01 * d20) / det : 0;
        gap.on_a = (1 - v - w) * a.a + v * b.a + w * c.a;
        gap.on_b = (1 - v - w) * a.b + v * b.b + w * c.b;
        gap.normal = face.n;
        spread(gap, -depth);
    }

    const Pair& pair_;
    double tolerance_;
    int corners_ = 0, face_count_ = 0, rim_count_ = 0;
    std::array<Corner, max_corners> corner_;
    std::array<Face, max_faces> faces_;
    std::array<std::array<int, 2>, max_faces> rim_;
};

}  // namespace

Vec3 core_support(const Collider& collider, const Vec3& d) {
    const Vec3& h = collider.half;
    switch (collider.kind) {
        case Collider::Kind::sphere:
            return Vec3::Zero();
        case Collider::Kind::capsule:
            return {0, d.y() > 0 ? h.y() : -h.y(), 0};
        case Collider::Kind::box:
            return {std::copysign(h.x(), d.x()), std::copysign(h.y(), d.y()), std::copysign(h.z(), d.z())};
        case Collider::Kind::cylinder:
        case Collider::Kind::cone: {
            const double flat = std::hypot(d.x(), d.z());
            const Vec3 out =
                flat > 1e-12 * std::abs(d.y()) ? Vec3(d.x() / flat, 0, d.z() / flat) : Vec3(0, 0, 0);
            if (collider.kind == Collider::Kind::cylinder)
                return h.x() * out + Vec3(0, d.y() > 0 ? h.y() : -h.y(), 0);
            // tip or rim
            return d.y() * h.y() > h.x() * flat - d.y() * h.y() ? Vec3(0, h.y(), 0)
                                                                : Vec3(h.x() * out - Vec3(0, h.y(), 0));
        }
        default: {
            const auto& vertices = collider.hull.vertices;
            std::size_t best = 0;
            double value = -1e300;
            for (std::size_t i = 0; i < vertices.size(); ++i)
                if (const double s = d.dot(vertices[i]); s > value) {
                    value = s;
                    best = i;
                }
            return vertices[best];
        }
    }
}

namespace {

// From GJK's last simplex. The witnesses are at least as far apart as the shapes, which are at least as far apart as
// their shadows along the normal: false when the two do not agree, as for shapes that nearly touch, where the
// difference of the witnesses has no direction left.
bool gap_of_simplex(const Pair& pair, const Simplex& simplex, const Vec3& direction, double size,
                    ConvexGap& gap) {
    gap.on_a.setZero();
    gap.on_b.setZero();
    for (int i = 0; i < simplex.count; ++i) {
        gap.on_a += simplex.weight[i] * simplex.c[i].a;
        gap.on_b += simplex.weight[i] * simplex.c[i].b;
    }
    const Vec3 d = gap.on_b - gap.on_a;
    gap.distance = d.norm();
    gap.normal = gap.distance > 0 ? Vec3(d / gap.distance) : direction;
    const double certain = -gap.normal.dot(pair.support(gap.normal).w);
    if (gap.distance - certain <= 1e-7 * size) return true;
    spread(gap, certain);
    return false;
}

}  // namespace

bool convex_gap(const Collider& a, const Placement& pa, const Collider& b, const Placement& pb, double margin,
                ConvexGap& gap) {
    const Pair pair{a, b, pa, pb};
    const double ra = a.core_radius(), rb = b.core_radius();
    const double size = a.radius + b.radius;
    Simplex simplex;
    Vec3 direction = Vec3::UnitY();
    const Outcome outcome = gjk(pair, margin + ra + rb, size, simplex, direction);
    if (outcome == Outcome::far) return false;
    const bool apart = outcome == Outcome::apart;
    if (!apart || !gap_of_simplex(pair, simplex, direction, size, gap)) {
        ConvexGap deep;
        const bool opened = Polytope(pair, size).run(simplex, deep);
        if (opened && (!apart || deep.distance > gap.distance)) {
            gap = deep;
        } else if (!apart) {
            // cores without volume (two spheres or capsules) that meet: push along the line of centres
            const Vec3 d = pb.t - pa.t;
            gap.normal = d.norm() > 0 ? Vec3(d.normalized()) : Vec3::UnitY();
            gap.on_a = gap.on_b = 0.5 * (pa.t + pb.t);
            gap.distance = 0;
        }
    }
    gap.on_a += ra * gap.normal;
    gap.on_b -= rb * gap.normal;
    gap.distance -= ra + rb;
    return gap.distance <= margin;
}

}  // namespace tenon::geometry::collide

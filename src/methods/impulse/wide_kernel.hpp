// The passes over wide contacts; included once for each instruction set.
#include <cmath>

#include "geometry/four_lanes.hpp"
#include "methods/impulse/wide_contacts.hpp"

namespace tenon::impulse {
namespace {

using namespace geometry;  // Four, Four3, Mask

constexpr double never_closes = 1e30;  // m/s

typedef float Floats __attribute__((vector_size(16)));

[[gnu::always_inline]] inline Four wide(const float* from) {
    return __builtin_convertvector(*reinterpret_cast<const Floats*>(from), Four);
}
[[gnu::always_inline]] inline Four3 wide3(const float (*from)[lane_count]) {
    return {wide(from[0]), wide(from[1]), wide(from[2])};
}
[[gnu::always_inline]] inline Four four(const double* at) {
    return *reinterpret_cast<const AnyFour*>(at);
}
[[gnu::always_inline]] inline Four3 four3(const double (*from)[lane_count]) {
    return {four(from[0]), four(from[1]), four(from[2])};
}
[[gnu::always_inline]] inline Four& four(double* at) {
    return *reinterpret_cast<Four*>(at);
}
[[gnu::always_inline]] inline Four larger(const Four& a, const Four& b) {
    return a > b ? a : b;
}
[[gnu::always_inline]] inline Four smaller(const Four& a, const Four& b) {
    return a < b ? a : b;
}
[[gnu::always_inline]] inline Four absolute(const Four& a) {
    return a < 0.0 ? -a : a;
}
[[gnu::always_inline]] inline Four3 times(const Four3& m, const Four3& p) {
    return {m.x * p.x, m.y * p.y, m.z * p.z};
}

struct Inertia {
    Four xx, xy, xz, yy, yz, zz;
    [[gnu::always_inline]] explicit Inertia(const double (*I)[lane_count])
        : xx(four(I[0])), xy(four(I[1])), xz(four(I[2])), yy(four(I[3])), yz(four(I[4])), zz(four(I[5])) {}
    [[gnu::always_inline]] Four3 operator*(const Four3& v) const {
        return {xx * v.x + xy * v.y + xz * v.z, xy * v.x + yy * v.y + yz * v.z,
                xz * v.x + yz * v.y + zz * v.z};
    }
};

// Linear and angular velocities, or displacements, of four bodies.
struct Motion4 {
    Four3 v, w;
    [[gnu::always_inline]] Motion4(const double* all, const std::int32_t* body) {
        const double *p0 = all + 8 * body[0], *p1 = all + 8 * body[1], *p2 = all + 8 * body[2],
                     *p3 = all + 8 * body[3];
        v = load(p0, p1, p2, p3);
        w = load(p0 + 4, p1 + 4, p2 + 4, p3 + 4);
    }
    [[gnu::always_inline]] void store(double* all, const std::int32_t* body, int moves) const {
        const Four zero{};
        store3(v, zero, all, body, moves);
        store3(w, zero, all + 4, body, moves);
    }
    [[gnu::always_inline]] static void store3(const Four3& m, const Four& zero, double* all,
                                              const std::int32_t* body, int moves) {
        const Four xy0 = __builtin_shuffle(m.x, m.y, Mask{0, 4, 2, 6}),
                   xy1 = __builtin_shuffle(m.x, m.y, Mask{1, 5, 3, 7}),
                   z0 = __builtin_shuffle(m.z, zero, Mask{0, 4, 2, 6}),
                   z1 = __builtin_shuffle(m.z, zero, Mask{1, 5, 3, 7});
        if (moves & 1) four(all + 8 * body[0]) = __builtin_shuffle(xy0, z0, Mask{0, 1, 4, 5});
        if (moves & 2) four(all + 8 * body[1]) = __builtin_shuffle(xy1, z1, Mask{0, 1, 4, 5});
        if (moves & 4) four(all + 8 * body[2]) = __builtin_shuffle(xy0, z0, Mask{2, 3, 6, 7});
        if (moves & 8) four(all + 8 * body[3]) = __builtin_shuffle(xy1, z1, Mask{2, 3, 6, 7});
    }
};

struct PairMass {
    Four3 ma, mb;
    Inertia Ia, Ib;
    [[gnu::always_inline]] explicit PairMass(const WidePatch& g)
        : ma(four3(g.ma)), mb(four3(g.mb)), Ia(g.Ia), Ib(g.Ib) {}
    // Impulse P on b, -P on a.
    [[gnu::always_inline]] void apply(const Four3& P, const Four3& ra, const Four3& rb, Motion4& a,
                                      Motion4& b) const {
        a.v = a.v - times(ma, P);
        b.v = b.v + times(mb, P);
        a.w = a.w - Ia * cross(ra, P);
        b.w = b.w + Ib * cross(rb, P);
    }
};

[[gnu::always_inline]] inline Four3 relative(const Motion4& a, const Motion4& b, const Four3& ra,
                                             const Four3& rb) {
    return b.v + cross(b.w, rb) - a.v - cross(a.w, ra);
}

void warm_start(const WidePatch* patches, const WidePoint* points, int begin, int end, double* twist) {
    for (int k = begin; k < end; ++k) {
        const WidePatch& g = patches[k];
        const PairMass mass(g);
        const Four3 n = wide3(g.n), t1 = wide3(g.t1), t2 = wide3(g.t2);
        Motion4 a(twist, g.a), b(twist, g.b);
        for (int i = g.first; i < g.first + g.count; ++i) {
            const WidePoint& c = points[i];
            const Four pn = four(c.p[0]), p1 = four(c.p[1]), p2 = four(c.p[2]);
            mass.apply(pn * n + p1 * t1 + p2 * t2, wide3(c.ra), wide3(c.rb), a, b);
        }
        a.store(twist, g.a, g.moves_a);
        b.store(twist, g.b, g.moves_b);
    }
}

double pass(const WidePatch* patches, WidePoint* points, int begin, int end, double* twist,
            const double* moved, const PassSettings& s) {
    const Four zero{}, one = all(1.0);
    const bool pushing = s.bias_rate > 0;
    Four worst = zero;
    for (int k = begin; k < end; ++k) {
        const WidePatch& g = patches[k];
        const PairMass mass(g);
        const Four3 n = wide3(g.n), t1 = wide3(g.t1), t2 = wide3(g.t2);
        const Four mu = wide(g.friction);
        Motion4 a(twist, g.a), b(twist, g.b);
        const Motion4 da(moved, g.a), db(moved, g.b);
        for (int i = g.first; i < g.first + g.count; ++i) {
            WidePoint& c = points[i];
            const Four3 ra = wide3(c.ra), rb = wide3(c.rb);
            const Four3 v = relative(a, b, ra, rb);
            const Four gap = wide(c.gap) + dot(n, relative(da, db, ra, rb)) - s.touching;
            // an open gap may close within the sub-step, penetration beyond the slop is pushed out
            const Mask open = gap > 0.0;
            const Four pn0 = four(c.p[0]), p10 = four(c.p[1]), p20 = four(c.p[2]);
            Four bias = open ? gap * s.inverse_h : zero, scale = one, leak = zero;
            if (!pushing) {  // what was open before the bodies moved is the next sub-step's
                const Mask idle = open & (pn0 <= 0.0);
                bias = idle ? all(never_closes) : bias;
            } else {
                const Four deep = wide(c.push) * smaller(zero, gap + s.slop);
                const Mask soft = deep < 0.0;
                bias = soft ? larger(deep * s.bias_rate, all(-s.max_push)) : bias;
                scale = soft ? all(s.mass_scale) : one;
                leak = soft ? all(s.impulse_scale) : zero;
            }
            const Four pn = larger(zero, pn0 - scale * (dot(n, v) + bias) * wide(c.inverse_kn) - leak * pn0);
            const Four dn = pn - pn0, kn = wide(c.kn);
            const Four v1 = dot(t1, v) + wide(c.k1n) * dn, v2 = dot(t2, v) + wide(c.k2n) * dn;
            const Four i11 = wide(c.i11), i12 = wide(c.i12), i22 = wide(c.i22), slide = wide(c.slide);
            const Four limit = mu * pn, limit2 = limit * limit;
            Four p1 = p10 - (i11 * v1 + i12 * v2), p2 = p20 - (i12 * v1 + i22 * v2);
            // where sticking is too much, a step along the slip and back onto the disc
            const Mask slips = p1 * p1 + p2 * p2 > limit2;
            const Four s1 = p10 - slide * v1, s2 = p20 - slide * v2, length2 = s1 * s1 + s2 * s2;
            Four shrink = one;
            for (int l = 0; l < lane_count; ++l)
                if (slips[l] && length2[l] > limit2[l]) shrink[l] = limit[l] / std::sqrt(length2[l]);
            p1 = slips ? s1 * shrink : p1;
            p2 = slips ? s2 * shrink : p2;
            const Four d1 = p1 - p10, d2 = p2 - p20;
            four(c.p[0]) = pn;
            four(c.p[1]) = p1;
            four(c.p[2]) = p2;
            mass.apply(dn * n + d1 * t1 + d2 * t2, ra, rb, a, b);
            const Four turned = absolute(d1) + absolute(d2);
            worst =
                larger(worst, larger(absolute(dn) * kn, smaller(absolute(v1) + absolute(v2), turned * kn)));
        }
        a.store(twist, g.a, g.moves_a);
        b.store(twist, g.b, g.moves_b);
    }
    double largest = 0;
    for (int l = 0; l < lane_count; ++l) largest = worst[l] > largest ? worst[l] : largest;
    return largest;
}

}  // namespace
}  // namespace tenon::impulse

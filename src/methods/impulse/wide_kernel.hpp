// The passes over wide contacts; included once for each instruction set.
#include "methods/impulse/eight_lanes.hpp"
#include "methods/impulse/wide_contacts.hpp"

namespace tenon::impulse {
namespace {

constexpr float never_closes = 1e30f;  // m/s

struct PairMass {
    Eight3 ma, mb;
    Symmetric8 Ia, Ib;
    TENON_SIMD explicit PairMass(const WidePatch& g) : ma(load3(g.ma)), mb(load3(g.mb)), Ia(g.Ia), Ib(g.Ib) {}
    // Impulse P on b, -P on a.
    TENON_SIMD void apply(const Eight3& P, const Eight3& ra, const Eight3& rb, Motion8& a, Motion8& b) const {
        a.v = a.v - times(ma, P);
        b.v = b.v + times(mb, P);
        a.w = a.w - Ia * cross(ra, P);
        b.w = b.w + Ib * cross(rb, P);
    }
};

struct Frame8 {
    Eight3 n, t1, t2;
    TENON_SIMD explicit Frame8(const WidePatch& g) : n(load3(g.n)), t1(load3(g.t1)), t2(load3(g.t2)) {}
    TENON_SIMD Eight3 world(const Eight& pn, const Eight& p1, const Eight& p2) const {
        return pn * n + p1 * t1 + p2 * t2;
    }
};

// Velocity change along e per impulse along d, at levers r, of one body.
TENON_SIMD Eight response(const Eight3& m, const Symmetric8& I, const Eight3& r, const Eight3& e,
                          const Eight3& d) {
    return dot(e, times(m, d)) + dot(cross(r, e), I * cross(r, d));
}

TENON_SIMD void prepare_point(WidePoint& c, const PairMass& m, const Frame8& f) {
    const Eight zero{}, one = all_lanes(1.0f);
    const Eight3 ra = load3(c.ra), rb = load3(c.rb);
    const auto K = [&](const Eight3& e, const Eight3& d) {
        return response(m.ma, m.Ia, ra, e, d) + response(m.mb, m.Ib, rb, e, d);
    };
    const Eight kn = K(f.n, f.n), k11 = K(f.t1, f.t1), k12 = K(f.t1, f.t2), k22 = K(f.t2, f.t2);
    const Eight mean = 0.5f * (k11 + k22), half = 0.5f * (k11 - k22);
    const Eight largest = mean + square_root(half * half + k12 * k12), det = k11 * k22 - k12 * k12;
    // held axes may leave no compliance in some direction: nothing to gain there
    const Eight slide = largest > 0.0f ? one / largest : zero;
    const Mask8 regular = det > 1e-5f * largest * largest;
    const Eight inverse = regular ? one / det : zero;
    store(c.kn, kn);
    store(c.inverse_kn, kn > 0.0f ? one / kn : zero);
    store(c.k1n, K(f.t1, f.n));
    store(c.k2n, K(f.t2, f.n));
    store(c.i11, regular ? k22 * inverse : slide);
    store(c.i12, regular ? -k12 * inverse : zero);
    store(c.i22, regular ? k11 * inverse : slide);
    store(c.slide, slide);
}

void prepare(const WidePatch* patches, WidePoint* points, int begin, int end) {
    for (int k = begin; k < end; ++k) {
        const WidePatch& g = patches[k];
        const PairMass mass(g);
        const Frame8 frame(g);
        for (int i = g.first; i < g.first + g.count; ++i) prepare_point(points[i], mass, frame);
    }
}

void warm_start(const WidePatch* patches, const WidePoint* points, int begin, int end, float* twist) {
    for (int k = begin; k < end; ++k) {
        const WidePatch& g = patches[k];
        const PairMass mass(g);
        const Frame8 frame(g);
        Motion8 a(twist, g.a), b(twist, g.b);
        for (int i = g.first; i < g.first + g.count; ++i) {
            const WidePoint& c = points[i];
            mass.apply(frame.world(load(c.p[0]), load(c.p[1]), load(c.p[2])), load3(c.ra), load3(c.rb), a, b);
        }
        a.write(twist, g.a, g.moves_a);
        b.write(twist, g.b, g.moves_b);
    }
}

// Friction that would stop all slip, or a step along the slip and back onto the disc where that is too much.
TENON_SIMD void friction(const WidePoint& c, const Eight& v1, const Eight& v2, const Eight& limit, Eight& p1,
                         Eight& p2) {
    const Eight i11 = load(c.i11), i12 = load(c.i12), i22 = load(c.i22), limit2 = limit * limit;
    const Eight q1 = p1 - (i11 * v1 + i12 * v2), q2 = p2 - (i12 * v1 + i22 * v2);
    const Mask8 slips = q1 * q1 + q2 * q2 > limit2;
    if (!any(slips)) {
        p1 = q1;
        p2 = q2;
        return;
    }
    const Eight slide = load(c.slide), s1 = p1 - slide * v1, s2 = p2 - slide * v2,
                length2 = s1 * s1 + s2 * s2;
    const Eight shrink = length2 > limit2 ? limit / square_root(length2) : all_lanes(1.0f);
    p1 = slips ? s1 * shrink : q1;
    p2 = slips ? s2 * shrink : q2;
}

template <bool pushing, bool measure>
TENON_SIMD float pass_over(WidePatch* patches, WidePoint* points, int begin, int end, float* twist,
                           const float* moved, const PassSettings& s) {
    const Eight zero{}, one = all_lanes(1.0f);
    Eight worst = zero;
    for (int k = begin; k < end; ++k) {
        WidePatch& g = patches[k];
        const PairMass mass(g);
        const Frame8 frame(g);
        const Eight mu = load(g.friction);
        Motion8 a(twist, g.a), b(twist, g.b);
        const Motion8 da(moved, g.a), db(moved, g.b);
        // gap = gap at the start + n.(db.v - da.v) + rb.(n x db.w)... in the levers
        const Eight closed = dot(frame.n, db.v - da.v) - s.touching;
        const Eight3 turn_a = cross(da.w, frame.n), turn_b = cross(db.w, frame.n);
        Eight sum_n = zero, sum_1 = zero, sum_2 = zero;
        for (int step = 0; step < g.count; ++step) {
            // forth and back in turn, so that no side of a face is always the first to take the load
            WidePoint& c = points[pushing ? g.first + step : g.first + g.count - 1 - step];
            const Eight3 ra = load3(c.ra), rb = load3(c.rb);
            const Eight3 v = b.v + cross(b.w, rb) - a.v - cross(a.w, ra);
            const Eight gap = load(c.gap) + closed + dot(turn_a, ra) - dot(turn_b, rb);
            const Eight pn0 = load(c.p[0]), p10 = load(c.p[1]), p20 = load(c.p[2]);
            if (s.add_up) {
                if (pushing) {
                    store(c.total[0], load(c.total[0]) + pn0);
                    store(c.total[1], load(c.total[1]) + p10);
                    store(c.total[2], load(c.total[2]) + p20);
                }
                sum_n += pn0;
                sum_1 += p10;
                sum_2 += p20;
            }
            // an open gap may close within the sub-step, penetration beyond the slop is pushed out
            const Mask8 open = gap > 0.0f;
            Eight bias = open ? gap * s.inverse_h : zero, scale = one, leak = zero;
            if (!pushing) {  // what was open before the bodies moved is the next sub-step's
                const Mask8 idle = open & (pn0 <= 0.0f);
                bias = idle ? all_lanes(never_closes) : bias;
            } else {
                const Eight deep = load(c.push) * smaller(zero, gap + s.slop);
                const Mask8 soft = deep < 0.0f;
                bias = soft ? larger(deep * s.bias_rate, all_lanes(-s.max_push)) : bias;
                scale = soft ? all_lanes(s.mass_scale) : one;
                leak = soft ? all_lanes(s.impulse_scale) : zero;
            }
            const Eight pn =
                larger(zero, pn0 - scale * (dot(frame.n, v) + bias) * load(c.inverse_kn) - leak * pn0);
            if (!any(larger(pn, pn0) > 0.0f)) continue;  // friction is zero where there is no load
            const Eight dn = pn - pn0;
            const Eight v1 = dot(frame.t1, v) + load(c.k1n) * dn, v2 = dot(frame.t2, v) + load(c.k2n) * dn;
            Eight p1 = p10, p2 = p20;
            friction(c, v1, v2, mu * pn, p1, p2);
            const Eight d1 = p1 - p10, d2 = p2 - p20;
            store(c.p[0], pn);
            store(c.p[1], p1);
            store(c.p[2], p2);
            mass.apply(frame.world(dn, d1, d2), ra, rb, a, b);
            if (measure) {
                const Eight kn = load(c.kn), turned = absolute(d1) + absolute(d2);
                const Eight slip = smaller(absolute(v1) + absolute(v2), turned * kn);
                worst = larger(worst, larger(absolute(dn) * kn, slip));
            }
        }
        if (s.add_up) {
            const Eight3 sum = frame.world(sum_n, sum_1, sum_2), total = load3(g.total);
            if (pushing)
                store3(g.total, total + sum);
            else
                store3(g.path, load3(g.path) + total + sum);
        }
        a.write(twist, g.a, g.moves_a);
        b.write(twist, g.b, g.moves_b);
    }
    float largest = 0;
    for (int l = 0; l < lane_count; ++l) largest = worst[l] > largest ? worst[l] : largest;
    return largest;
}

float pass(WidePatch* patches, WidePoint* points, int begin, int end, float* twist, const float* moved,
           const PassSettings& s) {
    const bool pushing = s.bias_rate > 0;
    if (s.measure)
        return pushing ? pass_over<true, true>(patches, points, begin, end, twist, moved, s)
                       : pass_over<false, true>(patches, points, begin, end, twist, moved, s);
    return pushing ? pass_over<true, false>(patches, points, begin, end, twist, moved, s)
                   : pass_over<false, false>(patches, points, begin, end, twist, moved, s);
}

void extrapolate(float* twist, float* last, int count) {
    for (int i = 0; i < count; i += lanes) {
        const Eight now = load(twist + i);
        store(twist + i, now + (now - load(last + i)));
        store(last + i, now);
    }
}

void move(const float* twist, float* shift, int count, float h) {
    for (int i = 0; i < count; i += lanes) store(shift + i, load(shift + i) + h * load(twist + i));
}

}  // namespace
}  // namespace tenon::impulse

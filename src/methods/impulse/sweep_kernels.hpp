// The inner loops of the sweeps: one pair of bodies with its contacts, twists held in registers meanwhile.
#pragma once

#include <algorithm>
#include <cmath>

#include "methods/impulse/problem.hpp"

namespace tenon::impulse {

// A contact prepared for sweeping: all that a sweep touches, in one run of memory.
struct Row {
    double n[3], t1[3], t2[3], ra[3], rb[3];
    double target;
    double kn, inverse_kn;  // response along the normal
    double k1n, k2n;        // tangential velocity per normal impulse
    double i11, i12, i22;   // inverse of the tangential 2x2 block
    double slide;           // 1 / the largest eigenvalue of that block
    double p[3];            // impulses: normal, tangent 1, tangent 2
};

// The contacts of one pair: rows begin..end.
struct RowGroup {
    int a, b;
    int begin, end;
    double mu;
};

// Twists of the two bodies while their contacts are relaxed.
struct PairState {
    double va[3], wa[3], vb[3], wb[3];

    PairState(const Twist& a, const Twist& b) {
        for (int k = 0; k < 3; ++k) {
            va[k] = a.v[k];
            wa[k] = a.w[k];
            vb[k] = b.v[k];
            wb[k] = b.w[k];
        }
    }
    // What does not move is not written: threads may share it.
    void store(const InverseMass& ma, const InverseMass& mb, Twist& a, Twist& b) const {
        if (ma.movable)
            for (int k = 0; k < 3; ++k) {
                a.v[k] = va[k];
                a.w[k] = wa[k];
            }
        if (mb.movable)
            for (int k = 0; k < 3; ++k) {
                b.v[k] = vb[k];
                b.w[k] = wb[k];
            }
    }
    // Velocity of b against a at the contact.
    [[gnu::always_inline]] void relative(const Row& r, double dv[3]) const {
        dv[0] = vb[0] - va[0] + wb[1] * r.rb[2] - wb[2] * r.rb[1] - wa[1] * r.ra[2] + wa[2] * r.ra[1];
        dv[1] = vb[1] - va[1] + wb[2] * r.rb[0] - wb[0] * r.rb[2] - wa[2] * r.ra[0] + wa[0] * r.ra[2];
        dv[2] = vb[2] - va[2] + wb[0] * r.rb[1] - wb[1] * r.rb[0] - wa[0] * r.ra[1] + wa[1] * r.ra[0];
    }
    // Impulse P on b, -P on a.
    [[gnu::always_inline]] void apply(const Row& r, const InverseMass& ma, const InverseMass& mb, double x,
                                      double y, double z) {
        const double ax = r.ra[1] * z - r.ra[2] * y, ay = r.ra[2] * x - r.ra[0] * z,
                     az = r.ra[0] * y - r.ra[1] * x;
        const double bx = r.rb[1] * z - r.rb[2] * y, by = r.rb[2] * x - r.rb[0] * z,
                     bz = r.rb[0] * y - r.rb[1] * x;
        va[0] -= ma.m[0] * x;
        va[1] -= ma.m[1] * y;
        va[2] -= ma.m[2] * z;
        wa[0] -= ma.I[0] * ax + ma.I[1] * ay + ma.I[2] * az;
        wa[1] -= ma.I[1] * ax + ma.I[3] * ay + ma.I[4] * az;
        wa[2] -= ma.I[2] * ax + ma.I[4] * ay + ma.I[5] * az;
        vb[0] += mb.m[0] * x;
        vb[1] += mb.m[1] * y;
        vb[2] += mb.m[2] * z;
        wb[0] += mb.I[0] * bx + mb.I[1] * by + mb.I[2] * bz;
        wb[1] += mb.I[1] * bx + mb.I[3] * by + mb.I[4] * bz;
        wb[2] += mb.I[2] * bx + mb.I[4] * by + mb.I[5] * bz;
    }
};

inline double dot3(const double* a, const double* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// One contact: normal first, then friction with the new limit (Eqs. 17-19 with both bodies' masses). Returns the
// largest error of its velocity that it found.
template <bool pyramid>
[[gnu::always_inline]] inline double relax(Row& r, double mu, const InverseMass& ma, const InverseMass& mb,
                                           PairState& s) {
    double dv[3];
    s.relative(r, dv);
    const double vn = dot3(r.n, dv) - r.target;
    double v1 = dot3(r.t1, dv), v2 = dot3(r.t2, dv);
    const double pn = std::max(0.0, r.p[0] - vn * r.inverse_kn), dn = pn - r.p[0];
    v1 += r.k1n * dn;
    v2 += r.k2n * dn;
    double p1 = r.p[1] - (r.i11 * v1 + r.i12 * v2), p2 = r.p[2] - (r.i12 * v1 + r.i22 * v2);
    const double limit = mu * pn;
    // the error of a sliding contact is what its impulse still had to turn or grow, in units of velocity
    double slip_error = std::abs(v1) + std::abs(v2);
    if constexpr (pyramid) {
        p1 = std::clamp(p1, -limit, limit);
        p2 = std::clamp(p2, -limit, limit);
    } else {
        const double length2 = p1 * p1 + p2 * p2;
        if (length2 > limit * limit) {
            // Sliding. Shrinking the sticking impulse would leave it askew to the slip where the response is
            // not round; a step along the slip itself, back onto the disc, ends opposite to it.
            p1 = r.p[1] - r.slide * v1;
            p2 = r.p[2] - r.slide * v2;
            const double stepped2 = p1 * p1 + p2 * p2;
            const double shrink = stepped2 > limit * limit ? limit / std::sqrt(stepped2) : 1.0;
            p1 *= shrink;
            p2 *= shrink;
        }
    }
    const double d1 = p1 - r.p[1], d2 = p2 - r.p[2];
    if (dn == 0 && d1 == 0 && d2 == 0) return 0;
    slip_error = std::min(slip_error, (std::abs(d1) + std::abs(d2)) * r.kn);
    r.p[0] = pn;
    r.p[1] = p1;
    r.p[2] = p2;
    s.apply(r, ma, mb, dn * r.n[0] + d1 * r.t1[0] + d2 * r.t2[0], dn * r.n[1] + d1 * r.t1[1] + d2 * r.t2[1],
            dn * r.n[2] + d1 * r.t1[2] + d2 * r.t2[2]);
    return std::max(std::abs(dn) * r.kn, slip_error);
}

// Normal only, for position correction.
[[gnu::always_inline]] inline void relax_normal(const Row& r, double target, double& impulse,
                                                const InverseMass& ma, const InverseMass& mb, PairState& s) {
    double dv[3];
    s.relative(r, dv);
    const double next = std::max(0.0, impulse - (dot3(r.n, dv) - target) * r.inverse_kn),
                 change = next - impulse;
    if (change == 0) return;
    impulse = next;
    s.apply(r, ma, mb, change * r.n[0], change * r.n[1], change * r.n[2]);
}

}  // namespace tenon::impulse

#include "methods/impulse/sweep_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::impulse {
namespace {

inline double dot3(const double* a, const double* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Twists of the two bodies while their contacts are relaxed.
struct PairState {
    double va[3], wa[3], vb[3], wb[3];

    PairState(const double* a, const double* b) {
        for (int k = 0; k < 3; ++k) {
            va[k] = a[k];
            wa[k] = a[4 + k];
            vb[k] = b[k];
            wb[k] = b[4 + k];
        }
    }
    void store(const RowMass& ma, const RowMass& mb, double* a, double* b) const {
        if (ma.movable())
            for (int k = 0; k < 3; ++k) {
                a[k] = va[k];
                a[4 + k] = wa[k];
            }
        if (mb.movable())
            for (int k = 0; k < 3; ++k) {
                b[k] = vb[k];
                b[4 + k] = wb[k];
            }
    }
    // Velocity of b against a at the contact.
    [[gnu::always_inline]] void relative(const Row& r, double dv[3]) const {
        dv[0] = vb[0] - va[0] + wb[1] * r.rb[2] - wb[2] * r.rb[1] - wa[1] * r.ra[2] + wa[2] * r.ra[1];
        dv[1] = vb[1] - va[1] + wb[2] * r.rb[0] - wb[0] * r.rb[2] - wa[2] * r.ra[0] + wa[0] * r.ra[2];
        dv[2] = vb[2] - va[2] + wb[0] * r.rb[1] - wb[1] * r.rb[0] - wa[0] * r.ra[1] + wa[1] * r.ra[0];
    }
    // Impulse P on b, -P on a.
    [[gnu::always_inline]] void apply(const Row& r, const RowMass& ma, const RowMass& mb, const double P[3]) {
        const double la[3] = {r.ra[1] * P[2] - r.ra[2] * P[1], r.ra[2] * P[0] - r.ra[0] * P[2],
                              r.ra[0] * P[1] - r.ra[1] * P[0]};
        const double lb[3] = {r.rb[1] * P[2] - r.rb[2] * P[1], r.rb[2] * P[0] - r.rb[0] * P[2],
                              r.rb[0] * P[1] - r.rb[1] * P[0]};
        for (int k = 0; k < 3; ++k) {
            va[k] -= ma.m[k] * P[k];
            vb[k] += mb.m[k] * P[k];
            wa[k] -= ma.I[0][k] * la[0] + ma.I[1][k] * la[1] + ma.I[2][k] * la[2];
            wb[k] += mb.I[0][k] * lb[0] + mb.I[1][k] * lb[1] + mb.I[2][k] * lb[2];
        }
    }
};

template <bool pyramid>
[[gnu::always_inline]] inline void relax_row(Row& r, double mu, const RowMass& ma, const RowMass& mb,
                                             PairState& s, double* change, SweepResult& result) {
    double dv[3];
    s.relative(r, dv);
    const double vn = dot3(r.n, dv) - r.target;
    double v1 = dot3(r.t1, dv), v2 = dot3(r.t2, dv);
    const double pn = std::max(0.0, r.p[0] - vn * r.inverse_kn), dn = pn - r.p[0];
    v1 += r.k1n * dn;
    v2 += r.k2n * dn;
    double p1 = r.p[1] - (r.i11 * v1 + r.i12 * v2), p2 = r.p[2] - (r.i12 * v1 + r.i22 * v2);
    const double limit = mu * pn;
    if constexpr (pyramid) {
        p1 = std::clamp(p1, -limit, limit);
        p2 = std::clamp(p2, -limit, limit);
    } else if (p1 * p1 + p2 * p2 > limit * limit) {
        // Sliding. Shrinking the sticking impulse would leave it askew to the slip where the response is
        // not round; a step along the slip itself, back onto the disc, ends opposite to it.
        p1 = r.p[1] - r.slide * v1;
        p2 = r.p[2] - r.slide * v2;
        const double stepped2 = p1 * p1 + p2 * p2;
        const double shrink = stepped2 > limit * limit ? limit / std::sqrt(stepped2) : 1.0;
        p1 *= shrink;
        p2 *= shrink;
    }
    const double d1 = p1 - r.p[1], d2 = p2 - r.p[2];
    if (change) {
        change[0] = dn;
        change[1] = d1;
        change[2] = d2;
    }
    if (dn == 0 && d1 == 0 && d2 == 0) return;
    r.p[0] = pn;
    r.p[1] = p1;
    r.p[2] = p2;
    double P[3];
    for (int k = 0; k < 3; ++k) P[k] = dn * r.n[k] + d1 * r.t1[k] + d2 * r.t2[k];
    s.apply(r, ma, mb, P);
    // the error of a sliding contact is what its impulse still had to turn or grow, in units of velocity
    const double slip_error = std::min(std::abs(v1) + std::abs(v2), (std::abs(d1) + std::abs(d2)) * r.kn);
    result.worst = std::max({result.worst, std::abs(dn) * r.kn, slip_error});
    result.change += (dn * dn + d1 * d1 + d2 * d2) * r.kn;
}

template <bool pyramid>
SweepResult relax_groups(Row* rows, const RowGroup* groups, int begin, int end, bool backward, double* twist,
                         const RowMass* mass, double* change) {
    SweepResult result;
    for (int k = begin; k < end; ++k) {
        const RowGroup& g = groups[backward ? begin + end - 1 - k : k];
        const RowMass &ma = mass[g.a], &mb = mass[g.b];
        PairState state(twist + 8 * g.a, twist + 8 * g.b);
        for (int i = g.begin; i < g.end; ++i)
            relax_row<pyramid>(rows[i], g.mu, ma, mb, state, change ? change + 4 * i : nullptr, result);
        state.store(ma, mb, twist + 8 * g.a, twist + 8 * g.b);
    }
    return result;
}

void correct_groups(const Row* rows, const RowGroup* groups, int begin, int end, bool backward, double* twist,
                    const RowMass* mass, const double* target, double* impulse) {
    for (int k = begin; k < end; ++k) {
        const RowGroup& g = groups[backward ? begin + end - 1 - k : k];
        const RowMass &ma = mass[g.a], &mb = mass[g.b];
        PairState state(twist + 8 * g.a, twist + 8 * g.b);
        for (int i = g.begin; i < g.end; ++i) {
            const Row& r = rows[i];
            double dv[3];
            state.relative(r, dv);
            const double next = std::max(0.0, impulse[i] - (dot3(r.n, dv) - target[i]) * r.inverse_kn);
            const double change = next - impulse[i];
            if (change == 0) continue;
            impulse[i] = next;
            const double P[3] = {change * r.n[0], change * r.n[1], change * r.n[2]};
            state.apply(r, ma, mb, P);
        }
        state.store(ma, mb, twist + 8 * g.a, twist + 8 * g.b);
    }
}

}  // namespace

const SweepKernels portable_sweep_kernels = {relax_groups<false>, correct_groups};

const SweepKernels& sweep_kernels() {
    static const bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return fast && avx2_sweep_kernels.relax ? avx2_sweep_kernels : portable_sweep_kernels;
}

SweepResult relax_pyramid(Row* rows, const RowGroup* groups, int begin, int end, bool backward, double* twist,
                          const RowMass* mass, double* change) {
    return relax_groups<true>(rows, groups, begin, end, backward, twist, mass, change);
}

void apply_impulses(const Row* rows, const RowGroup* groups, int begin, int end, double* twist,
                    const RowMass* mass) {
    for (int k = begin; k < end; ++k) {
        const RowGroup& g = groups[k];
        PairState state(twist + 8 * g.a, twist + 8 * g.b);
        for (int i = g.begin; i < g.end; ++i) {
            const Row& r = rows[i];
            double P[3];
            for (int c = 0; c < 3; ++c) P[c] = r.p[0] * r.n[c] + r.p[1] * r.t1[c] + r.p[2] * r.t2[c];
            state.apply(r, mass[g.a], mass[g.b], P);
        }
        state.store(mass[g.a], mass[g.b], twist + 8 * g.a, twist + 8 * g.b);
    }
}

}  // namespace tenon::impulse

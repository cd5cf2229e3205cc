// The sweep kernels in AVX2 and FMA: a vector of three lives in one register, a body's twist in two.
#include "methods/impulse/sweep_kernels.hpp"

#if defined(__AVX2__) && defined(__FMA__)

#include <immintrin.h>

namespace tenon::impulse {
namespace {

// (x, y, z, 0) -> (y, z, x, 0)
inline __m256d turn(__m256d v) {
    return _mm256_permute4x64_pd(v, 0b11'00'10'01);
}

constexpr int ahead = 3;  // groups

inline double larger(double a, double b) {
    return a > b ? a : b;
}
inline double absolute(double a) {
    return a < 0 ? -a : a;
}

struct Pair {
    __m256d va, wa, vb, wb;

    Pair(const double* a, const double* b)
        : va(_mm256_load_pd(a)),
          wa(_mm256_load_pd(a + 4)),
          vb(_mm256_load_pd(b)),
          wb(_mm256_load_pd(b + 4)) {}
    void store(const RowMass& ma, const RowMass& mb, double* a, double* b) const {
        if (ma.movable()) {
            _mm256_store_pd(a, va);
            _mm256_store_pd(a + 4, wa);
        }
        if (mb.movable()) {
            _mm256_store_pd(b, vb);
            _mm256_store_pd(b + 4, wb);
        }
    }
    // vb - va + wb x rb - wa x ra, with a x b = turn(a turn(b) - turn(a) b)
    [[gnu::always_inline]] __m256d relative(__m256d ra, __m256d rb) const {
        __m256d t = _mm256_mul_pd(wb, turn(rb));
        t = _mm256_fnmadd_pd(turn(wb), rb, t);
        __m256d u = _mm256_mul_pd(turn(wa), ra);
        u = _mm256_fnmadd_pd(wa, turn(ra), u);
        return _mm256_add_pd(_mm256_sub_pd(vb, va), turn(_mm256_add_pd(t, u)));
    }
    [[gnu::always_inline]] static __m256d times(const RowMass& m, __m256d lever) {
        const __m256d x = _mm256_permute4x64_pd(lever, 0x00), y = _mm256_permute4x64_pd(lever, 0x55),
                      z = _mm256_permute4x64_pd(lever, 0xaa);
        __m256d out = _mm256_mul_pd(_mm256_load_pd(m.I[0]), x);
        out = _mm256_fmadd_pd(_mm256_load_pd(m.I[1]), y, out);
        return _mm256_fmadd_pd(_mm256_load_pd(m.I[2]), z, out);
    }
    [[gnu::always_inline]] void apply(const RowMass& ma, const RowMass& mb, __m256d ra, __m256d rb,
                                      __m256d P) {
        const __m256d tP = turn(P);
        const __m256d la = turn(_mm256_fnmadd_pd(turn(ra), P, _mm256_mul_pd(ra, tP)));
        const __m256d lb = turn(_mm256_fnmadd_pd(turn(rb), P, _mm256_mul_pd(rb, tP)));
        va = _mm256_fnmadd_pd(_mm256_load_pd(ma.m), P, va);
        vb = _mm256_fmadd_pd(_mm256_load_pd(mb.m), P, vb);
        wa = _mm256_sub_pd(wa, times(ma, la));
        wb = _mm256_add_pd(wb, times(mb, lb));
    }
};

inline double sum(__m256d v) {
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}

// Asks for a group's data ahead of its use: rows are too many for the nearer caches, and run both ways.
inline void prefetch(const Row* rows, const RowGroup& g, const double* twist, const RowMass* mass) {
    const char* row = reinterpret_cast<const char*>(rows + g.begin);
    const char* end = reinterpret_cast<const char*>(rows + g.end);
    for (; row < end; row += 64) _mm_prefetch(row, _MM_HINT_T0);
    const int bodies[2] = {g.a, g.b};
    for (int body : bodies) {
        _mm_prefetch(reinterpret_cast<const char*>(twist + 8 * body), _MM_HINT_T0);
        _mm_prefetch(reinterpret_cast<const char*>(mass + body), _MM_HINT_T0);
        _mm_prefetch(reinterpret_cast<const char*>(mass + body) + 64, _MM_HINT_T0);
    }
}

// The portable kernel, line by line; see there for the reasons.
[[gnu::always_inline]] inline void relax_row(Row& r, double mu, const RowMass& ma, const RowMass& mb, Pair& s,
                                             double* change, SweepResult& result) {
    const __m256d n = _mm256_load_pd(r.n), t1 = _mm256_load_pd(r.t1), t2 = _mm256_load_pd(r.t2);
    const __m256d ra = _mm256_load_pd(r.ra), rb = _mm256_load_pd(r.rb);
    const __m256d dv = s.relative(ra, rb);
    const double vn = sum(_mm256_mul_pd(n, dv)) - r.target;
    // both tangential components at once: (n.dv pairs) add within, then across the halves
    const __m256d pairs = _mm256_hadd_pd(_mm256_mul_pd(t1, dv), _mm256_mul_pd(t2, dv));
    const __m128d both = _mm_add_pd(_mm256_castpd256_pd128(pairs), _mm256_extractf128_pd(pairs, 1));
    double v1 = _mm_cvtsd_f64(both), v2 = _mm_cvtsd_f64(_mm_unpackhi_pd(both, both));
    const double pn = larger(0.0, r.p[0] - vn * r.inverse_kn), dn = pn - r.p[0];
    v1 += r.k1n * dn;
    v2 += r.k2n * dn;
    double p1 = r.p[1] - (r.i11 * v1 + r.i12 * v2), p2 = r.p[2] - (r.i12 * v1 + r.i22 * v2);
    const double limit = mu * pn;
    if (p1 * p1 + p2 * p2 > limit * limit) {
        p1 = r.p[1] - r.slide * v1;
        p2 = r.p[2] - r.slide * v2;
        const double stepped2 = p1 * p1 + p2 * p2;
        const double shrink = stepped2 > limit * limit ? limit / __builtin_sqrt(stepped2) : 1.0;
        p1 *= shrink;
        p2 *= shrink;
    }
    const double d1 = p1 - r.p[1], d2 = p2 - r.p[2];
    if (change) _mm256_store_pd(change, _mm256_set_pd(0.0, d2, d1, dn));
    if (dn == 0 && d1 == 0 && d2 == 0) return;
    r.p[0] = pn;
    r.p[1] = p1;
    r.p[2] = p2;
    __m256d P = _mm256_mul_pd(_mm256_set1_pd(dn), n);
    P = _mm256_fmadd_pd(_mm256_set1_pd(d1), t1, P);
    P = _mm256_fmadd_pd(_mm256_set1_pd(d2), t2, P);
    s.apply(ma, mb, ra, rb, P);
    const double slip = absolute(v1) + absolute(v2), turned = (absolute(d1) + absolute(d2)) * r.kn;
    result.worst = larger(result.worst, larger(absolute(dn) * r.kn, slip < turned ? slip : turned));
    result.change += (dn * dn + d1 * d1 + d2 * d2) * r.kn;
}

SweepResult relax_groups(Row* rows, const RowGroup* groups, int begin, int end, bool backward, double* twist,
                         const RowMass* mass, double* change) {
    SweepResult result;
    for (int k = begin; k < end; ++k) {
        const RowGroup& g = groups[backward ? begin + end - 1 - k : k];
        if (k + ahead < end)
            prefetch(rows, groups[backward ? begin + end - 1 - k - ahead : k + ahead], twist, mass);
        const RowMass &ma = mass[g.a], &mb = mass[g.b];
        Pair state(twist + 8 * g.a, twist + 8 * g.b);
        for (int i = g.begin; i < g.end; ++i)
            relax_row(rows[i], g.mu, ma, mb, state, change ? change + 4 * i : nullptr, result);
        state.store(ma, mb, twist + 8 * g.a, twist + 8 * g.b);
    }
    return result;
}

void correct_groups(const Row* rows, const RowGroup* groups, int begin, int end, bool backward, double* twist,
                    const RowMass* mass, const double* target, double* impulse) {
    for (int k = begin; k < end; ++k) {
        const RowGroup& g = groups[backward ? begin + end - 1 - k : k];
        if (k + ahead < end)
            prefetch(rows, groups[backward ? begin + end - 1 - k - ahead : k + ahead], twist, mass);
        const RowMass &ma = mass[g.a], &mb = mass[g.b];
        Pair state(twist + 8 * g.a, twist + 8 * g.b);
        for (int i = g.begin; i < g.end; ++i) {
            const Row& r = rows[i];
            const __m256d n = _mm256_load_pd(r.n), ra = _mm256_load_pd(r.ra), rb = _mm256_load_pd(r.rb);
            const double vn = sum(_mm256_mul_pd(n, state.relative(ra, rb)));
            const double next = larger(0.0, impulse[i] - (vn - target[i]) * r.inverse_kn);
            const double change = next - impulse[i];
            if (change == 0) continue;
            impulse[i] = next;
            state.apply(ma, mb, ra, rb, _mm256_mul_pd(_mm256_set1_pd(change), n));
        }
        state.store(ma, mb, twist + 8 * g.a, twist + 8 * g.b);
    }
}

}  // namespace

const SweepKernels avx2_sweep_kernels = {relax_groups, correct_groups};

}  // namespace tenon::impulse

#else

namespace tenon::impulse {

const SweepKernels avx2_sweep_kernels = {nullptr, nullptr};

}  // namespace tenon::impulse

#endif

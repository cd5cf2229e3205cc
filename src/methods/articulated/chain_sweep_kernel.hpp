// The body of the chain sweep, compiled once per instruction set: included by chain_sweep.cpp and chain_sweep_avx2.cpp
// only, and everything in it is local to them.
#pragma once

#include "math/simd.hpp"
#include "methods/articulated/chain_sweep.hpp"

namespace tenon::articulated {
namespace {

using Pack = simd::Vector<double, 4>;  // four numbers, one per body
using simd::magnitude, simd::store, simd::transpose;

TENON_SIMD Pack pack(double x) {
    return simd::all<Pack>(x);
}
TENON_SIMD Pack load(const double* p) {
    return simd::load<Pack>(p);
}
TENON_SIMD Pack largest(const Pack& a, const Pack& b) {
    return simd::larger(a, b);
}
// a b + c and c - a b
TENON_SIMD Pack add(Pack a, Pack b, Pack c) {
#ifdef __FMA__
    return _mm256_fmadd_pd(a, b, c);
#else
    return a * b + c;
#endif
}
TENON_SIMD Pack less(Pack a, Pack b, Pack c) {
#ifdef __FMA__
    return _mm256_fnmadd_pd(a, b, c);
#else
    return c - a * b;
#endif
}
TENON_SIMD double add(double a, double b, double c) {
#ifdef __FMA__
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}
TENON_SIMD double less(double a, double b, double c) {
    return add(-a, b, c);
}
TENON_SIMD double peak(Pack a) {
    const double x = a[0] > a[1] ? a[0] : a[1], y = a[2] > a[3] ? a[2] : a[3];
    return x > y ? x : y;
}
TENON_SIMD double total(Pack a) {
    return (a[0] + a[1]) + (a[2] + a[3]);
}

// The last body of the group before, then the first three of this one.
TENON_SIMD Pack shifted(Pack before, Pack here) {
    return __builtin_shufflevector(before, here, 3, 4, 5, 6);
}

struct Four {  // coordinates of four bodies: a1 a2 a3 t
    Pack e[12];
};

TENON_SIMD Four fetch(const double* array, const int* body) {
    Four f;
    for (int k = 0; k < 12; k += 4) {
        for (int lane = 0; lane < 4; ++lane)
            f.e[k + lane] = load(array + 12 * static_cast<std::size_t>(body[lane]) + k);
        transpose(f.e[k], f.e[k + 1], f.e[k + 2], f.e[k + 3]);
    }
    return f;
}

TENON_SIMD void put(double* array, const int* body, int lanes, Four f) {
    for (int k = 0; k < 12; k += 4) {
        transpose(f.e[k], f.e[k + 1], f.e[k + 2], f.e[k + 3]);
        for (int lane = 0; lane < lanes; ++lane)
            store(array + 12 * static_cast<std::size_t>(body[lane]) + k, f.e[k + lane]);
    }
}

struct Square {  // 3 x 3, by columns
    Pack e[9];
    TENON_SIMD Pack& operator()(int i, int j) { return e[i + 3 * j]; }
    TENON_SIMD const Pack& operator()(int i, int j) const { return e[i + 3 * j]; }
};
struct Symmetric {  // xx, yy, zz, yz, zx, xy
    Pack e[6];
    static constexpr int place[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
    TENON_SIMD Pack& operator()(int i, int j) { return e[place[i][j]]; }
    TENON_SIMD const Pack& operator()(int i, int j) const { return e[place[i][j]]; }
};
struct Point {
    Pack e[3];
};

TENON_SIMD Symmetric gram(const Square& a) {  // a^T a
    Symmetric c;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i <= j; ++i)
            c(i, j) = add(a(2, i), a(2, j), add(a(1, i), a(1, j), a(0, i) * a(0, j)));
    return c;
}
template <class Right>
TENON_SIMD Square times(const Square& a, const Right& b) {
    Square c;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) c(i, j) = add(a(i, 2), b(2, j), add(a(i, 1), b(1, j), a(i, 0) * b(0, j)));
    return c;
}
TENON_SIMD Square times_transposed(const Square& a, const Square& b) {  // a b^T
    Square c;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) c(i, j) = add(a(i, 2), b(j, 2), add(a(i, 1), b(j, 1), a(i, 0) * b(j, 0)));
    return c;
}
TENON_SIMD Symmetric times_transposed_symmetric(const Square& a,
                                                const Square& b) {  // a b^T, known symmetric
    Symmetric c;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i <= j; ++i)
            c(i, j) = add(a(i, 2), b(j, 2), add(a(i, 1), b(j, 1), a(i, 0) * b(j, 0)));
    return c;
}
TENON_SIMD Point times(const Square& a, const Point& x) {
    Point y;
    for (int i = 0; i < 3; ++i) y.e[i] = add(a(i, 2), x.e[2], add(a(i, 1), x.e[1], a(i, 0) * x.e[0]));
    return y;
}
TENON_SIMD Point transposed_times(const Square& a, const Point& x) {
    Point y;
    for (int i = 0; i < 3; ++i) y.e[i] = add(a(2, i), x.e[2], add(a(1, i), x.e[1], a(0, i) * x.e[0]));
    return y;
}
TENON_SIMD Square transposed_times(const Square& a, const Square& b) {
    Square c;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) c(i, j) = add(a(2, i), b(2, j), add(a(1, i), b(1, j), a(0, i) * b(0, j)));
    return c;
}
TENON_SIMD Pack determinant(const Square& a) {
    const Pack x = less(a(2, 1), a(1, 2), a(1, 1) * a(2, 2)), y = less(a(0, 1), a(2, 2), a(2, 1) * a(0, 2)),
               z = less(a(1, 1), a(0, 2), a(0, 1) * a(1, 2));
    return add(a(2, 0), z, add(a(1, 0), y, a(0, 0) * x));
}
TENON_SIMD Pack distance_to_identity(const Symmetric& c) {
    const Pack one = pack(1.0);
    Pack worst = largest(magnitude(c.e[3]), largest(magnitude(c.e[4]), magnitude(c.e[5])));
    for (int i = 0; i < 3; ++i) worst = largest(worst, magnitude(c.e[i] - one));
    return worst;
}

// Rotation and stretch of a; false when one of the four is too far from a rotation for the iteration
// R <- R (3 I - R^T R)/2, or inverted.
TENON_SIMD bool polar(const Square& a, Square& R, Symmetric& stretch) {
    R = a;
    Symmetric c = gram(R);
    double error = peak(distance_to_identity(c));
    const Pack det = determinant(a);
    if (!(error < 0.4) || !(det[0] > 0 && det[1] > 0 && det[2] > 0 && det[3] > 0)) return false;
    const Pack half = pack(0.5), three_halves = pack(1.5);
    for (int iteration = 0; iteration < 12 && error > 4e-16; ++iteration) {
        Symmetric factor;
        for (int i = 0; i < 3; ++i) factor.e[i] = less(half, c.e[i], three_halves);
        for (int i = 3; i < 6; ++i) factor.e[i] = -half * c.e[i];
        R = times(R, factor);
        if (error < 1e-8) break;  // quadratic: the next error is below round-off
        c = gram(R);
        error = peak(distance_to_identity(c));
    }
    for (int i = 0; i < 3; ++i)
        stretch(i, i) = add(R(2, i), a(2, i), add(R(1, i), a(1, i), R(0, i) * a(0, i)));
    for (int p = 0; p < 3; ++p) {
        const int i = (p + 1) % 3, j = (p + 2) % 3;
        const Pack ij = add(R(2, i), a(2, j), add(R(1, i), a(1, j), R(0, i) * a(0, j)));
        const Pack ji = add(R(2, j), a(2, i), add(R(1, j), a(1, i), R(0, j) * a(0, i)));
        stretch(i, j) = half * (ij + ji);
    }
    return true;
}

struct KindPack {
    Pack inertia[3] = {}, mass_rate{}, translation_inverse{}, mu{}, lambda{};
    Symmetric stretch{};
    int of[4] = {-1, -1, -1, -1};

    TENON_SIMD void take(const SweepKind* kinds, const int* kind) {
        if (kind[0] == of[0] && kind[1] == of[1] && kind[2] == of[2] && kind[3] == of[3]) return;
        for (int lane = 0; lane < 4; ++lane) {
            const SweepKind& k = kinds[kind[lane]];
            of[lane] = kind[lane];
            for (int i = 0; i < 3; ++i) inertia[i][lane] = k.inertia[i];
            mass_rate[lane] = k.mass_rate;
            translation_inverse[lane] = k.translation_inverse;
            mu[lane] = k.volume_mu;
            lambda[lane] = k.volume_lambda;
            for (int i = 0; i < 6; ++i) stretch.e[i][lane] = k.stretch_inverse[i];
        }
    }
};

// V P and the elastic energy of a stretch.
TENON_SIMD Symmetric stress_of(const KindPack& kind, const Symmetric& S, Pack& energy, Pack& strain) {
    const Pack one = pack(1.0), two_mu = kind.mu + kind.mu;
    const Pack x = S.e[0] - one, y = S.e[1] - one, z = S.e[2] - one, trace = x + y + z;
    const Pack off = add(S.e[5], S.e[5], add(S.e[4], S.e[4], S.e[3] * S.e[3]));
    const Pack norm = add(x, x, add(y, y, add(z, z, off + off)));
    energy = add(kind.mu, norm, pack(0.5) * kind.lambda * trace * trace);
    strain = distance_to_identity(S);
    Symmetric P;
    const Pack pressure = kind.lambda * trace;
    P.e[0] = add(two_mu, x, pressure), P.e[1] = add(two_mu, y, pressure), P.e[2] = add(two_mu, z, pressure);
    for (int i = 3; i < 6; ++i) P.e[i] = two_mu * S.e[i];
    return P;
}

// Four bodies where the step is linearised, in the frames turned by R: x = [R S, .], target = [R T, t].
struct Predicted {
    Four base;  // q0 q + q1 previous_q
    Point t;
    Square R, T;
    Symmetric S;
    Square force;                 // R^T f of the affine part
    Pack ij[3], ji[3], cross[3];  // inverse matrix, see BodyInverse
    Pack energy;                  // of the last state
    Point left_now, right_now;    // anchors in the last state
    bool near;
};

TENON_SIMD Point anchor_at(const Four& q, const double* anchor) {
    Point y;
    for (int i = 0; i < 3; ++i)
        y.e[i] = add(q.e[i], load(anchor),
                     add(q.e[3 + i], load(anchor + 4), add(q.e[6 + i], load(anchor + 8), q.e[9 + i])));
    return y;
}

// The target's rotation with the last state's stretch; or, `again`, where the first solve went: its straight increment
// M = S + F in the frame R of the prediction becomes a turn, that of M's polar decomposition, and the stretch sym(M).
// `judge`: also the potential and the anchors of the last state.
template <bool judge, bool again>
TENON_SIMD void predict(const SweepChain& chain, const SweepRule& rule, const SweepState& state,
                        std::size_t group, const KindPack& kind, Predicted& p) {
    const int* body = chain.body + 4 * group;
    const Four q = fetch(state.q, body);
    Four target;
    {
        const Four before = fetch(state.previous_q, body);
        for (int k = 0; k < 12; ++k) p.base.e[k] = add(pack(rule.q0), q.e[k], pack(rule.q1) * before.e[k]);
        const Four v = fetch(state.rate, body), v_before = fetch(state.previous_rate, body);
        for (int k = 0; k < 12; ++k)
            target.e[k] = add(pack(rule.v1), v_before.e[k], add(pack(rule.v0), v.e[k], p.base.e[k]));
    }
    for (int i = 0; i < 3; ++i) p.t.e[i] = target.e[9 + i] = target.e[9 + i] + pack(rule.gravity[i]);
    Square a, unused;
    Symmetric T;
    for (int k = 0; k < 9; ++k) a.e[k] = target.e[k];
    p.near = polar(a, p.R, T);
    if (again) {
        const Four x = fetch(state.new_q, body);
        Square A;
        for (int k = 0; k < 9; ++k) A.e[k] = x.e[k];
        const Square M = transposed_times(p.R, A);
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i <= j; ++i) p.S(i, j) = pack(0.5) * (M(i, j) + M(j, i));
        Symmetric stretch;
        p.near = polar(A, p.R, stretch) && p.near;
        p.T = transposed_times(p.R, a);
    } else {
        for (int k = 0; k < 9; ++k) a.e[k] = q.e[k];
        p.near = polar(a, unused, p.S) && p.near;
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i) p.T(i, j) = T(i, j);
    }
    Pack strain;
    const Symmetric P = stress_of(kind, p.S, p.energy, strain);
    if (judge) {
        Pack sum = pack(0.0);
        for (int k = 0; k < 4; ++k) {
            Pack square = pack(0.0);
            for (int i = 0; i < 3; ++i) {
                const Pack d = q.e[3 * k + i] - target.e[3 * k + i];
                square = add(d, d, square);
            }
            sum = add(k < 3 ? kind.inertia[k] : kind.mass_rate, square, sum);
        }
        p.energy = add(pack(0.5), sum, p.energy);
        p.left_now = anchor_at(q, chain.anchors + 24 * group);
        p.right_now = anchor_at(q, chain.anchors + 24 * group + 12);
    }
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i) p.force(i, k) = less(kind.inertia[k], p.S(i, k) - p.T(i, k), -P(i, k));
    for (int s = 0; s < 3; ++s) {
        const int i = (s + 1) % 3, j = (s + 2) % 3;
        const Pack pull = P(i, i) + P(j, j) + magnitude(P(i, s)) + magnitude(P(j, s));
        const Pack g = largest(pack(0.0), pack(0.25) * pull), stiff = kind.mu + g;
        const Pack ai = kind.inertia[i], aj = kind.inertia[j];
        const Pack det = add(ai, aj, add(ai + aj, stiff, pack(4.0) * kind.mu * g));
        const Pack scale = pack(1.0) / det;
        p.ij[s] = (ai + stiff) * scale;
        p.ji[s] = (aj + stiff) * scale;
        p.cross[s] = (g - kind.mu) * scale;
    }
}

// H^-1 G of the affine part.
TENON_SIMD Square increment(const KindPack& kind, const Predicted& p, const Square& G) {
    Square F;
    for (int i = 0; i < 3; ++i)
        F(i, i) =
            add(kind.stretch(i, 2), G(2, 2), add(kind.stretch(i, 1), G(1, 1), kind.stretch(i, 0) * G(0, 0)));
    for (int s = 0; s < 3; ++s) {
        const int i = (s + 1) % 3, j = (s + 2) % 3;
        F(i, j) = add(p.ij[s], G(i, j), p.cross[s] * G(j, i));
        F(j, i) = add(p.ji[s], G(j, i), p.cross[s] * G(i, j));
    }
    return F;
}

// J(x) H^-1 J(y)^T in the turned frame.
TENON_SIMD Square compliance(const KindPack& kind, const Predicted& p, const Point& x, const Point& y) {
    Square C;
    for (int i = 0; i < 3; ++i) C(i, i) = add(kind.stretch(i, i), x.e[i] * y.e[i], kind.translation_inverse);
    for (int s = 0; s < 3; ++s) {
        const int i = (s + 1) % 3, j = (s + 2) % 3;
        const Pack ij = x.e[i] * y.e[j], ji = x.e[j] * y.e[i];
        C(i, i) = add(p.ij[s], x.e[j] * y.e[j], C(i, i));
        C(j, j) = add(p.ji[s], x.e[i] * y.e[i], C(j, j));
        C(i, j) = add(kind.stretch(i, j), ij, p.cross[s] * ji);
        C(j, i) = add(kind.stretch(i, j), ji, p.cross[s] * ij);
    }
    return C;
}

TENON_SIMD Symmetric compliance(const KindPack& kind, const Predicted& p, const Point& x) {
    Symmetric C;
    Pack square[3];
    for (int i = 0; i < 3; ++i) {
        square[i] = x.e[i] * x.e[i];
        C(i, i) = add(kind.stretch(i, i), square[i], kind.translation_inverse);
    }
    for (int s = 0; s < 3; ++s) {
        const int i = (s + 1) % 3, j = (s + 2) % 3;
        C(i, i) = add(p.ij[s], square[j], C(i, i));
        C(j, j) = add(p.ji[s], square[i], C(j, j));
        C(i, j) = (kind.stretch(i, j) + p.cross[s]) * (x.e[i] * x.e[j]);
    }
    return C;
}

// What the joints of four bodies see of them, in the world's frame.
struct View {
    alignas(32) Pack left_left[6], right_right[6], left_right[9], left[3], right[3];
};

TENON_SIMD View view(const SweepChain& chain, std::size_t group, const KindPack& kind, const Predicted& p) {
    const double* anchor = chain.anchors + 24 * group;
    Point l, r;
    for (int i = 0; i < 3; ++i) l.e[i] = load(anchor + 4 * i), r.e[i] = load(anchor + 12 + 4 * i);
    View v;
    const Square F = increment(kind, p, p.force);
    Square M;  // where the body would go unconstrained
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) M(i, j) = p.S(i, j) + F(i, j);
    const Point at_left = times(p.R, times(M, l)), at_right = times(p.R, times(M, r));
    for (int i = 0; i < 3; ++i) v.left[i] = p.t.e[i] + at_left.e[i], v.right[i] = p.t.e[i] + at_right.e[i];
    const Symmetric ll = times_transposed_symmetric(times(p.R, compliance(kind, p, l)), p.R);
    const Symmetric rr = times_transposed_symmetric(times(p.R, compliance(kind, p, r)), p.R);
    const Square lr = times_transposed(times(p.R, compliance(kind, p, l, r)), p.R);
    for (int k = 0; k < 6; ++k) v.left_left[k] = ll.e[k], v.right_right[k] = rr.e[k];
    for (int k = 0; k < 9; ++k) v.left_right[k] = lr.e[k];
    return v;
}

// The elimination, joint by joint: what is left of the matrix and right-hand side of the joint to come.
struct Elimination {
    double D[6] = {};  // xx, yy, zz, yz, zx, xy
    double rhs[3] = {};

    // Inverse of D through L D L^T, which keeps the digits that cofactors of stiff blocks would lose.
    TENON_SIMD void inverse(double* V) const {
        const double e0 = 1.0 / D[0], l10 = D[5] * e0, l20 = D[4] * e0;
        const double d1 = less(l10, D[5], D[1]), c21 = less(l20, D[5], D[3]), e1 = 1.0 / d1, l21 = c21 * e1;
        const double d2 = less(l21, c21, less(l20, D[4], D[2])), e2 = 1.0 / d2;
        const double m20 = add(l10, l21, -l20), f20 = m20 * e2, f21 = -l21 * e2;
        V[0] = add(m20, f20, add(l10 * l10, e1, e0));
        V[1] = add(-l21, f21, e1);
        V[2] = e2;
        V[3] = f21;
        V[4] = f20;
        V[5] = add(-l21, f20, -l10 * e1);
    }

    // Eliminates the joint before a body and leaves the one behind it; `kept` gets D^-1 B and D^-1 rhs.
    TENON_SIMD void pass(const View& v, int lane, double* kept) {
        for (int k = 0; k < 6; ++k) D[k] += v.left_left[k][lane];
        for (int i = 0; i < 3; ++i) rhs[i] -= v.left[i][lane];
        double V[6];
        inverse(V);
        double U[9];  // B = -U
        for (int k = 0; k < 9; ++k) U[k] = v.left_right[k][lane];
        const double row[3][3] = {{V[0], V[5], V[4]}, {V[5], V[1], V[3]}, {V[4], V[3], V[2]}};
        double G[9], z[3];  // V U, V rhs
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j)
                G[i + 3 * j] =
                    add(row[i][2], U[2 + 3 * j], add(row[i][1], U[1 + 3 * j], row[i][0] * U[3 * j]));
            z[i] = add(row[i][2], rhs[2], add(row[i][1], rhs[1], row[i][0] * rhs[0]));
        }
        constexpr int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};
        for (int k = 0; k < 6; ++k) {
            const double *a = U + 3 * at[k][0], *b = G + 3 * at[k][1];
            D[k] = less(a[2], b[2], less(a[1], b[1], less(a[0], b[0], v.right_right[k][lane])));
        }
        for (int i = 0; i < 3; ++i) {
            const double* a = U + 3 * i;
            rhs[i] = add(a[2], z[2], add(a[1], z[1], add(a[0], z[0], v.right[i][lane])));
        }
        for (int k = 0; k < 9; ++k) kept[k] = -G[k];
        for (int i = 0; i < 3; ++i) kept[9 + i] = z[i];
    }

    TENON_SIMD void begin(const View& v, int lane) {  // a body without a joint before it
        for (int k = 0; k < 6; ++k) D[k] = v.right_right[k][lane];
        for (int i = 0; i < 3; ++i) rhs[i] = v.right[i][lane];
    }

    TENON_SIMD void finish(double* kept) const {  // the last joint
        double V[6];
        inverse(V);
        kept[9] = add(V[4], rhs[2], add(V[5], rhs[1], V[0] * rhs[0]));
        kept[10] = add(V[3], rhs[2], add(V[1], rhs[1], V[5] * rhs[0]));
        kept[11] = add(V[2], rhs[2], add(V[3], rhs[1], V[4] * rhs[0]));
    }
};

TENON_SIMD double gap_between(const Point& a, const Point& b, std::uint32_t lanes) {
    double worst = 0.0;
    for (int i = 0; i < 3; ++i) {
        const Pack d = magnitude(a.e[i] - b.e[i]);
        if (lanes == 15) {
            const double p = peak(d);
            worst = p > worst ? p : worst;
        } else {
            for (int lane = 0; lane < 4; ++lane)
                if ((lanes >> lane & 1u) && d[lane] > worst) worst = d[lane];
        }
    }
    return worst;
}

TENON_SIMD double gap_to(const Point& a, int lane, const double* b) {
    double worst = 0.0;
    for (int i = 0; i < 3; ++i) {
        const double d = a.e[i][lane] - b[i], size = d < 0 ? -d : d;
        worst = size > worst ? size : worst;
    }
    return worst;
}

TENON_SIMD void pass_lane(std::size_t group, int lane, std::size_t shift, const View& v, double* work,
                          Elimination& elimination) {
    const std::size_t i = 4 * group + lane;
    if (i < shift)
        elimination.begin(v, lane);
    else
        elimination.pass(v, lane, work + 12 * (i - shift));
}

TENON_SIMD void finish_at_end(const SweepChain& chain, std::size_t shift, double* work,
                              Elimination& elimination) {
    for (int i = 0; i < 3; ++i) elimination.rhs[i] -= chain.end[i];
    elimination.finish(work + 12 * (chain.bodies - shift));
}

// First pass: elimination from the first joint to the last.
template <bool again>
inline void eliminate(const SweepChain& chain, const SweepRule& rule, const SweepState& state, double* work,
                      SweepReport& report) {
    const std::size_t groups = (chain.bodies + 3) / 4;
    const std::size_t shift = chain.held_start ? 0 : 1;  // the joint before body i is i - shift
    KindPack kind;
    Elimination elimination;
    for (int i = 0; i < 3; ++i) elimination.rhs[i] = chain.start[i];
    Pack energy = pack(0.0);
    Point right_before{};
    for (std::size_t group = 0; group < groups; ++group) {
        kind.take(chain.kinds, chain.kind + 4 * group);
        Predicted p;
        predict<!again, again>(chain, rule, state, group, kind, p);
        report.near = report.near && p.near;
        const View v = view(chain, group, kind, p);
        const int lanes = static_cast<int>(chain.bodies - 4 * group < 4 ? chain.bodies - 4 * group : 4);
        if (again) {
            for (int lane = 0; lane < lanes; ++lane) pass_lane(group, lane, shift, v, work, elimination);
            if (group + 1 == groups && chain.held_end) finish_at_end(chain, shift, work, elimination);
            continue;
        }
        if (lanes == 4)
            energy = energy + p.energy;
        else
            for (int lane = 0; lane < lanes; ++lane) energy[lane] += p.energy[lane];
        Point before;
        for (int i = 0; i < 3; ++i) before.e[i] = shifted(right_before.e[i], p.right_now.e[i]);
        right_before = p.right_now;
        const std::uint32_t joined = ((1u << lanes) - 1u) & (group == 0 ? 14u : 15u);
        const double gap = gap_between(before, p.left_now, joined);
        if (gap > report.gap_before) report.gap_before = gap;
        if (group == 0 && chain.held_start) {
            const double held = gap_to(p.left_now, 0, chain.start);
            if (held > report.gap_before) report.gap_before = held;
        }
        for (int lane = 0; lane < lanes; ++lane) pass_lane(group, lane, shift, v, work, elimination);
        if (group + 1 == groups && chain.held_end) {
            const double held = gap_to(p.right_now, lanes - 1, chain.end);
            if (held > report.gap_before) report.gap_before = held;
            finish_at_end(chain, shift, work, elimination);
        }
    }
    report.energy_before = total(energy);
}

// Moves four bodies under the forces of their joints; the stretch that is left is in `stretch`.
TENON_SIMD Four moved(const SweepChain& chain, std::size_t group, const KindPack& kind, const Predicted& p,
                      const Point& before, const Point& behind, Pack& energy, Pack& strain, Pack& excess,
                      bool& near) {
    const double* anchor = chain.anchors + 24 * group;
    const Point fl = transposed_times(p.R, before), fr = transposed_times(p.R, behind);
    Square G = p.force;
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i)
            G(i, k) = less(fr.e[i], load(anchor + 12 + 4 * k), add(fl.e[i], load(anchor + 4 * k), G(i, k)));
    const Square F = increment(kind, p, G);
    Square M, unused;
    Pack inertial = pack(0.0);
    for (int k = 0; k < 3; ++k) {
        Pack square = pack(0.0);
        for (int i = 0; i < 3; ++i) {
            M(i, k) = p.S(i, k) + F(i, k);
            const Pack d = M(i, k) - p.T(i, k);
            square = add(d, d, square);
        }
        inertial = add(kind.inertia[k], square, inertial);
    }
    Four x;
    const Square A = times(p.R, M);
    for (int k = 0; k < 9; ++k) x.e[k] = A.e[k];
    Pack square = pack(0.0);
    for (int i = 0; i < 3; ++i) {
        const Pack d = kind.translation_inverse * (before.e[i] - behind.e[i]);
        x.e[9 + i] = p.t.e[i] + d;
        square = add(d, d, square);
    }
    inertial = add(kind.mass_rate, square, inertial);
    Symmetric stretch;
    near = polar(M, unused, stretch);
    stress_of(kind, stretch, energy, strain);
    excess = pack(0.0);
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i <= k; ++i)
            excess = largest(excess, magnitude(stretch(i, k) - pack(0.5) * (M(i, k) + M(k, i))));
    energy = add(pack(0.5), inertial, energy);
    return x;
}

// Second pass: multipliers from the last joint to the first, bodies in the same order.
template <bool again>
inline void substitute(const SweepChain& chain, const SweepRule& rule, const SweepState& state,
                       const double* work, double* multiplier, SweepReport& report) {
    const std::size_t groups = (chain.bodies + 3) / 4, shift = chain.held_start ? 0 : 1;
    const std::size_t joints = chain.bodies - shift + (chain.held_end ? 1 : 0);
    KindPack kind;
    double next[3] = {};  // multiplier of the joint behind the body at hand; zero where there is none
    if (chain.held_end) {
        for (int i = 0; i < 3; ++i)
            multiplier[3 * (joints - 1) + i] = next[i] = work[12 * (joints - 1) + 9 + i];
    }
    Pack energy = pack(0.0), strain = pack(0.0), excess = pack(0.0);
    Point left_behind{};
    for (std::size_t group = groups; group-- > 0;) {
        const int lanes = static_cast<int>(chain.bodies - 4 * group < 4 ? chain.bodies - 4 * group : 4);
        Point before{}, behind{};
        for (int lane = lanes - 1; lane >= 0; --lane) {
            const std::size_t i = 4 * group + lane;
            for (int k = 0; k < 3; ++k) behind.e[k][lane] = next[k];
            if (i < shift) continue;  // nothing before it
            const double* e = work + 12 * (i - shift);
            double y[3] = {e[9], e[10], e[11]};
            if (i - shift + 1 < joints)
                for (int r = 0; r < 3; ++r)
                    y[r] = less(e[r + 6], next[2], less(e[r + 3], next[1], less(e[r], next[0], y[r])));
            for (int k = 0; k < 3; ++k) before.e[k][lane] = multiplier[3 * (i - shift) + k] = next[k] = y[k];
        }
        kind.take(chain.kinds, chain.kind + 4 * group);
        Predicted p;
        predict<false, again>(chain, rule, state, group, kind, p);
        Pack group_energy, group_strain, group_excess;
        bool near = true;
        const Four x =
            moved(chain, group, kind, p, before, behind, group_energy, group_strain, group_excess, near);
        report.near = report.near && near;
        Four rate;
        for (int k = 0; k < 12; ++k) rate.e[k] = pack(rule.rate_scale) * (x.e[k] - p.base.e[k]);
        put(state.new_q, chain.body + 4 * group, lanes, x);
        put(state.new_rate, chain.body + 4 * group, lanes, rate);
        if (lanes == 4) {
            energy = energy + group_energy;
            strain = largest(strain, group_strain);
            excess = largest(excess, group_excess);
        } else {
            for (int lane = 0; lane < lanes; ++lane) {
                energy[lane] += group_energy[lane];
                strain[lane] = strain[lane] > group_strain[lane] ? strain[lane] : group_strain[lane];
                excess[lane] = excess[lane] > group_excess[lane] ? excess[lane] : group_excess[lane];
            }
        }
        const Point left = anchor_at(x, chain.anchors + 24 * group),
                    right = anchor_at(x, chain.anchors + 24 * group + 12);
        Point after;  // left anchors of the next bodies
        for (int i = 0; i < 3; ++i)
            after.e[i] = __builtin_shufflevector(left.e[i], left_behind.e[i], 1, 2, 3, 4);
        left_behind = left;
        std::uint32_t joined = (1u << lanes) - 1u;
        if (group + 1 == groups) joined >>= 1;
        double gap = gap_between(right, after, joined);
        if (gap > report.gap_after) report.gap_after = gap;
        if (group == 0 && chain.held_start && (gap = gap_to(left, 0, chain.start)) > report.gap_after)
            report.gap_after = gap;
        if (group + 1 == groups && chain.held_end &&
            (gap = gap_to(right, lanes - 1, chain.end)) > report.gap_after)
            report.gap_after = gap;
    }
    report.energy_after = total(energy);
    report.strain = peak(strain);
    report.excess = peak(excess);
}

inline SweepReport sweep(const SweepChain& chain, const SweepRule& rule, const SweepState& state, bool again,
                         double* work, double* multiplier) {
    SweepReport report;
    if (again) {
        eliminate<true>(chain, rule, state, work, report);
        if (report.near) substitute<true>(chain, rule, state, work, multiplier, report);
    } else {
        eliminate<false>(chain, rule, state, work, report);
        if (report.near) substitute<false>(chain, rule, state, work, multiplier, report);
    }
    return report;
}

#undef TENON_SIMD

}  // namespace
}  // namespace tenon::articulated

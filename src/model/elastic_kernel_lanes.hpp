// The element kernel for vectors of `kWidth` doubles: compiled once for every set of instructions.
//
// With F = U S V^T (U, V rotations) the second derivative of an isotropic energy is, in the frames of U and V,
//   H_ii,jj = A_ij,   H_ij,ij = (e_ij + o_ij) / 2,   H_ij,ji = (e_ij - o_ij) / 2   (i != j)
// with A the second derivative over the singular values and e, o the eigenvalues of the modes
// (ij + ji) and (ij - ji):  (g_i - g_j) / (s_i - s_j)  and  (g_i + g_j) / (s_i + s_j).
// All eigenvalues but those of the 3x3 matrix A are known, and the matrix of an element is made in these frames and turned once.
#include "math/simd.hpp"
#include "model/elastic_kernel.hpp"

namespace tenon {
namespace {

#if defined(__AVX2__)
constexpr int kWidth = 4;
#else
constexpr int kWidth = 2;
#endif
using Lane = simd::Vector<double, kWidth>;
using Mask = simd::MaskOf<Lane>;
using simd::any, simd::larger, simd::magnitude, simd::root;

inline Lane lane(double value) {
    return simd::all<Lane>(value);
}
struct Vec {
    Lane v[3];
    Lane& operator[](int i) { return v[i]; }
    const Lane& operator[](int i) const { return v[i]; }
};
struct Mat {  // by columns
    Vec c[3];
    Lane& operator()(int i, int j) { return c[j].v[i]; }
    const Lane& operator()(int i, int j) const { return c[j].v[i]; }
};

inline Lane dot(const Vec& a, const Vec& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Vec cross(const Vec& a, const Vec& b) {
    return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}
inline Vec times(const Vec& a, Lane s) {
    return {{a[0] * s, a[1] * s, a[2] * s}};
}
inline Mat multiply(const Mat& a, const Mat& b) {  // a b
    Mat r;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) r(i, j) = a(i, 0) * b(0, j) + a(i, 1) * b(1, j) + a(i, 2) * b(2, j);
    return r;
}
inline Mat multiply_left(const Mat& a, const Mat& b) {  // a^T b
    Mat r;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) r(i, j) = dot(a.c[i], b.c[j]);
    return r;
}
inline Mat multiply_right(const Mat& a, const Mat& b) {  // a b^T
    Mat r;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) r(i, j) = a(i, 0) * b(j, 0) + a(i, 1) * b(j, 1) + a(i, 2) * b(j, 2);
    return r;
}
inline Mat identity() {
    Mat r{};
    for (int i = 0; i < 3; ++i) r(i, i) = lane(1);
    return r;
}
inline Mat load_matrix(const double (*m)[ElementBatch::lanes], int at) {
    Mat r;
    for (int k = 0; k < 9; ++k) r(k % 3, k / 3) = simd::load<Lane>(m[k] + at);
    return r;
}

// One turn of Jacobi's method for the symmetric matrix s, about axes p and q. Lanes that are done stay as they are, to
// the bit: an element's result does not depend on its neighbours.
template <int p, int q>
inline Mask turn(Mat& s, Mat& v) {
    constexpr int o = 3 - p - q;
    const Lane c = s(p, q), d = s(q, q) - s(p, p);
    const Mask coupled = c * c > 1e-33 * magnitude(s(p, p) * s(q, q)) + 1e-300;
    const Lane twice = 2 * c, length = magnitude(d) + root(d * d + twice * twice);
    const Lane t = coupled ? (d < 0 ? -twice : twice) / (coupled ? length : lane(1)) : lane(0);
    const Lane cosine = 1 / root(1 + t * t), sine = t * cosine;
    s(p, p) = s(p, p) - t * c;
    s(q, q) = s(q, q) + t * c;
    s(p, q) = coupled ? lane(0) : c;
    const Lane sp = s(p < o ? p : o, p < o ? o : p), sq = s(q < o ? q : o, q < o ? o : q);
    s(p < o ? p : o, p < o ? o : p) = cosine * sp - sine * sq;
    s(q < o ? q : o, q < o ? o : q) = sine * sp + cosine * sq;
    for (int i = 0; i < 3; ++i) {
        const Lane vp = v(i, p), vq = v(i, q);
        v(i, p) = cosine * vp - sine * vq;
        v(i, q) = sine * vp + cosine * vq;
    }
    return coupled;
}

// Eigenvectors of a symmetric matrix (its upper half is read), a rotation; the eigenvalues are left on the diagonal of s.
inline Mat eigenvectors(Mat& s) {
    Mat v = identity();
    for (int sweep = 0; sweep < 10; ++sweep) {
        const Mask first = turn<0, 1>(s, v), second = turn<0, 2>(s, v), third = turn<1, 2>(s, v);
        if (!any(first | second | third)) break;
    }
    return v;
}

// Exchanges columns p and q where `when` holds; a change of sign keeps rotations rotations.
inline void swap_columns(Mat& m, int p, int q, Mask when) {
    for (int i = 0; i < 3; ++i) {
        const Lane a = m(i, p), b = m(i, q);
        m(i, p) = when ? b : a;
        m(i, q) = when ? -a : b;
    }
}

inline Vec any_normal(const Vec& u) {
    const Mask along_x = magnitude(u[0]) > 0.6;
    const Vec seed{{along_x ? lane(0) : lane(1), along_x ? lane(1) : lane(0), lane(0)}};
    const Vec n = cross(u, seed);
    return times(n, 1 / root(dot(n, n)));
}

struct Decomposed {
    Mat u, v;
    Vec s;
};

inline Decomposed decompose(const Mat& f) {
    Decomposed r;
    Mat s = multiply_left(f, f);
    r.v = eigenvectors(s);
    Mat b = multiply(f, r.v);
    constexpr int order[3][2] = {{0, 1}, {1, 2}, {0, 1}};
    for (const auto& pair : order) {
        const int p = pair[0], q = pair[1];
        const Mask smaller = dot(b.c[p], b.c[p]) < dot(b.c[q], b.c[q]);
        swap_columns(b, p, q, smaller);
        swap_columns(r.v, p, q, smaller);
    }
    const Lane first = root(dot(b.c[0], b.c[0]));
    const Mask nothing = first <= 1e-150;
    r.u.c[0] = times(b.c[0], 1 / (nothing ? lane(1) : first));
    r.u(0, 0) = nothing ? lane(1) : r.u(0, 0);
    const Lane along = dot(r.u.c[0], b.c[1]);
    Vec rest;
    for (int i = 0; i < 3; ++i) rest[i] = b(i, 1) - along * r.u(i, 0);
    const Lane second = root(dot(rest, rest));
    const Mask flat = second <= 1e-150 + 1e-15 * first;
    const Vec straight = times(rest, 1 / (flat ? lane(1) : second)), other = any_normal(r.u.c[0]);
    for (int i = 0; i < 3; ++i) r.u(i, 1) = flat ? other[i] : straight[i];
    r.u.c[2] = cross(r.u.c[0], r.u.c[1]);
    r.s = {{first, dot(r.u.c[1], b.c[1]), dot(r.u.c[2], b.c[2])}};
    return r;
}

// First and second derivatives of the energy over the singular values.
struct Principal {
    Vec g;
    Mat a;
};

inline Principal neo_hookean(Lane shear, Lane bulk, const Vec& s) {
    const Lane mu = (4.0 / 3.0) * shear, lambda = bulk + (5.0 / 6.0) * shear, alpha = 1 + 0.75 * mu / lambda;
    const Lane c = dot(s, s) + 1, pressure = lambda * (s[0] * s[1] * s[2] - alpha), factor = mu * (1 - 1 / c),
               twice = 2 * mu / (c * c);
    const Vec dj{{s[1] * s[2], s[2] * s[0], s[0] * s[1]}};
    Principal p;
    for (int i = 0; i < 3; ++i) {
        p.g[i] = factor * s[i] + pressure * dj[i];
        p.a(i, i) = factor + twice * s[i] * s[i] + lambda * dj[i] * dj[i];
        for (int j = i + 1; j < 3; ++j)
            p.a(i, j) = p.a(j, i) = twice * s[i] * s[j] + lambda * dj[i] * dj[j] + pressure * s[3 - i - j];
    }
    return p;
}

inline Principal stvk(Lane mu, Lane lambda, const Vec& s) {
    Vec e;
    for (int i = 0; i < 3; ++i) e[i] = 0.5 * (s[i] * s[i] - 1);
    const Lane trace = lambda * (e[0] + e[1] + e[2]);
    Principal p;
    for (int i = 0; i < 3; ++i) {
        const Lane stress = 2 * mu * e[i] + trace;
        p.g[i] = s[i] * stress;
        p.a(i, i) = (lambda + 2 * mu) * s[i] * s[i] + stress;
        for (int j = i + 1; j < 3; ++j) p.a(i, j) = p.a(j, i) = lambda * s[i] * s[j];
    }
    return p;
}

inline Principal corotational(Lane mu, Lane lambda, const Vec& s) {
    const Lane trace = lambda * (s[0] + s[1] + s[2] - 3);
    Principal p;
    for (int i = 0; i < 3; ++i) {
        p.g[i] = 2 * mu * (s[i] - 1) + trace;
        for (int j = 0; j < 3; ++j) p.a(i, j) = i == j ? lambda + 2 * mu : lambda;
    }
    return p;
}

// Clamps the eigenvalues of a where one may be negative (Sylvester's criterion).
inline void make_semidefinite(Mat& a) {
    const Lane minor = a(0, 0) * a(1, 1) - a(0, 1) * a(0, 1);
    const Lane determinant = minor * a(2, 2) - a(0, 0) * a(1, 2) * a(1, 2) - a(1, 1) * a(0, 2) * a(0, 2) +
                             2 * a(0, 1) * a(0, 2) * a(1, 2);
    const Mask bad = ~((a(0, 0) > 0) & (minor > 0) & (determinant > 0));
    if (!any(bad)) return;
    Mat diagonal = a;
    const Mat w = eigenvectors(diagonal);
    Mat scaled = w;
    for (int j = 0; j < 3; ++j) scaled.c[j] = times(w.c[j], larger(diagonal(j, j), lane(0)));
    const Mat clamped = multiply_right(scaled, w);
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) a(i, j) = bad ? clamped(i < j ? i : j, i < j ? j : i) : a(i, j);
}

struct Stiffness {
    Mat a;        // H_ii,jj
    Mat same;     // H_ij,ij
    Mat swap;     // H_ij,ji
    Mat pulled;   // the damping's part of a ...
    Mat viscous;  // ... and of a pair, over s s^T
};

// stiffening * H + damping * (H where it sees the rate of Green's strain). A pair's strain rate is s_i X_ij + s_j X_ji;
// damping acts along it alone. Rayleigh's alpha_1 H would also push against the rotation of stressed elements.
inline Stiffness make_stiffness(const Principal& p, const Vec& s, Lane scale, bool project, Lane stiffening,
                                Lane damping) {
    Stiffness h;
    h.a = p.a;
    if (project) make_semidefinite(h.a);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            h.pulled(i, j) = damping * h.a(i, j);
            h.a(i, j) = stiffening * h.a(i, j) + h.pulled(i, j);
        }
    for (int i = 0; i < 3; ++i)
        for (int j = i + 1; j < 3; ++j) {
            const Lane difference = s[i] - s[j], sum = s[i] + s[j];
            const Mask apart = magnitude(difference) > 1e-6;
            Lane even = apart ? (p.g[i] - p.g[j]) / (apart ? difference : lane(1)) : p.a(i, i) - p.a(i, j);
            // as s_i + s_j passes through zero the mode's stiffness has a pole: it is cut off at a large value
            const Lane least = sum < 0 ? lane(-1e-6) : lane(1e-6);
            Lane odd = (p.g[i] + p.g[j]) / (magnitude(sum) > 1e-6 ? sum : least);
            const Lane limit = 1e6 * scale;
            odd = odd > limit ? limit : odd < -limit ? -limit : odd;
            if (project) {
                even = larger(even, lane(0));
                odd = larger(odd, lane(0));
            }
            const Lane same = 0.5 * (even + odd), swap = 0.5 * (even - odd);
            const Lane squares = s[i] * s[i] + s[j] * s[j],
                       over = 1 / (squares > 1e-12 ? squares : lane(1e-12));
            const Lane viscous = damping * over * larger(same + 2 * swap * s[i] * s[j] * over, lane(0));
            h.viscous(i, j) = viscous;
            h.same(i, j) = stiffening * same + viscous * s[i] * s[i];
            h.same(j, i) = stiffening * same + viscous * s[j] * s[j];
            h.swap(i, j) = h.swap(j, i) = stiffening * swap + viscous * s[i] * s[j];
        }
    return h;
}

// Block of corners k and l in the frame of U, then turned by U: U K' U^T.
inline Mat corner_block(const Stiffness& h, const Mat& u, const Vec& k, const Vec& l) {
    Mat m;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (i == j) {
                const int n = (i + 1) % 3, o = (i + 2) % 3;
                m(i, i) = h.a(i, i) * k[i] * l[i] + h.same(i, n) * k[n] * l[n] + h.same(i, o) * k[o] * l[o];
            } else {
                m(i, j) = h.a(i, j) * k[i] * l[j] + h.swap(i, j) * k[j] * l[i];
            }
    return multiply_right(multiply(u, m), u);
}

inline void store_block(ElementBatch& batch, int at, int which, const Mat& m) {
    for (int k = 0; k < 9; ++k) simd::store(batch.block[which][k] + at, m(k % 3, k / 3));
}

inline void keep_in_plane(Mat& m) {
    for (int i = 0; i < 3; ++i) m(i, 2) = m(2, i) = lane(0);
}

// Blocks between corners 1 to 3, and those of corner 0, which follow from rigid translation costing nothing.
inline void store_stiffness(ElementBatch& batch, int at, const Stiffness& h, const Mat& u, const Mat& gv,
                            bool flat) {
    constexpr int pair_of[3][3] = {{1, 7, 8}, {7, 2, 9}, {8, 9, 3}};
    Mat block[3][3];
    for (int k = 0; k < 3; ++k)
        for (int l = k; l < 3; ++l) {
            block[k][l] = corner_block(h, u, gv.c[k], gv.c[l]);
            if (flat) keep_in_plane(block[k][l]);
            store_block(batch, at, pair_of[k][l], block[k][l]);
        }
    Mat corner{};
    for (int l = 0; l < 3; ++l) {
        Mat sum;
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i) {
                Lane total = lane(0);
                for (int k = 0; k < 3; ++k) total += k <= l ? block[k][l](i, j) : block[l][k](j, i);
                sum(i, j) = -total;
                corner(i, j) = corner(i, j) - sum(i, j);
            }
        store_block(batch, at, 4 + l, sum);
    }
    store_block(batch, at, 0, corner);
}

// A material point that turns with the element has the velocity w x at the start of a step and w x + h w w x at its end: the
// second part is no strain rate, and damping must not act on it. Otherwise a linear step brakes whatever turns.
inline void subtract_turning(const Stiffness& h, const Vec& s, const Mat& rate, Lane step, Mat& stress) {
    Mat w{};  // spin
    for (int i = 0; i < 3; ++i)
        for (int j = i + 1; j < 3; ++j) {
            const Lane squares = s[i] * s[i] + s[j] * s[j];
            w(i, j) = (rate(i, j) * s[j] - rate(j, i) * s[i]) / (squares > 1e-12 ? squares : lane(1e-12));
            w(j, i) = -w(i, j);
        }
    Mat c = multiply(w, w);
    for (int j = 0; j < 3; ++j) c.c[j] = times(c.c[j], step * s[j]);
    for (int i = 0; i < 3; ++i) {
        stress(i, i) =
            stress(i, i) - (h.pulled(i, 0) * c(0, 0) + h.pulled(i, 1) * c(1, 1) + h.pulled(i, 2) * c(2, 2));
        for (int j = i + 1; j < 3; ++j) {
            const Lane along = h.viscous(i, j) * (s[i] * c(i, j) + s[j] * c(j, i));
            stress(i, j) = stress(i, j) - s[i] * along;
            stress(j, i) = stress(j, i) - s[j] * along;
        }
    }
}

inline void respond_lanes(ElasticModel model, bool flat, bool project, bool blocks, ElementBatch& batch,
                          int at) {
    const Lane mu = simd::load<Lane>(batch.mu + at), lambda = simd::load<Lane>(batch.lambda + at),
               push = simd::load<Lane>(batch.push + at), stiffening = simd::load<Lane>(batch.stiffening + at);
    const Decomposed d = decompose(load_matrix(batch.f, at));
    const Principal p = model == ElasticModel::neo_hookean ? neo_hookean(mu, lambda, d.s)
                        : model == ElasticModel::stvk      ? stvk(mu, lambda, d.s)
                                                           : corotational(mu, lambda, d.s);
    const Stiffness h =
        make_stiffness(p, d.s, mu + lambda, project, stiffening, simd::load<Lane>(batch.damping + at));
    // push P + H dF, in the frames of U and V
    const Mat rate = multiply(multiply_left(d.u, load_matrix(batch.rate, at)), d.v);
    Mat stress;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            stress(i, j) = i == j ? push * p.g[i] + h.a(i, 0) * rate(0, 0) + h.a(i, 1) * rate(1, 1) +
                                        h.a(i, 2) * rate(2, 2)
                                  : h.same(i, j) * rate(i, j) + h.swap(i, j) * rate(j, i);
    subtract_turning(h, d.s, rate, simd::load<Lane>(batch.step + at), stress);
    const Mat gradient = load_matrix(batch.gradient, at);  // columns are corners
    const Mat gv = multiply_left(d.v, gradient);
    const Mat force = multiply(d.u, multiply(stress, gv));  // minus the load, columns are corners
    for (int i = 0; i < 3; ++i) {
        const Lane scale = lane(flat && i == 2 ? 0 : 1);
        simd::store(batch.load[i] + at, scale * (force(i, 0) + force(i, 1) + force(i, 2)));
        for (int k = 0; k < 3; ++k) simd::store(batch.load[3 * (k + 1) + i] + at, -scale * force(i, k));
    }
    if (blocks) store_stiffness(batch, at, h, d.u, gv, flat);
}

void respond(ElasticModel model, bool flat, bool project, bool blocks, ElementBatch& batch) {
    for (int at = 0; at < ElementBatch::lanes; at += kWidth)
        respond_lanes(model, flat, project, blocks, batch, at);
}

}  // namespace
}  // namespace tenon

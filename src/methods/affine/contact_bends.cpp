// How the distance of a contact bends as its bodies turn.
#include <array>
#include <cmath>

#include "methods/affine/contact_corners.hpp"
#include "methods/affine/contact_field.hpp"

namespace tenon::affine {
namespace {

// A Jacobi rotation that takes out the entry (P, Q), which it returns. Only the upper half of M is kept.
template <int P, int Q>
[[gnu::always_inline]] inline double rotate(Mat4& M, Mat4& vectors) {
    const double m = M(P, Q);
    if (m == 0.0) return 0.0;
    const double ratio = 0.5 * (M(Q, Q) - M(P, P)) / m;
    const double t = (ratio < 0.0 ? -1.0 : 1.0) / (std::abs(ratio) + std::sqrt(ratio * ratio + 1.0));
    const double cosine = 1.0 / std::sqrt(t * t + 1.0), sine = t * cosine;
    M(P, P) -= t * m;
    M(Q, Q) += t * m;
    M(P, Q) = 0.0;
    for (int k = 0; k < 4; ++k) {
        if (k != P && k != Q) {
            double &p = k < P ? M(k, P) : M(P, k), &q = k < Q ? M(k, Q) : M(Q, k);
            const double a = p, b = q;
            p = cosine * a - sine * b;
            q = sine * a + cosine * b;
        }
        const double a = vectors(k, P), b = vectors(k, Q);
        vectors(k, P) = cosine * a - sine * b;
        vectors(k, Q) = sine * a + cosine * b;
    }
    return m;
}

// Leaves the eigenvalues on the diagonal, returns the eigenvectors.
Mat4 diagonalise(Mat4& M) {
    Mat4 vectors = Mat4::Identity();
    for (int sweep = 0; sweep < 10; ++sweep) {
        const double removed[] = {rotate<0, 1>(M, vectors), rotate<0, 2>(M, vectors),
                                  rotate<0, 3>(M, vectors), rotate<1, 2>(M, vectors),
                                  rotate<1, 3>(M, vectors), rotate<2, 3>(M, vectors)};
        double off = 0.0;
        for (const double m : removed) off += m * m;
        if (off <= 1e-13 * M.diagonal().squaredNorm()) break;  // what is left is of the order of its square
    }
    return vectors;
}

}  // namespace

// With d^2 = |r|^2 the curvature of -d is (sum_k s_k u_k u_k^T - 2 (w w^T) (x) (I - n n^T)) / (2 d): of rank four, so
// its positive part comes from a 4x4 eigenproblem.
int ContactField::bends(int k, const ContactPoint& point, std::array<ContactBend, 2>& out) const {
    const CandidatePair& bodies = set_.pairs[k];
    const BodyPoints &pa = points_[bodies.a], &pb = points_[bodies.b];
    const Candidate& candidate = set_.candidates[bodies.begin + point.candidate];
    const Corners c = corners_of(candidate, *pa.shape, *pb.shape);
    const Vec3* x[4];
    std::array<Vec3, 4> corners;
    corners.fill(Vec3::Zero());
    for (int n = 0; n < c.count; ++n) {
        x[n] = &((n < c.split) == c.a_first ? pa : pb).x[c.vertex[n]];
        corners[n] = *x[n];
    }
    const geometry::Closest closest = closest_of(candidate, x);
    const geometry::Curvature curvature = geometry::curvature(closest, corners);
    if (curvature.count == 0) return 0;
    // An orthonormal basis of the four directions: two of them w (x) t, the rest what the others add to these.
    const Vec3 n = point.normal, t1 = n.unitOrthogonal(), t2 = n.cross(t1);
    double w2 = 0.0;
    for (int i = 0; i < c.count; ++i) w2 += closest.weight[i] * closest.weight[i];
    const double w = std::sqrt(w2);
    std::array<std::array<Vec3, 4>, 2> extra;
    Mat4 M = Mat4::Zero();
    M(0, 0) = M(1, 1) = -2.0 * w2;
    for (int m = 0; m < curvature.count; ++m) {
        const auto& u = curvature.direction[m];
        Vec3 sum = Vec3::Zero();
        for (int i = 0; i < c.count; ++i) sum += closest.weight[i] / w * u[i];
        Vec4 y(t1.dot(sum), t2.dot(sum), 0.0, 0.0);
        const Vec3 along = y[0] * t1 + y[1] * t2;
        double size = 0.0, before = 0.0;
        for (int i = 0; i < c.count; ++i) {
            extra[m][i] = u[i] - closest.weight[i] / w * along;
            before += u[i].squaredNorm();
        }
        if (m == 1) {
            double dot = 0.0;
            for (int i = 0; i < c.count; ++i) dot += extra[0][i].dot(extra[1][i]);
            y[2] = dot;
            for (int i = 0; i < c.count; ++i) extra[1][i] -= dot * extra[0][i];
        }
        for (int i = 0; i < c.count; ++i) size += extra[m][i].squaredNorm();
        const bool adds = size > 1e-24 * before;
        y[2 + m] = adds ? std::sqrt(size) : 0.0;
        for (int i = 0; i < c.count; ++i) extra[m][i] *= adds ? 1.0 / y[2 + m] : 0.0;
        M += curvature.scale[m] * y * y.transpose();
    }
    const Mat4 vectors = diagonalise(M);
    int count = 0;
    for (int m = 0; m < 4 && count < 2; ++m) {
        if (M(m, m) <= 0.0) continue;
        const Vec4 y = vectors.col(m);
        const Vec3 shared = (y[0] * t1 + y[1] * t2) / w;
        ContactBend& bend = out[count++];
        bend.stiffness = point.force / (2.0 * point.distance) * M(m, m);
        bend.a.setZero();
        bend.b.setZero();
        for (int i = 0; i < c.count; ++i) {
            const bool on_a = (i < c.split) == c.a_first;
            const Vec3& rest = (on_a ? pa : pb).shape->shape->mesh.vertices[c.vertex[i]];
            Vec3 z = closest.weight[i] * shared;
            for (int j = 0; j < curvature.count; ++j) z += y[2 + j] * extra[j][i];
            Mat34& load = on_a ? bend.a : bend.b;
            for (int axis = 0; axis < 3; ++axis) load.col(axis) += rest[axis] * z;
            load.col(3) += z;
        }
    }
    return count;
}

}  // namespace tenon::affine

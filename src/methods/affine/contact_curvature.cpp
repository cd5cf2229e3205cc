// How the distance of a contact curves as its bodies turn.
#include <array>
#include <cmath>

#include "methods/affine/contact_corners.hpp"
#include "methods/affine/contact_field.hpp"

namespace tenon::affine {
// With d^2 = |r|^2, r = d n, the curvature of -d is (sum_k s_k c_k c_k^T - 2 (w w^T) (x) (I - n n^T)) / (2 d), where
// c_k = v_k (x) r + w (x) t_k moves the closest points along the features that hold them: t_k are at right angles to n and to
// each other, s_k = 2 / |t_k|^2. With unit t_k and a_k = v_k d / |t_k| the squares of w (x) t_k cancel:
//
//     d times the curvature = sum_k (w (x) t_k) (a_k (x) n)^T + (a_k (x) n) (w (x) t_k)^T + (a_k (x) n) (a_k (x) n)^T.
//
// Turning the t_k such that the a_k are at right angles too (by the eigenvectors of their products) leaves one 2x2 matrix
// [0, |w| sigma; |w| sigma, sigma^2] each, sigma = |a_k|, which has one positive eigenvalue.
int ContactField::curvatures(int k, const ContactPoint& point, std::array<ContactCurvature, 2>& out) const {
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

    const Vec3& n = point.normal;
    double w2 = 0.0;
    for (int i = 0; i < c.count; ++i) w2 += closest.weight[i] * closest.weight[i];
    double a[2][4] = {};
    Vec3 t[2] = {Vec3::Zero(), Vec3::Zero()};
    for (int m = 0; m < curvature.count; ++m) {
        const double inverse_length = std::sqrt(0.5 * curvature.scale[m]);
        for (int i = 0; i < c.count; ++i) {
            const Vec3& u = curvature.direction[m][i];
            const double along = n.dot(u);
            a[m][i] = inverse_length * along;
            t[m] += (inverse_length / w2 * closest.weight[i]) * (u - along * n);
        }
    }
    double g[3] = {};  // a0.a0, a0.a1, a1.a1
    for (int i = 0; i < c.count; ++i) {
        g[0] += a[0][i] * a[0][i];
        g[1] += a[0][i] * a[1][i];
        g[2] += a[1][i] * a[1][i];
    }
    const double mean = 0.5 * (g[0] + g[2]), half = 0.5 * (g[0] - g[2]),
                 radius = std::sqrt(half * half + g[1] * g[1]);
    const double larger = mean + radius, lean = radius > 0.0 ? half / radius : 1.0;
    const double cosine = std::sqrt(0.5 * (1.0 + lean)),
                 sine = std::copysign(std::sqrt(0.5 * std::max(0.0, 1.0 - lean)), g[1]);
    const double squares[2] = {larger,
                               larger > 0.0 ? std::max(0.0, g[0] * g[2] - g[1] * g[1]) / larger : 0.0};
    const double turn[2][2] = {{cosine, sine}, {-sine, cosine}};

    int count = 0;
    for (int m = 0; m < curvature.count; ++m) {
        const double square = squares[m];
        if (!(square > 1e-30 * w2)) continue;
        const double sigma = std::sqrt(square),
                     eigenvalue = 0.5 * (square + std::sqrt(square * square + 4.0 * w2 * square));
        const double scale = 1.0 / std::sqrt(w2 * square + eigenvalue * eigenvalue);
        const Vec3 aside = (scale * sigma) * (turn[m][0] * t[0] + turn[m][1] * t[1]);
        const Vec3 along = (scale * eigenvalue / sigma) * n;
        ContactCurvature& part = out[count++];
        part.stiffness = point.force / point.distance * eigenvalue;
        part.a.setZero();
        part.b.setZero();
        for (int i = 0; i < c.count; ++i) {
            const bool on_a = (i < c.split) == c.a_first;
            const Vec3& rest = (on_a ? pa : pb).shape->shape->mesh.vertices[c.vertex[i]];
            const Vec3 z = closest.weight[i] * aside + (turn[m][0] * a[0][i] + turn[m][1] * a[1][i]) * along;
            Mat34& load = on_a ? part.a : part.b;
            for (int axis = 0; axis < 3; ++axis) load.col(axis) += rest[axis] * z;
            load.col(3) += z;
        }
    }
    return count;
}

}  // namespace tenon::affine

// Squared distances between points, edges and triangles, with derivatives. No square roots.
//
// A pair has up to four vertices, the first side's before the second's:
//     point-point (p, q)   point-edge (p, e0, e1)   point-triangle (p, t0, t1, t2)   edge-edge (a0, a1, b0, b1)
// The difference of the closest points is r = sum_i w_i x_i with signed weights w (the first side's sum to 1,
// the second's to -1), and w minimises |r|^2. By the envelope theorem the gradient of d^2 = |r|^2 is
//     d(d^2)/dx_i = 2 w_i r,
// and eliminating the free parameters theta_k of w (none, one or two: the sub-case says which), with
// t_k = dr/dtheta_k, v_k,i = dw_i/dtheta_k and G_kl = t_k . t_l,
//     H_ij = 2 w_i w_j I - 2 sum_kl G^-1_kl (v_k,i r + w_i t_k) (v_l,j r + w_j t_l)^T.
#pragma once

#include <array>
#include <cstdint>

#include "tenon/types.hpp"

namespace tenon::geometry {

// Which features hold the closest points. Together with `Closest::active` it names every sub-case.
enum class SubCase : std::uint8_t {
    point_point,     // a vertex of each side
    point_edge,      // a vertex and the inside of an edge
    point_triangle,  // a vertex and the inside of a triangle
    edge_edge,       // the insides of two edges
};

struct Closest {
    double squared = 0.0;            // d^2
    Vec3 difference = Vec3::Zero();  // r, from the second side's closest point to the first's
    std::array<double, 4> weight{};  // w; zero for vertices that take no part
    SubCase sub_case = SubCase::point_point;
    std::uint8_t active = 0;      // bit i: vertex i spans the closest features
    std::uint8_t first_side = 1;  // number of vertices on the first side
    std::uint8_t vertices = 2;    // of both sides

    Vec3 gradient(int i) const { return 2.0 * weight[i] * difference; }
    bool takes_part(int i) const { return (active >> i) & 1; }
};

Closest closest_point_point(const Vec3& p, const Vec3& q);
Closest closest_point_edge(const Vec3& p, const Vec3& e0, const Vec3& e1);
Closest closest_point_triangle(const Vec3& p, const Vec3& t0, const Vec3& t1, const Vec3& t2);
// Parallel and zero-length edges end in one of the point sub-cases.
Closest closest_edge_edge(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1);

// d^2 alone, for culling and CCD: the same value, without the weights.
double squared_distance_point_edge(const Vec3& p, const Vec3& e0, const Vec3& e1);
double squared_distance_point_triangle(const Vec3& p, const Vec3& t0, const Vec3& t1, const Vec3& t2);
double squared_distance_edge_edge(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1);

// The Hessian of d^2 in factored form: H = 2 (w w^T) (x) I - sum_k scale_k u_k u_k^T with `count` (0 to 2) stacked
// vectors u_k = direction[k] and positive scales. Affine bodies map w and u_k to body space and never need H itself.
struct Curvature {
    int count = 0;
    std::array<double, 2> scale{};
    std::array<std::array<Vec3, 4>, 2> direction;
};
Curvature curvature(const Closest& closest, const std::array<Vec3, 4>& x);

// The 3x3 block of the Hessian between vertices i and j.
Mat3 hessian_block(const Closest& closest, const Curvature& curvature, int i, int j);

// All of it: rows and columns 3i..3i+2 belong to vertex i; vertices that take no part have zero rows.
Mat12 hessian(const Closest& closest, const std::array<Vec3, 4>& x);
Vec12 gradient(const Closest& closest);

// The mollifier of nearly parallel edges: m(c) = (2 - c/eps) c/eps for c = |u x v|^2 < eps, else 1, where u and v are
// the edge vectors and eps = 1e-3 |u0|^2 |v0|^2 of their rest lengths. It is C1, zero for parallel edges.
struct Mollifier {
    double value = 1.0;
    bool active = false;  // false: value 1 and no derivatives
    std::array<Vec3, 4> gradient{Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
};
inline double mollifier_threshold(double rest_length_squared_a, double rest_length_squared_b) {
    return 1e-3 * rest_length_squared_a * rest_length_squared_b;
}
// `u` and `v` lead along the edges.
inline double mollifier_value(const Vec3& u, const Vec3& v, double threshold) {
    const double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
    const double c = x * x + y * y + z * z;
    if (!(c < threshold)) return 1.0;
    const double ratio = c / threshold;
    return (2.0 - ratio) * ratio;
}
Mollifier mollifier(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1, double threshold);
Mat12 mollifier_hessian(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1, double threshold);

}  // namespace tenon::geometry

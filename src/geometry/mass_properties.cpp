#include "geometry/mass_properties.hpp"

#include <cmath>
#include <cstdint>

#include "geometry/mesh_check.hpp"

namespace tenon::geometry {
namespace {

Box3 bounds_of(const Mesh& mesh) {
    Box3 box;
    for (const Triangle& t : mesh.triangles)
        for (int v : t) box.add(mesh.vertices[v]);
    for (const Edge& e : mesh.edges)
        for (int v : e) box.add(mesh.vertices[v]);
    for (int v : mesh.points) box.add(mesh.vertices[v]);
    return box;
}

// Volume, first and second moments about an origin; simplices are added by their closed forms:
// the integral of x x^T over a simplex with d+1 corners is measure / ((d+1)(d+2)) (sum v v^T + s s^T).
struct Moments {
    double volume = 0.0;
    Vec3 first = Vec3::Zero();
    Mat3 second = Mat3::Zero();

    void add_tetrahedron(const Vec3& a, const Vec3& b, const Vec3& c) {  // with the origin
        const double v = a.dot(b.cross(c)) / 6.0;
        const Vec3 s = a + b + c;
        volume += v;
        first += v / 4.0 * s;
        second += v / 20.0 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
    }
    void add_plate(const Vec3& a, const Vec3& b, const Vec3& c, double thickness) {
        const Vec3 normal = (b - a).cross(c - a);
        const double length = normal.norm();
        if (length == 0.0) return;
        const double v = 0.5 * length * thickness;
        const Vec3 n = normal / length, s = a + b + c;
        volume += v;
        first += v / 3.0 * s;
        second += v / 12.0 *
                  (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose() +
                   thickness * thickness * n * n.transpose());
    }
    void add_wire(const Vec3& a, const Vec3& b, double thickness) {
        const double length = (b - a).norm();
        if (length == 0.0) return;
        const double v = length * thickness * thickness;
        const Vec3 d = (b - a) / length, s = a + b;
        volume += v;
        first += v / 2.0 * s;
        second += v / 6.0 * (a * a.transpose() + b * b.transpose() + s * s.transpose()) +
                  v * thickness * thickness / 12.0 * (Mat3::Identity() - d * d.transpose());
    }
    void add_point(const Vec3& a, double thickness) {
        const double v = thickness * thickness * thickness;
        volume += v;
        first += v * a;
        second += v * (a * a.transpose() + thickness * thickness / 12.0 * Mat3::Identity());
    }
};

Moments moments_about(const Mesh& mesh, const Vec3& origin, bool solid, double thickness) {
    const auto at = [&](int v) -> Vec3 { return mesh.vertices[v] - origin; };
    Moments sum;
    for (const Triangle& t : mesh.triangles) {
        if (solid)
            sum.add_tetrahedron(at(t[0]), at(t[1]), at(t[2]));
        else
            sum.add_plate(at(t[0]), at(t[1]), at(t[2]), thickness);
    }
    if (solid && sum.volume < 0.0) {  // inside out
        sum.volume = -sum.volume;
        sum.first = -sum.first;
        sum.second = -sum.second;
    }
    for (const Edge& e : mesh.edges) sum.add_wire(at(e[0]), at(e[1]), thickness);
    for (int v : mesh.points) sum.add_point(at(v), thickness);
    return sum;
}

// A closed surface that encloses something: a doubled card does not.
bool encloses_volume(const Mesh& mesh, const Vec3& origin, double size) {
    if (mesh.triangles.empty() || !is_closed_cycle(mesh)) return false;
    double volume = 0.0, area = 0.0;
    for (const Triangle& t : mesh.triangles) {
        const Vec3 a = mesh.vertices[t[0]] - origin, b = mesh.vertices[t[1]] - origin,
                   c = mesh.vertices[t[2]] - origin;
        volume += a.dot(b.cross(c)) / 6.0;
        area += 0.5 * (b - a).cross(c - a).norm();
    }
    return std::abs(volume) > 1e-12 * area * size;
}

}  // namespace

MassProperties mass_properties(const Mesh& mesh, double thickness) {
    const Box3 box = bounds_of(mesh);
    MassProperties result;
    if (box.empty()) return result;

    // Integrals are taken about a point of the body, so that distance from the origin costs no digits;
    // the second moments about the centroid itself, so that nothing has to be subtracted.
    const Vec3 middle = box.center();
    result.solid = encloses_volume(mesh, middle, box.diagonal());
    const Moments rough = moments_about(mesh, middle, result.solid, thickness);
    if (rough.volume <= 0.0) {
        result.centroid = middle;
        return result;
    }
    result.volume = rough.volume;
    result.centroid = middle + rough.first / rough.volume;
    result.second = moments_about(mesh, result.centroid, result.solid, thickness).second;
    return result;
}

PrincipalFrame principal_frame(const Mat3& second) {
    // Cyclic Jacobi: rotates only where an entry is above round-off, so that a diagonal matrix, also one
    // with equal moments, keeps its axes.
    Mat3 s = 0.5 * (second + second.transpose());
    Mat3 axes = Mat3::Identity();
    const double negligible = 1e-14 * s.diagonal().cwiseAbs().sum();
    for (int sweep = 0; sweep < 50; ++sweep) {
        bool rotated = false;
        for (int p = 0; p < 2; ++p) {
            for (int r = p + 1; r < 3; ++r) {
                if (std::abs(s(p, r)) <= negligible) continue;
                const double theta = (s(r, r) - s(p, p)) / (2.0 * s(p, r));
                const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
                const double c = 1.0 / std::hypot(t, 1.0);
                Mat3 rotation = Mat3::Identity();
                rotation(p, p) = rotation(r, r) = c;
                rotation(p, r) = t * c;
                rotation(r, p) = -t * c;
                s = rotation.transpose() * s * rotation;
                s = (0.5 * (s + s.transpose())).eval();
                axes = axes * rotation;
                rotated = true;
            }
        }
        if (!rotated) break;
    }
    return {axes, s.diagonal()};
}

}  // namespace tenon::geometry

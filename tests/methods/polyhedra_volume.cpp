#include "tests/methods/polyhedra_volume.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace tenon {
namespace {

using Polygon = std::vector<Vec3>;

struct SignedTet {
    std::array<Vec3, 4> corner;  // positive orientation
    double sign = 0;
    Vec3 lo, hi;
};

struct Plane {
    Vec3 normal, point;  // what lies against the normal is kept
};

const std::array<std::array<int, 3>, 4> kFaces{{{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}};

std::vector<SignedTet> tetrahedra(const Mesh& mesh) {
    Vec3 middle = Vec3::Zero();
    for (const Vec3& v : mesh.vertices) middle += v / static_cast<double>(mesh.vertices.size());
    std::vector<SignedTet> made;
    for (const Triangle& t : mesh.triangles) {
        SignedTet tet;
        tet.corner = {middle, mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]]};
        const double volume =
            (tet.corner[1] - middle).cross(tet.corner[2] - middle).dot(tet.corner[3] - middle);
        if (volume == 0) continue;
        tet.sign = volume > 0 ? 1 : -1;
        if (volume < 0) std::swap(tet.corner[2], tet.corner[3]);
        tet.lo = tet.hi = middle;
        for (const Vec3& c : tet.corner) tet.lo = tet.lo.cwiseMin(c), tet.hi = tet.hi.cwiseMax(c);
        made.push_back(tet);
    }
    return made;
}

// Cuts a convex polyhedron, given by its faces, and closes it with the section.
void clip(std::vector<Polygon>& faces, const Plane& plane) {
    Polygon section;
    std::vector<Polygon> kept;
    for (const Polygon& face : faces) {
        Polygon out;
        for (std::size_t k = 0; k < face.size(); ++k) {
            const Vec3 &a = face[k], &b = face[(k + 1) % face.size()];
            const double ha = plane.normal.dot(a - plane.point), hb = plane.normal.dot(b - plane.point);
            if (ha <= 0) out.push_back(a);
            if ((ha < 0 && hb > 0) || (ha > 0 && hb < 0)) {
                out.push_back(a + ha / (ha - hb) * (b - a));
                section.push_back(out.back());
            } else if (ha == 0) {
                section.push_back(a);
            }
        }
        if (out.size() >= 3) kept.push_back(std::move(out));
    }
    faces = std::move(kept);
    if (section.size() < 3 || faces.empty()) return;
    Vec3 middle = Vec3::Zero();
    for (const Vec3& p : section) middle += p / static_cast<double>(section.size());
    const Vec3 seed = std::abs(plane.normal.x()) < 0.6 * plane.normal.norm() ? Vec3::UnitX() : Vec3::UnitY();
    const Vec3 u = plane.normal.cross(seed).normalized(), w = plane.normal.normalized().cross(u);
    std::sort(section.begin(), section.end(), [&](const Vec3& a, const Vec3& b) {
        return std::atan2((a - middle).dot(w), (a - middle).dot(u)) <
               std::atan2((b - middle).dot(w), (b - middle).dot(u));
    });
    faces.push_back(std::move(section));
}

double volume_of(const std::vector<Polygon>& faces) {
    double sum = 0;
    if (faces.empty()) return 0;
    const Vec3 origin = faces[0][0];
    for (const Polygon& face : faces)
        for (std::size_t k = 1; k + 1 < face.size(); ++k)
            sum += (face[0] - origin).cross(face[k] - origin).dot(face[k + 1] - origin) / 6;
    return sum;
}

double common_volume(const SignedTet& a, const SignedTet& b) {
    if ((a.lo.array() >= b.hi.array()).any() || (b.lo.array() >= a.hi.array()).any()) return 0;
    std::vector<Polygon> faces;
    for (const auto& f : kFaces) faces.push_back({a.corner[f[0]], a.corner[f[1]], a.corner[f[2]]});
    for (const auto& f : kFaces) {
        const Vec3 &p = b.corner[f[0]], &q = b.corner[f[1]], &r = b.corner[f[2]];
        clip(faces, {(q - p).cross(r - p), p});
        if (faces.empty()) return 0;
    }
    return volume_of(faces);
}

}  // namespace

double intersection_volume(const Mesh& a, const Mesh& b) {
    const std::vector<SignedTet> of_a = tetrahedra(a), of_b = tetrahedra(b);
    double sum = 0;
    for (const SignedTet& x : of_a)
        for (const SignedTet& y : of_b) sum += x.sign * y.sign * common_volume(x, y);
    return sum;
}

}  // namespace tenon

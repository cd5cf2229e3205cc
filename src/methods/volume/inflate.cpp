#include "methods/volume/inflate.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::volume {

void inflate(Mesh& mesh, double margin) {
    std::vector<Vec3> normal(mesh.vertices.size(), Vec3::Zero()), face;
    for (const Triangle& t : mesh.triangles) {
        const Vec3 &a = mesh.vertices[t[0]], &b = mesh.vertices[t[1]], &c = mesh.vertices[t[2]];
        face.push_back((b - a).cross(c - a).normalized());
        // weighted by the angle at each corner, so that the triangulation of a face does not matter
        const std::array<Vec3, 3> edge{(b - a).normalized(), (c - b).normalized(), (a - c).normalized()};
        for (int k = 0; k < 3; ++k)
            normal[t[k]] += std::acos(std::clamp(-edge[k].dot(edge[(k + 2) % 3]), -1.0, 1.0)) * face.back();
    }
    std::vector<double> least(mesh.vertices.size(), 1.0);
    for (Vec3& n : normal)
        if (n.norm() > 0) n.normalize();
    for (std::size_t f = 0; f < mesh.triangles.size(); ++f)
        for (int v : mesh.triangles[f]) least[v] = std::min(least[v], normal[v].dot(face[f]));
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
        mesh.vertices[v] += margin / std::max(least[v], 1.0 / 3.0) * normal[v];
}

Mesh slab_under(const Shape& plane) {
    const Mat34 frame = to_matrix(plane.primitive.frame);
    Box3 box;  // of the rectangle in the plane's own frame, normal along y
    for (const Vec3& vertex : plane.mesh.vertices)
        box.add(Vec3(frame.leftCols<3>().transpose() * (vertex - frame.col(3))));
    box.hi.y() = 0;
    box.lo.y() = -0.25 * std::max(box.size().x(), box.size().z());
    Mesh mesh;
    for (int i = 0; i < 8; ++i)
        mesh.vertices.push_back(
            transform(frame, Vec3(i & 1 ? box.hi.x() : box.lo.x(), i & 2 ? box.hi.y() : box.lo.y(),
                                  i & 4 ? box.hi.z() : box.lo.z())));
    for (const auto& quad : {std::array{0, 4, 6, 2}, std::array{1, 3, 7, 5}, std::array{0, 1, 5, 4},
                             std::array{2, 6, 7, 3}, std::array{0, 2, 3, 1}, std::array{4, 5, 7, 6}}) {
        mesh.triangles.push_back({quad[0], quad[1], quad[2]});
        mesh.triangles.push_back({quad[0], quad[2], quad[3]});
    }
    return mesh;
}

}  // namespace tenon::volume

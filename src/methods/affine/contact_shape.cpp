#include "methods/affine/contact_shape.hpp"

#include <algorithm>
#include <map>

namespace tenon::affine {
namespace {

constexpr double flat_sine = 1e-7;  // of the angle between neighbouring triangles

struct EdgeUse {
    int triangles = 0;
    Vec3 normal = Vec3::Zero();
    bool crease = false;
};

}  // namespace

ContactShape contact_shape(const Shape& shape) {
    ContactShape out;
    out.shape = &shape;
    const Mesh& mesh = shape.mesh;
    std::map<Edge, EdgeUse> uses;
    for (const Triangle& t : mesh.triangles) {
        const Vec3 normal = (mesh.vertices[t[1]] - mesh.vertices[t[0]])
                                .cross(mesh.vertices[t[2]] - mesh.vertices[t[0]])
                                .normalized();
        for (int k = 0; k < 3; ++k) {
            const int i = t[k], j = t[(k + 1) % 3];
            EdgeUse& use = uses[{std::min(i, j), std::max(i, j)}];
            if (++use.triangles == 1)
                use.normal = normal;
            else if (use.triangles > 2 || use.normal.cross(normal).norm() > flat_sine ||
                     use.normal.dot(normal) < 0)
                use.crease = true;
        }
    }
    std::vector<char> touches(mesh.vertices.size(), 0);
    for (const auto& [edge, use] : uses) {
        if (!use.crease && use.triangles == 2) continue;
        out.edges.push_back(edge);
        touches[edge[0]] = touches[edge[1]] = 1;
    }
    for (const Edge& edge : mesh.edges) {
        out.edges.push_back(edge);
        out.loose_edges.push_back(edge);
        touches[edge[0]] = touches[edge[1]] = 1;
    }
    for (const int point : mesh.points) {
        out.points.push_back(point);
        touches[point] = 1;
    }
    for (std::size_t i = 0; i < touches.size(); ++i)
        if (touches[i]) out.vertices.push_back(static_cast<int>(i));
    for (const Edge& edge : out.edges)
        out.edge_length_squared.push_back((mesh.vertices[edge[1]] - mesh.vertices[edge[0]]).squaredNorm());
    return out;
}

}  // namespace tenon::affine

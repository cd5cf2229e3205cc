#include "methods/affine/contact_shape.hpp"

#include <algorithm>

namespace tenon::affine {
namespace {

constexpr double flat_sine = 1e-7;  // of the angle between neighbouring triangles

int edge_number(const std::vector<Edge>& sorted, int i, int j) {
    const Edge edge{std::min(i, j), std::max(i, j)};
    return static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), edge) - sorted.begin());
}

// Edges that are not inside a flat part: two coplanar triangles on both sides.
std::vector<char> crease_edges(const Shape& shape) {
    const Mesh& mesh = shape.mesh;
    const std::size_t count = shape.all_edges.size();
    std::vector<int> uses(count, 0);
    std::vector<Vec3> normals(count, Vec3::Zero());
    std::vector<char> flat(count, 0);
    for (const Triangle& t : mesh.triangles) {
        const Vec3 normal = (mesh.vertices[t[1]] - mesh.vertices[t[0]])
                                .cross(mesh.vertices[t[2]] - mesh.vertices[t[0]])
                                .normalized();
        for (int k = 0; k < 3; ++k) {
            const int e = edge_number(shape.all_edges, t[k], t[(k + 1) % 3]);
            ++uses[e];
            if (uses[e] == 1)
                normals[e] = normal;
            else
                flat[e] =
                    uses[e] == 2 && normals[e].cross(normal).norm() < flat_sine && normals[e].dot(normal) > 0;
        }
    }
    std::vector<char> crease(count);
    for (std::size_t e = 0; e < count; ++e) crease[e] = !flat[e];
    return crease;
}

constexpr std::size_t few_elements = 64;
constexpr int many_blocks = 64;

}  // namespace

// Boxes of long triangles in one block hold much else than these: against many small ones, each by itself tells more.
const geometry::SurfaceTree& ContactShape::tree_against(const ContactShape& other) const {
    return elements.blocks() > 0 && other.tree.blocks() >= many_blocks ? elements : tree;
}

std::unique_ptr<ContactShape> contact_shape(const Shape& shape) {
    auto out = std::make_unique<ContactShape>();
    out->shape = &shape;
    out->tree = geometry::SurfaceTree(shape.mesh, shape.all_edges);
    if (shape.mesh.triangles.size() <= few_elements)
        out->elements = geometry::SurfaceTree(shape.mesh, shape.all_edges,
                                              geometry::SurfaceTree::Blocks::single_elements);
    for (const Vec3& vertex : shape.mesh.vertices)
        out->radius = std::max(out->radius, (vertex - shape.box.center()).norm() * (1.0 + 1e-12));
    out->edge_touches = crease_edges(shape);
    out->vertex_touches.assign(shape.mesh.vertices.size(), 0);
    out->edge_length_squared.reserve(shape.all_edges.size());
    for (std::size_t e = 0; e < shape.all_edges.size(); ++e) {
        const auto [i, j] = shape.all_edges[e];
        if (out->edge_touches[e]) out->vertex_touches[i] = out->vertex_touches[j] = 1;
        out->edge_length_squared.push_back((shape.mesh.vertices[j] - shape.mesh.vertices[i]).squaredNorm());
    }
    for (const int point : shape.mesh.points) out->vertex_touches[point] = 1;
    return out;
}

}  // namespace tenon::affine

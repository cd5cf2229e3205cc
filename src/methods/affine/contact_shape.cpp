#include "methods/affine/contact_shape.hpp"

#include <algorithm>
#include <cmath>

#include "math/union_find.hpp"

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

constexpr double convex_part =
    1e-9;  // of an edge's length: how far a convex part may reach beyond its border

// Triangles across edges that are no creases form a part. One that is not convex is none: where its notches are, the nearest
// point jumps.
std::vector<int> flat_parts(const Shape& shape, const std::vector<char>& crease) {
    const auto& triangles = shape.mesh.triangles;
    const auto& x = shape.mesh.vertices;
    const auto edge_of = [&](std::size_t t, int k) {
        return edge_number(shape.all_edges, triangles[t][k], triangles[t][(k + 1) % 3]);
    };
    UnionFind parts(triangles.size());
    std::vector<int> first(shape.all_edges.size(), -1);
    for (std::size_t t = 0; t < triangles.size(); ++t)
        for (int k = 0; k < 3; ++k) {
            const int e = edge_of(t, k);
            if (crease[e]) continue;
            if (first[e] < 0)
                first[e] = static_cast<int>(t);
            else
                parts.join(first[e], static_cast<int>(t));
        }
    std::vector<std::vector<int>> members(triangles.size());
    for (std::size_t t = 0; t < triangles.size(); ++t)
        members[parts.root(static_cast<int>(t))].push_back(static_cast<int>(t));
    std::vector<int> part(triangles.size(), -1);
    for (std::size_t root = 0; root < members.size(); ++root) {
        if (members[root].size() < 2 || members[root].size() > 64) continue;
        bool convex = true;
        for (const int t : members[root])
            for (int k = 0; k < 3; ++k) {
                if (!crease[edge_of(t, k)]) continue;
                const Vec3 &a = x[triangles[t][k]], &b = x[triangles[t][(k + 1) % 3]],
                           &c = x[triangles[t][(k + 2) % 3]];
                const Vec3 along = b - a,
                           inwards = (c - a) - (c - a).dot(along) / along.squaredNorm() * along;
                const double beyond = -convex_part * along.norm() * inwards.norm();
                for (const int other : members[root])
                    for (const int v : triangles[other]) convex = convex && inwards.dot(x[v] - a) >= beyond;
            }
        if (convex)
            for (const int t : members[root]) part[t] = static_cast<int>(root);
    }
    return part;
}

constexpr std::size_t few_elements = 64;
constexpr int many_blocks = 64;

}  // namespace

// Boxes of long triangles in one block hold much else than these: against many small ones, each by itself tells more.
const geometry::SurfaceTree& ContactShape::tree_against(const ContactShape& other) const {
    return elements.blocks() > 0 && other.tree.blocks() >= many_blocks ? elements : tree;
}

double facet_angle(const Shape& drawn) {
    const double facets = static_cast<double>(drawn.mesh.triangles.size());
    switch (drawn.primitive.kind) {
        case Primitive::Kind::sphere:
        case Primitive::Kind::capsule:
            return std::sqrt(4.0 * EIGEN_PI / facets);
        case Primitive::Kind::cylinder:  // two triangles a side, and two in the ends
            return 2.0 * EIGEN_PI / (0.25 * facets);
        case Primitive::Kind::cone:
            return 2.0 * EIGEN_PI / (0.5 * facets);
        default:
            return 0.0;
    }
}

std::unique_ptr<ContactShape> contact_shape(const Shape& shape) {
    auto out = std::make_unique<ContactShape>();
    out->shape = &shape;
    out->tree = geometry::SurfaceTree(shape.mesh, shape.all_edges);
    if (shape.mesh.triangles.size() <= few_elements)
        out->elements = geometry::SurfaceTree(shape.mesh, shape.all_edges,
                                              geometry::SurfaceTree::Blocks::single_elements);
    for (const Vec3& vertex : shape.mesh.vertices) out->core_box.add(vertex);
    for (const Vec3& vertex : shape.mesh.vertices) {
        out->radius = std::max(out->radius, (vertex - shape.box.center()).norm() * (1.0 + 1e-12));
        out->core_radius =
            std::max(out->core_radius, (vertex - out->core_box.center()).norm() * (1.0 + 1e-12));
    }
    out->facet_angle = facet_angle(shape);
    out->edge_touches = crease_edges(shape);
    out->flat_part = flat_parts(shape, out->edge_touches);
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

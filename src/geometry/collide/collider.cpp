#include "geometry/collide/collider.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "tenon/error.hpp"

namespace tenon::geometry::collide {
namespace {

// Merges the triangles of a convex mesh into faces: triangles whose planes agree, ordered around the normal.
Hull make_hull(const Mesh& mesh) {
    Hull hull;
    std::vector<int> number(mesh.vertices.size(), -1);
    auto vertex = [&](int v) {
        if (number[v] < 0) {
            number[v] = static_cast<int>(hull.vertices.size());
            hull.vertices.push_back(mesh.vertices[v]);
        }
        return number[v];
    };
    std::vector<double> offsets;
    double size = 0;
    for (const Vec3& v : mesh.vertices) size = std::max(size, v.norm());
    for (const Triangle& t : mesh.triangles) {
        const Vec3& a = mesh.vertices[t[0]];
        const Vec3 cross = (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a);
        const double area = cross.norm();
        if (area < 1e-14 * size * size) continue;
        const Vec3 n = cross / area;
        std::size_t f = 0;
        while (f < hull.normals.size() &&
               (hull.normals[f].dot(n) < 1 - 1e-6 || std::abs(offsets[f] - n.dot(a)) > 1e-5 * size))
            ++f;
        if (f == hull.normals.size()) {
            hull.normals.push_back(n);
            offsets.push_back(n.dot(a));
            hull.faces.emplace_back();
        }
        for (int v : t) {
            const int w = vertex(v);
            if (std::find(hull.faces[f].begin(), hull.faces[f].end(), w) == hull.faces[f].end())
                hull.faces[f].push_back(w);
        }
    }
    hull.neighbours.resize(hull.vertices.size());
    for (std::size_t f = 0; f < hull.faces.size(); ++f) {
        std::vector<int>& face = hull.faces[f];
        Vec3 center = Vec3::Zero();
        for (int v : face) center += hull.vertices[v] / static_cast<double>(face.size());
        const Vec3 x = (hull.vertices[face[0]] - center).normalized(), y = hull.normals[f].cross(x);
        auto angle = [&](int v) {
            const Vec3 d = hull.vertices[v] - center;
            return std::atan2(y.dot(d), x.dot(d));
        };
        std::sort(face.begin(), face.end(), [&](int a, int b) { return angle(a) < angle(b); });
        for (std::size_t i = 0; i < face.size(); ++i) {
            const int a = face[i], b = face[(i + 1) % face.size()];
            for (auto [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
                auto& list = hull.neighbours[from];
                if (std::find(list.begin(), list.end(), to) == list.end()) list.push_back(to);
            }
        }
    }
    return hull;
}

// Corners, and further points so that no two on a triangle are farther apart than `spacing`.
std::vector<Vec3> sample_surface(const Mesh& mesh, double spacing) {
    std::vector<char> used(mesh.vertices.size(), 0);
    std::vector<Vec3> points;
    std::map<Edge, char> edges_done;
    for (const Triangle& t : mesh.triangles)
        for (int i = 0; i < 3; ++i) {
            const int a = t[i], b = t[(i + 1) % 3];
            if (!used[a]) points.push_back(mesh.vertices[a]);
            used[a] = 1;
            if (edges_done[{std::min(a, b), std::max(a, b)}]++) continue;
            const int pieces = static_cast<int>((mesh.vertices[b] - mesh.vertices[a]).norm() / spacing);
            for (int k = 1; k <= pieces; ++k)
                points.push_back(mesh.vertices[a] +
                                 k / (pieces + 1.0) * (mesh.vertices[b] - mesh.vertices[a]));
        }
    for (const Triangle& t : mesh.triangles) {
        const Vec3 &a = mesh.vertices[t[0]], &b = mesh.vertices[t[1]], &c = mesh.vertices[t[2]];
        const double longest = std::max({(b - a).norm(), (c - b).norm(), (a - c).norm()});
        const int n = static_cast<int>(longest / spacing) + 1;
        for (int i = 1; i < n; ++i)
            for (int j = 1; i + j < n; ++j) points.push_back(a + (b - a) * i / n + (c - a) * j / n);
    }
    return points;
}

// Splits points at the median of their box's longest side until clusters are small.
void make_clusters(SurfaceSamples& samples, int begin, int end) {
    Box3 box;
    for (int i = begin; i < end; ++i) box.add(samples.points[i]);
    if (end - begin <= 16) {
        double radius = 0;
        for (int i = begin; i < end; ++i)
            radius = std::max(radius, (samples.points[i] - box.center()).norm());
        samples.clusters.push_back({box.center(), radius, begin, end});
        return;
    }
    int axis;
    box.size().maxCoeff(&axis);
    const int middle = (begin + end) / 2;
    auto first = samples.points.begin();
    std::sort(first + begin, first + end, [&](const Vec3& p, const Vec3& q) { return p[axis] < q[axis]; });
    make_clusters(samples, begin, middle);
    make_clusters(samples, middle, end);
}

Collider::Kind kind_of(const Shape& shape) {
    using P = Primitive::Kind;
    switch (shape.primitive.kind) {
        case P::box:
            return Collider::Kind::box;
        case P::sphere:
            return Collider::Kind::sphere;
        case P::capsule:
            return Collider::Kind::capsule;
        case P::cylinder:
            return Collider::Kind::cylinder;
        case P::cone:
            return Collider::Kind::cone;
        case P::plane:
            return Collider::Kind::plane;
        case P::none:
            break;
    }
    return shape.closed && shape.convex ? Collider::Kind::hull : Collider::Kind::mesh;
}

}  // namespace

bool needs_field(const Shape& shape) {
    return kind_of(shape) == Collider::Kind::mesh;
}

Collider make_collider(const Shape& shape, bool with_field, const SignedDistanceOptions& options,
                       const Origin& origin) {
    Collider collider;
    collider.kind = kind_of(shape);
    collider.radius = shape.radius;
    collider.box = shape.box;
    collider.frame = shape.primitive.frame;
    collider.framed = shape.primitive.kind != Primitive::Kind::none &&
                      (collider.frame.position.norm() > 0 || collider.frame.rotation.vec().norm() > 0);
    const Vec3& size = shape.primitive.size;
    using Kind = Collider::Kind;
    switch (collider.kind) {
        case Kind::box:
            collider.half = 0.5 * size;
            break;
        case Kind::sphere:
            collider.half = Vec3(size.x(), 0, 0);
            break;
        case Kind::capsule:
        case Kind::cylinder:
        case Kind::cone:
            collider.half = Vec3(size.x(), 0.5 * size.y(), 0);
            break;
        case Kind::hull:
            collider.hull = make_hull(shape.mesh);
            break;
        case Kind::plane:
        case Kind::mesh:
            break;
    }
    if (collider.kind == Kind::mesh && !shape.closed)
        throw InputError(
            origin.file, origin.path,
            fmt::format("the mesh of '{}' is open: its inside is unknown, so contacts cannot be found",
                        shape.name),
            "close the mesh, use a primitive shape, or use --method affine");
    const bool wants = collider.kind == Kind::mesh || (with_field && collider.kind != Kind::plane);
    if (!wants) return collider;
    if (collider.kind != Kind::sphere && collider.kind != Kind::capsule) {
        const double spacing = 0.15 * shape.box.size().maxCoeff();
        collider.samples.points = sample_surface(shape.mesh, spacing);
        make_clusters(collider.samples, 0, static_cast<int>(collider.samples.points.size()));
    }
    if (collider.kind != Kind::sphere && collider.kind != Kind::capsule && collider.kind != Kind::box)
        collider.field = std::make_shared<SignedDistance>(shape.mesh, options);
    return collider;
}

}  // namespace tenon::geometry::collide

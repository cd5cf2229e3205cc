#include "model/geometry_mesh.hpp"

#include <fmt/format.h>

#include "geometry/mesh_check.hpp"
#include "geometry/mesh_io.hpp"
#include "geometry/shapes.hpp"
#include "tenon/error.hpp"

namespace tenon {
namespace {

// Each part is checked by itself: two closed parts that touch are no fault.
void append_part(Mesh& mesh, const GeometryPart& part, const Origin& origin) {
    const Mesh piece = geometry_mesh(part.geometry, origin);
    const int first = static_cast<int>(mesh.vertices.size());
    for (const Vec3& vertex : piece.vertices) mesh.vertices.push_back(part.position + part.rotation * vertex);
    const auto shifted = [first](auto tuple) {
        for (int& index : tuple) index += first;
        return tuple;
    };
    for (const Triangle& triangle : piece.triangles) mesh.triangles.push_back(shifted(triangle));
    for (const Edge& edge : piece.edges) mesh.edges.push_back(shifted(edge));
    for (const int point : piece.points) mesh.points.push_back(point + first);
}

Mesh make_mesh(const GeometrySpec& geometry, const Origin& origin) {
    Mesh mesh;
    if (!geometry.shape.empty()) {
        const geometry::ShapeInfo* info = geometry::find_shape(geometry.shape);
        if (!info)
            throw InputError(origin.file, origin.path, fmt::format("unknown shape '{}'", geometry.shape));
        mesh = info->make(geometry.shape_params);
    } else if (!geometry.parts.empty()) {
        for (const GeometryPart& part : geometry.parts) append_part(mesh, part, origin);
    } else if (!geometry.mesh_file.empty()) {
        mesh = geometry::read_mesh(geometry.mesh_file);
    } else {
        mesh.vertices = geometry.vertices;
        mesh.triangles = geometry.triangles;
        mesh.edges = geometry.edges;
        mesh.points = geometry.points;
    }
    for (Vec3& vertex : mesh.vertices) vertex = vertex.cwiseProduct(geometry.scale);
    const bool mirrored = geometry.scale.prod() < 0;
    if (mirrored)
        for (Triangle& triangle : mesh.triangles) std::swap(triangle[1], triangle[2]);
    return mesh;
}

// Refuses meshes that would give wrong masses or contacts, or mends them when the scene asks for it.
void check_or_repair(Mesh& mesh, const GeometrySpec& geometry, const Origin& origin) {
    if (mesh.empty())
        throw InputError(origin.file, origin.path, "the mesh has no triangles, edges or points",
                         "give a mesh with at least one of them");
    if (geometry.repair) {
        mesh = geometry::weld(mesh, 0.0);
        geometry::orient(mesh);
        return;
    }
    if (!geometry.shape.empty() || !geometry.parts.empty()) return;
    const geometry::MeshReport report = geometry::check_mesh(mesh);
    const char* cure = "mend the mesh, or set \"repair\": true to weld, orient and drop them";
    if (report.degenerate_triangles > 0)
        throw InputError(origin.file, origin.path,
                         fmt::format("{} of {} triangles are degenerate (no area)",
                                     report.degenerate_triangles, mesh.triangles.size()),
                         cure);
    if (report.inconsistent_edges > 0 && report.closed())
        throw InputError(origin.file, origin.path,
                         fmt::format("neighbouring triangles disagree on which side is out at {} edges",
                                     report.inconsistent_edges),
                         cure);
    if (report.inside_out)
        throw InputError(origin.file, origin.path,
                         fmt::format("the mesh is inside out (its volume is {:g} m^3)", report.signed_volume),
                         cure);
}

}  // namespace

Mesh geometry_mesh(const GeometrySpec& geometry, const Origin& origin) {
    Mesh mesh = make_mesh(geometry, origin);
    check_or_repair(mesh, geometry, origin);
    return mesh;
}

}  // namespace tenon

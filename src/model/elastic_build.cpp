#include "model/elastic_build.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "geometry/mesh_io.hpp"
#include "geometry/tet_mesh.hpp"
#include "model/elastic_cut.hpp"
#include "model/geometry_mesh.hpp"
#include "tenon/error.hpp"

namespace tenon {
namespace {

struct Parts {
    geometry::TetMesh tets;  // plane-strain bodies: triangles with a fourth index of -1
    Mesh fine;               // surface to embed, may be empty
    double thickness = 1.0;
};

// A surface coarser than the tetrahedra made from it is not worth embedding: their own boundary shows more.
double longest_edge(const Mesh& mesh) {
    double longest = 0;
    for (const Triangle& t : mesh.triangles)
        for (int k = 0; k < 3; ++k)
            longest = std::max(longest, (mesh.vertices[t[k]] - mesh.vertices[t[(k + 1) % 3]]).norm());
    return longest;
}

// Regions are given for the scaled body, the surface is not scaled yet.
std::vector<Box3> unscaled_regions(const ElasticSpec& spec) {
    std::vector<Box3> regions;
    for (const ElasticSpec::Region& region : spec.regions) {
        Box3 box;
        box.add(region.lo.cwiseQuotient(spec.scale));
        box.add(region.hi.cwiseQuotient(spec.scale));
        regions.push_back(box);
    }
    return regions;
}

// Bodies of the same shape share the work: meshing takes much longer than comparing surfaces.
struct Filled {
    Mesh surface;
    double cell_size;
    std::vector<Box3> regions;
    double cell;  // the one used
    geometry::TetMesh tets;
};

const Filled& filled(std::vector<Filled>& known, const Mesh& surface, const ElasticSpec& spec) {
    const std::vector<Box3> regions = unscaled_regions(spec);
    for (const Filled& f : known) {
        bool same = f.cell_size == spec.cell_size && f.surface.triangles == surface.triangles &&
                    f.surface.vertices == surface.vertices && f.regions.size() == regions.size();
        for (std::size_t i = 0; same && i < regions.size(); ++i)
            same = f.regions[i].lo == regions[i].lo && f.regions[i].hi == regions[i].hi;
        if (same) return f;
    }
    const double cell = spec.cell_size > 0 ? spec.cell_size : geometry::chosen_cell_size(surface);
    known.push_back(
        {surface, spec.cell_size, regions, cell, geometry::fill_with_tets(surface, cell, regions)});
    return known.back();
}

Parts make_parts(const Scene& scene, const ElasticSpec& spec, const Origin& origin,
                 std::vector<Filled>& known) {
    Parts parts;
    if (!spec.tets_file.empty()) {
        parts.tets = geometry::read_tets(spec.tets_file);
    } else if (spec.geometry < 0) {
        throw InputError(origin.file, origin.path, "the body has neither \"tets\" nor a surface",
                         "give \"tets\", \"shape\" or \"mesh\"");
    } else {
        const GeometrySpec& geometry = scene.geometries[spec.geometry];
        Mesh surface = geometry_mesh(geometry, origin);
        if (spec.plane_strain) {
            parts.thickness = geometry.thickness > 0 ? geometry.thickness : 1.0;
            parts.tets.vertices = surface.vertices;
            for (const Triangle& t : surface.triangles) parts.tets.tets.push_back({t[0], t[1], t[2], -1});
            parts.tets.region.assign(parts.tets.tets.size(), 0);
        } else {
            double cell = 0;
            try {
                const Filled& made = filled(known, surface, spec);
                parts.tets = made.tets;
                cell = made.cell;
            } catch (const std::invalid_argument& error) {
                throw InputError(origin.file, origin.path, error.what(),
                                 "give a closed surface and a fitting \"cell_size\"");
            }
            if (longest_edge(surface) < 2 * cell) parts.fine = std::move(surface);
        }
    }
    if (!spec.surface_file.empty()) parts.fine = geometry::read_mesh(spec.surface_file);
    return parts;
}

void refuse_bad_elements(const ElasticSpec& spec, const geometry::TetMesh& mesh, const Origin& origin) {
    if (spec.plane_strain) {
        for (std::size_t i = 0; i < mesh.tets.size(); ++i) {
            const Tet& t = mesh.tets[i];
            const Vec3 a = mesh.vertices[t[1]] - mesh.vertices[t[0]],
                       b = mesh.vertices[t[2]] - mesh.vertices[t[0]];
            if (a.x() * b.y() - a.y() * b.x() <= 0)
                throw InputError(origin.file, origin.path,
                                 fmt::format("triangle {} is inverted or has no area in the x-y plane", i),
                                 "a plane-strain body lies in the x-y plane, counter-clockwise");
        }
        return;
    }
    const geometry::TetReport report = geometry::check_tets(mesh);
    if (report.inverted + report.degenerate == 0) return;
    std::string problem = fmt::format("of {} tetrahedra", mesh.tets.size());
    const auto tell = [&](int count, const char* what, int first) {
        if (count > 0)
            problem +=
                fmt::format(" {} {} {} (first: number {})", count, count == 1 ? "is" : "are", what, first);
    };
    tell(report.inverted, "inverted", report.first_inverted);
    tell(report.degenerate, "flat", report.first_degenerate);
    tell(report.slivers, "nearly flat", report.first_sliver);
    throw InputError(origin.file, origin.path, problem,
                     "mend the mesh: every tetrahedron needs a positive volume");
}

bool inside(const Vec3& lo, const Vec3& hi, const Vec3& point) {
    return (point.array() >= lo.array() - 1e-12).all() && (point.array() <= hi.array() + 1e-12).all();
}

void set_materials(ElasticBody& body, const ElasticSpec& spec) {
    body.tet_material.assign(body.tets.size(), spec.material);
    for (std::size_t i = 0; i < body.tets.size(); ++i) {
        Vec3 middle = Vec3::Zero();
        const int corners = spec.plane_strain ? 3 : 4;
        for (int k = 0; k < corners; ++k) middle += body.rest[body.tets[i][k]] / corners;
        for (const ElasticSpec::Region& region : spec.regions)
            if (inside(region.lo, region.hi, middle)) body.tet_material[i] = region.material;
    }
}

void set_masses(ElasticBody& body, const std::vector<MaterialSpec>& materials) {
    body.vertex_mass.assign(body.rest.size(), 0.0);
    for (std::size_t i = 0; i < body.tets.size(); ++i) {
        const Tet& t = body.tets[i];
        const Vec3 a = body.rest[t[1]] - body.rest[t[0]], b = body.rest[t[2]] - body.rest[t[0]];
        const double volume = body.plane_strain ? 0.5 * a.cross(b).norm() * body.thickness
                                                : a.cross(b).dot(body.rest[t[3]] - body.rest[t[0]]) / 6;
        const int corners = body.plane_strain ? 3 : 4;
        for (int k = 0; k < corners; ++k)
            body.vertex_mass[t[k]] += materials[body.tet_material[i]].density * volume / corners;
    }
}

// Pins are chosen in the rest frame; attached ones stay where they are in the body they hang on.
void set_pins(ElasticBody& body, const ElasticSpec& spec, const Model& model, const Scene& scene,
              const Origin& origin, const std::vector<Vec3>& local) {
    for (std::size_t p = 0; p < spec.pins.size(); ++p) {
        const ElasticSpec::Pin& pin = spec.pins[p];
        const std::string path = fmt::format("{}.pins[{}]", origin.path, p);
        const int holder = pin.body.empty() ? -1 : scene.body_index(pin.body);
        if (!pin.body.empty() && holder < 0)
            throw InputError(origin.file, path + ".body",
                             fmt::format("there is no body named '{}'", pin.body), "");
        std::vector<Keyframe> script = pin.motion;
        if (holder < 0 && script.empty()) script.push_back({0.0, spec.position, spec.rotation});
        int found = 0;
        for (std::size_t v = 0; v < local.size(); ++v) {
            if (!inside(pin.lo, pin.hi, local[v])) continue;
            ++found;
            ElasticBody::Pin made;
            made.vertex = static_cast<int>(v);
            made.body = holder;
            if (holder >= 0) {
                const Mat34& q = model.bodies.start_q[holder];
                made.local = q.leftCols<3>().transpose() * (body.start_x[v] - q.col(3));
            } else {
                made.local = local[v];
                made.script = static_cast<int>(body.scripts.size());
            }
            body.pins.push_back(made);
        }
        if (found == 0)
            throw InputError(origin.file, path, "no vertex of the body lies in this box",
                             "the box is given in the body's own frame, before position and rotation");
        if (holder < 0) body.scripts.push_back(std::move(script));
    }
}

ElasticBody build_one(const Model& model, const Scene& scene, const ElasticSpec& spec, const Origin& origin,
                      std::vector<Filled>& known) {
    Parts parts = make_parts(scene, spec, origin, known);
    refuse_bad_elements(spec, parts.tets, origin);
    ElasticBody body;
    body.name = spec.name;
    body.model = spec.model;
    body.plane_strain = spec.plane_strain;
    body.thickness = parts.thickness;
    body.color = spec.color;
    body.friction = scene.materials[spec.material].friction;
    body.restitution = scene.materials[spec.material].restitution;
    for (Vec3& vertex : parts.tets.vertices) vertex = vertex.cwiseProduct(spec.scale);
    for (Vec3& vertex : parts.fine.vertices) vertex = vertex.cwiseProduct(spec.scale);
    if (const auto cut = cut_of(scene); cut && cut->body == spec.name) {
        cut_elastic(parts.tets, *cut, spec, origin);
        parts.fine = {};  // the boundary of the tetrahedra is then the surface, with the faces of the cut
    }
    body.tets = parts.tets.tets;
    body.rest = parts.tets.vertices;
    set_materials(body, spec);
    set_masses(body, scene.materials);
    if (spec.plane_strain)
        for (const Tet& t : body.tets) body.surface.push_back({t[0], t[1], t[2]});
    else
        body.surface = geometry::tet_surface(body.tets);
    if (!parts.fine.empty()) {
        const geometry::Embedding embedding = geometry::embed(parts.fine.vertices, parts.tets);
        body.embedded_tet = embedding.tet;
        body.embedded_weight = embedding.weight;
    }
    // the rest shape is kept in its starting pose, so that it starts without strain
    const Quat rotation = spec.rotation.normalized();
    const std::vector<Vec3> local = body.rest;
    Vec3 center = Vec3::Zero();
    double mass = 0;
    for (std::size_t v = 0; v < body.rest.size(); ++v) {
        body.rest[v] = rotation * body.rest[v] + spec.position;
        center += body.vertex_mass[v] * body.rest[v];
        mass += body.vertex_mass[v];
    }
    center /= mass;
    for (Vec3& vertex : parts.fine.vertices) vertex = rotation * vertex + spec.position;
    body.embedded = std::move(parts.fine);
    body.start_x = body.rest;
    for (const Vec3& x : body.start_x)
        body.start_v.push_back(spec.linear_velocity + spec.angular_velocity.cross(x - center));
    set_pins(body, spec, model, scene, origin, local);
    return body;
}

}  // namespace

void build_elastic_bodies(Model& model, const Scene& scene) {
    std::vector<Filled> known;
    for (std::size_t i = 0; i < scene.elastic.size(); ++i)
        model.elastic.push_back(
            build_one(model, scene, scene.elastic[i], {scene.file, fmt::format("elastic[{}]", i)}, known));
}

}  // namespace tenon

// Readers of meshes: they need nothing but src/geometry's own files.
#include "fuzz/input_file.hpp"
#include "fuzz/targets.hpp"
#include "geometry/mesh_io.hpp"
#include "geometry/tet_mesh.hpp"

namespace tenon::fuzz {
namespace {

void must_be_sound(const std::vector<Vec3>& vertices, const std::vector<Triangle>& triangles) {
    for (const Vec3& vertex : vertices)
        if (!vertex.allFinite()) throw std::logic_error("a vertex that is not finite was accepted");
    for (const Triangle& triangle : triangles)
        for (const int corner : triangle)
            if (corner < 0 || corner >= static_cast<int>(vertices.size()))
                throw std::logic_error("a triangle without its vertices was accepted");
}

void read_mesh_as(std::string_view bytes, const char* ending) {
    const InputFile file(bytes, ending);
    const Mesh mesh = geometry::read_mesh(file.name());
    must_be_sound(mesh.vertices, mesh.triangles);
}

void read_tets_as(std::string_view bytes, const char* ending) {
    const InputFile file(bytes, ending);
    const auto mesh = geometry::read_tets(file.name());
    must_be_sound(mesh.vertices, {});
    for (const Tet& tet : mesh.tets)
        for (const int corner : tet)
            if (corner < 0 || corner >= static_cast<int>(mesh.vertices.size()))
                throw std::logic_error("a tetrahedron without its vertices was accepted");
}

void obj(std::string_view b) {
    read_mesh_as(b, ".obj");
}
void stl(std::string_view b) {
    read_mesh_as(b, ".stl");
}
void ply(std::string_view b) {
    read_mesh_as(b, ".ply");
}
void off(std::string_view b) {
    read_mesh_as(b, ".off");
}
void msh(std::string_view b) {
    read_tets_as(b, ".msh");
}
void mesh(std::string_view b) {
    read_tets_as(b, ".mesh");
}

}  // namespace

const std::vector<Target>& mesh_targets() {
    static const std::vector<Target> all = {
        {"obj",
         guarded<obj>,
         2048,
         {"v ", "f ", "l ", "p ", "vn ", "vt ", "//", "-1", "#", "\\\n", "1e39", "nan"}},
        {"stl",
         guarded<stl>,
         2048,
         {"solid", "facet normal", "outer loop", "vertex", "endloop", "endfacet", "endsolid"}},
        {"ply",
         guarded<ply>,
         2048,
         {"ply\n", "format ascii 1.0", "format binary_little_endian 1.0", "element vertex", "element face",
          "property float x", "property list uchar int vertex_indices", "end_header", "4294967295"}},
        {"off", guarded<off>, 2048, {"OFF", "COFF", "NOFF", "3 0 1 2", "-1", "99999999999"}},
        {"msh",
         guarded<msh>,
         4096,
         {"$MeshFormat", "$EndMeshFormat", "$Nodes", "$EndNodes", "$Elements", "2.2 0 8", "4.1 0 8"}},
        {"mesh",
         guarded<mesh>,
         2048,
         {"MeshVersionFormatted", "Dimension", "Vertices", "Tetrahedra", "End"}}};
    return all;
}

const Target* find_target(const std::vector<Target>& targets, std::string_view name) {
    for (const Target& target : targets)
        if (name == target.name) return &target;
    return nullptr;
}

std::vector<std::string> mesh_seeds(const Target& target) {
    const std::string_view name = target.name;
    if (name == "obj")
        return {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nl 1 2\np 3\n"};
    if (name == "stl")
        return {
            "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
            "0\nendloop\nendfacet\nendsolid s\n",
            std::string(80, 'x') + std::string("\1\0\0\0", 4) + std::string(50, '\0')};
    if (name == "ply")
        return {
            "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float "
            "z\nelement face 1\n"
            "property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"};
    if (name == "off")
        return {"OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n"};
    if (name == "msh")
        return {
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 "
            "1\n$EndNodes\n$Elements\n1\n"
            "1 4 2 1 1 1 2 3 4\n$EndElements\n"};
    if (name == "mesh")
        return {
            "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 "
            "0\nTetrahedra\n1\n1 2 3 4 0\nEnd\n"};
    return {};
}

}  // namespace tenon::fuzz

// Bad files of every mesh format, and every key of a scene with a value of another type: each refused with words that name
// the place.
#include <functional>

#include "bad_input/tables.hpp"
#include "geometry/mesh_io.hpp"
#include "geometry/tet_mesh.hpp"
#include "scene/keys.hpp"
#include "scene/support.hpp"
#include "tenon/scene_io.hpp"

namespace tenon {
namespace {

struct FileCase {
    const char* name;  // of the file: its ending tells the format
    std::string text;
    const char* words;
};

std::string ply(const std::string& head, const std::string& rest) {
    return "ply\n" + head + "end_header\n" + rest;
}
const std::string ply_vertices =
    "format ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
const std::string ply_faces = "element face 1\nproperty list uchar int vertex_indices\n";
const std::string three_points = "0 0 0\n1 0 0\n0 1 0\n";
const std::string four_nodes = "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n";
const std::string msh_head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
const std::string mesh_head = "MeshVersionFormatted 1\nDimension 3\n";
const std::string mesh_vertices = "Vertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n";

std::vector<FileCase> surface_files() {
    return {
        {"a.obj", "\n\n# nothing\n", "holds no triangles, lines or points"},
        {"a.obj", "v 0 0\n", "line 1"},
        {"a.obj", "v 0 0 zero\n", "'zero' is not a number"},
        {"a.obj", "v 0 0 1e999\n", "line 1"},
        {"a.obj", "v 0 0 inf\n", "not a finite number"},
        {"a.obj", "v 0 0 0\nf 1 2 3\n", "line 2"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", "vertex 0 does not exist"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", "with 2 vertices"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -4 1 2\n", "line 4"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 three\n", "'three' is not"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999999999999\n", "line 4"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/x 2 3\n", "line 4"},
        {"a.obj", "v 0 0 0\nl 1\n", "with 1 vertices"},
        {"a.obj", "vertex 0 0 0\n", "unknown keyword 'vertex'"},
        {"a.obj", std::string("v 0 0 0\0f\n", 10), "line 1"},
        {"a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n", "ends before 'endsolid'"},
        {"a.stl", "solid x\nvertex 0 0 0\nendsolid\n", "a vertex outside a facet"},
        {"a.stl",
         "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\nendfacet\nendsolid "
         "x\n",
         "without three vertices"},
        {"a.stl",
         "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nvertex 1 1 "
         "0\nendloop\n"
         "endfacet\nendsolid x\n",
         "more than three vertices"},
        {"a.stl", "solid x\nfacet normal 0 0 1\nfacet normal 0 0 1\n", "a facet inside a facet"},
        {"a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 nan\n", "line 4"},
        {"a.stl", "solid x\nsomething else\nendsolid x\n", "neither facet, vertex nor endsolid"},
        {"a.stl", "solid x\nendsolid x\n", "holds no triangles"},
        {"a.stl", std::string(40, 'x'), "ends within the 84 bytes"},
        {"a.stl", std::string(84, '\xff'), "byte 80"},
        {"a.ply", "ply\nformat ascii 1.0\n", "ends within its head"},
        {"a.ply", ply("element vertex 1\nproperty float x\n", "0\n"), "no 'format' line"},
        {"a.ply", ply("format ascii 1.0\n", ""), "holds no triangles"},
        {"a.ply", ply("format morse 1.0\n", ""), "unknown format 'morse'"},
        {"a.ply", ply("format ascii 1.0\nelement vertex -1\n", ""), "a negative number of elements"},
        {"a.ply", ply("format ascii 1.0\nelement vertex many\n", ""), "line 3"},
        {"a.ply", ply("format ascii 1.0\nproperty float x\n", ""), "a property before any element"},
        {"a.ply", ply("format ascii 1.0\nelement vertex 1\nproperty long x\n", ""),
         "unknown number type 'long'"},
        {"a.ply", ply("format ascii 1.0\nelemnt vertex 1\n", ""), "unknown keyword 'elemnt'"},
        {"a.ply",
         ply("format ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n" + ply_faces,
             "0 0\n1 0\n"),
         "names no property"},
        {"a.ply", ply(ply_vertices + ply_faces, three_points), "the file ends too early"},
        {"a.ply", ply(ply_vertices + ply_faces, three_points + "3 0 1 3\n"), "vertex 3 does not exist"},
        {"a.ply", ply(ply_vertices + ply_faces, three_points + "3 0 1 -1\n"), "line"},
        {"a.ply", ply(ply_vertices + ply_faces, three_points + "2 0 1\n"), "a face with 2 vertices"},
        {"a.ply", ply(ply_vertices + ply_faces, three_points + "200 0 1 2\n"), "line"},
        {"a.ply", ply(ply_vertices + ply_faces, "0 0 nan\n1 0 0\n0 1 0\n3 0 1 2\n"), "line"},
        {"a.ply",
         ply("format ascii 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\nproperty "
             "float z\n",
             three_points),
         "can hold"},
        {"a.ply",
         ply("format binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float "
             "y\nproperty float "
             "z\n" +
                 ply_faces,
             std::string(20, '\0')),
         "the file can hold"},
        {"a.ply", "plx\nformat ascii 1.0\nend_header\n", "does not start with 'ply'"},
        {"a.off", "OF\n1 1 1\n", "does not start with OFF"},
        {"a.off", "OFF\n", "ends after its head"},
        {"a.off", "OFF\n-1 0 0\n", "a negative"},
        {"a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n", "line"},
        {"a.off", "OFF\n3 1 0\n" + three_points + "3 0 1 3\n", "vertex 3 does not exist"},
        {"a.off", "OFF\n3 1 0\n" + three_points + "0\n", "a face with 0 corners"},
        {"a.off", "OFF\n3 1 0\n" + three_points, "line"},
        {"a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 x 0\n3 0 1 2\n", "'x' is not a number"},
        {"a.off", "OFF BINARY\n3 1 0\n", "binary OFF cannot be read"},
        {"a.off", "4OFF\n1 0 0\n0 0 0 0\n", "another dimension"},
        {"a.off", "OFF\n2000000000 1 0\n0 0 0\n", "can hold"},
    };
}

std::vector<FileCase> solid_files() {
    return {
        {"a.msh", "$MeshFormat\n2.2 1 8\n$EndMeshFormat\n", "binary MSH cannot be read"},
        {"a.msh", "$MeshFormat\n5.0 0 8\n$EndMeshFormat\n" + four_nodes, "is not known"},
        {"a.msh", msh_head, "holds no tetrahedra"},
        {"a.msh", msh_head + "$Nodes\n4\n1 0 0 0\n", "more than the rest of the file can hold"},
        {"a.msh", msh_head + "$Nodes\n4000000000\n1 0 0 0\n$EndNodes\n",
         "more than the rest of the file can hold"},
        {"a.msh", msh_head + "$Nodes\n-1\n$EndNodes\n", "line"},
        {"a.msh", msh_head + "$Nodes\n1\n1 0 zero 0\n$EndNodes\n", "'zero' is not a number"},
        {"a.msh", msh_head + four_nodes, "holds no tetrahedra"},
        {"a.msh", msh_head + four_nodes + "$Elements\n1\n1 4 2 1 1 1 2 3 5\n$EndElements\n",
         "node 5 does not exist"},
        {"a.msh", msh_head + four_nodes + "$Elements\n1\n1 99 2 1 1 1 2 3 4\n$EndElements\n",
         "unknown element type 99"},
        {"a.msh", msh_head + four_nodes + "$Elements\n1\n1 4 2 1 1 1 2 3\n", "line"},
        {"a.msh", msh_head + four_nodes + "$Elements\n9\n1 4 2 1 1 1 2 3 4\n$EndElements\n", "line"},
        {"a.msh", "nothing of a mesh", "holds no tetrahedra"},
        {"a.tet", "nothing of a mesh", "in no known format"},
        {"a.mesh", mesh_head, "holds no tetrahedra"},
        {"a.mesh", "MeshVersionFormatted 1\nDimension 2\n" + mesh_vertices, "imension"},
        {"a.mesh", mesh_head + "Vertices\n4\n0 0 0 0\n", "line"},
        {"a.mesh", mesh_head + "Vertices\n-4\n", "line"},
        {"a.mesh", mesh_head + mesh_vertices + "Tetrahedra\n1\n1 2 3 5 0\nEnd\n", "5"},
        {"a.mesh", mesh_head + mesh_vertices + "Tetrahedra\n1\n0 1 2 3 0\nEnd\n", "0"},
        {"a.mesh", mesh_head + mesh_vertices + "Tetrahedra\n2\n1 2 3 4 0\nEnd\n", "line"},
        {"a.mesh", mesh_head + mesh_vertices + "Tetrahedra\n1\n1 2 3 four 0\nEnd\n", "'four' is not"},
        {"a.mesh", mesh_head + "Vertices\n1000000000000\n0 0 0 0\n",
         "more than the rest of the file can hold"},
        {"a.mesh", mesh_head + "Vertices\n4\n0 0 nan 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n", "line"},
        {"a.vtk", "# vtk DataFile Version 2.0\nx\nBINARY\nDATASET UNSTRUCTURED_GRID\n",
         "binary VTK cannot be read"},
        {"a.vtk", "# vtk DataFile Version 2.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\n", "holds no POINTS"},
        {"a.ele", "1 4 0\n1 1 2 3 4\n", "a.node"},
    };
}

void expect_refused(const FileCase& entry, const std::function<void(const std::string&)>& read) {
    SCOPED_TRACE(std::string(entry.name) + ": " + entry.words);
    const test::Folder folder;
    const std::string file = folder.write(entry.name, entry.text);
    const InputError error = test::input_error([&] { read(file); });
    const std::string said = error.what();
    EXPECT_NE(said.find(entry.words), std::string::npos) << said;
    EXPECT_NE(said.find(folder.path()), std::string::npos) << said;
}

TEST(BadMeshes, SurfacesAreRefusedWithTheirPlace) {
    for (const FileCase& entry : surface_files())
        expect_refused(entry, [](const std::string& file) { geometry::read_mesh(file); });
}

TEST(BadMeshes, TetrahedraAreRefusedWithTheirPlace) {
    for (const FileCase& entry : solid_files())
        expect_refused(entry, [](const std::string& file) { geometry::read_tets(file); });
}

// A value that no key of this kind takes.
std::string other_than(scene::Kind kind) {
    using scene::Kind;
    switch (kind) {
        case Kind::flag:
        case Kind::object:
        case Kind::objects:
        case Kind::object_map:
        case Kind::shape:
        case Kind::shape_map:
        case Kind::method:
            return "17";
        case Kind::text:
        case Kind::names:
        case Kind::name_pairs:
        case Kind::name_list:
            return "{}";
        case Kind::fixed:
            return "\"maybe\"";
        default:
            return "\"many\"";
    }
}

// An object of a scene, with the text of a scene around it.
struct Place {
    const scene::ObjectInfo* object;
    std::string before, after;
    std::string path;
};

void collect(const Place& here, int depth, std::vector<Place>& all) {
    all.push_back(here);
    if (depth == 0) return;
    for (const scene::KeyInfo& key : here.object->keys) {
        if (!key.object) continue;
        const std::string name = here.before + "\"" + key.name + "\": ";
        const scene::ObjectInfo* inner = &key.object();
        if (key.kind == scene::Kind::object)
            collect({inner, name + "{", "}" + here.after, here.path + key.name + "."}, depth - 1, all);
        else if (key.kind == scene::Kind::objects)
            collect({inner, name + "[{", "}]" + here.after, here.path + key.name + "[0]."}, depth - 1, all);
        else if (key.kind == scene::Kind::object_map)
            collect({inner, name + R"({"m": {)", "}}" + here.after, here.path + key.name + ".m."}, depth - 1,
                    all);
    }
}

// Every object that the tables of keys know.
std::vector<Place> places() {
    std::vector<Place> all;
    collect({&scene::scene_keys(), "{", "}", ""}, 2, all);
    return all;
}

struct KeyCase {
    std::string path;   // of the key
    std::string scene;  // its text
    std::string words;
};

std::vector<KeyCase> values_of_another_type() {
    std::vector<KeyCase> all;
    for (const Place& place : places())
        for (const scene::KeyInfo& key : place.object->keys)
            all.push_back({place.path + key.name,
                           place.before + "\"" + key.name + "\": " + other_than(key.kind) + place.after,
                           key.name});
    return all;
}

std::vector<KeyCase> misspelt_keys() {
    std::vector<KeyCase> all;
    for (const Place& place : places())
        for (const scene::KeyInfo& key : place.object->keys) {
            if (key.name.size() < 4) continue;
            std::string wrong = key.name;
            std::swap(wrong[1], wrong[2]);
            if (wrong == key.name) wrong += "x";
            all.push_back(
                {place.path + key.name, place.before + "\"" + wrong + "\": 1" + place.after, wrong});
        }
    return all;
}

std::vector<KeyCase> numbers_out_of_range() {
    std::vector<KeyCase> all;
    for (const Place& place : places())
        for (const scene::KeyInfo& key : place.object->keys) {
            if (key.kind != scene::Kind::number) continue;
            for (const double bound : {key.min, key.max}) {
                if (!std::isfinite(bound)) continue;
                const double beyond =
                    bound == key.min ? bound - 1 - std::abs(bound) : bound + 1 + std::abs(bound);
                all.push_back({place.path + key.name,
                               place.before + "\"" + key.name + "\": " + std::to_string(beyond) + place.after,
                               "out of range"});
            }
        }
    return all;
}

void expect_refused(const KeyCase& entry) {
    SCOPED_TRACE(entry.path);
    const InputError error = test::input_error([&] { parse_scene(entry.scene, "scene.json", "."); });
    EXPECT_NE(std::string(error.what()).find(entry.words), std::string::npos) << entry.scene << "\n"
                                                                              << error.what();
    EXPECT_FALSE(error.problem().empty());
}

TEST(BadKeys, EveryKeyRefusesAValueOfAnotherType) {
    for (const KeyCase& entry : values_of_another_type()) expect_refused(entry);
}

TEST(BadKeys, EveryKeyWithAMisspeltNameIsRefusedWithTheRightOne) {
    for (const KeyCase& entry : misspelt_keys()) expect_refused(entry);
}

TEST(BadKeys, EveryNumberOutOfItsRangeIsRefused) {
    for (const KeyCase& entry : numbers_out_of_range()) expect_refused(entry);
}

const bad_input::Table surface_table("surface meshes", [] { return surface_files().size(); });
const bad_input::Table solid_table("tetrahedral meshes", [] { return solid_files().size(); });
const bad_input::Table type_table("values of another type", [] { return values_of_another_type().size(); });
const bad_input::Table name_table("misspelt keys", [] { return misspelt_keys().size(); });
const bad_input::Table range_table("numbers out of range", [] { return numbers_out_of_range().size(); });

}  // namespace
}  // namespace tenon

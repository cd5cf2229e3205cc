#include "fuzz/targets.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "geometry/mesh_io.hpp"
#include "geometry/mesh_io_text.hpp"
#include "geometry/tet_mesh.hpp"
#include "run/recording.hpp"
#include "run/run_file.hpp"
#include "run/series.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/state.hpp"

namespace tenon::fuzz {
namespace {

// A file with the input's bytes, in a folder of its own.
class InputFile {
  public:
    InputFile(std::string_view bytes, const std::string& ending) {
        static const std::string folder = [] {
            std::string name = (std::filesystem::temp_directory_path() / "tenon-fuzz-XXXXXX").string();
            if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
            return name;
        }();
        name_ = folder + "/input" + ending;
        std::ofstream(name_, std::ios::binary)
            .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    ~InputFile() {
        for (const char* ending : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(name_ + ending);
    }
    const std::string& name() const { return name_; }

  private:
    std::string name_;
};

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

void scene(std::string_view bytes) {
    const Scene made = parse_scene(std::string(bytes), "input.json", "/nonexistent");
    parse_scene(write_scene(made), "again.json", "");  // what is accepted can be written and read
}

void rigid_ipc(std::string_view bytes) {
    const InputFile file(bytes, ".json");
    std::vector<std::string> warnings;
    import_rigid_ipc(file.name(), "/nonexistent", &warnings);
}

// A robot: what is accepted can be written and read, unless its meshes are missing.
template <ImportedScene (*import)(const std::string&, const ImportOptions&)>
void robot(std::string_view bytes) {
    const InputFile file(bytes, ".xml");
    ImportOptions options;
    options.mesh_root = "/nonexistent";
    const ImportedScene made = import(file.name(), options);
    losses_text(made.losses);
    losses_json(made.losses);
    parse_scene(write_scene(made.scene), "again.json", "");
}

// Everything a reader can be asked, as the viewer, the plots and the verifier do.
void run_file(std::string_view bytes) {
    const InputFile file(bytes, ".tenon");
    const run::RunReader reader(file.name());
    reader.steps();
    reader.ignored_pairs();
    for (const run::FrameEntry& entry : reader.frame_list()) {
        const run::Frame frame = reader.frame(entry.id);
        run::state_hash(frame);
        for (const Mat34& q : frame.q)
            if (!q.allFinite()) throw std::logic_error("a pose that is not finite was accepted");
    }
    if (reader.has_path()) reader.path_pieces(0, 1000);
    long step = 0;
    reader.checkpoint(step);
    run::RecordingRule::parse(reader.meta("record"));
    parse_scene(reader.scene_json(), "stored.json", "/nonexistent");
}

std::string seed_run() {
    const Scene made =
        parse_scene(R"({"tenon": 1, "bodies": [{"name": "a", "shape": {"type": "box"}}]})", "seed", ".");
    const Model model = compile(made);
    const State state = initial_state(model);
    const std::string file =
        (std::filesystem::temp_directory_path() / ("tenon-seed-" + std::to_string(getpid()))).string();
    {
        run::RunWriter writer(file, made, model, state);
        writer.set_meta("record", run::RecordingRule::every(1).to_json());
        writer.add_step({});
        writer.add_path_piece(1, state.q);
        writer.add_checkpoint(0, "state");
        writer.add_frame(state, Outputs(model));
        writer.close();
    }
    std::ostringstream bytes;
    bytes << std::ifstream(file, std::ios::binary).rdbuf();
    std::filesystem::remove(file);
    return std::move(bytes).str();
}

template <void (*read)(std::string_view)>
void guarded(std::string_view bytes) {
    try {
        read(bytes);
    } catch (const InputError& error) {
        if (error.problem().empty()) throw std::logic_error("an error that says nothing");
        if (error.file() == "again.json")
            throw std::logic_error(std::string("written, not read: ") + error.what());
    }
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

const std::vector<Target>& reader_targets() {
    static const std::vector<Target> all = {
        {"scene",
         guarded<scene>,
         4096,
         {"\"bodies\"", "\"joints\"", "\"elastic\"", "\"shape\"", "\"type\"", "\"box\"", "\"hinge\"",
          "\"mesh\"", "\"motion\"", "\"contact\"", "\"forces\"", "\"expect\"", "[0,0,0]", "1e308", "null",
          "\"world\"", "\"drives\"", "\"limits\""}},
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
        {"mesh", guarded<mesh>, 2048, {"MeshVersionFormatted", "Dimension", "Vertices", "Tetrahedra", "End"}},
        {"rigid_ipc",
         guarded<rigid_ipc>,
         4096,
         {"\"scene_type\"", "\"rigid_body_problem\"", "\"rigid_bodies\"", "\"vertices\"", "\"edges\"",
          "\"faces\"", "\"position\"", "\"timestep\"", "\"is_dof_fixed\""}},
        {"urdf",
         guarded<robot<import_urdf>>,
         4096,
         {"<robot name=\"r\">", "<link name=\"a\"/>", "<joint name=\"j\" type=\"revolute\">",
          "<parent link=\"a\"/>", "<child link=\"b\"/>", "<axis xyz=\"0 0 1\"/>",
          "<origin xyz=\"0 0 0\" rpy=\"0 0 0\"/>", "<inertial>",
          "<limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/>", "<geometry>",
          "<box size=\"1 1 1\"/>", "<mimic joint=\"j\" multiplier=\"2\"/>", "1e308", "-1", "nan", "&lt;",
          "<!DOCTYPE", "<![CDATA["}},
        {"mjcf",
         guarded<robot<import_mjcf>>,
         4096,
         {"<mujoco>", "<worldbody>", "<body name=\"b\" pos=\"0 0 1\">",
          "<geom type=\"capsule\" size=\"0.1 0.2\"/>",
          "<joint type=\"hinge\" axis=\"0 1 0\" range=\"-1 1\"/>", "<freejoint/>", "<default class=\"d\">",
          "<actuator>", "<position joint=\"j\" kp=\"1\"/>", "<equality>", "<tendon>",
          "<inertial mass=\"1\" pos=\"0 0 0\"/>", "fromto", "<compiler angle=\"radian\"/>",
          "<include file=\"x\"/>", "childclass", "1e308", "nan", "-1"}},
        {"run_file", guarded<run_file>, 1 << 17, {"SQLite format 3", "tenon-run", "CREATE TABLE", "frames"}}};
    return all;
}

const Target* find_target(const std::vector<Target>& targets, std::string_view name) {
    for (const Target& target : targets)
        if (name == target.name) return &target;
    return nullptr;
}

std::vector<std::string> reader_seeds(const Target& target) {
    const std::string_view name = target.name;
    if (name == "run_file") return {seed_run()};
    if (name == "scene")
        return {
            R"({"tenon": 1, "materials": {"steel": {"density": 7850}}, "bodies": [{"name": "a", "shape": {"type": "box",
                    "size": [1, 2, 3]}, "material": "steel"}, {"name": "b", "type": "kinematic", "shape": {"type": "sphere"},
                    "position": [3, 0, 0], "motion": [{"time": 0, "position": [3, 0, 0]}, {"time": 1, "position": [4, 0, 0]}]}],
                    "joints": [{"type": "hinge", "bodies": ["a", "world"], "point": [0, 0, 0], "axis": [0, 0, 1],
                    "limits": [-1, 1], "motor": {"type": "velocity", "target": 1}}],
                    "forces": [{"body": "a", "force": [1, 0, 0]}], "expect": [{"body": "a", "quantity": "x", "min": 0}]})",
            R"({"elastic": [{"name": "e", "shape": {"type": "box", "size": [1, 1, 1]}, "cell_size": 0.5,
                    "pins": [{"box": [[0, 0, 0], [1, 1, 1]]}]}], "contact": {"dhat": 0.001}})"};
    if (name == "urdf")
        return {
            R"(<robot name="r"><link name="a"><inertial><mass value="1"/><origin xyz="0 0 0.1"/><inertia ixx="1" ixy="0"
            ixz="0" iyy="1" iyz="0" izz="1"/></inertial><collision><geometry><box size="1 1 1"/></geometry></collision></link>
            <link name="b"><collision><origin rpy="0 1 0"/><geometry><cylinder radius="0.1" length="1"/></geometry></collision>
            </link><joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
            <limit lower="-1" upper="1" effort="5" velocity="2"/><dynamics damping="0.1" friction="0"/></joint></robot>)"};
    if (name == "mjcf")
        return {
            R"(<mujoco model="m"><compiler angle="degree"/><default><geom density="500"/></default><worldbody>
            <geom type="plane" size="5 5 1"/><body name="a" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/>
            <body name="b" pos="0.3 0 0" quat="1 0 0 0"><joint name="j" type="hinge" axis="0 1 0" range="-45 45"/>
            <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.05"/></body></body></worldbody>
            <actuator><position joint="j" kp="10"/></actuator></mujoco>)"};
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
    return {
        R"({"scene_type": "distance_barrier_rb_problem", "timestep": 0.01, "rigid_body_problem": {"gravity": [0, -9.8, 0],
        "rigid_bodies": [{"vertices": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "faces": [[0,2,1],[0,1,3],[0,3,2],[1,2,3]],
        "edges": [[0,1]], "position": [0, 1, 0], "type": "dynamic", "density": 1000}]}})"};
}

}  // namespace tenon::fuzz

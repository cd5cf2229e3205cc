#include "fuzz/targets.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "fuzz/input_file.hpp"
#include "run/recording.hpp"
#include "run/run_file.hpp"
#include "run/series.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/state.hpp"

namespace tenon::fuzz {
namespace {

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

}  // namespace

const std::vector<Target>& reader_targets() {
    static const std::vector<Target> all = {
        {"scene",
         guarded<scene>,
         4096,
         {"\"bodies\"", "\"joints\"", "\"elastic\"", "\"shape\"", "\"type\"", "\"box\"", "\"hinge\"",
          "\"mesh\"", "\"motion\"", "\"contact\"", "\"forces\"", "\"expect\"", "[0,0,0]", "1e308", "null",
          "\"world\"", "\"drives\"", "\"limits\""}},
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
                    "pins": [{"lo": [0, 0, 0], "hi": [1, 1, 1]}]}], "contact": {"dhat": 0.001}})"};
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
    return {
        R"({"scene_type": "distance_barrier_rb_problem", "timestep": 0.01, "rigid_body_problem": {"gravity": [0, -9.8, 0],
        "rigid_bodies": [{"vertices": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "faces": [[0,2,1],[0,1,3],[0,3,2],[1,2,3]],
        "edges": [[0,1]], "position": [0, 1, 0], "type": "dynamic", "density": 1000}]}})"};
}

}  // namespace tenon::fuzz

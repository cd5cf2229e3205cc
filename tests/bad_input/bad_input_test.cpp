// Bad input, as a table: every case must be refused by the library with the
// right words, and by the program with exit code 2, the same words, and no file
// left behind.
#include <sys/wait.h>

#include <cstdio>
#include <functional>

#include "bad_input/tables.hpp"
#include "geometry/mesh_io.hpp"
#include "scene/support.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

struct Case {
    const char* name;
    std::string scene;               // text of scene.json
    std::vector<const char*> words;  // all must be said
    std::function<void(const test::Folder&)> prepare = nullptr;
};

// A scene with one more key, or with bodies of its own.
std::string scene_with(const std::string& key_and_value) {
    return R"({"bodies": [{"name": "a", "shape": "box"}, {"name": "b", "shape": "box", "position": [3, 0, 0]}], )" +
           key_and_value + "}";
}
std::string body_with(const std::string& key_and_value) {
    return R"({"bodies": [{"shape": "box", )" + key_and_value + "}]}";
}
std::string only_body(const std::string& body) {
    return R"({"bodies": [{)" + body + "}]}";
}
std::string joint_with(const std::string& joint) {
    return scene_with(R"("joints": [{)" + joint + "}]");
}
std::string mesh_body(const std::string& file) {
    return only_body(R"("mesh": ")" + file + "\"");
}

std::string binary_stl(std::uint32_t announced, int present) {
    std::string bytes(80, ' ');
    bytes.append(reinterpret_cast<const char*>(&announced), 4);
    for (int i = 0; i < present; ++i) {
        float numbers[12] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
        bytes.append(reinterpret_cast<const char*>(numbers), 48);
        bytes.append(2, '\0');
    }
    return bytes;
}

auto file(const char* name, std::string text) {
    return [name, text](const test::Folder& folder) { folder.write(name, text); };
}

std::string nested(int depth) {
    return R"({"bodies": )" + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']') + "}";
}

std::vector<Case> json_cases() {
    return {
        {"empty file", "", {"scene.json", "is empty"}},
        {"blank file", " \n\t ", {"is empty"}},
        {"not JSON", "bodies:\n  - box\n", {"line 1", "JSON syntax error"}},
        {"truncated", "{\"bodies\": [\n  {\"shape\": \"box\"}", {"line 2", "unexpected end of input"}},
        {"missing comma",
         "{\"bodies\": [\n {\"shape\": \"box\"}\n {\"shape\": \"box\"}]}",
         {"line 3, column"}},
        {"NaN literal", body_with(R"("mass": NaN)"), {"line 1", "NaN, Infinity and comments"}},
        {"infinity literal", body_with(R"("mass": -Infinity)"), {"JSON syntax error"}},
        {"number beyond double", body_with(R"("mass": 1e999)"), {"too large for a double"}},
        {"comment", "{// hi\n\"bodies\": []}", {"line 1", "comments"}},
        {"invalid UTF-8", "{\"name\": \"\xff\xfe\", \"bodies\": []}", {"UTF-8"}},
        {"repeated key", body_with(R"("mass": 1, "mass": 2)"), {"'mass' appears twice"}},
        {"nested too deep", nested(100), {"nested deeper than 64"}},
        {"nested a million deep", nested(1000000), {"nested deeper than 64"}},
        {"a list at the top", "[1, 2]", {"is a list", "a scene is a JSON object"}},
        {"a number at the top", "3", {"is a number", "a scene is a JSON object"}},
        {"binary garbage",
         std::string("\x7f"
                     "ELF\x02\x01\x01\0\0\0",
                     10),
         {"JSON syntax error"}},
    };
}

std::vector<Case> key_cases() {
    return {
        {"unknown top key",
         scene_with(R"("gravty": [0, 0, 0])"),
         {"gravty: unknown key", "did you mean 'gravity'?"}},
        {"gravity beyond all measure",
         scene_with(R"("gravity": [0, -9.81e150, 0])"),
         {"gravity[1]: -9.81e+150 is out of range", "at least -1e+08 and at most 1e+08"}},
        {"cell size beyond all measure",
         scene_with(R"("elastic": [{"name": "soft", "shape": "box", "cell_size": 1e308}])"),
         {"elastic[0].cell_size: 1e+308 is out of range", "at most 1e+15"}},
        {"unknown body key",
         body_with(R"("posiiton": [0, 0, 0])"),
         {"bodies[0].posiiton", "did you mean 'position'?"}},
        {"unknown key far from any",
         body_with(R"("xyzzyplugh": 1)"),
         {"unknown key 'xyzzyplugh'", "known: name,"}},
        {"unknown shape parameter",
         only_body(R"("shape": {"type": "sphere", "raduis": 1})"),
         {"bodies[0].shape.raduis", "did you mean 'radius'?"}},
        {"unknown shape",
         only_body(R"("shape": {"type": "shpere"})"),
         {"bodies[0].shape.type", "unknown shape 'shpere'", "did you mean 'sphere'?"}},
        {"unknown named shape",
         only_body(R"("shape": "shpere")"),
         {"bodies[0].shape", "did you mean 'sphere'?"}},
        {"shape without type", only_body(R"("shape": {"radius": 1})"), {"bodies[0].shape: has no 'type'"}},
        {"unknown method",
         scene_with(R"("method": "afine")"),
         {"method.type", "unknown method 'afine'", "did you mean 'affine'?"}},
        {"unknown method parameter",
         scene_with(R"("method": {"type": "affine", "kapa": 1})"),
         {"method.kapa", "did you mean 'kappa'?"}},
        {"unknown units",
         scene_with(R"("units": "inch")"),
         {"units: unknown value 'inch'", "must be one of: m, mm"}},
        {"future version", scene_with(R"("tenon": 2)"), {"tenon: 2 is out of range"}},
        {"unknown joint type",
         joint_with(R"("type": "bal", "bodies": ["a", "b"])"),
         {"joints[0].type: unknown value 'bal'", "ball, hinge"}},
        {"unknown quantity",
         scene_with(R"("expect": [{"quantity": "hieght", "min": 1}])"),
         {"expect[0].quantity: unknown value 'hieght'"}},
        {"a rigid-ipc scene", R"({"rigid_body_problem": {}})", {"is a scene of rigid-ipc", "tenon import"}},
    };
}

std::vector<Case> type_cases() {
    return {
        {"text for a number", scene_with(R"("seconds": "five")"), {"seconds: is a text", "must be a number"}},
        {"number for a text", scene_with(R"("name": 5)"), {"name: is a number", "must be a text"}},
        {"number for a flag",
         body_with(R"("collides": 1)"),
         {"bodies[0].collides: is a number", "true or false"}},
        {"object for a list",
         R"({"bodies": {"shape": "box"}})",
         {"bodies: is an object", "a list of objects"}},
        {"list for an object", R"({"bodies": [["box"]]})", {"bodies[0]: is a list", "must be an object"}},
        {"numbers for bodies",
         R"({"bodies": [1, 2]})",
         {"bodies: is a list of numbers", "a list of objects"}},
        {"null", body_with(R"("mass": null)"), {"bodies[0].mass: is null", "must be a number"}},
        {"two coordinates",
         body_with(R"("position": [1, 2])"),
         {"bodies[0].position: has 2 entries", "3 numbers"}},
        {"text among coordinates",
         body_with(R"("position": [1, "2", 3])"),
         {"bodies[0].position[1]: is a text"}},
        {"list in a shape parameter",
         only_body(R"("shape": {"type": "sphere", "radius": [1]})"),
         {"bodies[0].shape.radius", "must be a number"}},
        {"object in a method parameter",
         scene_with(R"("method": {"kappa": {"value": 1}})"),
         {"method.kappa: is an object"}},
        {"half an index",
         only_body(R"("vertices": [[0,0,0],[1,0,0]], "edges": [[0, 0.5]])"),
         {"bodies[0].edges[0]: 0.5 is no index"}},
        {"index beyond the vertices",
         only_body(R"("vertices": [[0,0,0],[1,0,0]], "edges": [[0, 2]])"),
         {"bodies[0].edges[0]: vertex 2 does not exist"}},
        {"five flags",
         body_with(R"("fixed": [true, true, true, true, true])"),
         {"bodies[0].fixed: is not six of true and false"}},
        {"unknown coordinate",
         body_with(R"("fixed": ["w"])"),
         {"bodies[0].fixed[0]: unknown coordinate 'w'"}},
    };
}

std::vector<Case> value_cases() {
    return {
        {"zero mass", body_with(R"("mass": 0)"), {"bodies[0].mass: 0 is out of range", "above 0"}},
        {"negative mass", body_with(R"("mass": -1)"), {"bodies[0].mass: -1 is out of range"}},
        {"zero density", body_with(R"("density": 0)"), {"bodies[0].density: 0 is out of range"}},
        {"mass and density",
         body_with(R"("mass": 1, "density": 1)"),
         {"bodies[0].density", "besides a mass"}},
        {"material without density",
         scene_with(R"("materials": {"air": {"density": -1}})"),
         {"materials.air.density: -1 is out of range"}},
        {"Poisson's ratio of a half",
         scene_with(R"("materials": {"rubber": {"poisson": 0.5}})"),
         {"materials.rubber.poisson: 0.5 is out of range", "above -1 and below 0.5"}},
        {"negative friction", body_with(R"("friction": -0.1)"), {"bodies[0].friction: -0.1 is out of range"}},
        {"restitution above one", body_with(R"("restitution": 1.5)"), {"bodies[0].restitution: 1.5"}},
        {"zero quaternion", body_with(R"("rotation": [0, 0, 0, 0])"), {"bodies[0].rotation", "length zero"}},
        {"two rotations",
         body_with(R"("rotation": [1, 0, 0, 0], "rotation_euler": [0, 0, 0])"),
         {"bodies[0].rotation_euler", "keep one"}},
        {"zero radius", only_body(R"("shape": {"type": "sphere", "radius": 0})"), {"bodies[0].shape.radius"}},
        {"negative size",
         only_body(R"("shape": {"type": "box", "size": [1, -1, 1]})"),
         {"bodies[0].shape.size"}},
        {"zero scale", body_with(R"("scale": [1, 0, 1])"), {"bodies[0].scale", "factor of zero"}},
        {"impossible inertia",
         body_with(R"("mass": 1, "inertia": {"moments": [1, 1, 3]})"),
         {"bodies[0].inertia.moments", "exceed the sum"}},
        {"zero dt", scene_with(R"("method": {"dt": 0})"), {"method.dt: 0 is out of range"}},
        {"negative dt", scene_with(R"("method": {"dt": -0.01})"), {"method.dt: -0.01 is out of range"}},
        {"absurd dt", scene_with(R"("method": {"dt": 1e6})"), {"method.dt", "at most 1000"}},
        {"vanishing dt",
         scene_with(R"("seconds": 10, "method": {"dt": 1e-15})"),
         {"method.dt", "1e+16 steps"}},
        {"negative seconds", scene_with(R"("seconds": -1)"), {"seconds: -1 is out of range"}},
        {"negative dhat", scene_with(R"("contact": {"dhat": -1})"), {"contact.dhat: -1 is out of range"}},
        {"color beyond white", body_with(R"("color": [2, 0, 0])"), {"bodies[0].color[0]: 2 is out of range"}},
        {"no bodies", R"({"bodies": []})", {"bodies: the scene has no bodies"}},
        {"no bodies key", R"({"seconds": 1})", {"the scene has no bodies"}},
        {"no geometry", only_body(R"("mass": 1)"), {"bodies[0]: has no geometry"}},
        {"two geometries", body_with(R"("mesh": "x.obj")"), {"bodies[0]: has more than one geometry"}},
        {"triangles without vertices", body_with(R"("triangles": [[0, 1, 2]])"), {"bodies[0].triangles"}},
        {"camera inside its target",
         scene_with(R"("camera": {"eye": [1, 1, 1], "target": [1, 1, 1]})"),
         {"camera", "same point"}},
    };
}

std::vector<Case> reference_cases() {
    return {
        {"duplicate name",
         R"({"bodies": [{"name": "a", "shape": "box"}, {"name": "a", "shape": "box"}]})",
         {"bodies[1].name: 'a' is already the name of bodies[0]"}},
        {"a body named world", body_with(R"("name": "world")"), {"bodies[0].name", "fixed frame"}},
        {"missing material",
         body_with(R"("material": "defualt")"),
         {"bodies[0].material: no material is named 'defualt'", "did you mean 'default'?"}},
        {"missing body of a joint",
         joint_with(R"("type": "ball", "bodies": ["a", "c"])"),
         {"joints[0].bodies[1]: no body is named 'c'"}},
        {"joint with itself",
         joint_with(R"("type": "ball", "bodies": ["a", "a"])"),
         {"joints[0].bodies: joins 'a' with itself"}},
        {"joint of world and world",
         joint_with(R"("type": "ball", "bodies": ["world", "world"])"),
         {"joints[0].bodies: joins 'world' with itself"}},
        {"joint without bodies", joint_with(R"("type": "ball")"), {"joints[0]: has no 'bodies'"}},
        {"joint without type", joint_with(R"("bodies": ["a", "b"])"), {"joints[0]: has no 'type'"}},
        {"zero axis",
         joint_with(R"("type": "hinge", "bodies": ["a", "b"], "axis": [0, 0, 0])"),
         {"joints[0].axis: has length zero"}},
        {"parallel axes",
         joint_with(R"("type": "universal", "bodies": ["a", "b"], "axis": [1, 0, 0], "axis_b": [2, 0, 0])"),
         {"joints[0].axis_b: is parallel"}},
        {"limits the wrong way",
         joint_with(R"("type": "hinge", "bodies": ["a", "b"], "limits": [1, -1])"),
         {"joints[0].limits", "swap them"}},
        {"motor of a ball joint's bend",
         joint_with(R"("type": "ball", "bodies": ["a", "b"], "motor": {"type": "velocity"})"),
         {"joints[0].motor: the bend of a ball joint has no motor"}},
        {"limits of a fixed joint",
         joint_with(R"("type": "fixed", "bodies": ["a", "b"], "limits": [0, 1])"),
         {"joints[0].limits: a fixed joint has no free coordinate"}},
        {"too many drives",
         joint_with(R"("type": "hinge", "bodies": ["a", "b"], "drives": [{}, {}])"),
         {"joints[0].drives: has 2 entries", "1 free coordinates"}},
        {"distance of zero",
         joint_with(R"("type": "distance", "bodies": ["a", "b"], "point": [0, 0, 0])"),
         {"joints[0]", "two different points"}},
        {"coupling of a missing joint",
         joint_with(R"("type": "coupling", "joints": ["x", "y"])"),
         {"joints[0].joints[0]: no joint is named 'x'"}},
        {"anchors that do not meet",
         joint_with(
             R"("name": "hook", "type": "ball", "bodies": ["a", "b"], "point": [1, 0, 0], "point_b": [1, 0.25, 0])"),
         {"joints[0].point_b: the two anchors of 'hook' are 0.25 m apart at the start"}},
        {"a joint given twice",
         scene_with(R"("joints": [{"name": "pin", "type": "hinge", "bodies": ["a", "b"], "axis": [0, 0, 2]},
                                  {"type": "hinge", "bodies": ["b", "a"], "axis": [0, 0, -1]}])"),
         {"joints[1]: repeats joints[0] ('pin')", "remove one"}},
        {"couplings that contradict each other",
         scene_with(R"("joints": [{"name": "p", "type": "hinge", "bodies": ["world", "a"]},
                                  {"name": "q", "type": "hinge", "bodies": ["world", "b"]},
                                  {"type": "coupling", "joints": ["p", "q"], "ratio": 2},
                                  {"type": "coupling", "joints": ["q", "p"], "ratio": 3}],
                    "method": "articulated")"),
         {"joints[3].joints: joints[2] ('joint-2') couples the same two coordinates", "contradict"}},
        {"a coupling of a coordinate that is not there",
         scene_with(R"("joints": [{"name": "p", "type": "hinge", "bodies": ["world", "a"]},
                                  {"name": "q", "type": "hinge", "bodies": ["world", "b"]},
                                  {"type": "coupling", "joints": ["p", "q"], "coordinates": [0, 1]}])"),
         {"joints[2].coordinates: the hinge joint 'q' has no coordinate 1"}},
        {"a joint of two things that never move",
         R"({"bodies": [{"name": "a", "shape": "box", "type": "static"}, {"shape": "box", "position": [3, 0, 0]}],
             "joints": [{"type": "ball", "bodies": ["a", "world"]}]})",
         {"joints[0].bodies: joins two things that never move"}},
        {"a negative spring",
         joint_with(R"("type": "hinge", "bodies": ["a", "b"], "spring": {"stiffness": -1})"),
         {"joints[0].spring.stiffness: -1 is out of range"}},
        {"a motor's table that goes back in time",
         joint_with(R"("type": "hinge", "bodies": ["a", "b"],
                       "motor": {"type": "velocity", "profile": [[1, 0], [0, 1]]})"),
         {"joints[0].motor.profile"}},
        {"force on nobody",
         scene_with(R"("forces": [{"body": "z", "force": [1, 0, 0]}])"),
         {"forces[0].body: no body is named 'z'"}},
        {"force that ends before it begins",
         scene_with(R"("forces": [{"body": "a", "from": 2, "to": 1}])"),
         {"forces[0].to: 1 s is before"}},
        {"ignoring nobody",
         scene_with(R"("contact": {"ignore": [["a", "z"]]})"),
         {"contact.ignore[0][1]: no body or group is named 'z'"}},
        {"expecting nobody",
         scene_with(R"("expect": [{"body": "z", "quantity": "x", "min": 0}])"),
         {"expect[0].body: no body is named 'z'"}},
        {"expecting nothing", scene_with(R"("expect": [{"body": "a"}])"), {"expect[0]: expects nothing"}},
        {"a pair of a missing material",
         scene_with(R"("contact": {"pairs": [{"materials": ["default", "ice"]}]})"),
         {"contact.pairs[0].materials[1]: no material is named 'ice'"}},
        {"motion of a dynamic body",
         body_with(R"("motion": [{"time": 0}])"),
         {"bodies[0].motion", "kinematic"}},
        {"unsorted keyframes",
         body_with(R"("type": "kinematic", "motion": [{"time": 1}, {"time": 0}])"),
         {"bodies[0].motion[1].time: 0 s does not come after 1 s"}},
        {"duplicate keyframes",
         body_with(R"("type": "kinematic", "motion": [{"time": 1}, {"time": 1}])"),
         {"bodies[0].motion[1].time", "must ascend"}},
        {"keyframe without time",
         body_with(R"("type": "kinematic", "motion": [{}])"),
         {"bodies[0].motion[0]: has no 'time'"}},
        {"a static body that moves",
         body_with(R"("type": "static", "linear_velocity": [1, 0, 0])"),
         {"bodies[0].linear_velocity", "static body"}},
    };
}

std::vector<Case> file_cases() {
    const std::string cube = test::cube_obj();
    std::string inside_out =
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 "
        "2\nf 1 3 4\nf 2 4 3\n";
    return {
        {"missing mesh", mesh_body("no.obj"), {"bodies[0].mesh: no such file", "no.obj"}},
        {"a folder as mesh",
         mesh_body("sub"),
         {"bodies[0].mesh", "is a folder"},
         [](const test::Folder& folder) { std::filesystem::create_directory(folder.path("sub")); }},
        {"empty mesh name", mesh_body(""), {"bodies[0].mesh: is an empty file name"}},
        {"empty mesh file", mesh_body("m.obj"), {"m.obj: is empty"}, file("m.obj", "")},
        {"truncated binary STL",
         mesh_body("m.stl"),
         {"m.stl: byte 80: announces 12 triangles", "cut off"},
         file("m.stl", binary_stl(12, 5))},
        {"a billion triangles announced",
         mesh_body("m.stl"),
         {"m.stl: byte 80: announces 1000000000 triangles", "cut off"},
         file("m.stl", binary_stl(1000000000u, 1))},
        {"a billion vertices announced in PLY",
         mesh_body("m.ply"),
         {"m.ply: line", "announces 1000000000 of 'vertex'", "cut off"},
         file("m.ply",
              "ply\nformat ascii 1.0\nelement vertex "
              "1000000000\nproperty float x\nproperty float "
              "y\nproperty float "
              "z\nelement face 1\nproperty list uchar int "
              "vertex_indices\nend_header\n0 0 0\n")},
        {"truncated OFF",
         mesh_body("m.off"),
         {"m.off: line 2", "cut off"},
         file("m.off", "OFF\n4 4 6\n0 0 0\n1 0 0\n")},
        {"OBJ face of a missing vertex",
         mesh_body("m.obj"),
         {"m.obj: line 21", "vertex 99 does not exist"},
         file("m.obj", cube + "f 1 2 99\n")},
        {"OBJ with text for numbers",
         mesh_body("m.obj"),
         {"m.obj: line 1", "is not a number"},
         file("m.obj", "v a b c\n")},
        {"NaN in a mesh",
         mesh_body("m.obj"),
         {"m.obj: line 1", "is not a finite number"},
         file("m.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")},
        {"degenerate triangles",
         mesh_body("m.obj"),
         {"bodies[0]", "degenerate"},
         file("m.obj", cube + "f 1 1 2\n")},
        {"inside-out mesh", mesh_body("m.obj"), {"bodies[0]", "inside out"}, file("m.obj", inside_out)},
        {"dynamic mesh without volume",
         mesh_body("m.obj"),
         {"bodies[0]", "thickness"},
         file("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")},
        {"unknown mesh format",
         mesh_body("m.docx"),
         {"m.docx: is in no known mesh format", "OBJ, STL, PLY or OFF"},
         file("m.docx", "PK\x03\x04 nothing of a mesh")},
        {"missing tetrahedra", R"({"elastic": [{"tets": "no.msh"}]})", {"elastic[0].tets: no such file"}},
        {"tetrahedra and shape",
         R"({"elastic": [{"tets": "m.msh", "shape": "box"}]})",
         {"elastic[0].shape", "besides \"tets\""},
         file("m.msh", "")},
        {"inverted box",
         R"({"elastic": [{"shape": "box", "pins": [{"lo": [1, 0, 0], "hi": [0, 1, 1]}]}]})",
         {"elastic[0].pins[0].lo", "above hi"}},
    };
}

std::vector<Case> all_cases() {
    std::vector<Case> all;
    for (auto group : {json_cases, key_cases, type_cases, value_cases, reference_cases, file_cases})
        for (Case& entry : group()) all.push_back(std::move(entry));
    return all;
}

const bad_input::Table scene_table("scenes", [] { return all_cases().size(); });

// One test for each group of the table.
class BadScenes : public testing::TestWithParam<std::vector<Case> (*)()> {};

std::string group_name(const testing::TestParamInfo<BadScenes::ParamType>& info) {
    static const char* const names[] = {"json", "keys", "types", "values", "references", "files"};
    return names[info.index];
}

INSTANTIATE_TEST_SUITE_P(Groups, BadScenes,
                         testing::Values(json_cases, key_cases, type_cases, value_cases, reference_cases,
                                         file_cases),
                         group_name);

TEST_P(BadScenes, AreRefusedByTheLibraryWithTheRightWords) {
    for (const Case& entry : GetParam()()) {
        SCOPED_TRACE(entry.name);
        test::Folder folder;
        if (entry.prepare) entry.prepare(folder);
        const std::string scene = folder.write("scene.json", entry.scene);
        try {
            Simulation simulation(load_scene(scene));
            ADD_FAILURE() << "was accepted";
        } catch (const InputError& error) {
            for (const char* word : entry.words)
                EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
                    << "no \"" << word << "\" in: " << error.what();
            EXPECT_NE(std::string(error.what()).find(folder.path()), std::string::npos)
                << "no file in: " << error.what();
        } catch (const std::exception& error) {
            ADD_FAILURE() << "not an InputError: " << error.what();
        }
    }
}

TEST(BadInput, BrokenTetrahedraAreNamed) {
    test::Folder folder;
    folder.write("m.msh", "$MeshFormat\nnonsense\n");
    const Scene scene = parse_scene(R"({"elastic": [{"tets": "m.msh"}]})", "scene.json", folder.path());
    const InputError error = test::input_error([&] { compile(scene); });
    EXPECT_NE(std::string(error.what()).find("m.msh"), std::string::npos) << error.what();
}

struct Outcome {
    int code = -1;
    std::string output;  // stdout and stderr
};

Outcome run_program(const std::string& arguments) {
    Outcome outcome;
    const std::string command = std::string("'") + TENON_PROGRAM + "' " + arguments + " 2>&1 </dev/null";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) return outcome;
    char buffer[4096];
    while (const std::size_t count = fread(buffer, 1, sizeof buffer, pipe))
        outcome.output.append(buffer, count);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

std::vector<std::string> files_in(const test::Folder& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        names.push_back(entry.path().filename().string());
    return names;
}

TEST_P(BadScenes, MakeTheProgramExitWithTwoAndLeaveNothingBehind) {
    for (const Case& entry : GetParam()()) {
        SCOPED_TRACE(entry.name);
        test::Folder folder;
        if (entry.prepare) entry.prepare(folder);
        const std::string scene = folder.write("scene.json", entry.scene);
        const std::size_t before = files_in(folder).size();
        const Outcome outcome = run_program("run '" + scene + "' -o '" + folder.path("out.tenon") +
                                            "' --report '" + folder.path("report.json") + "'");
        EXPECT_EQ(outcome.code, 2) << outcome.output;
        for (const char* word : entry.words)
            EXPECT_NE(outcome.output.find(word), std::string::npos)
                << "no \"" << word << "\" in: " << outcome.output;
        EXPECT_EQ(files_in(folder).size(), before);
    }
}

struct CommandCase {
    const char* name;
    std::string arguments;  // @ stands for the folder
    std::vector<const char*> words;
};

// Paths, outputs and command lines rather than scenes. `good.json` is a scene
// that runs, `bad.tenon` no run file.
std::vector<CommandCase> command_cases() {
    return {
        {"missing file", "run @/no.json", {"no.json", "no such file"}},
        {"mistyped built-in", "run wrecking-bal", {"neither a file nor a built-in scene"}},
        {"a folder as scene", "run @", {"is a folder", "give a file"}},
        {"output below a file", "run @/good.json -o @/good.json/out.tenon", {"@/good.json/out"}},
        {"output onto a folder", "run @/good.json -o @/sub", {"@/sub"}},
        {"report below a file",
         "run @/good.json -o @/out.tenon --report @/good.json/report.json",
         {"good.json/report"}},
        {"override without value", "run @/good.json --set seconds", {"--set seconds", "key=value"}},
        {"override of an unknown key",
         "run @/good.json -o @/out.tenon --set secnods=1",
         {"--set secnods", "did you mean 'seconds'?"}},
        {"override with a bad value",
         "run @/good.json -o @/out.tenon --set dt=-1",
         {"method.dt: -1 is out of range"}},
        {"absurd --dt", "run @/good.json -o @/out.tenon --dt 0", {"method.dt: 0 is out of range"}},
        {"unknown --method", "run @/good.json -o @/out.tenon --method magic", {"unknown method 'magic'"}},
        {"no scene", "run", {}},
        {"unknown verb", "rum @/good.json", {}},
        {"unknown flag", "run @/good.json --secnods 1", {"secnods"}},
        {"verify of no run", "verify @/bad.tenon", {"bad.tenon"}},
        {"verify of a missing run", "verify @/no.tenon", {"no.tenon"}},
        {"render of no run", "render @/bad.tenon -o @/picture.png", {"bad.tenon"}},
        {"export of a missing run", "export @/no.tenon --format gltf -o @/out.glb", {"no.tenon"}},
        {"import of a missing file", "import @/no.json -o @/scene2.json", {"no.json", "no such file"}},
        {"import of another format", "import @/good.json -o @/scene2.json", {"good.json"}},
        {"check of a missing file", "check @/no.json", {"no such file"}},
        {"check of a run", "check @/bad.tenon", {"bad.tenon", "line 1"}},
        {"check of a folder", "check @/sub", {"@/sub", "is a folder"}},
        {"negative --threads", "run @/good.json --threads -1 -o @/out.tenon", {"--threads", "negative"}},
        {"no frames per second", "run @/good.json --fps 0 -o @/out.tenon", {"--fps", "must be positive"}},
        {"every 0th step",
         "run @/good.json --record-every 0 -o @/out.tenon",
         {"--record-every: 0 is not above 0"}},
        {"negative --seconds",
         "run @/good.json --seconds -1 -o @/out.tenon",
         {"seconds: -1", "zero or more"}},
        {"--seconds that are no number",
         "run @/good.json --seconds nan -o @/out.tenon",
         {"seconds", "a number"}},
        {"checkpoints before the start",
         "run @/good.json --checkpoint-wall -1 -o @/out.tenon",
         {"--checkpoint-wall: -1 is negative"}},
        {"recording of another thing", "run @/good.json --record magic -o @/out.tenon", {"--record", "path"}},
        {"resume of no run", "run @/bad.tenon --resume", {"bad.tenon"}},
        {"resume of a missing run", "run @/no.tenon --resume", {"no.tenon"}},
        {"resume of a scene that has not run", "run @/good.json --resume", {"good.tenon", "no such file"}},
        {"replay of no run", "run @/bad.tenon --replay", {"bad.tenon", "is not a run file"}},
        {"verify of a scene", "verify @/good.json", {"good.json", "is not a run file"}},
        {"verify of a folder", "verify @/sub", {"@/sub", "is a directory"}},
        {"negative allowance", "verify @/bad.tenon --penetration -1", {"--penetration: -1 is negative"}},
        {"diff of a missing run", "diff @/no.tenon @/bad.tenon", {"no.tenon", "no such file"}},
        {"diff of no run", "diff @/bad.tenon @/bad.tenon", {"bad.tenon", "is not a run file"}},
        {"plot of no run", "plot @/bad.tenon -o @/page.html", {"bad.tenon", "is not a run file"}},
        {"plot of a missing run", "plot @/no.tenon -o @/page.html", {"no.tenon", "no such file"}},
        {"page of no run", "view @/bad.tenon --html @/page.html", {"bad.tenon"}},
        {"a picture of another type", "render @/bad.tenon -o @/picture.bmp", {"picture.bmp", ".png"}},
        {"export of a scene",
         "export @/good.json --format gltf -o @/out.glb",
         {"good.json", "is not a run file"}},
        {"comparison with an unknown method",
         "compare @/good.json --methods affine,magic",
         {"unknown method 'magic'", "articulated"}},
        {"comparison without methods", "compare @/good.json --methods", {"--methods"}},
        {"comparison of a missing file", "compare @/no.json --methods affine", {"no.json", "no such file"}},
        {"untangling a missing file", "untangle @/no.json -o @/out.json", {"no.json", "no such file"}},
        {"untangling to nowhere", "untangle @/good.json", {"--output"}},
        {"a new scene without a name", "new", {"name"}},
        {"a new scene over another", "new @/good", {"good.json", "exists already"}},
        {"description of no scene", "scenes no-such-scene", {"no-such-scene", "wrecking-ball"}},
        {"sweep of a missing plan", "sweep @/no.json", {"no.json", "no such file"}},
        {"sweep of a scene", "sweep @/good.json", {"good.json", "sweep"}},
        {"status of a missing sweep", "sweep status @/no-folder", {"no-folder"}},
        {"schema of something", "schema extra", {"extra"}},
    };
}

const bad_input::Table command_table("command lines", [] { return command_cases().size(); });

TEST(BadInput, BadCommandLinesExitWithTwo) {
    test::Folder folder;
    folder.write("good.json", R"({"seconds": 0.02, "bodies": [{"shape": "box"}]})");
    folder.write("bad.tenon", "this is no run file");
    std::filesystem::create_directory(folder.path("sub"));
    const std::size_t before = files_in(folder).size();
    const auto filled_in = [&](std::string text) {
        for (std::size_t at; (at = text.find('@')) != std::string::npos;)
            text.replace(at, 1,
                         std::filesystem::path(folder.path()).parent_path() /
                             std::filesystem::path(folder.path()).filename());
        return text;
    };
    for (const CommandCase& entry : command_cases()) {
        SCOPED_TRACE(entry.name);
        const Outcome outcome = run_program(filled_in(entry.arguments));
        EXPECT_EQ(outcome.code, 2) << outcome.output;
        for (const char* word : entry.words)
            EXPECT_NE(outcome.output.find(filled_in(word)), std::string::npos)
                << "no \"" << filled_in(word) << "\" in: " << outcome.output;
        EXPECT_EQ(files_in(folder).size(), before) << "left a file behind";
        EXPECT_TRUE(std::filesystem::is_empty(folder.path("sub")));
    }
}

}  // namespace
}  // namespace tenon

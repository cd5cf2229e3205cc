// Bad URDF and MJCF files, as a table: each is refused with the right words and its line, in little time and memory.
#include <chrono>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "scene/support.hpp"
#include "tenon/scene_io.hpp"

namespace tenon {
namespace {

struct Case {
    const char* name;
    std::string text;
    std::vector<const char*> words;
};

std::string robot(const std::string& inside) {
    return "<robot name=\"r\">\n<link name=\"a\"/>\n" + inside + "\n</robot>";
}
std::string link(const std::string& inside) {
    return robot(
        "<link name=\"b\">" + inside +
        "</link><joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/></joint>");
}
std::string joint(const std::string& attributes, const std::string& inside) {
    return robot(
        "<link name=\"b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" "
        "izz=\"1\"/></inertial></link>\n<joint " +
        attributes + ">" + inside + "</joint>");
}
const std::string ends = "<parent link=\"a\"/><child link=\"b\"/>";
std::string inertia(const std::string& numbers) {
    return link("<inertial><mass value=\"1\"/><inertia " + numbers + "/></inertial>");
}
std::string model(const std::string& inside) {
    return "<mujoco>\n" + inside + "\n</mujoco>";
}
std::string world(const std::string& inside, const std::string& more = "") {
    return model("<worldbody>\n" + inside + "\n</worldbody>\n" + more);
}
const std::string pendulum = "<body name=\"p\"><joint name=\"j\"/><geom size=\"0.1\"/></body>";

std::string bomb() {
    std::string text = "<?xml version=\"1.0\"?>\n<!DOCTYPE robot [\n<!ENTITY a \"ha\">\n";
    for (char c = 'b'; c <= 'j'; ++c) {
        text += std::string("<!ENTITY ") + c + " \"";
        for (int k = 0; k < 10; ++k) text += std::string("&") + static_cast<char>(c - 1) + ";";
        text += "\">\n";
    }
    return text + "]>\n<robot name=\"&j;\"/>";
}
std::string nested(const std::string& open, const std::string& close, int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += open;
    for (int i = 0; i < depth; ++i) text += close;
    return text;
}

std::vector<Case> urdf_cases() {
    return {
        {"empty", "", {"is empty"}},
        {"blank", " \n ", {"is empty"}},
        {"cut off", "<robot name=\"r\">\n<link name=\"a\">", {"line 2", "not well-formed"}},
        {"not closed", robot("<link name=\"b\">"), {"line 4", "mismatched tag"}},
        {"attribute twice", robot("<link name=\"b\" name=\"c\"/>"), {"line 3", "duplicate attribute"}},
        {"another root", "<sdf/>", {"line 1", "<mujoco> (MJCF) or <robot>"}},
        {"no links", "<robot name=\"r\"></robot>", {"line 1", "no <link>"}},
        {"unknown tag", robot("<lnik name=\"b\"/>"), {"line 3", "<lnik>", "did you mean 'link'?"}},
        {"unknown tag in a link", link("<colision/>"), {"line 3", "did you mean 'collision'?"}},
        {"unknown tag in a joint",
         joint("name=\"j\" type=\"fixed\"", ends + "<axes/>"),
         {"line 4", "did you mean 'axis'?"}},
        {"unknown attribute",
         joint("name=\"j\" type=\"revolute\"", ends + "<limit lower=\"0\" uper=\"1\"/>"),
         {"'uper'", "did you mean 'upper'?"}},
        {"two links of one name",
         robot("<link name=\"a\"/>"),
         {"line 3", "two links are named 'a'", "line 2"}},
        {"two joints of one name",
         robot("<link name=\"b\"/><link name=\"c\"/><joint name=\"j\" type=\"fixed\">" + ends +
               "</joint>\n<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"c\"/></joint>"),
         {"line 4", "two joints are named 'j'"}},
        {"link without a name", robot("<link/>"), {"line 3", "no 'name'"}},
        {"joint without a type", joint("name=\"j\"", ends), {"line 4", "no 'type'"}},
        {"unknown joint type",
         joint("name=\"j\" type=\"screw\"", ends),
         {"line 4", "unknown joint type 'screw'"}},
        {"joint without a child",
         joint("name=\"j\" type=\"fixed\"", "<parent link=\"a\"/>"),
         {"line 4", "no <child>"}},
        {"unknown link",
         joint("name=\"j\" type=\"fixed\"", "<parent link=\"a\"/><child link=\"bb\"/>"),
         {"line 4", "no link is named 'bb'"}},
        {"joint with itself",
         joint("name=\"j\" type=\"fixed\"", "<parent link=\"b\"/><child link=\"b\"/>"),
         {"line 4", "with itself"}},
        {"two parents",
         robot("<link name=\"b\"/>\n<joint name=\"j\" type=\"fixed\">" + ends +
               "</joint>\n<joint name=\"k\" type=\"fixed\">" + ends + "</joint>"),
         {"line 5", "two parents"}},
        {"cycle",
         "<robot name=\"r\">\n<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"fixed\">" +
             ends +
             "</joint><joint name=\"k\" type=\"fixed\"><parent link=\"b\"/><child "
             "link=\"a\"/></joint></robot>",
         {"line 3", "cycle"}},
        {"cycle beside a root",
         robot("<link name=\"b\"/><link name=\"c\"/><joint name=\"j\" type=\"fixed\"><parent "
               "link=\"c\"/><child link=\"b\"/></joint>"
               "<joint name=\"k\" type=\"fixed\"><parent link=\"b\"/><child link=\"c\"/></joint>"),
         {"line 3", "cycle"}},
        {"two roots", robot("<link name=\"b\"/>"), {"line 3", "both roots"}},
        {"mass not finite",
         link("<inertial><mass value=\"nan\"/><inertia/></inertial>"),
         {"line 3", "'nan' is not a finite number"}},
        {"mass infinite",
         link("<inertial><mass value=\"1e999\"/><inertia/></inertial>"),
         {"line 3", "not a finite number"}},
        {"mass a word", link("<inertial><mass value=\"heavy\"/><inertia/></inertial>"), {"'heavy'"}},
        {"mass with a unit", link("<inertial><mass value=\"1kg\"/><inertia/></inertial>"), {"'1kg'"}},
        {"negative mass",
         link("<inertial><mass value=\"-1\"/><inertia ixx=\"1\"/></inertial>"),
         {"line 3", "mass is -1"}},
        {"inertial without a mass", link("<inertial><inertia/></inertial>"), {"no <mass>"}},
        {"inertial without inertia", link("<inertial><mass value=\"1\"/></inertial>"), {"no <inertia>"}},
        {"negative inertia", inertia("ixx=\"-1\" iyy=\"1\" izz=\"1\""), {"line 3", "ixx is -1"}},
        {"indefinite inertia",
         inertia("ixx=\"1\" ixy=\"5\" iyy=\"1\" izz=\"1\""),
         {"line 3", "principal moments", "negative"}},
        {"axis of length zero",
         joint("name=\"j\" type=\"continuous\"", ends + "<axis xyz=\"0 0 0\"/>"),
         {"line 4", "length zero"}},
        {"axis of two numbers",
         joint("name=\"j\" type=\"continuous\"", ends + "<axis xyz=\"0 1\"/>"),
         {"line 4", "has 2 numbers"}},
        {"origin of four numbers",
         joint("name=\"j\" type=\"fixed\"", ends + "<origin xyz=\"0 1 2 3\"/>"),
         {"line 4", "too many"}},
        {"revolute without a limit", joint("name=\"j\" type=\"revolute\"", ends), {"line 4", "no <limit>"}},
        {"limits the wrong way round",
         joint("name=\"j\" type=\"revolute\"", ends + "<limit lower=\"1\" upper=\"-1\"/>"),
         {"above the upper"}},
        {"negative effort",
         joint("name=\"j\" type=\"revolute\"", ends + "<limit lower=\"0\" upper=\"1\" effort=\"-3\"/>"),
         {"effort is -3"}},
        {"negative damping",
         joint("name=\"j\" type=\"continuous\"", ends + "<dynamics damping=\"-1\"/>"),
         {"negative"}},
        {"mimic of nothing",
         joint("name=\"j\" type=\"continuous\"", ends + "<mimic joint=\"k\"/>"),
         {"no joint is named 'k'"}},
        {"mimic of itself",
         joint("name=\"j\" type=\"continuous\"", ends + "<mimic joint=\"j\"/>"),
         {"mimics itself"}},
        {"missing mesh",
         link("<collision><geometry><mesh filename=\"gone.stl\"/></geometry></collision>"),
         {"line 3", "no such mesh: gone.stl", "--meshes"}},
        {"missing package",
         link("<collision><geometry><mesh filename=\"package://p/gone.stl\"/></geometry></collision>"),
         {"no such mesh"}},
        {"box of size zero",
         link("<collision><geometry><box size=\"1 0 1\"/></geometry></collision>"),
         {"line 3", "above 0"}},
        {"sphere without radius",
         link("<collision><geometry><sphere/></geometry></collision>"),
         {"no 'radius'"}},
        {"empty geometry", link("<collision><geometry/></collision>"), {"<geometry> is empty"}},
        {"transmission of nothing",
         robot("<transmission name=\"t\"><joint name=\"k\"/><actuator name=\"m\"/></transmission><link "
               "name=\"c\"><inertial><mass value=\"1\"/>"
               "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link><joint name=\"j\" "
               "type=\"floating\"><parent link=\"a\"/><child link=\"c\"/></joint>"),
         {"no joint is named 'k'"}},
        {"slip in an attribute of a link",
         robot("<link name=\"b\" tpye=\"x\"/>"),
         {"line 3", "'tpye'", "'type'"}},
        {"slip in an attribute of a mass",
         link("<inertial><mass valeu=\"1\"/><inertia ixx=\"1\"/></inertial>"),
         {"line 3", "'valeu'", "did you mean 'value'?"}},
        {"slip in an attribute of a mimic",
         joint("name=\"j\" type=\"continuous\"", ends + "<mimic joint=\"j\" multplier=\"2\"/>"),
         {"line 4", "'multplier'", "did you mean 'multiplier'?"}},
        {"slip in an attribute of a shape",
         link("<collision><geometry><cylinder radius=\"1\" lenght=\"2\"/></geometry></collision>"),
         {"line 3", "'lenght'", "did you mean 'length'?"}},
        {"joints that mimic each other",
         robot("<link name=\"b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" "
               "izz=\"1\"/></inertial></link>"
               "<link name=\"c\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" "
               "izz=\"1\"/></inertial></link>\n"
               "<joint name=\"j\" type=\"continuous\">" +
               ends +
               "<mimic joint=\"k\"/></joint><joint name=\"k\" type=\"continuous\"><parent link=\"b\"/><child "
               "link=\"c\"/><mimic joint=\"j\"/></joint>"),
         {"line 4", "in a circle"}},
        {"macros that are not expanded",
         robot("<xacro:include filename=\"x\"/>"),
         {"line 3", "expand the file"}},
        {"macro in a number",
         joint("name=\"j\" type=\"fixed\"", ends + "<origin xyz=\"${x} 0 0\"/>"),
         {"line 4", "'${x}' is not a finite number"}},
        {"entity bomb", bomb(), {"line 2", "DOCTYPE"}},
        {"external entity",
         "<!DOCTYPE robot SYSTEM \"file:///etc/passwd\">\n<robot name=\"r\"/>",
         {"line 1", "DOCTYPE"}},
        {"two million nested elements",
         nested("<robot>", "</robot>", 2'000'000),
         {"line 1", "nested deeper than 100000"}},
        {"bytes of a program",
         std::string("<\x7f"
                     "ELF\0\0",
                     7),
         {"line 1", "not well-formed"}},
    };
}

std::vector<Case> mjcf_cases() {
    return {
        {"no worldbody", model(""), {"no <worldbody>"}},
        {"unknown section", model("<worldbdy/>"), {"line 2", "<worldbdy>", "did you mean 'worldbody'?"}},
        {"unknown tag in a body", world("<body><goem/></body>"), {"line 3", "did you mean 'geom'?"}},
        {"unknown body attribute",
         world("<body psoition=\"1 0 0\"/>"),
         {"line 3", "unknown attribute 'psoition'"}},
        {"two bodies of one name",
         world("<body name=\"b\"/>\n<body name=\"b\"/>"),
         {"line 4", "two bodies are named 'b'"}},
        {"two joints of one name",
         world("<body><joint name=\"j\"/><joint name=\"j\"/></body>"),
         {"two joints are named 'j'"}},
        {"unknown joint type",
         world("<body><joint type=\"screw\"/></body>"),
         {"line 3", "unknown joint type 'screw'"}},
        {"unknown geom type",
         world("<geom type=\"cone\" size=\"1\"/>"),
         {"line 3", "unknown geom type 'cone'"}},
        {"geom without size", world("<geom type=\"box\"/>"), {"line 3", "takes 3 sizes"}},
        {"geom of negative size", world("<geom type=\"sphere\" size=\"-1\"/>"), {"line 3", "-1"}},
        {"unknown class",
         world("<geom class=\"none\" size=\"1\"/>"),
         {"line 3", "no default class is named 'none'"}},
        {"class twice",
         model("<default><default class=\"c\"/><default class=\"c\"/></default>"),
         {"two default classes"}},
        {"unknown mesh", world("<geom type=\"mesh\" mesh=\"m\"/>"), {"line 3", "no mesh is named 'm'"}},
        {"missing mesh file",
         model("<asset><mesh name=\"m\" file=\"gone.obj\"/></asset><worldbody><geom type=\"mesh\" "
               "mesh=\"m\"/></worldbody>"),
         {"line 2", "no such file"}},
        {"missing include", model("<include file=\"gone.xml\"/>"), {"line 2", "no such file"}},
        {"includes itself",
         model("<include file=\"bad.xml\"/>"),
         {"nested deeper than 16", "include itself"}},
        {"not a finite number", world("<body pos=\"0 inf 0\"/>"), {"line 3", "'inf' is not a finite number"}},
        {"quaternion of zeros", world("<body quat=\"0 0 0 0\"/>"), {"line 3", "length zero"}},
        {"two orientations",
         world("<body quat=\"1 0 0 0\" euler=\"0 0 1\"/>"),
         {"more than one orientation"}},
        {"axis of zeros", world("<body><joint axis=\"0 0 0\"/></body>"), {"length zero"}},
        {"free joint further down", world("<body><body><freejoint/></body></body>"), {"free joint"}},
        {"joint of the world", world("<joint/>"), {"line 3", "the world has no joints"}},
        {"range the wrong way round", world("<body><joint range=\"1 -1\"/></body>"), {"swap them"}},
        {"negative inertia",
         world("<body><inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 -1 1\"/></body>"),
         {"line 3", "negative"}},
        {"negative mass",
         world("<body><inertial pos=\"0 0 0\" mass=\"-1\" diaginertia=\"1 1 1\"/></body>"),
         {"mass is -1"}},
        {"inertial without inertia",
         world("<body><inertial pos=\"0 0 0\" mass=\"1\"/></body>"),
         {"neither diaginertia nor fullinertia"}},
        {"actuator of nothing",
         world(pendulum, "<actuator><motor joint=\"k\"/></actuator>"),
         {"line 5", "no joint is named 'k'"}},
        {"actuator alone", world(pendulum, "<actuator><motor/></actuator>"), {"drives nothing"}},
        {"tendon of nothing",
         world(pendulum, "<tendon><fixed name=\"t\"><joint joint=\"k\" coef=\"1\"/></fixed></tendon>"),
         {"no joint is named 'k'"}},
        {"exclusion of nothing",
         world(pendulum, "<contact><exclude body1=\"p\" body2=\"q\"/></contact>"),
         {"no body is named 'q'"}},
        {"connect without anchor",
         world(pendulum, "<equality><connect body1=\"p\"/></equality>"),
         {"no 'anchor'"}},
        {"connect of unknown sites",
         world(pendulum, "<equality><connect site1=\"s\" site2=\"t\"/></equality>"),
         {"line 5", "no site is named 's'"}},
        {"pair of unknown geoms",
         world(pendulum, "<contact><pair geom1=\"g\" geom2=\"h\"/></contact>"),
         {"line 5", "no geom is named 'g'"}},
        {"pair with negative friction",
         world("<geom name=\"g\" size=\"1\"/><geom name=\"h\" size=\"1\"/>",
               "<contact><pair geom1=\"g\" geom2=\"h\" friction=\"-1\"/></contact>"),
         {"line 5", "friction is -1"}},
        {"spatial tendon of unknown sites",
         world(pendulum, "<tendon><spatial><site site=\"s\"/><site site=\"t\"/></spatial></tendon>"),
         {"line 5", "no site is named 's'"}},
        {"spatial tendon with negative stiffness",
         world("<site name=\"w\" pos=\"1 0 0\"/><body name=\"p\"><joint/><geom size=\"0.1\"/><site "
               "name=\"s\"/></body>",
               "<tendon><spatial stiffness=\"-1\"><site site=\"s\"/><site site=\"w\"/></spatial></tendon>"),
         {"line 5", "negative"}},
        {"negative damping ratio",
         world(pendulum, "<actuator><position joint=\"j\" kp=\"1\" dampratio=\"-1\"/></actuator>"),
         {"line 5", "dampratio is -1"}},
        {"distance to itself",
         world(pendulum, "<sensor><distance body1=\"p\" body2=\"p\"/></sensor>"),
         {"line 5", "to itself"}},
        {"force of no actuator",
         world(pendulum, "<sensor><actuatorfrc actuator=\"m\"/></sensor>"),
         {"line 5", "no actuator is named 'm'"}},
        {"keyframe of another size",
         world(pendulum, "<keyframe><key qpos=\"1 2\"/></keyframe>"),
         {"line 5", "it takes 1"}},
        {"unknown sensor", world(pendulum, "<sensor><gyrro site=\"s\"/></sensor>"), {"<gyrro>"}},
        {"unknown site", world(pendulum, "<sensor><gyro site=\"s\"/></sensor>"), {"no site is named 's'"}},
        {"unknown angle", model("<compiler angle=\"grad\"/>"), {"line 2", "degree or radian"}},
        {"unknown euler sequence", model("<compiler eulerseq=\"abc\"/>"), {"three of x y z"}},
        {"two million nested bodies",
         world(nested("<body>", "</body>", 2'000'000)),
         {"line 3", "nested deeper than 100000"}},
        {"unknown geom attribute",
         world("<geom size=\"1\" frction=\"1\"/>"),
         {"line 3", "did you mean 'friction'?"}},
        {"unknown joint attribute",
         world("<body><joint dampng=\"1\"/></body>"),
         {"line 3", "did you mean 'damping'?"}},
        {"unknown site attribute", world("<site nmae=\"s\"/>"), {"line 3", "did you mean 'name'?"}},
        {"unknown attribute of a default",
         model("<default><joint armture=\"1\"/></default>"),
         {"line 2", "did you mean 'armature'?"}},
        {"unknown option", model("<option timstep=\"0.1\"/>"), {"line 2", "did you mean 'timestep'?"}},
        {"unknown actuator attribute",
         world(pendulum, "<actuator><position joint=\"j\" kpp=\"1\"/></actuator>"),
         {"line 5", "did you mean 'kp'?"}},
        {"unknown sensor attribute",
         world(pendulum, "<sensor><jointpos jiont=\"j\"/></sensor>"),
         {"line 5", "did you mean 'joint'?"}},
        {"unknown keyframe attribute",
         world(pendulum, "<keyframe><key qpso=\"1\"/></keyframe>"),
         {"line 5", "did you mean 'qpos'?"}},
        {"unknown equality attribute",
         world(pendulum, "<equality><joint joint1=\"j\" polycoeff=\"1\"/></equality>"),
         {"line 5", "did you mean 'polycoef'?"}},
        {"inherits no range",
         world(pendulum, "<actuator><position joint=\"j\" inheritrange=\"1\"/></actuator>"),
         {"line 5", "inherits the range of a joint that has none"}},
        {"actuator with kv and dampratio",
         world(pendulum, "<actuator><position joint=\"j\" kv=\"1\" dampratio=\"1\"/></actuator>"),
         {"line 5", "both kv and dampratio"}},
        {"height field without a base",
         model("<asset><hfield name=\"h\" nrow=\"2\" ncol=\"2\" size=\"1 1 1 0\"/></asset>\n<worldbody><geom "
               "type=\"hfield\" hfield=\"h\"/></worldbody>"),
         {"line 2", "a size of a height field is 0"}},
        {"site between equal points",
         world("<site fromto=\"1 0 0 1 0 0\"/>"),
         {"line 3", "two equal points"}},
        {"primitive fitted to a flat mesh",
         model("<asset><mesh name=\"m\" vertex=\"0 0 0 1 0 0 0 1 0\" face=\"0 1 "
               "2\"/></asset>\n<worldbody><geom "
               "type=\"box\" mesh=\"m\"/></worldbody>"),
         {"line 3", "without volume"}},
        {"time step of zero", model("<option timestep=\"0\"/>"), {"line 2", "above 0"}},
    };
}

void expect_refused(const Case& entry) {
    SCOPED_TRACE(entry.name);
    const test::Folder folder;
    const std::string file = folder.write("bad.xml", entry.text);
    const auto start = std::chrono::steady_clock::now();
    const InputError error = test::input_error([&] { import_scene(file); });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const char* words : entry.words)
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos)
            << error.what() << "\nlacks: " << words;
    EXPECT_LT(seconds, 20.0);
}

TEST(BadRobots, UrdfFilesAreRefusedWithTheirLine) {
    for (const Case& entry : urdf_cases()) expect_refused(entry);
}

TEST(BadRobots, MjcfFilesAreRefusedWithTheirLine) {
    for (const Case& entry : mjcf_cases()) expect_refused(entry);
    EXPECT_GE(urdf_cases().size() + mjcf_cases().size(), 60u);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(usage.ru_maxrss, 1'000'000);  // kB
}

}  // namespace
}  // namespace tenon

// tenon.Scene: loading, editing, compiling.
#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "bindings.hpp"
#include "scene/edit.hpp"
#include "tenon/builtin.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::python {
namespace {

SharedScene made(Scene scene, py::list losses = py::list()) {
    return std::make_shared<EditableScene>(EditableScene{std::move(scene), std::move(losses)});
}

SharedScene imported(ImportedScene from) {
    const py::list losses = json_loads(losses_json(from.losses));
    return made(std::move(from.scene), losses);
}

ImportOptions options(const py::object& mesh_root, bool visual_geometry, bool free_base) {
    ImportOptions out;
    if (!mesh_root.is_none()) out.mesh_root = file_name(mesh_root);
    out.visual_geometry = visual_geometry;
    out.free_base = free_base;
    return out;
}

std::vector<Override> overrides_of(const py::kwargs& settings) {
    std::vector<Override> overrides;
    for (const auto& [key, value] : settings)
        overrides.push_back({py::str(key), py::isinstance<py::str>(value)
                                               ? value.cast<std::string>()
                                               : json_dumps(py::reinterpret_borrow<py::object>(value))});
    return overrides;
}

bool is_rigid_ipc(const std::string& file) {
    std::ifstream in(file);
    std::string start(4096, '\0');
    in.read(start.data(), static_cast<std::streamsize>(start.size()));
    return start.find("\"rigid_body_problem\"") != std::string::npos;
}

SharedScene load_text(const std::string& source, const py::kwargs& settings) {
    const bool xml = source.ends_with(".xml") || source.ends_with(".urdf") || source.ends_with(".mjcf");
    if (xml || (source.ends_with(".json") && is_rigid_ipc(source))) {
        if (settings.size() > 0) throw py::value_error("an imported file takes no settings: use scene.set");
        return imported(import_scene(source));
    }
    return made(load_scene(source, overrides_of(settings)));
}

SharedScene load(const py::object& source, const py::kwargs& settings) {
    if (py::isinstance<EditableScene>(source)) {
        if (settings.size() > 0) throw py::value_error("a scene takes no settings: use scene.set");
        return made(source.cast<SharedScene>()->scene, source.cast<SharedScene>()->losses);
    }
    if (py::isinstance<py::dict>(source))
        return made(parse_scene(json_dumps(source), "dict", "", overrides_of(settings)));
    return load_text(file_name(source), settings);
}

// A scene's JSON form, which may still be without bodies.
Scene read_unfinished(const py::dict& root, const std::string& file, const std::vector<Override>& overrides) {
    const auto none = [&](const char* list) { return !root.contains(list) || py::len(root[list]) == 0; };
    if (!none("bodies") || !none("elastic")) return parse_scene(json_dumps(root), file, "", overrides);
    py::dict ball, whole(root.attr("copy")());
    ball["name"] = "ball";
    ball["shape"] = json_loads(R"({"type": "sphere"})");
    whole["bodies"] = py::make_tuple(ball);
    Scene scene = parse_scene(json_dumps(whole), file, "", overrides);
    scene.bodies.clear();
    scene.body_lookup.clear();
    scene.geometries.clear();
    scene.geometry_lookup.clear();
    return scene;
}

// The scene with its JSON form changed; a change that does not read back leaves it as it was.
void replace(EditableScene& self, const py::dict& root, const std::vector<Override>& overrides = {}) {
    const std::string file = self.scene.file;
    Scene changed = read_unfinished(root, file.empty() ? self.scene.name : file, overrides);
    changed.file = file;
    self.scene = std::move(changed);
}

py::dict json_of(const EditableScene& self) {
    return json_loads(write_scene(self.scene));
}

void add(EditableScene& self, const char* list, const py::dict& entry) {
    py::dict root = json_of(self);
    if (!root.contains(list)) root[list] = py::list();
    root[list].attr("append")(entry);
    replace(self, root);
}

void add_material(EditableScene& self, const py::dict& entry) {
    if (!entry.contains("name")) throw py::value_error("a material needs a 'name'");
    py::dict root = json_of(self);
    py::dict values(entry.attr("copy")());
    const py::object name = values.attr("pop")("name");
    if (!root.contains("materials")) root["materials"] = py::dict();
    root["materials"][name] = values;
    replace(self, root);
}

[[noreturn]] void none_named(const EditableScene& self, const char* list, const std::string& name,
                             const std::vector<std::string>& names) {
    throw InputError(self.scene.file, list, fmt::format("there is nothing named '{}'", name),
                     suggestion(name, names));
}

void remove(EditableScene& self, const char* list, const std::string& name) {
    py::dict root = json_of(self);
    std::vector<std::string> names;
    py::list kept;
    if (root.contains(list))
        for (const py::handle entry : root[list]) {
            const std::string one =
                entry.contains("name") ? entry["name"].cast<std::string>() : std::string();
            names.push_back(one);
            if (one != name) kept.append(entry);
        }
    if (kept.size() == names.size()) none_named(self, list, name, names);
    root[list] = kept;
    replace(self, root);
}

void remove_material(EditableScene& self, const std::string& name) {
    py::dict root = json_of(self);
    std::vector<std::string> names;
    if (root.contains("materials"))
        for (const auto& [key, value] : py::dict(root["materials"])) names.push_back(py::str(key));
    if (!root.contains("materials") || !root["materials"].contains(name))
        none_named(self, "materials", name, names);
    root["materials"].attr("pop")(name);
    replace(self, root);
}

}  // namespace

// Read by itself, with the materials of the scene: a thousand bodies are added in linear time.
void add_body(EditableScene& self, const py::dict& entry) {
    Scene& scene = self.scene;
    Scene header;
    header.name = scene.name;
    header.materials = scene.materials;
    py::dict root = json_loads(write_scene(header));
    root["bodies"] = py::make_tuple(entry);
    Scene one;
    try {
        one = parse_scene(json_dumps(root), scene.file.empty() ? scene.name : scene.file, "");
    } catch (const InputError& error) {
        std::string path = error.path();
        if (path.starts_with("bodies[0]")) path.replace(7, 1, std::to_string(scene.bodies.size()));
        throw InputError(error.file(), path, error.problem(), error.cure());
    }
    BodySpec body = one.bodies.at(0);
    if (!entry.contains("name")) body.name.clear();
    if (!body.name.empty() && scene.body_index(body.name) >= 0)
        throw InputError(scene.file, "bodies", fmt::format("there is a body named '{}' already", body.name),
                         "give the new one another name");
    if (body.geometry >= 0)
        body.geometry = scene.add_geometry(one.geometries[static_cast<std::size_t>(body.geometry)]);
    body.material = scene.add_material(one.materials[static_cast<std::size_t>(body.material)]);
    scene::add_body_before_elastic(scene, body);
}

void remove_body(EditableScene& self, const std::string& name) {
    const int index = self.scene.body_index(name);
    std::vector<std::string> names;
    for (const BodySpec& body : self.scene.bodies) names.push_back(body.name);
    if (index < 0)
        throw InputError(self.scene.file, "bodies", fmt::format("there is no body named '{}'", name),
                         suggestion(name, names));
    scene::remove_body(self.scene, index);
}

namespace {

void set_method(Scene& scene, const py::object& method) {
    if (py::isinstance<py::dict>(method)) {
        py::dict root;
        root["method"] = method;
        const Scene header = read_unfinished(root, scene.file.empty() ? scene.name : scene.file, {});
        scene.method = header.method;
        scene.method_params = header.method_params;
        if (method.contains("dt")) scene.dt = header.dt;
        return;
    }
    if (!py::isinstance<py::str>(method)) throw py::type_error("a method is a name or a dict with 'type'");
    const std::string name = method.cast<std::string>();
    find_method(name, {scene.file.empty() ? scene.name : scene.file, "method.type"});
    if (name != scene.method) scene.method_params.clear();  // another method's
    scene.method = name;
}

void set_positive(double& place, double value, const char* name) {
    if (!(value > 0) || !std::isfinite(value))
        throw InputError("", name, fmt::format("{:g} s", value), "must be positive");
    place = value;
}

std::string describe(const EditableScene& self) {
    return fmt::format("<tenon.Scene '{}': {} bodies, {} joints, {} elastic, {} with dt {:g} s>",
                       self.scene.name, self.scene.bodies.size(), self.scene.joints.size(),
                       self.scene.elastic.size(), self.scene.method, self.scene.dt);
}

py::list names_of_bodies(const EditableScene& self) {
    py::list names;
    for (const BodySpec& body : self.scene.bodies) names.append(body.name);
    return names;
}

}  // namespace

py::object json_loads(const std::string& text) {
    return py::module_::import("json").attr("loads")(text);
}

std::string json_dumps(const py::object& value) {
    const py::cpp_function plain([](const py::object& other) -> py::object {
        if (py::hasattr(other, "tolist")) return other.attr("tolist")();  // NumPy
        throw py::type_error("a scene holds numbers, texts, lists and dicts, not " +
                             py::str(py::type::of(other).attr("__name__")).cast<std::string>());
    });
    return py::module_::import("json")
        .attr("dumps")(value, py::arg("allow_nan") = false, py::arg("default") = plain)
        .cast<std::string>();
}

std::string file_name(const py::object& file) {
    if (py::isinstance<py::str>(file)) return file.cast<std::string>();
    if (py::hasattr(file, "__fspath__")) {
        const py::object name = file.attr("__fspath__")();
        if (py::isinstance<py::str>(name)) return name.cast<std::string>();
    }
    throw py::type_error("a name, a file, a dict or a tenon.Scene is wanted, not " +
                         py::str(py::type::of(file).attr("__name__")).cast<std::string>());
}

SharedScene to_scene(const py::object& source) {
    return load(source, py::kwargs());
}

Scene with_method(Scene scene, const py::object& method, const py::object& dt) {
    if (!method.is_none()) set_method(scene, method);
    if (!dt.is_none()) set_positive(scene.dt, dt.cast<double>(), "dt");
    return scene;
}

SharedModel compile_scene(Scene scene, const py::object& method, const py::object& dt) {
    Scene wanted = with_method(std::move(scene), method, dt);
    const py::gil_scoped_release release;
    return std::make_shared<Compiled>(std::move(wanted));
}

namespace {

using Class = py::class_<EditableScene, SharedScene>;

void bind_sources(Class& scene) {
    scene
        .def(py::init([](const py::object& source, const py::kwargs& settings) {
                 if (!source.is_none()) return load(source, settings);
                 return made(read_unfinished(py::dict(), "scene", overrides_of(settings)));
             }),
             py::arg("source") = py::none(), "As `load`; without a source an empty scene.")
        .def_static(
            "load", &load, py::arg("source"),
            "A built-in's name, a file (scene JSON, URDF, MJCF, rigid-ipc), a dict or a scene. Keywords set "
            "parameters of a built-in or keys of the scene: Scene.load('wrecking-ball', seconds=2).")
        .def_static(
            "from_urdf",
            [](const py::object& file, const py::object& mesh_root, bool visual_geometry, bool free_base) {
                return imported(import_urdf(file_name(file), options(mesh_root, visual_geometry, free_base)));
            },
            py::arg("file"), py::arg("mesh_root") = py::none(), py::arg("visual_geometry") = false,
            py::arg("free_base") = false,
            "A robot from URDF. What was left out or approximated is in `losses`.")
        .def_static(
            "from_mjcf",
            [](const py::object& file, const py::object& mesh_root, bool visual_geometry) {
                return imported(import_mjcf(file_name(file), options(mesh_root, visual_geometry, false)));
            },
            py::arg("file"), py::arg("mesh_root") = py::none(), py::arg("visual_geometry") = false,
            "A robot from MuJoCo's XML. What was left out or approximated is in `losses`.")
        .def_static(
            "from_rigid_ipc",
            [](const py::object& file, const py::object& mesh_root) {
                std::vector<std::string> warnings;
                Scene read = import_rigid_ipc(
                    file_name(file), mesh_root.is_none() ? std::string() : file_name(mesh_root), &warnings);
                std::vector<ImportLoss> losses;
                for (const std::string& warning : warnings)
                    losses.push_back({read.file, 0, "", ImportLoss::Kind::left_out, warning, ""});
                return made(std::move(read), json_loads(losses_json(losses)));
            },
            py::arg("file"), py::arg("mesh_root") = py::none(), "A scene of the rigid-ipc project.")
        .def_static(
            "from_json",
            [](const std::string& text, const py::object& folder) {
                return made(parse_scene(text, "text", folder.is_none() ? std::string() : file_name(folder)));
            },
            py::arg("text"), py::arg("folder") = py::none(),
            "A scene from JSON text; mesh paths are relative to `folder`.")
        .def(
            "to_json", [](const EditableScene& self) { return write_scene(self.scene); },
            "JSON text that reads back as the same scene.")
        .def("to_dict", &json_of, "The same as a dict.");
}

void bind_properties(Class& scene) {
    scene
        .def_property(
            "name", [](const EditableScene& self) { return self.scene.name; },
            [](EditableScene& self, const std::string& name) { self.scene.name = name; })
        .def_property(
            "dt", [](const EditableScene& self) { return self.scene.dt; },
            [](EditableScene& self, double dt) { set_positive(self.scene.dt, dt, "dt"); }, "Time step, s.")
        .def_property(
            "seconds", [](const EditableScene& self) { return self.scene.seconds; },
            [](EditableScene& self, double seconds) { set_positive(self.scene.seconds, seconds, "seconds"); },
            "How long a run takes, in simulated seconds.")
        .def_property(
            "gravity", [](const EditableScene& self) { return to_array(self.scene.gravity); },
            [](EditableScene& self, const py::object& values) {
                const Vec3 gravity = to_vec3(values, "gravity");
                if (!gravity.allFinite()) throw py::value_error("gravity is not finite");
                self.scene.gravity = gravity;
            },
            "(3,) m/s^2; a copy.")
        .def_property(
            "method", [](const EditableScene& self) { return self.scene.method; },
            [](EditableScene& self, const py::object& method) { set_method(self.scene, method); },
            "The method's name. Set it to a name, or to a dict with 'type' and parameters.")
        .def_property_readonly("bodies", &names_of_bodies, "Names of the bodies.")
        .def_property_readonly(
            "joints",
            [](const EditableScene& self) {
                py::list names;
                for (const JointSpec& joint : self.scene.joints) names.append(joint.name);
                return names;
            },
            "Names of the joints.")
        .def_property_readonly(
            "losses", [](const EditableScene& self) { return self.losses; },
            "What an import left out, approximated or said otherwise: dicts with file, line, element, kind, "
            "what, why.");
}

// add_joint(entry) and remove_joint(name), and so on.
void def_list(Class& scene, const std::string& kind, const char* list, const char* words) {
    scene
        .def(("add_" + kind).c_str(),
             [list](EditableScene& self, const py::dict& entry) { add(self, list, entry); },
             py::arg(kind.c_str()), words)
        .def(("remove_" + kind).c_str(),
             [list](EditableScene& self, const std::string& name) { remove(self, list, name); },
             py::arg("name"), "Removes it. What still refers to it is an InputError.");
}

void bind_editing(Class& scene) {
    scene.def("add_body", &add_body, py::arg("body"), "Adds a body, a dict as in a scene file.")
        .def("remove_body", &remove_body, py::arg("name"),
             "Removes a body and everything that refers to it: its joints, forces and so on.")
        .def("add_material", &add_material, py::arg("material"),
             "Adds or replaces one: a dict with 'name', 'density', 'friction' and so on.")
        .def("remove_material", &remove_material, py::arg("name"), "Removes it.")
        .def(
            "add_force", [](EditableScene& self, const py::dict& entry) { add(self, "forces", entry); },
            py::arg("force"), "Adds a force, a dict as in a scene file.")
        .def(
            "set",
            [](EditableScene& self, const std::string& key, const py::object& value) {
                py::kwargs one;
                one[py::str(key)] = value;
                replace(self, json_of(self), overrides_of(one));
            },
            py::arg("key"), py::arg("value"),
            "Sets any key by its path, as `--set` of the command line: scene.set('bodies[2].mass', 3).");
    def_list(scene, "joint", "joints", "Adds a joint, a dict as in a scene file.");
    def_list(scene, "actuator", "actuators", "Adds an actuator, a dict as in a scene file.");
    def_list(scene, "tendon", "tendons", "Adds a tendon, a dict as in a scene file.");
    def_list(scene, "sensor", "sensors", "Adds a sensor, a dict as in a scene file.");
    def_list(scene, "keyframe", "keyframes", "Adds a keyframe, a dict as in a scene file.");
    def_list(scene, "elastic", "elastic", "Adds an elastic body, a dict as in a scene file.");
}

void bind_functions(py::module_& module) {
    module.def(
        "scenes",
        [] {
            py::dict all;
            for (const BuiltinScene& scene : builtin_scenes()) all[py::str(scene.name)] = scene.summary;
            return all;
        },
        "The built-in scenes: name and summary.");
    module.def(
        "methods",
        [] {
            py::dict all;
            for (const MethodInfo& info : all_methods()) all[py::str(info.name)] = info.summary;
            return all;
        },
        "The methods: name and summary.");
}

}  // namespace

void bind_scene(py::module_& module) {
    Class scene(module, "Scene", R"(A scene that can be edited. `compile` makes a model of it.

>>> import tenon
>>> scene = tenon.Scene({"bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}}]})
>>> scene.add_body({"name": "box", "shape": {"type": "box", "size": [1, 1, 1]}, "position": [0, -2, 0]})
>>> scene.bodies
['ball', 'box']
)");
    bind_sources(scene);
    bind_properties(scene);
    bind_editing(scene);
    scene
        .def(
            "compile",
            [](const EditableScene& self, const py::object& method, const py::object& dt) {
                return compile_scene(self.scene, method, dt);
            },
            py::arg("method") = py::none(), py::arg("dt") = py::none(),
            "An immutable model, with the scene's method and time step or others.")
        .def("__copy__", [](const EditableScene& self) { return made(self.scene, self.losses); })
        .def("__deepcopy__",
             [](const EditableScene& self, const py::dict&) { return made(self.scene, self.losses); })
        .def(py::pickle(
            [](const EditableScene& self) {
                return py::make_tuple(write_scene(self.scene), self.scene.file, self.losses);
            },
            [](const py::tuple& kept) {
                if (kept.size() != 3) throw py::value_error("this is no pickled scene");
                Scene read = parse_scene(kept[0].cast<std::string>(), "pickled scene", "");
                read.file = kept[1].cast<std::string>();
                return made(std::move(read), kept[2]);
            }))
        .def("__repr__", &describe);
    bind_functions(module);
}

}  // namespace tenon::python

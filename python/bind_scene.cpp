// tenon.Scene: loading, editing, compiling.
#include <cmath>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "bindings.hpp"
#include "scene/edit.hpp"
#include "tenon/builtin.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::python {
namespace {

using Shared = std::shared_ptr<EditableScene>;

Shared made(Scene scene, std::vector<std::string> losses = {}) {
    return std::make_shared<EditableScene>(EditableScene{std::move(scene), std::move(losses)});
}

Shared imported(ImportedScene from) {
    std::vector<std::string> losses;
    std::istringstream lines(losses_text(from.losses));
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) losses.push_back(line);
    return made(std::move(from.scene), std::move(losses));
}

Shared load_text(const std::string& source, const py::kwargs& settings) {
    if (source.ends_with(".xml") || source.ends_with(".urdf") || source.ends_with(".mjcf")) {
        if (settings.size() > 0) throw py::value_error("an imported file takes no settings");
        return imported(import_scene(source));
    }
    std::vector<Override> overrides;
    for (const auto& [key, value] : settings)
        overrides.push_back({py::str(key), py::isinstance<py::str>(value)
                                               ? value.cast<std::string>()
                                               : json_dumps(py::reinterpret_borrow<py::object>(value))});
    return made(load_scene(source, overrides));
}

Shared load(const py::object& source, const py::kwargs& settings) {
    if (py::isinstance<EditableScene>(source))
        return made(source.cast<Shared>()->scene, source.cast<Shared>()->losses);
    if (py::isinstance<py::dict>(source)) {
        if (settings.size() > 0) throw py::value_error("put the settings into the dict");
        return made(parse_scene(json_dumps(source), "dict", ""));
    }
    if (py::isinstance<py::str>(source)) return load_text(source.cast<std::string>(), settings);
    if (py::hasattr(source, "__fspath__")) return load_text(py::str(source.attr("__fspath__")()), settings);
    throw py::type_error("a scene is a built-in's name, a file, a dict or a tenon.Scene, not " +
                         py::str(py::type::of(source).attr("__name__")).cast<std::string>());
}

// The scene with its JSON form changed.
void edit(EditableScene& self, const char* list, const py::dict& entry) {
    py::dict root = json_loads(write_scene(self.scene));
    if (std::string(list) == "materials") {
        if (!entry.contains("name")) throw py::value_error("a material needs a 'name'");
        py::dict values(entry.attr("copy")());
        const py::object name = values.attr("pop")("name");
        if (!root.contains(list)) root[list] = py::dict();
        root[list][name] = values;
    } else {
        if (!root.contains(list)) root[list] = py::list();
        root[list].attr("append")(entry);
    }
    const std::string file = self.scene.file;
    self.scene = parse_scene(json_dumps(root), file.empty() ? self.scene.name : file, "");
    self.scene.file = file;
}

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

void set_method(Scene& scene, const py::object& method) {
    if (py::isinstance<py::dict>(method)) {
        py::dict root;
        root["method"] = method;
        root["bodies"] = py::list();
        const Scene header = parse_scene(json_dumps(root), scene.name, "");
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

Shared to_scene(const py::object& source) {
    return load(source, py::kwargs());
}

std::shared_ptr<const Compiled> compile_scene(Scene scene, const py::object& method, const py::object& dt) {
    if (!method.is_none()) set_method(scene, method);
    if (!dt.is_none()) set_positive(scene.dt, dt.cast<double>(), "dt");
    const py::gil_scoped_release release;
    return std::make_shared<const Compiled>(std::move(scene));
}

void bind_scene(py::module_& module) {
    py::class_<EditableScene, Shared>(module, "Scene",
                                      R"(A scene that can be edited. `compile` makes a model of it.

>>> import tenon
>>> scene = tenon.Scene({"bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}}]})
>>> scene.add_body({"name": "box", "shape": {"type": "box", "size": [1, 1, 1]}, "position": [0, -2, 0]})
>>> scene.bodies
['ball', 'box']
)")
        .def(py::init(
                 [](const py::object& source, const py::kwargs& settings) { return load(source, settings); }),
             py::arg("source"), "As `load`.")
        .def_static("load", &load, py::arg("source"),
                    "A built-in's name, a file (scene JSON, URDF, MJCF), a dict or a scene. Keywords set "
                    "parameters of a built-in or keys of the scene: Scene.load('wrecking-ball', seconds=2).")
        .def_static(
            "from_urdf", [](const std::string& file) { return imported(import_urdf(file)); }, py::arg("file"))
        .def_static(
            "from_mjcf", [](const std::string& file) { return imported(import_mjcf(file)); }, py::arg("file"))
        .def_static(
            "from_rigid_ipc",
            [](const std::string& file, const std::string& mesh_root) {
                std::vector<std::string> warnings;
                Scene scene = import_rigid_ipc(file, mesh_root, &warnings);
                return made(std::move(scene), std::move(warnings));
            },
            py::arg("file"), py::arg("mesh_root") = "")
        .def_static(
            "from_json", [](const std::string& text) { return made(parse_scene(text, "text", "")); },
            py::arg("text"), "A scene from JSON text.")
        .def(
            "to_json", [](const EditableScene& self) { return write_scene(self.scene); },
            "JSON text that reads back as the same scene.")
        .def("to_dict", [](const EditableScene& self) { return json_loads(write_scene(self.scene)); })
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
            "method", [](const EditableScene& self) { return self.scene.method; },
            [](EditableScene& self, const py::object& method) { set_method(self.scene, method); },
            "The method's name. Set it to a name, or to a dict with 'type' and parameters.")
        .def_property_readonly("bodies", &names_of_bodies, "Names of the bodies.")
        .def_readonly("losses", &EditableScene::losses, "What an import could not take over, a line each.")
        .def("add_body", &add_body, py::arg("body"), "Adds a body, as in a scene file.")
        .def("remove_body", &remove_body, py::arg("name"),
             "Removes a body and everything that refers to it: its joints, forces and so on.")
        .def(
            "add_joint", [](EditableScene& self, const py::dict& entry) { edit(self, "joints", entry); },
            py::arg("joint"))
        .def(
            "add_material",
            [](EditableScene& self, const py::dict& entry) { edit(self, "materials", entry); },
            py::arg("material"), "A dict with 'name', 'density', 'friction' and so on.")
        .def(
            "add_actuator",
            [](EditableScene& self, const py::dict& entry) { edit(self, "actuators", entry); },
            py::arg("actuator"))
        .def(
            "add_sensor", [](EditableScene& self, const py::dict& entry) { edit(self, "sensors", entry); },
            py::arg("sensor"))
        .def(
            "add_force", [](EditableScene& self, const py::dict& entry) { edit(self, "forces", entry); },
            py::arg("force"))
        .def(
            "compile",
            [](const EditableScene& self, const py::object& method, const py::object& dt) {
                return std::const_pointer_cast<Compiled>(compile_scene(self.scene, method, dt));
            },
            py::arg("method") = py::none(), py::arg("dt") = py::none(),
            "An immutable model, with the scene's method or another one.")
        .def("__copy__", [](const EditableScene& self) { return EditableScene(self); })
        .def("__deepcopy__", [](const EditableScene& self, const py::dict&) { return EditableScene(self); })
        .def(py::pickle([](const EditableScene& self) { return py::make_tuple(write_scene(self.scene)); },
                        [](const py::tuple& kept) {
                            return made(parse_scene(kept[0].cast<std::string>(), "pickled scene", ""));
                        }))
        .def("__repr__", &describe);

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

}  // namespace tenon::python

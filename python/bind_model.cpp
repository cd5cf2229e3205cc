// tenon.Model: names, masses, joints; states are made from it.
#include <fmt/format.h>

#include "bindings.hpp"
#include "scene/joint_kinds.hpp"

namespace tenon::python {
namespace {

py::list body_names(const Compiled& self) {
    return py::cast(self.model().bodies.name);
}

py::list joint_names(const Compiled& self) {
    py::list names;
    for (const Joint& joint : self.model().joints) names.append(joint.spec.name);
    return names;
}

py::list actuator_names(const Compiled& self) {
    py::list names;
    for (const ActuatorSpec& actuator : self.scene().actuators) names.append(actuator.name);
    return names;
}

py::list elastic_names(const Compiled& self) {
    py::list names;
    for (const ElasticBody& body : self.model().elastic) names.append(body.name);
    return names;
}

const char* type_name(BodyType type) {
    return type == BodyType::dynamic_body  ? "dynamic"
           : type == BodyType::static_body ? "static"
                                           : "kinematic";
}

py::dict body_facts(const Compiled& self, const std::string& name) {
    const Bodies& bodies = self.model().bodies;
    const int i = self.body(name);
    py::dict facts;
    facts["name"] = name;
    facts["index"] = i;
    facts["type"] = type_name(bodies.start_type[i]);
    facts["mass"] = bodies.mass[i];
    facts["moments"] = to_array(bodies.moments_of_inertia(i));
    facts["volume"] = bodies.volume[i];
    facts["friction"] = bodies.friction[i];
    facts["restitution"] = bodies.restitution[i];
    return facts;
}

py::object body_name(const Compiled& self, int body) {
    return body < 0 ? py::object(py::str("world")) : py::object(py::str(self.model().bodies.name[body]));
}

py::dict joint_facts(const Compiled& self, const std::string& name) {
    const int j = self.joint(name);
    const Joint& joint = self.model().joints[static_cast<std::size_t>(j)];
    py::dict facts;
    facts["name"] = name;
    facts["index"] = j;
    facts["type"] = scene::joint_type_name(joint.spec.type);
    facts["bodies"] = py::make_tuple(body_name(self, joint.bodies[0]), body_name(self, joint.bodies[1]));
    const bool limited = !joint.spec.drives.empty() && joint.spec.drives[0].limits;
    facts["limits"] =
        limited
            ? py::object(py::make_tuple((*joint.spec.drives[0].limits)[0], (*joint.spec.drives[0].limits)[1]))
            : py::none();
    return facts;
}

py::object loaded(const std::shared_ptr<Compiled>& self, const py::bytes& bytes) {
    auto state = std::make_shared<LiveState>(self);
    state->load(bytes);
    return py::cast(state);
}

std::string describe(const Compiled& self) {
    return fmt::format("<tenon.Model '{}': {} bodies, {} joints, {} elastic, {} with dt {:g} s>",
                       self.scene().name, self.model().bodies.size(), self.model().joints.size(),
                       self.model().elastic.size(), self.scene().method, self.dt());
}

}  // namespace

void bind_model(py::module_& module) {
    py::class_<Compiled, std::shared_ptr<Compiled>>(module, "Model",
                                                    R"(A compiled scene: immutable, shared by many states.

>>> import tenon
>>> model = tenon.Scene({"bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "mass": 2}]}).compile()
>>> float(model.masses[0])
2.0
)")
        .def(
            "state", [](const std::shared_ptr<Compiled>& self) { return std::make_shared<LiveState>(self); },
            "A new state, at the start of the scene.")
        .def("load", &loaded, py::arg("bytes"), "A new state from what state.save() gave.")
        .def_property_readonly("name", [](const Compiled& self) { return self.scene().name; })
        .def_property_readonly("method", [](const Compiled& self) { return self.scene().method; })
        .def_property_readonly("dt", &Compiled::dt, "Time step, s.")
        .def_property_readonly("bodies", &body_names, "Names of the bodies, in the order of all arrays.")
        .def_property_readonly("joints", &joint_names, "Names of the joints.")
        .def_property_readonly("actuators", &actuator_names, "Names of the actuators.")
        .def_property_readonly("elastic", &elastic_names, "Names of the elastic bodies.")
        .def_property_readonly(
            "masses", [](const Compiled& self) { return to_array(self.model().bodies.mass); },
            "Masses of the bodies, kg.")
        .def("body", &body_facts, py::arg("name"),
             "Facts about a body: type, mass, moments of inertia, friction.")
        .def("joint", &joint_facts, py::arg("name"), "Facts about a joint: type, bodies, limits.")
        .def(
            "scene",
            [](const Compiled& self) {
                return std::make_shared<EditableScene>(EditableScene{self.scene(), {}});
            },
            "A copy of the scene it was compiled from, to edit.")
        .def("__reduce_ex__",
             [](const Compiled&, int) -> py::object {
                 throw py::type_error("a tenon.Model is not pickled: pickle the Scene and compile it again");
             })
        .def("__repr__", &describe);
}

}  // namespace tenon::python

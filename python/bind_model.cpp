// tenon.Model: names, masses, joints; states are made from it.
#include <fmt/format.h>

#include "bindings.hpp"
#include "model/joint_rows.hpp"
#include "scene/joint_kinds.hpp"

namespace tenon::python {
namespace {

struct BodyFacts {
    std::string name;
    int index;
    std::string type;
    double mass, volume, friction, restitution;
    Vec3 moments;
};

struct JointFacts {
    std::string name;
    int index;
    std::string type;
    std::array<std::string, 2> bodies;
    py::object limits;
    int coordinates;
};

struct ActuatorFacts {
    std::string name;
    int index;
    std::string type;
    py::object force_limits, target_limits;
};

const char* type_name(BodyType type) {
    return type == BodyType::dynamic_body  ? "dynamic"
           : type == BodyType::static_body ? "static"
                                           : "kinematic";
}

const char* type_name(ActuatorSpec::Type type) {
    return type == ActuatorSpec::Type::position   ? "position"
           : type == ActuatorSpec::Type::velocity ? "velocity"
                                                  : "torque";
}

py::object interval(const std::array<double, 2>& limits) {
    if (limits[0] < -1e299 && limits[1] > 1e299) return py::none();
    return py::make_tuple(limits[0], limits[1]);
}

BodyFacts body_facts(const Compiled& self, const std::string& name) {
    const Bodies& bodies = self.model().bodies;
    const int i = self.body(name);
    return {name,
            i,
            type_name(bodies.start_type[i]),
            bodies.mass[i],
            bodies.volume[i],
            bodies.friction[i],
            bodies.restitution[i],
            bodies.moments_of_inertia(i)};
}

// A number pair for one coordinate, a tuple of pairs (or None) for several; None without any limit.
py::object limits_of(const Joint& joint) {
    py::list all;
    bool any = false;
    for (int k = 0; k < joint_coordinate_count(joint.spec.type); ++k) {
        const auto at = static_cast<std::size_t>(k);
        const bool limited = at < joint.spec.drives.size() && joint.spec.drives[at].limits;
        all.append(limited ? interval(*joint.spec.drives[at].limits) : py::none());
        any = any || limited;
    }
    if (!any) return py::none();
    return all.size() == 1 ? py::object(all[0]) : py::object(py::tuple(all));
}

JointFacts joint_facts(const Compiled& self, const std::string& name) {
    const int j = self.joint(name);
    const Joint& joint = self.model().joints[static_cast<std::size_t>(j)];
    const auto named = [&](int body) {
        return body < 0 ? std::string("world") : self.model().bodies.name[body];
    };
    return {name,
            j,
            scene::joint_type_name(joint.spec.type),
            {named(joint.bodies[0]), named(joint.bodies[1])},
            limits_of(joint),
            joint_coordinate_count(joint.spec.type)};
}

ActuatorFacts actuator_facts(const Compiled& self, const std::string& name) {
    const int k = self.actuator(name);
    const ActuatorSpec& spec = self.model().actuators[static_cast<std::size_t>(k)];
    return {name, k, type_name(spec.type), interval(spec.force_limits), interval(spec.target_limits)};
}

py::list joint_coordinate_names(const Compiled& self) {
    py::list names;
    for (const Joint& joint : self.model().joints) {
        const int count = joint_coordinate_count(joint.spec.type);
        for (int k = 0; k < count; ++k)
            names.append(count == 1 ? joint.spec.name : fmt::format("{}.{}", joint.spec.name, k));
    }
    return names;
}

py::list sensor_names(const Compiled& self) {
    py::list names;
    for (const SensorPlace& place : self.sensors())
        for (const std::string& component : place.components)
            names.append(component.empty() ? place.name : place.name + "." + component);
    return names;
}

template <class List, class Name>
py::list names_of(const List& list, const Name& name_of) {
    py::list names;
    for (const auto& one : list) names.append(name_of(one));
    return names;
}

SharedState new_state(const SharedModel& self, const SharedState& like) {
    auto state = std::make_shared<LiveState>(self);
    if (like) {
        const LiveState::Use use(*like);
        state->take_over(*like);
    }
    return state;
}

SharedState loaded(const SharedModel& self, const py::bytes& bytes) {
    auto state = std::make_shared<LiveState>(self);
    state->load(bytes);
    return state;
}

std::string describe(const Compiled& self) {
    return fmt::format("<tenon.Model '{}': {} bodies, {} joints, {} elastic, {} with dt {:g} s>",
                       self.scene().name, self.model().bodies.size(), self.model().joints.size(),
                       self.model().elastic.size(), self.scene().method, self.dt());
}

void bind_facts(py::module_& module) {
    py::class_<BodyFacts>(module, "ModelBody", "A body of a model.")
        .def_readonly("name", &BodyFacts::name)
        .def_readonly("index", &BodyFacts::index, "Its row in all arrays over bodies.")
        .def_readonly("type", &BodyFacts::type, "dynamic, static or kinematic.")
        .def_readonly("mass", &BodyFacts::mass, "kg.")
        .def_readonly("volume", &BodyFacts::volume, "m^3.")
        .def_readonly("friction", &BodyFacts::friction)
        .def_readonly("restitution", &BodyFacts::restitution)
        .def_property_readonly(
            "moments", [](const BodyFacts& self) { return to_array(self.moments); },
            "(3,) principal moments of inertia, kg m^2.")
        .def("__repr__", [](const BodyFacts& self) {
            return fmt::format("<body '{}': {}, {:g} kg>", self.name, self.type, self.mass);
        });
    py::class_<JointFacts>(module, "ModelJoint", "A joint of a model.")
        .def_readonly("name", &JointFacts::name)
        .def_readonly("index", &JointFacts::index)
        .def_readonly("type", &JointFacts::type, "ball, hinge, universal, prismatic ...")
        .def_property_readonly(
            "bodies", [](const JointFacts& self) { return py::make_tuple(self.bodies[0], self.bodies[1]); },
            "The names of its two bodies; 'world' for the fixed frame.")
        .def_readonly(
            "limits", &JointFacts::limits,
            "(low, high) of its coordinate, rad or m, or None; a tuple of them where it has several.")
        .def_readonly("coordinates", &JointFacts::coordinates, "How many free coordinates it has.")
        .def("__repr__", [](const JointFacts& self) {
            return fmt::format("<joint '{}': {} of '{}' and '{}'>", self.name, self.type, self.bodies[0],
                               self.bodies[1]);
        });
    py::class_<ActuatorFacts>(module, "ModelActuator", "An actuator of a model.")
        .def_readonly("name", &ActuatorFacts::name)
        .def_readonly("index", &ActuatorFacts::index)
        .def_readonly("type", &ActuatorFacts::type, "position, velocity or torque.")
        .def_readonly("force_limits", &ActuatorFacts::force_limits, "(low, high), N or N m, or None.")
        .def_readonly("target_limits", &ActuatorFacts::target_limits, "(low, high), or None.")
        .def("__repr__", [](const ActuatorFacts& self) {
            return fmt::format("<actuator '{}': {}>", self.name, self.type);
        });
}

}  // namespace

void bind_model(py::module_& module) {
    bind_facts(module);
    py::class_<Compiled, SharedModel> model(module, "Model",
                                            R"(A compiled scene: immutable, shared by many states and threads.

>>> import tenon
>>> model = tenon.Scene({"bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "mass": 2}]}).compile()
>>> model.body("ball")
<body 'ball': dynamic, 2 kg>
)");
    model
        .def("state", &new_state, py::arg("like") = py::none(),
             "A new state, at the start of the scene. With `like`, a state of another model, what has the "
             "same name is "
             "where it is there.")
        .def("load", &loaded, py::arg("bytes"), "A new state from what state.save() gave.")
        .def_property_readonly("name", [](const Compiled& self) { return self.scene().name; })
        .def_property_readonly("method", [](const Compiled& self) { return self.scene().method; })
        .def_property_readonly("dt", &Compiled::dt, "Time step, s.")
        .def_property_readonly(
            "bodies", [](const Compiled& self) { return py::list(py::cast(self.model().bodies.name)); },
            "Names of the bodies, in the order of all arrays.")
        .def_property_readonly(
            "joints",
            [](const Compiled& self) {
                return names_of(self.model().joints, [](const Joint& joint) { return joint.spec.name; });
            },
            "Names of the joints.")
        .def_property_readonly("joint_coordinates", &joint_coordinate_names,
                               "Names of the coordinates of all joints: 'elbow', or 'wrist.0' and 'wrist.1'.")
        .def_property_readonly(
            "actuators",
            [](const Compiled& self) {
                return names_of(self.model().actuators, [](const ActuatorSpec& one) { return one.name; });
            },
            "Names of the actuators.")
        .def_property_readonly("sensors", &sensor_names,
                               "Names of all that sensors measure: 'force', or 'hand.x', 'hand.y' ...")
        .def_property_readonly(
            "elastic",
            [](const Compiled& self) {
                return names_of(self.model().elastic, [](const ElasticBody& one) { return one.name; });
            },
            "Names of the elastic bodies.")
        .def_property_readonly(
            "masses", [](const Compiled& self) { return to_array(self.model().bodies.mass); },
            "(bodies,) masses, kg; a copy.")
        .def("body", &body_facts, py::arg("name"), "A body by its name.")
        .def("joint", &joint_facts, py::arg("name"), "A joint by its name.")
        .def("actuator", &actuator_facts, py::arg("name"), "An actuator by its name.")
        .def(
            "scene",
            [](const Compiled& self) {
                return std::make_shared<EditableScene>(EditableScene{self.scene(), py::list()});
            },
            "A copy of the scene it was compiled from, to edit.")
        .def("__repr__", &describe);
    refuse_pickling(model, "a tenon.Model is not pickled: pickle the Scene and compile it again");
}

}  // namespace tenon::python

// tenon.Pool: a batch of states with arrays over all of them.
#include <fmt/format.h>

#include "bindings.hpp"
#include "errors.hpp"
#include "interrupts.hpp"
#include "math/interrupt.hpp"
#include "model/joint_rows.hpp"
#include "pool.hpp"

namespace tenon::python {
namespace {

std::vector<py::ssize_t> counts(const Pool& self) {
    return {self.size(), self.compiled()->model().bodies.size()};
}

[[noreturn]] void rethrow(const std::exception_ptr& failure, std::size_t index) {
    const std::string place = fmt::format("environment {}: ", index);
    try {
        std::rethrow_exception(failure);
    } catch (const NamedStepFailure& error) {
        throw NamedStepFailure(place + error.what(), error.body(), error.name());
    } catch (const InputError& error) {
        throw InputError(error.file(), fmt::format("pool[{}].{}", index, error.path()), error.problem(),
                         error.cure());
    } catch (const std::exception& error) {
        throw std::runtime_error(place + error.what());
    }
}

// One flag for each environment; empty: all.
std::vector<char> flags(const Pool& self, const py::object& mask) {
    if (mask.is_none()) return {};
    const auto given = py::array::ensure(mask);
    if (!given || given.dtype().kind() != 'b') {
        PyErr_Clear();
        throw py::type_error("a mask holds one bool for each environment");
    }
    if (given.ndim() != 1 || given.shape(0) != self.size())
        throw py::value_error(
            fmt::format("a mask of {} entries for {} environments", given.size(), self.size()));
    const py::array_t<bool> values(given);
    std::vector<char> chosen(static_cast<std::size_t>(self.size()));
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = values.at(static_cast<py::ssize_t>(i));
    return chosen;
}

void step(Pool& self, int n, const py::object& mask, bool raise_failures) {
    if (n < 0) throw py::value_error("the number of steps must not be negative");
    const std::vector<char> chosen = flags(self, mask);
    const Pool::Use use(self);
    CtrlC ctrl_c;
    bool stopped = false;
    {
        const py::gil_scoped_release release;
        const InterruptScope scope(ctrl_c.flag());
        try {
            self.step(n, chosen);
        } catch (const Interrupted&) {
            stopped = true;
        }
    }
    ctrl_c.raise_if_pressed();
    if (stopped)
        throw std::runtime_error("stopped by a signal: environments have done different numbers of steps");
    for (std::size_t i = 0; raise_failures && i < self.failures().size(); ++i)
        if (self.failures()[i]) rethrow(self.failures()[i], i);
}

void reset(Pool& self, const py::object& mask, bool keep_overrides) {
    const std::vector<char> chosen = flags(self, mask);
    const Pool::Use use(self);
    for (int i = 0; i < self.size(); ++i) {
        if (!chosen.empty() && !chosen[static_cast<std::size_t>(i)]) continue;
        const LiveState::Use state(*self.state(i));
        self.state(i)->reset(keep_overrides);
    }
}

std::unique_ptr<Pool> make(const SharedModel& model, int n, int threads) {
    if (n < 1) throw py::value_error("a pool has one state or more");
    if (threads < 1) throw py::value_error("a pool has one thread or more");
    return std::make_unique<Pool>(model, n, threads);
}

py::list failure_texts(Pool& self) {
    const Pool::Use use(self);
    py::list out;
    for (std::size_t i = 0; i < static_cast<std::size_t>(self.size()); ++i) {
        py::object text = py::none();
        try {
            if (i < self.failures().size() && self.failures()[i]) std::rethrow_exception(self.failures()[i]);
        } catch (const std::exception& error) {
            text = py::str(error.what());
        }
        out.append(text);
    }
    return out;
}

// A row for each environment with all coordinates of joints.
Doubles joint_values(Pool& self, bool velocity) {
    const Pool::Use use(self);
    std::vector<double> all;
    const int joints = static_cast<int>(self.compiled()->model().joints.size());
    for (int i = 0; i < self.size(); ++i)
        for (int j = 0; j < joints; ++j) {
            const JointNow now = joint_now(*self.state(i), j);
            const std::vector<double>& of = velocity ? now.velocity : now.position;
            all.insert(all.end(), of.begin(), of.end());
        }
    Doubles out({py::ssize_t{self.size()}, static_cast<py::ssize_t>(all.size()) / self.size()});
    std::copy(all.begin(), all.end(), out.mutable_data());
    return out;
}

Doubles times(const Pool& self) {
    std::vector<double> all;
    for (int i = 0; i < self.size(); ++i) all.push_back(self.state(i)->state().time);
    return to_array(all);
}

using Class = py::class_<Pool>;
using Array = Doubles (*)(const Pool&);

void def_array(Class& pool, const char* name, Array get, const char* words) {
    pool.def_property(
        name, get, [get, name](const Pool& self, const py::object& to) { assign(get(self), to, name); },
        words);
}

void bind_arrays(Class& pool) {
    def_array(
        pool, "q",
        [](const Pool& self) { return pose_view(self.arrays(), self.arrays()->q.data(), counts(self)); },
        "(n, bodies, 3, 4) view.");
    def_array(
        pool, "rate",
        [](const Pool& self) { return pose_view(self.arrays(), self.arrays()->rate.data(), counts(self)); },
        "(n, bodies, 3, 4) view.");
    def_array(
        pool, "positions",
        [](const Pool& self) { return column_view(self.arrays(), self.arrays()->q.data(), counts(self)); },
        "(n, bodies, 3) view, m.");
    def_array(
        pool, "velocities",
        [](const Pool& self) { return column_view(self.arrays(), self.arrays()->rate.data(), counts(self)); },
        "(n, bodies, 3) view, m/s.");
    def_array(
        pool, "targets",
        [](const Pool& self) {
            const auto actuators = static_cast<py::ssize_t>(self.compiled()->start_targets().size());
            return flat_view(self.arrays(), self.arrays()->targets.data(), {self.size(), actuators});
        },
        "(n, actuators) view: the actions.");
    def_array(
        pool, "gravity",
        [](const Pool& self) {
            return flat_view(self.arrays(), self.arrays()->gravity.data(), {self.size(), 3});
        },
        "(n, 3) view: gravity of each environment, m/s^2.");
    def_array(
        pool, "masses",
        [](const Pool& self) { return flat_view(self.arrays(), self.arrays()->mass.data(), counts(self)); },
        "(n, bodies) view: masses of each environment, kg; moments of inertia follow.");
    def_array(
        pool, "friction",
        [](const Pool& self) {
            return flat_view(self.arrays(), self.arrays()->friction.data(), counts(self));
        },
        "(n, bodies) view: friction coefficients of each environment.");
    def_array(
        pool, "forces",
        [](const Pool& self) {
            return flat_view(self.arrays(), self.arrays()->force.data(),
                             {self.size(), self.compiled()->model().bodies.size(), 3});
        },
        "(n, bodies, 3) view: forces on the centres of mass from outside the scene, N.");
    def_array(
        pool, "torques",
        [](const Pool& self) {
            return flat_view(self.arrays(), self.arrays()->torque.data(),
                             {self.size(), self.compiled()->model().bodies.size(), 3});
        },
        "(n, bodies, 3) view: torques from outside the scene, N m.");
    pool.def_property_readonly(
            "sensors",
            [](const Pool& self) {
                return flat_view(self.arrays(), self.arrays()->sensors.data(),
                                 {self.size(), self.compiled()->sensor_values()});
            },
            "(n, values) view: what sensors measured, in the order of model.sensors.")
        .def_property_readonly(
            "joint_positions", [](Pool& self) { return joint_values(self, false); },
            "(n, coordinates) copy, in the order of model.joint_coordinates.")
        .def_property_readonly(
            "joint_velocities", [](Pool& self) { return joint_values(self, true); }, "(n, coordinates) copy.")
        .def_property_readonly("times", &times, "(n,) copy, s.");
}

}  // namespace

void bind_pool(py::module_& module) {
    Class pool(module, "Pool",
               R"(n states of one model, stepped as one batch. Arrays are views over all of them.

What a state computes does not depend on its place in the pool, on n or on threads.

>>> import tenon
>>> model = tenon.Scene({"bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}}]}).compile("impulse")
>>> pool = tenon.Pool(model, 4, threads=2)
>>> pool.velocities[:, 0, 0] = [0, 1, 2, 3]
>>> pool.step(10)
>>> pool.positions.shape
(4, 1, 3)
>>> pool.reset([True, False, False, True])
)");
    pool.def(py::init(&make), py::arg("model"), py::arg("n"), py::arg("threads") = 1)
        .def("step", &step, py::arg("n") = 1, py::arg("mask") = py::none(), py::arg("raise_failures") = true,
             "Advances all states, or those of a bool mask, by n steps. All are stepped before the first "
             "failure is "
             "raised; with raise_failures=False, look at `failures`.")
        .def("reset", &reset, py::arg("mask") = py::none(), py::arg("keep_overrides") = false,
             "Back to the start: all states, or those of a bool mask; also gravity, masses and friction "
             "unless they "
             "are to be kept.")
        .def_property_readonly("model", [](const Pool& self) { return shared_model(self.compiled()); })
        .def_property_readonly("threads", &Pool::threads)
        .def_property_readonly("failures", &failure_texts,
                               "For each state why it failed in the last call of step, or None.")
        .def("__len__", &Pool::size)
        .def(
            "__getitem__",
            [](const Pool& self, int i) {
                const int at = i < 0 ? i + self.size() : i;
                if (at < 0 || at >= self.size())
                    throw py::index_error(fmt::format("no environment {} of {}", i, self.size()));
                return self.state(at);
            },
            py::arg("index"), "One of the states.")
        .def("__repr__", [](const Pool& self) {
            return fmt::format("<tenon.Pool of {} states of '{}', {} threads>", self.size(),
                               self.compiled()->scene().name, self.threads());
        });
    bind_arrays(pool);
    refuse_pickling(pool, "a tenon.Pool is not pickled: keep state.save() of its states");
}

}  // namespace tenon::python

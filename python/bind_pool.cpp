// tenon.Pool: a batch of states with arrays over all of them.
#include <fmt/format.h>

#include "bindings.hpp"
#include "errors.hpp"
#include "pool.hpp"

namespace tenon::python {
namespace {

py::ssize_t count_of(const Pool& self) {
    return self.size();
}
std::vector<py::ssize_t> counts(const Pool& self) {
    return {count_of(self), self.compiled()->model().bodies.size()};
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

void step(Pool& self, int n, bool raise) {
    if (n < 0) throw py::value_error("the number of steps must not be negative");
    bool interrupted = false;
    {
        const py::gil_scoped_release release;
        self.step(n, [&] {
            const py::gil_scoped_acquire acquire;
            interrupted = interrupted || PyErr_CheckSignals() != 0;
            return !interrupted;
        });
    }
    if (interrupted || PyErr_CheckSignals() != 0) throw py::error_already_set();
    for (std::size_t i = 0; raise && i < self.failures().size(); ++i)
        if (self.failures()[i]) rethrow(self.failures()[i], i);
}

void reset(Pool& self, const py::object& mask) {
    std::vector<char> chosen(static_cast<std::size_t>(self.size()), 1);
    if (!mask.is_none()) {
        const auto given = py::array::ensure(mask);
        if (!given || given.dtype().kind() != 'b') {
            PyErr_Clear();
            throw py::type_error("a mask holds one bool for each environment");
        }
        if (given.ndim() != 1 || given.shape(0) != self.size())
            throw py::value_error(
                fmt::format("a mask of {} entries for {} environments", given.size(), self.size()));
        const auto flags = py::array_t<bool, py::array::forcecast>(given);
        for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = flags.at(static_cast<py::ssize_t>(i));
    }
    for (int i = 0; i < self.size(); ++i) {
        if (!chosen[static_cast<std::size_t>(i)]) continue;
        const LiveState::Use use(*self.state(i));
        self.state(i)->reset();
    }
}

std::unique_ptr<Pool> make(const std::shared_ptr<Compiled>& model, int n, int threads) {
    if (n < 1) throw py::value_error("a pool has one state or more");
    if (threads < 1) throw py::value_error("a pool has one thread or more");
    return std::make_unique<Pool>(model, n, threads);
}

py::list failure_texts(const Pool& self) {
    py::list out;
    for (int i = 0; i < self.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        py::object text = py::none();
        try {
            if (at < self.failures().size() && self.failures()[at])
                std::rethrow_exception(self.failures()[at]);
        } catch (const std::exception& error) {
            text = py::str(error.what());
        }
        out.append(text);
    }
    return out;
}

}  // namespace

void bind_pool(py::module_& module) {
    py::class_<Pool>(module, "Pool",
                     R"(n states of one model, stepped as one batch. Arrays are views over all of them.

>>> import tenon
>>> model = tenon.Scene({"bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}}]}).compile("impulse")
>>> pool = tenon.Pool(model, 4, threads=2)
>>> pool.velocities[:, 0, 0] = [0, 1, 2, 3]
>>> pool.step(10)
>>> pool.positions.shape
(4, 1, 3)
)")
        .def(py::init(&make), py::arg("model"), py::arg("n"), py::arg("threads") = 1)
        .def("step", &step, py::arg("n") = 1, py::arg("raise_failures") = true,
             "Advances every state by n steps. All are stepped before the first failure is raised.")
        .def("reset", &reset, py::arg("mask") = py::none(),
             "Back to the start: all states, or those of a bool mask.")
        .def_property_readonly(
            "model", [](const Pool& self) { return std::const_pointer_cast<Compiled>(self.compiled()); })
        .def_property_readonly("threads", &Pool::threads)
        .def_property_readonly("failures", &failure_texts,
                               "For each state why its last step failed, or None.")
        .def_property_readonly(
            "q",
            [](const Pool& self) { return pose_view(self.arrays(), self.arrays()->q.data(), counts(self)); },
            "(n, bodies, 3, 4) view.")
        .def_property_readonly(
            "rate",
            [](const Pool& self) {
                return pose_view(self.arrays(), self.arrays()->rate.data(), counts(self));
            },
            "(n, bodies, 3, 4) view.")
        .def_property_readonly(
            "positions",
            [](const Pool& self) {
                return column_view(self.arrays(), self.arrays()->q.data(), counts(self));
            },
            "(n, bodies, 3) view.")
        .def_property_readonly(
            "velocities",
            [](const Pool& self) {
                return column_view(self.arrays(), self.arrays()->rate.data(), counts(self));
            },
            "(n, bodies, 3) view.")
        .def_property_readonly(
            "targets",
            [](const Pool& self) {
                const auto actuators = static_cast<py::ssize_t>(self.compiled()->start_targets().size());
                return view(self.arrays(), self.arrays()->targets.data(), {count_of(self), actuators},
                            {actuators, 1});
            },
            "(n, actuators) view.")
        .def_property_readonly(
            "times",
            [](const Pool& self) {
                std::vector<double> times;
                for (int i = 0; i < self.size(); ++i) times.push_back(self.state(i)->state().time);
                return to_array(times);
            },
            "(n,) copy, s.")
        .def("__len__", &Pool::size)
        .def(
            "__getitem__",
            [](const Pool& self, int i) {
                const int at = i < 0 ? i + self.size() : i;
                if (at < 0 || at >= self.size())
                    throw py::index_error(fmt::format("no environment {} of {}", i, self.size()));
                return self.state(at);
            },
            py::arg("index"))
        .def("__reduce_ex__",
             [](const Pool&, int) -> py::object {
                 throw py::type_error("a tenon.Pool is not pickled: keep state.save() of its states");
             })
        .def("__repr__", [](const Pool& self) {
            return fmt::format("<tenon.Pool of {} states of '{}', {} threads>", self.size(),
                               self.compiled()->scene().name, self.threads());
        });
}

}  // namespace tenon::python

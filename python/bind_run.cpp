// tenon.Run: a run file as arrays.
#include <fmt/format.h>

#include "bindings.hpp"
#include "run/run_file.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::python {
namespace {

using run::Frame;
using run::RunReader;

// A copy in the order of NumPy's C arrays.
void put(const std::vector<Mat34>& poses, double* out) {
    for (const Mat34& pose : poses)
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 4; ++c) *out++ = pose(r, c);
}

Doubles poses(const std::vector<Mat34>& from) {
    Doubles out({static_cast<py::ssize_t>(from.size()), py::ssize_t{3}, py::ssize_t{4}});
    put(from, out.mutable_data());
    return out;
}

Doubles points(const std::vector<Vec3>& from) {
    Doubles out({static_cast<py::ssize_t>(from.size()), py::ssize_t{3}});
    for (std::size_t i = 0; i < from.size(); ++i)
        for (int k = 0; k < 3; ++k) out.mutable_at(static_cast<py::ssize_t>(i), k) = from[i][k];
    return out;
}

py::dict frame(const RunReader& self, long index) {
    const long count = self.frame_count(), at = index < 0 ? index + count : index;
    if (at < 0 || at >= count) throw py::index_error(fmt::format("no frame {} of {}", index, count));
    const Frame read = self.frame(at);
    py::dict out;
    out["step"] = read.step;
    out["time"] = read.time;
    out["q"] = poses(read.q);
    out["rate"] = poses(read.rate);
    out["contacts"] = contact_arrays(read.contacts);
    out["joint_force"] = points(read.joint_force);
    out["joint_torque"] = points(read.joint_torque);
    py::list x;
    for (const auto& body : read.x) x.append(points(body));
    out["elastic"] = x;
    return out;
}

Doubles all_poses(const RunReader& self) {
    const long count = self.frame_count();
    const auto bodies = static_cast<py::ssize_t>(self.bodies().size());
    Doubles out({static_cast<py::ssize_t>(count), bodies, py::ssize_t{3}, py::ssize_t{4}});
    for (long i = 0; i < count; ++i) put(self.frame(i).q, out.mutable_data() + i * bodies * 12);
    return out;
}

Doubles times(const RunReader& self) {
    std::vector<double> out;
    for (long i = 0; i < self.frame_count(); ++i) out.push_back(self.frame(i).time);
    return to_array(out);
}

py::dict steps(const RunReader& self) {
    const std::vector<run::StepRow> rows = self.steps();
    const auto series = [&](auto value) {
        Doubles out(static_cast<py::ssize_t>(rows.size()));
        for (std::size_t i = 0; i < rows.size(); ++i)
            out.mutable_at(static_cast<py::ssize_t>(i)) = value(rows[i]);
        return out;
    };
    py::dict out;
    out["time"] = series([](const auto& row) { return row.time; });
    out["wall_ms"] = series([](const auto& row) { return row.wall_ms; });
    out["iterations"] = series([](const auto& row) { return double(row.report.iterations); });
    out["contacts"] = series([](const auto& row) { return double(row.report.contacts); });
    out["joint_residual"] = series([](const auto& row) { return row.report.joint_residual; });
    out["kinetic"] = series([](const auto& row) { return row.energy.kinetic; });
    out["gravity"] = series([](const auto& row) { return row.energy.gravity; });
    out["elastic"] = series([](const auto& row) { return row.energy.elastic; });
    return out;
}

template <class Named>
py::list names(const std::vector<Named>& all) {
    py::list out;
    for (const Named& one : all) out.append(one.name);
    return out;
}

}  // namespace

void bind_run(py::module_& module) {
    py::class_<RunReader>(module, "Run",
                          "A run file (*.tenon), finished or still growing, as arrays (copies).")
        .def(py::init([](const py::object& file) {
                 return std::make_unique<RunReader>(py::str(file).cast<std::string>());
             }),
             py::arg("file"))
        .def_property_readonly("file", &RunReader::file)
        .def_property_readonly("bodies", [](const RunReader& self) { return names(self.bodies()); })
        .def_property_readonly("joints", [](const RunReader& self) { return names(self.joints()); })
        .def_property_readonly(
            "masses",
            [](const RunReader& self) {
                std::vector<double> out;
                for (const run::BodyInfo& body : self.bodies()) out.push_back(body.mass);
                return to_array(out);
            },
            "kg")
        .def_property_readonly("times", &times, "(frames,) s")
        .def_property_readonly("q", &all_poses, "(frames, bodies, 3, 4)")
        .def_property_readonly("steps", &steps,
                               "Series over steps: time, wall_ms, iterations, contacts, energies.")
        .def_property_readonly("report",
                               [](const RunReader& self) {
                                   const std::string text = self.meta("report");
                                   return text.empty() ? py::object(py::none()) : json_loads(text);
                               })
        .def_property_readonly("scene",
                               [](const RunReader& self) {
                                   return std::make_shared<EditableScene>(
                                       EditableScene{parse_scene(self.scene_json(), self.file(), ""), {}});
                               })
        .def("frame", &frame, py::arg("index"), "One frame as a dict of arrays; -1 is the last.")
        .def("__len__", &RunReader::frame_count)
        .def("__reduce_ex__",
             [](const RunReader&, int) -> py::object {
                 throw py::type_error("a tenon.Run is not pickled: open its file again");
             })
        .def("__repr__", [](const RunReader& self) {
            return fmt::format("<tenon.Run '{}': {} frames, {} bodies>", self.file(), self.frame_count(),
                               self.bodies().size());
        });
}

}  // namespace tenon::python

// tenon.Run: a run file as arrays and pictures; tenon.run: a scene from start to end into such a file.
#include <algorithm>

#include <fmt/format.h>

#include "bindings.hpp"
#include "interrupts.hpp"
#include "math/interrupt.hpp"
#include "render/render.hpp"
#include "render/sheet.hpp"
#include "run/run_file.hpp"
#include "run/run_loop.hpp"
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
        std::copy_n(from[i].data(), 3, out.mutable_data(static_cast<py::ssize_t>(i), 0));
    return out;
}

long checked_index(const RunReader& self, long index) {
    const long count = self.frame_count(), at = index < 0 ? index + count : index;
    if (at < 0 || at >= count) throw py::index_error(fmt::format("no frame {} of {}", index, count));
    return at;
}

py::dict frame(const RunReader& self, long index) {
    const Frame read = self.frame(checked_index(self, index));
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
    for (const run::FrameEntry& entry : self.frame_list()) out.push_back(entry.time);
    return to_array(out);
}

// Every series over steps that the run holds, by name.
py::dict steps(const RunReader& self) {
    const std::vector<run::StepRow> rows = self.steps();
    py::dict out;
    const auto series = [&](const std::string& name, auto value) {
        Doubles values(static_cast<py::ssize_t>(rows.size()));
        for (std::size_t i = 0; i < rows.size(); ++i)
            values.mutable_at(static_cast<py::ssize_t>(i)) = value(rows[i]);
        out[py::str(name)] = values;
    };
    series("step", [](const run::StepRow& row) { return static_cast<double>(row.step); });
    series("time", [](const run::StepRow& row) { return row.time; });
    series("wall_ms", [](const run::StepRow& row) { return row.wall_ms; });
    series("iterations", [](const run::StepRow& row) { return static_cast<double>(row.report.iterations); });
    series("contacts", [](const run::StepRow& row) { return static_cast<double>(row.report.contacts); });
    series("joint_residual", [](const run::StepRow& row) { return row.report.joint_residual; });
    series("kinetic", [](const run::StepRow& row) { return row.energy.kinetic; });
    series("gravity", [](const run::StepRow& row) { return row.energy.gravity; });
    series("elastic", [](const run::StepRow& row) { return row.energy.elastic; });
    std::vector<std::string> names;
    for (const run::StepRow& row : rows)
        for (const auto& [name, value] : row.report.metrics)
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    for (const std::string& name : names)
        series(name, [&](const run::StepRow& row) {
            for (const auto& [one, value] : row.report.metrics)
                if (one == name) return value;
            return std::numeric_limits<double>::quiet_NaN();  // not measured in this step
        });
    return out;
}

template <class Named>
py::list names(const std::vector<Named>& all) {
    py::list out;
    for (const Named& one : all) out.append(one.name);
    return out;
}

render::RenderOptions picture_options(int width, int height) {
    if (width < 16 || height < 16 || width > 8192 || height > 8192)
        throw py::value_error("pictures are 16 to 8192 pixels wide and high");
    render::RenderOptions options;
    options.width = width;
    options.height = height;
    return options;
}

// Some frames of a run as pictures, seen by one camera that suits all of it.
std::vector<render::Image> pictures(const RunReader& reader, const std::vector<long>& frames,
                                    const render::RenderOptions& options) {
    const render::Drawing drawing = render::model_of(reader);
    std::vector<Frame> seen;
    for (const long index : render::spread_frames(reader.frame_count(), 20))
        seen.push_back(reader.frame(index));
    const render::Stage stage = render::make_stage(drawing, seen, options, {});
    std::vector<render::Image> out;
    for (const long index : frames)
        out.push_back(render::render_frame(drawing, reader.frame(index), stage, options));
    return out;
}

py::bytes png(const render::Image& image) {
    const std::vector<std::uint8_t> bytes = render::encode_png(image);
    return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

py::bytes picture(const RunReader& self, long index, int width, int height) {
    return png(pictures(self, {checked_index(self, index)}, picture_options(width, height)).front());
}

py::bytes sheet(const RunReader& self, int columns, int rows, int width, int height) {
    if (columns < 1 || rows < 1 || columns * rows > 400)
        throw py::value_error("a sheet has 1 to 400 pictures");
    checked_index(self, 0);
    const std::vector<long> frames =
        render::spread_frames(self.frame_count(), static_cast<long>(columns) * rows);
    std::vector<std::string> captions;
    for (const long index : frames) captions.push_back(fmt::format("t = {:.3g} s", self.frame(index).time));
    return png(render::contact_sheet(pictures(self, frames, picture_options(width, height)), captions,
                                     std::min(columns, static_cast<int>(frames.size()))));
}

std::unique_ptr<RunReader> run_scene(const py::object& source, const py::object& file,
                                     const py::object& method, const py::object& dt,
                                     const py::object& seconds, double fps, int record_every) {
    Scene scene = with_method(to_scene(source)->scene, method, dt);
    if (!seconds.is_none()) {
        scene.seconds = seconds.cast<double>();
        if (!(scene.seconds > 0)) throw py::value_error("seconds must be positive");
    }
    if (!(fps > 0)) throw py::value_error("fps must be positive");
    // intersections are counted by `tenon verify`, which this module does not hold
    std::erase_if(scene.expect, [](const ExpectSpec& expect) { return expect.quantity == "intersections"; });
    run::RunOptions options;
    options.output = file_name(file);
    options.fps = fps;
    options.record_every = record_every;
    CtrlC ctrl_c;
    run::Report report;
    {
        const py::gil_scoped_release release;
        options.stop = ctrl_c.flag();
        report = run::run_scene(std::move(scene), options);
    }
    ctrl_c.raise_if_pressed();
    if (report.status == "failed") throw StepFailure(report.failure);
    return std::make_unique<RunReader>(options.output);
}

using Class = py::class_<RunReader>;

void bind_contents(Class& run) {
    run.def_property_readonly("file", &RunReader::file)
        .def_property_readonly(
            "bodies", [](const RunReader& self) { return names(self.bodies()); }, "Names of the bodies.")
        .def_property_readonly(
            "joints", [](const RunReader& self) { return names(self.joints()); }, "Names of the joints.")
        .def_property_readonly(
            "elastic", [](const RunReader& self) { return names(self.elastic()); },
            "Names of the elastic bodies.")
        .def_property_readonly(
            "masses",
            [](const RunReader& self) {
                std::vector<double> out;
                for (const run::BodyInfo& body : self.bodies()) out.push_back(body.mass);
                return to_array(out);
            },
            "(bodies,) kg.")
        .def_property_readonly("times", &times, "(frames,) s.")
        .def_property_readonly("q", &all_poses, "(frames, bodies, 3, 4): body frames to world.")
        .def_property_readonly(
            "positions",
            [](const RunReader& self) {
                return all_poses(self).attr("__getitem__")(py::make_tuple(py::ellipsis(), 3));
            },
            "(frames, bodies, 3): centres of mass, m.")
        .def_property_readonly(
            "steps", &steps,
            "Series over steps by name: time, wall_ms, iterations, contacts, energies, sensors and "
            "what else the method measured.")
        .def_property_readonly(
            "report",
            [](const RunReader& self) {
                const std::string text = self.meta("report");
                return text.empty() ? py::object(py::none()) : json_loads(text);
            },
            "The report as a dict, or None while the run goes on.")
        .def_property_readonly(
            "scene",
            [](const RunReader& self) {
                return std::make_shared<EditableScene>(
                    EditableScene{parse_scene(self.scene_json(), self.file(), ""), py::list()});
            },
            "The scene that was run.")
        .def("frame", &frame, py::arg("index"),
             "One frame as a dict: step, time, q, rate, contacts, joint_force, joint_torque, elastic; -1 is "
             "the last.")
        .def("__len__", &RunReader::frame_count);
}

}  // namespace

void bind_run(py::module_& module) {
    Class run(module, "Run", R"(A run file (*.tenon), finished or still growing, as arrays (copies).

>>> import tenon, tempfile, os
>>> with tempfile.TemporaryDirectory() as folder:
...     run = tenon.run("physical-pendulum", os.path.join(folder, "swing.tenon"), seconds=0.1)
...     run.q.shape[1:]
(2, 3, 4)
)");
    run.def(py::init([](const py::object& file) { return std::make_unique<RunReader>(file_name(file)); }),
            py::arg("file"))
        .def("picture", &picture, py::arg("index") = -1, py::arg("width") = 640, py::arg("height") = 360,
             "A frame as a PNG picture, in bytes.")
        .def("sheet", &sheet, py::arg("columns") = 3, py::arg("rows") = 2, py::arg("width") = 320,
             py::arg("height") = 200, "Several frames on one PNG picture, in bytes.")
        .def("__repr__", [](const RunReader& self) {
            return fmt::format("<tenon.Run '{}': {} frames, {} bodies>", self.file(), self.frame_count(),
                               self.bodies().size());
        });
    bind_contents(run);
    refuse_pickling(run, "a tenon.Run is not pickled: open its file again");
    module.def("run", &run_scene, py::arg("scene"), py::arg("file"), py::arg("method") = py::none(),
               py::arg("dt") = py::none(), py::arg("seconds") = py::none(), py::arg("fps") = 60.0,
               py::arg("record_every") = 0,
               "Simulates a scene from start to end into a run file, as `tenon run` does, and opens it. "
               "Ctrl-C stops it; "
               "the file keeps what was done.");
}

}  // namespace tenon::python

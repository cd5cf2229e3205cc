#include "run/series.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "math/rotation.hpp"
#include "run/csv.hpp"
#include "run/joint_drives.hpp"
#include "tenon/error.hpp"

namespace tenon::run {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

using StepValue = std::function<double(const StepRow&)>;
using DriveValue = std::function<double(const JointDrives&)>;
using FrameValue = std::function<double(const Frame&)>;

struct StepQuantity {
    const char* name;
    const char* unit;
    double (*value)(const StepRow&);
};

const StepQuantity step_quantities[] = {
    {"wall_ms", "ms", [](const StepRow& r) { return r.wall_ms; }},
    {"iterations", "", [](const StepRow& r) { return static_cast<double>(r.report.iterations); }},
    {"contacts", "", [](const StepRow& r) { return static_cast<double>(r.report.contacts); }},
    {"min_distance", "m",
     [](const StepRow& r) { return r.report.min_distance < 1e299 ? r.report.min_distance : no_value; }},
    {"joint_residual", "m", [](const StepRow& r) { return r.report.joint_residual; }},
    {"kinetic", "J", [](const StepRow& r) { return r.energy.kinetic; }},
    {"gravity", "J", [](const StepRow& r) { return r.energy.gravity; }},
    {"elastic", "J", [](const StepRow& r) { return r.energy.elastic; }},
    {"energy", "J", [](const StepRow& r) { return r.energy.total(); }},
    {"px", "kg m/s", [](const StepRow& r) { return r.linear_momentum.x(); }},
    {"py", "kg m/s", [](const StepRow& r) { return r.linear_momentum.y(); }},
    {"pz", "kg m/s", [](const StepRow& r) { return r.linear_momentum.z(); }},
    {"lx", "kg m2/s", [](const StepRow& r) { return r.angular_momentum.x(); }},
    {"ly", "kg m2/s", [](const StepRow& r) { return r.angular_momentum.y(); }},
    {"lz", "kg m2/s", [](const StepRow& r) { return r.angular_momentum.z(); }},
};

using Named = std::vector<std::pair<std::string, double>>;

double by_name(const Named& values, const std::string& name) {
    for (const auto& [key, value] : values)
        if (key == name) return value;
    return no_value;
}

int axis_of(char letter) {
    return letter - 'x';
}

// What of a thing that moves: position, velocity, spin.
struct Motion {
    Vec3 position = Vec3::Zero(), velocity = Vec3::Zero(), spin = Vec3::Zero();
};

struct MotionQuantity {
    const char* name;
    const char* unit;
    double (*value)(const Motion&);
};

const MotionQuantity motion_quantities[] = {
    {"x", "m", [](const Motion& m) { return m.position.x(); }},
    {"y", "m", [](const Motion& m) { return m.position.y(); }},
    {"z", "m", [](const Motion& m) { return m.position.z(); }},
    {"vx", "m/s", [](const Motion& m) { return m.velocity.x(); }},
    {"vy", "m/s", [](const Motion& m) { return m.velocity.y(); }},
    {"vz", "m/s", [](const Motion& m) { return m.velocity.z(); }},
    {"speed", "m/s", [](const Motion& m) { return m.velocity.norm(); }},
    {"wx", "rad/s", [](const Motion& m) { return m.spin.x(); }},
    {"wy", "rad/s", [](const Motion& m) { return m.spin.y(); }},
    {"wz", "rad/s", [](const Motion& m) { return m.spin.z(); }},
    {"spin", "rad/s", [](const Motion& m) { return m.spin.norm(); }},
};

// One wanted series: where its values come from.
struct Source {
    Series series;
    StepValue of_step;  // one of the three
    FrameValue of_frame;
    DriveValue of_drives;
    bool of_work = false;  // what a step cost: the start has none
};

class Resolver {
  public:
    explicit Resolver(const RunReader& run) : run_(run) {}

    Source resolve(const std::string& name) const {
        Source source;
        source.series.name = name;
        if (name == "contact_force") {
            source.series.unit = "N";
            source.of_frame = [](const Frame& frame) {
                double sum = 0;
                for (const Contact& contact : frame.contacts) sum += contact.force.norm();
                return sum;
            };
        } else if (name.starts_with("body.")) {
            resolve_body(name, source);
        } else if (name.starts_with("elastic.")) {
            resolve_elastic(name, source);
        } else if (name.starts_with("joint.")) {
            resolve_joint(name, source);
        } else {
            resolve_step(name, source);
        }
        return source;
    }

  private:
    [[noreturn]] void refuse(const std::string& name, const std::string& cure) const {
        throw InputError(run_.file(), name, "there is no such series in this run", cure);
    }

    // "body.left arm.vx" is the body "left arm" and what "vx"; names may hold dots.
    std::pair<std::string, std::string> split(const std::string& name) const {
        const std::size_t first = name.find('.'), last = name.rfind('.');
        if (first == last) refuse(name, "write body.NAME.x, joint.NAME.q0 ...");
        return {name.substr(first + 1, last - first - 1), name.substr(last + 1)};
    }

    template <class List>
    int index_of(const List& list, const std::string& wanted, const std::string& series) const {
        std::vector<std::string> known;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i].name == wanted) return static_cast<int>(i);
            if (known.size() < 10000) known.push_back(list[i].name);
        }
        refuse(series, "'" + wanted + "' is not in the scene; " + suggestion(wanted, known));
    }

    const MotionQuantity& motion(const std::string& what, const std::string& series, bool turns) const {
        for (const MotionQuantity& quantity : motion_quantities)
            if (what == quantity.name && (turns || quantity.unit[0] != 'r')) return quantity;
        refuse(series, turns ? "use x y z vx vy vz speed wx wy wz spin contact_fx contact_fy contact_fz"
                             : "use x y z vx vy vz speed");
    }

    void resolve_body(const std::string& name, Source& source) const {
        const auto [body_name, what] = split(name);
        const int body = index_of(run_.bodies(), body_name, name);
        if (what == "contact_fx" || what == "contact_fy" || what == "contact_fz") {
            source.series.unit = "N";
            source.of_frame = [body, axis = axis_of(what.back())](const Frame& frame) {
                double sum = 0;
                for (const Contact& contact : frame.contacts)
                    sum += ((contact.b == body) - (contact.a == body)) * contact.force[axis];
                return sum;
            };
            return;
        }
        const MotionQuantity& quantity = motion(what, name, true);
        source.series.unit = quantity.unit;
        source.of_frame = [body, value = quantity.value](const Frame& frame) {
            const Mat34 &q = frame.q[body], &rate = frame.rate[body];
            return value({q.col(3), rate.col(3), spin_of(q, rate)});
        };
    }

    void resolve_elastic(const std::string& name, Source& source) const {
        const auto [body_name, what] = split(name);
        const int body = index_of(run_.elastic(), body_name, name);
        const MotionQuantity& quantity = motion(what, name, false);
        source.series.unit = quantity.unit;
        source.of_frame = [body, value = quantity.value,
                           mass = run_.elastic()[body].vertex_mass](const Frame& frame) {
            Motion center;
            double total = 0;
            for (std::size_t i = 0; i < mass.size(); ++i) {
                center.position += mass[i] * frame.x[body][i];
                center.velocity += mass[i] * frame.v[body][i];
                total += mass[i];
            }
            center.position /= total;
            center.velocity /= total;
            return value(center);
        };
    }

    void resolve_joint(const std::string& name, Source& source) const {
        const auto [joint_name, what] = split(name);
        const int joint = index_of(run_.joints(), joint_name, name);
        if (what.size() == 2 && what[0] == 'q' && what[1] >= '0' && what[1] <= '2') {
            const int k = what[1] - '0';
            source.series.unit = "m or rad";
            source.of_frame = [joint, k](const Frame& frame) { return frame.joint_coordinate[joint][k]; };
        } else if (resolve_drive(joint, what, source)) {
            return;
        } else if (what == "force" || what == "torque") {
            const bool force = what == "force";
            source.series.unit = force ? "N" : "N m";
            source.of_frame = [joint, force](const Frame& frame) {
                return (force ? frame.joint_force : frame.joint_torque)[joint].norm();
            };
        } else if (what.size() == 2 && (what[0] == 'f' || what[0] == 't') && what[1] >= 'x' &&
                   what[1] <= 'z') {
            const bool force = what[0] == 'f';
            const int axis = axis_of(what[1]);
            source.series.unit = force ? "N" : "N m";
            source.of_frame = [joint, force, axis](const Frame& frame) {
                return (force ? frame.joint_force : frame.joint_torque)[joint][axis];
            };
        } else {
            refuse(name,
                   "use q0 v0 motor0 limit0 (and 1, 2 for the other coordinates) fx fy fz force tx ty tz "
                   "torque");
        }
    }

    // v0 motor0 limit0 ...: the speed of a coordinate, and what motors and limits put on it.
    static bool resolve_drive(int joint, const std::string& what, Source& source) {
        using List = std::vector<std::array<double, 3>>;
        struct Kind {
            const char* name;
            const char* unit;
            const List JointDrives::*list;
        };
        static const Kind kinds[] = {{"v", "m/s or rad/s", &JointDrives::rate},
                                     {"motor", "N or N m", &JointDrives::motor},
                                     {"limit", "N or N m", &JointDrives::limits}};
        const int k = what.empty() ? -1 : what.back() - '0';
        if (k < 0 || k > 2) return false;
        for (const Kind& kind : kinds)
            if (what.substr(0, what.size() - 1) == kind.name) {
                source.series.unit = kind.unit;
                source.of_drives = [joint, k, list = kind.list](const JointDrives& drives) {
                    const List& values = drives.*list;  // files of older programs hold none
                    return values.empty() ? no_value : values[static_cast<std::size_t>(joint)][k];
                };
                return true;
            }
        return false;
    }

    void resolve_step(const std::string& name, Source& source) const {
        for (const StepQuantity& quantity : step_quantities)
            if (name == quantity.name) {
                source.series.unit = quantity.unit;
                source.of_step = quantity.value;
                source.of_work = name == "wall_ms" || name == "iterations" || name == "contacts";
                return;
            }
        const std::vector<std::string> known = step_series_names(run_);
        bool found = false;
        for (const std::string& candidate : known) found = found || candidate == name;
        if (!found) refuse(name, "use a name it holds; " + suggestion(name, known));
        const bool phase = name.starts_with("phase."), sensor = name.starts_with("sensor.");
        source.series.unit = phase ? "ms" : "";
        source.of_work = sensor;
        const std::string key = sensor ? name : name.substr(name.find('.') + 1);
        source.of_step = [phase, key](const StepRow& row) {
            return by_name(phase ? row.report.phases : row.report.metrics, key);
        };
    }

    const RunReader& run_;
};

void append(Series& series, long step, double time, double value) {
    series.step.push_back(step);
    series.time.push_back(time);
    series.value.push_back(value);
}

}  // namespace

std::vector<std::string> step_series_names(const RunReader& run) {
    std::vector<std::string> names, extra;
    for (const StepQuantity& quantity : step_quantities) names.emplace_back(quantity.name);
    std::map<std::string, bool> seen;
    const auto note = [&](const char* prefix, const Named& values) {
        for (const auto& entry : values) {
            const std::string name = entry.first.starts_with("sensor.") ? entry.first : prefix + entry.first;
            if (!std::exchange(seen[name], true)) extra.push_back(name);
        }
    };
    for (const StepRow& row : run.steps()) {
        note("phase.", row.report.phases);
        note("figure.", row.report.metrics);
    }
    names.insert(names.end(), extra.begin(), extra.end());
    return names;
}

std::vector<Series> read_series(const RunReader& run, const std::vector<std::string>& names,
                                long frame_stride) {
    std::vector<Source> sources;
    const Resolver resolver(run);
    bool steps = false, frames = false, drives = false;
    for (const std::string& name : names) {
        sources.push_back(resolver.resolve(name));
        (sources.back().of_step ? steps : sources.back().of_drives ? drives : frames) = true;
    }
    if (steps)
        for (const StepRow& row : run.steps())
            for (Source& source : sources) {
                if (!source.of_step) continue;
                const double value = row.step == 0 && source.of_work ? no_value : source.of_step(row);
                append(source.series, row.step, row.time, value);
            }
    if (frames || drives) {
        std::optional<JointDriveReader> reader;
        if (drives) reader.emplace(run);
        const long count = run.frame_count();
        for (long i = 0; i < count; ++i) {
            if (i % frame_stride != 0 && i != count - 1) continue;
            const Frame frame = run.frame(i);
            const JointDrives along = drives ? reader->at(i) : JointDrives{};
            for (Source& source : sources)
                if (source.of_frame || source.of_drives)
                    append(source.series, frame.step, frame.time,
                           source.of_frame ? source.of_frame(frame) : source.of_drives(along));
        }
    }
    std::vector<Series> all;
    for (Source& source : sources) all.push_back(std::move(source.series));
    return all;
}

std::string series_csv(const RunReader& run, const std::vector<std::string>& names) {
    const std::vector<Series> all = read_series(run, names);
    std::map<long, std::pair<double, std::vector<double>>> rows;
    for (std::size_t k = 0; k < all.size(); ++k)
        for (std::size_t i = 0; i < all[k].step.size(); ++i) {
            auto& [time, values] = rows[all[k].step[i]];
            time = all[k].time[i];
            values.resize(all.size(), no_value);
            values[k] = all[k].value[i];
        }
    std::string text = "step,time [s]";
    for (const Series& series : all)
        text += "," + csv_cell(series.unit.empty() ? series.name : series.name + " [" + series.unit + "]");
    text += "\n";
    for (const auto& [step, row] : rows) {
        text += fmt::format("{},{}", step, row.first);
        for (const double value : row.second)
            text += std::isfinite(value) ? fmt::format(",{}", value) : std::string(",");
        text += "\n";
    }
    return text;
}

}  // namespace tenon::run

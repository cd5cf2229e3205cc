#include "serve/series_json.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "run/series.hpp"
#include "serve/model_json.hpp"
#include "tenon/error.hpp"

namespace tenon::serve {
namespace {

using nlohmann::json;

struct StepColumn {
    const char* name;
    const char* unit;
    const char* sql;
};

constexpr StepColumn step_columns[] = {
    {"wall_ms", "ms", "wall_ms"},
    {"iterations", "", "iterations"},
    {"contacts", "", "contacts"},
    {"min_distance", "m", "min_distance"},
    {"joint_residual", "m", "joint_residual"},
    {"kinetic", "J", "kinetic"},
    {"gravity", "J", "gravity"},
    {"elastic", "J", "elastic"},
    {"energy", "J", "kinetic + gravity + elastic"},
    {"px", "kg m/s", "px"},
    {"py", "kg m/s", "py"},
    {"pz", "kg m/s", "pz"},
    {"lx", "kg m²/s", "lx"},
    {"ly", "kg m²/s", "ly"},
    {"lz", "kg m²/s", "lz"},
};

bool of_frames(const std::string& name) {
    return name.starts_with("body.") || name.starts_with("joint.") || name.starts_with("elastic.") ||
           name == "contact_force";
}

// Keeps the smallest and the largest value of each of many equal spans of time.
class Thinned {
  public:
    Thinned(long rows) : span_(std::max(1L, 2 * rows / series_points)) {}

    void add(double time, double value) {
        if (!std::isfinite(value)) return;
        if (count_++ % span_ == 0) flush();
        if (!any_ || value < low_[1]) low_ = {time, value};
        if (!any_ || value > high_[1]) high_ = {time, value};
        any_ = true;
    }
    json finish(const std::string& name, const std::string& unit) {
        flush();
        return {{"name", name}, {"unit", unit}, {"time", time_}, {"value", value_}};
    }

  private:
    void flush() {
        if (!any_) return;
        const auto& first = low_[0] <= high_[0] ? low_ : high_;
        const auto& second = low_[0] <= high_[0] ? high_ : low_;
        push(first);
        if (second[0] != first[0]) push(second);
        any_ = false;
    }
    void push(const std::array<double, 2>& point) {
        time_.push_back(point[0]);
        value_.push_back(point[1]);
    }

    long span_, count_ = 0;
    bool any_ = false;
    std::array<double, 2> low_{}, high_{};
    std::vector<double> time_, value_;
};

long step_count(const OpenRun& run) {
    run::Statement row(run.database, "SELECT ifnull(max(step), 0) FROM steps");
    return row.next() ? row.integer(0) : 0;
}

// A column of the steps; the start has no work to show.
json column_series(const OpenRun& run, const StepColumn& column) {
    Thinned series(step_count(run));
    const bool work = column.sql == std::string("wall_ms") || column.sql == std::string("iterations") ||
                      column.sql == std::string("contacts");
    const std::string sql =
        std::string("SELECT time, ") + column.sql + " FROM steps WHERE step >= ? ORDER BY step";
    run::Statement row(run.database, sql.c_str());
    row.bind(0, work ? 1 : 0);
    while (row.next()) series.add(row.number(0), row.number(1));
    return series.finish(column.name, column.unit);
}

// A number inside the steps' JSON; of long runs only some steps are parsed.
json named_series(const OpenRun& run, const std::string& name) {
    const bool phase = name.starts_with("phase.");
    const std::string key = name.substr(name.find('.') + 1);
    const long rows = step_count(run), stride = std::max(1L, rows / 20000);
    Thinned series(rows / stride);
    run::Statement row(run.database, phase
                                         ? "SELECT time, phases FROM steps WHERE step % ? = 0 AND step > 0"
                                         : "SELECT time, figures FROM steps WHERE step % ? = 0 AND step > 0");
    row.bind(0, stride);
    bool found = false;
    while (row.next()) {
        const json values = json::parse(row.text(1), nullptr, false);
        if (!values.is_object() || !values.contains(key) || !values[key].is_number()) continue;
        found = true;
        series.add(row.number(0), values[key].get<double>());
    }
    if (!found)
        throw InputError(run.reader.file(), name, "there is no such series in this run",
                         "use a name that the model lists");
    return series.finish(name, phase ? "ms" : "");
}

json frame_series(const OpenRun& run, const std::string& name) {
    const long frames = run.reader.frame_count();
    const std::vector<run::Series> read =
        run::read_series(run.reader, {name}, std::max(1L, frames / series_frames));
    Thinned series(static_cast<long>(read.front().value.size()));
    for (std::size_t i = 0; i < read.front().value.size(); ++i)
        series.add(read.front().time[i], read.front().value[i]);
    return series.finish(name, read.front().unit);
}

json one_series(const OpenRun& run, const std::string& name) {
    if (of_frames(name)) return frame_series(run, name);
    for (const StepColumn& column : step_columns)
        if (name == column.name) return column_series(run, column);
    return named_series(run, name);
}

}  // namespace

std::string describe_series(const OpenRun& run, const std::vector<std::string>& names) {
    if (names.empty() || names.size() > static_cast<std::size_t>(max_series))
        throw InputError(run.reader.file(), "names",
                         "between 1 and " + std::to_string(max_series) + " series", "ask for fewer at once");
    const std::lock_guard lock(run.mutex);
    json list = json::array();
    try {
        for (const std::string& name : names) list.push_back(one_series(run, name));
    } catch (const run::SqliteError& error) {
        throw InputError(run.reader.file(), "steps", error.what(), "run the scene again");
    }
    return dump(list);
}

}  // namespace tenon::serve

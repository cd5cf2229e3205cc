#include "bench/history.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tenon/error.hpp"

namespace tenon::bench {
namespace {

constexpr const char* time_keys[] = {"ms_per_step", "ms"};

// What is better when it is smaller. `least`: below it a difference is rounding, or one of the number of events.
struct Quality {
    const char* name;
    double least;
    bool counted;  // a number of events, of which there may be no more
};
constexpr Quality qualities[] = {
    {"error", 1e-9, false},           {"joint_residual_max", 1e-9, false},
    {"max_penetration", 1e-9, false}, {"contact_residual", 1e-9, false},
    {"intersections", 0, true},       {"unconverged", 0, true},
    {"unconverged_steps", 0, true},
};

// What tells one case from another: its names and its size, not what was measured.
bool names_case(const std::string& key) {
    static constexpr std::array keys = {"bench", "case",  "engine", "method",  "setting", "solver", "variant",
                                        "scene", "young", "size",   "threads", "dt",      "h",      "h_ms"};
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool is_metric(const std::string& key) {
    return std::find(std::begin(time_keys), std::end(time_keys), key) != std::end(time_keys) ||
           std::any_of(std::begin(qualities), std::end(qualities),
                       [&](const Quality& quality) { return key == quality.name; });
}

std::string text_of(const Value& value) {
    if (const double* number = std::get_if<double>(&value)) return fmt::format("{:.9g}", *number);
    return std::get<std::string>(value);
}

std::string name_of(const Row& row) {
    std::map<std::string, std::string> names;
    for (const auto& [key, value] : row.fields())
        if (names_case(key)) names[key] = text_of(value);
    std::string all;
    for (const auto& [key, value] : names) all += key + "=" + value + ";";
    return all;
}

Row row_of(const nlohmann::json& object) {
    Row row;
    for (const auto& [key, value] : object.items()) {
        if (value.is_number())
            row.set(key, value.get<double>());
        else if (value.is_string())
            row.set(key, value.get<std::string>());
    }
    return row;
}

std::string short_name(const Row& row) {
    std::string text;
    for (const char* key : {"bench", "case", "variant", "setting", "solver", "size"})
        for (const auto& [name, value] : row.fields())
            if (name == key) text += (text.empty() ? "" : " ") + text_of(value);
    return text;
}

// Runnable processes per core, over the last minute.
double load_per_core() {
    double load = 0;
    if (getloadavg(&load, 1) != 1) return -1;
    return load / std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

Row history_header(const std::string& version, const Options& options, int threads) {
    Row row;
    row.set("tenon", version).set("sizes", std::string(options.quick ? "quick" : "full"));
    row.set("repeats", options.repeats).set("threads_asked", threads);
    row.set("cores", std::thread::hardware_concurrency());
#if defined(__x86_64__)
    row.set("machine",
            std::string(__builtin_cpu_supports("avx2") ? "x86-64 with AVX2" : "x86-64 without AVX2"));
#else
    row.set("machine", std::string("not x86-64"));
#endif
    const double load = load_per_core();
    row.set("load_per_core", load);
    row.set("busy", std::string(load < 0 ? "unknown" : load > 0.25 ? "yes" : "no"));
    return row;
}

History::History(const std::string& file) : file_(file) {
    std::ifstream in(file);
    if (!in)
        throw InputError(file, "--compare", "cannot be read",
                         "name a file that 'tenon bench --save FILE' wrote");
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        if (line.empty()) continue;
        const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
        if (!object.is_object())
            throw InputError(file, fmt::format("line {}", number), "is no JSON object",
                             "every line is one row of 'tenon bench --json'");
        if (object.contains("tenon")) {
            const std::string sizes = object.value("sizes", "full"), busy = object.value("busy", "unknown");
            quick_ = sizes == "quick";
            made_by_ = fmt::format("{}, {} sizes, {}", object.value("tenon", "?"), sizes,
                                   busy == "no"    ? "idle machine"
                                   : busy == "yes" ? "busy machine"
                                                   : "load not known");
            continue;
        }
        const Row row = row_of(object);
        Metrics& metrics = cases_[name_of(row)];
        for (const auto& [key, value] : row.fields())
            if (is_metric(key) && std::holds_alternative<double>(value))
                metrics[key].push_back(std::get<double>(value));
    }
    if (cases_.empty())
        throw InputError(file, "--compare", "has no rows",
                         "name a file that 'tenon bench --save FILE' wrote");
}

void History::check_sizes(bool quick) const {
    if (quick_ < 0 || (quick_ == 1) == quick) return;
    throw InputError(file_, "--compare",
                     quick_ ? "was measured with --quick, this run is not" : "was measured without --quick",
                     quick_ ? "give --quick too" : "leave --quick away");
}

Comparison History::compare(const Row& row, double tolerance) {
    ++compared_;
    Comparison out{row, false, {}};
    const auto found = cases_.find(name_of(row));
    if (found == cases_.end()) return out;
    out.known = true;
    ++known_;
    bool ours = true;
    std::map<std::string, double> now;
    for (const auto& [key, value] : row.fields()) {
        if (key == "engine") ours = text_of(value) == "tenon";
        if (is_metric(key) && std::holds_alternative<double>(value)) now[key] = std::get<double>(value);
    }
    const auto before = [&](const std::string& key) -> const std::vector<double>* {
        const auto values = found->second.find(key);
        return values == found->second.end() || !now.contains(key) ? nullptr : &values->second;
    };
    const auto judge = [&](const std::string& text) {
        if (ours) out.worse.push_back(short_name(row) + ": " + text);
    };
    for (const char* key : time_keys) {
        const auto* times = before(key);
        if (!times) continue;
        const double then = median(*times), ratio = now[key] / then;
        out.row.set("ms_before", then);
        if (!(then > 0)) continue;  // too short to be measured
        out.row.set("ratio", ratio);
        (ours ? ratios_ : peer_ratios_).push_back(ratio);
        if (!(ratio <= 1 + tolerance))
            judge(fmt::format("{:.4g} ms, {:.4g} before: {:.2f} times, {:.2f} tolerated", now[key], then,
                              ratio, 1 + tolerance));
    }
    for (const Quality& quality : qualities) {
        const auto* values = before(quality.name);
        if (!values) continue;
        const double then = median(*values), value = now[quality.name];
        out.row.set(std::string(quality.name) + "_before", then);
        const double most = quality.counted ? then : std::max(then * (1 + tolerance), quality.least);
        if (!(value <= most))  // not a number is worse too
            judge(fmt::format("{} {:.4g}, {:.4g} before, {:.4g} tolerated", quality.name, value, then, most));
    }
    return out;
}

std::string History::summary() const {
    std::string text = fmt::format("{} of {} rows are in {}", known_, compared_, file_);
    if (!made_by_.empty()) text += " (" + made_by_ + ")";
    if (!ratios_.empty()) text += fmt::format("; Tenon's times: median ratio {:.3f}", median(ratios_));
    if (!peer_ratios_.empty())
        text += fmt::format("; other engines': {:.3f}, which is what the machine's load has changed",
                            median(peer_ratios_));
    return text;
}

}  // namespace tenon::bench

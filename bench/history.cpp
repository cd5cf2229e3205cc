#include "bench/history.hpp"

#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tenon/error.hpp"

namespace tenon::bench {
namespace {

constexpr const char* time_key = "ms_per_step";

// What tells one case from another: its names and its size, not what was measured.
bool names_case(const std::string& key) {
    return key == "bench" || key == "case" || key == "engine" || key == "method" || key == "setting" ||
           key == "size" || key == "threads" || key == "dt" || key == "h";
}

std::string text_of(double value) {
    return fmt::format("{:.9g}", value);
}
std::string text_of(const std::string& value) {
    return value;
}

}  // namespace

History::History(const std::string& file) {
    std::ifstream in(file);
    if (!in)
        throw InputError(file, "--compare", "cannot be read", "name a file of `tenon bench --json` lines");
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        if (line.empty()) continue;
        const nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
        if (!row.is_object())
            throw InputError(file, fmt::format("line {}", number), "is no JSON object",
                             "every line is one row of `tenon bench --json`");
        const auto time = row.find(time_key);
        if (time == row.end() || !time->is_number()) continue;
        std::map<std::string, std::string> names;
        for (const auto& [key, value] : row.items())
            if (names_case(key))
                names[key] = value.is_number() ? text_of(value.get<double>()) : value.get<std::string>();
        std::string all;
        for (const auto& [key, value] : names) all += key + "=" + value + ";";
        times_[all].push_back(time->get<double>());
    }
}

Row History::beside(const Row& row) const {
    std::map<std::string, std::string> names;
    double now = -1.0;
    for (const auto& [key, value] : row.fields()) {
        if (names_case(key)) names[key] = std::visit([](const auto& v) { return text_of(v); }, value);
        if (key == time_key && std::holds_alternative<double>(value)) now = std::get<double>(value);
    }
    std::string all;
    for (const auto& [key, value] : names) all += key + "=" + value + ";";
    Row out = row;
    const auto found = times_.find(all);
    if (found == times_.end() || now < 0) return out;
    const double before = median(found->second);
    out.set("ms_before", before);
    if (before > 0) out.set("ratio", now / before);
    return out;
}

}  // namespace tenon::bench

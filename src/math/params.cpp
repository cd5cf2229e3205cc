#include "tenon/params.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "tenon/error.hpp"

namespace tenon {
namespace {

// Levenshtein distance, for "did you mean".
std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row[b.size()];
}

const char* type_name(const ParamValue& value) {
    static const char* const names[] = {"true or false", "a number", "a text", "a list of numbers"};
    return names[value.index()];
}

void check_bounds(const ParamInfo& info, double value, const Origin& origin, const std::string& path) {
    if (!std::isfinite(value))
        throw InputError(origin.file, path, "is not a finite number", "give a finite number");
    if (value < info.min || value > info.max) {
        std::string range = std::isinf(info.max)   ? fmt::format("at least {:g}", info.min)
                            : std::isinf(info.min) ? fmt::format("at most {:g}", info.max)
                                                   : fmt::format("from {:g} to {:g}", info.min, info.max);
        throw InputError(origin.file, path, fmt::format("{:g} is out of range", value), "must be " + range);
    }
}

ParamValue checked(const ParamInfo& info, const ParamValue& given, const Origin& origin) {
    const std::string path = origin.path.empty() ? info.name : origin.path + "." + info.name;
    if (given.index() != info.fallback.index())
        throw InputError(origin.file, path, fmt::format("is {}", type_name(given)),
                         fmt::format("must be {}", type_name(info.fallback)));
    if (const double* number = std::get_if<double>(&given)) check_bounds(info, *number, origin, path);
    if (const auto* list = std::get_if<std::vector<double>>(&given)) {
        const std::size_t wanted = std::get<std::vector<double>>(info.fallback).size();
        if (wanted > 0 && list->size() != wanted)
            throw InputError(origin.file, path, fmt::format("has {} entries", list->size()),
                             fmt::format("must have {}", wanted));
        for (double entry : *list) check_bounds(info, entry, origin, path);
    }
    if (const auto* text = std::get_if<std::string>(&given)) {
        const auto& choices = info.choices;
        if (!choices.empty() && std::find(choices.begin(), choices.end(), *text) == choices.end())
            throw InputError(origin.file, path, fmt::format("unknown value '{}'", *text),
                             fmt::format("must be one of: {}", fmt::join(choices, ", ")));
    }
    return given;
}

}  // namespace

const ParamValue& Params::at(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) throw std::logic_error("no parameter named " + name);
    return found->second;
}

double Params::number(const std::string& name) const {
    return std::get<double>(at(name));
}
int Params::integer(const std::string& name) const {
    return static_cast<int>(std::lround(number(name)));
}
bool Params::flag(const std::string& name) const {
    return std::get<bool>(at(name));
}
const std::string& Params::text(const std::string& name) const {
    return std::get<std::string>(at(name));
}
const std::vector<double>& Params::list(const std::string& name) const {
    return std::get<std::vector<double>>(at(name));
}
Vec3 Params::vec3(const std::string& name) const {
    const std::vector<double>& values = list(name);
    return {values.at(0), values.at(1), values.at(2)};
}
bool Params::was_given(const std::string& name) const {
    const auto found = given_.find(name);
    return found != given_.end() && found->second;
}
void Params::set(const std::string& name, ParamValue value, bool given) {
    values_[name] = std::move(value);
    given_[name] = given;
}

namespace {

// What other programs call it: too far from our word for the letters alone to tell.
std::string other_word_for(const std::string& wrong, const std::vector<std::string>& known) {
    static const std::map<std::string, std::string> words = {
        {"revolute", "hinge"},
        {"continuous", "hinge"},
        {"spherical", "ball"},
        {"slider", "prismatic"},
        {"slide", "prismatic"},
        {"weld", "fixed"},
        {"velocity", "linear_velocity"},
        {"speed", "linear_velocity"},
        {"omega", "angular_velocity"},
        {"spin", "angular_velocity"},
        {"cube", "box"},
        {"cuboid", "box"},
        {"brick", "box"},
        {"ball", "sphere"},
        {"orientation", "rotation"},
        {"quaternion", "rotation"},
        {"pos", "position"},
        {"origin", "position"},
        {"dimensions", "size"},
        {"duration", "seconds"},
        {"time", "seconds"},
        {"timestep", "dt"},
        {"time_step", "dt"},
        {"solver", "method"},
        {"objects", "bodies"},
        {"constraints", "joints"},
        {"anchor", "point"},
    };
    const auto found = words.find(wrong);
    const bool fits =
        found != words.end() && std::find(known.begin(), known.end(), found->second) != known.end();
    return fits ? found->second : std::string();
}

}  // namespace

std::string suggestion(const std::string& wrong, const std::vector<std::string>& known) {
    if (const std::string word = other_word_for(wrong, known); !word.empty())
        return fmt::format("did you mean '{}'?", word);
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(2, wrong.size() / 3) + 1;
    for (const std::string& name : known) {
        const std::size_t distance = edit_distance(wrong, name);
        if (distance < best_distance && distance < wrong.size()) {
            best_distance = distance;
            best = name;
        }
    }
    if (!best.empty()) return fmt::format("did you mean '{}'?", best);
    return fmt::format("known: {}", fmt::join(known, ", "));
}

Params resolve_params(const std::vector<ParamInfo>& known, const std::map<std::string, ParamValue>& given,
                      const Origin& origin) {
    std::vector<std::string> names;
    for (const ParamInfo& info : known) names.push_back(info.name);
    for (const auto& [name, value] : given)
        if (std::find(names.begin(), names.end(), name) == names.end())
            throw InputError(origin.file, origin.path.empty() ? name : origin.path + "." + name,
                             fmt::format("unknown key '{}'", name), suggestion(name, names));
    Params params;
    for (const ParamInfo& info : known) {
        const auto found = given.find(info.name);
        if (found == given.end())
            params.set(info.name, info.fallback, false);
        else
            params.set(info.name, checked(info, found->second, origin), true);
    }
    return params;
}

}  // namespace tenon

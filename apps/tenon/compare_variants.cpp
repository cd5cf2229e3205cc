#include "apps/tenon/compare_variants.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "tenon/error.hpp"
#include "tenon/method.hpp"

namespace tenon::app {
namespace {

constexpr std::size_t most_variants = 64;  // each is a run

struct Choice {
    std::string key;
    std::vector<std::string> values;
};

// Commas inside brackets belong to a value: gravity=[0,-9.81,0],[0,0,0].
std::vector<std::string> split_values(const std::string& text) {
    std::vector<std::string> values(1);
    int depth = 0;
    for (const char c : text) {
        if (c == '[') ++depth;
        if (c == ']') --depth;
        if (c == ',' && depth == 0)
            values.emplace_back();
        else
            values.back() += c;
    }
    return values;
}

double number_of(const std::string& key, const std::string& text) {
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || !(value > 0))
        throw InputError("", "--vary " + key, fmt::format("'{}' is no positive number", text),
                         fmt::format("write for example --vary {}=0.02,0.01", key));
    return value;
}

Choice parse_choice(const std::string& entry) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == entry.size())
        throw InputError("", "--vary " + entry, "is no KEY=VALUE,VALUE",
                         "write for example --vary dt=0.02,0.01,0.005");
    Choice choice{entry.substr(0, equals), split_values(entry.substr(equals + 1))};
    for (std::size_t i = 0; i < choice.values.size(); ++i) {
        if (choice.values[i].empty())
            throw InputError("", "--vary " + entry, "holds an empty value", "give one between all commas");
        if (std::find(choice.values.begin(), choice.values.begin() + static_cast<long>(i),
                      choice.values[i]) != choice.values.begin() + static_cast<long>(i))
            throw InputError("", "--vary " + entry, fmt::format("holds '{}' twice", choice.values[i]),
                             "give each value once");
    }
    return choice;
}

std::vector<Choice> choices_of(const std::vector<std::string>& methods,
                               const std::vector<std::string>& vary) {
    std::vector<Choice> choices;
    if (!methods.empty()) choices.push_back({"method", methods});
    for (const std::string& entry : vary) {
        Choice choice = parse_choice(entry);
        for (const Choice& other : choices)
            if (other.key == choice.key)
                throw InputError("", "--vary " + entry, fmt::format("'{}' is varied twice", choice.key),
                                 choice.key == "method" ? "use --vary method=... or --methods"
                                                        : "give all its values at once");
        choices.push_back(std::move(choice));
    }
    const auto method = std::find_if(choices.begin(), choices.end(),
                                     [](const Choice& choice) { return choice.key == "method"; });
    if (method != choices.end())
        for (const std::string& name : method->values)
            find_method(name, {"", methods.empty() ? "--vary method" : "--methods"});
    return choices;
}

Variant with(Variant variant, const std::string& key, const std::string& value) {
    const auto join = [](std::string& text, const std::string& more) {
        text += (text.empty() ? "" : ", ") + more;
    };
    if (key == "method") {
        variant.request.method = value;
        join(variant.label, value);
        join(variant.group, value);
        return variant;
    }
    join(variant.label, fmt::format("{} {}", key, value));
    if (key == "dt") {
        variant.request.dt = number_of(key, value);
        return variant;
    }
    join(variant.group, fmt::format("{} {}", key, value));
    if (key == "seconds")
        variant.request.seconds = number_of(key, value);
    else
        variant.request.set.push_back(key + "=" + value);
    return variant;
}

}  // namespace

std::vector<Variant> variants_of(const SceneRequest& scene, const std::vector<std::string>& methods,
                                 const std::vector<std::string>& vary) {
    std::vector<Variant> variants{{scene, "", ""}};
    for (const Choice& choice : choices_of(methods, vary)) {
        std::vector<Variant> next;
        for (const Variant& variant : variants)
            for (const std::string& value : choice.values) next.push_back(with(variant, choice.key, value));
        if (next.size() > most_variants)
            throw InputError(
                "", "--vary", fmt::format("asks for {} runs or more", next.size()),
                fmt::format("compare at most {} at once; 'tenon sweep' does more", most_variants));
        variants = std::move(next);
    }
    return variants;
}

}  // namespace tenon::app

// Named parameters with defaults, bounds and help: one mechanism for shapes, built-in scenes and methods.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "tenon/types.hpp"

namespace tenon {

using ParamValue = std::variant<bool, double, std::string, std::vector<double>>;

// What a parameter is: its type is that of its default value.
struct ParamInfo {
    std::string name;
    ParamValue fallback;
    std::string help;
    double min = -std::numeric_limits<double>::infinity();  // bounds of a number, or of each entry of a list
    double max = std::numeric_limits<double>::infinity();
    std::vector<std::string> choices = {};  // allowed texts, when not empty
    std::string unit = {};                  // "m", "s", ...: lengths are scaled by the scene's units
};

// A complete set of values: every known parameter has one.
class Params {
  public:
    Params() = default;

    double number(const std::string& name) const;
    int integer(const std::string& name) const;
    bool flag(const std::string& name) const;
    const std::string& text(const std::string& name) const;
    const std::vector<double>& list(const std::string& name) const;
    Vec3 vec3(const std::string& name) const;

    bool has(const std::string& name) const { return values_.count(name) > 0; }
    bool was_given(const std::string& name) const;  // by the user, rather than by default
    void set(const std::string& name, ParamValue value, bool given = true);
    const std::map<std::string, ParamValue>& all() const { return values_; }
    friend bool operator==(const Params& a, const Params& b) { return a.values_ == b.values_; }

  private:
    const ParamValue& at(const std::string& name) const;
    std::map<std::string, ParamValue> values_;
    std::map<std::string, bool> given_;
};

// Where values came from, for error texts: the file, and the path of the object that holds them.
struct Origin {
    std::string file;
    std::string path;
};

// Checks names, types and bounds; fills in defaults. Throws InputError naming the parameter.
Params resolve_params(const std::vector<ParamInfo>& known, const std::map<std::string, ParamValue>& given,
                      const Origin& origin);

// "; did you mean 'radius'?" or, when nothing is near, "; known: a, b, c".
std::string suggestion(const std::string& wrong, const std::vector<std::string>& known);

}  // namespace tenon

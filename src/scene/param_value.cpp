#include "scene/param_value.hpp"

#include <fmt/format.h>

namespace tenon::scene {

ParamValue to_param(const Context& context, const Where& where, const Value& value,
                    const std::vector<ParamInfo>& known, const std::string& name) {
    double unit = 1.0;
    for (const ParamInfo& info : known)
        if (info.name == name && (info.unit == "m" || info.unit == "m/s")) unit = context.length;
    if (value.is_flag()) return value.flag();
    if (value.is_number()) return value.number() * unit;
    if (value.is_text()) return value.text();
    if (value.is_numbers()) {
        Numbers scaled = value.numbers();
        for (double& number : scaled) number *= unit;
        return scaled;
    }
    context.fail(where, fmt::format("is {}", value.type_name()),
                 "must be true or false, a number, a text or a list of numbers");
}

}  // namespace tenon::scene

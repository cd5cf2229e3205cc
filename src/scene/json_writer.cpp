#include "scene/json_writer.hpp"

#include <cmath>

#include <fmt/format.h>

#include "tenon/error.hpp"

namespace tenon::scene {

std::string json_number(double value) {
    if (!std::isfinite(value))
        throw InputError("", "", "the scene holds a number that is not finite", "it cannot be written down");
    if (value == 0.0 && std::signbit(value)) return "-0.0";  // "-0" would be read as a whole number
    return fmt::format("{}", value);
}

std::string json_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            (out += '\\') += c;
        else if (static_cast<unsigned char>(c) < 0x20)
            out += fmt::format("\\u{:04x}", static_cast<int>(c));
        else
            out += c;
    }
    return out += '"';
}

std::string json_numbers(const std::vector<double>& numbers) {
    std::string out = "[";
    for (const double number : numbers) (out += out.size() > 1 ? ", " : "") += json_number(number);
    return out += ']';
}

std::string json_vec3(const Vec3& v) {
    return json_numbers({v.x(), v.y(), v.z()});
}
std::string json_quat(const Quat& q) {
    return json_numbers({q.w(), q.x(), q.y(), q.z()});
}

std::string json_param(const ParamValue& value) {
    if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const double* number = std::get_if<double>(&value)) return json_number(*number);
    if (const std::string* text = std::get_if<std::string>(&value)) return json_text(*text);
    return json_numbers(std::get<std::vector<double>>(value));
}

void JsonObject::add(std::string_view key, std::string_view value) {
    if (text_.size() > 1) text_ += ", ";
    text_ += json_text(key);
    text_ += ": ";
    text_ += value;
}

std::string json_list(const std::vector<std::string>& entries, bool lines) {
    std::string out = "[";
    for (const std::string& entry : entries) {
        if (out.size() > 1) out += lines ? "," : ", ";
        if (lines) out += "\n  ";
        out += entry;
    }
    return out += lines && !entries.empty() ? "\n]" : "]";
}

}  // namespace tenon::scene

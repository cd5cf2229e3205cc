// JSON text, written piece by piece: doubles read back bit for bit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenon/params.hpp"
#include "tenon/types.hpp"

namespace tenon::scene {

std::string json_number(double value);
std::string json_text(std::string_view text);
std::string json_vec3(const Vec3& v);
std::string json_quat(const Quat& q);  // [w,x,y,z]
std::string json_numbers(const std::vector<double>& numbers);
std::string json_param(const ParamValue& value);

// An object on one line: add members, then take the text.
class JsonObject {
  public:
    // `value` is JSON already.
    void add(std::string_view key, std::string_view value);
    void text(std::string_view key, std::string_view value) { add(key, json_text(value)); }
    void number(std::string_view key, double value) { add(key, json_number(value)); }
    void flag(std::string_view key, bool value) { add(key, value ? "true" : "false"); }
    void vec3(std::string_view key, const Vec3& value) { add(key, json_vec3(value)); }

    bool empty() const { return text_.size() == 1; }
    std::string take() { return std::move(text_ += '}'); }

  private:
    std::string text_ = "{";
};

// "[a, b]" from entries that are JSON already, one a line when `lines`.
std::string json_list(const std::vector<std::string>& entries, bool lines = false);

}  // namespace tenon::scene

// Checks a JSON tree against the tables of keys.hpp, and turns its lengths into metres.
#pragma once

#include <string>
#include <string_view>

#include "scene/keys.hpp"
#include "scene/value.hpp"

namespace tenon::scene {

// A place inside a file, built on the stack while walking and written out only for an error.
struct Where {
    const Where* parent = nullptr;
    std::string_view key = {};
    long index = -1;

    Where operator/(std::string_view child) const { return {this, child, -1}; }
    Where operator/(long child) const { return {this, {}, child}; }
    std::string text() const;  // "bodies[3].shape.radius"
};

struct Context {
    std::string file;
    double length = 1.0;  // metres per unit of length in the file

    [[noreturn]] void fail(const Where& where, std::string problem, std::string cure = {}) const;
};

// Unknown keys, types, bounds, counts. Lengths and velocities are scaled in place.
void check_object(const Context& context, const Where& where, Value& value, const ObjectInfo& info);
void check_value(const Context& context, const Where& where, Value& value, const KeyInfo& info);

// Keys that start with # are comments anywhere.
inline bool is_comment(std::string_view key) {
    return key.starts_with('#');
}

}  // namespace tenon::scene

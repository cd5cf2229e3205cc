// One entry of a sweep's tables: nothing, a number, or a text.
#pragma once

#include <string>
#include <variant>

namespace tenon::sweep {

using Cell = std::variant<std::monostate, double, std::string>;

inline bool is_number(const Cell& cell) {
    return std::holds_alternative<double>(cell);
}

std::string plain_text(const Cell& cell);  // "" for nothing; numbers so that they read back the same
std::string csv_text(const Cell& cell);    // quoted where RFC 4180 asks for it

}  // namespace tenon::sweep

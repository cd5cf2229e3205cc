#include "sweep/cell.hpp"

#include <fmt/format.h>

namespace tenon::sweep {

std::string plain_text(const Cell& cell) {
    if (const double* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
    if (const std::string* text = std::get_if<std::string>(&cell)) return *text;
    return {};
}

std::string csv_text(const Cell& cell) {
    const std::string text = plain_text(cell);
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

}  // namespace tenon::sweep

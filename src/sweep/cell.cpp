#include "sweep/cell.hpp"

#include <fmt/format.h>

#include "run/csv.hpp"

namespace tenon::sweep {

std::string plain_text(const Cell& cell) {
    if (const double* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
    if (const std::string* text = std::get_if<std::string>(&cell)) return *text;
    return {};
}

std::string csv_text(const Cell& cell) {
    return run::csv_cell(plain_text(cell));
}

}  // namespace tenon::sweep

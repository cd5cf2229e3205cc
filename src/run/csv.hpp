// Text in a table of comma-separated values.
#pragma once

#include <string>

namespace tenon::run {

// Quoted where it holds a comma, a quote or an end of line, as RFC 4180 wants it; control characters are written out
// (\n, \x1b, \u009b), because tables are printed too.
std::string csv_cell(const std::string& text);

}  // namespace tenon::run

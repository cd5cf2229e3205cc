// A run's report in words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "run/run_loop.hpp"

namespace tenon::app {

bool passed(const run::Report& report);  // done, and every expectation held
std::string summary(const run::Report& report);
std::vector<std::pair<std::string, std::string>> report_rows(const run::Report& report);  // for tables
run::Report report_from_json(const std::string& text);  // what `Report::to_json` wrote

}  // namespace tenon::app

// Pictures of a sweep's results: response curves over one parameter, heat maps over two.
#pragma once

#include <string>
#include <vector>

#include "sweep/table.hpp"

namespace tenon::sweep {

struct Pictures {
    std::vector<std::string> curves, maps;  // SVG
    long left_out = 0;                      // beyond what a page should hold
};

// `results` names those to draw; empty: all that are numbers. Throws InputError for names that are none.
Pictures draw(const Sweep& sweep, const Table& table, const std::vector<std::string>& results);

}  // namespace tenon::sweep

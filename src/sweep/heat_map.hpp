// A result over two parameters, as coloured cells in SVG.
#pragma once

#include <string>
#include <vector>

namespace tenon::sweep {

struct HeatMap {
    std::string title, note, x_label, y_label;
    std::vector<std::string> x, y;           // names of columns and rows, from left and from below
    std::vector<std::vector<double>> value;  // [row][column]; NaN where there is none
};

std::string heat_map_svg(const HeatMap& map, double width = 560, double height = 340);

}  // namespace tenon::sweep

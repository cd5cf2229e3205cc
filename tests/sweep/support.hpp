// A thrown box whose flight has a closed form, and plans over it.
#pragma once

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "app/program.hpp"

namespace tenon::test {

inline const char* const thrown = R"({
  "tenon": 1, "name": "thrown", "gravity": [0, -10, 0], "seconds": 0.1,
  "method": {"type": "affine", "dt": 0.01},
  "bodies": [{"name": "box", "shape": {"type": "box", "size": [0.4, 0.2, 0.3]}, "position": [0, 1, 0],
              "linear_velocity": [1, 2, 0]}]
})";

inline void write(const std::string& file, const std::string& text) {
    std::ofstream(file) << text;
}

using CsvRow = std::map<std::string, std::string>;

inline std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            cells.emplace_back();
        else
            cells.back() += c;
    }
    return cells;
}

inline std::vector<CsvRow> read_csv(const std::string& file) {
    std::istringstream in(slurp(file));
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> head = split(line);
    std::vector<CsvRow> rows;
    while (std::getline(in, line)) {
        const std::vector<std::string> cells = split(line);
        CsvRow& row = rows.emplace_back();
        for (std::size_t i = 0; i < head.size(); ++i) row[head[i]] = i < cells.size() ? cells[i] : "";
    }
    return rows;
}

// The table without what the clock says.
inline std::string without_times(const std::string& file) {
    std::string text;
    for (const CsvRow& row : read_csv(file)) {
        for (const auto& [name, cell] : row)
            if (name != "wall_seconds") text += name + "=" + cell + ";";
        text += "\n";
    }
    return text;
}

}  // namespace tenon::test

// An unstructured grid as a VTK XML file (.vtu), its numbers in base64.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tenon/types.hpp"

namespace tenon::exporting {

enum class Cell : std::uint8_t { vertex = 1, line = 3, triangle = 5, tetrahedron = 10 };

struct VtuArray {
    std::string name;
    int components = 1;
    std::variant<std::vector<double>, std::vector<std::int32_t>> values;
};

struct VtuGrid {
    std::vector<double> points;  // x y z x y z ...
    std::vector<std::int32_t> connectivity, offsets;
    std::vector<std::uint8_t> types;
    std::vector<VtuArray> point_data, cell_data;

    std::int32_t add_point(const Vec3& p);  // its number
    void add_cell(Cell type, std::initializer_list<std::int32_t> corners);
    std::size_t point_count() const { return points.size() / 3; }
};

std::string vtu_text(const VtuGrid& grid);

}  // namespace tenon::exporting

#include "export/vtu.hpp"

#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace tenon::exporting {
namespace {

static_assert(std::endian::native == std::endian::little, "the files say byte_order=LittleEndian");

void append_base64(std::string& out, const std::string& bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k)
            group = (group << 8) | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k) out += k <= have ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
}

template <class T>
void append_array(std::string& out, const char* type, const std::string& name, int components,
                  const std::vector<T>& values) {
    const std::uint64_t size = values.size() * sizeof(T);
    std::string bytes(sizeof size + size, '\0');
    std::memcpy(bytes.data(), &size, sizeof size);
    if (size > 0) std::memcpy(bytes.data() + sizeof size, values.data(), size);
    const std::string width = components > 1 ? fmt::format(" NumberOfComponents=\"{}\"", components) : "";
    out += fmt::format("<DataArray type=\"{}\" Name=\"{}\"{} format=\"binary\">\n", type, name, width);
    append_base64(out, bytes);
    out += "\n</DataArray>\n";
}

void append_data(std::string& out, const char* tag, const std::vector<VtuArray>& arrays) {
    out += fmt::format("<{}>\n", tag);
    for (const VtuArray& array : arrays) {
        if (const auto* numbers = std::get_if<std::vector<double>>(&array.values))
            append_array(out, "Float64", array.name, array.components, *numbers);
        else
            append_array(out, "Int32", array.name, array.components,
                         std::get<std::vector<std::int32_t>>(array.values));
    }
    out += fmt::format("</{}>\n", tag);
}

}  // namespace

std::int32_t VtuGrid::add_point(const Vec3& p) {
    points.insert(points.end(), p.data(), p.data() + 3);
    return static_cast<std::int32_t>(point_count() - 1);
}

void VtuGrid::add_cell(Cell type, std::initializer_list<std::int32_t> corners) {
    connectivity.insert(connectivity.end(), corners);
    offsets.push_back(static_cast<std::int32_t>(connectivity.size()));
    types.push_back(static_cast<std::uint8_t>(type));
}

std::string vtu_text(const VtuGrid& grid) {
    std::string out =
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
        "byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\">\n<UnstructuredGrid>\n";
    out += fmt::format("<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", grid.point_count(),
                       grid.types.size());
    out += "<Points>\n";
    append_array(out, "Float64", "Points", 3, grid.points);
    out += "</Points>\n<Cells>\n";
    append_array(out, "Int32", "connectivity", 1, grid.connectivity);
    append_array(out, "Int32", "offsets", 1, grid.offsets);
    append_array(out, "UInt8", "types", 1, grid.types);
    out += "</Cells>\n";
    append_data(out, "PointData", grid.point_data);
    append_data(out, "CellData", grid.cell_data);
    out += "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
    return out;
}

}  // namespace tenon::exporting

// STL, as text and binary. Its triangles share no vertices, so identical ones become one.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "geometry/mesh_io_text.hpp"

namespace tenon::geometry {
namespace {

// Open addressing over the vertices found so far; no allocation per vertex.
class VertexTable {
  public:
    VertexTable(std::vector<Vec3>& vertices, std::size_t expected) : vertices_(vertices) {
        std::size_t size = 64;
        while (size < 2 * expected) size *= 2;
        slots_.assign(size, -1);
    }

    int find_or_add(const Vec3& v) {
        if (2 * vertices_.size() >= slots_.size()) grow();
        std::size_t slot = hash(v) & (slots_.size() - 1);
        while (slots_[slot] >= 0) {
            if (vertices_[slots_[slot]] == v) return slots_[slot];
            slot = (slot + 1) & (slots_.size() - 1);
        }
        slots_[slot] = static_cast<int>(vertices_.size());
        vertices_.push_back(v);
        return slots_[slot];
    }

  private:
    static std::size_t hash(const Vec3& v) {
        std::uint64_t h = 0x2545f4914f6cdd1dULL;
        for (int k = 0; k < 3; ++k) {
            const double value = v[k] + 0.0;  // -0 and 0 are the same place
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            h = (h ^ bits) * 0xff51afd7ed558ccdULL;
            h ^= h >> 32;
        }
        return h;
    }
    void grow() {
        slots_.assign(2 * slots_.size(), -1);
        for (std::size_t i = 0; i < vertices_.size(); ++i) {
            std::size_t slot = hash(vertices_[i]) & (slots_.size() - 1);
            while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = static_cast<int>(i);
        }
    }

    std::vector<Vec3>& vertices_;
    std::vector<int> slots_;
};

float little_endian_float(const char* at) {
    std::uint32_t bits = 0;
    for (int k = 3; k >= 0; --k) bits = (bits << 8) | static_cast<unsigned char>(at[k]);
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

std::uint32_t little_endian_count(const char* at) {
    std::uint32_t bits = 0;
    for (int k = 3; k >= 0; --k) bits = (bits << 8) | static_cast<unsigned char>(at[k]);
    return bits;
}

}  // namespace

Mesh read_stl_text(const std::string& file, std::string_view text) {
    Mesh mesh;
    VertexTable table(mesh.vertices, text.size() / 500);
    TextCursor cursor(file, text);
    Triangle corner{};
    int corners = -1;  // of the open facet; -1: none is open
    bool in_solid = false;
    for (std::string_view word = cursor.any_word(); !word.empty(); word = cursor.any_word()) {
        if (word == "vertex") {
            const double x = cursor.number("x"), y = cursor.number("y"), z = cursor.number("z");
            if (corners < 0) cursor.fail("a vertex outside a facet", "the file may be damaged");
            if (corners == 3) cursor.fail("a facet with more than three vertices", "export triangles");
            corner[corners++] = table.find_or_add(Vec3(x, y, z));
        } else if (word == "facet") {
            if (corners >= 0) cursor.fail("a facet inside a facet", "the file may be damaged");
            corners = 0;
            cursor.rest_of_line();
        } else if (word == "endfacet") {
            if (corners != 3) cursor.fail("a facet without three vertices", "the file may be damaged");
            mesh.triangles.push_back(corner);
            corners = -1;
        } else if (word == "solid" || word == "endsolid") {
            in_solid = word == "solid";
            cursor.rest_of_line();
        } else if (word == "outer" || word == "loop" || word == "endloop") {
            continue;
        } else {
            cursor.fail("neither facet, vertex nor endsolid", "the file may be damaged");
        }
    }
    if (in_solid || corners >= 0) cursor.fail("the file ends before 'endsolid'", "the file may be cut off");
    return mesh;
}

Mesh read_stl_binary(const std::string& file, std::string_view text) {
    if (text.size() < 84)
        fail_at_byte(file, text.size(), "ends within the 84 bytes of a binary STL's head",
                     "the file may be cut off");
    const std::uint64_t count = little_endian_count(text.data() + 80), needed = 84 + 50 * count;
    if (needed > text.size())
        fail_at_byte(file, 80,
                     fmt::format("announces {} triangles, which take {} bytes, but the file has {}", count,
                                 needed, text.size()),
                     "the file may be cut off, or be no STL");
    if (3 * count > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
        fail_at_byte(file, 80, fmt::format("{} triangles are too many", count), "split the mesh");
    Mesh mesh;
    mesh.triangles.reserve(count);
    VertexTable table(mesh.vertices, count / 2);
    for (std::uint64_t i = 0; i < count; ++i) {
        Triangle corner{};
        for (int k = 0; k < 3; ++k) {
            const std::size_t byte = 84 + 50 * i + 12 * (k + 1);
            const char* at = text.data() + byte;
            const Vec3 v(little_endian_float(at), little_endian_float(at + 4), little_endian_float(at + 8));
            if (!v.allFinite())
                fail_at_byte(file, byte, fmt::format("triangle {} has a vertex that is not finite", i),
                             "export the mesh again");
            corner[k] = table.find_or_add(v);
        }
        mesh.triangles.push_back(corner);
    }
    return mesh;
}

}  // namespace tenon::geometry

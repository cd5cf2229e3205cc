// OFF as text, also with normals, colours or texture coordinates, which are passed over.
#include <limits>

#include <fmt/format.h>

#include "geometry/mesh_io_text.hpp"

namespace tenon::geometry {
namespace {

std::size_t announced(TextCursor& cursor, const char* what, std::size_t bytes_each) {
    const long long count = cursor.integer(what);
    if (count < 0) cursor.fail(fmt::format("a negative {}", what), "write a count of zero or more");
    const std::size_t most = (cursor.bytes_left() + 1) / bytes_each;
    if (static_cast<std::size_t>(count) > most || count > std::numeric_limits<int>::max())
        cursor.fail(fmt::format("announces {} for {}, but the rest of the file can hold {} at most", count,
                                what, most),
                    "the file may be cut off");
    return static_cast<std::size_t>(count);
}

void need_line(TextCursor& cursor, const char* what, std::size_t index, std::size_t count) {
    if (!cursor.next_line())
        cursor.fail(fmt::format("the file ends before {} {} of {}", what, index + 1, count),
                    "the file may be cut off");
}

}  // namespace

Mesh read_off(const std::string& file, std::string_view text) {
    TextCursor cursor(file, text);
    cursor.next_line();
    const std::string_view kind = cursor.word();
    if (!kind.ends_with("OFF"))
        cursor.fail("does not start with OFF", "the first line of an OFF file is OFF");
    if (kind.find('4') != kind.npos || kind.find('n') != kind.npos)
        cursor.fail(fmt::format("{} has vertices of another dimension than three", kind), "export plain OFF");
    if (cursor.at_line_end() && !cursor.next_line())
        cursor.fail("the file ends after its head", "it may be cut off");
    if (!cursor.at_number())
        cursor.fail("binary OFF cannot be read", "export OFF as text, or another format");

    const std::size_t vertices = announced(cursor, "the number of vertices", 6);
    const std::size_t faces = announced(cursor, "the number of faces", 4);
    Mesh mesh;
    mesh.vertices.reserve(vertices);
    for (std::size_t i = 0; i < vertices; ++i) {
        need_line(cursor, "vertex", i, vertices);
        const double x = cursor.number("x"), y = cursor.number("y"), z = cursor.number("z");
        mesh.vertices.emplace_back(x, y, z);
    }
    std::vector<int> corners;
    for (std::size_t i = 0; i < faces; ++i) {
        need_line(cursor, "face", i, faces);
        const long long sides = cursor.integer("the number of corners");
        if (sides < 1) cursor.fail(fmt::format("a face with {} corners", sides), "it needs at least one");
        corners.clear();
        for (long long k = 0; k < sides; ++k) {
            const long long v = cursor.integer("a corner");
            if (v < 0 || v >= static_cast<long long>(vertices))
                cursor.fail(fmt::format("vertex {} does not exist: the file has {}", v, vertices),
                            "vertices are counted from 0");
            corners.push_back(static_cast<int>(v));
        }
        if (sides == 1)
            mesh.points.push_back(corners[0]);
        else if (sides == 2)
            mesh.edges.push_back({corners[0], corners[1]});
        else
            add_polygon(mesh, corners);
    }
    if (mesh.empty())
        for (std::size_t v = 0; v < vertices; ++v) mesh.points.push_back(static_cast<int>(v));
    return mesh;
}

}  // namespace tenon::geometry

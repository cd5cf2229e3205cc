#include "geometry/mesh_io.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "geometry/mesh_check.hpp"
#include "geometry/mesh_io_text.hpp"
#include "tenon/error.hpp"

namespace tenon::geometry {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string ending_of(const std::string& file) {
    std::string ending = std::filesystem::path(file).extension().string();
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return ending;
}

std::string_view first_word(std::string_view text) {
    const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    return text.substr(first, std::min(text.find_first_of(" \t\r\n", first), text.size()) - first);
}

// A binary STL may begin with any words, also "solid"; its size gives it away.
bool has_size_of_binary_stl(std::string_view text) {
    if (text.size() < 84) return false;
    std::uint64_t count = 0;
    for (int k = 3; k >= 0; --k) count = (count << 8) | static_cast<unsigned char>(text[80 + k]);
    return text.size() == 84 + 50 * count;
}

Mesh read_by_content(const std::string& file, std::string_view text) {
    const std::string ending = ending_of(file);
    const std::string_view word = first_word(text);
    if (text.starts_with("ply\n") || text.starts_with("ply\r")) return read_ply(file, text);
    if (ending != ".obj" && has_size_of_binary_stl(text)) return read_stl_binary(file, text);
    const bool text_like = text.substr(0, 512).find('\0') == text.npos;
    if (word == "solid" && text_like) return read_stl_text(file, text);
    if (word.size() <= 8 && word.ends_with("OFF")) return read_off(file, text);
    if (ending == ".obj") return read_obj(file, text);
    if (ending == ".stl") return read_stl_binary(file, text);
    if (ending == ".off") return read_off(file, text);
    if (ending == ".ply")
        throw InputError(file, "line 1", "does not start with 'ply'", "export the mesh again");
    throw InputError(file, "", "is in no known mesh format", "use OBJ, STL, PLY or OFF, with that ending");
}

// Lines and points that also belong to triangles are not loose.
void keep_loose_parts(Mesh& mesh) {
    if (!mesh.edges.empty()) {
        Mesh surface;
        surface.triangles = mesh.triangles;
        const std::vector<Edge> taken = all_edges(surface);
        Mesh wires;
        wires.edges = mesh.edges;
        mesh.edges.clear();
        for (const Edge& edge : all_edges(wires))
            if (!std::binary_search(taken.begin(), taken.end(), edge)) mesh.edges.push_back(edge);
    }
    if (!mesh.points.empty()) {
        std::vector<char> taken(mesh.vertices.size(), 0);
        for (const Triangle& t : mesh.triangles)
            for (int v : t) taken[v] = 1;
        for (const Edge& e : mesh.edges)
            for (int v : e) taken[v] = 1;
        std::erase_if(mesh.points, [&](int v) { return taken[v] || (taken[v] = 1, false); });
    }
}

}  // namespace

std::string whole_file(const std::string& name) {
    std::error_code error;
    const auto status = std::filesystem::status(name, error);
    if (!std::filesystem::exists(status))
        throw InputError(name, "", "there is no such file", "check the path");
    if (std::filesystem::is_directory(status))
        throw InputError(name, "", "is a directory", "name a mesh file inside it");
    if (!std::filesystem::is_regular_file(status))
        throw InputError(name, "", "is not a plain file", "name a mesh file");
    const File file(std::fopen(name.c_str(), "rb"), std::fclose);
    if (!file)
        throw InputError(name, "", fmt::format("cannot be opened: {}", std::strerror(errno)),
                         "check its permissions");
    std::string text;
    const auto size = std::filesystem::file_size(name, error);
    if (!error) text.reserve(size + 1);
    char buffer[1 << 16];
    for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;)
        text.append(buffer, got);
    if (std::ferror(file.get()))
        throw InputError(name, "", fmt::format("cannot be read: {}", std::strerror(errno)), "check the disk");
    if (text.empty()) throw InputError(name, "", "is empty", "export the mesh again");
    return text;
}

Mesh read_mesh(const std::string& file) {
    const std::string bytes = whole_file(file);
    std::string_view text = bytes;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    Mesh mesh = read_by_content(file, text);
    keep_loose_parts(mesh);
    if (mesh.empty())
        throw InputError(file, "", "holds no triangles, lines or points", "export the mesh again");
    return mesh;
}

void write_obj(const Mesh& mesh, const std::string& file) {
    fmt::memory_buffer text;
    for (const Vec3& v : mesh.vertices)
        fmt::format_to(std::back_inserter(text), "v {} {} {}\n", v.x(), v.y(), v.z());
    for (const Triangle& t : mesh.triangles)
        fmt::format_to(std::back_inserter(text), "f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1);
    for (const Edge& e : mesh.edges)
        fmt::format_to(std::back_inserter(text), "l {} {}\n", e[0] + 1, e[1] + 1);
    for (int v : mesh.points) fmt::format_to(std::back_inserter(text), "p {}\n", v + 1);
    const File out(std::fopen(file.c_str(), "wb"), std::fclose);
    if (!out || std::fwrite(text.data(), 1, text.size(), out.get()) != text.size() ||
        std::fflush(out.get()) != 0)
        throw InputError(file, "", fmt::format("cannot be written: {}", std::strerror(errno)),
                         "check the folder, its permissions and the space left");
}

}  // namespace tenon::geometry

// Readers of tetrahedral meshes.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <unordered_map>

#include <fmt/format.h>

#include "geometry/mesh_io_text.hpp"
#include "geometry/tet_mesh.hpp"
#include "tenon/error.hpp"

namespace tenon::geometry {
namespace {

long long word_integer(TextCursor& cursor, const char* what) {
    if (cursor.at_line_end() && !cursor.next_line())
        cursor.fail(fmt::format("the file ends before {}", what), "the file may be cut off");
    return cursor.integer(what);
}

double word_number(TextCursor& cursor, const char* what) {
    if (cursor.at_line_end() && !cursor.next_line())
        cursor.fail(fmt::format("the file ends before {}", what), "the file may be cut off");
    return cursor.number(what);
}

std::size_t word_count(TextCursor& cursor, const char* what, std::size_t bytes_each) {
    const long long count = word_integer(cursor, what);
    if (count < 0 || static_cast<unsigned long long>(count) > (cursor.bytes_left() + 1) / bytes_each)
        cursor.fail(fmt::format("announces {} for {}, more than the rest of the file can hold", count, what),
                    "the file may be cut off");
    return static_cast<std::size_t>(count);
}

Vec3 word_vector(TextCursor& cursor) {
    const double x = word_number(cursor, "x"), y = word_number(cursor, "y"), z = word_number(cursor, "z");
    return {x, y, z};
}

void skip_words(TextCursor& cursor, long long count, const char* what) {
    for (long long k = 0; k < count; ++k)
        if (cursor.any_word().empty())
            cursor.fail(fmt::format("the file ends inside {}", what), "the file may be cut off");
}

void add_tet(TextCursor& cursor, TetMesh& mesh, const std::array<long long, 4>& corners, long long base,
             int region) {
    Tet tet;
    for (int k = 0; k < 4; ++k) {
        const long long v = corners[k] - base;
        if (v < 0 || v >= static_cast<long long>(mesh.vertices.size()))
            cursor.fail(
                fmt::format("vertex {} of a tetrahedron does not exist", corners[k]),
                fmt::format("the file has {} vertices, numbered from {}", mesh.vertices.size(), base));
        tet[k] = static_cast<int>(v);
    }
    mesh.tets.push_back(tet);
    mesh.region.push_back(region);
}

// Number of nodes by Gmsh element type; only type 4 is a linear tetrahedron.
int gmsh_nodes(TextCursor& cursor, long long type) {
    static const std::unordered_map<long long, int> nodes = {
        {1, 2}, {2, 3},  {3, 4},   {4, 4},  {5, 8},  {6, 6},   {7, 5},   {8, 3},
        {9, 6}, {10, 9}, {11, 10}, {15, 1}, {16, 8}, {17, 20}, {18, 15}, {19, 13}};
    const auto found = nodes.find(type);
    if (found == nodes.end())
        cursor.fail(fmt::format("unknown element type {}", type), "export linear tetrahedra");
    return found->second;
}

class GmshReader {
  public:
    GmshReader(const std::string& file, std::string_view text) : cursor_(file, text) {}

    TetMesh read() {
        while (cursor_.next_line()) {
            const std::string_view section = cursor_.word();
            if (section == "$MeshFormat")
                format();
            else if (section == "$Nodes")
                version_ < 4 ? nodes2() : nodes4();
            else if (section == "$Elements")
                version_ < 4 ? elements2() : elements4();
            else if (section.starts_with("$") && !section.starts_with("$End"))
                skip_section(section);
        }
        return std::move(mesh_);
    }

  private:
    void format() {
        version_ = word_number(cursor_, "the version");
        if (word_integer(cursor_, "the file type") != 0)
            cursor_.fail("binary MSH cannot be read", "export MSH as text (ASCII)");
        if (version_ < 2 || version_ >= 5)
            cursor_.fail(fmt::format("MSH version {} is not known", version_), "export version 2.2 or 4.1");
    }
    void skip_section(std::string_view section) {
        const std::string end = "$End" + std::string(section.substr(1));
        while (cursor_.next_line())
            if (cursor_.word() == end) return;
    }
    void nodes2() {
        const std::size_t count = word_count(cursor_, "the number of nodes", 6);
        for (std::size_t i = 0; i < count; ++i) {
            const long long tag = word_integer(cursor_, "a node's number");
            add_node(tag, word_vector(cursor_));
        }
    }
    void nodes4() {
        const std::size_t blocks = word_count(cursor_, "the number of node blocks", 2);
        skip_words(cursor_, 3, "$Nodes");
        for (std::size_t b = 0; b < blocks; ++b) {
            skip_words(cursor_, 2, "$Nodes");
            const long long parametric = word_integer(cursor_, "parametric");
            if (parametric != 0)
                cursor_.fail("parametric nodes cannot be read", "export without parametric coordinates");
            const std::size_t count = word_count(cursor_, "the number of nodes in a block", 6);
            std::vector<long long> tags(count);
            for (long long& tag : tags) tag = word_integer(cursor_, "a node's number");
            for (long long tag : tags) add_node(tag, word_vector(cursor_));
        }
    }
    void elements2() {
        const std::size_t count = word_count(cursor_, "the number of elements", 6);
        for (std::size_t i = 0; i < count; ++i) {
            skip_words(cursor_, 1, "$Elements");
            const long long type = word_integer(cursor_, "an element's type");
            const long long tags = word_integer(cursor_, "the number of tags");
            long long region = 0;
            for (long long k = 0; k < tags; ++k) {
                const long long tag = word_integer(cursor_, "a tag");
                if (k == 0) region = tag;
            }
            element(type, region);
        }
    }
    void elements4() {
        const std::size_t blocks = word_count(cursor_, "the number of element blocks", 2);
        skip_words(cursor_, 3, "$Elements");
        for (std::size_t b = 0; b < blocks; ++b) {
            skip_words(cursor_, 1, "$Elements");
            const long long entity = word_integer(cursor_, "an entity");
            const long long type = word_integer(cursor_, "an element's type");
            const std::size_t count = word_count(cursor_, "the number of elements in a block", 4);
            for (std::size_t i = 0; i < count; ++i) {
                skip_words(cursor_, 1, "$Elements");
                element(type, entity);
            }
        }
    }
    void add_node(long long tag, const Vec3& position) {
        index_[tag] = static_cast<int>(mesh_.vertices.size());
        mesh_.vertices.push_back(position);
    }
    void element(long long type, long long region) {
        const int nodes = gmsh_nodes(cursor_, type);
        if (type != 4) return skip_words(cursor_, nodes, "$Elements");
        std::array<long long, 4> corners;
        for (long long& corner : corners) {
            const long long tag = word_integer(cursor_, "a corner");
            const auto found = index_.find(tag);
            if (found == index_.end())
                cursor_.fail(fmt::format("node {} does not exist", tag), "check $Nodes");
            corner = found->second;
        }
        add_tet(cursor_, mesh_, corners, 0, static_cast<int>(region));
    }

    TextCursor cursor_;
    TetMesh mesh_;
    double version_ = 2.2;
    std::unordered_map<long long, int> index_;
};

TetMesh read_vtk(const std::string& file, std::string_view text) {
    const std::size_t points_at = text.find("POINTS");
    if (text.find("BINARY") < points_at)
        throw InputError(file, "", "binary VTK cannot be read", "export legacy VTK as text (ASCII)");
    if (points_at == text.npos)
        throw InputError(file, "", "holds no POINTS", "export an unstructured grid of tetrahedra");
    const auto line = static_cast<std::size_t>(std::count(text.begin(), text.begin() + points_at, '\n')) + 1;
    TextCursor cursor(file, text.substr(points_at), line);
    TetMesh mesh;
    std::vector<std::vector<long long>> cells;
    cursor.next_line();
    for (std::string_view word = cursor.any_word(); !word.empty(); word = cursor.any_word()) {
        if (word == "POINTS") {
            const std::size_t count = word_count(cursor, "the number of points", 6);
            cursor.word();
            for (std::size_t i = 0; i < count; ++i) mesh.vertices.push_back(word_vector(cursor));
        } else if (word == "CELLS") {
            const std::size_t count = word_count(cursor, "the number of cells", 2);
            cursor.word();
            cells.resize(count);
            for (auto& cell : cells) {
                cell.resize(word_count(cursor, "the number of corners", 2));
                for (long long& corner : cell) corner = word_integer(cursor, "a corner");
            }
        } else if (word == "CELL_TYPES") {
            const std::size_t count = word_count(cursor, "the number of cell types", 2);
            for (std::size_t i = 0; i < count; ++i) {
                const long long type = word_integer(cursor, "a cell's type");
                if (type == 10 && i < cells.size() && cells[i].size() == 4)
                    add_tet(cursor, mesh, {cells[i][0], cells[i][1], cells[i][2], cells[i][3]}, 0, 0);
            }
            break;
        }
    }
    return mesh;
}

TetMesh read_medit(const std::string& file, std::string_view text) {
    TextCursor cursor(file, text);
    TetMesh mesh;
    cursor.next_line();
    for (std::string_view word = cursor.any_word(); !word.empty(); word = cursor.any_word()) {
        if (word == "Dimension") {
            const long long dimension = word_integer(cursor, "the dimension");
            if (dimension != 3) cursor.fail(fmt::format("has dimension {}", dimension), "must be 3");
        } else if (word == "Vertices") {
            const std::size_t count = word_count(cursor, "the number of vertices", 7);
            for (std::size_t i = 0; i < count; ++i) {
                mesh.vertices.push_back(word_vector(cursor));
                word_number(cursor, "a vertex' label");
            }
        } else if (word == "Tetrahedra") {
            const std::size_t count = word_count(cursor, "the number of tetrahedra", 9);
            for (std::size_t i = 0; i < count; ++i) {
                std::array<long long, 4> corners;
                for (long long& corner : corners) corner = word_integer(cursor, "a corner");
                add_tet(cursor, mesh, corners, 1, static_cast<int>(word_integer(cursor, "a label")));
            }
        }
    }
    return mesh;
}

TetMesh read_tetgen(const std::string& file, const std::string& text) {
    const auto path = std::filesystem::path(file);
    const std::string node_file = std::filesystem::path(path).replace_extension(".node").string();
    const std::string ele_file = std::filesystem::path(path).replace_extension(".ele").string();
    const std::string node_text = path.extension() == ".node" ? text : whole_file(node_file);
    const std::string ele_text = path.extension() == ".ele" ? text : whole_file(ele_file);
    TetMesh mesh;
    TextCursor nodes(node_file, node_text);
    nodes.next_line();
    const std::size_t vertices = word_count(nodes, "the number of vertices", 7);
    const long long dimension = word_integer(nodes, "the dimension");
    if (dimension != 3) nodes.fail(fmt::format("has dimension {}", dimension), "must be 3");
    const long long extra =
        word_integer(nodes, "the number of attributes") + word_integer(nodes, "boundary markers");
    long long base = 0;
    for (std::size_t i = 0; i < vertices; ++i) {
        const long long index = word_integer(nodes, "a vertex' number");
        if (i == 0) base = index;
        mesh.vertices.push_back(word_vector(nodes));
        skip_words(nodes, extra, "the vertices");
    }
    TextCursor elements(ele_file, ele_text);
    elements.next_line();
    const std::size_t count = word_count(elements, "the number of tetrahedra", 9);
    const long long corners_each = word_integer(elements, "corners per tetrahedron");
    const long long attributes = word_integer(elements, "the number of attributes");
    if (corners_each < 4)
        elements.fail(fmt::format("{} corners per tetrahedron", corners_each), "must be 4 or 10");
    for (std::size_t i = 0; i < count; ++i) {
        skip_words(elements, 1, "the tetrahedra");
        std::array<long long, 4> corners;
        for (long long& corner : corners) corner = word_integer(elements, "a corner");
        skip_words(elements, corners_each - 4, "the tetrahedra");
        const double region = attributes > 0 ? word_number(elements, "an attribute") : 0;
        skip_words(elements, std::max(0LL, attributes - 1), "the tetrahedra");
        add_tet(elements, mesh, corners, base, static_cast<int>(std::clamp(region, -1e9, 1e9)));
    }
    return mesh;
}

}  // namespace

TetMesh read_tets(const std::string& file) {
    const std::string text = whole_file(file);
    std::string ending = std::filesystem::path(file).extension().string();
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    TetMesh mesh;
    if (ending == ".msh")
        mesh = GmshReader(file, text).read();
    else if (ending == ".vtk")
        mesh = read_vtk(file, text);
    else if (ending == ".mesh")
        mesh = read_medit(file, text);
    else if (ending == ".node" || ending == ".ele")
        mesh = read_tetgen(file, text);
    else
        throw InputError(file, "", "is in no known format of tetrahedra",
                         "use .msh, .vtk, .mesh, or .node with .ele");
    if (mesh.tets.empty())
        throw InputError(file, "", "holds no tetrahedra", "export a mesh of linear tetrahedra");
    return mesh;
}

}  // namespace tenon::geometry

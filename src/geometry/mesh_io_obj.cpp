// Wavefront OBJ: v, f, l and p. Texture coordinates, normals, groups and materials have no meaning here.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "geometry/mesh_io_text.hpp"

namespace tenon::geometry {
namespace {

constexpr std::string_view skipped[] = {"vt",       "vn",       "vp",     "g",          "o",        "s",
                                        "mg",       "usemtl",   "mtllib", "usemap",     "maplib",   "bevel",
                                        "c_interp", "d_interp", "lod",    "shadow_obj", "trace_obj"};

class ObjReader {
  public:
    ObjReader(const std::string& file, std::string_view text) : file_(file), cursor_(file, text) {}

    Mesh read() {
        while (cursor_.next_line()) read_line();
        if (largest_ >= static_cast<long long>(mesh_.vertices.size()))
            TextCursor(file_, "", largest_line_)
                .fail(fmt::format("vertex {} does not exist: the file has {}", largest_ + 1,
                                  mesh_.vertices.size()),
                      "the file may be cut off");
        if (mesh_.empty())  // a bare list of vertices is a cloud of points
            for (std::size_t v = 0; v < mesh_.vertices.size(); ++v)
                mesh_.points.push_back(static_cast<int>(v));
        return std::move(mesh_);
    }

  private:
    void read_line() {
        const std::string_view keyword = cursor_.word();
        if (keyword == "v") {
            const double x = cursor_.number("x"), y = cursor_.number("y"), z = cursor_.number("z");
            mesh_.vertices.emplace_back(x, y, z);
        } else if (keyword == "f" || keyword == "fo") {
            read_corners("a face", 3);
            add_face();
        } else if (keyword == "l") {
            read_corners("a line", 2);
            for (std::size_t k = 0; k + 1 < corners_.size(); ++k)
                mesh_.edges.push_back({corners_[k], corners_[k + 1]});
        } else if (keyword == "p") {
            read_corners("a point", 1);
            mesh_.points.insert(mesh_.points.end(), corners_.begin(), corners_.end());
        } else if (std::find(std::begin(skipped), std::end(skipped), keyword) == std::end(skipped)) {
            cursor_.fail(fmt::format("unknown keyword '{}'", shown(keyword)),
                         "only polygons, lines and points can be read from OBJ; export the mesh as such");
        }
    }

    // Corners "7", "7/1", "7//3", "7/1/3", or "-1" for the newest vertex.
    void read_corners(const char* element, std::size_t fewest) {
        corners_.clear();
        while (!cursor_.at_line_end()) {
            const long long number = cursor_.integer("a vertex number");
            const auto count = static_cast<long long>(mesh_.vertices.size());
            const long long index = number < 0 ? count + number : number - 1;
            if (number == 0) cursor_.fail("vertex 0 does not exist", "vertices are counted from 1");
            if (index < 0 || index >= std::numeric_limits<int>::max())
                cursor_.fail(
                    fmt::format("vertex {} does not exist: there are {} before this line", number, count),
                    "the file may be cut off");
            if (index > largest_) {
                largest_ = index;
                largest_line_ = cursor_.line();
            }
            corners_.push_back(static_cast<int>(index));
            for (int part = 0; part < 2 && cursor_.take('/'); ++part) {
                if (part == 0 && cursor_.take('/')) part = 1;
                if (!cursor_.at_delimiter()) cursor_.integer("a texture or normal number");
            }
            if (!cursor_.at_delimiter()) cursor_.word_error("a vertex number");
        }
        if (corners_.size() < fewest)
            cursor_.fail(fmt::format("{} with {} vertices", element, corners_.size()),
                         fmt::format("it needs at least {}", fewest));
    }

    void add_face() {
        const int known = static_cast<int>(mesh_.vertices.size());
        if (*std::max_element(corners_.begin(), corners_.end()) < known) {
            add_polygon(mesh_, corners_);
            return;
        }
        for (std::size_t k = 1; k + 1 < corners_.size(); ++k)  // its vertices come later in the file
            mesh_.triangles.push_back({corners_[0], corners_[k], corners_[k + 1]});
    }

    const std::string& file_;
    TextCursor cursor_;
    Mesh mesh_;
    std::vector<int> corners_;
    long long largest_ = -1;
    std::size_t largest_line_ = 0;
};

}  // namespace

Mesh read_obj(const std::string& file, std::string_view text) {
    return ObjReader(file, text).read();
}

}  // namespace tenon::geometry

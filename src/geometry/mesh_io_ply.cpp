// PLY, as text and binary of either byte order: elements vertex (x y z), face (vertex_indices), edge (vertex1 2).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "geometry/mesh_io_text.hpp"

namespace tenon::geometry {
namespace {

enum class Number { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

struct Property {
    std::string name;
    bool list = false;
    Number count_type = Number::uint8;  // of lists
    Number type = Number::float32;
};

struct Element {
    std::string name;
    std::uint64_t count = 0;
    std::vector<Property> properties;
};

enum class Format { text, little_endian, big_endian };

struct Header {
    Format format = Format::text;
    std::vector<Element> elements;
    std::size_t bytes = 0, lines = 0;
};

int size_of(Number type) {
    static const int sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};
    return sizes[static_cast<int>(type)];
}

std::optional<Number> number_type(std::string_view name) {
    static const std::array<std::pair<std::string_view, Number>, 16> names{{{"char", Number::int8},
                                                                            {"int8", Number::int8},
                                                                            {"uchar", Number::uint8},
                                                                            {"uint8", Number::uint8},
                                                                            {"short", Number::int16},
                                                                            {"int16", Number::int16},
                                                                            {"ushort", Number::uint16},
                                                                            {"uint16", Number::uint16},
                                                                            {"int", Number::int32},
                                                                            {"int32", Number::int32},
                                                                            {"uint", Number::uint32},
                                                                            {"uint32", Number::uint32},
                                                                            {"float", Number::float32},
                                                                            {"float32", Number::float32},
                                                                            {"double", Number::float64},
                                                                            {"float64", Number::float64}}};
    for (const auto& [known, type] : names)
        if (known == name) return type;
    return std::nullopt;
}

class HeaderReader {
  public:
    HeaderReader(const std::string& file, std::string_view text) : file_(file), text_(text) {}

    Header read() {
        next();  // "ply"
        bool format_seen = false;
        while (true) {
            if (!next()) fail("the file ends within its head", "it may be cut off");
            const std::string_view keyword = word();
            if (keyword == "end_header") break;
            if (keyword == "format") {
                read_format();
                format_seen = true;
            } else if (keyword == "element") {
                read_element();
            } else if (keyword == "property") {
                read_property();
            } else if (!keyword.empty() && keyword != "comment" && keyword != "obj_info") {
                fail(fmt::format("unknown keyword '{}'", shown(keyword)), "the file may be damaged");
            }
        }
        if (!format_seen) fail("no 'format' line", "the second line says: format ascii 1.0");
        header_.bytes = at_;
        header_.lines = line_;
        return header_;
    }

  private:
    bool next() {
        if (at_ >= text_.size()) return false;
        const std::size_t stop = text_.find('\n', at_);
        row_ = text_.substr(at_, stop == text_.npos ? stop : stop - at_);
        at_ = stop == text_.npos ? text_.size() : stop + 1;
        ++line_;
        return true;
    }
    std::string_view word() {
        const std::size_t first = row_.find_first_not_of(" \t\r");
        if (first == row_.npos) return {};
        const std::size_t last = std::min(row_.find_first_of(" \t\r", first), row_.size());
        const std::string_view result = row_.substr(first, last - first);
        row_.remove_prefix(last);
        return result;
    }
    [[noreturn]] void fail(const std::string& problem, const std::string& cure) const {
        TextCursor(file_, "", line_).fail(problem, cure);
    }
    void read_format() {
        const std::string_view name = word();
        if (name == "ascii")
            header_.format = Format::text;
        else if (name == "binary_little_endian")
            header_.format = Format::little_endian;
        else if (name == "binary_big_endian")
            header_.format = Format::big_endian;
        else
            fail(fmt::format("unknown format '{}'", shown(name)),
                 "ascii, binary_little_endian or binary_big_endian");
    }
    void read_element() {
        Element element;
        element.name = word();
        TextCursor number(file_, row_, line_);
        const long long count = number.integer("the number of elements");
        if (count < 0) fail("a negative number of elements", "write zero or more");
        element.count = static_cast<std::uint64_t>(count);
        header_.elements.push_back(element);
    }
    void read_property() {
        if (header_.elements.empty()) fail("a property before any element", "the file may be damaged");
        Property property;
        std::string_view type = word();
        property.list = type == "list";
        if (property.list) {
            property.count_type = known_type(word());
            type = word();
        }
        property.type = known_type(type);
        property.name = word();
        header_.elements.back().properties.push_back(property);
    }
    Number known_type(std::string_view name) const {
        const std::optional<Number> type = number_type(name);
        if (!type)
            fail(fmt::format("unknown number type '{}'", shown(name)), "such as float, double, uchar or int");
        return *type;
    }

    const std::string& file_;
    std::string_view text_, row_;
    std::size_t at_ = 0, line_ = 0;
    Header header_;
};

// The numbers behind the head, one after the other, whichever way they are written.
class NumberStream {
  public:
    NumberStream(const std::string& file, std::string_view text, const Header& header)
        : file_(file),
          format_(header.format),
          text_(text),
          at_(header.bytes),
          cursor_(file, text.substr(header.bytes), header.lines + 1) {}

    double read(Number type) {
        if (format_ == Format::text) {
            if (cursor_.at_line_end() && !cursor_.next_line())
                cursor_.fail("the file ends too early", "it may be cut off");
            return cursor_.number("a value");
        }
        const int size = size_of(type);
        if (text_.size() - at_ < static_cast<std::size_t>(size))
            fail("the file ends too early", "it may be cut off");
        unsigned char raw[8];
        std::memcpy(raw, text_.data() + at_, size);
        at_ += size;
        if (format_ == Format::big_endian) std::reverse(raw, raw + size);
        return decode(raw, type);
    }
    std::size_t bytes_left() const {
        return format_ == Format::text ? cursor_.bytes_left() : text_.size() - at_;
    }
    std::size_t smallest(const Property& p) const {
        return format_ == Format::text ? 2 : size_of(p.list ? p.count_type : p.type);
    }
    [[noreturn]] void fail(const std::string& problem, const std::string& cure) const {
        if (format_ == Format::text) cursor_.fail(problem, cure);
        fail_at_byte(file_, at_, problem, cure);
    }

  private:
    template <class T>
    static double as(const unsigned char* raw) {  // raw is little endian, as all machines we build for
        T value;
        std::memcpy(&value, raw, sizeof value);
        return static_cast<double>(value);
    }
    static double decode(const unsigned char* raw, Number type) {
        switch (type) {
            case Number::int8:
                return as<std::int8_t>(raw);
            case Number::uint8:
                return as<std::uint8_t>(raw);
            case Number::int16:
                return as<std::int16_t>(raw);
            case Number::uint16:
                return as<std::uint16_t>(raw);
            case Number::int32:
                return as<std::int32_t>(raw);
            case Number::uint32:
                return as<std::uint32_t>(raw);
            case Number::float32:
                return as<float>(raw);
            case Number::float64:
                return as<double>(raw);
        }
        return 0.0;
    }

    const std::string& file_;
    Format format_;
    std::string_view text_;
    std::size_t at_;
    TextCursor cursor_;
};

class PlyReader {
  public:
    PlyReader(const std::string& file, std::string_view text)
        : header_(HeaderReader(file, text).read()), stream_(file, text, header_) {}

    Mesh read() {
        for (const Element& element : header_.elements) {
            check_count(element);
            if (element.name == "vertex")
                read_vertices(element);
            else if (element.name == "face")
                read_faces(element);
            else if (element.name == "edge")
                read_edges(element);
            else if (element.name == "tristrips")
                stream_.fail("triangle strips cannot be read", "export the mesh with faces");
            else
                for_each_row(element, [] {});
        }
        const auto count = static_cast<int>(mesh_.vertices.size());
        if (largest_ >= count)
            stream_.fail(fmt::format("vertex {} does not exist: the file has {}", largest_, count),
                         "vertices are counted from 0");
        for (const auto& polygon : polygons_) add_polygon(mesh_, polygon);
        if (mesh_.empty())
            for (int v = 0; v < count; ++v) mesh_.points.push_back(v);
        return std::move(mesh_);
    }

  private:
    void check_count(const Element& element) const {
        std::size_t row = 0;
        for (const Property& p : element.properties) row += stream_.smallest(p);
        const std::size_t most = row == 0 ? 0 : (stream_.bytes_left() + 1) / row;
        if (element.count > most || element.count > std::uint64_t(std::numeric_limits<int>::max()))
            stream_.fail(fmt::format("the head announces {} of '{}', but the file can hold {} at most",
                                     element.count, shown(element.name), most),
                         "the file may be cut off");
    }

    // Reads each row's scalars into scalars_ and the entries of its list number `wanted` into list_.
    template <class Row>
    void for_each_row(const Element& element, const Row& row, int wanted = -1) {
        scalars_.assign(element.properties.size(), 0.0);
        for (std::uint64_t i = 0; i < element.count; ++i) {
            for (std::size_t k = 0; k < element.properties.size(); ++k) {
                const Property& p = element.properties[k];
                if (p.list)
                    read_list(p, static_cast<int>(k) == wanted);
                else
                    scalars_[k] = stream_.read(p.type);
            }
            row();
        }
    }
    void read_list(const Property& p, bool keep) {
        const double length = stream_.read(p.count_type);
        if (!(length >= 0.0) || length > static_cast<double>(stream_.bytes_left()))
            stream_.fail(fmt::format("a list of {} entries", length), "the file may be damaged");
        if (keep) list_.clear();
        for (std::size_t j = 0; j < static_cast<std::size_t>(length); ++j) {
            const double value = stream_.read(p.type);
            if (keep) list_.push_back(vertex_index(value));
        }
    }
    int vertex_index(double value) {
        if (!(value >= 0.0) || value >= std::numeric_limits<int>::max() || value != std::floor(value))
            stream_.fail(fmt::format("vertex {} does not exist", value), "vertices are counted from 0");
        largest_ = std::max(largest_, static_cast<int>(value));
        return static_cast<int>(value);
    }
    static int property(const Element& element, std::initializer_list<const char*> names, bool list) {
        for (std::size_t k = 0; k < element.properties.size(); ++k)
            for (const char* name : names)
                if (element.properties[k].name == name && element.properties[k].list == list)
                    return static_cast<int>(k);
        return -1;
    }
    void need(int found, const char* what) const {
        if (found < 0)
            stream_.fail(fmt::format("the head names no property {}", what), "export the mesh again");
    }

    void read_vertices(const Element& element) {
        const int x = property(element, {"x"}, false), y = property(element, {"y"}, false),
                  z = property(element, {"z"}, false);
        need(x, "x");
        need(y, "y");
        need(z, "z");
        mesh_.vertices.reserve(element.count);
        for_each_row(element, [&] {
            const Vec3 v(scalars_[x], scalars_[y], scalars_[z]);
            if (!v.allFinite())
                stream_.fail(fmt::format("vertex {} is not finite", mesh_.vertices.size()),
                             "export the mesh again");
            mesh_.vertices.push_back(v);
        });
    }
    void read_faces(const Element& element) {
        const int corners = property(element, {"vertex_indices", "vertex_index"}, true);
        need(corners, "vertex_indices");
        mesh_.triangles.reserve(element.count);
        const auto row = [&] {
            if (list_.size() == 3)
                mesh_.triangles.push_back({list_[0], list_[1], list_[2]});
            else if (list_.size() > 3)
                polygons_.push_back(list_);
            else
                stream_.fail(fmt::format("a face with {} vertices", list_.size()), "it needs at least three");
        };
        for_each_row(element, row, corners);
    }
    void read_edges(const Element& element) {
        const int a = property(element, {"vertex1"}, false), b = property(element, {"vertex2"}, false);
        need(a, "vertex1");
        need(b, "vertex2");
        for_each_row(element, [&] {
            mesh_.edges.push_back({vertex_index(scalars_[a]), vertex_index(scalars_[b])});
        });
    }

    Header header_;
    NumberStream stream_;
    Mesh mesh_;
    std::vector<double> scalars_;
    std::vector<int> list_;
    std::vector<std::vector<int>> polygons_;  // cut into triangles when all vertices are known
    int largest_ = -1;
};

}  // namespace

Mesh read_ply(const std::string& file, std::string_view text) {
    return PlyReader(file, text).read();
}

}  // namespace tenon::geometry

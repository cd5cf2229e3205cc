#include "geometry/mesh_io_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "geometry/shapes_build.hpp"
#include "tenon/error.hpp"

namespace tenon::geometry {
namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

}  // namespace

std::string shown(std::string_view word) {
    std::string text;
    for (char c : word.substr(0, 24)) text += c > 32 && c < 127 ? c : '?';
    return word.size() > 24 ? text + "..." : text;
}

void fail_at_byte(const std::string& file, std::size_t byte, const std::string& problem,
                  const std::string& cure) {
    throw InputError(file, fmt::format("byte {}", byte), problem, cure);
}

void TextCursor::fail(const std::string& problem, const std::string& cure) const {
    throw InputError(file_, fmt::format("line {}", line_), problem, cure);
}

void TextCursor::skip_blanks() {
    while (at_ < end_) {
        if (is_blank(*at_)) {
            ++at_;
        } else if (*at_ == '\\' && at_ + 1 < end_ && (at_[1] == '\n' || at_[1] == '\r')) {
            while (*at_ != '\n' && at_ + 1 < end_) ++at_;  // the line goes on
            if (*at_ == '\n') ++line_;
            ++at_;
        } else {
            return;
        }
    }
}

bool TextCursor::at_line_end() {
    skip_blanks();
    return at_ >= end_ || *at_ == '\n' || *at_ == '#';
}

bool TextCursor::next_line() {
    if (started_) rest_of_line();
    started_ = true;
    while (at_line_end()) {
        while (at_ < end_ && *at_ != '\n') ++at_;
        if (at_ >= end_) return false;
        ++at_;
        ++line_;
    }
    return true;
}

std::string_view TextCursor::rest_of_line() {
    skip_blanks();
    const char* first = at_;
    while (at_ < end_ && *at_ != '\n') ++at_;
    const char* last = at_;
    while (last > first && is_blank(last[-1])) --last;
    return {first, static_cast<std::size_t>(last - first)};
}

std::string_view TextCursor::word() {
    if (at_line_end()) return {};
    const char* first = at_;
    while (at_ < end_ && !is_blank(*at_) && *at_ != '\n') ++at_;
    return {first, static_cast<std::size_t>(at_ - first)};
}

std::string_view TextCursor::any_word() {
    while (at_ < end_ && (is_blank(*at_) || *at_ == '\n')) line_ += *at_++ == '\n';
    const char* first = at_;
    while (at_ < end_ && !is_blank(*at_) && *at_ != '\n') ++at_;
    return {first, static_cast<std::size_t>(at_ - first)};
}

bool TextCursor::at_number() {
    skip_blanks();
    return at_ < end_ && ((*at_ >= '0' && *at_ <= '9') || *at_ == '-' || *at_ == '+');
}

bool TextCursor::at_delimiter() const {
    return at_ >= end_ || is_blank(*at_) || *at_ == '\n' || *at_ == '#';
}

void TextCursor::word_error(const char* what) {
    const std::string_view text = word();
    if (text.empty()) fail(fmt::format("the line ends before {}", what), "the file may be cut off");
    fail(fmt::format("'{}' is not {}", shown(text), what), "write it like 12");
}

bool TextCursor::take(char c) {
    if (at_ >= end_ || *at_ != c) return false;
    ++at_;
    return true;
}

double TextCursor::number(const char* what) {
    skip_blanks();
    const char* first = at_ < end_ && *at_ == '+' ? at_ + 1 : at_;
    double value = 0.0;
    const auto [stop, error] = std::from_chars(first, end_, value);
    const bool ends = stop == end_ || is_blank(*stop) || *stop == '\n' || *stop == '#';
    if (error != std::errc() || !ends || !std::isfinite(value)) return slow_number(what);
    at_ = stop;
    return value;
}

// Numbers too small or too large for a double, and everything that is no number.
double TextCursor::slow_number(const char* what) {
    const std::string text(word());
    if (text.empty()) fail(fmt::format("the line ends before {}", what), "the file may be cut off");
    char* stop = nullptr;
    const double value = std::strtod(text.c_str(), &stop);
    if (stop != text.c_str() + text.size())
        fail(fmt::format("'{}' is not a number ({})", shown(text), what), "write it like -1.25e-3");
    if (!std::isfinite(value))
        fail(fmt::format("'{}' is not a finite number ({})", shown(text), what), "export the mesh again");
    return value;
}

long long TextCursor::integer(const char* what) {
    skip_blanks();
    const char* first = at_ < end_ && *at_ == '+' ? at_ + 1 : at_;
    long long value = 0;
    const auto [stop, error] = std::from_chars(first, end_, value);
    if (error != std::errc()) word_error(what);
    at_ = stop;
    return value;
}

void add_polygon(Mesh& mesh, const std::vector<int>& corners) {
    const int n = static_cast<int>(corners.size());
    const auto at = [&](int k) -> const Vec3& { return mesh.vertices[corners[k]]; };
    Vec3 normal = Vec3::Zero();  // Newell
    if (n > 3)
        for (int k = 0; k < n; ++k) normal += (at(k) - at(0)).cross(at((k + 1) % n) - at(0));
    bool fan = true;
    for (int k = 1; k + 1 < n && n > 3; ++k)
        fan = fan && (at(k) - at(0)).cross(at(k + 1) - at(0)).dot(normal) > 0.0;
    if (fan || normal.squaredNorm() == 0.0) {
        for (int k = 1; k + 1 < n; ++k) mesh.triangles.push_back({corners[0], corners[k], corners[k + 1]});
        return;
    }
    int drop = 0;  // seen along the normal's longest component, which side is up
    normal.cwiseAbs().maxCoeff(&drop);
    const int u = (drop + 1) % 3, v = (drop + 2) % 3;
    const double side = normal[drop] > 0.0 ? 1.0 : -1.0;
    std::vector<Vec2> outline;
    for (int k = 0; k < n; ++k) outline.emplace_back(at(k)[u] - at(0)[u], side * (at(k)[v] - at(0)[v]));
    for (const Triangle& t : triangulate_polygon(outline))
        mesh.triangles.push_back({corners[t[0]], corners[t[1]], corners[t[2]]});
}

}  // namespace tenon::geometry

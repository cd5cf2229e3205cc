// What the mesh readers share: the text of a file with a place in it, and polygons that become triangles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenon/mesh.hpp"

namespace tenon::geometry {

// All of a file; throws InputError when it is missing, empty, a directory or unreadable.
std::string whole_file(const std::string& name);

// The readers by format; `text` is the whole file.
Mesh read_obj(const std::string& file, std::string_view text);
Mesh read_stl_text(const std::string& file, std::string_view text);
Mesh read_stl_binary(const std::string& file, std::string_view text);
Mesh read_ply(const std::string& file, std::string_view text);
Mesh read_off(const std::string& file, std::string_view text);

[[noreturn]] void fail_at_byte(const std::string& file, std::size_t byte, const std::string& problem,
                               const std::string& cure);

// A word for an error text: short, and without bytes that would upset a terminal.
std::string shown(std::string_view word);

// Adds a polygon as triangles: a fan where that is right, ears where the polygon is concave.
void add_polygon(Mesh& mesh, const std::vector<int>& corners);

// Walks through a text by lines and words, and knows where it is. '#' ends a line unless told otherwise.
class TextCursor {
  public:
    TextCursor(const std::string& file, std::string_view text, std::size_t line = 1)
        : file_(file), at_(text.data()), end_(text.data() + text.size()), line_(line) {}

    bool next_line();         // to the first word of the next line that has one (or of this one, at first)
    std::string_view word();  // next word of this line; empty at its end
    std::string_view any_word();  // next word of this or any later line; empty at the end of the file
    std::string_view rest_of_line();
    double number(const char* what);  // next word of this line, as a finite number
    long long integer(const char* what);
    bool at_line_end();
    bool at_number();                                // whether a digit or sign comes next in this line
    bool at_delimiter() const;                       // right behind a word
    bool take(char c);                               // steps over c, when it comes at once
    [[noreturn]] void word_error(const char* what);  // the coming word is not what was expected
    std::size_t line() const { return line_; }
    std::size_t bytes_left() const { return static_cast<std::size_t>(end_ - at_); }
    [[noreturn]] void fail(const std::string& problem, const std::string& cure) const;

  private:
    void skip_blanks();
    double slow_number(const char* what);

    const std::string& file_;
    const char* at_;
    const char* end_;
    std::size_t line_;
    bool started_ = false;
};

}  // namespace tenon::geometry

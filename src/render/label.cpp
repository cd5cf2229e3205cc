#include "render/label.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <vector>

namespace tenon::render {
namespace {

// Each glyph is a list of lines "x y x y ...", separated by '|', on a grid 4 wide: 0 is the base line, 6 the top of
// digits, 4 that of small letters, -2 the lowest descender.
const std::map<char, const char*>& glyphs() {
    static const std::map<char, const char*> table = {
        {'0', "1 0 0 1 0 5 1 6 3 6 4 5 4 1 3 0 1 0"},
        {'1', "1 5 2 6 2 0"},
        {'2', "0 5 1 6 3 6 4 5 4 4 0 0 4 0"},
        {'3', "0 6 4 6 2 4 3 4 4 3 4 1 3 0 1 0 0 1"},
        {'4', "3 0 3 6 0 2 4 2"},
        {'5', "4 6 0 6 0 3 3 3.5 4 2.5 4 1 3 0 1 0 0 1"},
        {'6', "4 5 3 6 1 6 0 5 0 1 1 0 3 0 4 1 4 2.5 3 3.5 1 3.5 0 2.5"},
        {'7', "0 6 4 6 1.5 0"},
        {'8', "1 3.2 0 4.2 0 5 1 6 3 6 4 5 4 4.2 3 3.2 1 3.2 0 2.2 0 1 1 0 3 0 4 1 4 2.2 3 3.2"},
        {'9', "0 1 1 0 3 0 4 1 4 5 3 6 1 6 0 5 0 3.5 1 2.5 3 2.5 4 3.5"},
        {'a', "0.5 4 3 4 4 3 4 0|4 2.3 1 2.3 0 1.3 0 1 1 0 3 0 4 1"},
        {'b', "0 6 0 0|0 1 1 0 3 0 4 1 4 3 3 4 1 4 0 3"},
        {'c', "4 3.3 3 4 1 4 0 3 0 1 1 0 3 0 4 0.7"},
        {'d', "4 6 4 0|4 1 3 0 1 0 0 1 0 3 1 4 3 4 4 3"},
        {'e', "0 2.2 4 2.2 4 3 3 4 1 4 0 3 0 1 1 0 3 0 4 0.7"},
        {'f', "3.5 6 2.5 6 1.5 5 1.5 0|0 4 3 4"},
        {'g', "4 4 4 -1 3 -2 1 -2 0 -1.4|4 1 3 0 1 0 0 1 0 3 1 4 3 4 4 3"},
        {'h', "0 6 0 0|0 3 1 4 3 4 4 3 4 0"},
        {'i', "2 4 2 0|2 5.5 2 5.7"},
        {'j', "2.5 4 2.5 -1 1.5 -2 0.5 -2|2.5 5.5 2.5 5.7"},
        {'k', "0 6 0 0|3.5 4 0 1.5|1.3 2.5 4 0"},
        {'l', "2 6 2 0.6 2.7 0"},
        {'m', "0 4 0 0|0 3.3 0.7 4 1.4 4 2 3.3 2 0|2 3.3 2.7 4 3.4 4 4 3.3 4 0"},
        {'n', "0 4 0 0|0 3 1 4 3 4 4 3 4 0"},
        {'o', "1 0 0 1 0 3 1 4 3 4 4 3 4 1 3 0 1 0"},
        {'p', "0 4 0 -2|0 1 1 0 3 0 4 1 4 3 3 4 1 4 0 3"},
        {'q', "4 4 4 -2|4 1 3 0 1 0 0 1 0 3 1 4 3 4 4 3"},
        {'r', "0.5 4 0.5 0|0.5 2.8 1.7 4 3 4"},
        {'s', "3.8 3.4 3 4 1 4 0.2 3.4 0.4 2.6 1 2.2 3 1.8 3.7 1.3 3.8 0.6 3 0 1 0 0.2 0.6"},
        {'t', "1.5 5.6 1.5 1 2.3 0 3.3 0.2|0 4 3.2 4"},
        {'u', "0 4 0 1 1 0 3 0 4 1|4 4 4 0"},
        {'v', "0 4 2 0 4 4"},
        {'w', "0 4 1 0 2 3.5 3 0 4 4"},
        {'x', "0 4 4 0|0 0 4 4"},
        {'y', "0 4 2 0|4 4 1 -2"},
        {'z', "0 4 4 4 0 0 4 0"},
        {'.', "2 0 2 0.2"},
        {':', "2 0 2 0.2|2 3 2 3.2"},
        {'=', "0 2 4 2|0 3.6 4 3.6"},
        {'-', "0.5 2.8 3.5 2.8"},
        {'+', "0.5 2.8 3.5 2.8|2 1.3 2 4.3"},
        {'/', "0.3 -0.6 3.7 6.4"},
        {'(', "3 6.6 2 5 1.7 3 2 1 3 -0.8"},
        {')', "1 6.6 2 5 2.3 3 2 1 1 -0.8"},
    };
    return table;
}

constexpr double advance = 5.8;
constexpr double cap_height = 6.0;

// Darkens the pixels near a line by how much of them it covers.
void draw_line(Image& image, double x0, double y0, double x1, double y1, double width, Pixel color) {
    const double reach = 0.5 * width + 1;
    const int left = std::max(0, static_cast<int>(std::floor(std::min(x0, x1) - reach)));
    const int right = std::min(image.width - 1, static_cast<int>(std::ceil(std::max(x0, x1) + reach)));
    const int top = std::max(0, static_cast<int>(std::floor(std::min(y0, y1) - reach)));
    const int bottom = std::min(image.height - 1, static_cast<int>(std::ceil(std::max(y0, y1) + reach)));
    const double dx = x1 - x0, dy = y1 - y0, square = std::max(dx * dx + dy * dy, 1e-12);
    for (int y = top; y <= bottom; ++y)
        for (int x = left; x <= right; ++x) {
            const double px = x + 0.5 - x0, py = y + 0.5 - y0;
            const double t = std::clamp((px * dx + py * dy) / square, 0.0, 1.0);
            const double distance = std::hypot(px - t * dx, py - t * dy);
            const double cover = std::clamp(0.5 * width + 0.5 - distance, 0.0, 1.0);
            for (int k = 0; k < 3; ++k) {
                std::uint8_t& channel = image.at(x, y)[k];
                channel = static_cast<std::uint8_t>(std::lround(channel + cover * (color[k] - channel)));
            }
        }
}

void draw_glyph(Image& image, const char* lines, double x, double y, double unit, Pixel color) {
    std::vector<double> numbers;
    const auto flush = [&] {
        for (std::size_t i = 0; i + 3 < numbers.size(); i += 2)
            draw_line(image, x + unit * numbers[i], y - unit * numbers[i + 1], x + unit * numbers[i + 2],
                      y - unit * numbers[i + 3], std::max(1.2, 0.75 * unit), color);
        numbers.clear();
    };
    for (const char* at = lines; *at;) {
        if (*at == '|') {
            flush();
            ++at;
        } else if (*at == ' ') {
            ++at;
        } else {
            char* end = nullptr;
            numbers.push_back(std::strtod(at, &end));
            at = end;
        }
    }
    flush();
}

}  // namespace

double text_width(const std::string& text, double height) {
    return static_cast<double>(text.size()) * advance * height / cap_height;
}

void draw_text(Image& image, const std::string& text, double x, double y, double height, Pixel color) {
    const double unit = height / cap_height;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto found =
            glyphs().find(static_cast<char>(std::tolower(static_cast<unsigned char>(text[i]))));
        if (found != glyphs().end())
            draw_glyph(image, found->second, x + unit * advance * static_cast<double>(i), y, unit, color);
    }
}

}  // namespace tenon::render

#include "sweep/heat_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace tenon::sweep {
namespace {

constexpr const char* font = "font-family=\"Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif\"";

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text)
        out += c == '&'   ? "&amp;"
               : c == '<' ? "&lt;"
               : c == '>' ? "&gt;"
               : c == '"' ? "&quot;"
                          : std::string(1, c);
    return out;
}

// From dark blue over green to yellow: brightness rises with the value, also in grey.
std::string color(double part) {
    constexpr std::array<std::array<double, 3>, 5> stops = {
        {{38, 30, 92}, {44, 88, 138}, {36, 143, 132}, {120, 198, 92}, {248, 228, 70}}};
    const double at = std::clamp(part, 0.0, 1.0) * (stops.size() - 1);
    const auto i = std::min<std::size_t>(static_cast<std::size_t>(at), stops.size() - 2);
    const double t = at - static_cast<double>(i);
    const auto mix = [&](int k) {
        return static_cast<int>(std::lround((1 - t) * stops[i][k] + t * stops[i + 1][k]));
    };
    return fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
}

std::string text(double x, double y, const std::string& words, const char* anchor, int size, const char* fill,
                 const std::string& extra = "") {
    return fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{}\" {} {}>{}</text>\n",
        x, y, size, fill, anchor, font, extra, escaped(words));
}

class Painter {
  public:
    Painter(const HeatMap& map, double width, double height) : map_(map), width_(width), height_(height) {
        for (const auto& row : map.value)
            for (const double value : row)
                if (std::isfinite(value)) {
                    low_ = std::min(low_, value);
                    high_ = std::max(high_, value);
                }
        std::size_t longest = 3;
        for (const std::string& name : map.y) longest = std::max(longest, name.size());
        left_ = 44 + 6.2 * static_cast<double>(std::min<std::size_t>(longest, 12));
        right_ = width - 96;
        top_ = map.note.empty() ? 40 : 52;
        bottom_ = height - 46;
    }

    std::string paint() {
        out_ = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
            "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
            width_, height_);
        out_ += text(16, 22, map_.title, "start", 14, "#1a1a1a", "font-weight=\"600\"");
        if (!map_.note.empty()) out_ += text(16, 38, map_.note, "start", 11, "#777");
        cells();
        labels();
        scale();
        return out_ + "</svg>\n";
    }

  private:
    double part(double value) const { return high_ > low_ ? (value - low_) / (high_ - low_) : 0.5; }
    double column(double k) const {
        return left_ + (right_ - left_) * k / static_cast<double>(map_.x.size());
    }
    double row(double k) const { return bottom_ - (bottom_ - top_) * k / static_cast<double>(map_.y.size()); }

    void cells() {
        for (std::size_t r = 0; r < map_.y.size(); ++r)
            for (std::size_t c = 0; c < map_.x.size(); ++c) {
                const double value = map_.value[r][c];
                const bool there = std::isfinite(value);
                const auto x = static_cast<double>(c), y = static_cast<double>(r);
                out_ += fmt::format(
                    "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
                    "fill=\"{}\"><title>{} = {}, "
                    "{} = {}: {}</title></rect>\n",
                    column(x), row(y + 1), column(x + 1) - column(x) + 0.3, row(y) - row(y + 1) + 0.3,
                    there ? color(part(value)) : "#eceef0", escaped(map_.x_label), escaped(map_.x[c]),
                    escaped(map_.y_label), escaped(map_.y[r]),
                    there ? fmt::format("{:.6g}", value) : "no value");
            }
    }

    // As many names as there is place for.
    void labels() {
        std::size_t longest = 1;
        for (const std::string& name : map_.x) longest = std::max(longest, name.size());
        const auto most = std::max(1.0, (right_ - left_) / (6.5 * static_cast<double>(longest) + 14));
        const auto x_every = static_cast<std::size_t>(std::ceil(static_cast<double>(map_.x.size()) / most));
        const auto y_every = static_cast<std::size_t>(
            std::ceil(static_cast<double>(map_.y.size()) / std::max(1.0, (bottom_ - top_) / 16)));
        for (std::size_t c = 0; c < map_.x.size(); c += x_every)
            out_ += text(column(static_cast<double>(c) + 0.5), bottom_ + 16, map_.x[c], "middle", 11, "#555");
        for (std::size_t r = 0; r < map_.y.size(); r += y_every)
            out_ += text(left_ - 7, row(static_cast<double>(r) + 0.5) + 4, map_.y[r].substr(0, 12), "end", 11,
                         "#555");
        out_ += text(0.5 * (left_ + right_), height_ - 10, map_.x_label, "middle", 11, "#444");
        const double middle = 0.5 * (top_ + bottom_);
        out_ += text(22, middle, map_.y_label, "middle", 11, "#444",
                     fmt::format("transform=\"rotate(-90 22 {:.1f})\"", middle));
    }

    void scale() {
        constexpr int steps = 40;
        const double x = right_ + 14, width = 12;
        if (low_ > high_) return;
        for (int k = 0; k < steps; ++k) {
            const double y0 = bottom_ - (bottom_ - top_) * (k + 1) / steps;
            out_ +=
                fmt::format("<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"{}\" height=\"{:.2f}\" fill=\"{}\"/>\n",
                            x, y0, width, (bottom_ - top_) / steps + 0.3, color((k + 0.5) / steps));
        }
        for (const double at : {0.0, 0.5, 1.0})
            out_ += text(x + width + 5, bottom_ - (bottom_ - top_) * at + 4,
                         fmt::format("{:.3g}", low_ + at * (high_ - low_)), "start", 11, "#555");
    }

    const HeatMap& map_;
    double width_, height_;
    double low_ = INFINITY, high_ = -INFINITY;
    double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
    std::string out_;
};

}  // namespace

std::string heat_map_svg(const HeatMap& map, double width, double height) {
    return Painter(map, width, height).paint();
}

}  // namespace tenon::sweep

#include "export/svg_plot.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "export/page_look.hpp"
#include "math/whole_file.hpp"
#include "tenon/error.hpp"

namespace tenon::exporting {
namespace {

// Okabe and Ito's colours: told apart by everybody.
const char* const palette[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                               "#56b4e9", "#e69f00", "#7a5195", "#444444"};
constexpr std::size_t palette_size = std::size(palette);
constexpr const char* font = "font-family=\"Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif\"";

std::string escaped(const std::string& text) {
    return markup_escaped(text);
}

// One axis: from values to the unit interval, with its ticks.
struct Axis {
    double lo = 0, hi = 1;
    bool log = false;
    std::vector<double> ticks;

    // Very large or small labels share a power of ten, written once beside the axis.
    int exponent() const {
        const double largest = std::max(std::abs(lo), std::abs(hi));
        if (log || largest == 0 || (largest < 1e5 && largest >= 1e-3)) return 0;
        return static_cast<int>(std::floor(std::log10(largest)));
    }
    bool holds(double value) const { return std::isfinite(value) && (!log || value > 0); }
    double at(double value) const {
        return log ? (std::log10(value) - std::log10(lo)) / (std::log10(hi) - std::log10(lo))
                   : (value - lo) / (hi - lo);
    }
};

struct Range {
    double lo = INFINITY, hi = -INFINITY;
    void add(double value) {
        lo = std::min(lo, value);
        hi = std::max(hi, value);
    }
    bool empty() const { return lo > hi; }
};

Axis log_axis(Range range) {
    Axis axis;
    axis.log = true;
    if (range.empty()) range = {0.1, 10};
    const double first = std::floor(std::log10(range.lo) + 1e-9),
                 last = std::ceil(std::log10(range.hi) - 1e-9);
    axis.lo = std::pow(10, first);
    axis.hi = std::pow(10, std::max(last, first + 1));
    const int decades = static_cast<int>(std::max(last, first + 1) - first);
    const int every = std::max(1, (decades + 5) / 6);
    for (int k = 0; k <= decades; k += every) axis.ticks.push_back(std::pow(10, first + k));
    return axis;
}

// With `room`, the range is widened to whole ticks; without, it ends where the data ends.
Axis linear_axis(Range range, int wanted, bool room) {
    Axis axis;
    if (range.empty()) range = {0, 1};
    if (range.hi - range.lo <= 1e-12 * std::max(std::abs(range.lo), std::abs(range.hi)) ||
        range.hi == range.lo) {
        const double spread = range.lo == 0 ? 1 : 0.1 * std::abs(range.lo);
        range = {range.lo - spread, range.hi + spread};
    }
    axis.ticks = plot_ticks(range.lo, range.hi, wanted);
    if (room && axis.ticks.size() >= 2) {
        const double gap = axis.ticks[1] - axis.ticks[0];
        if (axis.ticks.front() > range.lo) axis.ticks.insert(axis.ticks.begin(), axis.ticks.front() - gap);
        if (axis.ticks.back() < range.hi) axis.ticks.push_back(axis.ticks.back() + gap);
        range = {axis.ticks.front(), axis.ticks.back()};
    }
    axis.lo = range.lo;
    axis.hi = range.hi;
    return axis;
}

std::string power_of_ten(int power) {
    return fmt::format("10<tspan dy=\"-4\" font-size=\"8\">{}</tspan>", power);
}

// Just enough digits to tell neighbouring ticks apart.
std::string tick_label(const Axis& axis, double value) {
    if (axis.log) {
        const int power = static_cast<int>(std::lround(std::log10(value)));
        if (power >= -2 && power <= 3) return fmt::format("{:g}", value);
        return power_of_ten(power);
    }
    const double scale = std::pow(10, axis.exponent());
    value /= scale;
    const double gap = axis.ticks.size() > 1 ? (axis.ticks[1] - axis.ticks[0]) / scale : std::abs(value);
    if (std::abs(value) < 1e-9 * gap) return "0";
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(gap) - 1e-9)), 0, 12);
    return fmt::format("{:.{}f}", value, decimals);
}

struct Bar {
    double from, to;
    double count;
};

std::vector<std::vector<Bar>> bars_of(const std::vector<PlotHistogram>& histograms) {
    Range range;
    for (const PlotHistogram& histogram : histograms)
        for (const double value : histogram.values)
            if (std::isfinite(value)) range.add(value);
    std::vector<std::vector<Bar>> all;
    if (range.empty()) return all;
    if (range.hi == range.lo) range = {range.lo - 0.5, range.hi + 0.5};
    for (const PlotHistogram& histogram : histograms) {
        const int bins = std::max(1, histogram.bins);
        const double width = (range.hi - range.lo) / bins;
        std::vector<Bar> bars;
        for (int k = 0; k < bins; ++k) bars.push_back({range.lo + k * width, range.lo + (k + 1) * width, 0});
        for (const double value : histogram.values) {
            if (!std::isfinite(value)) continue;
            const int k = std::clamp(static_cast<int>((value - range.lo) / width), 0, bins - 1);
            bars[k].count += 1;
        }
        all.push_back(std::move(bars));
    }
    return all;
}

// Draws one panel into a box of the picture.
class PanelPainter {
  public:
    PanelPainter(const PlotPanel& panel, double x, double y, double width, double height)
        : panel_(panel), x_(x), y_(y), width_(width), height_(height), bars_(bars_of(panel.histograms)) {
        make_axes();
        place();
    }

    std::string paint() {
        open_group();
        titles();
        grid();
        for (std::size_t i = 0; i < bars_.size(); ++i) histogram(bars_[i], palette[i % palette_size]);
        for (std::size_t i = 0; i < panel_.lines.size(); ++i) line(panel_.lines[i], color(i));
        frame();
        legend();
        out_ +=
            fmt::format("<line class=\"cursor\" y1=\"{:.1f}\" y2=\"{:.1f}\" visibility=\"hidden\"/>\n</g>\n",
                        top_, bottom_);
        return std::move(out_);
    }

  private:
    // How pixels are numbers, for the page that shows values under the pointer.
    void open_group() {
        const auto axis = [](const Axis& a) {
            return fmt::format("[{:.9g},{:.9g},{}]", a.lo, a.hi, a.log ? 1 : 0);
        };
        const nlohmann::json labels{panel_.x_label, panel_.y_label};
        const auto label = [&](int k) {
            return labels[k].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        };
        const std::string data = fmt::format(
            "{{\"l\":{:.2f},\"r\":{:.2f},\"t\":{:.2f},\"b\":{:.2f},\"x\":{},\"y\":{},\"xl\":{},\"yl\":{}}}",
            left_, right_, top_, bottom_, axis(ax_), axis(ay_), label(0), label(1));
        out_ += fmt::format("<g data-plot=\"{}\">\n", escaped(data));
    }

    const char* color(std::size_t line) const { return palette[(bars_.size() + line) % palette_size]; }

    void make_axes() {
        Range xs, ys;
        for (const PlotLine& line : panel_.lines)
            for (std::size_t i = 0; i < std::min(line.x.size(), line.y.size()); ++i) {
                const double x = line.x[i], y = line.y[i];
                if (!std::isfinite(x) || !std::isfinite(y)) continue;
                if ((panel_.log_x && x <= 0) || (panel_.log_y && y <= 0)) continue;
                xs.add(x);
                ys.add(y);
            }
        for (const auto& bars : bars_)
            for (const Bar& bar : bars) {
                xs.add(bar.from);
                xs.add(bar.to);
                if (!panel_.log_y || bar.count > 0) ys.add(bar.count);
                if (!panel_.log_y) ys.add(0);
            }
        ax_ = panel_.log_x ? log_axis(xs) : linear_axis(xs, 7, false);
        ay_ = panel_.log_y ? log_axis(ys) : linear_axis(ys, 5, true);
    }

    // The left margin fits the longest tick label.
    void place() {
        std::size_t longest = 1;
        for (const double tick : ay_.ticks)
            longest = std::max(longest, ay_.log ? std::size_t{5} : tick_label(ay_, tick).size());
        left_ = x_ + 18 + (panel_.y_label.empty() ? 0 : 18) + 6.9 * static_cast<double>(longest);
        right_ = x_ + width_ - 16;
        top_ = y_ + 38 + (ay_.exponent() != 0 ? 8 : 0) + (panel_.note.empty() ? 0 : 15) +
               (entries() > 1 ? 20 + legend_entries(left_, right_).back().y : 0);
        bottom_ = y_ + height_ - 46;
    }

    std::size_t entries() const { return panel_.lines.size() + panel_.histograms.size(); }
    double px(double value) const { return left_ + ax_.at(value) * (right_ - left_); }
    double py(double value) const { return bottom_ - ay_.at(value) * (bottom_ - top_); }

    void text(double x, double y, const std::string& marked_up, const char* anchor, int size,
              const char* fill, const char* extra = "") {
        const bool minor = std::string_view(fill) != "#1a1a1a" && std::string_view(fill) != "#333";
        out_ += fmt::format(
            "<text{} x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{}\" {} "
            "{}>{}</text>\n",
            minor ? " class=\"minor\"" : "", x, y, size, fill, anchor, font, extra, marked_up);
    }

    void titles() {
        text(x_ + 16, y_ + 22, escaped(panel_.title), "start", 14, "#1a1a1a", "font-weight=\"600\"");
        if (!panel_.note.empty()) text(x_ + 16, y_ + 38, escaped(panel_.note), "start", 11, "#777");
        text(0.5 * (left_ + right_), y_ + height_ - 10, escaped(panel_.x_label), "middle", 11, "#444");
        if (panel_.y_label.empty()) return;
        const double middle = 0.5 * (top_ + bottom_);
        const std::string turn = fmt::format("transform=\"rotate(-90 {:.1f} {:.1f})\"", x_ + 22, middle);
        text(x_ + 22, middle, escaped(panel_.y_label), "middle", 11, "#444", turn.c_str());
    }

    void rule(double x1, double y1, double x2, double y2, const char* stroke, const char* role) {
        out_ += fmt::format(
            "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
            "stroke-width=\"1\"/>\n",
            role, x1, y1, x2, y2, stroke);
    }

    void grid() {
        for (const double tick : ax_.ticks) {
            if (ax_.at(tick) < -1e-9 || ax_.at(tick) > 1 + 1e-9) continue;
            rule(px(tick), top_, px(tick), bottom_, "#eeeeee", "gridline");
            text(px(tick), bottom_ + 16, tick_label(ax_, tick), "middle", 11, "#555");
        }
        for (const double tick : ay_.ticks) {
            const bool zero = !ay_.log && tick == 0 && ay_.lo < 0;
            rule(left_, py(tick), right_, py(tick), zero ? "#bbbbbb" : "#eeeeee", zero ? "axis" : "gridline");
            text(left_ - 7, py(tick) + 4, tick_label(ay_, tick), "end", 11, "#555");
        }
    }

    void frame() {
        if (const int power = ay_.exponent(); power != 0)
            text(left_ - 7, top_ - 10, "\u00d7" + power_of_ten(power), "end", 11, "#555");
        if (const int power = ax_.exponent(); power != 0)
            text(right_, bottom_ + 30, "\u00d7" + power_of_ten(power), "end", 11, "#555");
        rule(left_, bottom_, right_, bottom_, "#888888", "axis");
        rule(left_, top_, left_, bottom_, "#888888", "axis");
    }

    void histogram(const std::vector<Bar>& bars, const char* fill) {
        for (const Bar& bar : bars) {
            if (bar.count <= 0) continue;
            const double base = ay_.log ? bottom_ : py(0);
            out_ += fmt::format(
                "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" "
                "fill-opacity=\"{}\"><title>{:.4g} to {:.4g}: {:g}</title></rect>\n",
                px(bar.from) + 0.5, py(bar.count), std::max(0.5, px(bar.to) - px(bar.from) - 1),
                base - py(bar.count), fill, bars_.size() > 1 ? 0.55 : 0.85, bar.from, bar.to, bar.count);
        }
    }

    // Long series are thinned to the lowest and highest point of each half pixel: the picture is the same.
    std::vector<std::vector<std::pair<double, double>>> runs_of(const PlotLine& line) const {
        std::vector<std::vector<std::pair<double, double>>> runs(1);
        const std::size_t count = std::min(line.x.size(), line.y.size());
        const bool thin = count > 4000;
        long column = -1;
        std::vector<std::pair<double, double>> bucket;
        const auto flush = [&] {
            if (bucket.empty()) return;
            const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
            const auto [low, high] = std::minmax_element(bucket.begin(), bucket.end(), less);
            std::vector<std::size_t> keep{0, static_cast<std::size_t>(low - bucket.begin()),
                                          static_cast<std::size_t>(high - bucket.begin()), bucket.size() - 1};
            std::sort(keep.begin(), keep.end());
            keep.erase(std::unique(keep.begin(), keep.end()), keep.end());
            for (const std::size_t i : keep) runs.back().push_back(bucket[i]);
            bucket.clear();
        };
        for (std::size_t i = 0; i < count; ++i) {
            if (!ax_.holds(line.x[i]) || !ay_.holds(line.y[i])) {
                flush();
                if (!runs.back().empty()) runs.emplace_back();
                continue;
            }
            const std::pair<double, double> point{px(line.x[i]), py(line.y[i])};
            const long here = thin ? static_cast<long>(2 * point.first) : static_cast<long>(i);
            if (here != column) flush();
            column = here;
            bucket.push_back(point);
        }
        flush();
        return runs;
    }

    void line(const PlotLine& line, const char* stroke) {
        for (const auto& run : runs_of(line)) {
            if (run.empty()) continue;
            std::string points;
            for (const auto& [x, y] : run) points += fmt::format("{:.2f},{:.2f} ", x, y);
            out_ += fmt::format(
                "<polyline data-label=\"{}\" points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" "
                "stroke-linejoin=\"round\" stroke-linecap=\"round\"{}/>\n",
                escaped(line.label), points, stroke, line.dashed ? " stroke-dasharray=\"5 4\"" : "");
            if (line.markers || run.size() == 1)
                for (const auto& [x, y] : run)
                    out_ += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"2.6\" fill=\"{}\"/>\n", x, y,
                                        stroke);
        }
    }

    // Every line is named: the legend takes as many rows as it needs.
    struct LegendEntry {
        std::string label;
        const char* color;
        bool dashed;
        double x, y;
    };

    std::vector<LegendEntry> legend_entries(double left, double right) const {
        std::vector<LegendEntry> list;
        if (entries() < 2) return list;
        for (std::size_t i = 0; i < panel_.histograms.size(); ++i)
            list.push_back({panel_.histograms[i].label, palette[i % palette_size], false, 0, 0});
        for (std::size_t i = 0; i < panel_.lines.size(); ++i)
            list.push_back({panel_.lines[i].label, color(i), panel_.lines[i].dashed, 0, 0});
        double x = left, y = 0;
        for (LegendEntry& entry : list) {
            const double width = 30 + 6.4 * static_cast<double>(entry.label.size());
            if (x > left && x + width > right + 10) {
                x = left;
                y += 15;
            }
            entry.x = x;
            entry.y = y;
            x += width;
        }
        return list;
    }

    void legend() {
        const std::vector<LegendEntry> list = legend_entries(left_, right_);
        for (const LegendEntry& entry : list) {
            const double y = top_ - 12 - list.back().y + entry.y;
            out_ += fmt::format(
                "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
                "stroke-width=\"3\"{}/>\n",
                entry.x, y - 4, entry.x + 16, y - 4, entry.color,
                entry.dashed ? " stroke-dasharray=\"5 4\"" : "");
            text(entry.x + 21, y, escaped(entry.label), "start", 11, "#333");
        }
    }

    const PlotPanel& panel_;
    double x_, y_, width_, height_;
    std::vector<std::vector<Bar>> bars_;
    Axis ax_, ay_;
    double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
    std::string out_;
};

std::string svg_open(double width, double height) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<rect class=\"bg\" width=\"100%\" height=\"100%\" "
        "fill=\"#ffffff\"/>\n",
        width, height);
}

}  // namespace

std::vector<double> plot_ticks(double lo, double hi, int wanted) {
    std::vector<double> ticks;
    if (!(hi > lo) || wanted < 1 || !std::isfinite(hi - lo)) return ticks;
    const double rough = (hi - lo) / wanted;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double digit = rough / power;
    const double gap = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
    const double first = std::ceil(lo / gap - 1e-9);
    for (double k = first; k * gap <= hi + 1e-9 * gap; k += 1) ticks.push_back(k == 0 ? 0.0 : k * gap);
    return ticks;
}

std::string panel_svg(const PlotPanel& panel, double width, double height) {
    return svg_open(width, height) + PanelPainter(panel, 0, 0, width, height).paint() + "</svg>\n";
}

std::string page_svg(const PlotPage& page) {
    const double width = 560, height = 340, head = page.title.empty() ? 0 : 64;
    const int columns =
        std::clamp<int>(page.columns, 1, std::max<int>(1, static_cast<int>(page.panels.size())));
    const int rows = (static_cast<int>(page.panels.size()) + columns - 1) / columns;
    std::string out = svg_open(columns * width, head + rows * height);
    if (head > 0)
        out += fmt::format(
            "<text x=\"16\" y=\"30\" font-size=\"19\" font-weight=\"600\" fill=\"#1a1a1a\" {0}>{1}"
            "</text>\n<text x=\"16\" y=\"50\" font-size=\"12\" fill=\"#666\" {0}>{2}</text>\n",
            font, escaped(page.title), escaped(page.subtitle));
    for (std::size_t i = 0; i < page.panels.size(); ++i) {
        const auto column = static_cast<double>(i % columns), row = static_cast<double>(i / columns);
        out += PanelPainter(page.panels[i], column * width, head + row * height, width, height).paint();
    }
    return out + "</svg>\n";
}

std::string page_html(const PlotPage& page) {
    std::string out =
        page_head(page.title) +
        fmt::format("<body>\n<main>\n<h1>{}</h1>\n<p class=\"sub\">{}</p>\n<div class=\"grid\">\n",
                    escaped(page.title), escaped(page.subtitle));
    for (const PlotPanel& panel : page.panels)
        out += "<div class=\"card\">\n" + panel_svg(panel) + "</div>\n";
    out += "</div>\n";
    if (!page.table.empty()) {
        out += "<div class=\"wide\"><table class=\"facts\">\n";
        for (const auto& [name, value] : page.table)
            out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(name), escaped(value));
        out += "</table></div>\n";
    }
    return out + "</main>\n" + page_tail() + "</body>\n</html>\n";
}

void write_plot(const PlotPage& page, const std::string& file) {
    const bool html = file.ends_with(".html") || file.ends_with(".htm");
    if (!html && !file.ends_with(".svg"))
        throw InputError(file, "", "a plot ends in .svg or .html", "choose one of them");
    write_whole_file(file, html ? page_html(page) : page_svg(page));
}

}  // namespace tenon::exporting

#include "sweep/plots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "export/svg_plot.hpp"
#include "sweep/heat_map.hpp"
#include "tenon/error.hpp"

namespace tenon::sweep {
namespace {

constexpr std::size_t most_pictures = 48;  // on a page
constexpr std::size_t most_steps = 40;     // values of a parameter that are drawn one by one; more are binned
constexpr int bins = 10;
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

// One row that has a number for the result.
struct Point {
    std::string group;  // scene, method and other texts: one line each
    std::vector<double> x;
    double y = 0.0;
};

struct Axis {
    std::string name;
    std::size_t column = 0;
    std::vector<double> values;  // distinct, rising
    bool binned() const { return values.size() > most_steps; }
    bool logarithmic() const {  // spread over decades rather than evenly
        return values.front() > 0 && values.back() / values.front() >= 50 &&
               values[values.size() / 2] < 0.25 * values.back();
    }
    double position(double value) const { return logarithmic() ? std::log(value) : value; }
    // Which step or bin a value belongs to, and how that is called.
    std::size_t index(double value) const {
        if (!binned())
            return static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), value) -
                                            values.begin());
        const double low = position(values.front()), high = position(values.back());
        const int k = static_cast<int>((position(value) - low) / (high - low) * bins);
        return static_cast<std::size_t>(std::clamp(k, 0, bins - 1));
    }
    std::size_t size() const { return binned() ? bins : values.size(); }
    double center(std::size_t k) const {
        if (!binned()) return values[k];
        const double low = position(values.front()), high = position(values.back());
        const double at = low + (high - low) * (static_cast<double>(k) + 0.5) / bins;
        return logarithmic() ? std::exp(at) : at;
    }
};

struct Mean {
    double sum = 0.0;
    long count = 0;
    void add(double value) {
        sum += value;
        ++count;
    }
    double value() const { return count > 0 ? sum / static_cast<double>(count) : no_value; }
};

class Drawing {
  public:
    Drawing(const Sweep& sweep, const Table& table) : sweep_(sweep), table_(table) {
        for (std::size_t i = 0; i < table.parameters.size(); ++i) {
            std::set<double> seen;
            bool numbers = true;
            for (const Row& row : table.rows) {
                const Cell& cell = row.task->values[i];
                numbers = numbers && is_number(cell);
                if (is_number(cell)) seen.insert(std::get<double>(cell));
            }
            if (numbers && seen.size() > 1)
                axes_.push_back({table.parameters[i], i, {seen.begin(), seen.end()}});
            if (!numbers) text_columns_.push_back(i);
        }
    }

    Pictures draw(const std::vector<std::size_t>& results) {
        for (const std::size_t result : results) {
            const std::vector<Point> points = points_of(result);
            if (points.empty()) continue;
            for (std::size_t a = 0; a < axes_.size(); ++a) curve(result, points, a);
            for (std::size_t a = 0; a < axes_.size(); ++a)
                for (std::size_t b = a + 1; b < axes_.size(); ++b) maps(result, points, a, b);
        }
        return std::move(pictures_);
    }

  private:
    std::string group_of(const Row& row) const {
        std::string name = sweep_.plan.scenes.size() > 1 ? row.task->scene : "";
        for (const std::size_t column : text_columns_) {
            const std::string text = plain_text(row.task->values[column]);
            name += (name.empty() ? "" : ", ") + (text.empty() ? "(own)" : text);
        }
        return name;
    }

    std::vector<Point> points_of(std::size_t result) const {
        std::vector<Point> points;
        for (const Row& row : table_.rows) {
            const Cell cell = table_.value(row, result);
            if (!is_number(cell) || row.status != "done") continue;
            Point point{group_of(row), {}, std::get<double>(cell)};
            for (const Axis& axis : axes_) point.x.push_back(std::get<double>(row.task->values[axis.column]));
            points.push_back(std::move(point));
        }
        return points;
    }

    bool full() {
        if (pictures_.curves.size() + pictures_.maps.size() < most_pictures) return false;
        ++pictures_.left_out;
        return true;
    }

    std::string note(bool binned) const {
        std::string text = axes_.size() > 1 ? "means over the other parameters" : "";
        if (binned) text += fmt::format("{}values in {} bins", text.empty() ? "" : "; ", bins);
        return text;
    }

    void curve(std::size_t result, const std::vector<Point>& points, std::size_t a) {
        if (full()) return;
        const Axis& axis = axes_[a];
        exporting::PlotPanel panel;
        panel.title = fmt::format("{} over {}", table_.results[result], axis.name);
        panel.x_label = axis.name;
        panel.y_label = table_.results[result];
        panel.log_x = axis.logarithmic();
        panel.note = note(axis.binned());
        std::map<std::string, std::vector<Mean>> groups;
        for (const Point& point : points) {
            auto& means = groups.try_emplace(point.group, axis.size()).first->second;
            means[axis.index(point.x[a])].add(point.y);
        }
        for (const auto& [group, means] : groups) {
            exporting::PlotLine& line = panel.lines.emplace_back();
            line.label = group;
            line.markers = true;
            for (std::size_t k = 0; k < means.size(); ++k) {
                if (means[k].count == 0) continue;
                line.x.push_back(axis.center(k));
                line.y.push_back(means[k].value());
            }
        }
        if (axis.binned() && groups.size() == 1) scatter(panel, points, a);
        pictures_.curves.push_back(exporting::panel_svg(panel));
    }

    // Single points: a gap after each leaves dots without a line.
    static void scatter(exporting::PlotPanel& panel, const std::vector<Point>& points, std::size_t a) {
        constexpr std::size_t most_dots = 2000;
        panel.lines[0].label = "mean";
        exporting::PlotLine& dots = panel.lines.emplace_back();
        dots.label = "runs";
        const std::size_t stride = points.size() / most_dots + 1;
        for (std::size_t i = 0; i < points.size(); i += stride) {
            dots.x.insert(dots.x.end(), {points[i].x[a], no_value});
            dots.y.insert(dots.y.end(), {points[i].y, no_value});
        }
    }

    void maps(std::size_t result, const std::vector<Point>& points, std::size_t a, std::size_t b) {
        std::map<std::string, std::vector<std::vector<Mean>>> groups;
        const Axis &x = axes_[a], &y = axes_[b];
        for (const Point& point : points) {
            auto& means =
                groups.try_emplace(point.group, y.size(), std::vector<Mean>(x.size())).first->second;
            means[y.index(point.x[b])][x.index(point.x[a])].add(point.y);
        }
        for (const auto& [group, means] : groups) {
            if (full()) continue;
            HeatMap map;
            map.title = table_.results[result] + (group.empty() ? "" : ": " + group);
            map.x_label = x.name;
            map.y_label = y.name;
            if (axes_.size() > 2) map.note = note(x.binned() || y.binned());
            for (std::size_t k = 0; k < x.size(); ++k) map.x.push_back(fmt::format("{:.4g}", x.center(k)));
            for (std::size_t k = 0; k < y.size(); ++k) map.y.push_back(fmt::format("{:.4g}", y.center(k)));
            for (const auto& row : means) {
                auto& line = map.value.emplace_back();
                for (const Mean& mean : row) line.push_back(mean.value());
            }
            pictures_.maps.push_back(heat_map_svg(map));
        }
    }

    const Sweep& sweep_;
    const Table& table_;
    std::vector<Axis> axes_;
    std::vector<std::size_t> text_columns_;
    Pictures pictures_;
};

}  // namespace

Pictures draw(const Sweep& sweep, const Table& table, const std::vector<std::string>& results) {
    std::vector<std::size_t> chosen;
    for (const std::string& name : results.empty() ? table.results : results) {
        const auto found = std::find(table.results.begin(), table.results.end(), name);
        if (found == table.results.end())
            throw InputError(sweep.plan.file, "--results " + name, "is no result of this sweep",
                             "name one of them; " + suggestion(name, table.results));
        chosen.push_back(static_cast<std::size_t>(found - table.results.begin()));
    }
    return Drawing(sweep, table).draw(chosen);
}

}  // namespace tenon::sweep

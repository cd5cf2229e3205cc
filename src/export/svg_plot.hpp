// Line plots and histograms as SVG, and pages of them as HTML. Nothing is loaded from elsewhere.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tenon::exporting {

struct PlotLine {
    std::string label;         // in the legend, when there is more than one
    std::vector<double> x, y;  // what is not finite (or not positive on a log axis) leaves a gap
    bool markers = false;      // dots at the points
    bool dashed = false;
};

struct PlotHistogram {
    std::string label;
    std::vector<double> values;
    int bins = 30;
};

struct PlotPanel {
    std::string title;
    std::string x_label, y_label;  // with their units: "time [s]"
    bool log_x = false, log_y = false;
    std::vector<PlotLine> lines;
    std::vector<PlotHistogram> histograms;
    std::string note;  // under the title, small
};

struct PlotPage {
    std::string title, subtitle;
    std::vector<PlotPanel> panels;
    int columns = 2;
    // Rows of a table under the plots, in HTML pages.
    std::vector<std::pair<std::string, std::string>> table;
};

std::string panel_svg(const PlotPanel& panel, double width = 560, double height = 340);
std::string page_svg(const PlotPage& page);  // all panels in one picture
std::string page_html(const PlotPage& page);

// By the ending, .svg or .html. Throws InputError when the file cannot be written.
void write_plot(const PlotPage& page, const std::string& file);

// Round numbers that cover [lo, hi]: multiples of 1, 2 or 5 times a power of ten.
std::vector<double> plot_ticks(double lo, double hi, int wanted);

}  // namespace tenon::exporting

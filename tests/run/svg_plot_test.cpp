#include "export/svg_plot.hpp"

#include <cmath>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "run/small_world.hpp"
#include "tenon/error.hpp"

namespace tenon::exporting {
namespace {

int count(const std::string& text, const std::string& word) {
    int found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
}

PlotPage sample_page() {
    PlotPanel waves{"Energy & \"friends\"", "time [s]", "energy [J]", false, false, {}, {}, "a < b"};
    PlotLine total{"total", {}, {}, false, false}, kinetic{"kinetic", {}, {}, false, true};
    for (int i = 0; i <= 200; ++i) {
        const double t = 0.05 * i;
        total.x.push_back(t);
        total.y.push_back(12.5 * std::exp(-0.02 * t));
        kinetic.x.push_back(t);
        kinetic.y.push_back(6 + 6 * std::sin(2 * t));
    }
    waves.lines = {total, kinetic};
    PlotPanel residual{"Joint residual", "time [s]", "residual [m]", false, true, {}, {}, ""};
    PlotLine line{"residual", {}, {}, true, false};
    for (int i = 0; i < 12; ++i) {
        line.x.push_back(i);
        line.y.push_back(i == 5 ? 0.0 : std::pow(10.0, -4 - 0.6 * i));  // zero cannot be drawn: a gap
    }
    residual.lines = {line};
    PlotPanel times{"Step times", "ms per step", "steps", false, false, {}, {}, ""};
    PlotHistogram histogram{"ms", {}, 24};
    for (int i = 0; i < 500; ++i) histogram.values.push_back(3 + std::sin(0.7 * i) + 0.5 * std::sin(1.9 * i));
    times.histograms = {histogram};
    PlotPanel flat{"Constant", "time [s]", "momentum [kg m/s]", false, false, {}, {}, ""};
    flat.lines = {PlotLine{"p", {0, 1, 2}, {1e6, 1e6, 1e6}, false, false}};
    return {"sample", "four panels", {waves, residual, times, flat}, 2, {{"steps", "200"}}};
}

TEST(SvgPlot, TicksAreRoundAndInside) {
    EXPECT_EQ(plot_ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
    const auto ticks = plot_ticks(-0.13, 0.29, 5);
    ASSERT_EQ(ticks.size(), 4u);  // -0.1 0 0.1 0.2
    EXPECT_NEAR(ticks.front(), -0.1, 1e-12);
    EXPECT_EQ(ticks[1], 0.0);
    EXPECT_TRUE(plot_ticks(1, 1, 5).empty());
}

TEST(SvgPlot, DrawsEveryLineAndEscapesText) {
    const PlotPage page = sample_page();
    const std::string energy = panel_svg(page.panels[0]);
    EXPECT_EQ(count(energy, "<polyline"), 2);
    EXPECT_NE(energy.find("Energy &amp; &quot;friends&quot;"), std::string::npos);
    EXPECT_NE(energy.find("a &lt; b"), std::string::npos);
    EXPECT_EQ(count(panel_svg(page.panels[1]), "<polyline"), 2);  // in two parts around the gap
    EXPECT_EQ(count(panel_svg(page.panels[1]), "<circle"), 11);
    const std::string html = page_html(page);
    EXPECT_EQ(count(html, "<svg"), 4);
    EXPECT_EQ(count(html, "<script>"), 1);  // its own, for values under the pointer; nothing is loaded
    EXPECT_EQ(count(html, "src=") + count(html, "href="), 0);
    EXPECT_EQ(count(html, "nan"), 0);
}

TEST(SvgPlot, ThinsLongSeriesWithoutLosingPeaks) {
    PlotLine line{"noise", {}, {}, false, false};
    for (int i = 0; i < 200000; ++i) {
        line.x.push_back(i);
        line.y.push_back(i == 123456 ? 100.0 : i % 2);
    }
    const PlotPanel panel{"", "", "", false, false, {line}, {}, ""};
    const std::string svg = panel_svg(panel);
    EXPECT_LT(svg.size(), 100000u);
    // The peak is the top tick, at the top of the plot: y = 38.
    EXPECT_NE(svg.find(",38.00"), std::string::npos);
}

TEST(SvgPlot, EmptyAndStrangeSeriesAreHarmless) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    PlotPanel panel{"", "", "", false, true, {}, {}, ""};
    EXPECT_EQ(count(panel_svg(panel), "<polyline"), 0);
    panel.lines = {PlotLine{"", {0, 1, 2}, {nan, nan, -1}, false, false}};
    const std::string svg = panel_svg(panel);
    EXPECT_EQ(count(svg, "nan"), 0);
    EXPECT_EQ(count(svg, "inf"), 0);
}

TEST(SvgPlot, WritesFilesByEnding) {
    test::TemporaryFolder folder;
    write_plot(sample_page(), folder / "a.svg");
    write_plot(sample_page(), folder / "a.html");
    EXPECT_EQ(folder.entries(), 2u);
    EXPECT_THROW(write_plot(sample_page(), folder / "a.png"), InputError);
    EXPECT_THROW(write_plot(sample_page(), "/proc/none/a.svg"), InputError);
    EXPECT_EQ(folder.entries(), 2u);
}

}  // namespace
}  // namespace tenon::exporting

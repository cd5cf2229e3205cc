#include "bench/papers.hpp"

#include <cmath>

#include <fmt/format.h>

namespace tenon::bench {
namespace {

std::vector<PaperItem> affine_items() {
    PaperItem table1{"000",
                     "table1",
                     "Table 1: a ball hits a wall, beside Bullet, one thread",
                     "affine",
                     {"wall-"},
                     {"case", "engine", "method"},
                     {{"ms/step", "ms_per_step", {}, true},
                      {"iterations", "iterations", {}, true},
                      {"penetration, m", "max_penetration"},
                      {"intersections", "intersections"}}};
    const auto line = [&](const char* name, double iterations, double ms, double bullet) {
        table1.printed[std::string(name) + " tenon affine"] = {{"ms_per_step", ms},
                                                               {"iterations", iterations}};
        for (const char* shapes : {" bullet boxes", " bullet hulls"})
            table1.printed[name + std::string(shapes)] = {{"ms_per_step", bullet}};
    };
    line("wall-14-100Hz", 1.9, 3, 2);
    line("wall-14-240Hz", 1.5, 2.2, 1.5);
    line("wall-14-1000Hz", 1.1, 2, 3);
    line("wall-140-100Hz", 7.6, 92, 68);
    line("wall-140-240Hz", 2.9, 41, 58);
    line("wall-140-1000Hz", 1.3, 19, 82);
    line("wall-560-100Hz", 11.0, 657, 629);
    line("wall-560-240Hz", 4.4, 328, 809);
    line("wall-560-1000Hz", 1.8, 102, 804);
    PaperItem fig2{
        "000",
        "fig2",
        "Fig. 2: box tests between two entangled bodies",
        "affine",
        {"culling"},
        {"case"},
        {{"box tests", "box_tests", {}, true}, {"triangles", "size"}, {"ms", "ms_per_step"}},
        {{"culling-block-trees", {{"box_tests", 1.3e6}}}, {"culling-local-tree", {{"box_tests", 1.2e5}}}},
        "343K triangles; a tree over each body, and i-AABB of three levels"};
    return {table1,
            {"000",
             "table2",
             "Table 2: iterations and milliseconds a step, h = 1/100 s",
             "affine",
             {"table2-"},
             {"case"},
             {{"iterations", "iterations", "paper_iterations"},
              {"assemble", "ms_assemble", "paper_ms_assemble"},
              {"solve", "ms_solve", "paper_ms_solve"},
              {"CCD", "ms_ccd", "paper_ms_ccd"},
              {"candidates", "ms_candidates", "paper_ms_candidates"},
              {"step", "ms_per_step", "paper_ms_per_step"},
              {"intersections", "intersections"},
              {"unconverged", "unconverged"}}},
            fig2};
}

std::vector<PaperItem> volume_items() {
    const std::vector<PaperColumn> columns = {{"contacts", "contacts_max", {}, true},
                                              {"detection", "collision_detection_ms", {}, true},
                                              {"modelling", "contact_modelling_ms", {}, true},
                                              {"motion", "mechanical_motion_ms", {}, true},
                                              {"solver", "constraint_solver_ms", {}, true},
                                              {"steps/s", "per_second", {}, true},
                                              {"penetration, m", "max_penetration"}};
    PaperItem table1{"001",
                     "table1",
                     "Table 1: contacts, milliseconds of the four stages, steps a second",
                     "volume",
                     {"medical", "octopuses", "grasping", "snake-", "toys-"},
                     {"case"},
                     columns};
    PaperItem fig8{"001",
                   "fig8",
                   "Fig. 8: two detailed bodies, volumes beside distance fields (342K triangles each)",
                   "volume",
                   {"detailed-pair-"},
                   {"case"},
                   columns};
    const auto line = [](PaperItem& item, const char* name, double contacts, double detection,
                         double modelling, double motion, double solver, double rate) {
        item.printed[name] = {{"contacts_max", contacts},          {"collision_detection_ms", detection},
                              {"contact_modelling_ms", modelling}, {"mechanical_motion_ms", motion},
                              {"constraint_solver_ms", solver},    {"per_second", rate}};
    };
    line(table1, "medical", 16, 22.69, 1.35, 17.85, 32.45, 13.3);
    line(table1, "octopuses", 110, 5.67, 1.20, 43.43, 12.34, 15.6);
    line(table1, "grasping", 10, 2.73, 0.97, 7.36, 6.18, 54.0);
    line(table1, "snake-mono", 1, 3.45, 1.01, 2.72, 1.53, 109);
    line(table1, "snake-cells-16", 6, 3.41, 1.00, 2.87, 1.86, 104);
    line(table1, "snake-cells-8", 18, 3.45, 0.95, 2.98, 3.09, 91.9);
    line(table1, "snake-cells-4", 41, 3.46, 0.84, 2.99, 7.62, 65.3);
    line(table1, "toys-10", 99, 16.61, 1.64, 71.24, 34.82, 7.29);
    line(table1, "toys-20", 242, 28.79, 2.37, 146.94, 207.02, 2.44);
    line(table1, "toys-40", 544, 44.45, 3.43, 309.48, 723.83, 0.88);
    line(fig8, "detailed-pair-343k", 16, 18.48, 1.15, 0.48, 4.08, 41.1);
    line(fig8, "detailed-pair-343k-distances", 255, 10.46, 0.16, 0.38, 6.68, 56.7);
    return {table1,
            {"001",
             "fig6",
             "Fig. 6: what is left of an overlap after one solve, by grid",
             "volume",
             {"separation"},
             {"case", "cell_pixels"},
             {{"contacts", "contacts"}, {"volume left", "remaining"}, {"residual", "residual"}},
             {},
             "finer grids leave less of the overlap"},
            {"001",
             "fig7",
             "Fig. 7: a dragged snake, volumes in cells beside points",
             "volume",
             {"friction-cells"},
             {"case", "contacts", "cell_over_length"},
             {{"turned, deg", "turned_degrees"},
              {"bent, deg", "bent_degrees"},
              {"from points", "difference_to_points"},
              {"from finest", "difference_to_finest"}},
             {},
             "one volume: the snake spins; cells: it bends, the closer to points the smaller they are"},
            fig8};
}

std::vector<PaperItem> adaptive_items() {
    PaperItem table1{"002",
                     "table1",
                     "Table 1: seconds and speed-ups of adaptive over plain runs (NC: without contact)",
                     "adaptive",
                     {"octopus-soft", "blob", "wheel", "forest", "pachinko"},
                     {"case"},
                     {{"adaptive, s", "adaptive_s", {}, true},
                      {"plain, s", "plain_s", {}, true},
                      {"total", "total_speedup", "paper_total"},
                      {"mean", "mean_speedup", "paper_mean"},
                      {"NC total", "nc_total_speedup", "paper_nc_total"},
                      {"NC mean", "nc_mean_speedup", "paper_nc_mean"},
                      {"error", "error"}}};
    const auto line = [&](const char* name, double adaptive, double plain) {
        table1.printed[name] = {{"adaptive_s", adaptive}, {"plain_s", plain}};
    };
    line("octopus-soft", 175.57, 754.03);
    line("blob", 1876.40, 3915.30);
    line("wheel", 258.21, 2966.80);
    line("forest", 96.56, 800.82);
    line("pachinko", 347.18, 3803.20);
    return {table1,
            {"002",
             "figures",
             "Figs. 4 to 7: thresholds, damping, resolution, stiffness; plots in --plots",
             "adaptive",
             {"figures"},
             {"case"},
             {{"ms/step", "ms_per_step"},
              {"speed-up", "cpu_speedup"},
              {"error", "error"},
              {"fallen at, s", "fallen_at_s"}},
             {},
             "lower thresholds are closer to plain and cost more; more damping is rigid sooner; resolution "
             "matters "
             "little; wheels fall at about the same time at all thresholds"}};
}

std::vector<PaperItem> articulated_items() {
    PaperItem fig2{"003",
                   "fig2",
                   "Fig. 2: 10,000 steps of a rolling cylinder, milliseconds in all",
                   "articulated",
                   {"rolling-cylinder"},
                   {"variant"},
                   {{"ms in all", "ms_total", {}, true}, {"spin kept", "spin_kept"}}};
    fig2.printed = {{"affine, plain Newton", {{"ms_total", 161.0}}},
                    {"rigid, implicit", {{"ms_total", 44.0}}},
                    {"rigid, explicit", {{"ms_total", 32.0}}},
                    {"co-rotated, polar, euler", {{"ms_total", 34.0}}},
                    {"co-rotated, normalised, euler", {{"ms_total", 27.0}}}};
    return {
        {"003",
         "table1",
         "Table 1: links, iterations and milliseconds a step",
         "articulated",
         {"table1"},
         {"scene"},
         {{"links", "links", "paper_links"},
          {"constraints", "constraints", "paper_constraints"},
          {"residual", "joint_residual_max", "paper_joint_residual_max"},
          {"iterations", "iterations", "paper_iterations"},
          {"ms/step", "ms_per_step", "paper_ms_per_step"}}},
        fig2,
        {"003",
         "figures",
         "Figs. 7 to 10: box, T-handle, top and pendulum at several steps; plots in --plots",
         "articulated",
         {"figures"},
         {"case", "variant", "h"},
         {},
         {},
         "errors fall with the step; co-rotated bodies follow implicit rigid ones"},
        {"003",
         "fig11",
         "Fig. 11: a chain with a heavy end mass, beside Bullet and MuJoCo",
         "articulated",
         {"heavy-chain"},
         {"case", "engine", "setting"},
         {{"ms/step", "ms_per_step"}, {"lasts, s", "seconds"}, {"joint gap, m", "joint_residual_max"}},
         {},
         "h = 1e-3 s: MuJoCo drifts or fails, Bullet fails, M-ABD lasts, also at 1e-2 s"},
        {"003",
         "fig12",
         "Figs. 12 to 14: nets of ball joints, beside Bullet and MuJoCo",
         "articulated",
         {"joint-net"},
         {"case", "size", "engine", "setting"},
         {{"ms/step", "ms_per_step"}, {"solves", "solves_per_step"}, {"joint gap, m", "joint_residual_max"}},
         {},
         "10 x 10: one iteration and under 1 ms a step, VQ 27 ms, the others leave gaps; 100 x 100: 84 ms"}};
}

std::vector<PaperItem> impulse_items() {
    PaperItem table2{"004",
                     "table2",
                     "Table II: contacts, time of the step with the most of them, kinds of friction seen",
                     "impulse",
                     {"table2-"},
                     {"case"},
                     {{"objects", "size", {}, true},
                      {"triangles", "triangles", {}, true},
                      {"contacts", "contacts_max", {}, true},
                      {"ms", "ms_at_most_contacts", {}, true},
                      {"friction as in paper", "as_in_paper"}}};
    const auto line = [&](const char* name, double objects, double triangles, double contacts, double ms) {
        table2.printed[std::string("table2-") + name] = {{"size", objects},
                                                         {"triangles", triangles},
                                                         {"contacts_max", contacts},
                                                         {"ms_at_most_contacts", ms}};
    };
    line("bar", 3, 2e3, 120, 2);
    line("stack", 11, 13e3, 344, 5);
    line("chess", 321, 236e3, 8e3, 28);
    line("cubes", 5001, 120e3, 60e3, 50);
    line("truck", 7, 19e3, 52, 4);
    line("basin", 685, 1750e3, 2e3, 39);
    return {table2,
            {"004",
             "fig6",
             "Fig. 6: time per step of three solvers while chess pieces fall; plot in --plots",
             "impulse",
             {"fig6"},
             {"engine", "time"},
             {{"ms/step", "ms_per_step"},
              {"solver, ms", "ms_solver"},
              {"contacts", "contacts"},
              {"penetration, m", "max_penetration"}},
             {},
             "8K contacts: PGS of five iterations 360 ms, the paper's method 28 ms, FFD a little less"}};
}

}  // namespace

const std::vector<Paper>& papers() {
    static const std::vector<Paper> all = {{"000", "Affine Body Dynamics (2022)", "affine"},
                                           {"001", "Volume contact constraints (2010)", "volume"},
                                           {"002", "Adaptive rigidification (2022)", "adaptive"},
                                           {"003", "M-ABD (2026)", "articulated"},
                                           {"004", "Impulse decomposition (2018)", "impulse"}};
    return all;
}

const std::vector<PaperItem>& paper_items() {
    static const std::vector<PaperItem> all = [] {
        std::vector<PaperItem> items;
        for (const auto& of_paper :
             {affine_items(), volume_items(), adaptive_items(), articulated_items(), impulse_items()})
            items.insert(items.end(), of_paper.begin(), of_paper.end());
        return items;
    }();
    return all;
}

std::string value_text(const Value& value) {
    if (const std::string* text = std::get_if<std::string>(&value)) return *text;
    const double number = std::get<double>(value);
    const bool whole = std::abs(number) < 1e7 && number == std::round(number);
    return whole ? fmt::format("{:.0f}", number) : fmt::format("{:.3g}", number);
}

std::string field_text(const Row& row, const std::string& field) {
    for (const auto& [name, value] : row.fields())
        if (name == field) return value_text(value);
    return {};
}

std::string paper_label(const PaperItem& item, const Row& row) {
    std::string text;
    for (const std::string& field : item.label) {
        const std::string part = field_text(row, field);
        if (!part.empty()) text += (text.empty() ? "" : " ") + part;
    }
    return text;
}

}  // namespace tenon::bench

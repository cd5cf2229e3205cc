#include "bench/articulated_table1.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "math/parallel.hpp"
#include "model/joint_rows.hpp"
#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon::bench {
namespace {

struct Printed {  // in the paper
    const char *links, *rows, *residual, *young;
    int iterations;
    double ms;
};

struct Line {
    const char* word;  // for --only
    const char* name;
    const char* scene;
    std::map<std::string, ParamValue> values;
    std::map<std::string, ParamValue> method;  // parameters of the method, where not its defaults
    double seconds;                            // simulated: until things touch, where they do
    Printed printed;
};

std::vector<Line> lines() {
    const std::string willow = "willow", pear = "pear";
    return {
        {"table1-net",
         "Joint net 100 x 100 (Fig. 14)",
         "joint-net",
         {{"n", 100.0}, {"dt", 0.01}},
         {},
         0.3,
         {"30K", "120K", "1E-7", "1E9", 1, 84}},
        {"table1-drums",
         "Pulley (Fig. 15)",
         "pulley",
         {{"links", 1500.0}, {"pulleys", 6.0}, {"lift", 2.0}, {"seconds", 6.0}},
         {},
         4.0,
         {"1.5K", "4.5K", "1E-7", "1E8", 1, 2}},
        {"table1-many-drums",
         "Huge pulley (Fig. 1)",
         "pulley",
         {{"links", 1076748.0}, {"pulleys", 1500.0}, {"check", false}},
         {{"integrator", std::string("euler")},
          {"contact_iterations", 2.0}},  // as `pulley` in articulated.cpp
         0.1,
         {"1M", "3M", "1E-5", "1E8", 1, 904}},
        {"table1-willow",
         "Willow (Fig. 16)",
         "tree",
         {{"links", 21000.0}, {"kind", willow}},
         {},
         0.5,
         {"21K", "63K", "1E-6", "1E8", 1, 18}},
        {"table1-pear",
         "Pear (Fig. 16)",
         "tree",
         {{"links", 29000.0}, {"kind", pear}},
         {},
         0.5,
         {"29K", "87K", "1E-6", "1E8", 1, 23}},
        {"table1-cloak",
         "Net cloak (Fig. 17)",
         "cloak",
         {{"around", 64.0}, {"down", 62.0}, {"seconds", 8.0}},
         {},
         1.0,
         {"12K", "48K", "1E-7", "1E9", 1, 33}},
        {"table1-ragdolls",
         "Ragdolls (Fig. 19)",
         "ragdolls",
         {{"ragdolls", 27.0}, {"n", 20.0}, {"width", 6.0}, {"seconds", 4.0}, {"young", 1e6}},
         {},
         1.0,
         {"1.5K", "6K", "1E-6", "1E6", 1, 17}},
        {"table1-falling",
         "Falling joints (Fig. 20)",
         "falling-joints",
         {{"pairs", 720.0}, {"seconds", 4.0}},
         {},
         1.0,
         {"1.4K", "2.9K", "1E-6", "1E9", 1, 54}},
    };
}

void measure(const Options& options, const Line& line) {
    Scene scene = make_builtin(*find_builtin(line.scene),
                               options.quick ? std::map<std::string, ParamValue>{} : line.values);
    for (const auto& [name, value] : line.method) scene.method_params[name] = value;
    Simulation simulation(std::move(scene));
    const Model& model = simulation.model();
    const State& state = simulation.state();
    double links = 0, rows = 0;
    for (int i = 0; i < model.bodies.size(); ++i) links += state.dynamic(i);
    for (const Joint& joint : model.joints) rows += joint_row_count(joint.spec);
    const double h = simulation.scene().dt, seconds = options.quick ? 5 * h : line.seconds;
    double residual = 0, solves = 0, total = 0, contacts = 0, corrections = 0;
    std::vector<double> times;
    while (simulation.time() < seconds - 1e-9) {
        const std::clock_t start = std::clock();  // processor time: the machine may be busy with other things
        const StepReport report = simulation.step();
        times.push_back(1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
        total += times.back();
        residual = std::max(residual, report.joint_residual);
        solves += report.iterations;
        contacts += report.contacts;
        for (const auto& [name, value] : report.metrics)
            if (name == "corrections") corrections += value;
    }
    const auto steps = static_cast<double>(times.size());
    Row row;
    row.set("bench", "articulated").set("case", "table1").set("engine", "tenon").set("scene", line.name);
    row.set("links", links).set("constraints", rows).set("h_ms", 1e3 * h);
    row.set("joint_residual_max", std::max(residual, joint_residual_max(model, state)));
    row.set("iterations", solves / steps)
        .set("corrections", corrections / steps)
        .set("contacts", contacts / steps);
    row.set("threads", static_cast<double>(thread_count()));
    row.set("ms_per_step", median(times)).set("ms_mean", total / steps);
    options.print(row);
    Row paper;
    paper.set("bench", "articulated").set("case", "table1").set("engine", "paper").set("scene", line.name);
    paper.set("links", line.printed.links).set("constraints", line.printed.rows).set("h_ms", 1e3 * h);
    paper.set("joint_residual_max", line.printed.residual);
    paper.set("iterations", static_cast<double>(line.printed.iterations)).set("young", line.printed.young);
    paper.set("threads", 1.0).set("ms_per_step", line.printed.ms);
    options.print(paper);
}

}  // namespace

void articulated_table1(const Options& options) {
    for (const Line& line : lines())
        if (options.wants(line.word)) measure(options, line);
}

}  // namespace tenon::bench

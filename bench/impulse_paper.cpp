// The paper's figure 6 and table II, measured here.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bench/impulse_parts.hpp"
#include "export/svg_plot.hpp"
#include "math/parallel.hpp"
#include "math/rotation.hpp"

namespace tenon::bench::impulse_parts {
namespace {

// Which kinds of friction a scene shows. Each must be seen on the same two bodies for a tenth of a second on end.
class Phenomena {
  public:
    enum Kind { sticking, slipping, rolling, rotating, kinds };

    explicit Phenomena(double dt) : needed_(static_cast<int>(std::lround(0.1 / dt))) {}

    void look(const Model& model, const State& state, const Outputs& outputs) {
        ++step_;
        for (std::size_t k = 0; k < outputs.contacts.size();) {
            const Contact& first = outputs.contacts[k];
            std::array<bool, kinds> all;
            all.fill(true);
            double load = 0;
            for (; k < outputs.contacts.size() && outputs.contacts[k].a == first.a &&
                   outputs.contacts[k].b == first.b;
                 ++k) {
                const double normal = outputs.contacts[k].force.dot(outputs.contacts[k].normal);
                if (normal <= 0) continue;
                load += normal;
                judge(model, state, outputs.contacts[k], normal, all);
            }
            if (load > 0) count({first.a, first.b}, all);
        }
    }
    int pairs(Kind kind) const { return seen_[kind]; }

  private:
    struct History {
        int last = 0;
        std::array<int, kinds> run{};
        std::array<bool, kinds> counted{};
    };

    // Clears what this contact speaks against.
    static void judge(const Model& model, const State& state, const Contact& c, double load,
                      std::array<bool, kinds>& all) {
        const Vec3 wa = spin_of(state.q[c.a], state.rate[c.a]), wb = spin_of(state.q[c.b], state.rate[c.b]),
                   arm_a = c.point - state.q[c.a].col(3), arm_b = c.point - state.q[c.b].col(3);
        const Vec3 va = state.rate[c.a].col(3), vb = state.rate[c.b].col(3);
        Vec3 slip = vb + wb.cross(arm_b) - va - wa.cross(arm_a);
        slip -= c.normal.dot(slip) * c.normal;
        const Vec3 turn = wb - wa;
        const double about = std::abs(turn.dot(c.normal)),
                     across = (turn - turn.dot(c.normal) * c.normal).norm();
        const double speed = slip.norm(), drag = (c.force - load * c.normal).norm();
        // the one that turns, seen from the other's surface
        const bool b_turns = state.dynamic(c.b);
        const double arm = (b_turns ? arm_b : arm_a).norm();
        const Vec3 ground = b_turns ? Vec3(va + wa.cross(arm_a)) : Vec3(vb + wb.cross(arm_b));
        const double travel = ((b_turns ? vb : va) - ground).norm();
        all[sticking] = all[sticking] && speed < 1e-3 && drag > 0.05 * load;
        all[slipping] = all[slipping] && speed > 0.05 && drag > 0.95 * model.pair_friction(c.a, c.b) * load;
        all[rolling] =
            all[rolling] && across > 1.0 && speed < 0.05 * across * arm && travel > 0.5 * across * arm;
        all[rotating] = all[rotating] && about > 1.0 && across < 0.2 * about && travel < 0.2 * about * arm;
    }

    void count(std::pair<int, int> bodies, const std::array<bool, kinds>& now) {
        History& h = history_[bodies];
        if (h.last != step_ - 1) h.run.fill(0);
        h.last = step_;
        for (int k = 0; k < kinds; ++k) {
            h.run[k] = now[k] ? h.run[k] + 1 : 0;
            if (h.run[k] < needed_ || h.counted[k]) continue;
            h.counted[k] = true;
            ++seen_[k];
        }
    }

    int needed_, step_ = 0;
    std::map<std::pair<int, int>, History> history_;
    std::array<int, kinds> seen_{};
};

struct TableCase {
    const char* name;
    Values quick;
    const char* paper;  // its columns: static, slipping, rolling, rotating
};

void table_2_row(const Options& options, const TableCase& c) {
    Values values = c.quick;
    if (!options.quick) values = {{"preset", std::string("paper")}};
    // the paper's times are of the steps themselves: the wait before the stack is hit adds nothing
    if (std::string(c.name) == "stack" && !options.quick) values = {{"hold", 1.0}, {"seconds", 5.0}};
    Simulation simulation(scene_of(c.name, values));
    int most = 0, triangles = 0;
    double ms_at_most = 0, total = 0;
    Phenomena seen(simulation.dt());
    const int steps = static_cast<int>(std::lround(simulation.scene().seconds / simulation.dt()));
    for (int s = 0; s < steps; ++s) {
        StepReport report;
        const double ms = cost_of([&] { report = simulation.step(); }).wall_ms;
        total += ms;
        if (report.contacts > most) {
            most = report.contacts;
            ms_at_most = ms;
        }
        seen.look(simulation.model(), simulation.state(), simulation.outputs());
    }
    for (int i = 0; i < simulation.model().bodies.size(); ++i)
        triangles += static_cast<int>(simulation.model().shape_of(i).mesh.triangles.size());
    Row row = row_of(std::string("table2-") + c.name);
    row.set("size", simulation.model().bodies.size())
        .set("threads", thread_count())
        .set("ms_per_step", total / steps);
    row.set("triangles", triangles).set("contacts_max", most).set("ms_at_most_contacts", ms_at_most);
    static constexpr const char* words[] = {"static", "slipping", "rolling", "rotating"};
    std::string shown;
    for (int k = 0; k < Phenomena::kinds; ++k)
        if (seen.pairs(static_cast<Phenomena::Kind>(k)) > 0)
            shown += fmt::format("{}{}", shown.empty() ? "" : ", ", words[k]);
    row.set("static_pairs", seen.pairs(Phenomena::sticking))
        .set("slipping_pairs", seen.pairs(Phenomena::slipping))
        .set("rolling_pairs", seen.pairs(Phenomena::rolling))
        .set("rotating_pairs", seen.pairs(Phenomena::rotating))
        .set("paper", c.paper)
        .set("as_in_paper", shown == c.paper ? "yes" : "no");
    options.print(row);
}

// Total and solver time (processor) of one solver over simulated time, means over `window` steps.
struct Curve {
    std::vector<double> time, total, solver;
};

Curve curve_of(const Options& options, const SolverChoice& choice, int pieces, double seconds) {
    constexpr int window = 10;
    Simulation simulation(
        scene_of("chess", {{"pieces", static_cast<double>(pieces)}, {"seconds", seconds}}, choice.params));
    Curve curve;
    double total = 0, solver = 0;
    int contacts = 0;
    const int steps = static_cast<int>(std::lround(seconds / simulation.dt()));
    for (int s = 1; s <= steps; ++s) {
        StepReport report;
        const Cost cost = cost_of([&] { report = simulation.step(); });
        total += cost.cpu_ms;
        solver += phase(report, "solve") * cost.cpu_ms / cost.wall_ms;  // others may be at work as well
        contacts = std::max(contacts, report.contacts);
        if (s % window) continue;
        curve.time.push_back(s * simulation.dt());
        curve.total.push_back(total / window);
        curve.solver.push_back(solver / window);
        Row row = row_of("fig6", std::string("impulse: ") + choice.label);
        row.set("size", pieces)
            .set("threads", 1)
            .set("ms_per_step", curve.total.back())
            .set("ms_solver", curve.solver.back());
        row.set("time", curve.time.back())
            .set("contacts", contacts)
            .set("max_penetration", figure(report, "penetration"))
            .set("contact_residual", figure(report, "contact_residual"));
        options.print(row);
        total = solver = 0;
        contacts = 0;
    }
    return curve;
}

}  // namespace

void figure_6(const Options& options, int pieces, double seconds) {
    set_threads(1);
    exporting::PlotPage page;
    page.title = fmt::format("{} chess pieces: time per step", pieces);
    page.subtitle = "one thread; the paper's Fig. 6";
    page.panels.resize(2);
    page.panels[0].title = "whole step";
    page.panels[1].title = "contact solver";
    for (exporting::PlotPanel& panel : page.panels) {
        panel.x_label = "simulated time [s]";
        panel.y_label = "time per step [ms]";
        panel.log_y = true;
    }
    for (const SolverChoice& choice : solver_choices()) {
        if (!options.wants(std::string("fig6-") + choice.brief)) continue;
        const Curve curve = curve_of(options, choice, pieces, seconds);
        page.panels[0].lines.push_back({choice.brief, curve.time, curve.total});
        page.panels[1].lines.push_back({choice.brief, curve.time, curve.solver});
    }
    if (!options.plots.empty() && !page.panels[0].lines.empty())
        exporting::write_plot(page, options.plots + "/impulse-fig6.svg");
    set_threads(0);
}

// Table II: the six scenes, their size, the cost of the step with the most contacts, and the kinds of friction in them.
void table_2(const Options& options) {
    const std::vector<TableCase> cases = {
        {"bar", {}, "static, slipping"},
        {"stack", {{"hold", 0.5}}, "static, slipping, rolling"},
        {"chess", {{"pieces", 40.0}}, "static, slipping, rolling"},
        {"cubes", {{"cubes", 125.0}}, "static, slipping"},
        {"truck", {}, "static, slipping, rolling"},
        {"basin", {{"objects", 30.0}}, "static, slipping, rolling, rotating"}};
    for (const TableCase& c : cases)
        // "cubes" alone means the comparison beside Bullet
        if (std::string("table2-").append(c.name).starts_with(options.only)) table_2_row(options, c);
}

}  // namespace tenon::bench::impulse_parts

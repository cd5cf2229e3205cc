#include "bench/articulated_figures.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "export/svg_plot.hpp"
#include "methods/articulated/reference.hpp"
#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon::bench {
namespace {

using articulated::PendulumReference;
using articulated::reference_of;
using articulated::RigidReference;
using exporting::PlotLine;
using exporting::PlotPage;
using exporting::PlotPanel;

// What is plotted, against time: two quantities a figure.
struct Curves {
    std::vector<double> time;
    std::array<std::vector<double>, 2> value;
};

using Quantities = std::array<double, 2>;

struct Variant {
    const char* label;
    const char* integrator;
    const char* model;
    bool dashed;
};
constexpr Variant variants[] = {{"ours, BDF2", "bdf2", "corotated", false},
                                {"ours, Euler", "euler", "corotated", false},
                                {"implicit rigid", "euler", "rigid", true}};

template <class Measure>
Curves simulate(const std::string& name, const Variant& variant, double h, double seconds,
                const Measure& measure) {
    Scene scene = make_builtin(*find_builtin(name), {{"dt", h}, {"seconds", seconds}});
    scene.method_params["integrator"] = std::string(variant.integrator);
    scene.method_params["model"] = std::string(variant.model);
    Simulation simulation(std::move(scene));
    Curves curves;
    const auto record = [&] {
        const Quantities now = measure(simulation);
        curves.time.push_back(simulation.time());
        for (int k = 0; k < 2; ++k) curves.value[k].push_back(now[k]);
    };
    record();
    while (simulation.time() < seconds - 1e-9) {
        simulation.step();
        record();
    }
    return curves;
}

// The same quantities along a path that is known at any time.
template <class State>
Curves sampled(double seconds, int samples, const State& state) {
    Curves curves;
    for (int i = 0; i <= samples; ++i) {
        const double t = seconds * i / samples;
        const Quantities now = state(t);
        curves.time.push_back(t);
        for (int k = 0; k < 2; ++k) curves.value[k].push_back(now[k]);
    }
    return curves;
}

// Runge and Kutta with steps of 1e-4 s, asked at growing times.
class RungeKutta {
  public:
    explicit RungeKutta(const RigidReference& start) : body_(start) {}
    const RigidReference& at(double time) {
        while (time_ < time - 1e-9) {
            const double h = std::min(1e-4, time - time_);
            step_runge_kutta(body_, body_.lever.isZero() ? Vec3(Vec3::Zero()) : Vec3(0, -9.81, 0), h);
            time_ += h;
        }
        return body_;
    }

  private:
    RigidReference body_;
    double time_ = 0.0;
};

PlotLine line(const std::string& label, const Curves& curves, int k, bool dashed) {
    PlotLine out;
    out.label = label;
    out.dashed = dashed;
    const std::size_t every = std::max<std::size_t>(1, curves.time.size() / 500);
    for (std::size_t i = 0; i < curves.time.size(); i += every) {
        out.x.push_back(curves.time[i]);
        out.y.push_back(curves.value[k][i]);
    }
    return out;
}

// Largest difference to the reference up to `until`, both quantities; the reference is interpolated.
Quantities difference(const Curves& curves, const Curves& reference, double from, double until) {
    Quantities worst{};
    for (std::size_t i = 0; i < curves.time.size(); ++i) {
        const double t = curves.time[i];
        if (t < from || t > until + 1e-9) continue;
        const double place = t / reference.time.back() * static_cast<double>(reference.time.size() - 1);
        const std::size_t j = std::min(static_cast<std::size_t>(place), reference.time.size() - 2);
        const double u = place - static_cast<double>(j);
        for (int k = 0; k < 2; ++k) {
            const double exact = (1 - u) * reference.value[k][j] + u * reference.value[k][j + 1];
            worst[k] = std::max(worst[k], std::abs(curves.value[k][i] - exact));
        }
    }
    return worst;
}

struct Figure {
    std::string name, scene, title;
    std::array<std::string, 2> quantity;
    double seconds = 5.0;
    double errors_from = 0.0, errors_until = 1.0;  // errors are taken within these times
    std::vector<double> steps = {1e-2, 5e-3, 1e-3};
};

// Curves at every step by every variant, errors over h, and a row for each.
template <class Measure, class Exact>
void draw(const Options& options, Figure figure, const Measure& measure, const Exact& exact) {
    if (options.quick) figure.steps.resize(2);
    const Curves reference = sampled(figure.seconds, 20000, exact);
    PlotPage page;
    page.title = figure.title;
    page.subtitle =
        "co-rotated affine bodies and implicit rigid bodies at several time steps, beside the reference "
        "(dashed)";
    PlotPanel errors;
    errors.title = fmt::format("largest error from {:g} to {:g} s", figure.errors_from, figure.errors_until);
    errors.x_label = "time step [s]";
    errors.y_label = figure.quantity[0];
    errors.log_x = errors.log_y = true;
    for (const Variant& variant : variants) {
        PlotPanel panels[2];
        for (int k = 0; k < 2; ++k) {
            panels[k].title = variant.label;
            panels[k].y_label = figure.quantity[k];
            panels[k].x_label = "time [s]";
        }
        PlotLine falling;
        falling.label = variant.label;
        falling.markers = true;
        falling.dashed = variant.dashed;
        for (double h : figure.steps) {
            const Curves curves = simulate(figure.scene, variant, h, figure.seconds, measure);
            const Quantities error = difference(curves, reference, figure.errors_from, figure.errors_until);
            for (int k = 0; k < 2; ++k)
                panels[k].lines.push_back(line(fmt::format("{:g} ms", 1e3 * h), curves, k, false));
            falling.x.push_back(h);
            falling.y.push_back(error[0]);
            Row row;
            row.set("bench", "articulated").set("case", figure.name).set("engine", "tenon");
            row.set("variant", variant.label).set("h", h);
            row.set("error " + figure.quantity[0], error[0]).set("error " + figure.quantity[1], error[1]);
            options.print(row);
        }
        errors.lines.push_back(falling);
        for (int k = 0; k < 2; ++k) {
            panels[k].lines.push_back(line("reference", reference, k, true));
            page.panels.push_back(panels[k]);
        }
    }
    page.panels.push_back(errors);
    if (options.plots.empty()) return;
    std::filesystem::create_directories(options.plots);
    const std::string file =
        (std::filesystem::path(options.plots) / fmt::format("articulated-{}.svg", figure.name)).string();
    exporting::write_plot(page, file);
    options.note("drawn: " + file);
}

Vec3 spin_of(const Simulation& simulation) {
    return reference_of(simulation.model(), simulation.state(), 0).spin;
}

void spinning_box(const Options& options) {
    const Figure figure{"figure-7",
                        "spinning-box",
                        "Spinning box: momenta",
                        {"angular momentum [kg m^2/s]", "linear momentum [kg m/s]"},
                        5.0,
                        0.0,
                        5.0};
    draw(
        options, figure,
        [](const Simulation& s) {
            return Quantities{angular_momentum(s.model(), s.state()).norm(),
                              linear_momentum(s.model(), s.state()).norm()};
        },
        [](double) {
            return Quantities{100.0, 100.0};
        });
}

void t_handle(const Options& options) {
    const Simulation start(make_builtin(*find_builtin("t-handle"), {}));
    RungeKutta path(reference_of(start.model(), start.state(), 0));
    const Vec3 inertia = start.model().bodies.moments_of_inertia(0);
    int middle = 0;
    for (int k = 1; k < 3; ++k)
        if (inertia[k] > inertia.minCoeff() && inertia[k] < inertia.maxCoeff()) middle = k;
    const auto energy = [&](const Vec3& w) { return 0.5 * w.dot(inertia.cwiseProduct(w)); };
    const double all = energy(spin_of(start));
    const Figure figure{"figure-8",
                        "t-handle",
                        "T-handle: spin about the middle axis and energy",
                        {"body-frame spin [rad/s]", "energy lost, share"},
                        20.0,
                        0.0,
                        4.0};
    const auto quantities = [&](const Vec3& spin) {
        return Quantities{spin[middle], 1.0 - energy(spin) / all};
    };
    draw(
        options, figure, [&](const Simulation& s) { return quantities(spin_of(s)); },
        [&](double t) { return quantities(path.at(t).spin); });
}

// Precession is how fast the horizontal part of the axis turns; nutation the axis's angle to the vertical.
Quantities top_quantities(const RigidReference& top, const Vec3& lever) {
    const Vec3 axis = (top.rotation * lever).normalized(), spin = top.rotation * top.spin;
    const Vec3 rate = spin.cross(axis);
    const double flat = axis.x() * axis.x() + axis.z() * axis.z();
    return {(axis.z() * rate.x() - axis.x() * rate.z()) / flat, std::acos(axis.y()) * 180 / M_PI};
}

void heavy_top(const Options& options) {
    const Simulation start(make_builtin(*find_builtin("heavy-top"), {}));
    const RigidReference first = reference_of(start.model(), start.state(), 0, Vec3::Zero());
    RungeKutta path(first);
    const Figure figure{"figure-9",
                        "heavy-top",
                        "Heavy top: precession and nutation",
                        {"precession [rad/s]", "nutation [deg]"},
                        5.0,
                        0.0,
                        1.0,
                        {5e-3, 2e-3, 1e-3}};
    draw(
        options, figure,
        [&](const Simulation& s) {
            return top_quantities(reference_of(s.model(), s.state(), 0, Vec3::Zero()), first.lever);
        },
        [&](double t) { return top_quantities(path.at(t), first.lever); });
}

void pendulum(const Options& options) {
    const Simulation start(make_builtin(*find_builtin("physical-pendulum"), {}));
    const RigidReference rod = reference_of(start.model(), start.state(), 0, Vec3::Zero());
    const PendulumReference exact{rod.mass, rod.inertia.maxCoeff(), rod.lever.norm()};
    const Figure figure{"figure-10",
                        "physical-pendulum",
                        "Physical pendulum: angle and force at the pivot",
                        {"angle fallen [rad]", "force [N]"},
                        10.0,
                        0.1,
                        2 * exact.quarter_period()};
    draw(
        options, figure,
        [&](const Simulation& s) {
            // nothing has been solved yet at the start: the force of a rod let go from horizontal
            return Quantities{-s.state().joint_coordinate[0][0],
                              s.time() > 0 ? s.outputs().joints[0].force.norm() : exact.force(0.0)};
        },
        [&](double t) {
            return Quantities{exact.angle(t), exact.force(exact.angle(t))};
        });
}

}  // namespace

void articulated_figures(const Options& options) {
    spinning_box(options);
    t_handle(options);
    heavy_top(options);
    pendulum(options);
}

}  // namespace tenon::bench

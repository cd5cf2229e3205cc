#include "run/report_builder.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "math/parallel.hpp"

namespace tenon::run {
namespace {

double peak_memory_mb() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

// Nearest-rank percentile of sorted values.
double percentile(const std::vector<double>& sorted, double fraction) {
    if (sorted.empty()) return 0.0;
    const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

// Affine methods solve for 12 coordinates a body, the others for 6; elastic vertices have 3 (2 in the plane).
long count_dofs(const Scene& scene, const Model& model, const State& state) {
    const bool affine = scene.method == "affine" || scene.method == "articulated";
    long dofs = 0;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.dynamic(i)) dofs += affine ? 12 : 6;
    for (const ElasticBody& body : model.elastic)
        dofs += static_cast<long>(body.rest.size()) * (body.plane_strain ? 2 : 3);
    return dofs;
}

constexpr double told_lag = 0.045;  // of the motion: what a first-order integrator is behind
constexpr int first_steps = 20;     // in which whatever starts from rest is behind by as much

// Numerical damping that is no small part of the motion, and is not an impact's. `lift`: the energy that lifts all that moves
// by a length that nobody sees; what only settles on the ground exchanges no more.
std::string integrator_warning(const Report& report, double integrator, double lift, bool first_order) {
    constexpr double told = 0.05;
    const double exchanged = std::max(report.books.turnover, report.books_kinetic);
    const double share = integrator / exchanged;
    if (report.tets > 0 || !(std::abs(share) > told) || exchanged <= lift) return {};
    return fmt::format("the integrator {} {:.0f} % of the energy that was exchanged: take a smaller step{}",
                       share > 0 ? "took" : "added", 100 * std::abs(share),
                       first_order ? ", or integrator = bdf2" : "");
}

}  // namespace

bool is_closed(const Model& model, const State& state) {
    const Bodies& bodies = model.bodies;
    for (int i = 0; i < bodies.size(); ++i) {
        if (!state.dynamic(i) && bodies.collides[i]) return false;
        if (state.dynamic(i) && bodies.fixed[i] != std::array<bool, 6>{}) return false;
    }
    for (const Joint& joint : model.joints)
        for (const int body : joint.bodies)
            if (joint.spec.type != JointType::coupling && (body < 0 || !state.dynamic(body))) return false;
    for (const ElasticBody& body : model.elastic)
        if (!body.pins.empty()) return false;
    return model.forces.empty() && model.wind.drag <= 0;
}

StepRow measure(const Model& model, const State& state, const StepReport& report, double wall_ms) {
    StepRow row;
    row.step = state.step;
    row.time = state.time;
    row.wall_ms = wall_ms;
    row.report = report;
    row.report.joint_residual = std::max(report.joint_residual, joint_residual_max(model, state));
    row.energy = energies(model, state);
    for (const auto& [name, value] : report.metrics)
        if (name == "elastic_energy") row.energy.elastic = value;
    row.linear_momentum = linear_momentum(model, state);
    row.angular_momentum = angular_momentum(model, state);
    return row;
}

ReportBuilder::ReportBuilder(const Simulation& simulation, const StepRow& start)
    : ReportBuilder(simulation.scene(), simulation.model(), simulation.state(), start) {}

ReportBuilder::ReportBuilder(const Scene& scene, const Model& model, const State& state,
                             const StepRow& start) {
    report_.scene = scene.name;
    report_.method = scene.method;
    report_.dt = scene.dt;
    report_.threads = thread_count();
    report_.bodies = model.bodies.size();
    report_.joints = static_cast<int>(model.joints.size());
    for (int i = 0; i < model.bodies.size(); ++i)
        report_.triangles += static_cast<long>(model.shape_of(i).mesh.triangles.size());
    for (const ElasticBody& body : model.elastic) {
        report_.triangles += static_cast<long>(body.surface.size());
        report_.tets += static_cast<long>(body.tets.size());
    }
    report_.dofs = count_dofs(scene, model, state);
    report_.error_estimate = std::numeric_limits<double>::quiet_NaN();
    report_.books_kinetic = start.energy.kinetic;
    report_.energy_start = report_.energy_end = start.energy.total();
    report_.joint_residual_max = start.report.joint_residual;
    closed_ = is_closed(model, state);
    start_momentum_ = start.linear_momentum;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.dynamic(i)) {
            total_mass_ += model.bodies.mass[i];
            size_ = std::max(size_, 2.0 * model.shape_of(i).radius);
        }
    for (const ElasticBody& body : model.elastic)
        for (const double mass : body.vertex_mass) total_mass_ += mass;
    weight_ = total_mass_ * state.gravity;
    const auto integrator = scene.method_params.find("integrator");
    first_order_ =
        scene.method == "affine" && (integrator == scene.method_params.end() ||
                                     integrator->second == ParamValue(std::string("implicit-euler")));
    time_ = start.time;
}

void ReportBuilder::accumulate(Sums& sums, const Sums& values) {
    for (const auto& [name, value] : values) {
        if (name.starts_with("sensor.")) continue;  // a mean of positions says nothing
        if (is_energy_share(name)) continue;        // summed in the books
        if (name == "lag") continue;                // of the run so far
        const auto found =
            std::find_if(sums.begin(), sums.end(), [&](const auto& entry) { return entry.first == name; });
        if (found == sums.end())
            sums.emplace_back(name, value);
        else
            found->second += value;
    }
}

void ReportBuilder::warn(const std::string& text) {
    auto& warnings = report_.warnings;
    if (std::find(warnings.begin(), warnings.end(), text) == warnings.end()) warnings.push_back(text);
}

void ReportBuilder::note_unconverged(const StepRow& row) {
    constexpr std::size_t listed = 20;
    if (static_cast<std::size_t>(report_.unconverged_steps++) >= listed) return;
    std::string text =
        fmt::format("step {} at {:g} s after {} iterations", row.step, row.time, row.report.iterations);
    for (const std::string& warning : row.report.warnings) text += "; " + warning;
    report_.unconverged.push_back(std::move(text));
}

void ReportBuilder::add(const StepRow& row) {
    const StepReport& step = row.report;
    ++report_.steps;
    time_ = row.time;
    wall_ms_.push_back(row.wall_ms);
    iterations_ += step.iterations;
    contacts_ += step.contacts;
    report_.iterations_max = std::max(report_.iterations_max, static_cast<double>(step.iterations));
    report_.contacts_max = std::max(report_.contacts_max, static_cast<double>(step.contacts));
    report_.min_distance = std::min(report_.min_distance, step.min_distance);
    report_.joint_residual_max = std::max(report_.joint_residual_max, step.joint_residual);
    report_.energy_end = row.energy.total();
    if (!step.converged) note_unconverged(row);
    if (!step.solver.empty()) report_.solver = step.solver;
    accumulate(phases_, step.phases);
    accumulate(metrics_, step.metrics);
    const EnergyShares shares = shares_of(step.metrics);
    report_.books.add(shares);
    // of a step in parts articulated tells the last part's forces: the rest of its energy stands with the integrator's
    const bool in_parts = report_.method == "articulated" &&
                          std::any_of(step.metrics.begin(), step.metrics.end(), [](const auto& metric) {
                              return metric.first == "substeps" && metric.second > 1.0;
                          });
    // A bounce turns round within its step: what its impulse does over the displacement is the impact's, with the other sign.
    const double bounced = shares.integrator * shares.impact < 0.0 ? std::abs(shares.impact) : 0.0;
    if (!in_parts)
        integrator_whole_ +=
            std::copysign(std::max(0.0, std::abs(shares.integrator) - bounced), shares.integrator);
    report_.books_open_most = std::max(report_.books_open_most, std::abs(report_.books.unexplained));
    for (const auto& [name, value] : step.metrics)
        if (name == "lag") lag_ = value;
    for (const auto& [name, value] : step.metrics)
        if (name == "error_estimate")
            report_.error_estimate =
                std::isnan(report_.error_estimate) ? value : std::max(report_.error_estimate, value);
    report_.books_kinetic = std::max(report_.books_kinetic, row.energy.kinetic);
    for (const std::string& warning : step.warnings) warn(warning);
    // By Cauchy's inequality sqrt(2 M E_kin) is the most momentum that the bodies could have between them.
    const Vec3 expected = start_momentum_ + row.time * weight_;
    momentum_change_ = std::max(momentum_change_, (row.linear_momentum - expected).norm());
    momentum_scale_ =
        std::max(momentum_scale_, std::sqrt(2 * total_mass_ * std::max(0.0, row.energy.kinetic)));
}

double Report::unexplained_share() const {
    const double scale = std::max(books.turnover, books_kinetic);
    return scale > 0 ? books_open_most / scale : std::numeric_limits<double>::quiet_NaN();
}

Report ReportBuilder::finish(const std::string& status, double wall_seconds) const {
    Report report = report_;
    constexpr double unseen = 1e-3, still = 1e-6;  // of a body's size; the second: in a second
    const double lift = weight_.norm() * unseen * size_ + 0.5 * total_mass_ * std::pow(still * size_, 2);
    if (const std::string damped = integrator_warning(report, integrator_whole_, lift, first_order_);
        !damped.empty())
        report.warnings.push_back(damped);
    else if (lag_ > told_lag && report.steps >= first_steps)
        report.warnings.push_back(fmt::format(
            "implicit Euler is behind by {:.0f} % of the motion: take a smaller step, or integrator = bdf2",
            100 * lag_));
    report.status = status;
    report.wall_seconds = wall_seconds;
    report.simulated_seconds = time_;
    const double steps = std::max<double>(1.0, static_cast<double>(report.steps));
    std::vector<double> sorted = wall_ms_;
    std::sort(sorted.begin(), sorted.end());
    double total = 0;
    for (const double ms : sorted) total += ms;
    report.ms_mean = total / steps;
    report.ms_p50 = percentile(sorted, 0.5);
    report.ms_p95 = percentile(sorted, 0.95);
    report.ms_max = sorted.empty() ? 0.0 : sorted.back();
    report.iterations_mean = iterations_ / steps;
    report.contacts_mean = contacts_ / steps;
    for (const auto& [name, sum] : phases_) report.phases_ms.emplace_back(name, sum / steps);
    for (const auto& [name, sum] : metrics_) report.metrics.emplace_back(name, sum / steps);
    report.peak_memory_mb = peak_memory_mb();
    report.momentum_drift = !closed_                ? std::numeric_limits<double>::quiet_NaN()
                            : momentum_scale_ > 0.0 ? momentum_change_ / momentum_scale_
                                                    : 0.0;
    return report;
}

}  // namespace tenon::run

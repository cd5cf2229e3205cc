#include "bench/adaptive_runs.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "math/parallel.hpp"
#include "tenon/builtin.hpp"

namespace tenon::bench {

StepReport AdaptiveRun::step() {
    StepReport report;
    const std::clock_t start = std::clock();
    ms.push_back(1e3 * seconds_of([&] { report = simulation.step(); }));
    cpu_ms += 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    double contact = 0, solve = 0;
    for (const auto& [stage, value] : report.phases) {
        if (stage == "contact" || stage == "collide") contact += value;
        for (const char* part : {"lay_out", "assemble", "factor", "solve", "contact"})
            if (stage == part) solve += value;
        stage_ms[stage] += value;
    }
    contact_ms.push_back(contact);
    solve_ms.push_back(solve);
    if (!simulation.model().elastic.empty()) height.push_back(middle_height(simulation));
    for (const auto& [name, value] : report.metrics) {
        if (name == "rigid_fraction") rigid.push_back(value);
        if (name == "elastic_energy")
            energy.push_back(energies(simulation.model(), simulation.state()).total() + value);
        figure_sum[name] += value;
    }
    return report;
}

void AdaptiveRun::forget_times() {
    ms.clear();
    cpu_ms = 0;
    contact_ms.clear();
    solve_ms.clear();
    stage_ms.clear();
}

double AdaptiveRun::total() const {
    double sum = 0;
    for (double m : ms) sum += m;
    return sum;
}

double AdaptiveRun::total_without_contact() const {
    double sum = 0;
    for (std::size_t i = 0; i < ms.size(); ++i) sum += ms[i] - contact_ms[i];
    return sum;
}

void AdaptiveError::compare(const Simulation& a, const Simulation& b) {
    for (std::size_t e = 0; e < a.model().elastic.size(); ++e) {
        Box3 box;
        Vec3 ca = Vec3::Zero(), cb = Vec3::Zero();
        double mass = 0, worst = 0;
        const ElasticBody& body = a.model().elastic[e];
        const ElasticState &p = a.state().elastic[e], &q = b.state().elastic[e];
        for (std::size_t v = 0; v < p.x.size(); ++v) {
            box.add(body.rest[v]);
            worst = std::max(worst, (p.x[v] - q.x[v]).norm());
            ca += body.vertex_mass[v] * p.x[v];
            cb += body.vertex_mass[v] * q.x[v];
            mass += body.vertex_mass[v];
        }
        const double size = box.size().maxCoeff();
        vertex = std::max(vertex, worst / size);
        center = std::max(center, (ca - cb).norm() / mass / size);
    }
    until.push_back(vertex);
}

PairResult run_pair(AdaptiveRun& adaptive, AdaptiveRun& plain, double share) {
    const int steps = std::max(
        5, static_cast<int>(share * adaptive.simulation.scene().seconds / adaptive.simulation.dt() + 0.5));
    PairResult result;
    for (int i = 0; i < steps; ++i) {
        adaptive.step();
        plain.step();
        result.error.compare(plain.simulation, adaptive.simulation);
    }
    for (int i = 0; i < steps; ++i) {
        result.mean += plain.ms[i] / adaptive.ms[i] / steps;
        result.nc_mean += (plain.ms[i] - plain.contact_ms[i]) /
                          std::max(1e-6, adaptive.ms[i] - adaptive.contact_ms[i]) / steps;
    }
    result.adaptive_ms = adaptive.total() / steps;
    result.plain_ms = plain.total() / steps;
    result.total = plain.total() / adaptive.total();
    result.cpu_total = plain.cpu_ms / std::max(1e-6, adaptive.cpu_ms);
    result.nc_total = plain.total_without_contact() / adaptive.total_without_contact();
    return result;
}

double middle_height(const Simulation& simulation) {
    double sum = 0, mass = 0;
    const ElasticBody& body = simulation.model().elastic[0];
    const std::vector<Vec3>& x = simulation.state().elastic[0].x;
    for (std::size_t v = 0; v < x.size(); ++v) {
        sum += body.vertex_mass[v] * x[v].y();
        mass += body.vertex_mass[v];
    }
    return sum / mass;
}

Vec3 center_of_all(const Simulation& simulation) {
    Vec3 sum = Vec3::Zero();
    double mass = 0;
    for (std::size_t e = 0; e < simulation.model().elastic.size(); ++e) {
        const ElasticBody& body = simulation.model().elastic[e];
        for (std::size_t v = 0; v < body.rest.size(); ++v) {
            sum += body.vertex_mass[v] * simulation.state().elastic[e].x[v];
            mass += body.vertex_mass[v];
        }
    }
    return sum / mass;
}

double highest_point(const Simulation& simulation) {
    double highest = -1e300;
    for (const ElasticState& body : simulation.state().elastic)
        for (const Vec3& x : body.x) highest = std::max(highest, x.y());
    return highest;
}

double height_of_all(const Simulation& simulation) {
    Box3 box;
    for (const ElasticState& body : simulation.state().elastic)
        for (const Vec3& x : body.x) box.add(x);
    return std::max(1e-12, box.size().y());
}

double energy_scale(const AdaptiveRun& run) {
    double largest = 1e-12;
    for (double e : run.energy) largest = std::max(largest, std::abs(e - run.energy[0]));
    return largest;
}

std::size_t tetrahedra(const Simulation& simulation) {
    std::size_t sum = 0;
    for (const ElasticBody& body : simulation.model().elastic) sum += body.tets.size();
    return sum;
}

Row adaptive_row(const std::string& name, const std::string& method, const Simulation& simulation) {
    Row row;
    row.set("bench", std::string("adaptive")).set("case", name).set("engine", std::string("tenon"));
    row.set("method", method).set("size", static_cast<double>(tetrahedra(simulation)));
    row.set("threads", thread_count());
    return row;
}

Scene adaptive_scene_of(const std::string& name, Given given, bool adaptive) {
    given["adaptive"] = adaptive;
    return make_builtin(*find_builtin(name), given);
}

}  // namespace tenon::bench

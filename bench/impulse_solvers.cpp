// The solvers against each other: on one and the same contacts, and the energy they may not add.
#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "bench/impulse_parts.hpp"
#include "bench/impulse_piles.hpp"
#include "math/parallel.hpp"
#include "methods/impulse/decomposition.hpp"
#include "methods/impulse/ffd.hpp"
#include "methods/impulse/impulse_method.hpp"
#include "methods/impulse/sweeps.hpp"

namespace tenon::bench::impulse_parts {
namespace {

struct Start {
    const char* name;
    Scene scene;
    std::string state;
};

double momentum_size(const Model& model, const State& state) {
    double size = 0;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.dynamic(i)) size += model.bodies.mass[i] * state.rate[i].col(3).norm();
    return size;
}

// One step of one solver from the given state; then half a second on, to see what becomes of it.
void measure(const Options& options, const Start& start, const SolverChoice& choice) {
    Scene scene = start.scene;
    for (const auto& [key, value] : choice.params) scene.method_params[key] = value;
    auto begin = [&] {
        auto simulation = std::make_unique<Simulation>(scene);
        std::istringstream in(start.state);
        simulation->load(in);
        return simulation;
    };
    std::vector<double> times;
    double residual = 0, energy = 0, momentum = 0;
    int contacts = 0;
    for (int repeat = 0; repeat < std::max(1, options.repeats); ++repeat) {
        const auto simulation = begin();
        const Vec3 before = linear_momentum(simulation->model(), simulation->state());
        const double size = momentum_size(simulation->model(), simulation->state()),
                     kinetic = energies(simulation->model(), simulation->state()).kinetic;
        const StepReport report = simulation->step();
        times.push_back(phase(report, "solve"));
        const auto& method = dynamic_cast<const impulse::ImpulseMethod&>(
            simulation->method().stepper(simulation->model(), simulation->state()));
        residual = impulse::contact_residual(method.problem());
        contacts = report.contacts;
        momentum = (linear_momentum(simulation->model(), simulation->state()) - before).norm() / size;
        energy = energies(simulation->model(), simulation->state()).kinetic / kinetic;
    }
    const auto simulation = begin();
    const auto from = places(simulation->state());
    double deepest = 0;
    for (int s = 0; s < static_cast<int>(std::lround(0.5 / simulation->dt())); ++s)
        deepest = std::max(deepest, figure(simulation->step(), "penetration"));
    Row row = row_of(start.name, std::string("impulse: ") + choice.label);
    row.set("size", static_cast<double>(start.scene.bodies.size()))
        .set("threads", 1)
        .set("ms_solver", median(times));
    row.set("contacts", contacts).set("contact_residual", residual).set("kinetic_energy_ratio", energy);
    if (start.scene.gravity.isZero(0))
        row.set("momentum_drift", momentum);
    else
        row.set("drift_half_second", mean_distance(from, places(simulation->state())))
            .set("penetration_half_second", deepest);
    options.print(row);
}

Start settled_pile(int cubes) {
    Simulation pile(scene_of("cubes", {{"cubes", static_cast<double>(cubes)}}));
    for (int s = 0; s < 120; ++s) pile.step();
    std::stringstream state;
    pile.save(state);
    return {"solvers-pile", pile.scene(), state.str()};
}

// Cubes that fly at each other without gravity.
Start colliding_cloud(int cubes) {
    Scene cloud = scene_of("cubes", {{"cubes", static_cast<double>(cubes)}});
    cloud.gravity = Vec3::Zero();
    std::erase_if(cloud.bodies, [](const BodySpec& body) { return body.type == BodyType::static_body; });
    cloud.expect.clear();
    for (BodySpec& body : cloud.bodies) body.linear_velocity = -1.5 * (body.position - Vec3(0, 1, 0));
    Simulation flying(cloud);
    for (int s = 0; s < 25; ++s) flying.step();
    std::stringstream state;
    flying.save(state);
    return {"solvers-cloud", cloud, state.str()};
}

struct EnergyCase {
    const char* label;
    bool must_hold;  // the papers' own schemes are known not to
    void (*solve)(impulse::ProblemBuilder&);
};

template <int sweeps, bool plain>
void by_sweeps(impulse::ProblemBuilder& b) {
    impulse::SweepSettings settings;
    settings.max_sweeps = sweeps;
    settings.tolerance = plain ? 0 : 1e-6;
    settings.accelerate = !plain;
    settings.pyramid = plain;
    settings.graph_order = !plain;
    impulse::Sweeper sweeper;
    sweeper.prepare(b.problem, b.centers, settings);
    sweeper.solve(b.problem);
}

template <bool ffd, bool limit>
void by_bodies(impulse::ProblemBuilder& b) {
    if constexpr (ffd)
        impulse::solve_by_ffd(b.problem, limit);
    else
        impulse::solve_by_decomposition(b.problem, limit);
}

void energy_of_solver(const Options& options, const EnergyCase& c, int piles) {
    constexpr double allowed = 1.001;
    constexpr int listed = 10;
    int solves = 0, violations = 0;
    double worst = 0;
    std::string list;
    for (int k = 0; k < piles; ++k) {
        impulse::ProblemBuilder b = impulse::numbered_pile(k);
        std::mt19937 random(static_cast<unsigned>(k) + 7);
        for (int step = 0; step < 3 && !b.problem.contacts.empty(); ++step) {
            if (step > 0) impulse::next_step(b, random);
            const double before = impulse::kinetic_energy(b.problem);
            c.solve(b);
            const double ratio = impulse::kinetic_energy(b.problem) / before;
            ++solves;
            worst = std::max(worst, ratio);
            if (ratio <= allowed) continue;
            if (++violations <= listed) list += fmt::format("{}{}/{}", list.empty() ? "" : " ", k, step);
        }
    }
    Row row = row_of("energy", std::string("impulse: ") + c.label);
    row.set("size", piles).set("threads", 1).set("solves", solves).set("violations", violations);
    row.set("worst_energy_ratio", worst).set("pile_and_step", list.empty() ? "none" : list);
    options.print(row);
    if (c.must_hold && violations > 0)
        options.note(fmt::format("energy: {} grew by more than 0.1 % in {} of {} solves", c.label, violations,
                                 solves));
}

}  // namespace

// Time, residual and drift of each solver on one state and one set of contacts: a settled pile, a cloud in collision.
void compare_solvers(const Options& options, int cubes) {
    set_threads(1);
    for (const Start& start : {settled_pile(cubes), colliding_cloud(500)})
        for (const SolverChoice& choice : solver_choices()) measure(options, start, choice);
    set_threads(0);
}

// Kinetic energy across the contact solve at restitution 0: random piles, each with two more steps that start from the
// impulses of the one before.
void energy_of_piles(const Options& options, int piles) {
    set_threads(1);
    const EnergyCase cases[] = {
        {"decomposition, third law", true, by_sweeps<200, false>},
        {"decomposition, third law, 8 sweeps", true, by_sweeps<8, false>},
        {"decomposition, body by body", true, by_bodies<false, true>},
        {"ffd", true, by_bodies<true, true>},
        {"pgs, 5 iterations", true, by_sweeps<5, true>},
        {"decomposition, energy_limit=false", false, by_bodies<false, false>},
        {"ffd, energy_limit=false", false, by_bodies<true, false>},
    };
    for (const EnergyCase& c : cases) energy_of_solver(options, c, piles);
    set_threads(0);
}

}  // namespace tenon::bench::impulse_parts

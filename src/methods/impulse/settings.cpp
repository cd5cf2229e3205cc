#include "methods/impulse/settings.hpp"

#include <fmt/format.h>

namespace tenon::impulse {

std::vector<ParamInfo> parameters() {
    return {
        {"solver",
         std::string("gauss-seidel"),
         "gauss-seidel: equal and opposite impulses, in sub-steps; decomposition: the paper's scheme, each "
         "body by "
         "itself; ffd: fast frictional dynamics; pgs: the usual LCP by projected Gauss-Seidel",
         0,
         0,
         {"gauss-seidel", "decomposition", "ffd", "pgs"}},
        {"substeps", 0.0,
         "sub-steps of solver=gauss-seidel; 0: so many that one takes 1/1200 s, from 6 to 20; 1: sweeps at "
         "one set of positions, which are corrected afterwards",
         0, 1000},
        {"contact_frequency",
         0.0,
         "stiffness of contacts in sub-steps: how fast they undo penetration; 0: a tenth of the rate of "
         "sub-steps for very "
         "many contacts, up to four tenths for few",
         0,
         1e6,
         {},
         "Hz"},
        {"third_law", true,
         "former name of a choice: true is solver=gauss-seidel, false solver=decomposition"},
        {"energy_limit", true,
         "solver=decomposition and ffd: contact adds no energy to a group of touching bodies; false: as in "
         "the "
         "papers"},
        {"sweeps", 0.0,
         "most Gauss-Seidel sweeps over all contacts in a step; 0: 200 for few contacts, down to 8 for very "
         "many",
         0, 100000},
        {"tolerance",
         0.0,
         "sweeps stop when no contact's velocity is off by more; 0: g dt / 100000",
         0,
         1e9,
         {},
         "m/s"},
        {"iterations", 5.0, "sweeps of solver=pgs", 1, 100000},
        {"warm_start", true, "start from the last step's impulses"},
        {"accelerate", true, "substeps=1: momentum between sweeps (nonsmooth conjugate gradients)"},
        {"restitution_threshold",
         0.0,
         "slower impacts do not bounce; 0: twice what gravity adds in a step",
         0,
         1e9,
         {},
         "m/s"},
        {"slop",
         0.0,
         "penetration that is left alone; 0: none in sub-steps, 1/200 of the smallest moving body elsewhere",
         0,
         1e9,
         {},
         "m"},
        {"correction", 0.2,
         "share of the penetration beyond the slop that is undone in a step (substeps=1 and the other "
         "solvers)",
         0, 1},
        {"correction_sweeps", 4.0, "sweeps of the position correction", 0, 1000},
        {"sleeping", true,
         "groups of bodies that have come to rest are set aside until something touches them"},
        {"sleep_speed",
         0.0,
         "slower bodies may fall asleep; 0: a twentieth of what gravity adds in a step",
         0,
         1e9,
         {},
         "m/s"},
        {"sleep_time", 0.5, "how long a group must have been that slow", 0, 1e9, {}, "s"},
        {"field_cells", 40.0, "cells of a mesh's signed distance along its longest side", 4, 400},
    };
}

const char* name_of(Solver solver) {
    constexpr const char* names[] = {"gauss-seidel", "decomposition", "ffd", "pgs"};
    return names[static_cast<int>(solver)];
}

namespace {

// Scenes of version 0.1 chose the paper's scheme by `third_law`.
Solver read_solver(const Params& params) {
    Solver solver = Solver::gauss_seidel;
    for (Solver each : {Solver::gauss_seidel, Solver::decomposition, Solver::ffd, Solver::pgs})
        if (params.text("solver") == name_of(each)) solver = each;
    if (!params.was_given("third_law")) return solver;
    const bool wanted = params.flag("third_law"),
               keeps = solver == Solver::gauss_seidel || solver == Solver::pgs;
    if (wanted == keeps) return solver;
    if (!wanted && !params.was_given("solver")) return Solver::decomposition;
    throw InputError(
        "", "method.third_law",
        fmt::format("solver={} {} Newton's third law", name_of(solver), keeps ? "keeps" : "does not keep"),
        wanted ? "leave third_law out, and use solver=gauss-seidel for equal and opposite impulses"
               : "leave third_law out, and use solver=decomposition for the paper's scheme");
}

}  // namespace

Settings read_settings(const Params& params) {
    Settings s;
    s.solver = read_solver(params);
    s.substeps = params.integer("substeps");
    s.contact_frequency = params.number("contact_frequency");
    s.energy_limit = params.flag("energy_limit");
    s.sweeps = params.integer("sweeps");
    s.tolerance = params.number("tolerance");
    s.iterations = params.integer("iterations");
    s.warm_start = params.flag("warm_start");
    s.accelerate = params.flag("accelerate");
    s.restitution_threshold = params.number("restitution_threshold");
    s.slop = params.number("slop");
    s.correction = params.number("correction");
    s.correction_sweeps = params.integer("correction_sweeps");
    s.sleeping = params.flag("sleeping");
    s.sleep_speed = params.number("sleep_speed");
    s.sleep_time = params.number("sleep_time");
    s.field_cells = params.integer("field_cells");
    return s;
}

std::optional<Unsupported> supports(const Scene& scene) {
    if (!scene.joints.empty())
        return Unsupported{"joints[0]", "the impulse method has no joints",
                           "use --method articulated or affine"};
    if (!scene.elastic.empty())
        return Unsupported{"elastic[0]", "the impulse method has rigid bodies only",
                           "use --method adaptive, volume or affine"};
    for (std::size_t i = 0; i < scene.bodies.size(); ++i)
        if (scene.bodies[i].min_separation > 0)
            return Unsupported{fmt::format("bodies[{}].min_separation", i),
                               "the impulse method lets surfaces touch", "use --method affine"};
    return std::nullopt;
}

}  // namespace tenon::impulse

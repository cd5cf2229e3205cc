#include "methods/impulse/settings.hpp"

#include <fmt/format.h>

namespace tenon::impulse {

std::vector<ParamInfo> parameters() {
    return {
        {"solver",
         std::string("decomposition"),
         "decomposition: the paper's; ffd: fast frictional dynamics; pgs: an LCP by projected Gauss-Seidel",
         0,
         0,
         {"decomposition", "ffd", "pgs"}},
        {"third_law", true,
         "equal and opposite impulses, swept until both sides agree; false: every body by itself, as in the "
         "paper"},
        {"energy_limit", true,
         "solvers that treat bodies by themselves: contact adds no energy to a group of touching bodies; "
         "false: "
         "as in the papers"},
        {"sweeps", 0.0, "most sweeps over all contacts; 0: 200 for few contacts, down to 8 for very many", 0,
         100000},
        {"tolerance",
         0.0,
         "sweeps stop when no contact's velocity is off by more; 0: g dt / 100000",
         0,
         1e9,
         {},
         "m/s"},
        {"iterations", 5.0, "sweeps of solver=pgs", 1, 100000},
        {"warm_start", true, "start from the last step's impulses"},
        {"accelerate", true, "momentum between sweeps (nonsmooth conjugate gradients)"},
        {"restitution_threshold",
         0.0,
         "slower impacts do not bounce; 0: twice what gravity adds in a step",
         0,
         1e9,
         {},
         "m/s"},
        {"slop",
         0.0,
         "penetration that is left alone; 0: 1/200 of the smallest moving body",
         0,
         1e9,
         {},
         "m"},
        {"correction", 0.2, "share of the penetration beyond the slop that is undone in a step", 0, 1},
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

Settings read_settings(const Params& params) {
    Settings s;
    const std::string& solver = params.text("solver");
    s.solver = solver == "ffd" ? Solver::ffd : solver == "pgs" ? Solver::pgs : Solver::decomposition;
    if (s.solver == Solver::ffd && params.was_given("third_law") && params.flag("third_law"))
        throw InputError("", "method.third_law", "fast frictional dynamics treats every body by itself",
                         "use solver=decomposition for equal and opposite impulses");
    s.third_law = params.flag("third_law");
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

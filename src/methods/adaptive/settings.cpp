#include "methods/adaptive/settings.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tenon::adaptive {

std::vector<ParamInfo> parameters() {
    return {
        {"adaptive", true, "false: the plain elastic run, with the same solver"},
        {"tau_R", 1e-5, "elements whose squared strain rate stays below become rigid (1/s^2)", 0, 1e12},
        {"tau_E", 0.0, "rigid elements whose forecast exceeds this become elastic; 0: ten times tau_R", 0,
         1e12},
        {"steps_before_rigid", 5.0, "steps that an element must stay below tau_R", 1, 1000},
        {"smallest_component", 10.0, "fewer elements stay elastic, unless they are the whole body", 1, 1e9},
        {"preconditioner",
         std::string("cholesky"),
         "of the forecast: a constant matrix factored once, its incomplete factor, or its diagonal",
         0,
         0,
         {"cholesky", "incomplete", "jacobi"}},
        {"skip_oracle", true, "no forecast for rigid bodies around which nothing has changed"},
        {"oracle_interval",
         0.02,
         "longest time between forecasts of a solid that nothing new touches, and at most steps_before_rigid "
         "steps",
         0,
         1e9,
         {},
         "s"},
        {"horizon",
         0.0,
         "time for which a forecast lets what pulls go on, unless the solid has just been struck; 0: one "
         "step",
         0,
         1e9,
         {},
         "s"},
        {"compliance", 0.0,
         "of contacts (gamma, s/kg; the paper has 0.001); 0: bodies sink in by 1/1000 of their least side at "
         "rest",
         0, 1e12},
        {"baumgarte", 0.2, "share of a penetration that is undone in a step (k_b times dt)", 0, 1},
        {"sweeps", 80.0, "sweeps over the contacts before Newton's method takes over", 1, 100000},
        {"tolerance",
         0.0,
         "sweeps stop when no contact's velocity is off by more; 0: what changes strain rates by sqrt(tau_R) "
         "/ 1000",
         0,
         1e9,
         {},
         "m/s"},
        {"newton", 1.0,
         "most iterations of Newton's method in a step, with a line search; 1: one linearisation, as in the "
         "paper",
         1, 1000},
        {"field_cells", 40.0, "cells of a mesh's signed distance along its longest side", 4, 400},
    };
}

Settings read_settings(const Params& params) {
    Settings s;
    s.adaptive = params.flag("adaptive");
    s.rigid_below = params.number("tau_R");
    s.elastic_above = params.number("tau_E") > 0 ? params.number("tau_E") : 10 * s.rigid_below;
    s.steps_before_rigid = params.integer("steps_before_rigid");
    s.smallest_component = params.integer("smallest_component");
    const std::string& kind = params.text("preconditioner");
    s.preconditioner = kind == "jacobi"       ? Preconditioner::jacobi
                       : kind == "incomplete" ? Preconditioner::incomplete
                                              : Preconditioner::cholesky;
    s.skip_oracle = params.flag("skip_oracle");
    s.oracle_interval = params.number("oracle_interval");
    s.horizon = params.number("horizon");
    s.compliance = params.number("compliance");
    s.baumgarte = params.number("baumgarte");
    s.sweeps = params.integer("sweeps");
    s.tolerance = params.number("tolerance");
    s.newton = params.integer("newton");
    s.field_cells = params.integer("field_cells");
    return s;
}

double velocity_tolerance(const Settings& settings, double h, double gravity, double least_edge) {
    return settings.tolerance > 0 ? settings.tolerance
                                  : std::max(1e-6 * h * std::max(gravity, 1e-3),
                                             1e-3 * std::sqrt(settings.rigid_below) * least_edge);
}

std::optional<Unsupported> supports(const Scene& scene) {
    if (!scene.joints.empty())
        return Unsupported{"joints[0]", "the adaptive method has no joints",
                           "use --method articulated, or pin the elastic body to its neighbours"};
    for (std::size_t i = 0; i < scene.bodies.size(); ++i)
        if (scene.bodies[i].min_separation > 0)
            return Unsupported{fmt::format("bodies[{}].min_separation", i),
                               "the adaptive method lets surfaces touch", "use --method affine"};
    return std::nullopt;
}

}  // namespace tenon::adaptive

#include "methods/affine/settings.hpp"

namespace tenon::affine {

std::vector<ParamInfo> parameter_list() {
    return {
        {"integrator",
         std::string("implicit-euler"),
         "time integration",
         0,
         0,
         {"implicit-euler", "bdf2", "newmark"}},
        {"energy",
         std::string("orthogonality"),
         "what keeps bodies rigid",
         0,
         0,
         {"orthogonality", "arap", "neo-hookean"}},
        {"kappa", 1e11, "stiffness of the rigidity energy", 1.0, 1e16, {}, "Pa"},
        {"stretch_damping", 1.0, "newmark only: part of the strain rate removed in each step", 0.0, 1.0},
    };
}

Settings read_settings(const Params& params) {
    Settings settings;
    settings.integrator = integrator_named(params.text("integrator"));
    settings.rigidity = rigidity_model(params.text("energy"));
    settings.kappa = params.number("kappa");
    settings.stretch_damping = params.number("stretch_damping");
    return settings;
}

}  // namespace tenon::affine

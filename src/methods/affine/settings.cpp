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
        {"kappa", 0.0, "stiffness of the rigidity energy; 0: so that bodies are rigid", 0.0, 1e20, {}, "Pa"},
        {"stretch_damping", 1.0, "newmark only: part of the strain rate removed in each step", 0.0, 1.0},
        {"dhat", 0.0, "distance at which contact begins; 0: chosen from the scene", 0.0, 1e3, {}, "m"},
        {"contact_stiffness",
         0.0,
         "acceleration a contact holds at half its range; 0: chosen from the scene",
         0.0,
         1e12,
         {},
         "m/s^2"},
        {"eps_v",
         0.0,
         "sliding speed below which friction sticks; 0: chosen from the scene",
         0.0,
         1e3,
         {},
         "m/s"},
        {"tolerance",
         0.0,
         "convergence tolerance: speed of the fastest point in the last Newton step; 0: chosen from the "
         "scene",
         0.0,
         1e3,
         {},
         "m/s"},
        {"max_iterations", 1000.0, "Newton iterations before a step counts as unconverged", 1.0, 1e6},
        {"friction_iterations", 1.0, "how often friction's normal forces are renewed within a step", 1.0,
         100.0},
        {"restitution", -1.0,
         "of all impacts; -1: what the scene's materials say; 0: what comes of barrier and integrator", -1.0,
         1.0},
        {"restitution_speed",
         0.0,
         "0: impacts follow Newton's law; else restitution comes from barrier and integrator, chosen for "
         "impacts of this speed",
         0.0,
         1e4,
         {},
         "m/s"},
        {"solve",
         std::string("auto"),
         "islands: of linked bodies, each by itself; coupled: everything at once, as elastic bodies and "
         "joints "
         "with limits, springs or bilinear constraints need",
         0,
         0,
         {"auto", "islands", "coupled"}},
        {"log", std::string(), "file that gets a line for every Newton iteration"},
        {"dump", std::string(),
         "beginning of the names of files that get the Newton systems of one step, in Matrix Market form"},
        {"dump_step", 0.0, "the step whose Newton systems are written, counted from 0", 0.0, 1e9},
    };
}

Settings read_settings(const Params& params) {
    Settings settings;
    settings.integrator = integrator_named(params.text("integrator"));
    settings.rigidity = rigidity_model(params.text("energy"));
    settings.kappa = params.number("kappa");
    settings.stretch_damping = params.number("stretch_damping");
    settings.dhat = params.number("dhat");
    settings.contact_stiffness = params.number("contact_stiffness");
    settings.eps_v = params.number("eps_v");
    settings.tolerance = params.number("tolerance");
    settings.max_iterations = params.integer("max_iterations");
    settings.friction_iterations = params.integer("friction_iterations");
    settings.restitution = params.number("restitution");
    settings.restitution_speed = params.number("restitution_speed");
    settings.integrator_given = params.was_given("integrator");
    settings.log = params.text("log");
    settings.dump = params.text("dump");
    settings.dump_step = params.integer("dump_step");
    return settings;
}

}  // namespace tenon::affine

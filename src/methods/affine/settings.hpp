// The method's parameters: names, defaults, help, and the form the code uses.
#pragma once

#include <string>
#include <vector>

#include "methods/affine/integrator.hpp"
#include "methods/affine/rigidity.hpp"
#include "tenon/params.hpp"

namespace tenon::affine {

struct Settings {
    Integrator integrator = Integrator::implicit_euler;
    RigidityModel rigidity = RigidityModel::orthogonality;
    double kappa = 0.0;              // Pa; 0: so that bodies are rigid
    double stretch_damping = 1.0;    // Newmark: part of the strain rate removed per step
    double dhat = 0.0;               // m; 0: from the scene
    double contact_stiffness = 0.0;  // m/s^2 held at half range; 0: from the scene
    double eps_v = 0.0;              // m/s; 0: from the scene
    double tolerance = 0.0;          // m/s; 0: from the scene
    int max_iterations = 1000;
    int friction_iterations = 1;
    double restitution = -1.0;  // of all impacts; negative: what the scene's materials say
    double restitution_speed =
        0.0;  // m/s, of the impact that barrier and integrator are chosen for; 0: a law of impacts
    bool integrator_given = false;  // by the user: then restitution may not change it
    std::string log;                // file for a line per Newton iteration; empty: none
    std::string dump;               // files for Newton systems begin with this; empty: none
    int dump_step = 0;              // the step whose systems are written
};

std::vector<ParamInfo> parameter_list();
Settings read_settings(const Params& params);

}  // namespace tenon::affine

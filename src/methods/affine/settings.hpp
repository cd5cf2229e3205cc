// The method's parameters: names, defaults, help, and the form the code uses.
#pragma once

#include <vector>

#include "methods/affine/integrator.hpp"
#include "methods/affine/rigidity.hpp"
#include "tenon/params.hpp"

namespace tenon::affine {

struct Settings {
    Integrator integrator = Integrator::implicit_euler;
    RigidityModel rigidity = RigidityModel::orthogonality;
    double kappa = 1e11;           // Pa
    double stretch_damping = 1.0;  // Newmark: part of the strain rate removed per step
};

std::vector<ParamInfo> parameter_list();
Settings read_settings(const Params& params);

}  // namespace tenon::affine

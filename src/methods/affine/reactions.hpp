// What joints carry: from the multipliers of rows between moving bodies, and from what is left of the forces on bodies that
// joints hold to the world.
#pragma once

#include <vector>

#include "methods/affine/contact_field.hpp"
#include "methods/affine/joints.hpp"
#include "methods/affine/motors.hpp"

namespace tenon::affine {

// The state at the end of a step that reactions are read from.
struct SolvedStep {
    const StepBodies& bodies;
    const std::vector<Mat34>& q;
    const ContactField& field;
    const std::vector<ConstraintRow>& rows;
    const std::vector<double>& multipliers;
    const std::vector<Motor>& motors;
    const std::vector<GivenTorque>& given;
    double friction_eps = 0.0;
    RigidityModel rigidity = RigidityModel::orthogonality;
};

// Force and torque of every joint on its second body, at the anchor, and what its motor has in it.
void joint_reactions(const Model& model, const State& state, Outputs& outputs, const SolvedStep& step);

}  // namespace tenon::affine

// Where joints start when not at zero: bodies are moved along the joints from the frames that stay.
#pragma once

#include "tenon/model.hpp"

namespace tenon {

// The pose of the second side's joint frame seen from the first's, for given joint coordinates: columns of the
// rotation are (d, n1, n2) of the second in (d, n1, n2) of the first; the displacement is of its anchor.
struct JointPlacement {
    Mat3 rotation = Mat3::Identity();
    Vec3 displacement = Vec3::Zero();
};
JointPlacement joint_placement(JointType type, const std::vector<double>& coordinates);

// Moves the bodies of a model built with all joints at zero to the joints' start positions and velocities, and to
// the body states of the scene's keyframe `start`. Throws InputError when a loop would not close.
void apply_joint_starts(Model& model, const Scene& scene);

}  // namespace tenon

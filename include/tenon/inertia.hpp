// Inertia tensors and the principal moments and axes that the scene description keeps.
#pragma once

#include "tenon/scene.hpp"

namespace tenon {

// Principal moments and axes of an inertia about the centre of mass; `center` stays zero. A matrix that is
// diagonal already keeps its axes.
InertiaSpec principal_inertia(const Mat3& inertia);

// axes diag(moments) axes^T.
Mat3 inertia_matrix(const InertiaSpec& inertia);

}  // namespace tenon

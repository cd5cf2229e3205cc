// One body without contacts or joints: its step is a 9-dimensional minimisation solved almost in closed form.
#pragma once

#include "methods/affine/integrator.hpp"
#include "methods/affine/rigidity.hpp"

namespace tenon::affine {

struct FreeSolve {
    Mat34 q;
    int iterations = 0;
    bool converged = false;
};

// Minimises 1/2 |q - target|^2_M + weight V(A), starting from q.
FreeSolve solve_free_body(const Mat34& q, const Mat34& target, const Inertia& inertia, double weight,
                          RigidityModel model);

// The same over increments P y only, with P an orthogonal projection: held coordinates, axes and anchors.
FreeSolve solve_held_body(const Mat34& q, const Mat34& target, const Inertia& inertia, double weight,
                          RigidityModel model, const Mat12& projection);

}  // namespace tenon::affine

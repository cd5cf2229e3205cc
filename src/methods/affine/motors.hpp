// Velocity motors of hinges within one step: bounded, stiff potentials of the relative turn.
//
// With u a material direction across the axis n and v = n x u turned on by the angle that the motor wants at the end of the
// step, v . (A u) is the sine of what the turn is off that angle: linear in q. The potential of the difference c of both
// sides is Huber's, K c^2 / 2 up to the bound of the torque and then a straight line.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "methods/affine/bodies.hpp"

namespace tenon::affine {

struct Motor {
    int joint = -1;
    int a = -1, b = -1;        // bodies with unknowns; -1: none
    Vec12 ja, jb;              // c(q) = ja . q_a + jb . q_b
    double stiffness = 0.0;    // N m / rad
    double bound = 0.0;        // N m
    Vec3 axis = Vec3::Zero();  // in the world, at the start of the step

    double off(const Mat34* qa, const Mat34* qb) const {
        double c = 0.0;
        if (a >= 0) c += ja.dot(Eigen::Map<const Vec12>(qa->data()));
        if (b >= 0) c += jb.dot(Eigen::Map<const Vec12>(qb->data()));
        return c;
    }
    double energy(double c) const {
        const double corner = bound / stiffness, x = std::abs(c);
        return x <= corner ? 0.5 * stiffness * c * c : bound * (x - 0.5 * corner);
    }
    double slope(double c) const { return std::clamp(stiffness * c, -bound, bound); }
    double curvature(double c) const { return std::abs(c) <= bound / stiffness ? stiffness : 0.0; }
};

// The velocity motors of a world for a step of length h that ends at `time`.
// `motion` is what a converged Newton step may still move (m): torques change from one bound to the other over a visible
// multiple of it.
std::vector<Motor> velocity_motors(const Model& model, const State& state, double time, double h,
                                   double motion);

// What a force motor does in a step that ends at `time`.
struct GivenTorque {
    int joint = -1;
    Vec3 axis = Vec3::Zero();  // in the world
    double torque = 0.0;       // N m, on the second body
};
std::vector<GivenTorque> given_torques(const Model& model, const State& state, double time);
void add_torques(const Model& model, const std::vector<GivenTorque>& torques, std::vector<Wrench>& wrenches);

}  // namespace tenon::affine

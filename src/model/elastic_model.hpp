// Isotropic elastic materials: energy density, stress and stiffness from the deformation gradient F.
//
// All are written in the singular values of F (the last one negative when F is inverted), from which stress and
// stiffness follow for any isotropic energy:
//   neo-hookean   mu/2 (I_C - 3) + lambda/2 (J - a)^2 - mu/2 log(I_C + 1)   (stable under inversion)
//   stvk          mu |E|^2 + lambda/2 tr(E)^2,  E = (F^T F - I)/2
//   corotational  mu |S - I|^2 + lambda/2 tr(S - I)^2,  F = R S
#pragma once

#include <string>

#include "tenon/types.hpp"

namespace tenon {

using Mat9 = Eigen::Matrix<double, 9, 9>;

enum class ElasticModel { neo_hookean, stvk, corotational };

ElasticModel elastic_model(const std::string& name);  // throws std::invalid_argument

struct Lame {
    double mu = 0, lambda = 0;
};

// From Young's modulus and Poisson's ratio; all models agree with linear elasticity for small strains.
Lame lame_parameters(double young, double poisson);

double elastic_energy(ElasticModel model, const Lame& material, const Mat3& f);
Mat3 elastic_stress(ElasticModel model, const Lame& material, const Mat3& f);  // first Piola-Kirchhoff, dE/dF

// Second derivative of the energy over the nine entries of F by columns. `project` makes it positive semidefinite
// by clamping its eigenvalues, which are known in closed form but for one 3x3 matrix.
Mat9 elastic_stiffness(ElasticModel model, const Lame& material, const Mat3& f, bool project);

// Stress and stiffness together, from one decomposition of F.
struct ElasticResponse {
    Mat3 stress;
    Mat9 stiffness;
};
ElasticResponse elastic_response(ElasticModel model, const Lame& material, const Mat3& f, bool project);

// Stress, and its change with F along `df`: the exact (not projected) stiffness times df, without forming it.
struct ElasticDifferential {
    Mat3 stress, change;
};
ElasticDifferential elastic_differential(ElasticModel model, const Lame& material, const Mat3& f,
                                         const Mat3& df);

}  // namespace tenon

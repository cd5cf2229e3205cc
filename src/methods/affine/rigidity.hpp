// Energies that keep an affine body close to rigid, per unit of (stiffness x volume), with their derivatives.
//
// All three have the same stiffness for small strains e: V = 4 |e|^2.
//   orthogonality   |A^T A - I|^2                  (Eq. 6)
//   arap            4 |A - R|^2, A = R S
//   neo-hookean     2 (|A|^2 - 3) - 4 ln det A
#pragma once

#include <string>

#include "math/rotation.hpp"
#include "tenon/types.hpp"

namespace tenon::affine {

using Mat9 = Eigen::Matrix<double, 9, 9>;

enum class RigidityModel { orthogonality, arap, neo_hookean };
RigidityModel rigidity_model(const std::string& name);

// A^T A - I.
inline Mat3 strain(const Mat3& A) {
    Mat3 C = A.transpose() * A;
    C.diagonal().array() -= 1.0;
    return C;
}

double rigidity_energy(RigidityModel model, const Mat3& A);
Mat3 rigidity_gradient(RigidityModel model, const Mat3& A);

// Hessian over vec(A) by columns; `project` removes its negative eigenvalues.
Mat9 rigidity_hessian(RigidityModel model, const Mat3& A, bool project);

// The nearest symmetric positive semidefinite matrix.
Mat3 positive_part(const Mat3& symmetric);

}  // namespace tenon::affine

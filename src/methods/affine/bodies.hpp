// What each body brings into a step: its type, its inertia, where inertia and loads want it to go.
#pragma once

#include <vector>

#include "methods/affine/integrator.hpp"
#include "methods/affine/settings.hpp"
#include "tenon/state.hpp"

namespace tenon::affine {

struct BodyStep {
    BodyType type = BodyType::static_body;
    Inertia inertia;
    Mat34 start;       // pose at the start of the step
    Mat34 slide_from;  // friction measures sliding from here: its rate at the step's end is in proportion
    Mat34 target;      // minimiser of the inertial term
    Mat34 predicted;   // start, moved on rigidly with the present velocity
    double rigidity = 0.0;  // h_eff^2 x kappa x volume
    int hold = -1;          // index into StepBodies::holds
};

// Orthogonal projection onto the increments that fixed coordinates and anchors leave free.
struct Hold {
    Mat12 projection = Mat12::Identity();
};

struct StepBodies {
    std::vector<BodyStep> body;
    std::vector<Hold> holds;
    double potential_scale = 0.0;  // h_eff^2
};

// Rows of a linear condition on one body's increments, orthonormalised into a projection.
class HoldBuilder {
  public:
    void fix_point(const Vec3& local, const Vec3& direction);  // direction . (J(local) dq) = 0
    void fix_direction(const Vec3& local);                     // dA local = 0
    void fix_row(const Vec12& row);
    bool empty() const { return count_ == 0; }
    Mat12 projection() const;

  private:
    Eigen::Matrix<double, 12, 12> rows_ = Eigen::Matrix<double, 12, 12>::Zero();
    int count_ = 0;
};

// Conditions from a body's fixed coordinates (x y z rx ry rz, world axes).
void add_fixed_coordinates(HoldBuilder& hold, const std::array<bool, 6>& fixed, const Mat34& q);

Inertia inertia_of(const Bodies& bodies, int body);

}  // namespace tenon::affine

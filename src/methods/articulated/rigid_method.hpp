// A reference to compare with: rigid bodies in maximal coordinates (position and rotation each), stepped by implicit
// Euler, joints exact, all bodies and multipliers in one Newton iteration with sparse LU factorisations.
//
// With x' = x + h v', R' = exp(h w') R and the joints' generalised forces J(x', R')^T lambda at the step's end:
//   m (v' - v)/h = f - J_v^T lambda,   (R' I R'^T w' - L)/h = tau - J_w^T lambda,   c(x', R') = 0.
// It has neither contacts nor drives; `articulated` has them, and is what this is compared with.
#pragma once

#include <memory>
#include <vector>

#include "tenon/method.hpp"

namespace tenon::articulated {

struct RigidOptions {
    int max_iterations = 50;
    double tolerance = 1e-10;  // of joints (m, rad) and of the balance of forces, as a length (m)
};

class RigidMethod : public Stepper {
  public:
    RigidMethod(const Model& model, const State& state, const RigidOptions& options);
    ~RigidMethod() override;

    StepReport step(const Model& model, State& state, Outputs& outputs, double dt) override;
    void save(std::ostream& out) const override;
    void load(std::istream& in) override;

  private:
    struct System;
    RigidOptions options_;
    std::vector<double> multipliers_;  // of the last step: where Newton starts
    std::unique_ptr<System> system_;
};

// The first thing in the scene that this reference has no equations for.
std::optional<Unsupported> rigid_supports(const Scene& scene);

}  // namespace tenon::articulated

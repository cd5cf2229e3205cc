// Affine body dynamics: stiff bodies with twelve flat coordinates each.
#pragma once

#include <memory>
#include <optional>

#include "methods/affine/bodies.hpp"
#include "methods/affine/settings.hpp"
#include "tenon/method.hpp"

namespace tenon {

MethodInfo affine_method();

namespace affine {

class AffineMethod final : public Method {
  public:
    AffineMethod(const World& world, const Settings& settings);

    StepReport step(World& world, double dt) override;
    void save(std::ostream& out) const override;
    void load(std::istream& in) override;

  private:
    void prepare_bodies(const World& world, double dt);
    void solve_free_bodies(StepReport& report);
    void finish(World& world, double dt);

    Settings settings_;
    std::vector<BodyHistory> history_;
    bool first_step_ = true;

    // Scratch of one step.
    StepBodies bodies_;
    std::vector<Wrench> wrenches_;
    std::vector<Mat34> q_;  // current iterate
};

}  // namespace affine
}  // namespace tenon

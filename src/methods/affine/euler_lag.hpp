// How far implicit Euler falls behind: a step takes the velocity of its end for all of it, so that a body whose velocity has
// changed by dv is off by h dv / 2, whatever has changed it. That is no loss of energy and shows in no other sum.
#pragma once

#include <iosfwd>
#include <vector>

#include "tenon/method.hpp"

namespace tenon::affine {

class EulerLag {
  public:
    // Before the first step.
    void start(const State& state);
    // After a step: adds the metric "lag", the most of any body so far along an axis of the world over the most that any has
    // moved along it.
    void add(const Model& model, const State& state, double h, StepReport& report);

    void save(std::ostream& out) const;
    void load(std::istream& in, std::size_t bodies);  // throws where it is no memory of so many

  private:
    std::vector<Mat34> q_, rate_;                      // at the start
    Vec3 lag_ = Vec3::Zero(), travel_ = Vec3::Zero();  // m, along each axis
};

}  // namespace tenon::affine

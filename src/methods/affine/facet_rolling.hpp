// Round bodies that roll: their mesh is a polyhedron, and one that rolls loses energy whenever it lands on its next facet.
#pragma once

#include <vector>

#include "tenon/method.hpp"

namespace tenon::affine {

class FacetRolling {
  public:
    // After a step: warns, once for a body, when its facets may have taken a share of its speed that matters. `facet_angle`:
    // rad, of each body, between those that it rolls on; 0 of what is round or not meant to be.
    void add(const Model& model, const State& state, const std::vector<double>& facet_angle,
             const Outputs& outputs, double dt, StepReport& report);

  private:
    std::vector<double> turned_;  // rad, rolling, per body; negative: told
    // Of the last contact, per body: the turning rate if it rolled, and the time since. From facet to facet it may hop.
    std::vector<double> rolled_, since_;
};

}  // namespace tenon::affine

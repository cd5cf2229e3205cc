// Steps in which bodies land: how deep they may go at once, and whether friction knows their normal forces.
#pragma once

#include <unordered_map>

#include "tenon/types.hpp"

namespace tenon::affine {

// How far one body may go into another in one step, as part of their width across the motion: with 1.07 half-widths balls
// still meet plates, with 1.7 they go around.
constexpr double deepest_part = 0.25;

// The least width of two bodies together across a motion; boxes in the bodies' frames.
double width_across(const Mat34& qa, const Box3& a, const Mat34& qb, const Box3& b, const Vec3& motion);

// Friction with the normal forces of the step's start is next to none for a body that touched nothing then, and as large as
// the impact for one that landed in the step before: it would set in a step late, or act twice. Sums mu x normal force per
// body, as friction has it and as the contacts are now.
class FrictionLimits {
  public:
    void add(int body, double lagged, double now);
    bool some_are_outdated() const;

  private:
    struct Limits {
        double lagged = 0.0, now = 0.0;  // N
    };
    std::unordered_map<int, Limits> of_body_;
};

}  // namespace tenon::affine

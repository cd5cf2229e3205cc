// Terms whose convex potentials have branches - limits, bounded motors, friction, contacts - as the convex solve sees them.
//
// With the linearisation fixed, each term has a coordinate that is linear in the increment and a potential of that coordinate. The
// step is the minimum of their sum with the quadratic of inertia and elasticity. Newton's method solves the quadratic in which
// each term stays on its branch, and goes along that direction to the exact minimum: the slope along it is
//   sum of (coordinate's change) . (potential's slope - force in the quadratic model),
// because everything else is in balance with the model's forces.
#pragma once

#include <cstddef>
#include <vector>

#include "methods/articulated/friction_limits.hpp"
#include "tenon/types.hpp"

namespace tenon::articulated {

struct BodyField;

struct BoundedTerm {
    Vec3 at = Vec3::Zero();     // coordinate; of scalar terms the first entry
    Vec3 force = Vec3::Zero();  // in the quadratic model
};

class BoundedTerms {
  public:
    virtual ~BoundedTerms() = default;
    virtual std::size_t term_count() const = 0;
    // Coordinates and forces at the increments in the field.
    virtual void read_terms(const BodyField& field, BoundedTerm* terms) = 0;
    virtual Vec3 term_slope(std::size_t k, const Vec3& at) const = 0;
    // Each term goes to the branch on which its coordinate is.
    virtual void choose_branches(const BoundedTerm* terms) = 0;
    // Adds the contacts with the friction that forces at a minimum allow them.
    virtual void list_friction(const BoundedTerm*, std::vector<FrictionLimit>&) {}
    // Share of the largest force by which a term may miss its potential's slope.
    virtual double term_tolerance(std::size_t k) const = 0;
    // What rounding of the coordinate does to the slope.
    virtual double term_noise(std::size_t k) const = 0;
};

}  // namespace tenon::articulated

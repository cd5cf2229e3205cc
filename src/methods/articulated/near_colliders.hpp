// Which bodies are near which colliders, for bodies that do not touch each other.
//
// Colliders lie in a tree. A body that is far from all of them sleeps: it is not asked again before bodies or colliders
// can have covered that distance, so that most links of a long chain are looked at once in many steps.
#pragma once

#include <span>
#include <vector>

#include "geometry/bvh.hpp"

namespace tenon::articulated {

class NearColliders {
  public:
    // A step begins: boxes of the colliders, the number of bodies, and by how much the largest body's reach in this step
    // exceeds its box.
    void begin(std::span<const Box3> colliders, std::size_t bodies, double largest_reach);

    // Some body has moved by as much as `distance`, none by more.
    void travel(double distance) { odometer_ += distance; }
    void wake() { sleeps_until_.clear(); }

    bool sleeps(std::size_t body) const { return sleeps_until_[body] > limit_; }

    // Colliders that overlap the box of a body that does not sleep, sorted; the box contains its reach.
    void find(std::size_t body, const Box3& box, double size, std::vector<int>& colliders);

  private:
    geometry::Bvh tree_;
    std::vector<Box3> boxes_;
    std::vector<double> sleeps_until_;  // reading of the odometer
    double odometer_ = 0.0;             // what bodies and colliders may have moved in all
    double limit_ = 0.0;  // reading up to which bodies have to sleep to be left out of this step
    double reach_ = 0.0;
};

}  // namespace tenon::articulated

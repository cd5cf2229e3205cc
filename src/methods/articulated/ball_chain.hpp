// Chains of ball-jointed bodies: everything is 3x3. One forward sweep assembles and eliminates the dual system
// joint by joint (block Thomas, Eqs. 37-39), one backward sweep finds the multipliers, one pass moves the bodies.
#pragma once

#include "methods/articulated/component.hpp"

namespace tenon::articulated {

class BallChain : public Component {
  public:
    // `bodies` in chain order. joints[k] joins bodies[k-1] and bodies[k] when `pinned_start`, bodies[k] and
    // bodies[k+1] otherwise; a joint at either end may go to a static or scripted body or the world (-1).
    BallChain(const World& world, std::vector<int> chain_bodies, std::vector<int> chain_joints,
              bool pinned_start);

    void solve(BodyField& field) override;
    double residual(const BodyField& field) override;
    std::string solver_name() const override { return joints_.empty() ? "free" : "chain"; }
    void write_forces(const BodyField& field, World& world) const override;

  private:
    struct Link {  // joint k of the chain
        int joint = -1;
        int left = -1, right = -1;     // bodies before and behind it; -1: the world
        Vec3 left_point, right_point;  // anchors in their frames (world frame for the world)
        bool left_first = true;        // the scene's first body is the left one
    };
    struct Elimination {
        Mat3 inverse;  // D'^-1
        Mat3 upper;    // B to the next joint
        Vec3 y;        // right-hand side, then multiplier
    };
    std::vector<Link> joints_;
    std::vector<Elimination> elimination_;
    bool pinned_start_ = false;
};

}  // namespace tenon::articulated

// Chains of ball-jointed bodies: everything is 3x3. One forward sweep assembles and eliminates the dual system
// joint by joint (block Thomas, Eqs. 37-39), one backward sweep finds the multipliers, one pass moves the bodies.
#pragma once

#include "methods/articulated/chain_sweep.hpp"
#include "methods/articulated/component.hpp"

namespace tenon::articulated {

class BallChain : public Component {
  public:
    // `bodies` in chain order. joints[k] joins bodies[k-1] and bodies[k] when `pinned_start`, bodies[k] and
    // bodies[k+1] otherwise; a joint at either end may go to a static or scripted body or the world (-1).
    BallChain(const Model& model, const State& state, std::vector<int> chain_bodies,
              std::vector<int> chain_joints, bool pinned_start);

    void solve(BodyField& field) override;
    void balance(BodyField& field, Balance& result) override;
    void refine(BodyField& field) override;
    void respond(BodyField& field, bool keep) override;
    std::string solver_name() const override { return joints_.empty() ? "free" : "chain"; }
    void write_forces(const BodyField& field, const Model& model, Outputs& outputs) const override;

    // A whole step at once; the field holds the poses of bodies that do not move freely.
    bool can_sweep() const override { return bodies.size() >= 4; }
    SweepReport sweep(const BodyField& field, const std::vector<SweepKind>& kinds, const SweepRule& rule,
                      const SweepState& state, bool again);

  private:
    // Solves for field.unbalanced, and for what joints are open by, with the factors at hand.
    void pass(BodyField& field, bool with_gaps);
    struct Link {  // joint k of the chain
        int joint = -1;
        int left = -1, right = -1;     // bodies before and behind it; -1: the world
        Vec3 left_point, right_point;  // anchors in their frames (world frame for the world)
        bool left_first = true;        // the scene's first body is the left one
    };
    struct Elimination {  // with D' what is left of the joint's matrix
        Mat3 upper;       // D'^-1 B, B to the next joint
        Mat3 inverse;     // D'^-1
        Vec3 y;           // D'^-1 times what is left of the right-hand side
    };
    void eliminate(const BodyField& field);
    void substitute(std::vector<Vec3>& multiplier) const;
    Vec3 gap(const BodyField& field, std::size_t joint) const;
    void push(std::size_t body, const std::vector<Vec3>& multiplier, Mat34& force) const;
    void prepare_sweep(const BodyField& field);
    std::vector<Link> joints_;
    std::vector<Elimination> elimination_;
    std::vector<Vec3> multiplier_, change_;
    std::vector<double> joint_size_;  // m
    bool pinned_start_ = false;
    // of the sweep
    std::vector<int> sweep_body_, sweep_kind_;
    std::vector<double> sweep_anchors_, sweep_work_;
};

SweepKind sweep_kind(const KindMatrix& kind);

}  // namespace tenon::articulated

// Nets of ball-jointed bodies, solved for the points in which their joints meet.
#pragma once

#include "methods/articulated/component.hpp"
#include "solve/net_points.hpp"

namespace tenon::articulated {

// The points of a net: which anchors coincide, and which bodies hold them.
struct NetLayout {
    bool valid = false;                           // every body has at most four points in general position
    std::vector<std::vector<int>> body_points;    // per body of the component
    std::vector<std::vector<Vec3>> body_anchors;  // rest positions, same layout
    std::vector<char> fixed;                      // per point
    std::vector<int> fixed_joint, fixed_side;     // per fixed point: where its position comes from
    std::vector<int> point_of_joint;              // per joint of the component
};
NetLayout find_net(const Model& model, const State& state, const std::vector<int>& bodies,
                   const std::vector<int>& joints);

class NetComponent : public Component {
  public:
    NetComponent(const Model& model, std::vector<int> component_bodies, std::vector<int> component_joints,
                 NetLayout layout);

    void solve(BodyField& field) override;
    void balance(BodyField& field, Balance& result) override;
    void refine(BodyField& field) override;
    void respond(BodyField& field, bool keep) override;
    std::string solver_name() const override { return "points"; }
    void write_forces(const BodyField& field, const Model& model, Outputs& outputs) const override;

  private:
    // Solves for field.unbalanced, and for where bodies and points are, with the factors at hand.
    void pass(BodyField& field, bool with_places);
    struct Link {
        int joint = -1;
        std::array<int, 2> bodies{-1, -1};
        std::array<Vec3, 2> point;
        std::array<int, 2> slot{-1, -1};  // of the net, by side; -1: not a moving body
    };
    void order_links();
    void set_positions(const BodyField& field);
    void push(std::size_t b, const std::vector<Vec3>& at_points, Mat34& force) const;

    NetLayout layout_;
    std::vector<Link> links_;
    std::vector<std::array<int, 2>>
        told_;  // links and the side that tells their force, in an order that finds all
    solve::NetPoints net_;
    std::vector<Vec3> wanted_, position_, force_, change_;
    std::vector<double> joint_size_;  // m
};

}  // namespace tenon::articulated

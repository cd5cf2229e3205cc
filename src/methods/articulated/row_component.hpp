// Components with any joints: their rows, drives and fixed directions as one dual system.
#pragma once

#include "methods/articulated/component.hpp"
#include "methods/articulated/contacts.hpp"
#include "methods/articulated/drives.hpp"
#include "methods/articulated/dual_rows.hpp"

namespace tenon::articulated {

class RowComponent : public Component {
  public:
    RowComponent(const Model& model, const State& state, std::vector<int> component_bodies,
                 const std::vector<int>& component_joints, const SolverChoice& choice,
                 ContactSet* contacts = nullptr, const std::vector<int>& contact_points = {});

    // The same contacts at other places: indices into the contact set, in the order given at the start.
    void renew_contacts(const std::vector<int>& contact_points) {
        contact_points_ = contact_points;
        known_ = false;
    }

    void iterate_moved() override { known_ = false; }
    void begin_step(const BodyField& field, const StepStart& start) override;
    void solve(BodyField& field) override;
    void correct(BodyField& field) override;
    double residual(const BodyField& field) override;
    double soft_energy(const BodyField& field) override;
    bool update_bounds(const BodyField& field) override;
    bool linear() const override { return linear_; }
    bool has_contacts() const override { return !contact_points_.empty(); }
    std::string solver_name() const override { return rows_.solver_name(); }
    void write_forces(const BodyField& field, const Model& model, Outputs& outputs) const override;

  private:
    struct JointBlock {
        int joint = -1, block = -1;
        int hard_rows = 0;
        int first_drive = 0, drive_end = 0;
        std::array<int, 2> slot{-1, -1};  // of the block, by side
    };
    struct CouplingBlock {
        int joint = -1, block = -1;
        std::array<double, 2> reference{};  // coordinates at the step's start, turns counted
        std::array<std::array<int, 2>, 2> slot{{{-1, -1}, {-1, -1}}};  // [which joint][side]
    };
    struct FixedBlock {  // directions in which the scene fixes a body
        int body = -1, block = -1;
        std::vector<int> axes;  // 0..5
        Mat34 reference;        // pose at the scene's start (translations), step's start (turns)
    };
    void write_gradients(const JointBlock& block, const JointRows& rows);
    void evaluate(const BodyField& field, bool gradients);
    void evaluate_joint(const JointBlock& block, const BodyField& field, bool gradients);
    void evaluate_coupling(const CouplingBlock& block, const BodyField& field, bool gradients);
    void evaluate_contact(std::size_t k, const BodyField& field, bool gradients);
    void evaluate_fixed(const FixedBlock& block, const BodyField& field, bool gradients);

    std::vector<Joint> joints_;  // own copies, in the order of joint blocks
    std::vector<JointBlock> joint_blocks_;
    std::vector<CouplingBlock> coupling_blocks_;
    std::vector<std::array<Joint, 2>> coupled_;  // per coupling: the two joints it binds
    std::vector<JointSpec> coupling_spec_;
    std::vector<FixedBlock> fixed_blocks_;
    std::vector<DriveRow> drives_;
    DualRows rows_;
    ContactSet* contacts_ = nullptr;
    std::vector<int> contact_points_;  // contacts between its own bodies: indices into the set
    int first_contact_block_ = 0;
    bool linear_ = true;
    bool known_ = false;  // values of the rows are those of the iterate
};

}  // namespace tenon::articulated

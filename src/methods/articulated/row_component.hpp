// Components with any joints: their rows, drives and fixed directions as one dual system.
#pragma once

#include "methods/articulated/component.hpp"
#include "methods/articulated/contacts.hpp"
#include "methods/articulated/drives.hpp"
#include "methods/articulated/dual_rows.hpp"

namespace tenon::articulated {

class RowComponent : public Component, private BoundedTerms {
  public:
    RowComponent(const Model& model, const State& state, std::vector<int> component_bodies,
                 const std::vector<int>& component_joints, const SolverChoice& choice,
                 ContactSet* contacts = nullptr, const std::vector<int>& contact_points = {});

    // The same contacts at other places: indices into the contact set, in the order given at the start.
    void renew_contacts(const std::vector<int>& contact_points) { contact_points_ = contact_points; }

    void begin_step(const BodyField& field, const StepStart& start) override;
    void linearise(BodyField& field) override;
    void solve(BodyField& field) override;
    void balance(BodyField& field, Balance& result) override;
    void refine(BodyField& field) override;
    void respond(BodyField& field, bool keep) override;
    BoundedTerms* bounded() override { return this; }
    double renew_contacts(const BodyField& field) override;
    void store_branches(DriveBranches& branches) const override;
    void begin_path() override { path_ = rows_.multiplier; }
    void step_path(double length) override;
    void end_path() override { rows_.multiplier = path_; }
    void keep_nearest() override;
    void go_to_nearest() override;
    bool reached_limit() const override;
    Work drive_work(const BodyField& field) const override;
    void project(BodyField& field, std::vector<Mat34>& at_start) override;
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
    struct BoundedDrive {  // a drive with branches
        int drive = 0, block = 0, row = 0;
        double coordinate = 0.0;  // at the linearisation
    };
    std::size_t term_count() const override { return bounded_.size() + contact_points_.size(); }
    void read_terms(const BodyField& field, BoundedTerm* terms) override;
    Vec3 term_slope(std::size_t k, const Vec3& at) const override;
    void choose_branches(const BoundedTerm* terms) override;
    void list_friction(const BoundedTerm* terms, std::vector<FrictionLimit>& list) override;
    double term_tolerance(std::size_t k) const override;
    double term_noise(std::size_t k) const override;

    void write_gradients(const JointBlock& block, const JointRows& rows);
    void evaluate(const BodyField& field);
    void evaluate_joint(const JointBlock& block, const BodyField& field);
    void evaluate_coupling(const CouplingBlock& block, const BodyField& field);
    void evaluate_contact(std::size_t k, const BodyField& field);
    void evaluate_fixed(const FixedBlock& block, const BodyField& field);
    void set_drive(const BoundedDrive& bounded);
    void set_contact(std::size_t k);
    void turn_contact(std::size_t k);
    void judge_gaps(Balance& result) const;
    void judge_branches(Balance& result) const;

    std::vector<Joint> joints_;  // own copies, in the order of joint blocks
    std::vector<JointBlock> joint_blocks_;
    std::vector<CouplingBlock> coupling_blocks_;
    std::vector<std::array<Joint, 2>> coupled_;  // per coupling: the two joints it binds
    std::vector<JointSpec> coupling_spec_;
    std::vector<FixedBlock> fixed_blocks_;
    std::vector<DriveRow> drives_;
    std::vector<BoundedDrive> bounded_;
    std::vector<int> free_bodies_;          // without any constraint
    std::vector<double> path_;              // multipliers of the increment that a convex solve has come to
    std::vector<double> nearest_;           // multipliers of the iterate nearest to a solution
    std::vector<double> row_size_;          // per row: what a violation of it is measured against
    std::vector<Vec3> contact_separation_;  // per contact, at the linearisation
    // per contact: directions of its constraints, of the multipliers at hand and of those of the nearest iterate
    std::vector<Mat3> directions_, nearest_directions_;
    DualRows rows_;
    bool may_be_redundant_ = false;  // joints close loops
    int linearisations_ = 0;         // in this step
    bool motors_start_ = false;      // a step without history: motors may change speeds at once
    ContactSet* contacts_ = nullptr;
    std::vector<int> contact_points_;  // contacts between its own bodies: indices into the set
    int first_contact_block_ = 0;
};

}  // namespace tenon::articulated

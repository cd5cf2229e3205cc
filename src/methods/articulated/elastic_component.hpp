// Elastic solids and the jointed components they are attached to or touch, solved as one.
//
//   H_b dq + C^T lambda + J_b^T mu = f_b     jointed bodies: each component's own solver
//   H_e dx               + J_e^T mu = f_e    solids: sparse Cholesky
//   J_b dq + J_e dx - E mu          = -g     attachments (E = 0) and contacts between what moves (E = 1/k)
//
// Bodies and solids are eliminated: S mu = g + J d, S = J_b P J_b^T + J_e H_e^-1 J_e^T + E, with d the increments without
// coupling and P the response of the jointed component to forces, joints held. S has three rows per attached vertex or contact;
// P is asked for through the factors that the component has anyway, at most six times per rigid body, each in linear time.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include <Eigen/Cholesky>

#include "methods/articulated/component.hpp"
#include "methods/articulated/elastic_contacts.hpp"

namespace tenon::articulated {

constexpr int most_euler_steps = 8;  // that bodies and solids make after an impact: far more than they do

// What the whole method knows of its solids, for all components.
struct ElasticWorld {
    std::vector<ElasticSolid> solids;
    std::unique_ptr<ElasticContacts> contacts;
    std::vector<int> euler_left;  // per solid: implicit Euler steps still to go
    std::vector<char> restarted;  // per solid: hit in this step
};

class ElasticComponent : public Component, private BoundedTerms {
  public:
    // `inner`: components of the bodies; `contact_points`: contacts of the solids, all their ends in this component.
    ElasticComponent(ElasticWorld& world, std::vector<Component*> inner, std::vector<int> solids,
                     std::vector<int> contact_points);

    void begin_step(const BodyField& field, const StepStart& start) override;
    void predict_more() override;
    void linearise(BodyField& field) override;
    void solve(BodyField& field) override;
    void balance(BodyField& field, Balance& result) override;
    void refine(BodyField& field) override;
    void respond(BodyField& field, bool keep) override;
    void move_more(double length, FieldReport& report) override;
    void begin_path() override;
    void step_path(double length) override;
    void keep_nearest() override;
    void go_to_nearest() override;
    BoundedTerms* bounded() override { return this; }
    double renew_contacts(const BodyField& field) override;
    void store_branches(DriveBranches& branches) const override;
    bool reached_limit() const override;
    void restart() override;
    bool has_contacts() const override;
    std::string solver_name() const override;
    void write_forces(const BodyField& field, const Model& model, Outputs& outputs) const override;

  private:
    struct Attachment {
        int solid = 0, body = 0;
        SolidPoint point;
        Vec3 local = Vec3::Zero();   // of the body
        Vec3 force = Vec3::Zero();   // mu: on the body, minus that on the solid
        Vec3 before = Vec3::Zero();  // at the linearisation
        Vec3 gap = Vec3::Zero();     // of the solid's point from the body's
    };
    // Three coupling rows: what they act on, with signs. Rows of contacts are along its directions.
    struct Rows {
        int contact = -1;  // into contact_points_, or an attachment
        std::array<int, 2> body{{-1, -1}}, solid{{-1, -1}};
        std::array<Vec3, 2> local;
        std::array<SolidPoint, 2> point;
        Vec3 compliance = Vec3::Zero();
        Mat3 directions = Mat3::Identity();
        int first = 0;  // row of S
        int count = 3;
    };

    std::size_t term_count() const override;
    void read_terms(const BodyField& field, BoundedTerm* terms) override;
    Vec3 term_slope(std::size_t k, const Vec3& at) const override;
    void choose_branches(const BoundedTerm* terms) override;
    void list_friction(const BoundedTerm* terms, std::vector<FrictionLimit>& list) override;
    double term_tolerance(std::size_t k) const override;
    double term_noise(std::size_t k) const override;
    std::pair<BoundedTerms*, std::size_t> inner_term(std::size_t k) const;

    ElasticContact& contact(std::size_t k) const { return world_.contacts->points()[contact_points_[k]]; }
    // Forces of attachments and of contacts, given by their slopes, onto bodies and solids.
    void push(BodyField& field, const Rows& rows, const Vec3& force) const;
    void push_contact(BodyField& field, const ElasticContact& contact, const Vec3& slope) const;
    double largest_share(const ElasticContact& contact) const;
    void set_coupling(BodyField& field, bool model);
    Rows rows_of(const Attachment& attachment) const;
    Rows rows_of(std::size_t contact_point) const;
    void factor(BodyField& field);
    void add_bodies(BodyField& field, Eigen::MatrixXd& matrix);
    void add_solids(Eigen::MatrixXd& matrix) const;
    // From increments without coupling to those with: what the rows are open by is in `open`. Returns the rows' forces.
    Eigen::VectorXd couple(BodyField& field, const Eigen::VectorXd& open);
    Vec3 moved(const BodyField& field, const Rows& rows) const;  // J d
    Eigen::VectorXd moved_rows(const BodyField& field, bool with_gaps) const;

    ElasticWorld& world_;
    std::vector<Component*> inner_;
    std::unordered_map<int, int> inner_of_;  // bodies to inner components, where there are rows
    std::vector<int> solids_;
    std::vector<int> contact_points_;
    std::vector<Attachment> attachments_;
    std::vector<Vec3> separation_;  // of contacts, at the linearisation
    std::vector<BoundedTerms*> inner_terms_;
    std::vector<Rows> rows_;  // of the factored system
    Eigen::LLT<Eigen::MatrixXd> schur_;
    bool factored_ = false;
    std::unordered_map<int, double> at_work_;  // per solid: its largest contact or attachment, N
    double scale_ = 0.0;                       // largest force of all
    std::vector<std::vector<Vec3>> path_;      // increments of solids in the convex solve
    std::vector<std::vector<Vec3>> nearest_;   // vertices of solids at the iterate nearest to a solution
    std::vector<Vec3> nearest_force_;          // of attachments there
};

}  // namespace tenon::articulated

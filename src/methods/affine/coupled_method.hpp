// The affine method for scenes with elastic bodies, or with joints that are more than fixed points: all bodies, vertices
// and joints in one Newton solve.
#pragma once

#include <fstream>
#include <memory>

#include "methods/affine/coupled_newton.hpp"
#include "methods/affine/euler_lag.hpp"
#include "methods/affine/facet_rolling.hpp"
#include "methods/affine/impact_step.hpp"
#include "methods/affine/restitution.hpp"
#include "methods/affine/settings.hpp"
#include "methods/opens_start.hpp"
#include "tenon/method.hpp"

namespace tenon::affine {

// Whether a scene asks for it.
bool needs_coupled_solve(const Scene& scene);
bool needs_coupled_solve(const Model& model);
bool links_moving_bodies(const Model& model);  // whether it is the better choice
std::optional<Unsupported> unsupported_when_coupled(const Scene& scene);

class CoupledMethod final : public Stepper, public OpensStart {
  public:
    CoupledMethod(const Model& model, const State& state, const Settings& settings,
                  std::vector<std::string> told);

    StepReport step(const Model& model, State& state, Outputs& outputs, double dt) override;
    void open(State& state) override;
    void save(std::ostream& out) const override;
    void load(std::istream& in) override;

  private:
    void prepare(const Model& model, const State& state, double h);
    void prepare_body(const Model& model, const State& state, int node, const Wrench& wrench);
    void prepare_vertices(const State& state, int node, const std::vector<std::vector<Vec3>>& acceleration);
    void prepare_contacts(const Model& model, const State& state, double h);
    void write_log(const std::vector<CoupledLog>& lines, long step, int round);
    double rigidity_of(const Model& model, int body) const;
    Mat34 scripted_target(const Mat34& start, const Mat34& before, const Mat34& after, double size) const;
    void finish(const Model& model, State& state);
    std::vector<MetPoint> met_points(const Model& model, std::vector<int>& of_contact);
    void bounce(const Model& model, State& state, const State& before);
    void write_outputs(const Model& model, State& state, Outputs& outputs, StepReport& report);
    void find_forced_joint(const Model& model, StepReport& report) const;
    void write_joints(const Model& model, State& state, Outputs& outputs, StepReport& report);

    Settings settings_;
    std::unique_ptr<std::ofstream> log_;
    CoupledStep step_;
    CoupledSystem system_;
    StageTimer timer_;
    ContactScale scale_;
    bool bounces_ = false;                        // impacts follow the law of restitution
    int impacts_ = 0;                             // of the last step
    std::vector<std::pair<int, Vec3>> impulses_;  // of contacts, N s on a: instead of the step's forces
    FacetRolling rolling_;
    EulerLag lag_;                     // empty with other integrators
    std::vector<double> facet_angle_;  // rad, per body
    BouncePlan plan_;                  // `wanted` is 0 when nothing was planned
    StepTimes times_;
    double tolerance_ = 0.0, eps_v_ = 0.0, length_ = 1.0;
    double load_ = 0.0;  // N: weight of everything and the largest applied force
    bool first_step_ = true;
    double last_h_ = 0.0;
    std::vector<Mat34> opened_;
    std::vector<std::string> told_;
    std::vector<Mat34> q_, rate_;
    std::vector<BodyHistory> history_;           // of nodes
    std::vector<BodyHistory> attached_history_;  // of attached vertices: first columns
    std::vector<Mat34> script_q_;                // of nodes: where scripts of pins have got to
    std::vector<double> rigidity_factor_;
    std::vector<double> multipliers_;
    std::vector<Vec3> x_, ahead_;
};

}  // namespace tenon::affine

// Affine body dynamics: stiff bodies with twelve flat coordinates each.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <unordered_map>

#include "math/timer.hpp"
#include "methods/affine/bodies.hpp"
#include "methods/affine/candidate_cache.hpp"
#include "methods/affine/contact_field.hpp"
#include "methods/affine/euler_lag.hpp"
#include "methods/affine/facet_rolling.hpp"
#include "methods/affine/impact_step.hpp"
#include "methods/affine/island.hpp"
#include "methods/affine/restitution.hpp"
#include "methods/affine/settings.hpp"
#include "methods/opens_start.hpp"
#include "tenon/method.hpp"

namespace tenon {

MethodInfo affine_method();

namespace affine {

class AffineMethod final : public Stepper, public OpensStart {
  public:
    // `state` is where the bodies are, or a copy in which those that touched have been moved apart: open() does the
    // same, and the first step says so in the words of `told`.
    AffineMethod(const Model& model, const State& state, const Settings& settings,
                 std::vector<std::string> told = {});
    ~AffineMethod() override;

    StepReport step(const Model& model, State& state, Outputs& outputs, double dt) override;
    void open(State& state) override;
    void save(std::ostream& out) const override;
    void load(std::istream& in) override;

  private:
    double advance(const Model& model, State& state, Outputs& outputs, double now, double longest, double dt,
                   StepReport& report);
    void predict(const Model& model, const State& state, double now, double h);
    void prepare_bodies(const Model& model, const State& state, double now, double h);
    void solve_free_bodies();
    double rigidity_of(const Model& model, int body) const;
    double smallest_kappa(const Model& model, const State& state) const;
    bool friction_is_outdated(const Island& island);
    bool script_presses_too_hard();
    void release_path(const Outputs& outputs);
    Mat34 scripted_target(const Model& model, const State& state, int body, double now, double h) const;
    double part_before_fast_impact();
    std::vector<Mat34> motions_beside_what_holds();
    double part_before_impact(int pair, const std::vector<Mat34>& motions);
    double coasting_travel(const CandidatePair& pair) const;
    bool touches_at_start(int pair);
    void prepare_contacts(const Model& model, const State& state, double h);
    PredictedStep predicted_step(const Model& model, double h) const {
        return {model, bodies_, q_, free_, history_, scale_, loads_, h};
    }
    void solve_contacts(const Model& model, const Outputs& outputs, double h, StepReport& report);
    bool solve_islands(const Outputs& outputs, StepContext& context, int round);
    void finish(State& state, double dt);
    void bounce(const Model& model, State& state, double h);
    void use_round_shapes(const Model& model);
    void report_pressed(const Model& model, StepReport& report) const;
    void report_contacts(Outputs& outputs, double share, StepReport& report);
    void pair_contacts(int pair, double share, const MetPoint* impacts, std::vector<Contact>& out) const;
    void report_joints(const Model& model, State& state, Outputs& outputs, double share, StepReport& report);
    void report_bodies(const Model& model, const State& state, double now, double dt,
                       StepReport& report) const;
    void report_restitution(StepReport& report) const;
    void report_totals(const Model& model, const State& state, const Outputs& outputs, StepReport& report);
    void emit_path(const Outputs& outputs, const std::vector<Island>& islands,
                   const std::vector<IslandResult>& results);

    void write_log(const std::vector<Island>& islands, const std::vector<IslandResult>& results, int round);

    Settings settings_;
    ContactScale scale_;
    ContactField field_;
    bool bounces_ = false;            // impacts follow the law of restitution
    std::vector<Mat34> rate_before_;  // the step under way
    std::vector<MetPoint> met_;       // where bodies touch at its end; empty when nothing bounced in it
    FacetRolling rolling_;
    EulerLag lag_;                     // empty with other integrators
    std::vector<char> round_;          // bodies that touch as the round things they are drawn for
    std::vector<double> facet_angle_;  // rad, per body; empty: not yet known, as after a checkpoint
    BouncePlan plan_;                  // `wanted` is 0 when nothing was planned
    double tolerance_ = 0.0, eps_v_ = 0.0;
    std::vector<BodyHistory> history_;
    bool first_step_ = true;
    std::vector<Mat34> opened_;             // where the bodies are to start; empty: where they are
    std::vector<std::string> told_;         // about that
    bool fresh_history_ = true;             // what BDF2 knows of steps before is not of this length
    double last_h_ = 0.0;                   // s, of the last step
    double load_ = 0.0;                     // N: weight of all bodies and the largest applied force
    std::vector<double> script_weight_;     // per body: of a kinematic one over its inertia
    std::vector<std::vector<Mat34>> path_;  // segments of the step under way
    std::vector<double> rigidity_factor_;   // per body: times the stiffness that inertia and loads ask for
    CandidateCache candidates_{field_};

    // Scratch of one step.
    StepBodies bodies_;
    StageTimer timer_;
    std::vector<Wrench> wrenches_;
    std::vector<Mat34> q_;        // current iterate
    std::vector<Mat34> free_;     // where bodies would go without contact
    std::vector<char> finished_;  // bodies whose island has converged
    ContactLoads loads_;
    std::vector<Wrench> joint_loads_;   // averaged over the step, per joint
    std::vector<double> motor_forces_;  // likewise
    double smallest_dhat_ = 0.0;        // m: of a pair, however close it starts
    bool fast_impact_ = false;          // of this step
    // Sums over the parts of a step.
    struct Totals {
        int substeps = 0, impacts = 0, solves = 0, fallbacks = 0, line_search_steps = 0, builds = 0;
        double inner_ms[5] = {0, 0, 0, 0, 0};
    };
    Totals totals_;
    int free_iterations_ = 0;
    bool free_converged_ = true;
    std::vector<int> node_;
    std::vector<ConstraintRow> constraint_rows_;
    std::vector<double> multipliers_;
    std::vector<Motor> motors_;
    std::vector<GivenTorque> given_;
    std::vector<Mat34> heading_;
    std::vector<char> outside_;  // bodies that left their margin
    std::vector<int>
        friction_renewed_;      // how often the normal forces of a body's friction were, in this step
    std::vector<double> turn_;  // rad, that inertia and torques alone would turn a body by
    std::vector<std::unique_ptr<solve::BlockCholesky>> solvers_;
    IslandMemories memories_;
    std::unordered_map<std::uint64_t, std::vector<FrictionPoint>> friction_;
    std::unique_ptr<std::ofstream> log_;
    long step_ = 0;
    int iterations_ = 0;
    bool converged_ = true;
};

}  // namespace affine
}  // namespace tenon

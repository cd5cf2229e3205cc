// The articulated method: jointed co-rotated affine bodies, joints exact, one linear solve per step where it suffices.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "math/timer.hpp"
#include "methods/articulated/ball_chain.hpp"
#include "methods/articulated/elastic_parts.hpp"
#include "methods/articulated/options.hpp"
#include "tenon/method.hpp"

namespace tenon::articulated {

class ArticulatedMethod : public Stepper {
  public:
    ArticulatedMethod(const Model& model, const State& state, const Options& options);

    StepReport step(const Model& model, State& state, Outputs& outputs, double dt) override;
    void save(std::ostream& out) const override;
    void load(std::istream& in) override;

  private:
    void build(const Model& model, const State& state);
    void sort_joints(const Model& model, const State& state);
    bool joints_changed(const Model& model, const State& state) const;
    bool advance(const Model& model, State& state, double h, double end_time, bool with_history,
                 bool last_try);
    // What a step that did not converge has changed, though the state is as it was.
    struct Attempt {
        std::vector<int> euler_left, elastic_euler_left;
        std::vector<Mat3> force_stress;
    };
    Attempt begin_attempt() const;
    void undo(const Attempt& attempt);
    void begin_step(const Model& model, State& state, double dt);
    void advance_in_parts(const Model& model, State& state, double dt, int parts);
    void advance_part(const Model& model, State& state, double begin, double span, int parts, int divisions);
    void restart_after_parts();
    void solve_components(const Model& model, const State& state, double end_time, bool with_history,
                          bool last_try);
    void solve_unsolved(const StepStart& start, bool last_try);
    StepReport make_report(const Model& model, State& state, Outputs& outputs);
    void set_step_size(double h, bool with_history);
    void move_scripted(const Model& model, const State& state, double end_time);
    void set_targets(const Model& model, const State& state, double h, double end_time, bool with_history);
    void find_contacts(const Model& model, const State& state, double h);
    void choose_contacts();  // that components are merged for
    bool take_overlaps();
    void merge_touching(const Model& model, const State& state);
    void list_touched();
    void restart_history(const Component& component);
    void mark_euler();  // bodies that are stepped by implicit Euler
    bool restart_at_limits();
    bool restart_at_gains(const State& state, double h);
    double gain(const Component& component, const State& state, double h) const;
    // What a run should be told (method_warnings.cpp).
    void project_rates(const Model& model, State& state);
    void judge_energy_loss(const Model& model, const State& state, double dt);
    void judge_deformation(const Model& model, const State& state);
    void judge_impacts(const Model& model);
    bool add_reports(bool last_try);
    void commit(const Model& model, State& state, double h, bool with_history);
    // Whole steps of worlds that are chains of ball joints and nothing else (method_sweep.cpp).
    bool may_sweep(const Model& model, const State& state) const;
    bool sweep(State& state, double h, bool with_history);
    bool sweep_chain(BallChain& chain, const SweepRule& rule, const SweepState& arrays, SolveReport& report);
    SweepRule sweep_rule(const Vec3& gravity, double h, bool with_history) const;
    SweepState sweep_state(const State& state, bool with_history);
    void commit_sweep(State& state, bool with_history);
    void write_joints(const Model& model, State& state, Outputs& outputs);
    bool break_joints(const Model& model, State& state, Outputs& outputs);

    Options options_;
    BodyField field_;
    std::vector<std::unique_ptr<Component>> components_;  // by joints alone
    DriveBranches branches_;
    // of components whose links touch each other, by the pairs of bodies that do
    std::map<std::vector<std::uint64_t>, std::unique_ptr<Component>> merged_;
    std::vector<Component*> current_;        // what this step solves
    std::vector<Component*> solved_;         // those of them that are
    std::vector<std::vector<int>> touched_;  // per current component: bodies that touch colliders
    std::vector<int> component_of_;          // per body: index into components_
    std::vector<int> euler_left_;            // per body: implicit Euler steps still to go
    std::vector<char> restarted_;            // per body: hit in this step
    std::unique_ptr<ContactSet> contacts_;
    std::unique_ptr<ElasticParts> elastic_;          // null without elastic bodies
    std::vector<char> takes_part_;                   // per contact: whether components are merged for it
    std::vector<Mat34> previous_q_, previous_rate_;  // one step before the world's state
    bool has_history_ = false;
    double history_step_ = 0.0;
    std::vector<int> scripted_;  // kinematic bodies
    std::vector<Mat34> scripted_rate_;
    std::vector<Wrench> wrenches_;
    std::vector<char> joint_was_broken_;
    std::vector<SolveReport> reports_;
    std::vector<Mat34> new_rate_;  // of a swept step
    std::vector<SweepKind> sweep_kinds_;
    std::vector<int> fixed_;    // static bodies
    bool only_chains_ = false;  // every component can be swept
    bool only_swept_ = true;    // in this step so far
    std::vector<int> breakable_,
        measured_;  // joints with a limit on their force; with coordinates to work out
    StageTimer timer_;
    double matrix_step_ = 0.0;
    bool keeps_stress_ = false;  // rigid bodies: the next step starts from stresses that poses do not tell
    SolveReport total_;
    bool fresh_ = true;       // no step has been made yet
    bool loss_told_ = false;  // the integrator's loss
    bool deformation_told_ = false;
    bool fast_told_ = false;             // an impact too fast for the step
    std::vector<std::string> warnings_;  // of this step
};

}  // namespace tenon::articulated

namespace tenon {
MethodInfo articulated_method();
}

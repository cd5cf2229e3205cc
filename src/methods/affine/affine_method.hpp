// Affine body dynamics: stiff bodies with twelve flat coordinates each.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <unordered_map>

#include "math/timer.hpp"
#include "methods/affine/bodies.hpp"
#include "methods/affine/contact_field.hpp"
#include "methods/affine/island.hpp"
#include "methods/affine/restitution.hpp"
#include "methods/affine/settings.hpp"
#include "tenon/method.hpp"

namespace tenon {

MethodInfo affine_method();

namespace affine {

class AffineMethod final : public Stepper {
  public:
    AffineMethod(const Model& model, const State& state, const Settings& settings);
    ~AffineMethod() override;

    StepReport step(const Model& model, State& state, Outputs& outputs, double dt) override;
    void save(std::ostream& out) const override;
    void load(std::istream& in) override;

  private:
    void plan_restitution(const Model& model, const State& state, double dt);
    void prepare_bodies(const Model& model, const State& state, double dt);
    void solve_free_bodies(StepReport& report);
    void build_candidates(const Model& model, int round, double dt, double largest_motion);
    void find_strays();
    void find_leavers();
    void expire_large_pairs();
    void mark_crowded();
    int steps_ahead() const;
    Sweep sweep_ahead(std::size_t i, int steps, double dt) const;
    void rebuild_candidates(const Model& model, bool some);
    void solve_contacts(const Model& model, const State& state, const Outputs& outputs, double dt,
                        StepReport& report);
    bool solve_islands(const Outputs& outputs, StepContext& context, int round);
    void finish(State& state, double dt);
    void report_contacts(Outputs& outputs, StepReport& report);
    void report_joints(const Model& model, const State& state, Outputs& outputs, StepReport& report) const;
    void report_bodies(const Model& model, double dt, StepReport& report) const;
    void report_restitution(StepReport& report) const;
    void emit_path(const Outputs& outputs, const std::vector<Island>& islands,
                   const std::vector<IslandResult>& results);

    void write_log(const std::vector<Island>& islands, const std::vector<IslandResult>& results, int round);

    Settings settings_;
    ContactScale scale_;
    ContactField field_;
    BouncePlan plan_;  // `wanted` is 0 when nothing was planned
    double tolerance_ = 0.0, eps_v_ = 0.0;
    std::vector<BodyHistory> history_;
    bool first_step_ = true;
    std::vector<Sweep> sweeps_;  // what the candidates cover
    int planned_ = 1;            // how many steps they were made for
    int can_last_ = 0;           // how many the last ones would have served
    int age_ = -1;               // steps since they were found; -1: none to keep
    std::vector<char> strays_;   // bodies that they do not cover any more
    int stray_count_ = 0;
    std::vector<char> crowded_;     // bodies with many candidates
    bool must_find_again_ = false;  // after a checkpoint, which has their sweeps only

    // Scratch of one step.
    StepBodies bodies_;
    StageTimer timer_;
    std::vector<Wrench> wrenches_;
    std::vector<Mat34> q_;        // current iterate
    std::vector<Mat34> free_;     // where bodies would go without contact
    std::vector<char> finished_;  // bodies whose island has converged
    std::vector<double> contact_mass_;
    std::vector<int> node_;
    std::vector<JointRow> joint_rows_;
    std::vector<double> multipliers_;
    std::vector<Mat34> wanted_;
    std::vector<char> left_;    // bodies that left their slack
    std::vector<double> room_;  // slack of bodies that left theirs, in this step
    std::vector<int>
        friction_renewed_;      // how often the normal forces of a body's friction were, in this step
    std::vector<double> turn_;  // rad, that inertia and torques alone would turn a body by
    std::vector<std::unique_ptr<solve::BlockCholesky>> solvers_;
    IslandMemories memories_;
    std::unordered_map<std::uint64_t, std::vector<FrictionPoint>> friction_;
    std::unique_ptr<std::ofstream> log_;
    long step_ = 0;
    int iterations_ = 0, solves_ = 0, fallbacks_ = 0, line_search_steps_ = 0, builds_ = 0;
    bool converged_ = true;
    double inner_ms_[5] = {0, 0, 0, 0, 0};
};

}  // namespace affine
}  // namespace tenon

// A state as Python holds it: arrays that never move for NumPy's views, and the library's state behind them.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "compiled.hpp"
#include "tenon/state.hpp"

namespace tenon::python {

// The arrays of one state, or of all states of a pool one after the other. Views keep them alive.
struct Arrays {
    std::vector<double> q, rate;           // bodies
    std::vector<double> x, v;              // vertices of elastic bodies
    std::vector<double> targets, gravity;  // what a state may be told
    std::vector<double> mass, friction;    // of bodies
    std::vector<double> force, torque;     // on bodies, from outside the scene
    std::vector<double> sensors;           // what the last step measured
    Arrays(const Compiled& compiled, std::size_t states);
};

class LiveState {
  public:
    explicit LiveState(std::shared_ptr<const Compiled> compiled);
    // One of many in common arrays.
    LiveState(std::shared_ptr<const Compiled> compiled, std::shared_ptr<Arrays> arrays, std::size_t place);

    const std::shared_ptr<const Compiled>& compiled() const { return compiled_; }
    const Model& model() const { return own_model_ ? *own_model_ : compiled_->model(); }
    const State& state() const { return state_; }  // without what was written since the last step
    const Outputs& outputs() const { return outputs_; }
    const StepReport& report() const { return report_; }
    const std::shared_ptr<Arrays>& arrays() const { return arrays_; }
    double* q() const { return arrays_->q.data() + place_ * 12 * bodies_; }
    double* rate() const { return arrays_->rate.data() + place_ * 12 * bodies_; }
    double* x() const { return arrays_->x.data() + place_ * 3 * vertices_; }
    double* v() const { return arrays_->v.data() + place_ * 3 * vertices_; }
    double* targets() const { return arrays_->targets.data() + place_ * actuators_; }
    double* gravity() const { return arrays_->gravity.data() + place_ * 3; }
    double* mass() const { return arrays_->mass.data() + place_ * bodies_; }
    double* friction() const { return arrays_->friction.data() + place_ * bodies_; }
    double* force() const { return arrays_->force.data() + place_ * 3 * bodies_; }
    double* torque() const { return arrays_->torque.data() + place_ * 3 * bodies_; }
    double* sensors() const { return arrays_->sensors.data() + place_ * sensor_values_; }

    // One step. What was written into the arrays is checked first and refused with InputError; on StepFailure the state
    // is as before the step.
    void advance();

    // Takes over what was written into the arrays; throws InputError.
    const State& current();

    // A copy with what is in the arrays now, unchecked and without the method's memory.
    State seen() const;

    void reset(bool keep_overrides = false);  // to the start of the scene
    std::shared_ptr<LiveState> copy() const;
    // Poses, velocities, targets and parameters of what has the same name in the other state's model; its time.
    void take_over(const LiveState& other);
    std::string save();
    void load(const std::string& bytes);  // throws InputError, and is then as before

    // Held while a thread works with the state: a second one is refused.
    class Use {
      public:
        explicit Use(LiveState& state);
        ~Use() { state_.busy_ = false; }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

      private:
        LiveState& state_;
    };

  private:
    void take_targets();
    void take_overrides();  // gravity, masses, friction
    void take_written();
    void take_forces();
    void put_arrays(State& into) const;
    void measure(const std::vector<Mat34>& rate_before);
    void publish();  // state to arrays
    void publish_parameters();
    void restart_method();

    std::shared_ptr<const Compiled> compiled_;
    std::shared_ptr<Arrays> arrays_;
    std::size_t place_, bodies_, vertices_, actuators_, sensor_values_;
    std::unique_ptr<Model> own_model_;  // with the state's own masses and friction, once they differ
    std::vector<double> shown_targets_;
    bool has_profiles_ = false;  // actuators that move their target by themselves
    State state_;
    Outputs outputs_;
    StepReport report_;
    std::atomic<bool> busy_ = false;
};

// Throws InputError for what a step must not start from: numbers that are not finite, bodies that are no longer rigid,
// bodies that were moved but cannot move, torn joints and, with barrier contact, bodies that intersect.
void check_written(const Compiled& compiled, const State& before, const State& written);

}  // namespace tenon::python

// A state as Python holds it: arrays that never move for NumPy's views, and the library's state behind them.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "compiled.hpp"
#include "tenon/state.hpp"

namespace tenon::python {

// The arrays of one state, or of all states of a pool one after the other. Views keep it alive.
struct Arrays {
    std::vector<double> q, rate, x, v, targets;
    Arrays(const Compiled& compiled, std::size_t states);
};

class LiveState {
  public:
    explicit LiveState(std::shared_ptr<const Compiled> compiled);
    // One of many in common arrays.
    LiveState(std::shared_ptr<const Compiled> compiled, std::shared_ptr<Arrays> arrays, std::size_t place);

    const std::shared_ptr<const Compiled>& compiled() const { return compiled_; }
    const Model& model() const { return own_model_ ? *own_model_ : compiled_->model(); }
    const State& state() const { return state_; }
    const Outputs& outputs() const { return outputs_; }
    const StepReport& report() const { return report_; }
    const std::vector<std::pair<std::string, double>>& sensor_values() const { return sensor_values_; }
    const std::shared_ptr<Arrays>& arrays() const { return arrays_; }
    double* q() { return arrays_->q.data() + place_ * 12 * bodies_; }
    double* rate() { return arrays_->rate.data() + place_ * 12 * bodies_; }
    double* x() { return arrays_->x.data() + place_ * 3 * vertices_; }
    double* v() { return arrays_->v.data() + place_ * 3 * vertices_; }
    double* targets() { return arrays_->targets.data() + place_ * actuators_; }

    // One step. What was written into the arrays is checked first and refused with InputError; on StepFailure the state
    // is as before the step.
    void advance();

    // The state with what was written into the arrays; throws InputError.
    const State& current();

    void reset();  // to the start of the scene
    std::shared_ptr<LiveState> copy() const;
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
    void take_written();  // arrays to state
    void publish();       // state to arrays

    std::shared_ptr<const Compiled> compiled_;
    std::shared_ptr<Arrays> arrays_;
    std::size_t place_, bodies_, vertices_, actuators_;
    std::unique_ptr<Model> own_model_;  // with the state's own targets, once they differ from the scene's
    std::vector<double> taken_targets_;
    State state_;
    Outputs outputs_;
    StepReport report_;
    std::vector<std::pair<std::string, double>> sensor_values_;
    std::atomic<bool> busy_ = false;
};

// Throws InputError for what a step must not start from: numbers that are not finite, bodies that are no longer rigid,
// bodies that were moved but cannot move, torn joints and, with barrier contact, bodies that intersect.
void check_written(const Compiled& compiled, const State& before, const State& written);

}  // namespace tenon::python

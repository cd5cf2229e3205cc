// A simulation method: what it does in a step, and what is known about it.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/error.hpp"
#include "tenon/params.hpp"
#include "tenon/scene.hpp"
#include "tenon/state.hpp"

namespace tenon {

// What one step did. `phases` are milliseconds by stage name; `metrics` are further numbers by name
// (solves, corrections, sweeps, rigid_fraction ...), recorded per step and plotted by name.
struct StepReport {
    int iterations = 0;
    bool converged = true;
    int contacts = 0;
    double min_distance = 1e300;  // of bodies in contact range; 1e300 when none
    double joint_residual = 0.0;
    std::vector<std::pair<std::string, double>> phases;
    std::vector<std::pair<std::string, double>> metrics;
    std::vector<std::string> warnings;  // each said once to the user
    std::string solver;                 // which solvers were chosen, when there is a choice
};

// A method at work on one state: its scratch, and what it carries from step to step. The one plug point of a method.
class Stepper : public MethodMemory {
  public:
    // Advances the state by dt, or throws StepFailure with a reason; the caller then puts the state back.
    virtual StepReport step(const Model& model, State& state, Outputs& outputs, double dt) = 0;

    // What the method carries between steps, bit for bit. A copy of a state holds it in this form until its next step.
    void save(std::ostream& out) const override = 0;
    virtual void load(std::istream& in) = 0;
    std::unique_ptr<MethodMemory> clone() const final;

  private:
    friend class Method;
    State last_good_;  // before the step under way, without memory
};

// The first thing in a scene that a method cannot express.
struct Unsupported {
    std::string path;     // "joints[2]"
    std::string problem;  // "the impulse method has no joints"
    std::string cure;     // "use --method articulated"
};

struct MethodInfo {
    std::string name;
    std::string summary;
    std::vector<ParamInfo> parameters;
    std::optional<Unsupported> (*supports)(const Scene&) = nullptr;
    std::unique_ptr<Stepper> (*make)(const Model&, const State&, const Params&) = nullptr;
};

// A method with its parameters. Const: many threads may step different states with it.
class Method {
  public:
    explicit Method(const Scene& scene);  // the scene's method and its parameters; throws InputError

    // Advances the state by dt, or throws StepFailure with a reason and leaves the state as it was, its memory empty.
    StepReport step(const Model& model, State& state, Outputs& outputs, double dt) const;

    // The stepper of a state, made or brought back from its saved form where need be.
    Stepper& stepper(const Model& model, State& state) const;

    const MethodInfo& info() const { return *info_; }

  private:
    const MethodInfo* info_;
    Params params_;
};

const std::vector<MethodInfo>& all_methods();
const MethodInfo& find_method(const std::string& name, const Origin& origin);  // throws InputError

}  // namespace tenon

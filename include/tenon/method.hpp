// A simulation method: one class with one job, and what is known about it.
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
#include "tenon/world.hpp"

namespace tenon {

// What one step did. `phases` are milliseconds by stage name; `figures` are further numbers by name
// (solves, corrections, sweeps, rigid_fraction ...), recorded per step and plotted by name.
struct StepReport {
    int iterations = 0;
    bool converged = true;
    int contacts = 0;
    double min_distance = 1e300;  // of bodies in contact range; 1e300 when none
    double joint_residual = 0.0;
    std::vector<std::pair<std::string, double>> phases;
    std::vector<std::pair<std::string, double>> figures;
    std::vector<std::string> warnings;  // each said once to the user
    std::string solver;                 // which solvers were chosen, when there is a choice
};

// One accepted piece of the path within a step: all bodies move straight from the previous piece's end to q.
using PathSink = std::function<void(const std::vector<Mat34>& q)>;

class Method {
  public:
    virtual ~Method() = default;

    // Advances the world by dt, or throws StepFailure with a reason and leaves the world as it was.
    virtual StepReport step(World& world, double dt) = 0;

    // What the method carries between steps, bit for bit.
    virtual void save(std::ostream& out) const = 0;
    virtual void load(std::istream& in) = 0;

    // Called after each accepted straight piece of motion within a step, when set. Methods whose steps are
    // one straight piece need not call it.
    void set_path_sink(PathSink sink) { path_sink_ = std::move(sink); }

  protected:
    PathSink path_sink_;
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
    std::unique_ptr<Method> (*make)(const World&, const Params&) = nullptr;
};

const std::vector<MethodInfo>& all_methods();
const MethodInfo& find_method(const std::string& name, const Origin& origin);  // throws InputError

}  // namespace tenon

// A scene being simulated by its method: what a C++ program drives.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tenon/method.hpp"
#include "tenon/scene.hpp"
#include "tenon/state.hpp"

namespace tenon {

class Simulation {
  public:
    // Checks that the scene's method can express it, compiles the model. Throws InputError.
    explicit Simulation(Scene scene);

    // The same from another state than the scene's start: `start` changes it before the method sees it.
    using Start = std::function<void(const Scene&, const Model&, State&)>;
    Simulation(Scene scene, const Start& start);

    // One time step. On StepFailure the state is as before the step, and the method starts afresh in the next.
    StepReport step();
    double time() const { return state_.time; }
    double dt() const { return scene_.dt; }

    const Scene& scene() const { return scene_; }
    const Model& model() const { return *model_; }
    std::shared_ptr<const Model> shared_model() const { return model_; }  // to be shared with other states
    const Method& method() const { return method_; }
    State& state() { return state_; }
    const State& state() const { return state_; }
    Outputs& outputs() { return outputs_; }
    const Outputs& outputs() const { return outputs_; }

    // What the scene's sensors measured after the last step: ("sensor.NAME.x", value), in the order of the scene.
    const std::vector<std::pair<std::string, double>>& sensor_values() const { return sensor_values_; }

    // Called before and after every step.
    using Callback = std::function<void(Simulation&)>;
    void before_step(Callback callback) { before_ = std::move(callback); }
    void after_step(Callback callback) { after_ = std::move(callback); }

    // Where each accepted straight segment of motion is reported.
    void set_path_sink(PathSink sink) { outputs_.path_sink = std::move(sink); }

    // Bodies may come and go between steps: a new model is compiled and the state carried over to it; the method
    // starts afresh.
    int add_body(const BodySpec& body, const GeometrySpec& geometry);
    void remove_body(const std::string& name);

    // The state, bit for bit. load throws InputError when it does not fit the scene.
    void save(std::ostream& out) const;
    void load(std::istream& in);

  private:
    void recompile(Scene changed, const std::vector<int>& old_joint);

    Scene scene_;
    Method method_;
    std::shared_ptr<const Model> model_;
    State state_;
    Outputs outputs_;
    Callback before_, after_;
    std::vector<std::pair<std::string, double>> sensor_values_;
};

}  // namespace tenon

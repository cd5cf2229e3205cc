// A scene being simulated by a method: what a C++ program drives.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tenon/method.hpp"
#include "tenon/scene.hpp"
#include "tenon/world.hpp"

namespace tenon {

class LastGoodState;

class Simulation {
  public:
    // Checks that the scene's method can express it, builds the world. Throws InputError.
    explicit Simulation(Scene scene);

    // One time step. On StepFailure the world is as before the step, and the method starts afresh in the next.
    StepReport step();
    double time() const { return world_.time; }
    double dt() const { return scene_.dt; }

    const Scene& scene() const { return scene_; }
    World& world() { return world_; }
    const World& world() const { return world_; }
    Method& method() { return *method_; }

    // What the scene's sensors measured after the last step: ("sensor.NAME.x", value), in the order of the scene.
    const std::vector<std::pair<std::string, double>>& sensor_values() const { return sensor_values_; }

    // Called before and after every step.
    using Callback = std::function<void(Simulation&)>;
    void before_step(Callback callback) { before_ = std::move(callback); }
    void after_step(Callback callback) { after_ = std::move(callback); }

    // Where the method reports each accepted straight piece of motion; kept when the method starts afresh.
    void set_path_sink(PathSink sink);

    // Bodies may come and go between steps; the method starts afresh from the current state.
    int add_body(const BodySpec& body, const GeometrySpec& geometry);
    void remove_body(const std::string& name);

    // State for checkpoints, bit for bit.
    void save(std::ostream& out) const;
    void load(std::istream& in);

  private:
    void make_method();
    void release_kinematic_bodies();

    Scene scene_;
    World world_;
    std::unique_ptr<Method> method_;
    std::shared_ptr<LastGoodState> good_;
    bool spoiled_ = false;  // the method must start afresh
    Callback before_, after_;
    PathSink path_sink_;
    std::vector<std::pair<std::string, double>> sensor_values_;
};

}  // namespace tenon

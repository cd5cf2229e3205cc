// What moves, and what a step finds: State is all that is needed to go on, Outputs are never read back.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "tenon/model.hpp"

namespace tenon {

// What a method keeps from step to step beside the state: history, warm starts, caches. Opaque to all but the method.
class MethodMemory {
  public:
    virtual ~MethodMemory() = default;
    virtual std::unique_ptr<MethodMemory> clone() const = 0;
    virtual void save(std::ostream& out) const = 0;  // bit for bit
};

// A memory that is copied with its state.
class MemoryPointer {
  public:
    MemoryPointer() = default;
    MemoryPointer(const MemoryPointer& other) : memory_(other.memory_ ? other.memory_->clone() : nullptr) {}
    MemoryPointer& operator=(const MemoryPointer& other) {
        if (this != &other) memory_ = other.memory_ ? other.memory_->clone() : nullptr;
        return *this;
    }
    MemoryPointer(MemoryPointer&&) noexcept = default;
    MemoryPointer& operator=(MemoryPointer&&) noexcept = default;
    ~MemoryPointer() = default;

    MethodMemory* get() const { return memory_.get(); }
    void reset(std::unique_ptr<MethodMemory> memory = nullptr) { memory_ = std::move(memory); }
    explicit operator bool() const { return memory_ != nullptr; }

  private:
    std::unique_ptr<MethodMemory> memory_;
};

struct ElasticState {
    std::vector<Vec3> x, v;  // vertices
};

// Many states may share one model. A copy goes on exactly as the original would.
struct State {
    double time = 0.0;
    long step = 0;
    std::vector<Mat34> q;        // body frame to world
    std::vector<Mat34> rate;     // dq/dt
    std::vector<BodyType> type;  // kinematic bodies become dynamic when their script lets them go
    std::vector<ElasticState> elastic;
    std::vector<char> broken;                             // joints that are no more
    std::vector<std::array<double, 3>> joint_coordinate;  // angles count their turns
    std::vector<double> targets;                          // of actuators; not a number: as the scene says
    Vec3 gravity = Vec3::Zero();
    std::vector<ForceSpec> pushes;  // forces from outside the scene, set anew for each step; not saved
    MemoryPointer memory;           // the method's; empty: it starts afresh

    bool dynamic(int body) const { return type[body] == BodyType::dynamic_body; }
    void assign_without_memory(const State& other);  // keeps this state's own memory
};

// The state at the start of the model's scene.
State initial_state(const Model& model);

// What an actuator aims at from now on: a position, a velocity, a force or a torque. Throws InputError beyond its limits.
void set_target(const Model& model, State& state, int actuator, double target);
// What it aims at, at a time.
double actuator_target(const Model& model, const State& state, int actuator, double time);
// What a motor aims at: its own target or profile, or what the state says of its actuators.
double motor_target(const MotorSpec& motor, const State& state, double time);

// All of a state, bit for bit. load_state throws std::runtime_error when the bytes do not fit the model; the memory is
// then what it was, and Method::restore gives it its form.
void save_state(const State& state, std::ostream& out);
void load_state(const Model& model, State& state, std::istream& in);

// One contact of the last step. Elastic bodies are numbered after the bodies.
struct Contact {
    int a = -1, b = -1;
    Vec3 point = Vec3::Zero();
    Vec3 normal = Vec3::Zero();  // from a to b
    Vec3 force = Vec3::Zero();   // on b, N, averaged over the step
    double distance = 0.0;       // negative: penetration
};

struct JointOutput {
    Vec3 force = Vec3::Zero();  // on the second body, world frame, at the anchor
    Vec3 torque = Vec3::Zero();
    std::array<double, 3> coordinate_rate{};
    std::array<double, 3> motor_force{}, limit_force{};  // along the coordinates, N or N m
};

// One accepted segment of the path within a step: all bodies move straight from the previous segment's end to q.
using PathSink = std::function<void(const std::vector<Mat34>& q)>;

struct Outputs {
    std::vector<Contact> contacts;    // of the last step
    std::vector<JointOutput> joints;  // per joint
    std::vector<std::vector<float>>
        element_state;  // per elastic body and tetrahedron: meaning set by the method
    PathSink
        path_sink;  // called for each accepted segment of a step, when set; methods with one segment need not call it

    Outputs() = default;
    explicit Outputs(const Model& model);
};

// Moves a kinematic body whose script has ended on to the dynamic ones. True when there was one.
bool release_kinematic_bodies(const Model& model, State& state);

// Where the motion of a kinematic body has it at a time (now, when it has none): body frame to world, and its rate.
Mat34 scripted_pose(const Model& model, const State& state, int body, double time);
Mat34 scripted_pose(const Model& model, int body, double time);  // at the start, when it has no motion
Mat34 scripted_rate(const Model& model, int body, double time);

// Force and torque about the centre of mass from `forces`, `pushes` and wind at a time (gravity not included), of all
// bodies.
struct Wrench {
    Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
};
void external_wrenches(const Model& model, const State& state, double time, std::vector<Wrench>& out);
bool has_external_wrenches(const Model& model, const State& state);  // false: all of them are zero

struct Energies {
    double kinetic = 0, gravity = 0, elastic = 0;
    double total() const { return kinetic + gravity + elastic; }
};
Energies energies(const Model& model, const State& state);
Vec3 linear_momentum(const Model& model, const State& state);
Vec3 angular_momentum(const Model& model, const State& state);  // about the origin
Box3 bounds(const Model& model, const State& state);            // of everything, now
double scene_length(const Model& model, const State& state);    // diagonal of the box of what may move

// Largest violation of the joints' constraints: metres for points, radians for directions.
double joint_residual(const Model& model, const State& state, int joint);
double joint_residual_max(const Model& model, const State& state);

// True when every coordinate and rate is finite.
bool all_finite(const State& state);

}  // namespace tenon

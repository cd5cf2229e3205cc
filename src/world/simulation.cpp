#include "tenon/simulation.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "math/binary_io.hpp"
#include "scene/actuators.hpp"
#include "world/last_good_state.hpp"
#include "world/sensors.hpp"

namespace tenon {

namespace {

// Of all that is saved here and by the methods: to be raised whenever one of them saves something else.
constexpr std::uint64_t checkpoint_layout = 0x7463'0000'0004;

// A kinematic body leaves its script with the script's velocity, or with its own where it has been given one.
void set_release_velocity(World& world, int body, const BodySpec& spec) {
    if (spec.linear_velocity.isZero(0.0) && spec.angular_velocity.isZero(0.0)) return;
    Mat34& rate = world.bodies.rate[body];
    for (int k = 0; k < 3; ++k) rate.col(k) = spec.angular_velocity.cross(Vec3(world.bodies.q[body].col(k)));
    rate.col(3) = spec.linear_velocity;
}

// Sensors of a body that goes, and of its joints, go with it; the others follow the numbers that move down.
void drop_sensors_of(std::vector<SensorSpec>& sensors, const World& world, int body) {
    std::vector<int> joint_after;
    int kept = 0;
    for (const Joint& joint : world.joints)
        joint_after.push_back(joint.bodies[0] == body || joint.bodies[1] == body ? -1 : kept++);
    std::erase_if(sensors, [&](const SensorSpec& sensor) {
        return sensor.body == body || sensor.other == body ||
               (sensor.joint >= 0 && joint_after[static_cast<std::size_t>(sensor.joint)] < 0);
    });
    for (SensorSpec& sensor : sensors) {
        if (sensor.body > body) --sensor.body;
        if (sensor.other > body) --sensor.other;
        if (sensor.joint >= 0) sensor.joint = joint_after[static_cast<std::size_t>(sensor.joint)];
    }
}

}  // namespace

Simulation::Simulation(Scene scene) : scene_(std::move(scene)), good_(std::make_shared<LastGoodState>()) {
    const MethodInfo& info = find_method(scene_.method, {scene_.file, "method.type"});
    resolve_params(info.parameters, scene_.method_params, {scene_.file, "method"});
    const auto unsupported =
        scene::has_actuators_or_start(scene_) ? info.supports(scene::lowered(scene_)) : info.supports(scene_);
    if (unsupported)
        throw InputError(scene_.file.empty() ? scene_.name : scene_.file, unsupported->path,
                         unsupported->problem, unsupported->cure);
    for (std::size_t i = 0; i < scene_.bodies.size() && scene_.method != "articulated"; ++i)
        if (scene_.bodies[i].geometry < 0)
            throw InputError(scene_.file.empty() ? scene_.name : scene_.file, fmt::format("bodies[{}]", i),
                             fmt::format("the {} method moves bodies by their geometry", scene_.method),
                             "add a \"shape\", or use --method articulated");
    world_ = build_world(scene_);
    make_method();
}

void Simulation::make_method() {
    const MethodInfo& info = find_method(scene_.method, {scene_.file, "method.type"});
    method_ =
        info.make(world_, resolve_params(info.parameters, scene_.method_params, {scene_.file, "method"}));
    method_->set_path_sink(path_sink_);
    spoiled_ = false;
}

void Simulation::set_path_sink(PathSink sink) {
    path_sink_ = std::move(sink);
    method_->set_path_sink(path_sink_);
}

void Simulation::release_kinematic_bodies() {
    for (int i = 0; i < world_.bodies.size(); ++i)
        if (world_.bodies.type[i] == BodyType::kinematic_body &&
            world_.time >= world_.bodies.kinematic_until[i] - 1e-12) {
            world_.bodies.type[i] = BodyType::dynamic_body;
            set_release_velocity(world_, i, scene_.bodies[i]);
            spoiled_ = true;  // the method laid out its unknowns without this body
        }
}

StepReport Simulation::step() {
    if (before_) before_(*this);
    release_kinematic_bodies();
    if (spoiled_) make_method();
    good_->keep(world_);
    spoiled_ = true;
    StepReport report;
    try {
        report = method_->step(world_, scene_.dt);
        if (!all_finite(world_)) throw StepFailure("a coordinate is no longer a finite number");
    } catch (...) {
        good_->restore(world_);
        throw;
    }
    spoiled_ = false;
    world_.step += 1;
    world_.time = static_cast<double>(world_.step) * scene_.dt;
    if (!scene_.sensors.empty()) {
        sensor_values_ = read_sensors(scene_.sensors, world_, good_->rate(), scene_.dt);
        report.figures.insert(report.figures.end(), sensor_values_.begin(), sensor_values_.end());
    }
    if (after_) after_(*this);
    return report;
}

int Simulation::add_body(const BodySpec& body, const GeometrySpec& geometry) {
    if (!body.name.empty() && scene_.body_index(body.name) >= 0)
        throw InputError(scene_.file, "bodies", fmt::format("there is a body named '{}' already", body.name),
                         "give the new one another name");
    BodySpec spec = body;
    spec.geometry = scene_.add_geometry(geometry);
    scene_.bodies.push_back(spec);
    try {
        const int index = tenon::add_body(world_, scene_, static_cast<int>(scene_.bodies.size()) - 1);
        make_method();
        return index;
    } catch (...) {
        scene_.bodies.pop_back();
        throw;
    }
}

void Simulation::remove_body(const std::string& name) {
    const auto& names = world_.bodies.name;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
        throw InputError(scene_.file, "bodies", fmt::format("there is no body named '{}'", name),
                         suggestion(name, names));
    const int index = static_cast<int>(found - names.begin());
    drop_sensors_of(scene_.sensors, world_, index);
    tenon::remove_body(world_, index);
    scene_.bodies.erase(scene_.bodies.begin() + index);
    make_method();
}

void Simulation::save(std::ostream& out) const {
    write_value(out, checkpoint_layout);
    write_value(out, world_.time);
    write_value(out, world_.step);
    write_values(out, world_.bodies.type);
    write_values(out, world_.bodies.q);
    write_values(out, world_.bodies.rate);
    for (const ElasticBody& body : world_.elastic) {
        write_values(out, body.x);
        write_values(out, body.v);
    }
    for (const Joint& joint : world_.joints) {
        write_value(out, joint.broken);
        write_value(out, joint.coordinate);
        write_value(out, joint.coordinate_rate);
    }
    std::ostringstream of_method;
    method_->save(of_method);
    const std::string state = of_method.str();
    write_values(out, std::vector<char>(state.begin(), state.end()));
}

void Simulation::load(std::istream& in) {
    const auto refuse = [&](const char* what) {
        throw InputError(scene_.file, "checkpoint",
                         fmt::format("holds another number of {} than the scene", what),
                         "resume with the scene the run was started with");
    };
    auto layout = checkpoint_layout;
    read_value(in, layout);
    if (layout != checkpoint_layout) throw std::runtime_error("was made by another version of this program");
    read_value(in, world_.time);
    read_value(in, world_.step);
    const std::size_t bodies = world_.bodies.q.size();
    read_values(in, world_.bodies.type);
    read_values(in, world_.bodies.q);
    read_values(in, world_.bodies.rate);
    if (world_.bodies.q.size() != bodies || world_.bodies.rate.size() != bodies ||
        world_.bodies.type.size() != bodies)
        refuse("bodies");
    for (ElasticBody& body : world_.elastic) {
        const std::size_t vertices = body.rest.size();
        read_values(in, body.x);
        read_values(in, body.v);
        if (body.x.size() != vertices || body.v.size() != vertices) refuse("vertices");
    }
    for (Joint& joint : world_.joints) {
        read_value(in, joint.broken);
        read_value(in, joint.coordinate);
        read_value(in, joint.coordinate_rate);
    }
    make_method();
    std::vector<char> state;
    read_values(in, state);
    std::istringstream of_method(std::string(state.begin(), state.end()));
    method_->load(of_method);
    if (of_method.peek() != std::istringstream::traits_type::eof())
        throw std::runtime_error("the checkpoint holds more than the method reads");
}

}  // namespace tenon

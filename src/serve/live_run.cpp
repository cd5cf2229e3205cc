#include "serve/live_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>

#include "math/union_find.hpp"
#include "tenon/error.hpp"
#include "verify/verify.hpp"

namespace tenon::serve {
namespace {

double now_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The mass that a pull on a body has to move: its own and that of all bodies tied to it by joints.
std::vector<double> tied_masses(const Model& model, const State& state) {
    const std::size_t count = state.q.size();
    UnionFind tied(count);
    for (const Joint& joint : model.joints)
        if (joint.bodies[0] >= 0 && joint.bodies[1] >= 0 && state.dynamic(joint.bodies[0]) &&
            state.dynamic(joint.bodies[1]))
            tied.join(joint.bodies[0], joint.bodies[1]);
    std::vector<double> sum(count, 0.0), mass(count);
    for (std::size_t i = 0; i < count; ++i) sum[tied.root(static_cast<int>(i))] += model.bodies.mass[i];
    for (std::size_t i = 0; i < count; ++i) mass[i] = sum[tied.root(static_cast<int>(i))];
    return mass;
}

}  // namespace

LiveRun::LiveRun(Scene scene, const std::string& output, double speed) : file_(output), speed_(speed) {
    if (file_.empty()) {
        std::string pattern = (std::filesystem::temp_directory_path() / "tenon-view-XXXXXX").string();
        if (!mkdtemp(pattern.data()))
            throw InputError(pattern, "", "no temporary folder can be made", "name a run file with -o");
        folder_ = pattern;
        file_ = folder_ + "/" + (scene.name.empty() ? "scene" : scene.name) + ".tenon";
    }
    thread_ = std::thread([this, wanted = std::move(scene)]() mutable { work(std::move(wanted)); });
    for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const std::lock_guard lock(mutex_);
        if (status_ == "starting") continue;
        if (status_ == "refused") {
            thread_.join();
            if (!folder_.empty()) std::filesystem::remove_all(folder_);
            throw InputError("", "", problem_);
        }
        break;
    }
}

LiveRun::~LiveRun() {
    finish();
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void LiveRun::finish() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
}

std::string LiveRun::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

void LiveRun::work(Scene scene) {
    run::RunOptions options;
    options.output = file_;
    options.stop = &stop_;
    options.count_intersections = verify::count_intersections;
    options.before_step = [this](Simulation& simulation) { before_step(simulation); };
    try {
        const run::Report report = run::run_scene(std::move(scene), options);
        const std::lock_guard lock(mutex_);
        status_ = report.status;
    } catch (const std::exception& error) {
        const std::lock_guard lock(mutex_);
        problem_ = error.what();
        status_ = status_ == "starting" ? "refused" : "failed";
    }
}

// The first step starts when the first frame is in the file.
void LiveRun::before_step(Simulation& simulation) {
    if (mass_.empty()) {
        mass_ = tied_masses(simulation.model(), simulation.state());
        const std::lock_guard lock(mutex_);
        status_ = "running";
    }
    keep_pace(simulation.time());
    apply_pull(simulation);
}

// Not ahead of the clock, so that a pull acts on what is seen; a scene slower than the clock owes it nothing.
void LiveRun::keep_pace(double simulated) {
    while (paused_ && !stop_) {
        paced_from_ = -1;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    if (paced_from_ < 0 || now_seconds() - paced_from_ > (simulated - paced_time_) / speed_ + 0.1) {
        paced_from_ = now_seconds();
        paced_time_ = simulated;
    }
    while (!stop_ && now_seconds() - paced_from_ < (simulated - paced_time_) / speed_)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

void LiveRun::drag(int body, const Vec3& point, const Vec3& target) {
    const std::lock_guard lock(mutex_);
    pull_ = Pull{body, point, target};
}

void LiveRun::release() {
    const std::lock_guard lock(mutex_);
    pull_.reset();
}

// F = m w^2 (target - p) - 2 m w v, kept during the step; w h stays below a half, where that is stable.
void LiveRun::apply_pull(Simulation& simulation) {
    const Model& model = simulation.model();
    State& state = simulation.state();
    state.pushes.clear();
    std::optional<Pull> pull;
    {
        const std::lock_guard lock(mutex_);
        pull = pull_;
    }
    if (!pull || pull->body >= model.bodies.size() || !state.dynamic(pull->body)) return;
    const std::size_t body = static_cast<std::size_t>(pull->body);
    const double mass = mass_[body];
    const double w = std::min(2 * M_PI * drag_hertz, 0.5 / simulation.dt());
    const Vec3 at = transform(state.q[body], pull->point);
    const Vec3 velocity = transform(state.rate[body], pull->point);
    Vec3 force = mass * w * w * (pull->target - at) - 2 * mass * w * velocity;
    const double largest = mass * drag_largest_acceleration;
    if (force.norm() > largest) force *= largest / force.norm();
    const Pose& geometry = model.shape_of(pull->body).geometry_frame;
    ForceSpec spec;
    spec.body = pull->body;
    spec.force = force;
    spec.point = geometry.rotation.conjugate() * (pull->point - geometry.position);
    state.pushes.push_back(spec);
}

}  // namespace tenon::serve

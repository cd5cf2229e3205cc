#include "apps/tenon/check_accuracy.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "math/rotation.hpp"
#include "model/joint_rows.hpp"
#include "tenon/error.hpp"

namespace tenon::app {
namespace {

constexpr int most_bodies = 1000;  // larger scenes are not stepped: a check is quick
constexpr long most_triangles = 100000;

// The inverse of the mass that a coordinate's force moves: f^2/m + t I^-1 t over both bodies, as if they were free.
double inverse_mass(const Model& model, const State& state, const Joint& joint, const JointCoordinate& c) {
    double sum = 0;
    for (int side = 0; side < 2; ++side) {
        const int body = joint.bodies[side];
        if (body < 0 || !state.dynamic(body)) continue;
        const Mat34& q = state.q[body];
        Vec3 torque = Vec3::Zero();
        for (int k = 0; k < 3; ++k) torque += q.col(k).cross(c.gradient[side].col(k));
        const Vec3 local = q.leftCols<3>().transpose() * torque;
        sum += c.gradient[side].col(3).squaredNorm() / model.bodies.mass[body];
        sum += local.cwiseAbs2().cwiseQuotient(model.bodies.moments_of_inertia(body)).sum();
    }
    return sum;
}

struct Fastest {
    double omega = 0;
    std::string what;
    void see(double rate, const std::string& of) {
        if (std::isfinite(rate) && rate > omega) omega = rate, what = of;
    }
};

void see_joints(const Model& model, const State& state, Fastest& fastest) {
    for (const Joint& joint : model.joints)
        for (std::size_t k = 0; k < joint.spec.drives.size() && k < 3; ++k) {
            const DriveSpec& drive = joint.spec.drives[k];
            const double stiffness = (drive.spring ? drive.spring->stiffness : 0.0) + drive.motor.stiffness;
            if (!(stiffness > 0) || joint.spec.type == JointType::coupling) continue;
            const JointCoordinate c = joint_coordinate(joint, static_cast<int>(k), side_map(state, joint, 0),
                                                       side_map(state, joint, 1));
            const double inverse = inverse_mass(model, state, joint, c);
            if (!(inverse > 0)) continue;
            fastest.see(std::sqrt(stiffness / (1.0 / inverse + drive.armature)),
                        fmt::format("the spring or motor of '{}'", joint.spec.name));
        }
}

void see_spins(const Model& model, const State& state, Fastest& fastest) {
    for (int i = 0; i < model.bodies.size(); ++i) {
        if (!state.dynamic(i)) continue;
        fastest.see(spin_of(state.q[i], state.rate[i]).norm(),
                    fmt::format("the spin of '{}'", model.bodies.name[i]));
    }
}

// Of an oscillation over the time T: T omega (omega h)^2 / 3 by BDF2, T omega^2 h by implicit Euler, of its amplitude.
void foresee_error(const Scene& scene, const Params& params, AccuracyNote& note) {
    const double omega = 1.0 / note.time_scale, h = scene.dt, T = scene.seconds;
    const bool second = params.has("integrator") && params.text("integrator") != "euler" &&
                        params.text("integrator") != "implicit-euler";
    constexpr double good = 0.01;
    note.expected_error = second ? T * omega * omega * omega * h * h / 3 : T * omega * omega * h;
    note.good_step = second ? std::sqrt(3 * good / (T * omega)) / omega : good / (T * omega * omega);
}

long triangles_of(const Model& model) {
    long sum = 0;
    for (int i = 0; i < model.bodies.size(); ++i)
        sum += static_cast<long>(model.shape_of(i).mesh.triangles.size());
    return sum;
}

// One step, made for what it says and thrown away.
void try_step(const Scene& scene, const Model& model, State state, AccuracyNote& note) {
    if (model.bodies.size() > most_bodies || triangles_of(model) > most_triangles || !model.elastic.empty()) {
        note.not_tried = "the scene is large: no step was tried";
        return;
    }
    Outputs outputs(model);
    try {
        const StepReport report = Method(scene).step(model, state, outputs, scene.dt);
        for (const auto& [name, value] : report.metrics) {
            if (name == "dhat") note.dhat = value;
            if (name == "kappa") note.kappa = value;
        }
        note.warnings = report.warnings;
        if (!report.converged)
            note.warnings.push_back(
                fmt::format("the first step does not converge ({} iterations)", report.iterations));
    } catch (const StepFailure& failure) {
        note.warnings.push_back(std::string("the first step fails: ") + failure.what());
    } catch (const InputError&) {
        note.not_tried = "no step could be tried";  // what is wrong is told among the findings
    }
}

}  // namespace

AccuracyNote check_accuracy(const Scene& scene, const Model& model, const State& state) {
    AccuracyNote note;
    const Origin origin{scene.file.empty() ? scene.name : scene.file, "method"};
    const MethodInfo& method = find_method(scene.method, origin);
    const Params params = resolve_params(method.parameters, scene.method_params, origin);
    note.dhat_given = scene.contact.dhat || (params.has("dhat") && params.was_given("dhat"));
    note.kappa_given = params.has("kappa") && params.number("kappa") > 0;
    for (int i = 0; i < model.bodies.size(); ++i) {
        const MaterialSpec& material = model.materials[model.bodies.material[i]];
        if (state.dynamic(i) && material.young_given && !(material.young >= note.young))
            note.young = material.young;
    }
    Fastest fastest;
    see_joints(model, state, fastest);
    see_spins(model, state, fastest);
    if (fastest.omega > 0) {
        note.time_scale = 1.0 / fastest.omega;
        note.time_scale_of = fastest.what;
        foresee_error(scene, params, note);
    }
    if (!method.supports(scene)) try_step(scene, model, state, note);
    return note;
}

std::vector<std::pair<std::string, std::string>> accuracy_rows(const AccuracyNote& note, const Scene& scene) {
    std::vector<std::pair<std::string, std::string>> rows;
    const auto chosen = [](bool given) { return given ? "given" : "chosen"; };
    std::string stiffness;
    const auto add = [&](const std::string& text) { stiffness += (stiffness.empty() ? "" : ", ") + text; };
    if (std::isfinite(note.dhat)) add(fmt::format("dhat {:.3g} m ({})", note.dhat, chosen(note.dhat_given)));
    if (std::isfinite(note.kappa))
        add(fmt::format("kappa {:.3g} Pa ({})", note.kappa, chosen(note.kappa_given)));
    if (scene.method == "articulated" || std::isfinite(note.young))
        add(std::isfinite(note.young) ? fmt::format("E {:.3g} Pa", note.young) : "bodies rigid");
    if (!stiffness.empty()) rows.emplace_back("stiffness", stiffness);
    if (std::isfinite(note.time_scale)) {
        std::string text = fmt::format("{:.3g} s, {}; the step is {:.2g} of it", note.time_scale,
                                       note.time_scale_of, scene.dt / note.time_scale);
        if (note.expected_error > 0.01)
            text += fmt::format(
                "; an oscillation that fast would be off by {:.2g} of its amplitude after {:g} s, by "
                "a hundredth with dt = {:.2g} s",
                std::min(2.0, note.expected_error), scene.seconds, note.good_step);
        rows.emplace_back("time scale", text);
    }
    for (const std::string& warning : note.warnings) rows.emplace_back("warning", warning);
    if (!note.not_tried.empty()) rows.emplace_back("note", note.not_tried);
    return rows;
}

}  // namespace tenon::app

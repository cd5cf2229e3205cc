// What was written into a state's arrays, checked before it is stepped.
#include <cmath>

#include <fmt/format.h>

#include "live_state.hpp"
#include "model/initial_check.hpp"
#include "tenon/error.hpp"

namespace tenon::python {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& problem, const std::string& cure) {
    throw InputError("", path, problem, cure);
}

void check_finite(const Model& model, const State& state) {
    for (int i = 0; i < model.bodies.size(); ++i) {
        if (!state.q[i].allFinite())
            refuse(fmt::format("state.q[{}]", i),
                   fmt::format("the pose of '{}' is not finite", model.bodies.name[i]), "write numbers");
        if (!state.rate[i].allFinite())
            refuse(fmt::format("state.rate[{}]", i),
                   fmt::format("the rate of '{}' is not finite", model.bodies.name[i]), "write numbers");
    }
    for (std::size_t e = 0; e < state.elastic.size(); ++e)
        for (std::size_t k = 0; k < state.elastic[e].x.size(); ++k)
            if (!state.elastic[e].x[k].allFinite() || !state.elastic[e].v[k].allFinite())
                refuse(fmt::format("elastic[{}]", e),
                       fmt::format("vertex {} of '{}' is not finite", k, model.elastic[e].name),
                       "write numbers");
}

// Affine bodies may be strained a little, rigid ones may not.
double strain_allowed(const std::string& method) {
    return method == "affine" || method == "articulated" ? 0.05 : 1e-6;
}

void check_body(const Compiled& compiled, const State& written, int body) {
    const std::string& name = compiled.model().bodies.name[body];
    if (!written.dynamic(body))
        refuse(fmt::format("state.q[{}]", body), fmt::format("'{}' is not free to be moved", name),
               "write only dynamic bodies; others follow the scene");
    const Mat3 turn = written.q[body].leftCols<3>();
    const double strain = (turn.transpose() * turn - Mat3::Identity()).cwiseAbs().maxCoeff();
    if (strain > strain_allowed(compiled.scene().method) || turn.determinant() <= 0)
        refuse(fmt::format("state.q[{}]", body),
               fmt::format("the first three columns of '{}' are no rotation (off by {:.2g})", name, strain),
               "write an orthonormal, right-handed matrix");
    const Mat3 spin = written.rate[body].leftCols<3>() * turn.inverse();
    const double stretch = (spin + spin.transpose()).cwiseAbs().maxCoeff();
    if (stretch > strain_allowed(compiled.scene().method) * std::max(1.0, spin.cwiseAbs().maxCoeff()))
        refuse(fmt::format("state.rate[{}]", body),
               fmt::format("the rate of '{}' stretches it (by {:.2g} 1/s)", name, stretch),
               "write a velocity and an angular_velocity");
}

void check_joints_whole(const Model& model, const State& before, const State& written,
                        const std::vector<char>& moved) {
    const double allowed = 1e-6 * std::max(1.0, scene_length(model, before));
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const auto [a, b] = model.joints[j].bodies;
        const bool concerned = (a >= 0 && moved[a]) || (b >= 0 && moved[b]);
        if (!concerned || written.broken[j] || model.joints[j].spec.type == JointType::coupling) continue;
        const int joint = static_cast<int>(j);
        const double residual = joint_residual(model, written, joint);
        if (residual > std::max(allowed, 2 * joint_residual(model, before, joint)))
            refuse("state.q",
                   fmt::format("joint '{}' is torn by {:.3g}", model.joints[j].spec.name, residual),
                   "move the bodies of a joint together");
    }
}

void check_apart(const Model& model, const State& written, const std::vector<char>& moved) {
    for (const model::InitialProblem& problem : model::check_initial_state(model, written).problems) {
        if (problem.kind == model::InitialProblem::Kind::enclosed || (!moved[problem.a] && !moved[problem.b]))
            continue;
        refuse(fmt::format("state.q[{}]", problem.a), model::describe(model, problem), "move them apart");
    }
}

}  // namespace

void check_written(const Compiled& compiled, const State& before, const State& written) {
    const Model& model = compiled.model();
    check_finite(model, written);
    std::vector<char> moved(written.q.size() + written.elastic.size(), 0);  // elastic bodies after the bodies
    bool any = false;
    for (int i = 0; i < model.bodies.size(); ++i) {
        moved[i] = written.q[i] != before.q[i];
        if (moved[i] || written.rate[i] != before.rate[i]) check_body(compiled, written, i);
        any = any || moved[i];
    }
    for (std::size_t e = 0; e < written.elastic.size(); ++e) {
        moved[written.q.size() + e] = written.elastic[e].x != before.elastic[e].x;
        any = any || moved[written.q.size() + e];
    }
    if (!any) return;
    check_joints_whole(model, before, written, moved);
    if (compiled.scene().method == "affine") check_apart(model, written, moved);
}

}  // namespace tenon::python

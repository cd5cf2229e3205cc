#include "methods/affine/coupled_method.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <ostream>

#include <fmt/format.h>

#include "math/binary_io.hpp"
#include "math/parallel.hpp"
#include "methods/affine/barrier_scale.hpp"
#include "methods/affine/bodies.hpp"
#include "methods/affine/deformation.hpp"
#include "methods/affine/joints.hpp"
#include "methods/affine/rigidity.hpp"
#include "model/joint_rows.hpp"
#include "model/keyframes.hpp"
#include "model/loads_ahead.hpp"
#include "model/path_piece.hpp"

namespace tenon::affine {
namespace {

constexpr double script_weight = 1e5;       // of a scripted body over its inertia
constexpr double rigid_over_inertia = 1e6;  // h^2 kappa v over the largest second moment of mass
constexpr double load_strain = 1e-5;        // of a body that carries all loads of the scene
constexpr double stick_of_scene = 3e-5, stick_of_body = 1e-3;
constexpr double still_of_scene = 1e-4, still_of_body = 1e-2;
constexpr double column_of_vertices = 30.0;  // vertices that rest on one vertex of a surface
constexpr double closed_of_scene = 1e-11;    // residual of a closed joint
constexpr double forced_strain = 1e-2;       // |A^T A - I| of a body whose joints are closed by bending it
// A Newton step is no longer than this times the largest predicted motion of a point: what lies in reach of longer ones are
// more candidates than the step is worth.
constexpr double most_over_predicted = 1.5;

double thinnest_part(const Model& model, const State& state) {
    double thinnest = 1e300;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.type[i] != BodyType::static_body && model.shape_of(i).closed)
            thinnest = std::min(thinnest, model.shape_of(i).box.size().minCoeff());
    for (const ElasticBody& body : model.elastic) {
        Box3 box;
        for (const Vec3& x : body.rest) box.add(x);
        thinnest = std::min(thinnest, box.size().minCoeff());
    }
    return thinnest;
}

double typical_size(const Model& model, const State& state) {
    std::vector<double> size;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.type[i] != BodyType::static_body) size.push_back(2.0 * model.shape_of(i).radius);
    for (const ElasticState& body : state.elastic) {
        Box3 box;
        for (const Vec3& x : body.x) box.add(x);
        size.push_back(box.diagonal());
    }
    if (size.empty()) return 1.0;
    std::nth_element(size.begin(), size.begin() + size.size() / 2, size.end());
    return size[size.size() / 2];
}

// Force and torque at a joint's anchor on its second body, from a load on that body's q.
void set_joint_force(const Joint& joint, const Mat34& load, const Mat34& q, JointOutput& out) {
    out.force = load.col(3);
    out.torque = -linear_part_times(q, joint.point[1]).cross(out.force);
    for (int k = 0; k < 3; ++k) out.torque += q.col(k).cross(load.col(k));
}

std::string name_of(const Model& model, int joint) {
    const std::string& name = model.joints[joint].spec.name;
    return name.empty() ? fmt::format("joints[{}]", joint) : "'" + name + "'";
}

}  // namespace

// Islands have bodies and joints that are linear in q.
bool needs_coupled_solve(const Scene& scene) {
    return !scene.elastic.empty() || unsupported_joint(scene).has_value();
}

bool needs_coupled_solve(const Model& model) {
    Scene scene;
    scene.bodies.resize(model.bodies.start_type.size());
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) scene.bodies[i].type = model.bodies.start_type[i];
    for (const Joint& joint : model.joints) scene.joints.push_back(joint.spec);
    return !model.elastic.empty() || needs_coupled_solve(scene);
}

// Turns of linked bodies are what islands resolve slowly: their joints are linear in q, where a turn is a strain.
bool links_moving_bodies(const Model& model) {
    const auto moves = [&](int body) {
        return body >= 0 && model.bodies.start_type[body] != BodyType::static_body;
    };
    return std::any_of(model.joints.begin(), model.joints.end(),
                       [&](const Joint& joint) { return moves(joint.bodies[0]) && moves(joint.bodies[1]); });
}

std::optional<Unsupported> unsupported_when_coupled(const Scene& scene) {
    for (std::size_t e = 0; e < scene.elastic.size(); ++e)
        if (scene.elastic[e].plane_strain)
            return Unsupported{fmt::format("elastic[{}].plane_strain", e),
                               "the affine method has no plane-strain bodies", "use --method adaptive"};
    for (std::size_t i = 0; i < scene.bodies.size(); ++i)
        if (const int g = scene.bodies[i].geometry; g >= 0 && !scene.geometries[g].points.empty())
            return Unsupported{fmt::format("bodies[{}]", i),
                               "loose points do not touch elastic bodies or jointed ones",
                               "give it triangles or edges"};
    return std::nullopt;
}

CoupledMethod::CoupledMethod(const Model& model, const State& state, const Settings& settings,
                             std::vector<std::string> told)
    : settings_(settings), step_(model, state, settings.rigidity), told_(std::move(told)) {
    if (!told_.empty()) opened_ = state.q;
    const std::size_t nodes = step_.nodes.node.size();
    history_.resize(nodes);
    attached_history_.resize(step_.nodes.attached.size());
    for (auto* histories : {&history_, &attached_history_})
        for (BodyHistory& history : *histories)
            history.older_q = history.older_rate = history.acceleration = Mat34::Zero();
    script_q_.assign(nodes, Mat34::Zero());
    for (std::size_t n = 0; n < nodes; ++n)
        if (const CoupledNode& node = step_.nodes.node[n]; node.kind == CoupledNode::Kind::script)
            script_q_[n] = keyframe_pose(model.elastic[node.elastic].scripts[node.script], state.time);
    rigidity_factor_.assign(state.q.size(), 1.0);
    length_ = scene_length(model, state);
    scale_.dhat = settings.dhat > 0.0       ? settings.dhat
                  : model.contact_spec.dhat ? *model.contact_spec.dhat
                                            : std::min(1e-3 * length_, 0.05 * thinnest_part(model, state));
    bounces_ = impacts_follow_law(model, settings);
    if (bounces_ && !settings.integrator_given) settings_.integrator = Integrator::bdf2;
    if (bounces_ && settings.dhat == 0.0 && !model.contact_spec.dhat)
        scale_.dhat = std::min(scale_.dhat, bounce_range * thinnest_part(model, state));
    for (std::size_t i = 0; i < state.q.size(); ++i)
        facet_angle_.push_back(facet_angle(model.shape_of(static_cast<int>(i))));
    const double body = typical_size(model, state);
    eps_v_ = settings.eps_v > 0.0 ? settings.eps_v : std::min(stick_of_scene * length_, stick_of_body * body);
    tolerance_ = settings.tolerance > 0.0 ? settings.tolerance
                                          : std::min(still_of_scene * length_, still_of_body * body);
}

void CoupledMethod::open(State& state) {
    if (!opened_.empty()) state.q = std::exchange(opened_, {});
}

StepReport CoupledMethod::step(const Model& model, State& state, Outputs& outputs, double dt) {
    StepReport report;
    timer_.reset();
    report.warnings = std::exchange(told_, {});
    if (first_step_ && settings_.restitution_speed > 0.0)
        plan_ = plan_restitution(model, state, thinnest_part(model, state), dt, settings_, scale_.dhat);
    if (first_step_ && settings_.integrator == Integrator::implicit_euler) lag_.start(state);
    prepare(model, state, dt);
    prepare_contacts(model, state, dt);
    CoupledOptions options;
    options.max_iterations = settings_.max_iterations;
    options.joint_tolerance = closed_of_scene * length_;
    options.polish = settings_.integrator != Integrator::implicit_euler;
    options.record_path = static_cast<bool>(outputs.path_sink);
    options.log = !settings_.log.empty();
    const bool dumps = !settings_.dump.empty() && state.step == settings_.dump_step;
    options.most_motion = 10.0 * scale_.dhat;
    for (std::size_t i = 0; i < x_.size(); ++i)
        options.most_motion = std::max(options.most_motion, most_over_predicted * (ahead_[i] - x_[i]).norm());
    CoupledResult result;
    const int builds = step_.contacts.builds();
    system_.new_step();
    for (int round = 0, rounds = settings_.friction_iterations; round < rounds; ++round) {
        // Friction that yields looks stuck to steps shorter than its range.
        options.tolerance = tolerance_ * dt;
        if (!step_.contacts.friction().empty())
            options.tolerance = std::min(options.tolerance, 0.1 * scale_.friction_eps);
        if (dumps) options.dump = fmt::format("{}-step{}-round{}", settings_.dump, state.step, round);
        CoupledResult more = CoupledNewton(step_, system_, options, timer_).run(q_, multipliers_);
        if (options.log) write_log(more.log, state.step, round);
        const bool settled = more.iterations <= 1;
        result.iterations += more.iterations;
        result.solves += more.solves;
        result.line_search_steps += more.line_search_steps;
        result.converged = more.converged;
        result.residual = more.residual;
        result.open_joint = more.open_joint;
        std::vector<std::vector<Vec3>> vertices;
        for (const std::vector<Mat34>& poses : more.path) {
            std::vector<Mat34> bodies = state.q;
            for (std::size_t i = 0; i < bodies.size(); ++i)
                if (step_.nodes.of_body[i] >= 0) bodies[i] = poses[step_.nodes.of_body[i]];
            step_.place_vertices(poses, vertices);
            outputs.path_sink(path_piece(bodies, vertices));
        }
        if (round == 0 && rounds == 1) {
            step_.contacts.place(q_, x_);
            if (step_.contacts.friction_is_outdated(x_, ahead_)) rounds = 2;
        }
        if (settled || !more.converged) break;
        if (round + 1 < rounds) step_.contacts.lag_friction();
    }
    step_.contacts.end_step();
    report.iterations = result.iterations;
    report.converged = result.converged;
    if (result.residual > options.joint_tolerance && result.open_joint >= 0)
        report.warnings.push_back(
            fmt::format("joint {} stays open by {:.2g}: contact or another joint holds it",
                        name_of(model, result.open_joint), result.residual));
    State before;
    if (bounces_) before.assign_without_memory(state);
    finish(model, state);
    if (bounces_) bounce(model, state, before);
    write_outputs(model, state, outputs, report);
    rolling_.add(model, state, facet_angle_, outputs, dt, report);
    report.metrics = {{"solves", static_cast<double>(result.solves)},
                      {"line_search", static_cast<double>(result.line_search_steps)},
                      {"candidate_builds", static_cast<double>(step_.contacts.builds() - builds)},
                      {"candidates", static_cast<double>(step_.contacts.candidate_count())},
                      {"impacts", static_cast<double>(impacts_)}};
    if (bounces_ && !settings_.integrator_given) report.metrics.emplace_back("bdf2", 1.0);
    if (settings_.integrator == Integrator::implicit_euler) lag_.add(model, state, dt, report);
    report_deformation(model, state, settings_.kappa, rigidity_factor_, report);
    if (settings_.kappa == 0.0) find_forced_joint(model, report);
    report.solver = fmt::format("coupled: {} nodes of 12 unknowns, {} joint rows", step_.nodes.size(),
                                step_.joints.rows().size());
    if (plan_.wanted > 0.0) {
        report.solver += "; " + describe(plan_);
        report.metrics.emplace_back("restitution", plan_.one.mean);
        if (!plan_.reached()) report.warnings.push_back(describe(plan_));
    }
    report.phases = timer_.stages();
    first_step_ = false;
    last_h_ = dt;
    return report;
}

void CoupledMethod::write_log(const std::vector<CoupledLog>& lines, long step, int round) {
    if (!log_) log_ = std::make_unique<std::ofstream>(settings_.log);
    for (std::size_t k = 0; k < lines.size(); ++k) {
        const CoupledLog& l = lines[k];
        *log_ << "step " << step << " round " << round << " iteration " << k << " solves " << l.solves
              << " contacts " << l.contacts << " energy " << l.energy << " slope " << l.slope << " motion "
              << l.motion << " residual " << l.residual << " filtered " << l.filtered << " trials "
              << l.trials << " length " << l.length << '\n';
    }
    log_->flush();
}

double CoupledMethod::rigidity_of(const Model& model, int body) const {
    if (settings_.kappa > 0.0) return times_.potential_scale * settings_.kappa * model.bodies.volume[body];
    const double of_inertia = rigid_over_inertia * model.bodies.second_moments[body].maxCoeff();
    const double of_loads =
        times_.potential_scale * load_ * model.shape_of(body).radius / (8.0 * load_strain);
    return rigidity_factor_[body] * std::max(of_inertia, of_loads);
}

// No farther than the script itself moves and the range of contact: one that was held up does not press harder and harder.
Mat34 CoupledMethod::scripted_target(const Mat34& start, const Mat34& before, const Mat34& after,
                                     double size) const {
    const auto bound = [&](const Mat34& d) { return d.leftCols<3>().norm() * size + d.col(3).norm(); };
    const double to_go = bound(after - start), most = bound(after - before) + scale_.dhat;
    return to_go > most ? Mat34(start + most / to_go * (after - start)) : after;
}

void CoupledMethod::prepare_body(const Model& model, const State& state, int n, const Wrench& wrench) {
    const int body = step_.nodes.node[n].body;
    NodeStep& node = step_.node[n];
    const Inertia inertia = inertia_of(model.bodies, body);
    node.start = q_[n] = state.q[body];
    for (int k = 0; k < 4; ++k) node.mass[k] = inertia.of_column(k);
    node.rigidity = rigidity_of(model, body);
    if (state.type[body] == BodyType::kinematic_body) {
        node.mass *= script_weight;
        node.rigidity *= script_weight;
        node.target = scripted_target(node.start, scripted_pose(model, state, body, times_.start),
                                      scripted_pose(model, state, body, times_.start + times_.h),
                                      step_.nodes.node[n].size);
        return;
    }
    Mat34 acceleration = Mat34::Zero();
    acceleration.col(3) = state.gravity + wrench.force / inertia.mass;
    if (!wrench.torque.isZero(0.0)) {
        const Mat34 ahead = extrapolate_rigidly(node.start, state.rate[body], inertia, times_.h);
        acceleration.leftCols<3>() =
            torque_force(ahead.leftCols<3>(), wrench.torque) * inertia.moments.cwiseInverse().asDiagonal();
    }
    if (first_step_)
        history_[n].acceleration = rigid_acceleration(node.start, state.rate[body], acceleration, inertia);
    node.target = inertial_target(times_.integrator, times_.h, times_.fresh, node.start, state.rate[body],
                                  history_[n], acceleration);
}

void CoupledMethod::prepare_vertices(const State& state, int n,
                                     const std::vector<std::vector<Vec3>>& acceleration) {
    const CoupledNode& group = step_.nodes.node[n];
    const ElasticPart& part = step_.elastic[group.elastic];
    NodeStep& node = step_.node[n];
    node.rigidity = 0.0;
    node.mass.setZero();
    Mat34 rate = Mat34::Zero(), push = Mat34::Zero();
    node.start.setZero();
    for (int k = 0; k < 4; ++k) {
        const int v = group.vertex[k];
        if (v < 0) continue;
        node.start.col(k) = state.elastic[group.elastic].x[v];
        rate.col(k) = state.elastic[group.elastic].v[v];
        push.col(k) = acceleration[group.elastic][v];
    }
    q_[n] = node.start;
    if (first_step_) history_[n].acceleration = push;
    node.target =
        inertial_target(times_.integrator, times_.h, times_.fresh, node.start, rate, history_[n], push);
    for (int k = 0; k < 4; ++k) {
        const int v = group.vertex[k];
        if (v < 0) continue;
        // Mass damping: c/h |x - start|^2 / 2 joins the inertial term.
        const double mass = step_.model->elastic[group.elastic].vertex_mass[v],
                     drag = times_.potential_scale * part.mass_damping[v] / times_.h;
        node.mass[k] = mass + drag;
        node.target.col(k) = (mass * node.target.col(k) + drag * node.start.col(k)) / node.mass[k];
    }
}

void CoupledMethod::prepare(const Model& model, const State& state, double h) {
    const auto stage = timer_.stage("targets");
    step_.model = &model;
    times_.start = state.time;
    times_.h = h;
    times_.integrator = settings_.integrator;
    times_.fresh = first_step_ || (settings_.integrator == Integrator::bdf2 && h != last_h_);
    times_.potential_scale = step_.potential_scale = potential_scale(settings_.integrator, h, times_.fresh);
    std::vector<Wrench> wrenches;
    wrenches_ahead(model, state, state.time, h, wrenches);  // forces balance where the step ends
    std::vector<std::vector<Vec3>> acceleration(model.elastic.size());
    load_ = 0.0;
    for (const Wrench& wrench : wrenches) load_ = std::max(load_, wrench.force.norm());
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.dynamic(i)) load_ += model.bodies.mass[i] * state.gravity.norm();
    for (std::size_t e = 0; e < model.elastic.size(); ++e) {
        const std::vector<double>& mass = model.elastic[e].vertex_mass;
        acceleration[e].assign(mass.size(), Vec3::Zero());
        add_loads(model, step_.elastic[e].loads, state.time, acceleration[e]);
        for (std::size_t v = 0; v < mass.size(); ++v) {
            acceleration[e][v] = acceleration[e][v] / mass[v] + state.gravity;
            load_ += mass[v] * acceleration[e][v].norm();
        }
    }
    start_step(step_.elastic, state, h);
    const int nodes = step_.nodes.size();
    step_.node.resize(nodes);
    q_.resize(nodes);
    for (int n = 0; n < nodes; ++n) {
        const CoupledNode& node = step_.nodes.node[n];
        switch (node.kind) {
            case CoupledNode::Kind::body:
                prepare_body(model, state, n, wrenches[node.body]);
                break;
            case CoupledNode::Kind::vertices:
                prepare_vertices(state, n, acceleration);
                break;
            case CoupledNode::Kind::script: {
                const auto& script = model.elastic[node.elastic].scripts[node.script];
                double mass = 0.0;
                for (const double m : model.elastic[node.elastic].vertex_mass) mass += m;
                const double size = std::max(node.size, 1e-3 * length_);
                step_.node[n].start = q_[n] = script_q_[n];
                step_.node[n].mass = script_weight * mass * Vec4(size * size, size * size, size * size, 1.0);
                step_.node[n].rigidity = rigid_over_inertia * script_weight * mass * size * size;
                step_.node[n].target = scripted_target(script_q_[n], keyframe_pose(script, times_.start),
                                                       keyframe_pose(script, times_.start + h), size);
                break;
            }
        }
    }
    step_.attached.clear();
    for (std::size_t k = 0; k < step_.nodes.attached.size(); ++k) {
        const auto [e, v] = step_.nodes.attached[k];
        Mat34 start = Mat34::Zero(), rate = Mat34::Zero(), push = Mat34::Zero();
        start.col(0) = state.elastic[e].x[v];
        rate.col(0) = state.elastic[e].v[v];
        push.col(0) = acceleration[e][v];
        if (first_step_) attached_history_[k].acceleration = push;
        const Mat34 target =
            inertial_target(times_.integrator, h, times_.fresh, start, rate, attached_history_[k], push);
        step_.attached.push_back({step_.nodes.vertex[e][v], model.elastic[e].vertex_mass[v], target.col(0)});
    }
    step_.joints.start_step(model, state, times_);
}

void CoupledMethod::prepare_contacts(const Model& model, const State& state, double h) {
    const auto stage = timer_.stage("candidates");
    std::vector<double> load;
    for (int i = 0; i < model.bodies.size(); ++i)
        load.push_back(state.type[i] == BodyType::static_body      ? 1e300
                       : state.type[i] == BodyType::kinematic_body ? 1e3 * model.bodies.mass[i]
                                                                   : model.bodies.mass[i]);
    for (std::size_t e = 0; e < model.elastic.size(); ++e) {
        double mass = 0.0;
        for (const double m : model.elastic[e].vertex_mass) mass += m;
        const int surface = model.bodies.size() + static_cast<int>(e);
        load.push_back(
            std::min(mass, column_of_vertices * mass / std::max(1, step_.contacts.crowd_of(surface))));
    }
    scale_.reference_acceleration = plan_.wanted > 0.0 ? plan_.stiffness
                                    : settings_.contact_stiffness > 0.0
                                        ? settings_.contact_stiffness
                                        : std::max(10.0 * state.gravity.norm(), scale_.dhat / (h * h));
    scale_.friction_eps = eps_v_ * sliding_time(times_.integrator, h, times_.fresh);
    step_.contacts.place(q_, x_);
    std::vector<Mat34> ahead = q_;
    for (int n = 0; n < step_.nodes.size(); ++n) ahead[n] = step_.node[n].target;
    step_.contacts.place(ahead, ahead_);
    std::vector<Vec3> slide_from = x_;
    if (times_.integrator == Integrator::bdf2 && !times_.fresh) {
        std::vector<Mat34> from = q_;
        for (int n = 0; n < step_.nodes.size(); ++n)
            if (step_.nodes.node[n].kind != CoupledNode::Kind::script)
                from[n] = sliding_reference(times_.integrator, times_.fresh, q_[n], history_[n]);
        step_.contacts.place(from, slide_from);
    }
    step_.contacts.start_step(model, scale_, load, x_, ahead_, std::move(slide_from),
                              std::min(scale_.dhat, smallest_gap_part * length_), first_step_);
    step_.contacts.evaluate(x_);
    step_.contacts.lag_friction();
}

void CoupledMethod::finish(const Model& model, State& state) {
    const auto stage = timer_.stage("rates");
    const double h = times_.h;
    const auto rate_of = [&](const Mat34& q, const Mat34& start, const Mat34& rate, BodyHistory& history) {
        return finish_rate(times_.integrator, h, times_.fresh, q, start, rate, history);
    };
    for (int n = 0; n < step_.nodes.size(); ++n) {
        const CoupledNode& node = step_.nodes.node[n];
        const Mat34& start = step_.node[n].start;
        if (node.kind == CoupledNode::Kind::script) {
            script_q_[n] = q_[n];
        } else if (node.kind == CoupledNode::Kind::vertices) {
            ElasticState& elastic = state.elastic[node.elastic];
            Mat34 rate = Mat34::Zero();
            for (int k = 0; k < 4; ++k)
                if (node.vertex[k] >= 0) rate.col(k) = elastic.v[node.vertex[k]];
            rate = rate_of(q_[n], start, rate, history_[n]);
            for (int k = 0; k < 4; ++k) {
                if (node.vertex[k] < 0) continue;
                elastic.x[node.vertex[k]] = q_[n].col(k);
                elastic.v[node.vertex[k]] = rate.col(k);
            }
        } else if (state.type[node.body] == BodyType::kinematic_body) {
            state.rate[node.body] = (q_[n] - start) / h;
            history_[n].acceleration.setZero();
            history_[n].older_q = start;
            history_[n].older_rate = state.rate[node.body];
            state.q[node.body] = q_[n];
        } else {
            const Inertia inertia = inertia_of(model.bodies, node.body);
            Mat34 rate = rate_of(q_[n], start, state.rate[node.body], history_[n]);
            if (times_.integrator == Integrator::newmark && settings_.stretch_damping > 0.0) {
                const double d = settings_.stretch_damping;
                rate += d * (rigid_part_of_rate(q_[n], rate, inertia) - rate);
                history_[n].acceleration +=
                    d * (rigid_acceleration(q_[n], rate, history_[n].acceleration, inertia) -
                         history_[n].acceleration);
            }
            state.rate[node.body] = rate;
            state.q[node.body] = q_[n];
        }
    }
    for (std::size_t k = 0; k < step_.nodes.attached.size(); ++k) {
        const auto [e, v] = step_.nodes.attached[k];
        Mat34 now = Mat34::Zero(), start = Mat34::Zero(), rate = Mat34::Zero();
        now.col(0) = step_.nodes.vertex[e][v].at(q_);
        start.col(0) = state.elastic[e].x[v];
        rate.col(0) = state.elastic[e].v[v];
        rate = rate_of(now, start, rate, attached_history_[k]);
        state.elastic[e].x[v] = now.col(0);
        state.elastic[e].v[v] = rate.col(0);
    }
    step_.joints.end_step(model, state, times_);
}

void CoupledMethod::write_joints(const Model& model, State& state, Outputs& outputs, StepReport& report) {
    if (model.joints.empty()) return;
    step_.joints.linearise(q_);
    std::vector<Mat34> load(model.joints.size(), Mat34::Zero());  // on the second side
    const std::vector<CoupledRow>& rows = step_.joints.rows();
    for (std::size_t r = 0; r < rows.size(); ++r)
        load[rows[r].joint] -= multipliers_[r] / times_.potential_scale * rows[r].on_second;
    for (JointOutput& out : outputs.joints) out.motor_force = out.limit_force = {};
    for (const CoupledDrive& drive : step_.joints.drives()) {
        CoupledRow row;
        const double along = -drive_slope(drive.row, step_.joints.coordinate(drive, q_, &row));
        load[row.joint] += along * row.on_second;
        JointOutput& out = outputs.joints[row.joint];
        if (drive.row.is_motor()) out.motor_force[drive.row.coordinate] += along;
        if (drive.row.kind == DriveRow::Kind::limit) out.limit_force[drive.row.coordinate] += along;
    }
    for (std::size_t k = 0; k < step_.joints.servos().size(); ++k) {
        const DriveRow& servo = step_.joints.servos()[k].row;
        outputs.joints[servo.joint].motor_force[servo.coordinate] -=
            multipliers_[step_.joints.first_servo_row() + k] / times_.potential_scale;
    }
    static const Mat34 world = Mat34::Identity();
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const Joint& joint = model.joints[j];
        JointOutput& out = outputs.joints[j];
        if (state.broken[j] || joint.spec.type == JointType::coupling) {
            out.force.setZero();
            out.torque.setZero();
            continue;
        }
        const int b = joint.bodies[1];
        set_joint_force(joint, load[j], b < 0 ? world : state.q[b], out);
        if (out.force.norm() > joint.spec.break_force || out.torque.norm() > joint.spec.break_torque) {
            state.broken[j] = 1;
            multipliers_.clear();
        }
    }
    write_joint_coordinates(model, state, outputs);
    report.joint_residual = joint_residual_max(model, state);
}

// Where contact leaves a joint no place, exact constraints strain bodies that are meant to be rigid: then it is not closed.
void CoupledMethod::find_forced_joint(const Model& model, StepReport& report) const {
    const std::vector<CoupledRow>& rows = step_.joints.rows();
    int joint = -1, body = -1;
    double most = 0.0;
    for (std::size_t r = 0; r < std::min(rows.size(), multipliers_.size()); ++r)
        for (int k = 0; k < rows[r].count; ++k) {
            const int n = rows[r].node[k];
            const double force = std::abs(multipliers_[r]) * rows[r].gradient[k].norm();
            if (step_.nodes.node[n].body < 0 || force <= most) continue;
            if (strain(q_[n].leftCols<3>()).cwiseAbs().maxCoeff() < forced_strain) continue;
            most = force;
            joint = rows[r].joint;
            body = step_.nodes.node[n].body;
        }
    if (joint < 0) return;
    report.converged = false;
    report.warnings.push_back(
        fmt::format("joint {} closes only by straining '{}': contact or another joint holds it",
                    name_of(model, joint), model.bodies.name[body]));
}

void CoupledMethod::write_outputs(const Model& model, State& state, Outputs& outputs, StepReport& report) {
    outputs.contacts.clear();
    step_.contacts.place(q_, x_);
    const auto& points = step_.contacts;
    for (const SurfaceContact& c : points.contacts()) {
        const SurfaceCandidate& candidate = points.candidate(c);
        const SurfacePair& pair = points.pair(candidate.pair);
        Contact& contact = outputs.contacts.emplace_back();
        // The first side of a candidate is not always the pair's first surface.
        const bool a_first = points.belongs_to(candidate.point[0], pair.a);
        contact.a = pair.a;
        contact.b = pair.b;
        for (int i = 0; i < 4; ++i)
            contact.point += 0.5 * std::abs(c.closest.weight[i]) * x_[candidate.point[i]];
        contact.normal = a_first ? Vec3(-c.normal) : c.normal;
        contact.force = c.force * contact.normal;
        contact.distance = c.distance;
    }
    for (const SurfaceFriction& f : points.friction()) {
        const SurfacePair& pair = points.pair(f.pair);
        const Vec3 force = points.friction_force(f, x_);  // on the first side
        const bool a_first = points.belongs_to(f.point[0], pair.a);
        Vec3 at = Vec3::Zero();
        for (int i = 0; i < 4; ++i) at += 0.5 * std::abs(f.weight[i]) * x_[f.point[i]];
        Contact* nearest = nullptr;
        for (Contact& contact : outputs.contacts)
            if (contact.a == pair.a && contact.b == pair.b &&
                (!nearest || (contact.point - at).squaredNorm() < (nearest->point - at).squaredNorm()))
                nearest = &contact;
        if (nearest) nearest->force += a_first ? Vec3(-force) : force;
    }
    for (const auto& [contact, impulse] : impulses_) outputs.contacts[contact].force = -impulse / times_.h;
    report.contacts = static_cast<int>(outputs.contacts.size());
    report.min_distance = points.closest();
    write_joints(model, state, outputs, report);
}

void CoupledMethod::save(std::ostream& out) const {
    write_value(out, first_step_);
    write_value(out, plan_);
    write_value(out, scale_);
    write_value(out, eps_v_);
    write_value(out, tolerance_);
    write_value(out, length_);
    write_value(out, last_h_);
    write_values(out, history_);
    write_values(out, attached_history_);
    write_values(out, script_q_);
    write_values(out, rigidity_factor_);
    write_values(out, multipliers_);
    write_values(out, step_.contacts.memory());
    write_values(out, step_.joints.histories());
    lag_.save(out);
}

void CoupledMethod::load(std::istream& in) {
    const std::size_t nodes = history_.size(), attached = attached_history_.size(),
                      bodies = rigidity_factor_.size();
    read_value(in, first_step_);
    if (!first_step_) {
        opened_.clear();
        told_.clear();
    }
    plan_ = load_plan(in, settings_);
    read_value(in, scale_);
    read_value(in, eps_v_);
    read_value(in, tolerance_);
    read_value(in, length_);
    read_value(in, last_h_);
    read_values(in, history_);
    read_values(in, attached_history_);
    read_values(in, script_q_, script_q_.size());
    read_values(in, rigidity_factor_);
    read_values(in, multipliers_);
    std::vector<CoupledContacts::PairMemo> memory;
    read_values(in, memory);
    step_.contacts.set_memory(memory);
    std::vector<BodyHistory> drives;
    read_values(in, drives);
    lag_.load(in, bodies);
    if (history_.size() != nodes || attached_history_.size() != attached ||
        rigidity_factor_.size() != bodies || !step_.joints.set_histories(drives))
        throw std::runtime_error("the checkpoint holds another number of bodies");
}

}  // namespace tenon::affine

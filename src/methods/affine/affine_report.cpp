// What a step of the affine method tells: contacts and their forces, joints, warnings, the log.
#include <fstream>

#include <fmt/format.h>

#include "math/parallel.hpp"
#include "methods/affine/affine_method.hpp"
#include "methods/affine/deformation.hpp"
#include "methods/affine/friction.hpp"
#include "methods/affine/reactions.hpp"

namespace tenon::affine {

// Islands move independently of each other: their k-th pieces can be told together.
void AffineMethod::emit_path(const Outputs& outputs, const std::vector<Island>& islands,
                             const std::vector<IslandResult>& results) {
    if (!outputs.path_sink) return;
    std::size_t longest = 1;
    for (const IslandResult& result : results) longest = std::max(longest, result.path.size());
    for (std::size_t k = 0; k < longest; ++k) {
        std::vector<Mat34> poses = q_;
        for (std::size_t i = 0; i < islands.size(); ++i)
            if (k < results[i].path.size())
                for (std::size_t n = 0; n < islands[i].bodies.size(); ++n)
                    poses[islands[i].bodies[n]] = results[i].path[k][n];
        path_.push_back(std::move(poses));
    }
}

void AffineMethod::release_path(const Outputs& outputs) {
    for (const std::vector<Mat34>& poses : path_) outputs.path_sink(poses);
    path_.clear();
}

void AffineMethod::write_log(const std::vector<Island>& islands, const std::vector<IslandResult>& results,
                             int round) {
    if (settings_.log.empty()) return;
    if (!log_) log_ = std::make_unique<std::ofstream>(settings_.log);
    for (std::size_t i = 0; i < islands.size(); ++i)
        for (std::size_t k = 0; k < results[i].log.size(); ++k) {
            const IterationLog& l = results[i].log[k];
            *log_ << "step " << step_ << " round " << round << " island " << i << " bodies "
                  << islands[i].bodies.size() << " iteration " << k << " free " << l.bodies << " contacts "
                  << l.contacts << " energy " << l.energy << " slope " << l.slope << " motion " << l.motion
                  << " filtered " << l.filtered << " length " << l.length << (l.affine ? " affine" : " rigid")
                  << '\n';
        }
    log_->flush();
}

namespace {

constexpr double same_place =
    1e-3;  // of a body's size: friction this near to a contact point is told with it

// The contact of a pair at this place; null: none of them is.
Contact* contact_at(const Vec3& place, double near, std::vector<Contact>& contacts) {
    Contact* nearest = nullptr;
    for (Contact& contact : contacts)
        if (!nearest || (contact.point - place).squaredNorm() < (nearest->point - place).squaredNorm())
            nearest = &contact;
    return nearest && (nearest->point - place).norm() <= near ? nearest : nullptr;
}

}  // namespace

// Forces count with the share of the step that they acted for.
void AffineMethod::report_contacts(Outputs& outputs, double share, StepReport& report) {
    std::vector<std::vector<Contact>> of_pair(field_.pair_count());
    std::vector<std::size_t> first_met(field_.pair_count(), 0);
    std::size_t met = 0;
    for (int k = 0; k < field_.pair_count(); ++k) {
        const PairContacts& contacts = field_.contacts(k);
        first_met[k] = met;
        met += contacts.points.size();
        if (!contacts.points.empty())
            report.min_distance =
                std::min(report.min_distance, contacts.closest - field_.shape(field_.pair(k).a).rounding -
                                                  field_.shape(field_.pair(k).b).rounding);
    }
    parallel_for(field_.pair_count(), 64, [&](std::size_t k) {
        const bool bounced = !met_.empty() && first_met[k] < met_.size() && met_[first_met[k]].replaced;
        pair_contacts(static_cast<int>(k), share, bounced ? met_.data() + first_met[k] : nullptr, of_pair[k]);
    });
    for (const std::vector<Contact>& contacts : of_pair)
        outputs.contacts.insert(outputs.contacts.end(), contacts.begin(), contacts.end());
    report.contacts = static_cast<int>(outputs.contacts.size());
}

// `impacts`: impulses that are instead of the step's forces, or none.
void AffineMethod::pair_contacts(int k, double share, const MetPoint* impacts,
                                 std::vector<Contact>& out) const {
    const PairContacts& contacts = field_.contacts(k);
    if (contacts.points.empty() && contacts.friction.empty()) return;
    const CandidatePair& pair = field_.pair(k);
    const Mat34 &qa = q_[pair.a], &qb = q_[pair.b];
    const auto add = [&](const Vec3& at_a, const Vec3& at_b, const Vec3& normal,
                         double distance) -> Contact& {
        Contact& contact = out.emplace_back();
        contact.a = pair.a;
        contact.b = pair.b;
        contact.point = 0.5 * (at_a + at_b);
        contact.normal = -normal;
        contact.distance = distance;
        return contact;
    };
    const double rounding = field_.shape(pair.a).rounding + field_.shape(pair.b).rounding;
    out.reserve(contacts.points.size());
    for (std::size_t i = 0; i < contacts.points.size(); ++i) {
        const ContactPoint& p = contacts.points[i];
        add(transform(qa, p.touch_a), transform(qb, p.touch_b), p.normal, p.distance - rounding).force =
            impacts ? Vec3(-share / last_h_ * impacts[i].impulse) : Vec3(-share * p.force * p.normal);
    }
    if (impacts) return;
    const double near =
        same_place * std::min(field_.shape(pair.a).shape->radius, field_.shape(pair.b).shape->radius);
    for (const FrictionPoint& f : contacts.friction) {
        const Vec3 force = friction_force(f, qa - bodies_.body[pair.a].slide_from,
                                          qb - bodies_.body[pair.b].slide_from, scale_.friction_eps);
        if (force.isZero(0.0)) continue;
        const Vec3 at_a = transform(qa, f.local_a), at_b = transform(qb, f.local_b);
        Contact* contact = contact_at(0.5 * (at_a + at_b), near, out);
        (contact ? *contact : add(at_a, at_b, f.normal, (at_a - at_b).norm())).force += share * force;
    }
}

// Gaps that nothing may close any further: where bodies end there, it is for want of room and not by their forces.
void AffineMethod::report_pressed(const Model& model, StepReport& report) const {
    for (int k = 0; k < field_.pair_count(); ++k) {
        const PairContacts& contacts = field_.contacts(k);
        if (contacts.points.empty() ||
            contacts.closest - contacts.range.separation > 2.0 * field_.least_gap(k))
            continue;
        const CandidatePair& pair = field_.pair(k);
        report.converged = false;
        report.warnings.push_back(
            fmt::format("'{}' and '{}' are pressed together to {:.2g} m, the least that numbers of this size "
                        "tell from none: something "
                        "leaves them no room",
                        model.bodies.name[pair.a], model.bodies.name[pair.b],
                        contacts.closest - contacts.range.separation));
        return;  // one is enough to say where
    }
}

void AffineMethod::report_joints(const Model& model, State& state, Outputs& outputs, double share,
                                 StepReport& report) {
    if (model.joints.empty()) return;
    joint_reactions(model, state, outputs,
                    {bodies_, q_, field_, constraint_rows_, multipliers_, motors_, given_,
                     scale_.friction_eps, settings_.rigidity});
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        Wrench& sum = joint_loads_[j];
        sum.force += share * outputs.joints[j].force;
        sum.torque += share * outputs.joints[j].torque;
        outputs.joints[j].force = sum.force;
        outputs.joints[j].torque = sum.torque;
        motor_forces_[j] += share * outputs.joints[j].motor_force[0];
        outputs.joints[j].motor_force[0] = motor_forces_[j];
    }
    write_joint_coordinates(model, state, outputs);
    report.joint_residual = joint_residual_max(model, state);
}

// Of the softest body, as if it had been given.
double AffineMethod::smallest_kappa(const Model& model, const State& state) const {
    double smallest = 1e300;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.dynamic(i) && model.bodies.volume[i] > 0)
            smallest = std::min(smallest,
                                rigidity_of(model, i) / (bodies_.potential_scale * model.bodies.volume[i]));
    return smallest < 1e300 ? smallest : 0.0;
}

void AffineMethod::report_totals(const Model& model, const State& state, const Outputs& outputs,
                                 StepReport& report) {
    const char* names[] = {"assemble", "solve", "ccd", "energy", "move"};
    for (std::size_t k = 0; k < std::size(names); ++k) timer_.add(names[k], totals_.inner_ms[k]);
    report.contacts = static_cast<int>(outputs.contacts.size());
    report.metrics = {{"solves", static_cast<double>(totals_.solves)},
                      {"ldlt", static_cast<double>(totals_.fallbacks)},
                      {"line_search", static_cast<double>(totals_.line_search_steps)},
                      {"candidate_builds", static_cast<double>(totals_.builds)},
                      {"candidates", static_cast<double>(field_.candidate_count())},
                      {"substeps", static_cast<double>(totals_.substeps)},
                      {"impacts", static_cast<double>(totals_.impacts)},
                      {"dhat", scale_.dhat},
                      {"kappa", smallest_kappa(model, state)}};
    if (settings_.integrator == Integrator::implicit_euler) lag_.add(model, state, last_h_, report);
    report_deformation(model, state, settings_.kappa, rigidity_factor_, report);
    report_restitution(report);
}

// Scripted bodies that contact holds up, and bodies that turn so fast that a step cannot see their path.
void AffineMethod::report_bodies(const Model& model, const State& state, double now, double dt,
                                 StepReport& report) const {
    for (std::size_t i = 0; i < q_.size(); ++i) {
        const BodyStep& body = bodies_.body[i];
        if (body.type == BodyType::dynamic_body && turn_[i] > EIGEN_PI)
            report.warnings.push_back(
                "'" + model.bodies.name[i] +
                "' turns more than half a turn in a step: a step sees less than that, and it "
                "slows down; take a smaller one than " +
                fmt::format("{:.2g} s", EIGEN_PI / turn_[i] * dt));
        if (body.type != BodyType::kinematic_body) continue;
        const double lag =
            displacement_bound(q_[i] - scripted_pose(model, state, static_cast<int>(i), now + dt),
                               field_.shape(static_cast<int>(i)));
        if (lag > scale_.dhat)
            report.warnings.push_back("contact holds up the scripted body '" + model.bodies.name[i] + "'");
    }
}

void AffineMethod::report_restitution(StepReport& report) const {
    if (bounces_ && !settings_.integrator_given) report.metrics.emplace_back("bdf2", 1.0);
    if (plan_.wanted <= 0.0) return;
    report.solver = describe(plan_);
    report.metrics.emplace_back("restitution", plan_.one.mean);
    if (!plan_.reached()) report.warnings.push_back(report.solver);
}

}  // namespace tenon::affine

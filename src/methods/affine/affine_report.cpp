// What a step of the affine method tells: contacts and their forces, joints, warnings, the log.
#include <fstream>

#include <fmt/format.h>

#include "math/parallel.hpp"
#include "methods/affine/affine_method.hpp"
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
        outputs.path_sink(poses);
    }
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

void AffineMethod::report_contacts(Outputs& outputs, StepReport& report) {
    double closest_gap = 1e300;
    std::vector<std::size_t> first(field_.pair_count() + 1, 0);
    for (int k = 0; k < field_.pair_count(); ++k) {
        const PairContacts& contacts = field_.contacts(k);
        first[k + 1] = first[k] + contacts.points.size();
        if (contacts.points.empty()) continue;
        report.min_distance = std::min(report.min_distance, contacts.closest);
        closest_gap = std::min(closest_gap, contacts.closest - contacts.range.separation);
    }
    outputs.contacts.resize(first.back());
    parallel_for(field_.pair_count(), 64, [&](std::size_t k) {
        const CandidatePair& pair = field_.pair(k);
        const PairContacts& contacts = field_.contacts(k);
        if (contacts.points.empty()) return;
        Contact* out = outputs.contacts.data() + first[k];
        for (std::size_t i = 0; i < contacts.points.size(); ++i) {
            const ContactPoint& p = contacts.points[i];
            Contact& contact = out[i] = {};
            contact.a = pair.a;
            contact.b = pair.b;
            contact.point = 0.5 * (transform(q_[pair.a], p.local_a) + transform(q_[pair.b], p.local_b));
            contact.normal = -p.normal;
            contact.force = -p.force * p.normal;
            contact.distance = p.distance;
        }
        for (const FrictionPoint& f : contacts.friction) {
            std::size_t nearest = 0;
            for (std::size_t i = 1; i < contacts.points.size(); ++i)
                if ((contacts.points[i].local_a - f.local_a).squaredNorm() <
                    (contacts.points[nearest].local_a - f.local_a).squaredNorm())
                    nearest = i;
            out[nearest].force +=
                friction_force(f, q_[pair.a] - bodies_.body[pair.a].start,
                               q_[pair.b] - bodies_.body[pair.b].start, scale_.friction_eps);
        }
    });
    report.contacts = static_cast<int>(outputs.contacts.size());
    // Bodies closer than a thousandth of the range: the barrier is too soft for this scene.
    if (closest_gap < 1e-3 * scale_.dhat && scale_.stiffening < 1e4) scale_.stiffening *= 2.0;
}

void AffineMethod::report_joints(const Model& model, const State& state, Outputs& outputs,
                                 StepReport& report) const {
    if (model.joints.empty()) return;
    joint_reactions(
        model, state, outputs,
        {bodies_, q_, field_, joint_rows_, multipliers_, scale_.friction_eps, settings_.rigidity});
    report.joint_residual = joint_residual_max(model, state);
}

// Scripted bodies that contact holds up, and bodies that turn so fast that a step cannot see their way.
void AffineMethod::report_bodies(const Model& model, double dt, StepReport& report) const {
    for (std::size_t i = 0; i < q_.size(); ++i) {
        const BodyStep& body = bodies_.body[i];
        if (body.role == Role::moving && turn_[i] > EIGEN_PI)
            report.warnings.push_back(
                "'" + model.bodies.name[i] +
                "' turns more than half a turn in a step: a step sees less than that, and it "
                "slows down; take a smaller one than " +
                fmt::format("{:.2g} s", EIGEN_PI / turn_[i] * dt));
        if (body.role != Role::scripted) continue;
        const double lag = displacement_bound(q_[i] - body.target, field_.shape(static_cast<int>(i)));
        if (lag > scale_.dhat)
            report.warnings.push_back("contact holds up the scripted body '" + model.bodies.name[i] + "'");
    }
}

void AffineMethod::report_restitution(StepReport& report) const {
    if (plan_.wanted <= 0.0) return;
    report.solver = describe(plan_);
    report.figures.emplace_back("restitution", plan_.one.mean);
    if (!plan_.reached()) report.warnings.push_back(report.solver);
}

}  // namespace tenon::affine

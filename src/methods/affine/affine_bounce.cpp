// Impacts at the end of a step: velocities, and what the next step begins with.
#include <algorithm>

#include "methods/affine/affine_method.hpp"
#include "methods/affine/impact_law.hpp"

namespace tenon::affine {

void AffineMethod::bounce(const Model& model, State& state, double h) {
    const auto stage = timer_.stage("impacts");
    met_.clear();
    std::vector<Mat34> start(q_.size());
    for (std::size_t i = 0; i < q_.size(); ++i) start[i] = bodies_.body[i].start;
    for (int k = 0; k < field_.pair_count(); ++k) {
        const CandidatePair& pair = field_.pair(k);
        for (const ContactPoint& p : field_.contacts(k).points) {
            MetPoint& met = met_.emplace_back();
            met.a = pair.a;
            met.b = pair.b;
            met.point = 0.5 * (transform(q_[pair.a], p.touch_a) + transform(q_[pair.b], p.touch_b));
            met.normal = p.normal;
            met.closed = -p.normal.dot(transform(Mat34(q_[pair.a] - start[pair.a]), p.local_a) -
                                       transform(Mat34(q_[pair.b] - start[pair.b]), p.local_b));
        }
    }
    const ImpactResult result =
        find_impacts({model, state, start, rate_before_, wrenches_, settings_.restitution, h,
                      settings_.integrator == Integrator::bdf2, tolerance_},
                     met_);
    totals_.impacts += result.impacts;
    if (result.impacts == 0) {
        met_.clear();
        return;
    }
    for (const auto& [body, rate] : result.rates) {
        state.rate[body] = rate;
        Mat34 acceleration = Mat34::Zero();
        acceleration.col(3) = state.gravity + wrenches_[body].force / model.bodies.mass[body];
        restart_history(q_[body], rate, bodies_.body[body].inertia, acceleration, h, history_[body]);
    }
    // The barrier has stopped them; what it holds is not given back.
    std::vector<PairRecord> shorter;
    for (std::size_t k = 0, n = 0; k < static_cast<std::size_t>(field_.pair_count()); ++k) {
        const PairContacts& contacts = field_.contacts(static_cast<int>(k));
        const CandidatePair& pair = field_.pair(static_cast<int>(k));
        const bool bounced = !contacts.points.empty() && met_[n].bounced;
        n += contacts.points.size();
        if (bounced)
            shorter.push_back(
                {pair.a, pair.b,
                 std::clamp(contacts.closest - contacts.range.separation, smallest_dhat_, scale_.dhat), 1.0});
    }
    field_.memory().update(shorter);
}

}  // namespace tenon::affine

// Impacts of bodies at the end of a coupled step. Elastic bodies bounce by themselves.
#include <algorithm>
#include <numeric>

#include "methods/affine/barrier_scale.hpp"
#include "methods/affine/bodies.hpp"
#include "methods/affine/coupled_method.hpp"
#include "methods/affine/impact_law.hpp"

namespace tenon::affine {

// Points where two bodies touch, those of a pair together; `of_contact` says which contact each is.
std::vector<MetPoint> CoupledMethod::met_points(const Model& model, std::vector<int>& of_contact) {
    const CoupledContacts& points = step_.contacts;
    std::vector<Mat34> start(q_.size());
    for (std::size_t n = 0; n < start.size(); ++n) start[n] = step_.node[n].start;
    std::vector<Vec3> x, from;
    points.place(q_, x);
    points.place(start, from);
    of_contact.clear();
    for (std::size_t k = 0; k < points.contacts().size(); ++k) {
        const SurfacePair& pair = points.pair(points.candidate(points.contacts()[k]).pair);
        if (pair.a != pair.b && std::max(pair.a, pair.b) < model.bodies.size())
            of_contact.push_back(static_cast<int>(k));
    }
    const auto pair_of = [&](int k) { return points.candidate(points.contacts()[k]).pair; };
    std::stable_sort(of_contact.begin(), of_contact.end(),
                     [&](int k, int l) { return pair_of(k) < pair_of(l); });
    std::vector<MetPoint> met;
    for (const int k : of_contact) {
        const SurfaceContact& c = points.contacts()[k];
        const SurfaceCandidate& candidate = points.candidate(c);
        const SurfacePair& pair = points.pair(candidate.pair);
        MetPoint& p = met.emplace_back();
        p.a = pair.a;
        p.b = pair.b;
        p.point = Vec3::Zero();
        p.normal = points.belongs_to(candidate.point[0], pair.a) ? c.normal : Vec3(-c.normal);
        for (int i = 0; i < 4; ++i) {
            const double weight = c.closest.weight[i];
            p.point += 0.5 * std::abs(weight) * x[candidate.point[i]];
            p.closed -= weight * c.normal.dot(x[candidate.point[i]] - from[candidate.point[i]]);
        }
    }
    return met;
}

void CoupledMethod::bounce(const Model& model, State& state, const State& before) {
    std::vector<int> of_contact;
    std::vector<MetPoint> met = met_points(model, of_contact);
    impulses_.clear();
    impacts_ = 0;
    if (met.empty()) return;
    std::vector<Wrench> wrenches;
    external_wrenches(model, before, times_.start, wrenches);
    const ImpactResult result =
        find_impacts({model, state, before.q, before.rate, wrenches, settings_.restitution, times_.h,
                      settings_.integrator == Integrator::bdf2, tolerance_},
                     met);
    impacts_ = result.impacts;
    for (const auto& [body, rate] : result.rates) {
        state.rate[body] = rate;
        const Inertia inertia = inertia_of(model.bodies, body);
        Mat34 acceleration = Mat34::Zero();
        acceleration.col(3) = state.gravity + wrenches[body].force / inertia.mass;
        restart_history(state.q[body], rate, inertia, acceleration, times_.h,
                        history_[step_.nodes.of_body[body]]);
    }
    for (std::size_t k = 0; k < met.size(); ++k) {
        if (met[k].replaced) impulses_.emplace_back(of_contact[k], met[k].impulse);
        if (met[k].bounced) step_.contacts.shorten_range(met[k].a, met[k].b, smallest_gap_part * length_);
    }
}

}  // namespace tenon::affine

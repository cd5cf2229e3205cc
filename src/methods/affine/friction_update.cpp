// The model of friction that a Newton step sees, renewed after every direction.
#include <algorithm>
#include <numeric>

#include "methods/affine/island_newton.hpp"

namespace tenon::affine {

// Back to a model of friction that no step overshoots.
void IslandNewton::start_friction_again() {
    for_friction([&](std::size_t, const CandidatePair&, PairContacts& contacts, const Mat34&, const Mat34&) {
        stiffen_friction(contacts);
    });
}

// A step that turns sliding around sees friction pushing it on, where in truth friction would hold it. Such contacts
// get the stiff model, before the step rather than after it has failed. True when that changes the direction.
bool IslandNewton::stiffen_reversals() {
    excess_.assign(island_.pairs.size(), 0.0);
    const auto look = [&](bool stiffen) {
        for_friction([&](std::size_t k, const CandidatePair& pair, PairContacts& contacts,
                         const Mat34& moved_a, const Mat34& moved_b) {
            excess_[k] = friction_excess(contacts, moved_a, moved_b, step_of(pair.a), step_of(pair.b),
                                         context_.friction_eps, stiffen);
        });
    };
    look(false);
    const double excess =
        context_.bodies.potential_scale * std::accumulate(excess_.begin(), excess_.end(), 0.0);
    if (excess < -0.1 * direction_.slope) return false;
    look(true);
    return true;
}

// After a Newton direction is known: friction's directions as its linear model has them.
void IslandNewton::move_friction() {
    const auto mass_of = [&](int body) {
        return context_.node[body] >= 0 ? context_.bodies.body[body].inertia.mass : 1e300;
    };
    stale_.assign(island_.pairs.size(), 0);
    for_friction([&](std::size_t k, const CandidatePair& pair, PairContacts& contacts, const Mat34& moved_a,
                     const Mat34& moved_b) {
        const double error = update_friction_duals(contacts, moved_a, moved_b, step_of(pair.a),
                                                   step_of(pair.b), context_.friction_eps);
        stale_[k] = context_.bodies.potential_scale * error >
                    context_.tolerance * std::min(mass_of(pair.a), mass_of(pair.b));
    });
    friction_stale_ = std::any_of(stale_.begin(), stale_.end(), [](char s) { return s != 0; });
}

}  // namespace tenon::affine

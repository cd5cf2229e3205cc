// Contact ranges and barrier strengths of pairs, and what they keep from step to step.
#include <cmath>

#include "math/parallel.hpp"
#include "methods/affine/barrier_scale.hpp"
#include "methods/affine/contact_field.hpp"

namespace tenon::affine {

// At half its range a contact holds the pair's reduced mass against the reference acceleration, and the forces that are
// applied to either body.
void ContactField::set_barrier(PairContacts& pair, const CandidatePair& bodies, const ContactScale& scale,
                               const ContactLoads& loads, double dhat, double stiffening) {
    const double mass = 1.0 / (1.0 / loads.mass[bodies.a] + 1.0 / loads.mass[bodies.b]);
    const double force =
        std::max({mass * scale.reference_acceleration, loads.force_on(bodies.a), loads.force_on(bodies.b)});
    const double strength = strength_for_force(force, dhat) * stiffening;
    if (strength != pair.strength || dhat != pair.range.dhat) pair.seen_a = pair.seen_b = -1;
    pair.range.dhat = dhat;
    pair.strength = strength;
    pair.stiffening = stiffening;
}

void ContactField::grow_ranges(const ContactScale& scale, const ContactLoads& loads, double smallest_dhat,
                               bool fresh) {
    if (!fresh && memory_.records().empty()) return;
    std::vector<PairRecord> all(set_.pairs.size());
    parallel_for(set_.pairs.size(), 16, [&](std::size_t k) {
        const CandidatePair& bodies = set_.pairs[k];
        PairContacts& pair = contacts(static_cast<int>(k));
        const PairRecord* known = memory_.find(bodies.a, bodies.b);
        PairRecord& record = all[k] = {bodies.a, bodies.b, scale.dhat, known ? known->stiffening : 1.0};
        if (!fresh && (!known || known->dhat >= scale.dhat)) return;
        set_barrier(pair, bodies, scale, loads, scale.dhat, record.stiffening);
        evaluate(static_cast<int>(k));
        const double gap = pair.closest - pair.range.separation, least = known ? known->dhat : smallest_dhat;
        record.dhat = std::clamp(gap, std::min(least, scale.dhat), scale.dhat);
        set_barrier(pair, bodies, scale, loads, record.dhat, record.stiffening);
    });
    // Pairs without candidates are farther apart than the range.
    std::erase_if(all, [&](const PairRecord& r) { return r.dhat >= scale.dhat && r.stiffening == 1.0; });
    memory_.replace(std::move(all));
}

void ContactField::keep_stiffening() {
    std::vector<PairRecord> all;
    for (int k = 0; k < pair_count(); ++k) {
        const CandidatePair& bodies = set_.pairs[k];
        const PairContacts& pair = contacts(k);
        const PairRecord* known = memory_.find(bodies.a, bodies.b);
        if (!known && pair.stiffening == 1.0) continue;
        const bool needed =
            !pair.points.empty() && pair.closest - pair.range.separation < relaxed * pair.range.dhat;
        all.push_back({bodies.a, bodies.b, pair.range.dhat,
                       needed ? pair.stiffening : std::max(1.0, 0.5 * pair.stiffening)});
    }
    if (all.empty() && memory_.records().empty()) return;
    memory_.replace(std::move(all));
}

}  // namespace tenon::affine

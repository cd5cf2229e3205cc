#include <algorithm>
#include <map>

#include "methods/affine/coupled_contacts.hpp"
#include "methods/affine/landing.hpp"

namespace tenon::affine {

bool CoupledContacts::friction_is_outdated(const std::vector<Vec3>& x, const std::vector<Vec3>& ahead) const {
    struct Landing {
        double lagged = 0.0, now = 0.0;  // mu x normal force, N
        double depth = 0.0;              // m, to which inertia would have gone in
        Vec3 normal = Vec3::Zero();      // there
    };
    std::map<int, Landing> of_pair;
    for (const SurfaceContact& contact : contacts_) {
        const SurfaceCandidate& candidate = candidates_[contact.candidate];
        const SurfacePair& pair = pairs_[candidate.pair];
        if (pair.mu <= 0.0 || pair.a == pair.b) continue;
        Landing& landing = of_pair[candidate.pair];
        landing.now += pair.mu * contact.force;
        double depth = 0.0;
        for (int i = 0; i < 4; ++i) {
            const int point = candidate.point[i];
            depth -= contact.closest.weight[i] * contact.normal.dot(ahead[point] - x[point]);
        }
        if (depth <= landing.depth) continue;
        landing.depth = depth;
        landing.normal = contact.normal;
    }
    for (const SurfaceFriction& friction : friction_)
        if (pairs_[friction.pair].a != pairs_[friction.pair].b)
            of_pair[friction.pair].lagged += friction.limit;
    const auto box_of = [&](int surface) {
        Box3 box;
        for (int i = surfaces_[surface].first; i < surfaces_[surface].last; ++i) box.add(x[i]);
        return box;
    };
    const Mat34 world = Mat34::Identity();
    FrictionLimits limits;
    for (const auto& [k, landing] : of_pair) {
        const SurfacePair& pair = pairs_[k];
        if (landing.depth > scale_.dhat &&
            landing.depth >
                deepest_part * width_across(world, box_of(pair.a), world, box_of(pair.b), landing.normal))
            continue;
        for (const int surface : {pair.a, pair.b})
            if (surfaces_[surface].moves) limits.add(surface, landing.lagged, landing.now);
    }
    return limits.some_are_outdated();
}

}  // namespace tenon::affine

#include "methods/adaptive/resting.hpp"

#include <algorithm>

#include "math/binary_io.hpp"

namespace tenon::adaptive {
namespace {

constexpr int kSpan = 4;       // contacts that span a support
constexpr int kCalmSteps = 5;  // of rest before others are taken out
constexpr int longest_calm = 1 << 30;
constexpr double kSame = 0.02;  // of the largest impulse of a patch

std::uint64_t key_of(int solid, int body) {
    return static_cast<std::uint64_t>(solid) << 32 | static_cast<std::uint32_t>(body);
}

// The contact farthest from the middle, the one farthest from it, and the farthest on both sides of their line.
std::array<int, kSpan> spanning(const TouchPoint* points, int count) {
    Vec3 middle = Vec3::Zero();
    for (int k = 0; k < count; ++k) middle += points[k].point / count;
    const auto farthest = [&](const auto& measure) {
        int best = 0;
        double most = -1e300;
        for (int k = 0; k < count; ++k)
            if (const double m = measure(points[k].point); m > most) {
                most = m;
                best = k;
            }
        return best;
    };
    const int first = farthest([&](const Vec3& x) { return (x - middle).squaredNorm(); });
    const Vec3 from = points[first].point;
    const int second = farthest([&](const Vec3& x) { return (x - from).squaredNorm(); });
    const Vec3 side = points[first].normal.cross(points[second].point - from);
    return {first, second, farthest([&](const Vec3& x) { return (x - from).dot(side); }),
            farthest([&](const Vec3& x) { return (from - x).dot(side); })};
}

}  // namespace

void RestingContacts::sort_patches() {
    sorted_.clear();
    for (std::size_t k = 0; k < patches_.size(); ++k)
        sorted_.emplace_back(key_of(patches_[k].solid, patches_[k].body), static_cast<int>(k));
    std::sort(sorted_.begin(), sorted_.end());
}

RestingContacts::Patch* RestingContacts::find(int solid, int body) {
    const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(key_of(solid, body), 0));
    return at != sorted_.end() && at->first == key_of(solid, body) ? &patches_[at->second] : nullptr;
}

bool RestingContacts::as_before(const Patch& patch, const TouchPoint* points) const {
    double largest = 0, change = 0;
    for (int k = 0, at = 0; k < patch.count; ++k) {
        largest = std::max(largest, points[k].impulse.squaredNorm());
        if (!patch.solved[k]) continue;
        change = std::max(change, (points[k].impulse - patch.reference[at++]).squaredNorm());
    }
    return change <= kSame * kSame * largest;
}

void RestingContacts::take_patch(Patch& patch, const SolidState& part, const TouchPoint* points) const {
    patch.on = true;
    patch.solved.assign(patch.count, 0);
    patch.reference.clear();
    patch.push.setZero();
    for (int k : spanning(points, patch.count)) patch.solved[k] = 1;
    for (int k = 0; k < patch.count; ++k) {
        if (patch.solved[k]) {
            patch.reference.push_back(points[k].impulse);
            continue;
        }
        patch.push.head<3>() += points[k].impulse;
        patch.push.tail<3>() +=
            (points[k].point - part.components[0].state.position).cross(points[k].impulse);
    }
}

void RestingContacts::take(const std::vector<Solid>& solids, const std::vector<SolidState>& states,
                           const std::vector<PairRange>& ranges, double still,
                           std::vector<TouchPoint>& points) {
    held_.clear();
    pushes_.assign(solids.size(), Vec6::Zero());
    next_.clear();
    if (!ranges.empty()) {
        touched_.assign(solids.size(), 0);
        for (const TouchPoint& p : points)
            for (const Support* s : {&p.on_a, &p.on_b})
                if (p.fresh && s->solid >= 0) touched_[s->solid] = 1;
    }
    bool any = false;
    for (const PairRange& r : ranges) {
        const int count = r.last - r.first;
        if (count <= kSpan || !solids[r.solid].holders.empty() || !solids[r.solid].drives.empty() ||
            !solids[r.solid].loads.empty())
            continue;
        const TouchPoint* first = points.data() + r.first;
        const model::RigidState& frame = states[r.solid].components[0].state;
        const double reach = (first->point - frame.position).norm();
        Patch* known = find(r.solid, r.body);
        next_.emplace_back();
        Patch& patch = next_.back();
        if (known) std::swap(patch, *known);
        const bool rests = patch.count == count && !touched_[r.solid] &&
                           frame.velocity.norm() + 2 * reach * frame.spin.norm() < still &&
                           (!patch.on || as_before(patch, first));
        patch.solid = r.solid;
        patch.body = r.body;
        patch.count = count;
        patch.calm = rests ? patch.calm + 1 : 0;
        patch.on = patch.on && rests;
        if (!patch.on && patch.calm >= kCalmSteps) take_patch(patch, states[r.solid], first);
        any = any || patch.on;
    }
    patches_.swap(next_);
    sort_patches();
    if (any) set_apart(ranges, points);
}

// Patches are in the order of their ranges.
void RestingContacts::set_apart(const std::vector<PairRange>& ranges, std::vector<TouchPoint>& points) {
    kept_.clear();
    int at = 0;
    std::size_t range = 0;
    for (const Patch& patch : patches_) {
        if (!patch.on) continue;
        while (ranges[range].solid != patch.solid || ranges[range].body != patch.body) ++range;
        const int begin = ranges[range].first;
        kept_.insert(kept_.end(), points.begin() + at, points.begin() + begin);
        for (int k = 0; k < patch.count; ++k) {
            (patch.solved[k] ? kept_ : held_).push_back(points[begin + k]);
            if (!patch.solved[k]) held_.back().solved = true;
        }
        at = begin + patch.count;
        pushes_[patch.solid] += patch.push;
    }
    kept_.insert(kept_.end(), points.begin() + at, points.end());
    points.swap(kept_);
}

void RestingContacts::release(int solid, std::vector<TouchPoint>& points) {
    for (Patch& p : patches_)
        if (p.solid == solid) {
            p.on = false;
            p.calm = 0;
        }
    pushes_[solid].setZero();
    const auto mine = [&](const TouchPoint& p) { return p.on_a.solid == solid; };
    std::copy_if(held_.begin(), held_.end(), std::back_inserter(points), mine);
    held_.erase(std::remove_if(held_.begin(), held_.end(), mine), held_.end());
}

void RestingContacts::save(std::ostream& out) const {
    write_value(out, static_cast<std::uint64_t>(patches_.size()));
    for (const Patch& p : patches_) {
        for (int value : {p.solid, p.body, p.count, p.calm}) write_value(out, value);
        write_value(out, p.on);
        write_value(out, p.push);
        write_values(out, p.solved);
        write_values(out, p.reference);
    }
}

void RestingContacts::load(std::istream& in) {
    std::uint64_t count = 0;
    read_value(in, count);
    patches_.clear();
    for (std::uint64_t k = 0; k < count && in; ++k) {
        Patch& p = patches_.emplace_back();
        for (int* value : {&p.solid, &p.body, &p.count, &p.calm}) read_value(in, *value);
        read_value(in, p.on);
        read_value(in, p.push);
        read_values(in, p.solved);
        read_values(in, p.reference);
        const auto solved = std::count_if(p.solved.begin(), p.solved.end(), [](char s) { return s != 0; });
        expect_sound(p.calm >= 0 && p.calm < longest_calm &&
                     (!p.on || (static_cast<long>(p.solved.size()) == p.count &&
                                static_cast<long>(p.reference.size()) == solved)));
    }
    sort_patches();
}

}  // namespace tenon::adaptive

#include "methods/affine/coupled_contacts.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/ccd.hpp"
#include "math/parallel.hpp"

namespace tenon::affine {
namespace {

constexpr std::size_t grain = 512;
constexpr double close_part = 1e-3;    // of its range: a pair that is pressed closer gets a stronger barrier
constexpr double relaxed_part = 1e-2;  // of its range: farther apart it may lose it again
constexpr double own_part = 0.9;  // of the smallest distance of a surface from itself at the start: its range
constexpr double most_stiffening = 1e8;
constexpr double settled_part = 0.3;  // of its sliding: a change that no longer reverses it

std::array<Vec3, 4> corners_at(const std::array<int, 4>& point, const std::vector<Vec3>& x) {
    return {x[point[0]], x[point[1]], x[point[2]], x[point[3]]};
}

geometry::Closest closest_of(const SurfaceCandidate& c, const std::vector<Vec3>& x) {
    const auto& [i, j, k, l] = c.point;
    return c.edges ? geometry::closest_edge_edge(x[i], x[j], x[k], x[l])
                   : geometry::closest_point_triangle(x[i], x[j], x[k], x[l]);
}

// Whether boxes around both sides are farther apart than `reach`: cheaper than their distance.
bool boxes_apart(const SurfaceCandidate& c, const std::vector<Vec3>& x, double reach) {
    const int split = c.edges ? 2 : 1;
    for (int axis = 0; axis < 3; ++axis) {
        double lo[2] = {1e300, 1e300}, hi[2] = {-1e300, -1e300};
        for (int i = 0; i < 4; ++i) {
            const double value = x[c.point[i]][axis];
            const int side = i < split ? 0 : 1;
            lo[side] = std::min(lo[side], value);
            hi[side] = std::max(hi[side], value);
        }
        if (lo[0] - hi[1] > reach || lo[1] - hi[0] > reach) return true;
    }
    return false;
}

}  // namespace

// Corners that all moved alike have kept their distance: what counts is the motion beside the first of them.
bool CoupledContacts::surely_apart(std::size_t k, const std::array<Vec3, 4>& corners, double gap) const {
    const MeasuredGap& known = measured_[k];
    if (known.distance <= gap) return false;
    const int split = candidates_[k].edges ? 2 : 1;
    const Vec3 common = corners[0] - known.at[0];
    double moved[2] = {0.0, 0.0};
    for (int i = 1; i < 4; ++i) {
        double& largest = moved[i < split ? 0 : 1];
        largest = std::max(largest, (corners[i] - known.at[i] - common).squaredNorm());
    }
    const double left = known.distance * (1.0 - 1e-9) - gap;
    return std::sqrt(moved[0]) + std::sqrt(moved[1]) < left;
}

double CoupledContacts::closest() const {
    double smallest = 1e300;
    for (const SurfaceContact& contact : contacts_) smallest = std::min(smallest, contact.distance);
    return smallest;
}

void CoupledContacts::place(const std::vector<Mat34>& q, std::vector<Vec3>& x) const {
    x.resize(points_.size());
    parallel_for(points_.size(), 4 * grain, [&](std::size_t i) { x[i] = points_[i].at(q); });
}

void CoupledContacts::start_step(const Model& model, const ContactScale& scale,
                                 const std::vector<double>& load, const std::vector<Vec3>& x,
                                 const std::vector<Vec3>& ahead, std::vector<Vec3> slide_from,
                                 double smallest_dhat, bool fresh) {
    model_ = &model;
    scale_ = scale;
    load_ = load;
    start_ = x;
    slide_from_ = std::move(slide_from);
    pairs_.clear();
    pair_of_.clear();
    find(x, ahead);
    if (!fresh && memory_.empty()) return;
    // Where bodies start is not energy: ranges up to the gaps that there are.
    for (SurfacePair& pair : pairs_) {
        pair.range.dhat = scale.dhat;
        set_strength(pair);
    }
    evaluate(x);
    for (SurfacePair& pair : pairs_) {
        const auto known = memory_.find(pair_key(pair.a, pair.b));
        if (!fresh && known == memory_.end()) continue;
        const double gap = pair.closest - pair.range.separation;
        const double least = known != memory_.end() ? known->second.dhat : smallest_dhat;
        if (pair.a == pair.b)
            pair.range.dhat = known != memory_.end() ? least
                              : gap < scale.dhat     ? std::max(own_part * gap, smallest_dhat)
                                                     : scale.dhat;
        else
            pair.range.dhat = std::clamp(gap, std::min(least, scale.dhat), scale.dhat);
        pair.stiffening = known != memory_.end() ? known->second.stiffening : 1.0;
        set_strength(pair);
        if (pair.range.dhat < scale.dhat)
            memory_[pair_key(pair.a, pair.b)] = {pair.a, pair.b, pair.range.dhat, pair.stiffening};
    }
}

void CoupledContacts::set_strength(SurfacePair& pair) const {
    const double mass = pair.a == pair.b ? load_[pair.a] : 1.0 / (1.0 / load_[pair.a] + 1.0 / load_[pair.b]);
    pair.strength =
        strength_for_force(mass * scale_.reference_acceleration, pair.range.dhat) * pair.stiffening;
}

bool CoupledContacts::covers(const std::vector<Vec3>& x) const {
    for (std::size_t i = 0; i < x.size(); ++i)
        if ((x[i] - reference_[i]).squaredNorm() > reach_[i] * reach_[i]) return false;
    return true;
}

double CoupledContacts::evaluate(const std::vector<Vec3>& x) {
    tried_.resize(candidates_.size());
    scratch_.resize(candidates_.size());
    measured_.resize(candidates_.size());
    parallel_for(candidates_.size(), grain, [&](std::size_t k) {
        const SurfaceCandidate& candidate = candidates_[k];
        const SurfacePair& pair = pairs_[candidate.pair];
        tried_[k].candidate = -1;
        scratch_[k] = 0.0;
        const double reach = pair.range.dhat + pair.range.separation;
        if (boxes_apart(candidate, x, reach)) return;
        const std::array<Vec3, 4> corners = corners_at(candidate.point, x);
        if (surely_apart(k, corners, reach)) return;
        const geometry::Closest closest = closest_of(candidate, x);
        measured_[k] = {corners, std::sqrt(closest.squared)};
        if (closest.squared >= pair.range.reach_squared()) return;
        const RadialBarrier b = radial_barrier(closest.squared, pair.range, pair.strength * candidate.weight);
        const double d = std::sqrt(closest.squared);
        tried_[k] = {static_cast<int>(k), closest, d, b.force, b.stiffness, closest.difference / d};
        scratch_[k] = b.energy;
    });
    contacts_.clear();
    for (SurfacePair& pair : pairs_) pair.closest = 1e300;
    double energy = 0.0;
    for (std::size_t k = 0; k < candidates_.size(); ++k) {
        if (tried_[k].candidate < 0) continue;
        contacts_.push_back(tried_[k]);
        energy += scratch_[k];
        double& closest = pairs_[candidates_[k].pair].closest;
        closest = std::min(closest, tried_[k].distance);
    }
    return energy;
}

void CoupledContacts::lag_friction() {
    friction_.clear();
    for (const SurfaceContact& contact : contacts_) {
        const SurfaceCandidate& c = candidates_[contact.candidate];
        const double limit = pairs_[c.pair].mu * contact.force;
        if (limit > 0.0)
            friction_.push_back({c.point, contact.closest.weight, contact.normal, limit, c.pair, false});
    }
}

Vec3 CoupledContacts::sliding(const SurfaceFriction& f, const std::vector<Vec3>& x) const {
    Vec3 u = Vec3::Zero();
    for (int i = 0; i < 4; ++i) u += f.weight[i] * (x[f.point[i]] - slide_from_[f.point[i]]);
    return u - f.normal * f.normal.dot(u);
}

double CoupledContacts::friction_energy(const std::vector<Vec3>& x) const {
    return parallel_sum(friction_.size(), grain, 0.0, [&](std::size_t k) {
        return friction_[k].limit * friction_norm(sliding(friction_[k], x).norm(), scale_.friction_eps).value;
    });
}

void CoupledContacts::judge_friction(const std::vector<Vec3>& x, const std::vector<Vec3>& to, double t) {
    parallel_for(friction_.size(), grain, [&](std::size_t k) {
        SurfaceFriction& f = friction_[k];
        const Vec3 u = sliding(f, x), change = (sliding(f, to) - u) / t, end = u + change;
        if (u.dot(end) < 0.0 && end.norm() > scale_.friction_eps)
            f.reversed = true;
        else if (change.norm() < settled_part * u.norm())
            f.reversed = false;
    });
}

Vec3 CoupledContacts::friction_force(const SurfaceFriction& f, const std::vector<Vec3>& x) const {
    const Vec3 u = sliding(f, x);
    return -f.limit * friction_slope_over(u.norm(), scale_.friction_eps) * u;
}

double CoupledContacts::safe_step(const std::vector<Vec3>& from, const std::vector<Vec3>& to,
                                  double keep) const {
    scratch_.resize(candidates_.size());
    measured_.resize(candidates_.size());
    parallel_for(candidates_.size(), grain, [&](std::size_t k) {
        const SurfaceCandidate& c = candidates_[k];
        const ContactRange& range = pairs_[c.pair].range;
        const auto start = corners_at(c.point, from), end = corners_at(c.point, to);
        scratch_[k] = 1.0;
        const double reach = range.separation + range.dhat;
        if (geometry::apart_along_axes(start, end, c.edges ? 2 : 1, 4, reach)) return;
        // On a straight path corners are never farther from where they were measured than at one of its ends.
        if (!surely_apart(k, start, reach)) measured_[k] = {start, std::sqrt(closest_of(c, from).squared)};
        if (surely_apart(k, start, reach) && surely_apart(k, end, reach)) return;
        geometry::CcdOptions options;
        options.min_separation = range.separation;
        options.keep = keep;
        options.keep_at_most = 0.5 * range.dhat;
        scratch_[k] = c.edges ? geometry::ccd_edge_edge(start, end, options)
                              : geometry::ccd_point_triangle(start, end, options);
    });
    double smallest = 1.0;
    for (const double part : scratch_) smallest = std::min(smallest, part);
    return smallest;
}

bool CoupledContacts::stiffen_close_pairs() {
    bool some = false;
    for (SurfacePair& pair : pairs_) {
        if (pair.closest - pair.range.separation > close_part * pair.range.dhat ||
            pair.stiffening >= most_stiffening)
            continue;
        pair.stiffening *= 10.0;
        pair.strength *= 10.0;
        some = true;
    }
    return some;
}

void CoupledContacts::end_step() {
    for (const SurfacePair& pair : pairs_) {
        const std::uint64_t key = pair_key(pair.a, pair.b);
        const bool needed = pair.closest - pair.range.separation < relaxed_part * pair.range.dhat;
        const double stiffening = needed ? pair.stiffening : std::max(1.0, 0.5 * pair.stiffening);
        if (pair.range.dhat >= scale_.dhat && stiffening <= 1.0)
            memory_.erase(key);
        else
            memory_[key] = {pair.a, pair.b, pair.range.dhat, stiffening};
    }
}

void CoupledContacts::shorten_range(int a, int b, double smallest_dhat) {
    for (const SurfacePair& pair : pairs_)
        if (pair.a == a && pair.b == b)
            memory_[pair_key(a, b)] = {a, b,
                                       std::clamp(pair.closest - pair.range.separation,
                                                  std::min(smallest_dhat, scale_.dhat), scale_.dhat),
                                       1.0};
}

std::vector<CoupledContacts::PairMemo> CoupledContacts::memory() const {
    std::vector<PairMemo> all;
    for (const auto& [key, memo] : memory_) all.push_back(memo);
    return all;
}

void CoupledContacts::set_memory(const std::vector<PairMemo>& memory) {
    memory_.clear();
    for (const PairMemo& memo : memory) memory_[pair_key(memo.a, memo.b)] = memo;
}

// Along the distance, and where closest points that move along their features turn the distance against the force: with
// w the weights of the closest points, n the normal and t, a as in contact_curvature.cpp, each feature direction adds
// force / d times (w t)(a n)^T + (a n)(w t)^T + (a n)(a n)^T, whose one positive eigenvalue is kept.
int CoupledContacts::directions(const SurfaceContact& contact, const std::vector<Vec3>& x,
                                std::array<StiffDirection, 3>& out) const {
    const SurfaceCandidate& candidate = candidates_[contact.candidate];
    const geometry::Closest& closest = contact.closest;
    const Vec3& n = contact.normal;
    out[0].stiffness = contact.stiffness;
    double w2 = 0.0;
    for (int i = 0; i < 4; ++i) {
        out[0].direction[i] = closest.weight[i] * n;
        w2 += closest.weight[i] * closest.weight[i];
    }
    int count = 1;
    const geometry::Curvature curvature = geometry::curvature(closest, corners_at(candidate.point, x));
    for (int m = 0; m < curvature.count; ++m) {
        const double inverse_length = std::sqrt(0.5 * curvature.scale[m]);
        double a[4], a2 = 0.0;
        Vec3 t = Vec3::Zero();
        for (int i = 0; i < 4; ++i) {
            const Vec3& u = curvature.direction[m][i];
            const double along = n.dot(u);
            a[i] = inverse_length * along;
            a2 += a[i] * a[i];
            t += (inverse_length / w2 * closest.weight[i]) * (u - along * n);
        }
        // In the basis of a n / |a| and w t / |w|: [a2, |a||w|; |a||w|, 0].
        if (a2 <= 0.0) continue;
        const double product = std::sqrt(a2 * w2);
        const double eigenvalue = 0.5 * (a2 + std::sqrt(a2 * a2 + 4.0 * product * product));
        const double length = std::hypot(eigenvalue, product);
        StiffDirection& direction = out[count++];
        direction.stiffness = contact.force / contact.distance * eigenvalue;
        for (int i = 0; i < 4; ++i)
            direction.direction[i] = eigenvalue / length * a[i] / std::sqrt(a2) * n +
                                     product / length * closest.weight[i] / std::sqrt(w2) * t;
    }
    return count;
}

int CoupledContacts::directions(const SurfaceFriction& f, const std::vector<Vec3>& x,
                                std::array<StiffDirection, 3>& out) const {
    const Vec3 u = sliding(f, x);
    const double y = u.norm(), eps = scale_.friction_eps;
    Vec3 along = y > 0.0 ? Vec3(u / y) : f.normal.unitOrthogonal();
    const Vec3 across = f.normal.cross(along);
    const double across_slope = friction_slope_over(y, eps);
    out[0].stiffness = f.limit * (y > 0.0 && !f.reversed ? friction_norm(y, eps).curvature : across_slope);
    out[1].stiffness = f.limit * across_slope;
    for (int i = 0; i < 4; ++i) {
        out[0].direction[i] = f.weight[i] * along;
        out[1].direction[i] = f.weight[i] * across;
    }
    return 2;
}

}  // namespace tenon::affine

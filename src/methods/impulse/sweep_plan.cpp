// The order of the sweeps: levels of the contact graph, and stripes that may run side by side.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/static_partition.hpp"
#include "methods/impulse/sweeps.hpp"

namespace tenon::impulse {

void Sweeper::find_groups(const ContactProblem& problem) {
    found_.clear();
    const int count = static_cast<int>(problem.contacts.size());
    for (int begin = 0; begin < count;) {
        const ContactPoint& c = problem.contacts[begin];
        int end = begin;
        while (end < count && problem.contacts[end].a == c.a && problem.contacts[end].b == c.b) ++end;
        found_.push_back({c.a, c.b, begin, end, c.friction});
        begin = end;
    }
}

// Steps from what is fixed, by breadth-first search over contacts; bodies that float start at 1.
void Sweeper::find_levels(const ContactProblem& problem) {
    const int bodies = static_cast<int>(problem.twist.size());
    adjacency_start_.assign(bodies + 1, 0);
    for (const RowGroup& g : found_) {
        ++adjacency_start_[g.a + 1];
        ++adjacency_start_[g.b + 1];
    }
    std::partial_sum(adjacency_start_.begin(), adjacency_start_.end(), adjacency_start_.begin());
    adjacency_.resize(2 * found_.size());
    std::vector<int>& fill = queue_;
    fill.assign(adjacency_start_.begin(), adjacency_start_.end() - 1);
    for (const RowGroup& g : found_) {
        adjacency_[fill[g.a]++] = g.b;
        adjacency_[fill[g.b]++] = g.a;
    }
    level_.assign(bodies, -1);
    queue_.clear();
    auto spread = [&] {
        for (std::size_t head = 0; head < queue_.size(); ++head) {
            const int body = queue_[head];
            for (int k = adjacency_start_[body]; k < adjacency_start_[body + 1]; ++k) {
                const int other = adjacency_[k];
                if (level_[other] >= 0 || !problem.mass[other].movable) continue;
                level_[other] = level_[body] + 1;
                queue_.push_back(other);
            }
        }
        queue_.clear();
    };
    for (int i = 0; i < bodies; ++i)
        if (!problem.mass[i].movable) {
            level_[i] = 0;
            if (adjacency_start_[i + 1] > adjacency_start_[i]) queue_.push_back(i);
        }
    spread();
    for (int i = 0; i < bodies; ++i)
        if (level_[i] < 0 && adjacency_start_[i + 1] > adjacency_start_[i]) {
            level_[i] = 1;
            queue_.push_back(i);
            spread();
        }
}

// Where many pairs are cut into stripes: across the longest horizontal axis, each with as many bodies. Stripes are
// several bodies wide, or most pairs would lie across a border. Fills `borders_`, returns the axis.
int Sweeper::find_borders(const ContactProblem& problem, const std::vector<Vec3>& centers) {
    constexpr int stripe_pairs = 400, most_stripes = 16;
    constexpr double width_in_bodies = 3.0;
    borders_.clear();
    const int count = static_cast<int>(found_.size());
    if (count < 2 * stripe_pairs) return 0;
    Box3 box;
    places_.clear();
    for (std::size_t i = 0; i < centers.size(); ++i)
        if (problem.mass[i].movable && adjacency_start_[i + 1] > adjacency_start_[i]) box.add(centers[i]);
    const Vec3 level_extent = box.size() - 2 * box.size().cwiseProduct(settings_.up.cwiseAbs());
    int axis;
    level_extent.maxCoeff(&axis);
    double apart2 = 0;  // of the centres of two that touch
    int movable_pairs = 0;
    for (const RowGroup& g : found_)
        if (problem.mass[g.a].movable && problem.mass[g.b].movable) {
            apart2 += (centers[g.a] - centers[g.b]).squaredNorm();
            ++movable_pairs;
        }
    const double body = movable_pairs > 0 ? std::sqrt(apart2 / movable_pairs) : 0.0;
    const double fit = body > 0 ? box.size()[axis] / (width_in_bodies * body) : most_stripes;
    const int stripes = std::min({count / stripe_pairs, most_stripes, static_cast<int>(fit)}) / 2 * 2;
    if (stripes < 2) return 0;
    for (std::size_t i = 0; i < centers.size(); ++i)
        if (problem.mass[i].movable && adjacency_start_[i + 1] > adjacency_start_[i])
            places_.push_back(centers[i][axis]);
    auto from = places_.begin();
    for (int s = 1; s < stripes; ++s) {
        const auto at = places_.begin() + static_cast<std::ptrdiff_t>(places_.size() * s / stripes);
        std::nth_element(from, at, places_.end());
        borders_.push_back(*at);
        from = at;
    }
    return axis;
}

// Pairs sorted by level; when they are many, cut into stripes: stripes touch only their neighbours, so interiors
// run side by side, then even, then odd borders. The plan depends on the bodies alone, never on the number of
// threads.
void Sweeper::plan(const ContactProblem& problem, const std::vector<Vec3>& centers,
                   const std::vector<char>& settled) {
    find_groups(problem);
    const int count = static_cast<int>(found_.size());
    groups_ = found_;
    active_groups_ = count;
    phases_.assign(1, {{0, count}});
    all_phases_ = phases_;
    if (!settings_.graph_order) return;
    find_levels(problem);
    const int axis = find_borders(problem, centers);
    const int stripes = static_cast<int>(borders_.size()) + 1;
    const int rest = 3 * stripes,
              done = rest + 1;  // slots: interiors, even borders, odd borders, rest, settled
    auto stripe = [&](int body) {
        return static_cast<int>(std::upper_bound(borders_.begin(), borders_.end(), centers[body][axis]) -
                                borders_.begin());
    };
    const int levels = 1 + *std::max_element(level_.begin(), level_.end());
    slot_.resize(count);
    std::vector<int>& start = slot_start_;
    start.assign((done + 1) * levels + 1, 0);
    for (int k = 0; k < count; ++k) {
        const RowGroup& g = found_[k];
        const bool ma = problem.mass[g.a].movable, mb = problem.mass[g.b].movable;
        const int sa = stripe(ma ? g.a : g.b), sb = stripe(mb ? g.b : g.a);
        const int low = std::min(sa, sb), gap = std::abs(sa - sb);
        int slot = gap == 0 ? low : gap == 1 ? stripes + (low % 2) * stripes + low : rest;
        if (!settled.empty() && (settled[g.a] || settled[g.b])) slot = done;
        slot_[k] = slot * levels + std::min(level_[g.a], level_[g.b]);
        ++start[slot_[k] + 1];
    }
    std::partial_sum(start.begin(), start.end(), start.begin());
    phases_.assign(4, {});
    std::vector<Range> settled_groups;
    for (int slot = 0; slot <= done; ++slot) {
        const Range range{start[slot * levels], start[(slot + 1) * levels]};
        if (range.begin == range.end) continue;
        (slot == done ? settled_groups : phases_[slot == rest ? 3 : slot / stripes]).push_back(range);
        if (slot == done) active_groups_ = range.begin;
    }
    for (int k = 0; k < count; ++k) groups_[start[slot_[k]]++] = found_[k];  // counting sort, stable
    std::erase_if(phases_, [](const auto& ranges) { return ranges.empty(); });
    all_phases_ = phases_;
    if (!settled_groups.empty()) all_phases_.push_back(settled_groups);
}

void Sweeper::make_rows(const ContactProblem& problem) {
    rows_.resize(problem.contacts.size());
    source_.resize(problem.contacts.size());
    int row = 0;
    for (int g = 0; g < static_cast<int>(groups_.size()); ++g) {
        RowGroup& group = groups_[g];
        if (g == active_groups_) active_rows_ = row;
        const int begin = row;
        for (int k = group.begin; k < group.end; ++k) source_[row++] = k;
        group.begin = begin;
        group.end = row;
    }
    if (active_groups_ == static_cast<int>(groups_.size())) active_rows_ = row;
    mass_.resize(problem.mass.size());
    static_partition_for(mass_.size(), 2048, [&](std::size_t i) {
        const InverseMass& from = problem.mass[i];
        const auto& I = from.I;
        mass_[i] = RowMass{{from.m[0], from.m[1], from.m[2], from.movable ? 1.0 : 0.0},
                           {{I[0], I[1], I[2], 0}, {I[1], I[3], I[4], 0}, {I[2], I[4], I[5], 0}}};
    });
    static_partition_for(rows_.size(), 512, [&](std::size_t i) {
        const ContactPoint& c = problem.contacts[source_[i]];
        Row& r = rows_[i];
        r.n[3] = r.t1[3] = r.t2[3] = r.ra[3] = r.rb[3] = 0.0;
        for (int k = 0; k < 3; ++k) {
            r.n[k] = c.normal[k];
            r.t1[k] = c.tangent1[k];
            r.t2[k] = c.tangent2[k];
            r.ra[k] = c.ra[k];
            r.rb[k] = c.rb[k];
            r.p[k] = c.impulse[k];
        }
        r.target = c.target;
        const ContactResponse k = response_of(contact_response(c, problem.mass[c.a], problem.mass[c.b]));
        r.kn = k.kn;
        r.inverse_kn = k.inverse_kn;
        r.k1n = k.k1n;
        r.k2n = k.k2n;
        r.i11 = k.i11;
        r.i12 = k.i12;
        r.i22 = k.i22;
        r.slide = k.slide;
    });
}

void Sweeper::prepare(const ContactProblem& problem, const std::vector<Vec3>& centers,
                      const SweepSettings& settings, const std::vector<char>& settled) {
    settings_ = settings;
    plan(problem, centers, settled);
    make_rows(problem);
}

}  // namespace tenon::impulse

#include "methods/impulse/substeps.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "math/static_partition.hpp"

namespace tenon::impulse {
namespace {

constexpr std::size_t grain_patches = 32, grain_bodies = 1024;
// Patches between movable bodies have the first colours, those on fixed bodies the later ones, so that the floor has the
// last word in every pass. What finds no colour goes alone, after all others.
constexpr int colours_of_a_kind = 64;

}  // namespace

void SubstepSolver::find_patches(const ContactProblem& problem, const std::vector<char>& done) {
    patches_.clear();
    const int count = static_cast<int>(problem.contacts.size());
    for (int k = 0; k < count;) {
        const ContactPoint& c = problem.contacts[k];
        int end = k + 1;
        while (end < count && end - k < patch_points && problem.contacts[end].a == c.a &&
               problem.contacts[end].b == c.b && problem.contacts[end].normal == c.normal)
            ++end;
        if (done.empty() || (!done[c.a] && !done[c.b])) patches_.push_back({c.a, c.b, k, end - k});
        k = end;
    }
}

// Greedy colouring in the order of the contacts, which depends on the scene alone.
void SubstepSolver::colour(const ContactProblem& problem) {
    used_.assign(2 * problem.twist.size(), 0);
    const int count = static_cast<int>(patches_.size());
    colour_.resize(count);
    start_.assign(2 * colours_of_a_kind + 2, 0);
    for (int k = 0; k < count; ++k) {
        const Patch& patch = patches_[k];
        const bool ma = problem.mass[patch.a].movable, mb = problem.mass[patch.b].movable;
        const int kind = ma && mb ? 0 : 1;
        std::uint64_t taken = 0;
        if (ma) taken |= used_[2 * patch.a + kind];
        if (mb) taken |= used_[2 * patch.b + kind];
        const int free = std::countr_one(taken);
        colour_[k] = free < colours_of_a_kind ? kind * colours_of_a_kind + free : 2 * colours_of_a_kind;
        if (free < colours_of_a_kind) {
            const std::uint64_t bit = std::uint64_t{1} << free;
            if (ma) used_[2 * patch.a + kind] |= bit;
            if (mb) used_[2 * patch.b + kind] |= bit;
        }
        ++start_[colour_[k] + 1];
    }
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
}

// Patches by colour, four to a wide one; leftovers have a wide patch for each.
void SubstepSolver::pack(const ContactProblem& problem) {
    const int count = static_cast<int>(patches_.size()), alone = 2 * colours_of_a_kind;
    slot_.resize(count);
    std::vector<int> fill(start_.begin(), start_.end() - 1);
    for (int k = 0; k < count; ++k) slot_[fill[colour_[k]]++] = k;
    colours_.clear();
    int wides = 0;
    for (int c = 0; c <= alone; ++c) {
        const int members = start_[c + 1] - start_[c];
        if (members == 0) continue;
        if (c == alone)
            for (int k = 0; k < members; ++k, ++wides) colours_.push_back({wides, wides + 1});
        else
            colours_.push_back({wides, wides + (members + lane_count - 1) / lane_count});
        wides = colours_.back().end;
    }
    wide_.resize(wides);
    int points = 0, next = 0, last = 0;
    for (int c = 0, w = 0; c <= alone; ++c) {
        const int per = c == alone ? 1 : lane_count;
        for (next = start_[c]; next < start_[c + 1]; next = last, ++w) {
            last = std::min(start_[c + 1], next + per);
            WidePatch& wide = wide_[w];
            wide.first = points;
            wide.count = 0;
            for (int l = 0; l < lane_count; ++l) wide.a[l] = next + l < last ? slot_[next + l] : -1;
            for (int k = next; k < last; ++k) wide.count = std::max(wide.count, patches_[slot_[k]].count);
            points += wide.count;
        }
    }
    points_.resize(points);
    source_.assign(static_cast<std::size_t>(lane_count) * points, -1);
    total_.assign(static_cast<std::size_t>(3 * lane_count) * points, 0.0);
    static_partition_for(wides, grain_patches, [&](std::size_t w) {
        WidePatch& wide = wide_[w];
        int members[lane_count];
        std::copy(wide.a, wide.a + lane_count, members);
        const int first = wide.first, points_here = wide.count;
        wide = WidePatch{};
        wide.first = first;
        wide.count = points_here;
        for (int i = first; i < first + points_here; ++i) points_[i] = WidePoint{};
        for (int l = 0; l < lane_count; ++l)
            if (members[l] >= 0)
                fill_lane(problem, patches_[members[l]], wide, l);
            else
                wide.a[l] = wide.b[l] = wide.a[0];
    });
}

void SubstepSolver::fill_lane(const ContactProblem& problem, const Patch& patch, WidePatch& wide, int l) {
    const InverseMass &ma = problem.mass[patch.a], &mb = problem.mass[patch.b];
    const ContactPoint& first = problem.contacts[patch.begin];
    wide.a[l] = patch.a;
    wide.b[l] = patch.b;
    wide.moves_a |= ma.movable << l;
    wide.moves_b |= mb.movable << l;
    wide.friction[l] = static_cast<float>(first.friction);
    for (int k = 0; k < 3; ++k) {
        wide.n[k][l] = static_cast<float>(first.normal[k]);
        wide.t1[k][l] = static_cast<float>(first.tangent1[k]);
        wide.t2[k][l] = static_cast<float>(first.tangent2[k]);
        wide.ma[k][l] = ma.m[k];
        wide.mb[k][l] = mb.m[k];
    }
    for (int k = 0; k < 6; ++k) {
        wide.Ia[k][l] = ma.I[k];
        wide.Ib[k][l] = mb.I[k];
    }
    const double warm = 1.0 / settings_.substeps;
    for (int i = 0; i < patch.count; ++i) {
        const ContactPoint& c = problem.contacts[patch.begin + i];
        WidePoint& point = points_[wide.first + i];
        source_[static_cast<std::size_t>(lane_count) * (wide.first + i) + l] = patch.begin + i;
        for (int k = 0; k < 3; ++k) {
            point.ra[k][l] = static_cast<float>(c.ra[k]);
            point.rb[k][l] = static_cast<float>(c.rb[k]);
            point.p[k][l] = warm * c.impulse[k];
        }
        point.gap[l] = static_cast<float>(c.distance);
        point.push[l] = c.shifted ? 0.0f : 1.0f;
        const ContactResponse r = response_of(contact_response(c, ma, mb));
        point.kn[l] = static_cast<float>(r.kn);
        point.inverse_kn[l] = static_cast<float>(r.inverse_kn);
        point.k1n[l] = static_cast<float>(r.k1n);
        point.k2n[l] = static_cast<float>(r.k2n);
        point.i11[l] = static_cast<float>(r.i11);
        point.i12[l] = static_cast<float>(r.i12);
        point.i22[l] = static_cast<float>(r.i22);
        point.slide[l] = static_cast<float>(r.slide);
    }
}

void SubstepSolver::prepare(const ContactProblem& problem, const SubstepSettings& settings,
                            const std::vector<char>& done) {
    settings_ = settings;
    find_patches(problem, done);
    colour(problem);
    pack(problem);
}

// Velocities start from before the forces, which come in shares. Bodies that are done keep the velocity they have.
void SubstepSolver::split_forces(ContactProblem& problem, const std::vector<char>& done) {
    const double share = 1.0 / settings_.substeps;
    force_.resize(problem.twist.size());
    moved_.resize(problem.twist.size());
    static_partition_for(problem.twist.size(), grain_bodies, [&](std::size_t i) {
        force_[i] = moved_[i] = Twist{};
        if (!problem.mass[i].movable || (!done.empty() && done[i])) return;
        Twist& t = problem.twist[i];
        force_[i].v = share * (t.v - problem.before[i].v);
        force_[i].w = share * (t.w - problem.before[i].w);
        t = problem.before[i];
    });
}

void SubstepSolver::add_forces(ContactProblem& problem) {
    static_partition_for(problem.twist.size(), grain_bodies, [&](std::size_t i) {
        problem.twist[i].v += force_[i].v;
        problem.twist[i].w += force_[i].w;
    });
}

void SubstepSolver::move(const ContactProblem& problem, double h) {
    static_partition_for(problem.twist.size(), grain_bodies, [&](std::size_t i) {
        moved_[i].v += h * problem.twist[i].v;
        moved_[i].w += h * problem.twist[i].w;
    });
}

double SubstepSolver::sweep(double* twist, const PassSettings& pass) {
    const WideKernels& kernels = wide_kernels();
    const double* moved = moved_.data()->v.data();
    double worst = 0;
    for (const Range& range : colours_) {
        const std::size_t count = range.end - range.begin,
                          chunks = (count + grain_patches - 1) / grain_patches;
        worst_.assign(chunks, 0.0);
        static_partition_for(chunks, 1, [&](std::size_t k) {
            const int begin = range.begin + static_cast<int>(k * grain_patches);
            const int end = std::min(range.end, begin + static_cast<int>(grain_patches));
            worst_[k] = kernels.pass(wide_.data(), points_.data(), begin, end, twist, moved, pass);
        });
        for (double here : worst_) worst = std::max(worst, here);
    }
    return worst;
}

void SubstepSolver::add_totals() {
    static_partition_for(points_.size(), grain_bodies, [&](std::size_t i) {
        double* total = total_.data() + 3 * lane_count * i;
        const double* p = points_[i].p[0];
        for (int k = 0; k < 3 * lane_count; ++k) total[k] += p[k];
    });
}

void SubstepSolver::write_back(ContactProblem& problem) const {
    static_partition_for(points_.size(), grain_bodies, [&](std::size_t i) {
        for (int l = 0; l < lane_count; ++l) {
            const int contact = source_[lane_count * i + l];
            if (contact < 0) continue;
            for (int k = 0; k < 3; ++k) {
                problem.contacts[contact].impulse[k] = settings_.substeps * points_[i].p[k][l];
                problem.contacts[contact].total[k] = total_[(3 * i + k) * lane_count + l];
            }
        }
    });
}

SolveReport SubstepSolver::solve(ContactProblem& problem, const std::vector<char>& done) {
    SolveReport report;
    const double h = problem.dt / settings_.substeps;
    split_forces(problem, done);
    double* twist = problem.twist.data()->v.data();
    PassSettings relax;
    relax.inverse_h = 1 / h;
    relax.touching = settings_.touching;
    relax.slop = settings_.slop;
    PassSettings push = relax;
    // a spring and damper of the given frequency and ratio, integrated implicitly over the sub-step
    const double omega = 2 * M_PI * settings_.frequency;
    const double a1 = 2 * settings_.damping + h * omega, a2 = h * omega * a1, a3 = 1 / (1 + a2);
    push.bias_rate = omega / a1;
    push.mass_scale = a2 * a3;
    push.impulse_scale = a3;
    push.max_push = settings_.max_push;
    for (int s = 0; s < settings_.substeps; ++s) {
        add_forces(problem);
        for (const Range& range : colours_)
            static_partition_ranges(range.end - range.begin, grain_patches,
                                    [&](std::size_t begin, std::size_t end) {
                                        wide_kernels().warm_start(wide_.data(), points_.data(),
                                                                  range.begin + static_cast<int>(begin),
                                                                  range.begin + static_cast<int>(end), twist);
                                    });
        const auto passes = [&](const PassSettings& pass) {
            for (int k = 0; k < settings_.max_sweeps; ++k, ++report.sweeps) {
                report.residual = sweep(twist, pass);
                if (report.residual <= settings_.tolerance) break;
            }
        };
        passes(push);
        move(problem, h);
        passes(relax);
        add_totals();
    }
    report.converged = report.residual <= settings_.tolerance;
    write_back(problem);
    return report;
}

}  // namespace tenon::impulse

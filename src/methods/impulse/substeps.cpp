#include "methods/impulse/substeps.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "math/static_partition.hpp"

namespace tenon::impulse {
namespace {

constexpr std::size_t grain_patches = 16, grain_bodies = 1024;
// Patches between movable bodies have the first colours, those on fixed bodies the later ones, so that the floor has the
// last word in every pass. What finds no colour goes alone, after all others.
constexpr int colours_of_a_kind = 64;
constexpr float out_of_reach = 1e20f;  // m

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

// Patches by colour, eight to a wide one; leftovers have a wide patch for each.
void SubstepSolver::pack(const ContactProblem& problem) {
    const int count = static_cast<int>(patches_.size()), alone = 2 * colours_of_a_kind;
    slot_.resize(count);
    fill_.assign(start_.begin(), start_.end() - 1);
    // Side by side go patches that carried load and such that did not, or lanes would wait for those that have work, and
    // patches with the same number of points.
    const auto carries = [&](const Patch& patch) {
        for (int k = patch.begin; k < patch.begin + patch.count; ++k)
            if (problem.contacts[k].impulse[0] > 0) return true;
        return false;
    };
    kind_.resize(count);
    for (int k = 0; k < count; ++k)
        kind_[k] = (carries(patches_[k]) ? 0 : patch_points) + patch_points - patches_[k].count;
    for (char kind = 0; kind < 2 * patch_points; ++kind)
        for (int k = 0; k < count; ++k)
            if (kind_[k] == kind) slot_[fill_[colour_[k]]++] = k;
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
    static_partition_for(wides, grain_patches, [&](std::size_t w) {
        WidePatch& wide = wide_[w];
        int members[lane_count];
        std::copy(wide.a, wide.a + lane_count, members);
        const int first = wide.first, points_here = wide.count;
        wide = WidePatch{};
        wide.first = first;
        wide.count = points_here;
        for (int i = first; i < first + points_here; ++i) {
            points_[i] = WidePoint{};
            std::fill_n(points_[i].gap, lane_count, out_of_reach);  // of lanes that have fewer points
        }
        for (int l = 0; l < lane_count; ++l)
            if (members[l] >= 0)
                fill_lane(problem, patches_[members[l]], wide, l);
            else
                wide.a[l] = wide.b[l] = wide.a[0];
        wide_kernels().prepare(wide_.data(), points_.data(), static_cast<int>(w), static_cast<int>(w) + 1);
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
        wide.ma[k][l] = static_cast<float>(ma.m[k]);
        wide.mb[k][l] = static_cast<float>(mb.m[k]);
    }
    for (int k = 0; k < 6; ++k) {
        wide.Ia[k][l] = static_cast<float>(ma.I[k]);
        wide.Ib[k][l] = static_cast<float>(mb.I[k]);
    }
    const double warm = 1.0 / settings_.substeps;
    for (int i = 0; i < patch.count; ++i) {
        const ContactPoint& c = problem.contacts[patch.begin + i];
        WidePoint& point = points_[wide.first + i];
        source_[static_cast<std::size_t>(lane_count) * (wide.first + i) + l] = patch.begin + i;
        for (int k = 0; k < 3; ++k) {
            point.ra[k][l] = static_cast<float>(c.ra[k]);
            point.rb[k][l] = static_cast<float>(c.rb[k]);
            point.p[k][l] = static_cast<float>(warm * c.impulse[k]);
        }
        point.gap[l] = static_cast<float>(c.distance);
        point.push[l] = c.shifted ? 0.0f : 1.0f;
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
void SubstepSolver::start(const ContactProblem& problem, const std::vector<char>& done) {
    const std::size_t count = problem.twist.size();
    const double share = 1.0 / settings_.substeps;
    twist_.resize(count);
    last_.resize(count);
    shift_.resize(count);
    static_partition_for(count, grain_bodies, [&](std::size_t i) {
        const bool moves = problem.mass[i].movable && (done.empty() || !done[i]);
        const Twist &to = problem.twist[i], &from = moves ? problem.before[i] : to;
        shift_[i] = Motion{};
        for (int k = 0; k < 3; ++k) {
            last_[i].x[k] = static_cast<float>(from.v[k]);
            last_[i].x[k + 4] = static_cast<float>(from.w[k]);
            twist_[i].x[k] = static_cast<float>(from.v[k] + share * (to.v[k] - from.v[k]));
            twist_[i].x[k + 4] = static_cast<float>(from.w[k] + share * (to.w[k] - from.w[k]));
        }
    });
    for (const Range& range : colours_)
        static_partition_ranges(
            range.end - range.begin, grain_patches, [&](std::size_t begin, std::size_t end) {
                wide_kernels().warm_start(wide_.data(), points_.data(), range.begin + static_cast<int>(begin),
                                          range.begin + static_cast<int>(end), twist_.data()->x);
            });
}

// Forces and the impulses of the last sub-step changed the velocities by twist - last; so they will again.
void SubstepSolver::next_substep() {
    static_partition_ranges(twist_.size(), grain_bodies, [&](std::size_t begin, std::size_t end) {
        wide_kernels().extrapolate(twist_[begin].x, last_[begin].x, 8 * static_cast<int>(end - begin));
    });
}

void SubstepSolver::move(float h) {
    static_partition_ranges(twist_.size(), grain_bodies, [&](std::size_t begin, std::size_t end) {
        wide_kernels().move(twist_[begin].x, shift_[begin].x, 8 * static_cast<int>(end - begin), h);
    });
}

float SubstepSolver::sweep(const PassSettings& pass) {
    const WideKernels& kernels = wide_kernels();
    float worst = 0;
    for (const Range& range : colours_) {
        const std::size_t count = range.end - range.begin,
                          chunks = (count + grain_patches - 1) / grain_patches;
        worst_.assign(chunks, 0.0f);
        static_partition_for(chunks, 1, [&](std::size_t k) {
            const int begin = range.begin + static_cast<int>(k * grain_patches);
            const int end = std::min(range.end, begin + static_cast<int>(grain_patches));
            worst_[k] = kernels.pass(wide_.data(), points_.data(), begin, end, twist_.data()->x,
                                     shift_.data()->x, pass);
        });
        for (float here : worst_) worst = std::max(worst, here);
    }
    return worst;
}

// The impulses of eight patches: into their contacts, and their sums into the bodies' linear motion.
void SubstepSolver::write_back(ContactProblem& problem, const WidePatch& wide) {
    const double h = problem.dt / settings_.substeps;
    for (int l = 0; l < lane_count; ++l) {
        if (source_[static_cast<std::size_t>(lane_count) * wide.first + l] < 0) continue;
        Vec3 sum = Vec3::Zero();
        for (int i = wide.first; i < wide.first + wide.count; ++i) {
            const int contact = source_[static_cast<std::size_t>(lane_count) * i + l];
            if (contact < 0) break;
            ContactPoint& c = problem.contacts[contact];
            for (int k = 0; k < 3; ++k) {
                const double last = points_[i].p[k][l], total = points_[i].total[k][l] + last;
                c.impulse[k] = settings_.substeps * last;
                c.total[k] = total;
                sum[k] += total;
            }
        }
        Vec3 impulse, path;
        for (int k = 0; k < 3; ++k) {
            impulse[k] = sum[0] * wide.n[k][l] + sum[1] * wide.t1[k][l] + sum[2] * wide.t2[k][l];
            path[k] = h * wide.path[k][l];
        }
        const int a = wide.a[l], b = wide.b[l];
        if (wide.moves_a >> l & 1) {
            problem.twist[a].v -= problem.mass[a].linear(impulse);
            moved_[a].v -= problem.mass[a].linear(path);
        }
        if (wide.moves_b >> l & 1) {
            problem.twist[b].v += problem.mass[b].linear(impulse);
            moved_[b].v += problem.mass[b].linear(path);
        }
    }
}

// What leaves: linear motion from forces and impulses, angular motion as the passes had it. Without contacts both are those
// of the forces alone.
void SubstepSolver::finish(ContactProblem& problem, const std::vector<char>& done) {
    const std::size_t count = problem.twist.size();
    const double mean =
        0.5 + 0.5 / settings_.substeps;  // of the forces' share in the velocities of the sub-steps
    moved_.resize(count);
    in_contact_.assign(count, 0);
    for (const Patch& patch : patches_) in_contact_[patch.a] = in_contact_[patch.b] = 1;
    static_partition_for(count, grain_bodies, [&](std::size_t i) {
        const bool moves = problem.mass[i].movable && (done.empty() || !done[i]);
        Twist& t = problem.twist[i];
        const Twist& from = moves ? problem.before[i] : t;
        moved_[i].v = problem.dt * (from.v + mean * (t.v - from.v));
        moved_[i].w = problem.dt * (from.w + mean * (t.w - from.w));
        if (!moves || !in_contact_[i]) return;
        const float *w = twist_[i].x + 4, *turn = shift_[i].x + 4;
        t.w = Vec3(w[0], w[1], w[2]);
        moved_[i].w = Vec3(turn[0], turn[1], turn[2]);
    });
    for (const Range& range : colours_)
        static_partition_for(range.end - range.begin, grain_patches, [&](std::size_t k) {
            write_back(problem, wide_[range.begin + static_cast<int>(k)]);
        });
}

SolveReport SubstepSolver::solve(ContactProblem& problem, const std::vector<char>& done) {
    SolveReport report;
    const double h = problem.dt / settings_.substeps;
    PassSettings relax;
    relax.inverse_h = static_cast<float>(1 / h);
    relax.touching = static_cast<float>(settings_.touching);
    relax.slop = static_cast<float>(settings_.slop);
    PassSettings push = relax;
    // a spring and damper of the given frequency and ratio, integrated implicitly over the sub-step
    const double omega = 2 * M_PI * settings_.frequency;
    const double a1 = 2 * settings_.damping + h * omega, a2 = h * omega * a1, a3 = 1 / (1 + a2);
    push.bias_rate = static_cast<float>(omega / a1);
    push.mass_scale = static_cast<float>(a2 * a3);
    push.impulse_scale = static_cast<float>(a3);
    push.max_push = static_cast<float>(settings_.max_push);
    start(problem, done);
    for (int s = 0; s < settings_.substeps; ++s) {
        if (s > 0) next_substep();
        const auto passes = [&](PassSettings pass, bool add_up, bool measure) {
            for (int k = 0; k < settings_.max_sweeps; ++k, ++report.sweeps) {
                pass.add_up = add_up && k == 0;
                pass.measure = measure;
                report.residual = sweep(pass);
                if (measure && report.residual <= settings_.tolerance) break;
            }
        };
        const bool measure = settings_.max_sweeps > 1;
        passes(push, s > 0, measure);
        move(static_cast<float>(h));
        passes(relax, true, measure || s + 1 == settings_.substeps);
    }
    report.converged = report.residual <= settings_.tolerance;
    finish(problem, done);
    return report;
}

}  // namespace tenon::impulse

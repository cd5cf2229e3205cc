#include "methods/impulse/body_by_body.hpp"

#include <algorithm>
#include <cmath>

#include "math/parallel.hpp"
#include "math/union_find.hpp"

namespace tenon::impulse {
namespace {

using TwoSides = std::vector<std::array<Vec3, 2>>;  // per contact: the impulse on a, on b

// What bodies that follow a script give to each group: impulse times their velocity at the contact.
void add_scripted_work(const ContactProblem& problem, const TwoSides& impulse, UnionFind& groups,
                       std::vector<double>& work) {
    for (std::size_t k = 0; k < problem.contacts.size(); ++k) {
        const ContactPoint& c = problem.contacts[k];
        const bool ma = problem.mass[c.a].movable, mb = problem.mass[c.b].movable;
        if (ma && mb) continue;
        const Vec3 driver = ma ? problem.velocity(c.b, c.rb) : problem.velocity(c.a, c.ra);
        work[groups.root(ma ? c.a : c.b)] += driver.dot(impulse[k][ma ? 0 : 1]);
    }
}

int scale_to_energy(ContactProblem& problem, const std::vector<Twist>& start, const TwoSides& impulse) {
    const std::size_t bodies = problem.twist.size();
    UnionFind groups;
    groups.reset(bodies);
    for (const ContactPoint& c : problem.contacts)
        if (problem.mass[c.a].movable && problem.mass[c.b].movable) groups.join(c.a, c.b);
    std::vector<double> before(bodies, 0.0), after(bodies, 0.0), work(bodies, 0.0);
    for (std::size_t i = 0; i < bodies; ++i) {
        if (!problem.mass[i].movable) continue;
        const int group = groups.root(static_cast<int>(i));
        before[group] += kinetic_energy(problem.mass[i], start[i]);
        after[group] += kinetic_energy(problem.mass[i], problem.twist[i]);
    }
    add_scripted_work(problem, impulse, groups, work);
    int scaled = 0;
    std::vector<double> factor(bodies, 1.0);
    for (std::size_t i = 0; i < bodies; ++i) {
        const double allowed = before[i] + std::max(0.0, work[i]);
        if (after[i] <= allowed) continue;
        factor[i] = std::sqrt(allowed / after[i]);
        ++scaled;
    }
    if (scaled == 0) return 0;
    for (std::size_t i = 0; i < bodies; ++i) {
        if (!problem.mass[i].movable) continue;
        const double f = factor[groups.root(static_cast<int>(i))];
        problem.twist[i].v *= f;
        problem.twist[i].w *= f;
    }
    return scaled;
}

// The impulse that each contact reports: the mean of its two sides, or the one side that moves.
void report_impulses(ContactProblem& problem, const TwoSides& impulse) {
    for (std::size_t k = 0; k < problem.contacts.size(); ++k) {
        ContactPoint& c = problem.contacts[k];
        const bool ma = problem.mass[c.a].movable, mb = problem.mass[c.b].movable;
        const Vec3 on_b = mb ? impulse[k][1] : Vec3(-impulse[k][0]),
                   on_a = ma ? impulse[k][0] : Vec3(-impulse[k][1]);
        const Vec3 mean = 0.5 * (on_b - on_a);
        c.impulse = Vec3(c.normal.dot(mean), c.tangent1.dot(mean), c.tangent2.dot(mean));
    }
}

}  // namespace

SolveReport solve_body_by_body(ContactProblem& problem, BodySolver solver, bool limit_energy) {
    ContactGraph graph;
    graph.build(problem);
    const std::size_t bodies = problem.twist.size();
    std::vector<Twist> after = problem.twist;
    TwoSides impulse(problem.contacts.size(), {Vec3::Zero(), Vec3::Zero()});
    std::vector<char> infeasible(bodies, 0);
    parallel_ranges(bodies, 64, [&](std::size_t begin, std::size_t end) {
        BodyBlock block;
        for (std::size_t i = begin; i < end; ++i) {
            if (graph.start[i] == graph.start[i + 1]) continue;
            block.gather(problem, graph, static_cast<int>(i), problem.before);
            infeasible[i] = !solver(block);
            after[i].v = block.phi.head<3>();
            after[i].w = block.phi.tail<3>();
            for (const BlockContact& c : block.contacts)
                impulse[c.index][c.is_b] = c.alpha * c.normal + c.tangential;
        }
    });
    problem.twist.swap(after);
    SolveReport report;
    report.sweeps = 1;
    for (char bad : infeasible) report.infeasible += bad;
    if (limit_energy) report.energy_limited = scale_to_energy(problem, after, impulse);
    report_impulses(problem, impulse);
    report.residual = contact_residual(problem);
    return report;
}

}  // namespace tenon::impulse

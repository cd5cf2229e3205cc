// Sweeps that stop early, warm-started with impulses that no longer fit, may leave more kinetic energy than there was.
#include <algorithm>
#include <cmath>

#include "math/static_partition.hpp"
#include "methods/impulse/sweeps.hpp"

namespace tenon::impulse {
namespace {

struct EnergyChange {
    double before = 0, linear = 0, quadratic = 0;  // along the impulses: before + s linear + s^2 quadratic
    EnergyChange& operator+=(const EnergyChange& other) {
        before += other.before;
        linear += other.linear;
        quadratic += other.quadratic;
        return *this;
    }
};

EnergyChange change_of(const ContactProblem& problem, const std::vector<Twist>& start) {
    return parallel_sum(problem.twist.size(), 1024, EnergyChange{}, [&](std::size_t i) {
        EnergyChange e;
        const InverseMass& m = problem.mass[i];
        if (!m.movable) return e;
        Twist change;
        change.v = problem.twist[i].v - start[i].v;
        change.w = problem.twist[i].w - start[i].w;
        e.before = kinetic_energy(m, start[i]);
        e.quadratic = kinetic_energy(m, change);
        e.linear = kinetic_energy(m, problem.twist[i]) - e.before - e.quadratic;
        return e;
    });
}

}  // namespace

// The work of bodies that follow a script: their velocity times the impulse they give.
double Sweeper::scripted_work(const ContactProblem& problem) const {
    double work = 0;
    for (int g = 0; g < active_groups_; ++g) {
        const RowGroup& group = groups_[g];
        const bool ma = mass_[group.a].movable(), mb = mass_[group.b].movable();
        if (ma && mb) continue;
        const Twist& driver = problem.twist[ma ? group.b : group.a];
        if (driver.v.isZero(0) && driver.w.isZero(0)) continue;
        for (int i = group.begin; i < group.end; ++i) {
            const Row& r = rows_[i];
            const Vec3 P = r.p[0] * Vec3(r.n[0], r.n[1], r.n[2]) + r.p[1] * Vec3(r.t1[0], r.t1[1], r.t1[2]) +
                           r.p[2] * Vec3(r.t2[0], r.t2[1], r.t2[2]);
            const double* arm = ma ? r.rb : r.ra;
            const Vec3 velocity = driver.v + driver.w.cross(Vec3(arm[0], arm[1], arm[2]));
            work += (ma ? -1.0 : 1.0) * velocity.dot(P);
        }
    }
    return work;
}

// The share of all impulses at which energy does not grow: 1 when it does not anyway. Any share of them keeps Newton's
// third law and the friction cones.
double Sweeper::energy_share(const ContactProblem& problem) const {
    const EnergyChange e = change_of(problem, start_v_);
    if (e.linear + e.quadratic <= 1e-9 * e.before) return 1.0;
    const double allowed = std::max(0.0, scripted_work(problem));
    if (e.linear + e.quadratic <= allowed + 1e-9 * e.before) return 1.0;
    return std::clamp((allowed - e.linear) / e.quadratic, 0.0, 1.0);
}

void Sweeper::limit_energy(ContactProblem& problem, SolveReport& report) {
    double share = energy_share(problem);
    if (share >= 1.0) return;
    report.energy_limited = 1;
    if (share < 0.5) {  // the start was no good: once more from nothing, each sweep downhill
        problem.twist = start_v_;
        for (int i = 0; i < active_rows_; ++i) std::fill_n(rows_[i].p, 3, 0.0);
        for (int s = 0; s < report.sweeps; ++s)
            report.residual = sweep_contacts(problem, settings_.graph_order && s % 2 == 1, false).worst;
        share = energy_share(problem);
    }
    if (share >= 1.0) return;
    for (int i = 0; i < active_rows_; ++i)
        for (double& p : rows_[i].p) p *= share;
    for (std::size_t i = 0; i < problem.twist.size(); ++i) {
        Twist& t = problem.twist[i];
        t.v = start_v_[i].v + share * (t.v - start_v_[i].v);
        t.w = start_v_[i].w + share * (t.w - start_v_[i].w);
    }
}

}  // namespace tenon::impulse

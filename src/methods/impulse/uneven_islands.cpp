#include "methods/impulse/uneven_islands.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tenon::impulse {
namespace {

constexpr double kUnevenRatio = 100;  // of masses; the passes of sub-steps carry what is below
constexpr int kMostContacts = 64;     // solved directly
constexpr int kNewtonIterations = 30;
constexpr double kAccepted =
    1e-3;  // of what gravity adds in a step: closing speed, and so load, that may be left

double mass_of(const InverseMass& m) {
    const double inverse = std::max({m.m[0], m.m[1], m.m[2]});
    return inverse > 0 ? 1 / inverse : 0.0;
}

// Velocity of b against a at contact `of` that an impulse P at contact `by` brings, through the bodies both have.
Vec3 shared_response(const ContactProblem& problem, const ContactPoint& of, const ContactPoint& by,
                     const Vec3& P) {
    Vec3 out = Vec3::Zero();
    const auto add = [&](int body, const Vec3& r_of, const Vec3& r_by, double sign) {
        const InverseMass& m = problem.mass[body];
        if (m.movable) out += sign * (m.linear(P) + m.angular(r_by.cross(P)).cross(r_of));
    };
    if (of.b == by.b) add(of.b, of.rb, by.rb, 1);
    if (of.b == by.a) add(of.b, of.rb, by.ra, -1);
    if (of.a == by.b) add(of.a, of.ra, by.rb, -1);
    if (of.a == by.a) add(of.a, of.ra, by.ra, 1);
    return out;
}

Mat3 frame_of(const ContactPoint& c) {
    Mat3 frame;
    frame << c.normal, c.tangent1, c.tangent2;
    return frame;
}

MatX delassus(const ContactProblem& problem, const std::vector<int>& contacts) {
    const int count = static_cast<int>(contacts.size());
    MatX out = MatX::Zero(3 * count, 3 * count);
    for (int i = 0; i < count; ++i)
        for (int j = 0; j <= i; ++j) {
            const ContactPoint &of = problem.contacts[contacts[i]], &by = problem.contacts[contacts[j]];
            const Mat3 to = frame_of(of), from = frame_of(by);
            Mat3 response;
            for (int k = 0; k < 3; ++k) response.col(k) = shared_response(problem, of, by, from.col(k));
            out.block<3, 3>(3 * i, 3 * j) = to.transpose() * response;
            out.block<3, 3>(3 * j, 3 * i) = out.block<3, 3>(3 * i, 3 * j).transpose();
        }
    return out;
}

void apply(const ContactProblem& problem, const ContactPoint& c, const Vec3& impulse,
           std::vector<Twist>& twist) {
    const Vec3 P = frame_of(c) * impulse;
    const InverseMass &ma = problem.mass[c.a], &mb = problem.mass[c.b];
    if (ma.movable) {
        twist[c.a].v -= ma.linear(P);
        twist[c.a].w -= ma.angular(c.ra.cross(P));
    }
    if (mb.movable) {
        twist[c.b].v += mb.linear(P);
        twist[c.b].w += mb.angular(c.rb.cross(P));
    }
}

}  // namespace

bool UnevenIslands::Island::uneven() const {
    return contacts > 0 && heaviest > kUnevenRatio * lightest;
}

// Most scenes have masses of one kind: then this is one look at each body.
bool UnevenIslands::find(const ContactProblem& problem, const std::vector<char>& done) {
    const int count = static_cast<int>(problem.mass.size());
    Island all;
    all.contacts = static_cast<int>(problem.contacts.size());
    const auto note = [&](Island& island, int body) {
        const double mass = mass_of(problem.mass[body]);
        if (!(mass > 0)) return;
        island.lightest = std::min(island.lightest, mass);
        island.heaviest = std::max(island.heaviest, mass);
    };
    for (int i = 0; i < count; ++i) note(all, i);
    if (!all.uneven()) return false;
    groups_.reset(count);
    for (const ContactPoint& c : problem.contacts)
        if (problem.mass[c.a].movable && problem.mass[c.b].movable) groups_.join(c.a, c.b);
    islands_.assign(count, Island{});
    for (int i = 0; i < count; ++i)
        if (problem.mass[i].movable && !done[i]) note(islands_[groups_.root(i)], i);
    for (const ContactPoint& c : problem.contacts)
        ++islands_[groups_.root(problem.mass[c.a].movable ? c.a : c.b)].contacts;
    return std::any_of(islands_.begin(), islands_.end(), [](const Island& i) { return i.uneven(); });
}

bool UnevenIslands::solve(ContactProblem& problem, const UnevenSettings& settings, std::vector<char>& done) {
    settings_ = settings;
    iterations_ = 0;
    any_ = find(problem, done);
    if (!any_) return false;
    std::map<int, std::vector<int>> members;  // contacts of each island, in a fixed order
    for (std::size_t k = 0; k < problem.contacts.size(); ++k) {
        const ContactPoint& c = problem.contacts[k];
        const int root = groups_.root(problem.mass[c.a].movable ? c.a : c.b);
        if (islands_[root].uneven() && islands_[root].contacts <= kMostContacts)
            members[root].push_back(static_cast<int>(k));
    }
    push_.assign(problem.twist.size(), Twist{});
    bool any = false;
    for (const auto& [root, contacts] : members) {
        if (!solve_island(problem, contacts)) continue;
        any = true;
        for (int k : contacts)
            for (int body : {problem.contacts[k].a, problem.contacts[k].b})
                if (problem.mass[body].movable) done[body] = 1;
    }
    return any;
}

// Impulses of the same contacts without friction.
void UnevenIslands::start_without_friction(VecX& x) {
    std::vector<double> friction(cones_.friction.size(), 0.0);
    friction.swap(cones_.friction);
    x.setZero();
    iterations_ += solve::solve_cone_newton(cones_, kNewtonIterations, settings_.tolerance, x).iterations;
    friction.swap(cones_.friction);
}

bool UnevenIslands::solve_island(ContactProblem& problem, const std::vector<int>& contacts) {
    const int count = static_cast<int>(contacts.size());
    cones_.matrix = delassus(problem, contacts);
    cones_.free.resize(3 * count);
    cones_.friction.resize(count);
    VecX x(3 * count);
    for (int i = 0; i < count; ++i) {
        const ContactPoint& c = problem.contacts[contacts[i]];
        cones_.friction[i] = c.friction;
        cones_.free.segment<3>(3 * i) =
            frame_of(c).transpose() * problem.relative_velocity(c) - Vec3(c.target, 0, 0);
        x.segment<3>(3 * i) = c.impulse;
    }
    solve::ConeNewtonResult result;
    for (int trial = 0; trial < 2 && (trial == 0 || !result.converged); ++trial) {
        if (trial == 1) start_without_friction(x);  // the last step's impulses were no good start
        result = solve::solve_cone_newton(cones_, kNewtonIterations, settings_.tolerance, x);
        iterations_ += result.iterations;
    }
    if (!(result.residual <= kAccepted * settings_.gravity_step)) return false;
    for (int i = 0; i < count; ++i) {
        ContactPoint& c = problem.contacts[contacts[i]];
        c.impulse = x.segment<3>(3 * i);
        apply(problem, c, c.impulse, problem.twist);
    }
    undo_penetration(problem, contacts);
    return true;
}

// Normal impulses on the same matrix, that move positions only. Where this does not converge, the best iterate serves: what
// is left is undone in the steps to come.
void UnevenIslands::undo_penetration(const ContactProblem& problem, const std::vector<int>& contacts) {
    const int count = static_cast<int>(contacts.size());
    bool any = false;
    for (int i = 0; i < count; ++i) {
        const ContactPoint& c = problem.contacts[contacts[i]];
        // where the velocities will have taken the gap by the end of the step
        const double gap = c.distance + problem.dt * c.normal.dot(problem.relative_velocity(c));
        const bool deep = gap < 0 && !c.shifted;
        any = any || deep;
        const double push =
            deep ? std::min(-settings_.push_rate * gap / problem.dt, settings_.max_push) : 0.0;
        cones_.free.segment<3>(3 * i) = Vec3(deep ? -push : std::max(0.0, gap) / problem.dt, 0, 0);
        cones_.friction[i] = 0;
    }
    if (!any) return;
    VecX x = VecX::Zero(3 * count);
    iterations_ += solve::solve_cone_newton(cones_, kNewtonIterations, settings_.tolerance, x).iterations;
    for (int i = 0; i < count; ++i)
        apply(problem, problem.contacts[contacts[i]], Vec3(x[3 * i], 0, 0), push_);
}

double UnevenIslands::missing_load(const ContactProblem& problem, const std::vector<char>& done) {
    if (!any_) return 0.0;
    double worst = 0;
    for (const ContactPoint& c : problem.contacts) {
        const int body = problem.mass[c.a].movable ? c.a : c.b;
        if (done[c.a] || done[c.b] || !islands_[groups_.root(body)].uneven()) continue;
        if (!(c.total[0] > 0)) continue;
        const Twist &a = problem.before[c.a], &b = problem.before[c.b];
        const double approach = -c.normal.dot(b.v + b.w.cross(c.rb) - a.v - a.w.cross(c.ra));
        const double left = -c.normal.dot(problem.relative_velocity(c));
        worst = std::max(worst, left / std::max(settings_.gravity_step, approach));
        // what sank in earlier steps and is being pushed out is no load that arrives either
        if (!c.shifted && c.distance < -settings_.slop) worst = std::max(worst, 1.0);
    }
    return worst;
}

}  // namespace tenon::impulse

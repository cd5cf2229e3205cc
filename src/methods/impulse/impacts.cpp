#include "methods/impulse/impacts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon::impulse {
namespace {

// Contacts of a pair that close within this many touching gaps of the first one take part in its impact: the corners of a
// face that lands flat.
constexpr double together = 10.0;
// Gauss-Seidel sweeps over the contacts of one impact, and the change at which they end, relative to the approach.
constexpr int max_sweeps = 200;
constexpr double sweep_tolerance = 1e-12;
// Impacts of one step, at most this many for each pair: dense clusters may have very many; what is left does not bounce.
constexpr int impacts_per_pair = 20;

Vec3 relative_twist(const Twist& a, const Twist& b, const ContactPoint& c) {
    return b.v + b.w.cross(c.rb) - a.v - a.w.cross(c.ra);
}

// An impulse on a body's velocity before forces.
void push(ContactProblem& problem, int body, const Vec3& impulse, const Vec3& r) {
    const InverseMass& m = problem.mass[body];
    if (!m.movable) return;
    problem.before[body].v += m.linear(impulse);
    problem.before[body].w += m.angular(r.cross(impulse));
}

// Newton's law of restitution with friction may add energy where an impact is oblique: the share of the impulses that
// does not. Driving bodies may do work, so that pairs with one of them are left as they are.
double passive_share(const ContactProblem& problem, const int bodies[2], const Twist met[2],
                     const Twist left[2]) {
    double linear = 0, quadratic = 0;
    for (int side : {0, 1}) {
        const InverseMass& m = problem.mass[bodies[side]];
        if (!m.movable) {
            if (!met[side].v.isZero(0) || !met[side].w.isZero(0)) return 1.0;
            continue;
        }
        Twist change;
        change.v = left[side].v - met[side].v;
        change.w = left[side].w - met[side].w;
        const double own = kinetic_energy(m, change);
        quadratic += own;
        linear += kinetic_energy(m, left[side]) - kinetic_energy(m, met[side]) - own;
    }
    if (linear + quadratic <= 0 || !(quadratic > 0)) return 1.0;
    return std::clamp(-linear / quadratic, 0.0, 1.0);
}

}  // namespace

void Impacts::find_pairs(const ContactProblem& problem) {
    pairs_.clear();
    const int count = static_cast<int>(problem.contacts.size());
    for (int begin = 0, end = 0; begin < count; begin = end) {
        const ContactPoint& c = problem.contacts[begin];
        for (end = begin; end < count && problem.contacts[end].a == c.a && problem.contacts[end].b == c.b;)
            ++end;
        if (c.restitution > 0) pairs_.push_back({begin, end});
    }
    if (pairs_.empty()) return;
    start_.assign(problem.twist.size() + 1, 0);
    for (const Pair& pair : pairs_) {
        ++start_[problem.contacts[pair.begin].a + 1];
        ++start_[problem.contacts[pair.begin].b + 1];
    }
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    of_body_.resize(start_.back());
    std::vector<int> fill(start_.begin(), start_.end() - 1);
    for (int k = 0; k < static_cast<int>(pairs_.size()); ++k) {
        const ContactPoint& c = problem.contacts[pairs_[k].begin];
        of_body_[fill[c.a]++] = k;
        of_body_[fill[c.b]++] = k;
    }
}

Impacts::Approach Impacts::approach(const ContactProblem& p, const ContactPoint& c, double time) const {
    const auto at = [&](const Twist& a, const Twist& b) { return c.normal.dot(relative_twist(a, b, c)); };
    const double before = at(p.before[c.a], p.before[c.b]), after = at(p.twist[c.a], p.twist[c.b]);
    const double acceleration = (after - before) / p.dt;
    const double gap =
        c.distance + at(shift_[c.a], shift_[c.b]) + time * (before + 0.5 * time * acceleration);
    return {gap, -(before + time * acceleration), acceleration};
}

// The contact solver moves bodies by their velocity at the end of the step, and so stops some that would not quite meet in
// it. Those meet at its end, or their impact would be lost.
bool Impacts::closes_for_solver(const ContactProblem& p, const ContactPoint& c) const {
    const double shifted = c.normal.dot(relative_twist(shift_[c.a], shift_[c.b], c));
    return c.distance + shifted + p.dt * c.normal.dot(relative_twist(p.twist[c.a], p.twist[c.b], c)) <=
           settings_.touching;
}

// The gap at which a contact takes part in an impact now: closed, or by what the above lets it differ.
double Impacts::meeting_gap(const ContactProblem& p, const Approach& now, double time) const {
    const double missed = time >= p.dt ? 0.5 * std::abs(now.acceleration) * p.dt * p.dt : 0.0;
    return together * settings_.touching + missed;
}

// The first moment from the two bodies' clocks on at which a contact of the pair closes fast enough.
void Impacts::schedule(const ContactProblem& problem, int index) {
    Pair& pair = pairs_[index];
    ++pair.version;
    if (pair.done) return;
    const ContactPoint& first = problem.contacts[pair.begin];
    const double from = std::max(clock_[first.a], clock_[first.b]);
    double earliest = 2 * problem.dt;
    for (int k = pair.begin; k < pair.end; ++k) {
        const Approach now = approach(problem, problem.contacts[k], from);
        double time = from, speed = now.speed;
        if (now.gap > settings_.touching) {
            const double root2 = now.speed * now.speed - 2 * now.acceleration * now.gap;
            const double denominator = root2 >= 0 ? now.speed + std::sqrt(root2) : 0.0;
            time = denominator > 0 ? from + 2 * now.gap / denominator : 2 * problem.dt;
            if (time > problem.dt) {
                if (!closes_for_solver(problem, problem.contacts[k])) continue;
                time = problem.dt;
            }
            speed = now.speed - (time - from) * now.acceleration;
        }
        if (speed > settings_.threshold) earliest = std::min(earliest, time);
    }
    if (earliest > problem.dt) return;
    queue_.push_back({earliest, index, pair.version});
    std::push_heap(queue_.begin(), queue_.end());
}

// A bounce that would be over before the step ends is no bounce: the contact solver brings the pair to rest.
bool Impacts::returns_within_step(const ContactProblem& problem, const Pair& pair, double time) const {
    const double left = problem.dt - time;
    for (int k = pair.begin; k < pair.end; ++k) {
        const ContactPoint& c = problem.contacts[k];
        const Approach now = approach(problem, c, time);
        if (now.gap > meeting_gap(problem, now, time) || now.speed <= settings_.threshold) continue;
        if (c.restitution * now.speed + 0.5 * now.acceleration * left < 0) return true;
    }
    return false;
}

// Gauss-Seidel sweeps over the contacts that meet: each takes its normal impulse, then friction within its cone.
void Impacts::solve_impact(ContactProblem& problem, const Pair& pair, double fastest) {
    const int a = problem.contacts[pair.begin].a, b = problem.contacts[pair.begin].b;
    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
        double change = 0;
        for (int k = pair.begin; k < pair.end; ++k) {
            Meeting& meeting = meeting_[k - pair.begin];
            const ContactPoint& c = problem.contacts[k];
            const Mat3 K = contact_response(c, problem.mass[a], problem.mass[b]);
            if (!meeting.meets || !(K(0, 0) > 0)) continue;
            const Vec3 v = relative_twist(problem.before[a], problem.before[b], c);
            Vec3 next = meeting.impulse;
            next[0] = std::max(0.0, next[0] - (c.normal.dot(v) - meeting.target) / K(0, 0));
            const double dn = next[0] - meeting.impulse[0], kt = std::max(K(1, 1), K(2, 2));
            if (kt > 0)
                next.tail<2>() -=
                    Vec2(c.tangent1.dot(v) + K(1, 0) * dn, c.tangent2.dot(v) + K(2, 0) * dn) / kt;
            const double limit = c.friction * next[0], length = next.tail<2>().norm();
            if (length > limit) next.tail<2>() *= limit / length;
            const Vec3 d = next - meeting.impulse;
            meeting.impulse = next;
            const Vec3 P = d[0] * c.normal + d[1] * c.tangent1 + d[2] * c.tangent2;
            push(problem, a, -P, c.ra);
            push(problem, b, P, c.rb);
            change = std::max(change, K(0, 0) * d.norm());
        }
        if (change <= sweep_tolerance * fastest) break;
    }
}

// All contacts of the pair that meet now: their normal velocities after the impact are -e times those before it.
void Impacts::collide(ContactProblem& problem, const Pair& pair, double time) {
    const int bodies[2] = {problem.contacts[pair.begin].a, problem.contacts[pair.begin].b};
    double fastest = 0;
    meeting_.clear();
    for (int k = pair.begin; k < pair.end; ++k) {
        const ContactPoint& c = problem.contacts[k];
        const Approach now = approach(problem, c, time);
        meeting_.push_back({now.gap <= meeting_gap(problem, now, time),
                            now.speed > settings_.threshold ? c.restitution * now.speed : 0.0, Vec3::Zero()});
        fastest = std::max(fastest, now.speed);
    }
    Twist start[2], met[2], left[2];  // at the start of the step, just before and just after the impact
    for (int side : {0, 1}) {
        Twist& t = problem.before[bodies[side]];
        start[side] = t;
        t.v += time / problem.dt * (problem.twist[bodies[side]].v - t.v);
        t.w += time / problem.dt * (problem.twist[bodies[side]].w - t.w);
        met[side] = t;
    }
    solve_impact(problem, pair, fastest);
    for (int side : {0, 1}) left[side] = problem.before[bodies[side]];
    const double share = passive_share(problem, bodies, met, left);
    for (int side : {0, 1}) {
        const int body = bodies[side];
        problem.before[body] = start[side];
        if (!problem.mass[body].movable) continue;
        const Vec3 dv = share * (left[side].v - met[side].v), dw = share * (left[side].w - met[side].w);
        problem.before[body].v += dv;
        problem.before[body].w += dw;
        problem.twist[body].v += dv;
        problem.twist[body].w += dw;
        shift_[body].v -= time * dv;
        shift_[body].w -= time * dw;
        clock_[body] = time;
    }
    for (int k = pair.begin; k < pair.end; ++k)
        problem.contacts[k].impact += share * meeting_[k - pair.begin].impulse;
}

int Impacts::resolve(ContactProblem& problem, const ImpactSettings& settings) {
    settings_ = settings;
    shift_.clear();
    find_pairs(problem);
    if (pairs_.empty()) return 0;
    shift_.assign(problem.twist.size(), Twist{});
    clock_.assign(problem.twist.size(), 0.0);
    queue_.clear();
    const int count = static_cast<int>(pairs_.size());
    for (int k = 0; k < count; ++k) schedule(problem, k);
    int impacts = 0;
    while (!queue_.empty() && impacts < impacts_per_pair * count) {
        const Event event = queue_.front();
        std::pop_heap(queue_.begin(), queue_.end());
        queue_.pop_back();
        Pair& pair = pairs_[event.pair];
        if (event.version != pair.version) continue;
        if (returns_within_step(problem, pair, event.time)) {
            pair.done = true;
            continue;
        }
        collide(problem, pair, event.time);
        ++impacts;
        for (int body : {problem.contacts[pair.begin].a, problem.contacts[pair.begin].b})
            if (problem.mass[body].movable)
                for (int k = start_[body]; k < start_[body + 1]; ++k) schedule(problem, of_body_[k]);
    }
    if (impacts == 0) {
        shift_.clear();
        return 0;
    }
    for (ContactPoint& c : problem.contacts) {
        c.shifted = clock_[c.a] > 0 || clock_[c.b] > 0;
        c.distance += c.normal.dot(relative_twist(shift_[c.a], shift_[c.b], c));
    }
    return impacts;
}

}  // namespace tenon::impulse

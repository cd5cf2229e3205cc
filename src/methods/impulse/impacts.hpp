// Impacts with restitution, each at the moment within the step at which the surfaces meet.
#pragma once

#include <vector>

#include "methods/impulse/problem.hpp"

namespace tenon::impulse {

struct ImpactSettings {
    double threshold = 0.0;  // m/s: slower impacts are left to the contact solver, which does not bounce
    double touching = 0.0;   // m: gaps that count as closed
};

// Between impacts bodies move freely: twist(t) = before + t (twist - before) / dt. Pairs with restitution are taken in the
// order of their first contact, as an event-driven simulation of this one step: the velocities at that moment decide the
// bounce, not those at the end of the step, and an impact passes on through touching bodies (Newton's cradle).
//
// An impact at time t that changes a twist by D is stored as a free path that starts with `before + D` at a pose shifted by
// -t D: from t on, the two are the same path. So the contact solver and the integrator need not know of impacts.
class Impacts {
  public:
    // Changes `before`, `twist`, the contacts' distances and `impact` impulses of the problem. Contacts of one pair must
    // follow each other. Returns the number of impacts.
    int resolve(ContactProblem& problem, const ImpactSettings& settings);

    // The shift of each body's pose at the start of the step; empty after a step without impacts.
    const std::vector<Twist>& shift() const { return shift_; }

  private:
    struct Pair {
        int begin = 0, end = 0;  // contacts
        int version = 0;         // of the event that is valid
        bool done = false;       // no further impacts in this step
    };
    struct Event {
        double time;
        int pair, version;
        bool operator<(const Event& other) const {  // the earliest first in a std::priority_queue
            return time != other.time ? time > other.time : pair > other.pair;
        }
    };
    struct Meeting {  // a contact of the pair that collides
        bool meets;
        double target;  // normal velocity after the impact
        Vec3 impulse;
    };
    struct Approach {
        double gap, speed, acceleration;  // along the normal, at a time
    };

    void find_pairs(const ContactProblem& problem);
    Approach approach(const ContactProblem& problem, const ContactPoint& c, double time) const;
    bool closes_for_solver(const ContactProblem& problem, const ContactPoint& c) const;
    double meeting_gap(const ContactProblem& problem, const Approach& now, double time) const;
    void schedule(const ContactProblem& problem, int pair);
    bool returns_within_step(const ContactProblem& problem, const Pair& pair, double time) const;
    void collide(ContactProblem& problem, const Pair& pair, double time);
    void solve_impact(ContactProblem& problem, const Pair& pair, double fastest);

    ImpactSettings settings_;
    std::vector<Pair> pairs_;
    std::vector<int> start_, of_body_;  // pairs of each body
    std::vector<Twist> shift_;
    std::vector<double> clock_;  // of each body: its last impact
    std::vector<Event> queue_;   // a heap
    std::vector<Meeting> meeting_;
};

}  // namespace tenon::impulse

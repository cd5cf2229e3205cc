#include "methods/articulated/convex_solve.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::articulated {
namespace {

// Of the largest force: less than what is tolerated at the iterate.
constexpr double renewed_tolerance = 0.1 * contact_tolerance;
constexpr int most_renewals = 8;  // of friction at one linearisation

}  // namespace

ConvexSolve::ConvexSolve(BodyField& field, ContactSet& contacts, Component& component,
                         const std::vector<int>& touched)
    : field_(field),
      contacts_(contacts),
      component_(component),
      touched_(touched),
      colliders_(contacts, touched) {
    for (BoundedTerms* source : {component.bounded(), static_cast<BoundedTerms*>(&colliders_)})
        if (source && source->term_count() > 0) {
            sources_.push_back(source);
            count_ += source->term_count();
        }
}

template <class Visit>
void ConvexSolve::each_term(const Visit& visit) const {
    std::size_t at = 0;
    for (BoundedTerms* source : sources_)
        for (std::size_t k = 0; k < source->term_count(); ++k, ++at) visit(*source, k, at);
}

void ConvexSolve::read(std::vector<BoundedTerm>& terms) {
    terms.resize(count_);
    std::size_t at = 0;
    for (BoundedTerms* source : sources_) {
        source->read_terms(field_, terms.data() + at);
        at += source->term_count();
    }
}

void ConvexSolve::choose_branches() {
    std::size_t at = 0;
    for (BoundedTerms* source : sources_) {
        source->choose_branches(terms_.data() + at);
        at += source->term_count();
    }
}

// Friction as the normal forces at the minimum allow it: another problem. False when it is as it was.
bool ConvexSolve::renew_friction() {
    double largest = 0.0;
    for (const BoundedTerm& term : terms_) largest = std::max(largest, term.force.norm());
    allowed_.clear();
    std::size_t at = 0;
    for (BoundedTerms* source : sources_) {
        source->list_friction(terms_.data() + at, allowed_);
        at += source->term_count();
    }
    return friction_.renew(allowed_, renewed_tolerance * largest);
}

// Whether every term's force is its potential's slope: then the increment is the minimum.
bool ConvexSolve::on_branches(const std::vector<BoundedTerm>& terms) const {
    double largest = 0.0;
    for (const BoundedTerm& term : terms) largest = std::max(largest, term.force.norm());
    bool all = true;
    each_term([&](const BoundedTerms& source, std::size_t k, std::size_t at) {
        const double missing = (source.term_slope(k, terms[at].at) - terms[at].force).norm();
        if (!(missing <= source.term_tolerance(k) * largest + source.term_noise(k))) all = false;
    });
    return all;
}

// d/d(length) of the convex problem's value on the way from the present increment to the next.
double ConvexSolve::slope(const std::vector<BoundedTerm>& next, double length) const {
    double sum = 0.0;
    each_term([&](const BoundedTerms& source, std::size_t k, std::size_t at) {
        const Vec3 way = next[at].at - terms_[at].at;
        if (way.isZero(0.0)) return;
        const Vec3 model = terms_[at].force + length * (next[at].force - terms_[at].force);
        sum += way.dot(source.term_slope(k, terms_[at].at + length * way) - model);
    });
    return sum;
}

// The slope rises with the length: its root lies between a length where it is negative and one where it is not.
double ConvexSolve::step_towards(const std::vector<BoundedTerm>& next) {
    double low = 0.0, high = 1.0, at_low = slope(next, 0.0), at_high = slope(next, 1.0);
    double length = 1.0;
    const double small = 1e-10 * std::abs(at_low);
    while (at_high < -small && high < 64.0) {
        low = high, at_low = at_high;
        high *= 2.0, at_high = slope(next, high);
        length = high;
    }
    if (at_low < 0.0 && at_high > small)
        for (int k = 0; k < 60; ++k) {  // secants, halved where they would stall (Illinois)
            length = low + (high - low) * (-at_low) / (at_high - at_low);
            const double here = slope(next, length);
            if (std::abs(here) <= small || high - low < 1e-14) break;
            if (here < 0.0) {
                if (k > 0) at_high *= 0.5;
                low = length, at_low = here;
            } else {
                if (k > 0) at_low *= 0.5;
                high = length, at_high = here;
            }
        }
    go_towards(next, length);
    return length;
}

void ConvexSolve::go_towards(const std::vector<BoundedTerm>& next, double length) {
    for (std::size_t k = 0; k < count_; ++k) {
        terms_[k].at += length * (next[k].at - terms_[k].at);
        terms_[k].force += length * (next[k].force - terms_[k].force);
    }
    component_.step_path(length);
    std::vector<Mat34>& present = component_.increment;
    for (std::size_t i = 0; i < component_.bodies.size(); ++i) {
        Mat34& dq = field_.dq[component_.bodies[i]];
        present[i] += length * (dq - present[i]);
        dq = present[i];
    }
}

int ConvexSolve::run(int most) {
    take_force_stress(field_, component_.bodies);
    contacts_.make_dense(field_, touched_);  // before drives ask how much bodies give
    component_.linearise(field_);
    std::vector<BoundedTerm> next;
    int renewals = 0;
    for (int solves = 1;; ++solves) {
        if (solves > 1) contacts_.make_dense(field_, touched_);
        component_.solve(field_);
        if (count_ == 0) return solves;
        double length = 1.0;
        if (solves == 1) {
            read(terms_);
            component_.begin_path();
            component_.increment.resize(component_.bodies.size());
            for (std::size_t i = 0; i < component_.bodies.size(); ++i)
                component_.increment[i] = field_.dq[component_.bodies[i]];
        } else {
            read(next);
            // near the minimum the slopes along the way are round-off: whether the whole way leads there is asked first
            if (on_branches(next))
                go_towards(next, 1.0);
            else
                length = step_towards(next);
        }
        // the multipliers are those of the last solve: they belong to its whole increment
        at_minimum_ = std::abs(length - 1.0) < 1e-12 && on_branches(terms_);
        if (at_minimum_) {
            if (renewals == most_renewals || !renew_friction()) return solves;
            ++renewals;
            most += 2;
        }
        if (solves >= most) {
            if (length != 1.0) component_.end_path();
            return solves;
        }
        choose_branches();
    }
}

}  // namespace tenon::articulated

#include "methods/affine/candidate_cache.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "math/binary_io.hpp"
#include "math/parallel.hpp"

namespace tenon::affine {
namespace {

constexpr double most_steps_ahead = 4.0;
constexpr double small_part = 0.08;  // of a body's size: what it may move in steps that are planned together
constexpr int crowd = 400;  // candidates of a body that make it pay to look again rather than give it margin
constexpr double most_outside = 0.2;              // of all bodies, that are looked at again by themselves
constexpr double most_outside_within_step = 0.5;  // the same within a step
constexpr int oldest_candidates = 16;  // steps; bounds on what has moved since grow with every iteration

// For what contact may do to a body on its path: a part of the path, less where the step before needed less. A body that
// nothing touches goes as predicted, until it meets something and has to be looked at again anyway.
double margin_needed(double path, double off_prediction) {
    return off_prediction < 0.0 ? 0.05 * path
                                : std::min(0.2 * path, std::max(0.05 * path, 2.0 * off_prediction));
}

}  // namespace

// Where nothing moves far in a step, candidates for the motion of a few steps serve them all: far compared with the contact
// range, or with the bodies for as long as the last candidates served, and longer where that was as planned. Bodies that
// slide along each other then have few more in two steps than in one.
int CandidateCache::steps_ahead(const PredictedStep& step) const {
    double sum = 0.0, part = 0.0;
    int moving = 0;
    for (std::size_t i = 0; i < step.q.size(); ++i) {
        if (step.bodies.body[i].type == BodyType::static_body) continue;
        const ContactShape& shape = field_.shape(static_cast<int>(i));
        const double path = displacement_bound(step.free[i] - step.bodies.body[i].start, shape);
        sum += path;
        part += path / shape.shape->box.size().norm();
        ++moving;
    }
    if (!(sum > 0.0)) return 1;
    const double in_range = std::floor(step.scale.dhat * moving / sum),
                 of_size = std::floor(small_part * moving / part);
    const double steps = std::max(in_range, std::min(of_size, static_cast<double>(can_last_)));
    return static_cast<int>(std::clamp(steps, 1.0, most_steps_ahead));
}

// The path of the next steps if nothing else happens: the step's own, and on from there turning as it does. The straight path
// then lies in the middle between the arc's ends and its height.
Motion CandidateCache::motion_ahead(const PredictedStep& step, std::size_t i, int steps) const {
    const BodyStep& body = step.bodies.body[i];
    Motion reference{body.start, step.free[i], 0.0, body.type != BodyType::static_body};
    if (!reference.moves) return reference;
    const ContactShape& shape = field_.shape(static_cast<int>(i));
    const Mat34 displacement = step.free[i] - body.start;
    double off = 0.0;
    if (steps > 1) {
        // What touches others goes on as it did, not as it would without them.
        const bool touches = step.history[i].off_prediction >= 0.0 && body.type == BodyType::dynamic_body;
        const Mat34& next = touches ? body.predicted : step.free[i];
        reference.q1 =
            extrapolate_rigidly(next, (next - body.start) / step.h, body.inertia, (steps - 1) * step.h);
        const Mat34 aside = 0.5 * (next - body.start - (reference.q1 - reference.q0) / steps);
        reference.q0 += aside;
        reference.q1 += aside;
        off = std::max(deviation_from(reference, body.start, shape),
                       deviation_from(reference, step.free[i], shape));
    }
    const double in_range = steps == 1 && crowded_[i] ? 0.25 * step.scale.dhat : 0.5 * step.scale.dhat;
    reference.margin = in_range + std::max(off, margin_needed(displacement_bound(displacement, shape),
                                                              step.history[i].off_prediction));
    return reference;
}

// Bodies that the candidates of an earlier step do not cover any more in this one, with margin for what contact does;
// less while they go as planned.
void CandidateCache::find_bodies_out_of_margin(const PredictedStep& step) {
    outside_.assign(step.q.size(), 0);
    outside_count_ = 0;
    const double part = age_ + 1 < planned_ ? 0.85 : 0.5;
    for (std::size_t i = 0; i < step.q.size(); ++i) {
        if (step.bodies.body[i].type == BodyType::static_body) continue;
        const ContactShape& shape = field_.shape(static_cast<int>(i));
        outside_[i] = deviation_from(motions_[i], step.q[i], shape) > motions_[i].margin ||
                      deviation_from(motions_[i], step.free[i], shape) > part * motions_[i].margin;
        outside_count_ += outside_[i];
    }
}

// Bodies that left their margin within the step or came close to it; the others' candidates still serve.
void CandidateCache::find_bodies_out_of_margin(const PredictedStep& step, const MarginUse& use) {
    outside_.assign(step.q.size(), 0);
    outside_count_ = 0;
    for (std::size_t i = 0; i < step.q.size(); ++i) {
        if (use.finished[i] || step.bodies.body[i].type == BodyType::static_body) continue;
        const ContactShape& shape = field_.shape(static_cast<int>(i));
        outside_[i] = use.outside[i] || deviation_from(motions_[i], step.q[i], shape) > motions_[i].margin ||
                      deviation_from(motions_[i], use.heading[i], shape) > 0.7 * motions_[i].margin;
        outside_count_ += outside_[i];
    }
}

// Of pairs with very many candidates those made within a step are for its needs only: going on with them would cost more
// than finding new ones.
void CandidateCache::end_step(const PredictedStep& step, int rounds) {
    if (rounds <= 1) return;
    std::vector<char> large(step.q.size(), 0);
    for (int k = 0; k < field_.pair_count(); ++k) {
        const CandidatePair& pair = field_.pair(k);
        if (pieces_of(pair) > 1) large[pair.a] = large[pair.b] = 1;
    }
    std::size_t moving = 0, expired = 0;
    for (std::size_t i = 0; i < step.q.size(); ++i) {
        if (step.bodies.body[i].type == BodyType::static_body) continue;
        ++moving;
        if (!large[i]) continue;
        ++expired;
        motions_[i].margin = -1.0;  // everything is outside
    }
    if (2 * expired > moving) age_ = -1;
}

void CandidateCache::mark_crowded(std::size_t bodies) {
    std::vector<int> count(bodies, 0);
    for (int k = 0; k < field_.pair_count(); ++k) {
        const CandidatePair& pair = field_.pair(k);
        count[pair.a] += pair.end - pair.begin;
        count[pair.b] += pair.end - pair.begin;
    }
    for (std::size_t i = 0; i < bodies; ++i) crowded_[i] = count[i] > crowd;
}

// Some: for the bodies out of margin; the others' are kept.
void CandidateCache::rebuild(const PredictedStep& step, bool some) {
    builds_ += !must_find_again_ || outside_count_ > 0 || age_ <= 0;  // what a checkpoint lacks is not new
    if (some)
        field_.rebuild(step.model, motions_, outside_, step.scale, step.loads);
    else
        field_.rebuild(step.model, motions_, step.scale, step.loads);
    parallel_for(step.q.size(), 16, [&](std::size_t i) {
        if (step.bodies.body[i].type == BodyType::static_body && step.model.bodies.collides[i])
            field_.set_trial(static_cast<int>(i), step.q[i], step.q[i]);
    });
    must_find_again_ = false;
    mark_crowded(step.q.size());
}

int CandidateCache::take_builds() {
    return std::exchange(builds_, 0);
}

void CandidateCache::save(std::ostream& out) const {
    write_value(out, age_);
    write_value(out, planned_);
    write_value(out, can_last_);
    write_values(out, motions_);
    write_values(out, crowded_);
}

void CandidateCache::load(std::istream& in, std::size_t bodies) {
    read_value(in, age_);
    read_value(in, planned_);
    read_value(in, can_last_);
    read_values(in, motions_);
    read_values(in, crowded_);
    expect_sound(age_ < 1 << 30 && planned_ >= 0 && planned_ < 1 << 30);
    if (age_ >= 0 && (motions_.size() != bodies || crowded_.size() != bodies))
        throw std::runtime_error("the checkpoint holds another number of bodies");
    must_find_again_ = true;
}

// For the predicted motion plus margin.
void CandidateCache::start_step(const PredictedStep& step) {
    const std::size_t count = step.q.size();
    crowded_.resize(count, 0);
    step_margin_.assign(count, 0.0);
    bool some = age_ >= 0 && age_ < oldest_candidates;
    if (some) {
        find_bodies_out_of_margin(step);
        some = outside_count_ <= most_outside * static_cast<double>(count);
    }
    if (some && outside_count_ == 0 && !must_find_again_) {
        ++age_;
        field_.start_step(step.model, step.scale, step.loads);
        return;
    }
    motions_.resize(count);
    if (!some) {
        const int lasted = age_ + 1;
        if (lasted > 0) can_last_ = lasted < planned_ ? lasted : planned_ + 1;
        planned_ = steps_ahead(step);
    }
    for (std::size_t i = 0; i < count; ++i)
        if (!some || outside_[i]) motions_[i] = motion_ahead(step, i, planned_);
    age_ = some ? age_ + 1 : 0;
    rebuild(step, some && !must_find_again_);
}

void CandidateCache::renew(const PredictedStep& step, const MarginUse& use, int round) {
    const std::size_t count = step.q.size();
    if (age_ >= 0) can_last_ = age_;
    find_bodies_out_of_margin(step, use);
    const bool many_rounds = round > 10;  // bodies may go back and forth between candidates of little margin
    const bool some = outside_count_ <= most_outside_within_step * static_cast<double>(count);
    for (std::size_t i = 0; i < count; ++i) {
        Motion& reference = motions_[i];
        if (!some) reference.q0 = reference.q1 = step.q[i];
        // The same weights in all rounds: otherwise what one set of candidates settles the next unsettles.
        if (!some || outside_[i]) reference.start = step.bodies.body[i].start;
        if (some ? !outside_[i] : use.finished[i]) continue;
        // A body out of margin gets more of it, for the rest of the step, the others of its island a little; candidates
        // grow with it, so never more than anything moves in a step.
        const ContactShape& shape = field_.shape(static_cast<int>(i));
        reference.q0 = step.q[i];
        reference.q1 = use.heading[i];
        if (use.outside[i])
            step_margin_[i] = many_rounds ? std::min(2.0 * reference.margin, 2.0 * use.largest_motion)
                                          : std::min((crowded_[i] ? 1.0 : 2.0) * reference.margin,
                                                     0.5 * use.largest_motion);
        const double usual =
            std::min({1.3 * reference.margin, 10.0 * step.scale.dhat, 0.1 * use.largest_motion});
        const double of_path = 0.3 * displacement_bound(reference.q1 - reference.q0, shape);
        reference.margin = std::max({step_margin_[i], usual, 0.5 * step.scale.dhat + of_path});
    }
    if (!some) age_ = -1;  // made for this step's needs
    rebuild(step, some);
}

}  // namespace tenon::affine

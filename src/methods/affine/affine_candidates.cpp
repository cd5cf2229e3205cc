// For which motions candidates are made, how long they serve, and who is searched again.
#include <cmath>

#include "math/parallel.hpp"
#include "methods/affine/affine_method.hpp"

namespace tenon::affine {
namespace {

constexpr double most_steps_ahead = 4.0;
constexpr double small_part = 0.08;  // of a body's size: what it may move in steps that are planned together
constexpr int crowd = 400;  // candidates of a body that make it pay to look again rather than give it room
constexpr double most_strays = 0.2;    // of all bodies, that are looked at again by themselves
constexpr double most_leavers = 0.5;   // the same within a step
constexpr int oldest_candidates = 16;  // steps; bounds on what has moved since grow with every iteration

// For what contact may do to a body on its way: a part of the way, less where the step before needed less. A body that
// nothing touches goes its way, until it meets something and has to be looked at again anyway.
double room_needed(double way, double strayed) {
    return strayed < 0.0 ? 0.05 * way : std::min(0.2 * way, std::max(0.05 * way, 2.0 * strayed));
}

}  // namespace

// Where nothing moves far in a step, candidates for the motion of a few steps serve them all: far compared with the contact
// range, or with the bodies for as long as the last candidates served, and longer where that was as planned. Bodies that
// slide along each other then have few more in two steps than in one.
int AffineMethod::steps_ahead() const {
    double sum = 0.0, part = 0.0;
    int moving = 0;
    for (std::size_t i = 0; i < q_.size(); ++i) {
        if (bodies_.body[i].role == Role::still) continue;
        const ContactShape& shape = field_.shape(static_cast<int>(i));
        const double way = displacement_bound(free_[i] - bodies_.body[i].start, shape);
        sum += way;
        part += way / shape.shape->box.size().norm();
        ++moving;
    }
    if (!(sum > 0.0)) return 1;
    const double in_range = std::floor(scale_.dhat * moving / sum),
                 of_size = std::floor(small_part * moving / part);
    const double steps = std::max(in_range, std::min(of_size, static_cast<double>(can_last_)));
    return static_cast<int>(std::clamp(steps, 1.0, most_steps_ahead));
}

// The way of the next steps if nothing else happens: the step's own, and on from there turning as it does. The straight way
// then lies in the middle between the arc's ends and its height.
Sweep AffineMethod::sweep_ahead(std::size_t i, int steps, double dt) const {
    const BodyStep& body = bodies_.body[i];
    Sweep sweep{body.start, free_[i], 0.0, body.role != Role::still};
    if (!sweep.moves) return sweep;
    const ContactShape& shape = field_.shape(static_cast<int>(i));
    const Mat34 way = free_[i] - body.start;
    double off = 0.0;
    if (steps > 1) {
        // What touches others goes on as it did, not as it would without them.
        const bool touches = history_[i].strayed >= 0.0 && body.role == Role::moving;
        const Mat34& next = touches ? body.predicted : free_[i];
        sweep.q1 = extrapolate_rigidly(next, (next - body.start) / dt, body.inertia, (steps - 1) * dt);
        const Mat34 aside = 0.5 * (next - body.start - (sweep.q1 - sweep.q0) / steps);
        sweep.q0 += aside;
        sweep.q1 += aside;
        off = std::max(deviation_from(sweep, body.start, shape), deviation_from(sweep, free_[i], shape));
    }
    const double in_range = steps == 1 && crowded_[i] ? 0.25 * scale_.dhat : 0.5 * scale_.dhat;
    sweep.slack = in_range + std::max(off, room_needed(displacement_bound(way, shape), history_[i].strayed));
    return sweep;
}

// Bodies that the candidates of an earlier step do not cover any more in this one, with room for what contact does;
// less while they go as planned.
void AffineMethod::find_strays() {
    strays_.assign(q_.size(), 0);
    stray_count_ = 0;
    const double part = age_ + 1 < planned_ ? 0.85 : 0.5;
    for (std::size_t i = 0; i < q_.size(); ++i) {
        if (bodies_.body[i].role == Role::still) continue;
        const ContactShape& shape = field_.shape(static_cast<int>(i));
        strays_[i] = deviation_from(sweeps_[i], q_[i], shape) > sweeps_[i].slack ||
                     deviation_from(sweeps_[i], free_[i], shape) > part * sweeps_[i].slack;
        stray_count_ += strays_[i];
    }
}

// Bodies that left their slack within the step or came close to it; the others' candidates still serve.
void AffineMethod::find_leavers() {
    strays_.assign(q_.size(), 0);
    stray_count_ = 0;
    for (std::size_t i = 0; i < q_.size(); ++i) {
        if (finished_[i] || bodies_.body[i].role == Role::still) continue;
        const ContactShape& shape = field_.shape(static_cast<int>(i));
        strays_[i] = left_[i] || deviation_from(sweeps_[i], q_[i], shape) > sweeps_[i].slack ||
                     deviation_from(sweeps_[i], wanted_[i], shape) > 0.7 * sweeps_[i].slack;
        stray_count_ += strays_[i];
    }
}

// Of pairs with very many candidates those made within a step are for its needs only: going on with them would cost more
// than finding new ones.
void AffineMethod::expire_large_pairs() {
    std::vector<char> large(q_.size(), 0);
    for (int k = 0; k < field_.pair_count(); ++k) {
        const CandidatePair& pair = field_.pair(k);
        if (pieces_of(pair) > 1) large[pair.a] = large[pair.b] = 1;
    }
    std::size_t moving = 0, expired = 0;
    for (std::size_t i = 0; i < q_.size(); ++i) {
        if (bodies_.body[i].role == Role::still) continue;
        ++moving;
        if (!large[i]) continue;
        ++expired;
        sweeps_[i].slack = -1.0;  // everything is outside
    }
    if (2 * expired > moving) age_ = -1;
}

void AffineMethod::mark_crowded() {
    std::vector<int> count(q_.size(), 0);
    for (int k = 0; k < field_.pair_count(); ++k) {
        const CandidatePair& pair = field_.pair(k);
        count[pair.a] += pair.end - pair.begin;
        count[pair.b] += pair.end - pair.begin;
    }
    for (std::size_t i = 0; i < q_.size(); ++i) crowded_[i] = count[i] > crowd;
}

// Some: for the bodies that strayed; the others' are kept.
void AffineMethod::rebuild_candidates(const Model& model, bool some) {
    ++builds_;
    if (some)
        field_.rebuild(model, sweeps_, strays_, scale_, contact_mass_);
    else
        field_.rebuild(model, sweeps_, scale_, contact_mass_);
    parallel_for(q_.size(), 16, [&](std::size_t i) {
        if (bodies_.body[i].role == Role::still && model.bodies.collides[i])
            field_.set_trial(static_cast<int>(i), q_[i], q_[i]);
    });
    must_find_again_ = false;
    mark_crowded();
}

// Candidates for the free motion plus slack; later rounds start from where the bodies are and allow more.
void AffineMethod::build_candidates(const Model& model, int round, double dt, double largest_motion) {
    const auto stage = timer_.stage("candidates");
    const std::size_t count = q_.size();
    if (round == 0) {
        contact_mass_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            const Role role = bodies_.body[i].role;
            contact_mass_[i] = role == Role::still      ? 1e300
                               : role == Role::scripted ? 1e3 * model.bodies.mass[i]
                                                        : model.bodies.mass[i];
        }
        bool some = age_ >= 0 && age_ < oldest_candidates;
        if (some) {
            find_strays();
            some = stray_count_ <= most_strays * static_cast<double>(count);
        }
        if (some && stray_count_ == 0 && !must_find_again_) {
            ++age_;
            field_.start_step(model, scale_, contact_mass_);
            return;
        }
        sweeps_.resize(count);
        if (!some) {
            const int lasted = age_ + 1;
            if (lasted > 0) can_last_ = lasted < planned_ ? lasted : planned_ + 1;
            planned_ = steps_ahead();
        }
        for (std::size_t i = 0; i < count; ++i)
            if (!some || strays_[i]) sweeps_[i] = sweep_ahead(i, planned_, dt);
        age_ = some ? age_ + 1 : 0;
        rebuild_candidates(model, some && !must_find_again_);
        return;
    }
    if (age_ >= 0) can_last_ = age_;
    find_leavers();
    const bool many_rounds = round > 10;  // bodies may go back and forth between candidates of little room
    const bool some = stray_count_ <= most_leavers * static_cast<double>(count);
    for (std::size_t i = 0; i < count; ++i) {
        Sweep& sweep = sweeps_[i];
        if (!some) sweep.q0 = sweep.q1 = q_[i];
        // The same weights in all rounds: otherwise what one set of candidates settles the next unsettles.
        if (!some || strays_[i]) sweep.start = bodies_.body[i].start;
        if (some ? !strays_[i] : finished_[i]) continue;
        // Who left needs more room, for the rest of the step, the others of its island a little; candidates
        // grow with it, so never more than anything moves in a step.
        const ContactShape& shape = field_.shape(static_cast<int>(i));
        sweep.q0 = q_[i];
        sweep.q1 = wanted_[i];
        if (left_[i])
            room_[i] = many_rounds ? std::min(2.0 * sweep.slack, 2.0 * largest_motion)
                                   : std::min((crowded_[i] ? 1.0 : 2.0) * sweep.slack, 0.5 * largest_motion);
        const double usual = std::min({1.3 * sweep.slack, 10.0 * scale_.dhat, 0.1 * largest_motion});
        sweep.slack = std::max(
            {room_[i], usual, 0.5 * scale_.dhat + 0.3 * displacement_bound(sweep.q1 - sweep.q0, shape)});
    }
    if (!some) age_ = -1;  // made for this step's needs
    rebuild_candidates(model, some);
}

}  // namespace tenon::affine

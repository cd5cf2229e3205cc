// Contact has to happen along the physical motion of a step. Where a body would go through another and far out on the other
// side within one step, the minimiser of the step's energy may lie behind the other body, and Newton's iterates find a
// free path around it. Such steps are taken in parts: up to the impact, then no farther than the two could not be
// gone around.
#include <algorithm>
#include <cmath>

#include "methods/affine/affine_method.hpp"
#include "methods/affine/landing.hpp"

namespace tenon::affine {
namespace {

constexpr double least_part = 1e-4;    // of a step
constexpr double much_heavier = 10.0;  // times its mass: what a body leans on without pushing it along

}  // namespace

// Where bodies would go without contact, but for what loads would push them into what they lean on at the start of the step: a
// light body that is pressed on a table is held by it, and will not meet the floor below.
std::vector<Mat34> AffineMethod::motions_beside_what_holds() {
    std::vector<Mat34> motion(q_.size());
    std::vector<Vec3> loaded(q_.size());  // the part of it that loads make
    for (std::size_t i = 0; i < q_.size(); ++i) {
        motion[i] = free_[i] - bodies_.body[i].start;
        loaded[i] = free_[i].col(3) - bodies_.body[i].predicted.col(3);
    }
    for (int k = 0; k < field_.pair_count(); ++k) {
        const CandidatePair& pair = field_.pair(k);
        if (!touches_at_start(k)) continue;
        const int bodies[2] = {pair.a, pair.b};
        for (const int side : {0, 1}) {
            const int body = bodies[side], other = bodies[1 - side];
            if (bodies_.body[body].type != BodyType::dynamic_body ||
                loads_.mass[other] < much_heavier * loads_.mass[body])
                continue;
            for (const ContactPoint& point : field_.contacts(k).points) {
                const Vec3 away = side == 0 ? point.normal : Vec3(-point.normal);
                const Vec3 into = std::min(0.0, away.dot(loaded[body])) * away;
                loaded[body] -= into;
                motion[body].col(3) -= into;
            }
        }
    }
    return motion;
}

// The part of the step that may be taken at once.
double AffineMethod::part_before_fast_impact() {
    const auto stage = timer_.stage("impacts");
    const std::size_t count = q_.size();
    // Of each body: the motion of its middle, and how much more any of its points may move.
    std::vector<Vec3> middle(count, Vec3::Zero());
    std::vector<double> turning(count, 0.0);
    std::vector<Mat34> motion(count);
    const auto look = [&] {
        for (std::size_t i = 0; i < count; ++i) {
            if (bodies_.body[i].type == BodyType::static_body) continue;
            const ContactShape& shape = field_.shape(static_cast<int>(i));
            middle[i] = transform(motion[i], shape.shape->box.center());
            turning[i] = displacement_bound(motion[i], shape) - middle[i].norm();
        }
    };
    const auto goes_far = [&](const CandidatePair& pair) {
        const Box3 &box_a = field_.local_box(pair.a), &box_b = field_.local_box(pair.b);
        const double travel = (middle[pair.a] - middle[pair.b]).norm() + turning[pair.a] + turning[pair.b];
        const double thin = box_a.size().minCoeff() + box_b.size().minCoeff();
        const double far = std::max(deepest_part * thin, scale_.dhat);
        return std::pair(travel > far, far);
    };
    for (std::size_t i = 0; i < count; ++i) motion[i] = free_[i] - bodies_.body[i].start;
    look();
    bool some = false;
    for (int k = 0; k < field_.pair_count() && !some; ++k) some = goes_far(field_.pair(k)).first;
    if (!some) return 1.0;
    motion = motions_beside_what_holds();
    look();
    double part = 1.0;
    for (int k = 0; k < field_.pair_count(); ++k) {
        const CandidatePair& pair = field_.pair(k);
        const auto [goes, far] = goes_far(pair);
        if (!goes || (coasting_travel(pair) <= far && touches_at_start(k))) continue;
        part = std::min(part, part_before_impact(k, motion));
    }
    return part;
}

// How far two bodies would come against each other by the velocities that they have.
double AffineMethod::coasting_travel(const CandidatePair& pair) const {
    Vec3 middle[2];
    double turning = 0.0;
    const int bodies[2] = {pair.a, pair.b};
    for (const int side : {0, 1}) {
        const BodyStep& body = bodies_.body[bodies[side]];
        const ContactShape& shape = field_.shape(bodies[side]);
        const Mat34 motion = body.predicted - body.start;
        middle[side] = transform(motion, shape.shape->box.center());
        turning += displacement_bound(motion, shape) - middle[side].norm();
    }
    return (middle[0] - middle[1]).norm() + turning;
}

// Loads that press what touches already, however hard, are held by its barrier from where it is: no impact.
bool AffineMethod::touches_at_start(int k) {
    const CandidatePair& pair = field_.pair(k);
    for (const int body : {pair.a, pair.b}) field_.set_pose(body, bodies_.body[body].start);
    field_.evaluate(k);
    const PairContacts& contacts = field_.contacts(k);
    return !contacts.points.empty() && contacts.closest - contacts.range.separation < contacts.range.dhat;
}

double AffineMethod::part_before_impact(int k, const std::vector<Mat34>& motions) {
    const CandidatePair& pair = field_.pair(k);
    Mat34 motion[2], at[2];
    int bodies[2] = {pair.a, pair.b};
    for (int side = 0; side < 2; ++side) {
        const int i = bodies[side];
        motion[side] = motions[i];
        field_.set_trial(i, bodies_.body[i].start, Mat34(bodies_.body[i].start + motions[i]));
    }
    const double before = field_.safe_step(k, 1.0, 0.9);
    if (before >= 1.0) return 1.0;
    for (int side = 0; side < 2; ++side) {
        at[side] = bodies_.body[bodies[side]].start + before * motion[side];
        field_.set_pose(bodies[side], at[side]);
    }
    field_.evaluate(k);
    double part = 1.0;
    for (const ContactPoint& p : field_.contacts(k).points) {
        const Vec3 relative = transform(motion[0], p.local_a) - transform(motion[1], p.local_b);
        const double approach = -p.normal.dot(relative);
        if (approach <= 0.0) continue;
        const double deepest =
            std::max(scale_.dhat, deepest_part * width_across(at[0], field_.local_box(pair.a), at[1],
                                                              field_.local_box(pair.b), relative));
        if ((1.0 - before) * approach <= deepest) continue;
        part = std::min(part, std::max(before, deepest / approach));
    }
    for (int side = 0; side < 2; ++side) field_.set_pose(bodies[side], bodies_.body[bodies[side]].start);
    return std::max(part, least_part);
}

}  // namespace tenon::affine

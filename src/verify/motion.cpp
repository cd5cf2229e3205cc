#include "verify/motion.hpp"
#include "math/rotation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <Eigen/SVD>

namespace tenon::verify {
namespace {

constexpr double piece_angle = 0.02;  // rad: a chord of it leaves the arc by 5e-5 of the radius
constexpr double free_play =
    0.1;  // of the smaller body: a barrier method steps aside within a step by as much
constexpr int max_pieces = 600;
constexpr int min_pieces = 6;
constexpr std::size_t large_surfaces = 20000;

Vec3 rigid_spin(const Mat34& q, const Mat34& rate) {
    return spin_of(nearest_rotation(q.leftCols<3>()), rate.leftCols<3>());
}

// Cubic on 0..1 from 0 to 1 with the given slopes at its ends.
double hermite(double s, double slope_start, double slope_end) {
    return s * s * (3 - 2 * s) + slope_start * s * (1 - s) * (1 - s) - slope_end * s * s * (1 - s);
}

// A body at a moment in between; elastic ones carry their vertices.
struct Moment {
    Placed placed;
    std::vector<Vec3> x;
    std::vector<Box3> boxes;
};

// A motion in straight pieces, with a bump of `offset` in its middle.
struct Trial {
    const LikelyMotion *a, *b;
    Vec3 offset = Vec3::Zero();
    bool straight_a = false, straight_b = false;
};

Mat34 blend(const Mat34& from, const Mat34& to, double s) {
    return from + s * (to - from);
}

// Elastic bodies have no pose: their vertices move straight.
void move_to(Moment& moment, const Travel& travel, const LikelyMotion& motion, bool straight, double s,
             const Vec3& offset) {
    moment.placed = travel.start;
    if (!travel.start.x) {
        moment.placed.q = straight ? blend(travel.start.q, travel.end.q, s) : motion.at(s);
        moment.placed.q.col(3) += offset;
        return;
    }
    const std::vector<Vec3>&x0 = *travel.start.x, &x1 = *travel.end.x;
    moment.x.resize(x0.size());
    for (std::size_t i = 0; i < x0.size(); ++i) moment.x[i] = x0[i] + s * (x1[i] - x0[i]) + offset;
    moment.boxes = elastic_node_boxes(*moment.placed.surface, moment.x);
    moment.placed.x = &moment.x;
    moment.placed.node_boxes = &moment.boxes;
}

bool is_free(const Travel& a, const Travel& b, const Trial& trial) {
    const double angle = std::max(trial.a->turn(), trial.b->turn());
    const int pieces = std::clamp(static_cast<int>(std::ceil(angle / piece_angle)), min_pieces, max_pieces);
    std::array<Moment, 2> moments_a, moments_b;
    Placed a_before = a.start, b_before = b.start;
    for (int k = 1; k <= pieces; ++k) {
        Placed a_after = a.end, b_after = b.end;
        if (k < pieces) {
            const double s = static_cast<double>(k) / pieces;
            Moment &ma = moments_a[k % 2], &mb = moments_b[k % 2];
            move_to(ma, a, *trial.a, trial.straight_a, s, 4 * s * (1 - s) * trial.offset);
            move_to(mb, b, *trial.b, trial.straight_b, s, Vec3::Zero());
            a_after = ma.placed;
            b_after = mb.placed;
        }
        if (sweep(a_before, a_after, b_before, b_after).hit) return false;
        a_before = a_after;
        b_before = b_after;
    }
    return true;
}

// Large surfaces cost more per trial: they get the axes only.
std::vector<Vec3> directions_to_try(const SweepHit& chord, bool large) {
    std::vector<Vec3> all{chord.normal, -chord.normal};
    for (int x = -1; x <= 1; ++x)
        for (int y = -1; y <= 1; ++y)
            for (int z = -1; z <= 1; ++z) {
                const int sides = std::abs(x) + std::abs(y) + std::abs(z);
                if (sides == 1 || (sides > 1 && !large)) all.push_back(Vec3(x, y, z).normalized());
            }
    return all;
}

}  // namespace

LikelyMotion::LikelyMotion(const Travel& travel, double seconds, const Vec3& gravity)
    : elastic_(travel.start.x != nullptr),
      seconds_(seconds),
      radius_(travel.start.surface->radius),
      gravity_(gravity) {
    vertex_change_ = travel.vertex_change;
    const Mat34 &q0 = travel.start.q, &q1 = travel.end.q;
    from_ = q0.col(3);
    to_ = q1.col(3);
    v0_ = travel.rate_start.col(3);
    v1_ = travel.rate_end.col(3);
    w0_ = w1_ = axis_ = Vec3::Zero();
    rotation_ = stretch_start_ = stretch_end_ = Mat3::Identity();
    if (elastic_) return;
    rotation_ = nearest_rotation(q0.leftCols<3>());
    const Mat3 end = nearest_rotation(q1.leftCols<3>());
    stretch_start_ = rotation_.transpose() * q0.leftCols<3>();
    stretch_end_ = end.transpose() * q1.leftCols<3>();
    w0_ = rigid_spin(q0, travel.rate_start);
    w1_ = rigid_spin(q1, travel.rate_end);
    // The smallest turn between the two poses, and as many whole turns as the spin asks for.
    const Eigen::AngleAxisd turn(Mat3(end * rotation_.transpose()));
    const Vec3 wanted = 0.5 * seconds * (w0_ + w1_);
    axis_ = turn.angle() > 1e-9 || wanted.norm() < 1e-9 ? Vec3(turn.axis()) : Vec3(wanted.normalized());
    const double along = axis_.dot(wanted);
    turn_ = turn.angle() + 2 * M_PI * std::round((along - turn.angle()) / (2 * M_PI));
    if (turn_ < 0) {
        turn_ = -turn_;
        axis_ = -axis_;
    }
    if (turn_ > 1e-9) {
        turn_rate_start_ = std::clamp(seconds * axis_.dot(w0_) / turn_, 0.0, 3.0);
        turn_rate_end_ = std::clamp(seconds * axis_.dot(w1_) / turn_, 0.0, 3.0);
    }
}

Mat34 LikelyMotion::at(double s) const {
    Mat34 q;
    const double angle = turn_ * hermite(s, turn_rate_start_, turn_rate_end_);
    q.leftCols<3>() = Eigen::AngleAxisd(angle, axis_.squaredNorm() > 0 ? axis_ : Vec3(Vec3::UnitX())) *
                      rotation_ * ((1 - s) * stretch_start_ + s * stretch_end_);
    // Velocities that do not fit the displacement would make the cubic swing out: then the straight way it is.
    const Vec3 travel = to_ - from_;
    const Vec3 missing = travel - 0.5 * seconds_ * (v0_ + v1_);
    const double fits = missing.norm() <= 0.5 * seconds_ * (v1_ - v0_).norm() + 1e-9 ? 1.0 : 0.0;
    const Vec3 bend0 = fits * (seconds_ * v0_ - travel), bend1 = fits * (seconds_ * v1_ - travel);
    q.col(3) = from_ + s * travel + s * (1 - s) * ((1 - s) * bend0 - s * bend1);
    return q;
}

double LikelyMotion::uncertainty(bool steps_between) const {
    if (elastic_) return 0.5 * seconds_ * vertex_change_;
    const double change = (v1_ - v0_).norm() + radius_ * (w1_ - w0_).norm();
    double slack = 0.5 * seconds_ * change;
    if (steps_between) {
        const Vec3 expected = 0.5 * seconds_ * (v0_ + v1_);
        const double fastest = std::max(v0_.norm(), v1_.norm()) + seconds_ * gravity_.norm();
        slack += std::min((to_ - from_ - expected).norm(), 2 * seconds_ * fastest);
    }
    return slack;
}

Verdict judge(const Travel& a, const Travel& b, const SweepHit& chord, double seconds, const Vec3& gravity,
              bool steps_between, double overlap_allowed) {
    const LikelyMotion motion_a(a, seconds, gravity), motion_b(b, seconds, gravity);
    for (const bool straight_a : {false, true})
        for (const bool straight_b : {false, true})
            if ((!straight_a || !straight_b) &&
                is_free(a, b, {&motion_a, &motion_b, Vec3::Zero(), straight_a, straight_b}))
                return Verdict::avoidable;
    const double size = std::min(a.start.surface->radius, b.start.surface->radius);
    const double slack = motion_a.uncertainty(steps_between) + motion_b.uncertainty(steps_between) +
                         free_play * size + overlap_allowed;
    const bool large = a.start.surface->cells.size() + b.start.surface->cells.size() > large_surfaces;
    for (const double part : {1.0 / 256, 1.0 / 64, 1.0 / 16, 0.25, 1.0})
        for (const Vec3& direction : directions_to_try(chord, large))
            if (is_free(a, b, {&motion_a, &motion_b, part * slack * direction, false, false}))
                return Verdict::avoidable;
    return Verdict::unavoidable;
}

}  // namespace tenon::verify

#include "methods/articulated/ball_chain.hpp"

#include <algorithm>

#include "model/joint_rows.hpp"

namespace tenon::articulated {
namespace {

// Inverse of a symmetric positive definite 3x3 matrix through L D L^T, which keeps the digits that cofactors of
// stiff blocks would lose.
Mat3 spd_inverse(const Mat3& A) {
    const double d0 = A(0, 0), l10 = A(1, 0) / d0, l20 = A(2, 0) / d0;
    const double d1 = A(1, 1) - l10 * A(1, 0), c21 = A(2, 1) - l20 * A(1, 0), l21 = c21 / d1;
    const double d2 = A(2, 2) - l20 * A(2, 0) - l21 * c21;
    // rows of L^-1
    const double m10 = -l10, m21 = -l21, m20 = l10 * l21 - l20;
    const double e0 = 1.0 / d0, e1 = 1.0 / d1, e2 = 1.0 / d2;
    Mat3 inverse;
    inverse(0, 0) = e0 + m10 * m10 * e1 + m20 * m20 * e2;
    inverse(1, 0) = m10 * e1 + m20 * m21 * e2;
    inverse(2, 0) = m20 * e2;
    inverse(1, 1) = e1 + m21 * m21 * e2;
    inverse(2, 1) = m21 * e2;
    inverse(2, 2) = e2;
    inverse(0, 1) = inverse(1, 0);
    inverse(0, 2) = inverse(2, 0);
    inverse(1, 2) = inverse(2, 1);
    return inverse;
}

Vec3 anchor(const BodyField& field, int body, const Vec3& point) {
    return body < 0 ? point : point_at(field.x[body], point);
}

// One body as its joints see it: compliances between its two anchors and where it would go unconstrained.
struct BodyView {
    Mat3 left_left, left_right, right_right;
    Vec3 left_free, right_free;
};

BodyView view(const BodyField& field, int body, const Vec3* left, const Vec3* right) {
    BodyView v;
    const BodyInverse inverse = field.inverse(body);
    const Mat34 free = field.apply_inverse(body, inverse, field.force(body));
    const Mat3& R = field.rotation[body];
    if (left) v.left_free = field.moved_point(body, free, *left);
    if (right) v.right_free = field.moved_point(body, free, *right);
    if (field.dense[body] >= 0) {
        const DenseBody& dense = field.dense_bodies[field.dense[body]];
        const Reduced at_left = left ? dense.reduced(*left) : Reduced(),
                      at_right = right ? dense.reduced(*right) : Reduced();
        if (left) v.left_left = in_world(compliance(at_left, at_left), R);
        if (right) v.right_right = in_world(compliance(at_right, at_right), R);
        if (left && right) v.left_right = in_world(compliance(at_left, at_right), R);
        return v;
    }
    const auto between = [&](const Vec3& x, const Vec3& y) {
        return in_world(point_compliance(inverse, x, y), R);
    };
    if (left) v.left_left = between(*left, *left);
    if (right) v.right_right = between(*right, *right);
    if (left && right) v.left_right = between(*left, *right);
    return v;
}

}  // namespace

BallChain::BallChain(const Model& model, const State& state, std::vector<int> chain_bodies,
                     std::vector<int> chain_joints, bool pinned_start)
    : pinned_start_(pinned_start) {
    bodies = std::move(chain_bodies);
    const auto moving = [&](int body) { return body >= 0 && state.dynamic(body); };
    for (std::size_t k = 0; k < chain_joints.size(); ++k) {
        const Joint& joint = model.joints[chain_joints[k]];
        const std::size_t right = pinned_start ? k : k + 1;  // body behind the joint
        Link link;
        link.joint = chain_joints[k];
        // the side that is the chain's body behind the joint; at the far end that is the fixed one
        const int behind = right < bodies.size() ? bodies[right] : -2;
        link.left_first = behind == -2 ? moving(joint.bodies[0]) : joint.bodies[1] == behind;
        const int l = link.left_first ? 0 : 1, r = 1 - l;
        link.left = joint.bodies[l];
        link.right = joint.bodies[r];
        link.left_point = joint.point[l];
        link.right_point = joint.point[r];
        joints_.push_back(link);
        double size = 0.0;
        for (int side = 0; side < 2; ++side)
            if (moving(joint.bodies[side]))
                size = std::max({size, joint.point[side].norm(), model.shape_of(joint.bodies[side]).radius});
        joint_size_.push_back(std::max(size, 1e-9));
    }
    multiplier_.resize(joints_.size(), Vec3::Zero());
}

void BallChain::solve(BodyField& field) {
    eliminate(field);
    substitute(multiplier_);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const int body = bodies[i];
        Mat34 force = field.force(body);
        push(i, multiplier_, force);
        field.dq[body] = field.apply_inverse(body, field.inverse(body), force);
    }
}

// Factors and right-hand side together, from the first joint to the last.
void BallChain::eliminate(const BodyField& field) {
    // forward: joint k-1 lies before body i, joint k behind it
    elimination_.resize(joints_.size());
    const int count = static_cast<int>(joints_.size());
    const int shift = pinned_start_ ? 0 : -1;  // joint before body i is i + shift
    Mat3 D = Mat3::Zero();
    Vec3 rhs = Vec3::Zero();
    if (pinned_start_ && count > 0) rhs = anchor(field, joints_[0].left, joints_[0].left_point);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const int body = bodies[i], before = static_cast<int>(i) + shift, behind = before + 1;
        const Vec3* left = before >= 0 ? &joints_[before].right_point : nullptr;
        const Vec3* right = behind < count ? &joints_[behind].left_point : nullptr;
        if (!left && !right) break;
        const BodyView v = view(field, body, left, right);
        if (left) {  // joint `before` is complete now: eliminate it
            Elimination& e = elimination_[before];
            D += v.left_left;
            rhs -= point_at(field.x[body], *left) + v.left_free;
            const Mat3 inverse = spd_inverse(D);
            e.inverse = inverse;
            e.y = product(inverse, rhs);
            if (right) {
                const Mat3 upper = -v.left_right;
                e.upper = product(inverse, upper);
                D = v.right_right - product_left_transposed(upper, e.upper);
                rhs = point_at(field.x[body], *right) + v.right_free - upper.transpose() * e.y;
            }
        } else {
            D = v.right_right;
            rhs = point_at(field.x[body], *right) + v.right_free;
        }
    }
    const int last_behind = static_cast<int>(bodies.size()) + shift;
    if (last_behind == count - 1 && count > 0) {  // the far end is held by something fixed
        Elimination& e = elimination_[count - 1];
        rhs -= anchor(field, joints_[count - 1].right, joints_[count - 1].right_point);
        e.inverse = spd_inverse(D);
        e.y = product(e.inverse, rhs);
    }
}

// Multipliers, from the last joint to the first.
void BallChain::substitute(std::vector<Vec3>& multiplier) const {
    const int count = static_cast<int>(joints_.size());
    for (int k = count - 1; k >= 0; --k) {
        const Elimination& e = elimination_[k];
        multiplier[k] = e.y;
        if (k + 1 < count) multiplier[k] -= product(e.upper, multiplier[k + 1]);
    }
}

// Adds what the joints before and behind a body do to it.
void BallChain::push(std::size_t i, const std::vector<Vec3>& multiplier, Mat34& force) const {
    const int before = static_cast<int>(i) + (pinned_start_ ? 0 : -1), behind = before + 1;
    const auto add = [&](const Vec3& f, const Vec3& point) {
        for (int c = 0; c < 3; ++c)
            for (int r = 0; r < 3; ++r) force(r, c) += f[r] * point[c];
        force.col(3) += f;
    };
    if (before >= 0) add(multiplier[before], joints_[before].right_point);
    if (behind < static_cast<int>(joints_.size())) add(-multiplier[behind], joints_[behind].left_point);
}

Vec3 BallChain::gap(const BodyField& field, std::size_t joint) const {
    const Link& link = joints_[joint];
    return anchor(field, link.left, link.left_point) - anchor(field, link.right, link.right_point);
}

void BallChain::balance(BodyField& field, Balance& result) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        Mat34& left = field.unbalanced[bodies[i]];
        left = field.force(bodies[i]);
        push(i, multiplier_, left);
        judge(field, bodies[i], left, result);
    }
    for (std::size_t k = 0; k < joints_.size(); ++k) {
        const double open = gap(field, k).cwiseAbs().maxCoeff();
        result.gap = std::max(result.gap, open);
        result.relative_gap = std::max(result.relative_gap, open / joint_size_[k]);
        result.scale = std::max(result.scale, multiplier_[k].norm());
    }
}

void BallChain::refine(BodyField& field) {
    pass(field, true);
    for (std::size_t k = 0; k < joints_.size(); ++k) multiplier_[k] += change_[k];
}

void BallChain::respond(BodyField& field, bool keep) {
    pass(field, false);
    for (std::size_t k = 0; keep && k < joints_.size(); ++k) multiplier_[k] += change_[k];
}

void BallChain::pass(BodyField& field, bool with_gaps) {
    for (int body : bodies)
        field.dq[body] = field.apply_inverse(body, field.inverse(body), field.unbalanced[body]);
    const auto moved = [&](int body, const Vec3& point) -> Vec3 {
        return body >= 0 && field.moving[body] ? field.moved_point(body, field.dq[body], point)
                                               : Vec3(Vec3::Zero());
    };
    Vec3 carried = Vec3::Zero();  // from the joint before
    for (std::size_t k = 0; k < joints_.size(); ++k) {
        const Link& link = joints_[k];
        Vec3 rhs = moved(link.left, link.left_point) - moved(link.right, link.right_point) - carried;
        if (with_gaps) rhs += gap(field, k);
        elimination_[k].y = product(elimination_[k].inverse, rhs);
        if (k + 1 < joints_.size()) carried = elimination_[k].upper.transpose() * rhs;
    }
    change_.resize(joints_.size());
    substitute(change_);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        Mat34 force = Mat34::Zero();
        push(i, change_, force);
        field.dq[bodies[i]] += field.apply_inverse(bodies[i], field.inverse(bodies[i]), force);
    }
}

void BallChain::prepare_sweep(const BodyField& field) {
    const std::size_t groups = (bodies.size() + 3) / 4;
    const int shift = pinned_start_ ? 0 : -1, count = static_cast<int>(joints_.size());
    sweep_anchors_.assign(24 * groups, 0.0);
    for (std::size_t i = 0; i < 4 * groups; ++i) {  // the last group is filled up with the last body
        const std::size_t from = std::min(i, bodies.size() - 1);
        const int before = static_cast<int>(from) + shift, behind = before + 1;
        sweep_body_.push_back(bodies[from]);
        sweep_kind_.push_back(field.kind[bodies[from]]);
        double* to = sweep_anchors_.data() + 24 * (i / 4) + i % 4;
        for (int k = 0; k < 3; ++k) {
            if (before >= 0) to[4 * k] = joints_[before].right_point[k];
            if (behind < count) to[12 + 4 * k] = joints_[behind].left_point[k];
        }
    }
    sweep_work_.resize(12 * joints_.size());
}

SweepReport BallChain::sweep(const BodyField& field, const std::vector<SweepKind>& kinds,
                             const SweepRule& rule, const SweepState& state, bool again) {
    if (sweep_body_.empty()) prepare_sweep(field);
    SweepChain chain;
    chain.bodies = bodies.size();
    chain.body = sweep_body_.data();
    chain.kind = sweep_kind_.data();
    chain.anchors = sweep_anchors_.data();
    chain.kinds = kinds.data();
    chain.held_start = pinned_start_;
    chain.held_end = joints_.size() == bodies.size() + (pinned_start_ ? 1 : 0);
    if (chain.held_start)
        Eigen::Map<Vec3>(chain.start) = anchor(field, joints_.front().left, joints_.front().left_point);
    if (chain.held_end)
        Eigen::Map<Vec3>(chain.end) = anchor(field, joints_.back().right, joints_.back().right_point);
    SweepReport report =
        sweep_kernel()(chain, rule, state, again, sweep_work_.data(), multiplier_.data()->data());
    for (const Vec3& force : multiplier_) report.force = std::max(report.force, force.cwiseAbs().maxCoeff());
    return report;
}

SweepKind sweep_kind(const KindMatrix& kind) {
    SweepKind to;
    const Mat3& s = kind.stretch_inverse;
    const double stretch[6] = {s(0, 0), s(1, 1), s(2, 2), s(1, 2), s(2, 0), s(0, 1)};
    for (int k = 0; k < 3; ++k) to.inertia[k] = kind.inertia[k];
    for (int k = 0; k < 6; ++k) to.stretch_inverse[k] = stretch[k];
    to.mass_rate = kind.mass_rate;
    to.translation_inverse = kind.translation_inverse;
    to.volume_mu = kind.volume_mu;
    to.volume_lambda = kind.volume_lambda;
    return to;
}

void BallChain::write_forces(const BodyField&, const Model&, Outputs& outputs) const {
    constexpr std::size_t ahead = 16;  // joints are wide apart: ask for the next ones in time
    for (std::size_t k = 0; k < joints_.size(); ++k) {
        JointOutput& joint = outputs.joints[joints_[k].joint];
        if (k + ahead < joints_.size())
            __builtin_prefetch(&outputs.joints[joints_[k + ahead].joint].force, 1);
        joint.force = joints_[k].left_first ? multiplier_[k] : Vec3(-multiplier_[k]);
        joint.torque.setZero();
    }
}

}  // namespace tenon::articulated

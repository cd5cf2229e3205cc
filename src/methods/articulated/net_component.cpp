#include "methods/articulated/net_component.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "math/parallel.hpp"
#include "math/union_find.hpp"

namespace tenon::articulated {
namespace {

constexpr std::size_t kGrain = 256;

// Points of one body must be affinely independent, by some margin, or its compliance between them is nearly singular and
// digits are lost in inverting it.
bool independent(const std::vector<Vec3>& anchors) {
    double size = 0.0;
    for (const Vec3& a : anchors) size = std::max(size, (a - anchors[0]).norm());
    switch (anchors.size()) {
        case 0:
        case 1:
            return true;
        case 2:
            return size > 1e-9;
        case 3:
            return (anchors[1] - anchors[0]).cross(anchors[2] - anchors[0]).norm() > 0.05 * size * size;
        case 4: {
            Mat3 m;
            m << anchors[1] - anchors[0], anchors[2] - anchors[0], anchors[3] - anchors[0];
            return std::abs(m.determinant()) > 0.05 * size * size * size;
        }
        default:
            return false;
    }
}

Vec3 anchor(const BodyField& field, int body, const Vec3& point) {
    return body < 0 ? point : transform(field.x[body], point);
}

}  // namespace

NetLayout find_net(const Model& model, const State& state, const std::vector<int>& bodies,
                   const std::vector<int>& joints) {
    NetLayout layout;
    // sides of joints (2j, 2j+1) that are one point: the two sides of a joint, and equal anchors of a body
    UnionFind same_point(2 * joints.size());
    std::unordered_map<int, std::vector<int>> sides_of;
    for (std::size_t j = 0; j < joints.size(); ++j) {
        same_point.join(static_cast<int>(2 * j), static_cast<int>(2 * j + 1));
        for (int side = 0; side < 2; ++side) {
            const int body = model.joints[joints[j]].bodies[side];
            if (body >= 0 && state.dynamic(body)) sides_of[body].push_back(static_cast<int>(2 * j) + side);
        }
    }
    const auto point_at = [&](int s) -> const Vec3& { return model.joints[joints[s / 2]].point[s % 2]; };
    for (int body : bodies) {
        const auto& sides = sides_of[body];
        for (std::size_t a = 0; a < sides.size(); ++a)
            for (std::size_t b = a + 1; b < sides.size(); ++b)
                if ((point_at(sides[a]) - point_at(sides[b])).norm() < 1e-9)
                    same_point.join(sides[a], sides[b]);
    }
    std::vector<int> number(same_point.size(), -1);
    int count = 0;
    for (std::size_t j = 0; j < joints.size(); ++j) {
        int& n = number[same_point.root(static_cast<int>(2 * j))];
        if (n < 0) n = count++;
        layout.point_of_joint.push_back(n);
    }
    layout.fixed.assign(count, 0);
    layout.fixed_joint.assign(count, -1);
    layout.fixed_side.assign(count, -1);
    for (std::size_t j = 0; j < joints.size(); ++j)
        for (int side = 0; side < 2; ++side) {
            const int body = model.joints[joints[j]].bodies[side];
            if (body >= 0 && state.dynamic(body)) continue;
            const int p = layout.point_of_joint[j];
            if (layout.fixed[p]) return layout;  // held twice: conditions without unknowns
            layout.fixed[p] = 1;
            layout.fixed_joint[p] = joints[j];
            layout.fixed_side[p] = side;
        }
    for (int body : bodies) {
        std::vector<int> points;
        std::vector<Vec3> anchors;
        for (int s : sides_of[body]) {
            const int p = layout.point_of_joint[s / 2];
            if (std::find(points.begin(), points.end(), p) != points.end()) continue;
            points.push_back(p);
            anchors.push_back(point_at(s));
        }
        if (anchors.size() > 4 || !independent(anchors)) return layout;
        layout.body_points.push_back(points);
        layout.body_anchors.push_back(anchors);
    }
    layout.valid = true;
    return layout;
}

NetComponent::NetComponent(const Model& model, std::vector<int> component_bodies,
                           std::vector<int> component_joints, NetLayout layout)
    : layout_(std::move(layout)), net_(layout_.body_points, layout_.fixed) {
    bodies = std::move(component_bodies);
    std::unordered_map<int, int> local;
    for (std::size_t b = 0; b < bodies.size(); ++b) local[bodies[b]] = static_cast<int>(b);
    const auto slot_of = [&](int body, int point) {
        const auto found = local.find(body);
        if (found == local.end()) return -1;
        for (int k = 0; k < net_.points_of(found->second); ++k)
            if (layout_.body_points[found->second][k] == point) return net_.slot(found->second, k);
        return -1;
    };
    for (std::size_t j = 0; j < component_joints.size(); ++j) {
        const Joint& joint = model.joints[component_joints[j]];
        Link link;
        link.joint = component_joints[j];
        link.bodies = joint.bodies;
        link.point = joint.point;
        for (int side = 0; side < 2; ++side)
            link.slot[side] = slot_of(joint.bodies[side], layout_.point_of_joint[j]);
        links_.push_back(link);
        double size = 0.0;
        for (int side = 0; side < 2; ++side)
            if (local.count(joint.bodies[side]))
                size = std::max({size, joint.point[side].norm(), model.shape_of(joint.bodies[side]).radius});
        joint_size_.push_back(std::max(size, 1e-9));
    }
    order_links();
    wanted_.resize(net_.slots());
    force_.resize(net_.slots());
    position_.resize(layout_.fixed.size());
}

// What a body gets at a point is the sum of its joints there. Where only one of them is not known yet, it follows: from leaves
// on, all do whose bodies form a tree about the point.
void NetComponent::order_links() {
    std::vector<std::vector<int>> joints_at(net_.slots());
    for (std::size_t j = 0; j < links_.size(); ++j)
        for (const int s : links_[j].slot)
            if (s >= 0) joints_at[s].push_back(static_cast<int>(j));
    std::vector<int> leaves;
    for (int s = 0; s < net_.slots(); ++s)
        if (joints_at[s].size() == 1) leaves.push_back(s);
    while (!leaves.empty()) {
        const int s = leaves.back();
        leaves.pop_back();
        if (joints_at[s].empty()) continue;
        const int j = joints_at[s].front();
        const int side = links_[j].slot[0] == s ? 0 : 1, other = links_[j].slot[1 - side];
        told_.push_back({j, side});
        joints_at[s].clear();
        if (other < 0) continue;
        std::erase(joints_at[other], j);
        if (joints_at[other].size() == 1) leaves.push_back(other);
    }
}

void NetComponent::solve(BodyField& field) {
    parallel_for(bodies.size(), kGrain, [&](std::size_t b) {
        const int body = bodies[b], k = net_.points_of(static_cast<int>(b));
        const BodyInverse inverse = field.inverse(body);
        const Mat34 free = field.apply_inverse(body, inverse, field.force(body));
        const auto& anchors = layout_.body_anchors[b];
        double* compliance = net_.compliance(static_cast<int>(b));
        const Mat3& R = field.rotation[body];
        for (int j = 0; j < k; ++j) {
            wanted_[net_.slot(static_cast<int>(b), j)] =
                transform(field.x[body], anchors[j]) + field.moved_point(body, free, anchors[j]);
            for (int i = 0; i < k; ++i) {
                const Mat3 S =
                    field.dense[body] < 0
                        ? Mat3(R * point_compliance(inverse, anchors[i], anchors[j]) * R.transpose())
                        : dense_compliance(field.dense_bodies[field.dense[body]], R, anchors[i], anchors[j]);
                for (int c = 0; c < 3; ++c)
                    for (int r = 0; r < 3; ++r) compliance[3 * i + r + (3 * j + c) * 3 * k] = S(r, c);
            }
        }
    });
    set_positions(field);
    net_.factor();
    net_.solve(wanted_, position_, force_);
    parallel_for(bodies.size(), kGrain, [&](std::size_t b) {
        const int body = bodies[b];
        Mat34 force = field.force(body);
        push(b, force_, force);
        field.dq[body] = field.apply_inverse(body, field.inverse(body), force);
    });
}

// Where free points are about, and where fixed ones have to be.
void NetComponent::set_positions(const BodyField& field) {
    for (const Link& link : links_) {
        const int p = layout_.point_of_joint[&link - links_.data()];
        if (!layout_.fixed[p])
            position_[p] = anchor(field, link.bodies[1], link.point[1]);
        else if (layout_.fixed_joint[p] == link.joint)
            position_[p] =
                anchor(field, link.bodies[layout_.fixed_side[p]], link.point[layout_.fixed_side[p]]);
    }
}

// Adds what the net does to a body at its points.
void NetComponent::push(std::size_t b, const std::vector<Vec3>& at_points, Mat34& force) const {
    for (int k = 0; k < net_.points_of(static_cast<int>(b)); ++k) {
        const Vec3& f = at_points[net_.slot(static_cast<int>(b), k)];
        force.leftCols<3>() -= f * layout_.body_anchors[b][k].transpose();
        force.col(3) -= f;
    }
}

void NetComponent::balance(BodyField& field, Balance& result) {
    const std::size_t chunks = (bodies.size() + kGrain - 1) / kGrain;
    std::vector<Balance> partial(chunks);
    parallel_for(chunks, 1, [&](std::size_t chunk) {
        const std::size_t end = std::min(bodies.size(), (chunk + 1) * kGrain);
        for (std::size_t b = chunk * kGrain; b < end; ++b) {
            Mat34& left = field.unbalanced[bodies[b]];
            left = field.force(bodies[b]);
            push(b, force_, left);
            judge(field, bodies[b], left, partial[chunk]);
        }
    });
    for (const Balance& part : partial) result.add(part);
    for (std::size_t j = 0; j < links_.size(); ++j) {
        const Link& link = links_[j];
        const double open =
            (anchor(field, link.bodies[0], link.point[0]) - anchor(field, link.bodies[1], link.point[1]))
                .cwiseAbs()
                .maxCoeff();
        result.gap = std::max(result.gap, open);
        result.relative_gap = std::max(result.relative_gap, open / joint_size_[j]);
    }
    for (const Vec3& f : force_) result.scale = std::max(result.scale, f.norm());
}

void NetComponent::refine(BodyField& field) {
    set_positions(field);
    pass(field, true);
    for (std::size_t s = 0; s < force_.size(); ++s) force_[s] += change_[s];
}

void NetComponent::respond(BodyField& field, bool keep) {
    std::fill(position_.begin(), position_.end(), Vec3::Zero());
    pass(field, false);
    for (std::size_t s = 0; keep && s < force_.size(); ++s) force_[s] += change_[s];
}

// The points' forces balance to the last digit in every solve; what is left is where bodies have them.
void NetComponent::pass(BodyField& field, bool with_places) {
    parallel_for(bodies.size(), kGrain, [&](std::size_t b) {
        const int body = bodies[b];
        field.dq[body] = field.apply_inverse(body, field.inverse(body), field.unbalanced[body]);
        for (int j = 0; j < net_.points_of(static_cast<int>(b)); ++j)
            wanted_[net_.slot(static_cast<int>(b), j)] =
                (with_places ? transform(field.x[body], layout_.body_anchors[b][j]) : Vec3(Vec3::Zero())) +
                field.moved_point(body, field.dq[body], layout_.body_anchors[b][j]);
    });
    change_.resize(force_.size());
    net_.solve(wanted_, position_, change_);
    parallel_for(bodies.size(), kGrain, [&](std::size_t b) {
        const int body = bodies[b];
        Mat34 force = Mat34::Zero();
        push(b, change_, force);
        field.dq[body] += field.apply_inverse(body, field.inverse(body), force);
    });
}

// A joint's force acts on its second body; what the net does to a body at a point is minus `force_`.
void NetComponent::write_forces(const BodyField&, const Model&, Outputs& outputs) const {
    std::vector<Vec3> left = force_;
    for (const auto& [j, side] : told_) {
        const Link& link = links_[j];
        JointOutput& joint = outputs.joints[link.joint];
        const Vec3 own = left[link.slot[side]];  // minus the force on that side
        joint.force = side == 1 ? Vec3(-own) : own;
        joint.torque.setZero();
        if (const int other = link.slot[1 - side]; other >= 0) left[other] += own;
    }
}

}  // namespace tenon::articulated

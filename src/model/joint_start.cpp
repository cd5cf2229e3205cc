#include "model/joint_start.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include <fmt/format.h>

#include "math/rotation.hpp"
#include "model/joint_rows.hpp"
#include "tenon/error.hpp"
#include "tenon/state.hpp"

namespace tenon {
namespace {

constexpr double closed = 1e-9;  // m and rad: what a loop may gape at the start

Mat3 turn(double angle, int axis) {
    return Eigen::AngleAxisd(angle, Vec3::Unit(axis)).toRotationMatrix();
}

double entry(const std::vector<double>& values, std::size_t k) {
    return k < values.size() ? values[k] : 0.0;
}

// What a joint's rates make of the second side seen from the first, in the first's joint frame (d, n1, n2).
struct JointTwist {
    Vec3 spin = Vec3::Zero(), slide = Vec3::Zero();
};

JointTwist joint_twist(JointType type, const std::vector<double>& q, const std::vector<double>& rate) {
    JointTwist twist;
    switch (type) {
        case JointType::hinge:
            twist.spin.x() = entry(rate, 0);
            break;
        case JointType::prismatic:
            twist.slide.x() = entry(rate, 0);
            break;
        case JointType::cylindrical:
            twist.spin.x() = entry(rate, 0);
            twist.slide.x() = entry(rate, 1);
            break;
        case JointType::universal:  // the second axis has been turned about the first
            twist.spin =
                entry(rate, 0) * Vec3::UnitX() + entry(rate, 1) * (turn(entry(q, 0), 0) * Vec3::UnitY());
            break;
        case JointType::planar:
            twist.slide = Vec3(0, entry(rate, 0), entry(rate, 1));
            twist.spin.x() = entry(rate, 2);
            break;
        default:
            break;
    }
    return twist;
}

class Placer {
  public:
    Placer(Model& model, const Scene& scene)
        : model_(model),
          scene_(scene),
          reference_(model.bodies.start_q),
          nodes_(model.bodies.start_q.size() + 1) {}

    void place() {
        complete_coupled_starts();
        link();
        nodes_.back().seen = true;  // the world
        for (int body = 0; body < model_.bodies.size(); ++body)
            if (model_.bodies.start_type[body] != BodyType::dynamic_body) root(body);
        root(-1);
        walk();
        const KeyframeSpec* key = keyframe();
        if (key)
            for (const KeyframeSpec::BodyState& state : key->bodies) {
                if (node(state.body).seen)
                    refuse(fmt::format("keyframes.{}.bodies", key->name),
                           fmt::format("'{}' hangs on something that stays, or on another body placed here",
                                       model_.bodies.name[state.body]),
                           "give the positions of its joints instead");
                root(state.body);
                place_root(state);
                walk();
            }
        for (int body = 0; body < model_.bodies.size(); ++body)
            if (!node(body).seen) {
                root(body);
                walk();
            }
        set_coordinates();
        check_loops();
    }

  private:
    struct Node {
        bool seen = false, moved = false, spun = false;
        std::vector<int> joints;
    };
    Node& node(int body) { return body < 0 ? nodes_.back() : nodes_[static_cast<std::size_t>(body)]; }

    [[noreturn]] void refuse(const std::string& path, const std::string& problem,
                             const std::string& cure) const {
        throw InputError(scene_.file.empty() ? scene_.name : scene_.file, path, problem, cure);
    }
    const KeyframeSpec* keyframe() const {
        for (const KeyframeSpec& key : scene_.keyframes)
            if (!scene_.start.empty() && key.name == scene_.start) return &key;
        return nullptr;
    }

    // The second coordinate of a coupling follows the first where only the first is given.
    void complete_coupled_starts() {
        for (const Joint& coupling : model_.joints) {
            const JointSpec& spec = coupling.spec;
            if (spec.type != JointType::coupling) continue;
            const JointSpec& first = model_.joints[spec.joints[0]].spec;
            JointSpec& second = model_.joints[spec.joints[1]].spec;
            if (first.start.empty() || first.type == JointType::ball || second.type == JointType::ball)
                continue;
            const auto a = static_cast<std::size_t>(spec.coordinates[0]),
                       b = static_cast<std::size_t>(spec.coordinates[1]);
            const auto count = static_cast<std::size_t>(joint_coordinate_count(second.type));
            if (second.start.empty()) {
                second.start.assign(count, 0.0);
                second.start[b] = spec.ratio * first.start[a] + spec.offset;
            }
            if (second.start_rate.empty() && !first.start_rate.empty()) {
                second.start_rate.assign(count, 0.0);
                second.start_rate[b] = spec.ratio * first.start_rate[a];
            }
        }
    }

    void link() {
        for (std::size_t j = 0; j < model_.joints.size(); ++j) {
            const Joint& joint = model_.joints[j];
            if (joint.spec.type == JointType::coupling || joint.spec.type == JointType::distance) continue;
            for (int body : joint.bodies) node(body).joints.push_back(static_cast<int>(j));
        }
    }

    void root(int body) {
        node(body).seen = true;
        queue_.push_back(body);
    }

    void place_root(const KeyframeSpec::BodyState& state) {
        const Pose& geometry = model_.shape_of(state.body).geometry_frame;
        Mat34 &q = model_.bodies.start_q[state.body], &rate = model_.bodies.start_rate[state.body];
        Mat3 A = q.leftCols<3>();
        Vec3 origin = transform(q, geometry.position);
        if (state.rotation) A = (*state.rotation * geometry.rotation.conjugate()).toRotationMatrix();
        if (state.position) origin = *state.position;
        q.leftCols<3>() = A;
        q.col(3) = origin - A * geometry.position;
        const Vec3 spin = state.angular_velocity.value_or(spin_of(state.body));
        if (state.linear_velocity) rate.col(3) = *state.linear_velocity;
        for (int k = 0; k < 3; ++k) rate.col(k) = spin.cross(Vec3(A.col(k)));
        node(state.body).moved = state.position || state.rotation;
        node(state.body).spun = state.linear_velocity || state.angular_velocity;
    }

    Mat34 map(int body) const { return body < 0 ? world_map() : model_.bodies.start_q[body]; }
    Mat3 reference(int body) const {
        return body < 0 ? Mat3(Mat3::Identity())
                        : Mat3(reference_[static_cast<std::size_t>(body)].leftCols<3>());
    }
    Vec3 spin_of(int body) const {
        if (body < 0) return Vec3::Zero();
        return tenon::spin_of(model_.bodies.start_q[body], model_.bodies.start_rate[body]);
    }
    Vec3 velocity_at(int body, const Vec3& point) const {
        if (body < 0) return Vec3::Zero();
        return model_.bodies.start_rate[body].col(3) +
               spin_of(body).cross(Vec3(point - model_.bodies.start_q[body].col(3)));
    }

    void walk() {
        while (!queue_.empty()) {
            const int body = queue_.front();
            queue_.pop_front();
            for (const int j : node(body).joints) {
                const Joint& joint = model_.joints[static_cast<std::size_t>(j)];
                const int side = joint.bodies[0] == body ? 0 : 1, other = joint.bodies[1 - side];
                if (node(other).seen) continue;
                follow(joint, side);
                root(other);
            }
        }
    }

    // The rotation of a ball joint is about axes of the world at the start, carried by the first body.
    Mat3 ball_rotation(const Joint& joint) const {
        const std::vector<double>& s = joint.spec.start;
        if (s.empty()) return Mat3::Identity();
        const Mat3 frame = reference(joint.bodies[0]) * joint.frame[0];
        return frame.transpose() * Quat(s[0], s[1], s[2], s[3]).toRotationMatrix() * frame;
    }

    void follow(const Joint& joint, int side) {
        const JointSpec& spec = joint.spec;
        const int known = joint.bodies[side], other = joint.bodies[1 - side];
        Node &from = node(known), &to = node(other);
        to.moved = from.moved || !spec.start.empty();
        to.spun = from.spun || !spec.start_rate.empty();
        if (!to.moved && !to.spun) return;
        JointPlacement placement = joint_placement(spec.type, spec.start);
        if (spec.type == JointType::ball) placement.rotation = ball_rotation(joint);
        if (to.moved) move(joint, side, placement);
        if (to.spun) spin(joint, side);
    }

    void move(const Joint& joint, int side, const JointPlacement& placement) {
        const int known = joint.bodies[side], other = joint.bodies[1 - side];
        const Mat34 q = map(known);
        const Mat3 frame = q.leftCols<3>() * joint.frame[side];
        // side 0 knows the first frame; side 1 goes back from the second to the first
        const Mat3 rotation = side == 0 ? placement.rotation : Mat3(placement.rotation.transpose());
        const Mat3 other_frame = frame * rotation;
        const Vec3 displacement =
            side == 0 ? Vec3(frame * placement.displacement) : Vec3(-(other_frame * placement.displacement));
        const Vec3 anchor = transform(q, joint.point[side]) + displacement;
        Mat34& out = model_.bodies.start_q[other];
        const Mat3 raw = other_frame * joint.frame[1 - side].transpose();
        out.leftCols<3>() = Quat(raw).normalized().toRotationMatrix();
        out.col(3) = anchor - linear_part_times(out, joint.point[1 - side]);
    }

    void spin(const Joint& joint, int side) {
        const int known = joint.bodies[side], other = joint.bodies[1 - side];
        const int first = joint.bodies[0];
        const Mat3 frame = map(first).leftCols<3>() * joint.frame[0];
        JointTwist twist = joint_twist(joint.spec.type, joint.spec.start, joint.spec.start_rate);
        if (joint.spec.type == JointType::ball && joint.spec.start_rate.size() == 3)
            twist.spin = (reference(first) * joint.frame[0]).transpose() *
                         Vec3(joint.spec.start_rate[0], joint.spec.start_rate[1], joint.spec.start_rate[2]);
        const double sign = side == 0 ? 1.0 : -1.0;
        const Vec3 anchor = transform(map(joint.bodies[1]), joint.point[1]);
        const Vec3 omega = spin_of(known) + sign * (frame * twist.spin);
        const Vec3 velocity = velocity_at(known, anchor) + sign * (frame * twist.slide);
        Mat34& rate = model_.bodies.start_rate[other];
        const Mat34& q = model_.bodies.start_q[other];
        for (int k = 0; k < 3; ++k) rate.col(k) = omega.cross(Vec3(q.col(k)));
        rate.col(3) = velocity + omega.cross(Vec3(q.col(3) - anchor));
    }

    // Turns beyond half a circle are counted from where the joint is said to start.
    void set_coordinates() {
        for (Joint& joint : model_.joints) {
            const JointSpec& spec = joint.spec;
            if (spec.type == JointType::coupling || spec.type == JointType::distance) continue;
            const Mat34 qa = map(joint.bodies[0]), qb = map(joint.bodies[1]);
            for (int k = 0; k < joint_coordinate_count(spec.type); ++k) {
                const double value = joint_coordinate_value(joint, k, qa, qb);
                const bool counted = spec.type != JointType::ball && !spec.start.empty();
                joint.start_coordinate[k] = counted && coordinate_is_angle(spec.type, k)
                                                ? unwrapped(value, spec.start[static_cast<std::size_t>(k)])
                                                : value;
            }
        }
    }

    void check_loops() {
        const State state = initial_state(model_);
        const double allowed = closed * (1 + bounds(model_, state).diagonal());
        for (std::size_t j = 0; j < model_.joints.size(); ++j) {
            const Joint& joint = model_.joints[j];
            const JointSpec& spec = joint.spec;
            if (spec.type == JointType::coupling) {
                if (model_.joints[spec.joints[0]].spec.start.empty() &&
                    model_.joints[spec.joints[1]].spec.start.empty())
                    continue;
            } else if (!node(joint.bodies[0]).moved && !node(joint.bodies[1]).moved) {
                continue;
            }
            double gap = joint_residual(model_, state, static_cast<int>(j));
            for (std::size_t k = 0; spec.type != JointType::ball && k < spec.start.size(); ++k)
                gap = std::max(gap, std::abs(joint.start_coordinate[k] - spec.start[k]));
            if (gap > allowed)
                refuse(fmt::format("joints[{}]", j),
                       fmt::format("'{}' gapes by {:g} at the start positions of the joints", spec.name, gap),
                       spec.type == JointType::coupling ? "give positions that keep its ratio"
                                                        : "give positions that close the loop it is part of");
        }
    }

    Model& model_;
    const Scene& scene_;
    std::vector<Mat34> reference_;
    std::vector<Node> nodes_;  // bodies, then the world
    std::deque<int> queue_;
};

}  // namespace

JointPlacement joint_placement(JointType type, const std::vector<double>& q) {
    JointPlacement placement;
    switch (type) {
        case JointType::hinge:
            placement.rotation = turn(entry(q, 0), 0);
            break;
        case JointType::prismatic:
            placement.displacement.x() = entry(q, 0);
            break;
        case JointType::cylindrical:
            placement.rotation = turn(entry(q, 0), 0);
            placement.displacement.x() = entry(q, 1);
            break;
        case JointType::universal:
            placement.rotation = turn(entry(q, 0), 0) * turn(entry(q, 1), 1);
            break;
        case JointType::planar:
            placement.displacement = Vec3(0, entry(q, 0), entry(q, 1));
            placement.rotation = turn(entry(q, 2), 0);
            break;
        default:
            break;
    }
    return placement;
}

void apply_joint_starts(Model& model, const Scene& scene) {
    const bool any =
        !scene.start.empty() || std::any_of(model.joints.begin(), model.joints.end(), [](const Joint& joint) {
            return !joint.spec.start.empty() || !joint.spec.start_rate.empty();
        });
    if (any) Placer(model, scene).place();
}

}  // namespace tenon

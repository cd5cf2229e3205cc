#include "methods/affine/joints.hpp"

#include <algorithm>
#include <string>

#include "math/parallel.hpp"
#include "model/joint_rows.hpp"

namespace tenon::affine {
namespace {

bool moves(const State& state, int body) {
    return body >= 0 && state.type[body] != BodyType::static_body;
}

// Material points that stand for a joint, as offsets along its frame: 0, then one arm along each listed axis.
std::vector<Vec3> control_points(const Model& model, const Joint& joint, int side) {
    double arm = 1e300;  // as large as the smaller body, so that rows are well scaled
    for (const int body : joint.bodies)
        if (body >= 0) arm = std::min(arm, model.shape_of(body).radius);
    std::vector<Vec3> points{joint.point[side]};
    const auto add = [&](int axis) {
        points.push_back(joint.point[side] + arm * joint.frame[side].col(axis));
    };
    switch (joint.spec.type) {
        case JointType::hinge:
        case JointType::cylindrical:
            add(0);
            break;
        case JointType::fixed:
        case JointType::prismatic:
            for (int axis = 0; axis < 3; ++axis) add(axis);
            break;
        case JointType::planar:
            add(1);
            add(2);
            break;
        default:
            break;
    }
    return points;
}

// World directions along which the control points are held.
Mat3 held_directions(const Joint& joint, const State& state, int& count) {
    const int body = joint.bodies[0] >= 0 && !moves(state, joint.bodies[0]) ? joint.bodies[0] : -1;
    Mat3 frame = joint.frame[0];
    if (body >= 0) frame = state.q[body].leftCols<3>() * frame;
    if (!(joint.bodies[0] < 0 || body >= 0)) {  // the still side is the second one
        frame = joint.frame[1];
        if (joint.bodies[1] >= 0) frame = state.q[joint.bodies[1]].leftCols<3>() * frame;
    }
    Mat3 directions;
    switch (joint.spec.type) {
        case JointType::planar:
            count = 1;
            directions << frame.col(0), frame.col(1), frame.col(2);
            break;
        case JointType::cylindrical:
        case JointType::prismatic:
            count = 2;
            directions << frame.col(1), frame.col(2), frame.col(0);
            break;
        default:
            count = 3;
            directions.setIdentity();
    }
    return directions;
}

Vec12 point_row(const Vec3& local, const Vec3& direction) {
    Vec12 row;
    for (int k = 0; k < 3; ++k) row.segment<3>(3 * k) = local[k] * direction;
    row.tail<3>() = direction;
    return row;
}

}  // namespace

std::optional<Unsupported> unsupported_joint(const Scene& scene) {
    const auto still = [&](int body) { return body < 0 || scene.bodies[body].type == BodyType::static_body; };
    for (std::size_t i = 0; i < scene.joints.size(); ++i) {
        const JointSpec& joint = scene.joints[i];
        const std::string path = "joints[" + std::to_string(i) + "]";
        const std::string cure = "use --method articulated";
        const bool grounded = still(joint.bodies[0]) || still(joint.bodies[1]);
        switch (joint.type) {
            case JointType::ball:
            case JointType::hinge:
            case JointType::fixed:
                break;
            case JointType::planar:
            case JointType::cylindrical:
            case JointType::prismatic:
                if (grounded) break;
                return Unsupported{
                    path, "the affine method has this joint only against the world or a static body", cure};
            default:
                return Unsupported{path + ".type", "the affine method has no such joint", cure};
        }
        if (joint.twist || joint.bend)
            return Unsupported{path, "the affine method has no joint springs", cure};
        if (joint.break_force < 1e299 || joint.break_torque < 1e299)
            return Unsupported{path, "the affine method has no joints that break", cure};
        for (const DriveSpec& drive : joint.drives) {
            if (drive.limits || drive.spring || drive.friction != 0 || drive.armature != 0)
                return Unsupported{
                    path, "the affine method has no limits, springs, friction or armature in joints", cure};
            if (drive.motor.stiffness != 0 || drive.motor.damping != 0)
                return Unsupported{path, "the affine method has no motors with gains", cure};
            const bool motor = drive.motor.type != MotorSpec::Type::none;
            if (motor && (joint.type != JointType::hinge || drive.motor.type == MotorSpec::Type::position))
                return Unsupported{path, "the affine method has velocity and force motors on hinges only",
                                   cure};
        }
    }
    return std::nullopt;
}

std::vector<ConstraintRow> constraint_rows(const Model& model, const State& state) {
    std::vector<ConstraintRow> rows;
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const Joint& joint = model.joints[j];
        const auto [a, b] = joint.bodies;
        if (!moves(state, a) || !moves(state, b)) continue;
        const std::vector<Vec3> on_a = control_points(model, joint, 0),
                                on_b = control_points(model, joint, 1);
        for (std::size_t k = 0; k < on_a.size(); ++k)
            for (int axis = 0; axis < 3; ++axis) {
                const Vec3 direction = Vec3::Unit(axis);
                rows.push_back({a, b, point_row(on_a[k], direction), -point_row(on_b[k], direction),
                                static_cast<int>(j), direction, on_b[k] - joint.point[1]});
            }
    }
    return rows;
}

std::vector<Vec12> world_constraint_rows(const Model& model, const State& state, const Joint& joint,
                                         int side) {
    int count = 0;
    const Mat3 directions = held_directions(joint, state, count);
    std::vector<Vec12> rows;
    for (const Vec3& point : control_points(model, joint, side))
        for (int k = 0; k < count; ++k) rows.push_back(point_row(point, directions.col(k)));
    if (joint.spec.type == JointType::prismatic)  // no turning, no stretching along the rail
        for (int k = 0; k < 9; ++k) rows.push_back(Vec12::Unit(k));
    return rows;
}

int world_joint_side(const State& state, const Joint& joint, int body) {
    for (const int side : {0, 1})
        if (joint.bodies[side] == body && !moves(state, joint.bodies[1 - side])) return side;
    return -1;
}

void add_world_joints(HoldBuilder& hold, const Model& model, const State& state, int body) {
    for (const Joint& joint : model.joints) {
        const int side = world_joint_side(state, joint, body);
        if (side < 0) continue;
        for (const Vec12& row : world_constraint_rows(model, state, joint, side)) hold.fix_row(row);
    }
}

void write_joint_coordinates(const Model& model, State& state, Outputs& outputs) {
    parallel_for(model.joints.size(), 1024, [&](std::size_t j) {
        const Joint& joint = model.joints[j];
        const JointType type = joint.spec.type;
        const int count = type == JointType::distance ? 1 : joint_coordinate_count(type);
        for (int k = 0; k < count; ++k) {
            const JointCoordinate c =
                joint_coordinate(joint, k, side_map(state, joint, 0), side_map(state, joint, 1));
            const bool turns = coordinate_is_angle(type, k) && !(type == JointType::ball && k == 0);
            double& value = state.joint_coordinate[j][k];
            value = turns ? unwrapped(c.value, value) : c.value;
            double rate = 0.0;
            for (int side = 0; side < 2; ++side)
                if (joint.bodies[side] >= 0)
                    rate += c.gradient[side].cwiseProduct(state.rate[joint.bodies[side]]).sum();
            outputs.joints[j].coordinate_rate[k] = rate;
        }
    });
}

}  // namespace tenon::affine

#include "model/sensors.hpp"

#include "geometry/surface_distance.hpp"
#include "math/rotation.hpp"
#include "model/joint_rows.hpp"

namespace tenon {
namespace {

// What sensors look at.
struct Now {
    const Model& model;
    const State& state;
    const Outputs& outputs;
};

// The sensor's frame in the world.
struct Place {
    Vec3 origin;
    Mat3 axes;
    Vec3 local;  // in the body frame
};

Place place_of(const SensorSpec& sensor, const Now& now) {
    const Pose& geometry = now.model.shape_of(sensor.body).geometry_frame;
    const Mat34& q = now.state.q[sensor.body];
    const Vec3 local = geometry.position + geometry.rotation * sensor.point;
    return {transform(q, local), q.leftCols<3>() * (geometry.rotation * sensor.rotation).toRotationMatrix(),
            local};
}

using Values = std::vector<double>;

void append(Values& out, const Vec3& v) {
    out.insert(out.end(), {v.x(), v.y(), v.z()});
}

Values frame_values(const SensorSpec& sensor, const Now& now, const std::vector<Mat34>& before, double dt) {
    const Place place = place_of(sensor, now);
    const Mat34 &q = now.state.q[sensor.body], &rate = now.state.rate[sensor.body];
    Values out;
    if (sensor.type == SensorSpec::Type::pose) {
        const Quat turned = Quat(place.axes).normalized();
        append(out, place.origin);
        out.insert(out.end(), {turned.w(), turned.x(), turned.y(), turned.z()});
        return out;
    }
    const Vec3 velocity = transform(rate, place.local);
    if (sensor.type == SensorSpec::Type::velocity) {
        const Vec3 spin = spin_of(q, rate);
        const Mat3 to = sensor.body_frame ? Mat3(place.axes.transpose()) : Mat3(Mat3::Identity());
        append(out, to * velocity);
        append(out, to * spin);
        return out;
    }
    const Vec3 earlier = transform(before[static_cast<std::size_t>(sensor.body)], place.local);
    append(out, place.axes.transpose() * ((velocity - earlier) / dt - now.state.gravity));
    return out;
}

double joint_value(const SensorSpec& sensor, const Now& now) {
    const Joint& joint = now.model.joints[static_cast<std::size_t>(sensor.joint)];
    const JointOutput& carried = now.outputs.joints[static_cast<std::size_t>(sensor.joint)];
    const int k = sensor.coordinate;
    const Mat34 &qa = side_map(now.state, joint, 0), &qb = side_map(now.state, joint, 1);
    const JointCoordinate c = joint_coordinate(joint, k, qa, qb);
    const bool turns =
        coordinate_is_angle(joint.spec.type, k) && !(joint.spec.type == JointType::ball && k == 0);
    if (sensor.type == SensorSpec::Type::joint_position)
        return turns
                   ? unwrapped(c.value, now.state.joint_coordinate[static_cast<std::size_t>(sensor.joint)][k])
                   : c.value;
    double sum = 0;
    if (sensor.type == SensorSpec::Type::joint_velocity) {
        for (int side = 0; side < 2; ++side)
            if (joint.bodies[side] >= 0)
                sum += c.gradient[side].cwiseProduct(now.state.rate[joint.bodies[side]]).sum();
        return sum;
    }
    // virtual work of what acts on the second side, per change of the coordinate: along the axis it turns about
    // or slides along
    const Mat3 frame = qa.leftCols<3>() * joint.frame[0];
    switch (joint.spec.type) {
        case JointType::prismatic:
            return carried.force.dot(frame.col(0));
        case JointType::distance:  // its gradient at the second anchor is the direction from the first
            return carried.force.dot(c.gradient[1].col(3));
        case JointType::cylindrical:
            return k == 0 ? carried.torque.dot(frame.col(0)) : carried.force.dot(frame.col(0));
        case JointType::planar:
            return k < 2 ? carried.force.dot(frame.col(k + 1)) : carried.torque.dot(frame.col(0));
        case JointType::universal:
            return carried.torque.dot(k == 0 ? Vec3(frame.col(0))
                                             : Vec3(qb.leftCols<3>() * joint.frame[1].col(1)));
        default:
            return carried.torque.dot(frame.col(0));
    }
}

Values force_torque(const SensorSpec& sensor, const Now& now) {
    const Joint& joint = now.model.joints[static_cast<std::size_t>(sensor.joint)];
    const JointOutput& carried = now.outputs.joints[static_cast<std::size_t>(sensor.joint)];
    Mat3 to = Mat3::Identity();
    if (sensor.body_frame && joint.bodies[1] >= 0) {
        const int body = joint.bodies[1];
        to = (now.state.q[body].leftCols<3>() *
              now.model.shape_of(body).geometry_frame.rotation.toRotationMatrix())
                 .transpose();
    }
    Values out;
    append(out, to * carried.force);
    append(out, to * carried.torque);
    return out;
}

Vec3 contact_force(const SensorSpec& sensor, const Now& now) {
    Vec3 sum = Vec3::Zero();
    for (const Contact& contact : now.outputs.contacts) {
        if (contact.b == sensor.body && (sensor.other < 0 || contact.a == sensor.other)) sum += contact.force;
        if (contact.a == sensor.body && (sensor.other < 0 || contact.b == sensor.other)) sum -= contact.force;
    }
    return sum;
}

double distance(const SensorSpec& sensor, const Now& now) {
    const auto placed = [&](int body) {
        std::vector<Vec3> x = now.model.shape_of(body).mesh.vertices;
        for (Vec3& vertex : x) vertex = transform(now.state.q[body], vertex);
        return x;
    };
    return geometry::surface_distance(now.model.shape_of(sensor.body).mesh, placed(sensor.body),
                                      now.model.shape_of(sensor.other).mesh, placed(sensor.other));
}

}  // namespace

const std::vector<std::string>& sensor_components(SensorSpec::Type type) {
    static const std::vector<std::string> pose = {"x", "y", "z", "qw", "qx", "qy", "qz"},
                                          velocity = {"vx", "vy", "vz", "wx", "wy", "wz"},
                                          acceleration = {"ax", "ay", "az"}, force = {"fx", "fy", "fz"},
                                          wrench = {"fx", "fy", "fz", "tx", "ty", "tz"}, one = {""};
    switch (type) {
        case SensorSpec::Type::pose:
            return pose;
        case SensorSpec::Type::velocity:
            return velocity;
        case SensorSpec::Type::acceleration:
            return acceleration;
        case SensorSpec::Type::force_torque:
            return wrench;
        case SensorSpec::Type::contact_force:
            return force;
        default:
            return one;
    }
}

const char* sensor_unit(SensorSpec::Type type, const std::string& component) {
    const char kind = component.empty() ? ' ' : component[0];
    switch (type) {
        case SensorSpec::Type::pose:
            return kind == 'q' ? "" : "m";
        case SensorSpec::Type::velocity:
            return kind == 'w' ? "rad/s" : "m/s";
        case SensorSpec::Type::acceleration:
            return "m/s2";
        case SensorSpec::Type::joint_position:
            return "m or rad";
        case SensorSpec::Type::joint_velocity:
            return "m/s or rad/s";
        case SensorSpec::Type::joint_torque:
            return "N or N m";
        case SensorSpec::Type::force_torque:
            return kind == 't' ? "N m" : "N";
        case SensorSpec::Type::contact_force:
            return "N";
        case SensorSpec::Type::distance:
            return "m";
    }
    return "";
}

std::vector<std::pair<std::string, double>> read_sensors(const std::vector<SensorSpec>& sensors,
                                                         const Model& model, const State& state,
                                                         const Outputs& outputs,
                                                         const std::vector<Mat34>& rate_before, double dt) {
    const Now now{model, state, outputs};
    std::vector<std::pair<std::string, double>> all;
    for (const SensorSpec& sensor : sensors) {
        Values values;
        switch (sensor.type) {
            case SensorSpec::Type::pose:
            case SensorSpec::Type::velocity:
            case SensorSpec::Type::acceleration:
                values = frame_values(sensor, now, rate_before, dt);
                break;
            case SensorSpec::Type::force_torque:
                values = force_torque(sensor, now);
                break;
            case SensorSpec::Type::contact_force:
                append(values, contact_force(sensor, now));
                break;
            case SensorSpec::Type::distance:
                values = {distance(sensor, now)};
                break;
            default:
                values = {joint_value(sensor, now)};
        }
        const std::vector<std::string>& names = sensor_components(sensor.type);
        for (std::size_t k = 0; k < names.size(); ++k)
            all.emplace_back("sensor." + sensor.name + (names[k].empty() ? "" : "." + names[k]), values[k]);
    }
    return all;
}

}  // namespace tenon

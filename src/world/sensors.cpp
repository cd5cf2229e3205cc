#include "world/sensors.hpp"

#include "geometry/surface_distance.hpp"
#include "world/joint_rows.hpp"

namespace tenon {
namespace {

Vec3 axial(const Mat3& w) {
    return 0.5 * Vec3(w(2, 1) - w(1, 2), w(0, 2) - w(2, 0), w(1, 0) - w(0, 1));
}

// The sensor's frame in the world.
struct Place {
    Vec3 origin;
    Mat3 axes;
    Vec3 local;  // in the body frame
};

Place place_of(const SensorSpec& sensor, const World& world) {
    const Pose& geometry = world.shape_of(sensor.body).geometry_frame;
    const Mat34& q = world.bodies.q[sensor.body];
    const Vec3 local = geometry.position + geometry.rotation * sensor.point;
    return {transform(q, local), q.leftCols<3>() * (geometry.rotation * sensor.rotation).toRotationMatrix(),
            local};
}

using Values = std::vector<double>;

void append(Values& out, const Vec3& v) {
    out.insert(out.end(), {v.x(), v.y(), v.z()});
}

Values frame_values(const SensorSpec& sensor, const World& world, const std::vector<Mat34>& before,
                    double dt) {
    const Place place = place_of(sensor, world);
    const Mat34 &q = world.bodies.q[sensor.body], &rate = world.bodies.rate[sensor.body];
    Values out;
    if (sensor.type == SensorSpec::Type::pose) {
        const Quat turned = Quat(place.axes).normalized();
        append(out, place.origin);
        out.insert(out.end(), {turned.w(), turned.x(), turned.y(), turned.z()});
        return out;
    }
    const Vec3 velocity = transform(rate, place.local);
    if (sensor.type == SensorSpec::Type::velocity) {
        const Vec3 spin = axial(rate.leftCols<3>() * q.leftCols<3>().transpose());
        const Mat3 to = sensor.body_frame ? Mat3(place.axes.transpose()) : Mat3(Mat3::Identity());
        append(out, to * velocity);
        append(out, to * spin);
        return out;
    }
    const Vec3 earlier = transform(before[static_cast<std::size_t>(sensor.body)], place.local);
    append(out, place.axes.transpose() * ((velocity - earlier) / dt - world.gravity));
    return out;
}

double joint_value(const SensorSpec& sensor, const World& world) {
    const Joint& joint = world.joints[static_cast<std::size_t>(sensor.joint)];
    const int k = sensor.coordinate;
    const Mat34 &qa = side_map(world, joint, 0), &qb = side_map(world, joint, 1);
    const JointCoordinate c = joint_coordinate(joint, k, qa, qb);
    const bool turns =
        coordinate_is_angle(joint.spec.type, k) && !(joint.spec.type == JointType::ball && k == 0);
    if (sensor.type == SensorSpec::Type::joint_position)
        return turns ? unwrapped(c.value, joint.coordinate[k]) : c.value;
    double sum = 0;
    if (sensor.type == SensorSpec::Type::joint_velocity) {
        for (int side = 0; side < 2; ++side)
            if (joint.bodies[side] >= 0)
                sum += c.gradient[side].cwiseProduct(world.bodies.rate[joint.bodies[side]]).sum();
        return sum;
    }
    // virtual work of what acts on the second side, per change of the coordinate: along the axis it turns about
    // or slides along
    const Mat3 frame = qa.leftCols<3>() * joint.frame[0];
    switch (joint.spec.type) {
        case JointType::prismatic:
            return joint.force.dot(frame.col(0));
        case JointType::cylindrical:
            return k == 0 ? joint.torque.dot(frame.col(0)) : joint.force.dot(frame.col(0));
        case JointType::planar:
            return k < 2 ? joint.force.dot(frame.col(k + 1)) : joint.torque.dot(frame.col(0));
        case JointType::universal:
            return joint.torque.dot(k == 0 ? Vec3(frame.col(0))
                                           : Vec3(qb.leftCols<3>() * joint.frame[1].col(1)));
        default:
            return joint.torque.dot(frame.col(0));
    }
}

Values force_torque(const SensorSpec& sensor, const World& world) {
    const Joint& joint = world.joints[static_cast<std::size_t>(sensor.joint)];
    Mat3 to = Mat3::Identity();
    if (sensor.body_frame && joint.bodies[1] >= 0) {
        const int body = joint.bodies[1];
        to = (world.bodies.q[body].leftCols<3>() *
              world.shape_of(body).geometry_frame.rotation.toRotationMatrix())
                 .transpose();
    }
    Values out;
    append(out, to * joint.force);
    append(out, to * joint.torque);
    return out;
}

Vec3 contact_force(const SensorSpec& sensor, const World& world) {
    Vec3 sum = Vec3::Zero();
    for (const Contact& contact : world.contacts) {
        if (contact.b == sensor.body && (sensor.other < 0 || contact.a == sensor.other)) sum += contact.force;
        if (contact.a == sensor.body && (sensor.other < 0 || contact.b == sensor.other)) sum -= contact.force;
    }
    return sum;
}

double distance(const SensorSpec& sensor, const World& world) {
    const auto placed = [&](int body) {
        std::vector<Vec3> x = world.shape_of(body).mesh.vertices;
        for (Vec3& vertex : x) vertex = transform(world.bodies.q[body], vertex);
        return x;
    };
    return geometry::surface_distance(world.shape_of(sensor.body).mesh, placed(sensor.body),
                                      world.shape_of(sensor.other).mesh, placed(sensor.other));
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
                                                         const World& world,
                                                         const std::vector<Mat34>& rate_before, double dt) {
    std::vector<std::pair<std::string, double>> all;
    for (const SensorSpec& sensor : sensors) {
        Values values;
        switch (sensor.type) {
            case SensorSpec::Type::pose:
            case SensorSpec::Type::velocity:
            case SensorSpec::Type::acceleration:
                values = frame_values(sensor, world, rate_before, dt);
                break;
            case SensorSpec::Type::force_torque:
                values = force_torque(sensor, world);
                break;
            case SensorSpec::Type::contact_force:
                append(values, contact_force(sensor, world));
                break;
            case SensorSpec::Type::distance:
                values = {distance(sensor, world)};
                break;
            default:
                values = {joint_value(sensor, world)};
        }
        const std::vector<std::string>& names = sensor_components(sensor.type);
        for (std::size_t k = 0; k < names.size(); ++k)
            all.emplace_back("sensor." + sensor.name + (names[k].empty() ? "" : "." + names[k]), values[k]);
    }
    return all;
}

}  // namespace tenon

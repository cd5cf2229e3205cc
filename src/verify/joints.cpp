#include "verify/joints.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <Eigen/LU>
#include <nlohmann/json.hpp>

#include "math/rotation.hpp"
#include "tenon/error.hpp"

namespace tenon::verify {
namespace {

using Json = nlohmann::json;

Vec3 vector_or(const Json& object, const char* key, const Vec3& fallback) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_array() || found->size() != 3) return fallback;
    return {(*found)[0].get<double>(), (*found)[1].get<double>(), (*found)[2].get<double>()};
}

// Axis first; the second direction is `axis_b` or, without it, x (y when the axis lies near x), made perpendicular.
Mat3 joint_frame(const Json& joint) {
    const Vec3 axis = vector_or(joint, "axis", Vec3::UnitZ()).normalized();
    const Vec3 seed = std::abs(axis.x()) < 0.6 ? Vec3::UnitX() : Vec3::UnitY();
    const Vec3 other = vector_or(joint, "axis_b", seed);
    const Vec3 second = (other - axis * axis.dot(other)).normalized();
    Mat3 frame;
    frame.col(0) = axis;
    frame.col(1) = second;
    frame.col(2) = axis.cross(second);
    return frame;
}

// Sine of the angle between two directions whose lengths may be a little off one.
double angle_sine(const Vec3& a, const Vec3& b) {
    return a.cross(b).norm() / (a.norm() * b.norm());
}

double cosine(const Vec3& a, const Vec3& b) {
    return a.dot(b) / (a.norm() * b.norm());
}

double unwound(double angle, double expected) {
    return angle + 2 * M_PI * std::round((expected - angle) / (2 * M_PI));
}

// Which coordinates of a joint type are lengths, and so in the scene's unit.
bool is_length(const std::string& type, int coordinate) {
    return type == "prismatic" || type == "distance" || (type == "cylindrical" && coordinate == 1) ||
           (type == "planar" && coordinate < 2);
}

}  // namespace

void JointAudit::read_limits(const nlohmann::json& json, double unit, Entry& joint) {
    const auto read = [&](const Json& drive, int k) {
        const auto limits = drive.find("limits");
        if (limits == drive.end() || !limits->is_array() || limits->size() != 2) return;
        const double scale = is_length(joint.type, k) ? unit : 1.0;
        joint.lowest[k] = scale * (*limits)[0].get<double>();
        joint.highest[k] = scale * (*limits)[1].get<double>();
    };
    read(json, 0);
    const auto drives = json.find("drives");
    if (drives == json.end() || !drives->is_array()) return;
    for (std::size_t k = 0; k < std::min<std::size_t>(3, drives->size()); ++k)
        if ((*drives)[k].is_object()) read((*drives)[k], static_cast<int>(k));
}

double JointAudit::limit_excess(std::size_t index) const {
    const Entry& joint = joints_[index];
    if (joint.broken || joint.type == "coupling") return 0.0;
    double excess = 0;
    for (int k = 0; k < 3; ++k)
        excess = std::max({excess, joint.lowest[k] - joint.value[k], joint.value[k] - joint.highest[k]});
    return excess;
}

JointAudit::JointAudit(const run::RunReader& run, const nlohmann::json& scene, const run::Frame& first)
    : last_time_(first.time) {
    const auto list = scene.find("joints");
    if (list == scene.end()) return;
    const double unit = scene.value("units", "m") == "mm" ? 1e-3 : 1.0;
    std::unordered_map<std::string, int> body_index, joint_index;
    for (std::size_t i = 0; i < run.bodies().size(); ++i)
        body_index[run.bodies()[i].name] = static_cast<int>(i);
    for (std::size_t i = 0; i < list->size(); ++i) {
        const Json& json = (*list)[i];
        Entry joint;
        joint.name = json.value("name", "joint-" + std::to_string(i));
        joint.type = json.value("type", "ball");
        joint.breakable = json.contains("break_force") || json.contains("break_torque");
        joint_index[joint.name] = static_cast<int>(i);
        if (joint.type == "coupling") {
            for (int k = 0; k < 2; ++k)
                if (json.contains("coordinates")) joint.coordinate[k] = json["coordinates"][k].get<int>();
            joint.ratio = json.value("ratio", 1.0);
            joint.offset = json.value("offset", 0.0);
            joints_.push_back(joint);
            continue;
        }
        read_limits(json, unit, joint);
        for (const char* key : {"drives", "limits", "spring", "friction", "armature", "motor"})
            joint.driven = joint.driven || (json.contains(key) && !json[key].empty());
        const Mat3 frame = joint_frame(json);
        const Vec3 point = unit * vector_or(json, "point", Vec3::Zero());
        const std::array<Vec3, 2> anchor{
            point, json.contains("point_b") ? Vec3(unit * vector_or(json, "point_b", Vec3::Zero())) : point};
        joint.length = (anchor[1] - anchor[0]).norm();
        for (int k = 0; k < 2; ++k) {
            const std::string name = json["bodies"][k].get<std::string>();
            Side& side = joint.side[k];
            side.point = anchor[k];
            side.frame = frame;
            if (name == "world") continue;
            const auto found = body_index.find(name);
            if (found == body_index.end())
                throw InputError(run.file(), "joints[" + std::to_string(i) + "]",
                                 "names a body that the run lacks", "run the scene again");
            side.body = found->second;
            const Mat34& q = first.q[side.body];
            const Mat3 inverse = Mat3(q.leftCols<3>()).inverse();
            side.point = inverse * (anchor[k] - q.col(3));
            side.frame = inverse * frame;
        }
        joints_.push_back(joint);
    }
    // A run that another one handed over starts with turns already made; angles themselves are never taken from the record.
    if (first.time > 0.0 && first.joint_coordinate.size() == joints_.size())
        for (std::size_t i = 0; i < joints_.size(); ++i) joints_[i].value = first.joint_coordinate[i];
    // Couplings may name joints that come after them.
    for (std::size_t i = 0; i < joints_.size(); ++i)
        if (joints_[i].type == "coupling")
            for (int k = 0; k < 2; ++k)
                joints_[i].coupled[k] = joint_index.at((*list)[i]["joints"][k].get<std::string>());
}

JointAudit::Seen JointAudit::see(const run::Frame& frame, const Side& side) const {
    if (side.body < 0) return {side.point, Vec3::Zero(), Vec3::Zero(), side.frame};
    const Mat34 &q = frame.q[side.body], &rate = frame.rate[side.body];
    return {q.leftCols<3>() * side.point + q.col(3), rate.leftCols<3>() * side.point + rate.col(3),
            spin_of(q, rate), q.leftCols<3>() * side.frame};
}

double JointAudit::residual(const Entry& joint, const Seen& a, const Seen& b) const {
    const Vec3 gap = b.point - a.point;
    const Vec3 axis = a.frame.col(0).normalized();
    // A strained body's rail is no better defined than its axes are perpendicular: its own direction, or across the others.
    const double skew =
        std::abs(cosine(a.frame.col(0), a.frame.col(1))) + std::abs(cosine(a.frame.col(0), a.frame.col(2)));
    const double apart = gap.norm(), along = std::abs(axis.dot(gap)),
                 across = std::max(0.0, (gap - axis * axis.dot(gap)).norm() - along * skew);
    const double bent = angle_sine(a.frame.col(0), b.frame.col(0));
    const double twisted = std::abs(cosine(a.frame.col(1), b.frame.col(2)));
    const std::string& type = joint.type;
    if (type == "ball") return apart;
    if (type == "hinge") return std::max(apart, bent);
    if (type == "universal") return std::max(apart, std::abs(cosine(a.frame.col(0), b.frame.col(1))));
    if (type == "prismatic") return std::max({across, bent, twisted});
    if (type == "fixed") return std::max({apart, bent, twisted});
    if (type == "cylindrical") return std::max(across, bent);
    if (type == "planar") return std::max(along, bent);
    if (type == "distance") return joint.driven ? 0.0 : std::abs(apart - joint.length);
    return 0.0;
}

// Angles are unwound by what the recorded spin says about the time since the last frame.
void JointAudit::update_coordinates(Entry& joint, const Seen& a, const Seen& b, double seconds) const {
    const Vec3 gap = b.point - a.point;
    const auto angle = [&](const Vec3& axis, double sine, double cos, int k) {
        const double expected = joint.value[k] + seconds * axis.dot(b.spin - a.spin);
        return unwound(std::atan2(sine, cos), expected);
    };
    const Vec3 fa0 = a.frame.col(0), fa1 = a.frame.col(1), fa2 = a.frame.col(2);
    const Vec3 fb1 = b.frame.col(1), fb2 = b.frame.col(2);
    const auto twist = [&](int k) {
        return angle(fa0, fa2.dot(fb1) - fa1.dot(fb2), fa1.dot(fb1) + fa2.dot(fb2), k);
    };
    const std::string& type = joint.type;
    if (type == "hinge") {
        joint.value[0] = twist(0);
    } else if (type == "ball") {
        joint.value[0] = std::atan2(fa0.cross(b.frame.col(0)).norm(), fa0.dot(b.frame.col(0)));
        joint.value[1] = twist(1);
    } else if (type == "prismatic") {
        joint.value[0] = fa0.dot(gap);
    } else if (type == "cylindrical") {
        joint.value[0] = twist(0);
        joint.value[1] = fa0.dot(gap);
    } else if (type == "planar") {
        joint.value[0] = fa1.dot(gap);
        joint.value[1] = fa2.dot(gap);
        joint.value[2] = twist(2);
    } else if (type == "distance") {
        joint.value[0] = gap.norm();
    } else if (type == "universal") {
        joint.value[0] = angle(fa0, fa2.dot(fb1), fa1.dot(fb1), 0);
        joint.value[1] = angle(fb1, b.frame.col(2).dot(fa0), b.frame.col(0).dot(fa0), 1);
    }
}

std::vector<double> JointAudit::residuals(const run::Frame& frame, double tolerance) {
    std::vector<double> all(joints_.size(), 0.0);
    const double seconds = frame.time - last_time_;
    last_time_ = frame.time;
    for (std::size_t i = 0; i < joints_.size(); ++i) {
        Entry& joint = joints_[i];
        if (joint.type == "coupling") continue;
        const Seen a = see(frame, joint.side[0]), b = see(frame, joint.side[1]);
        update_coordinates(joint, a, b, seconds);
        if (!joint.broken) all[i] = residual(joint, a, b);
    }
    for (std::size_t i = 0; i < joints_.size(); ++i) {
        Entry& joint = joints_[i];
        if (joint.type == "coupling" && !joint.broken) {
            const double first = joints_[joint.coupled[0]].value[joint.coordinate[0]];
            const double second = joints_[joint.coupled[1]].value[joint.coordinate[1]];
            all[i] = std::abs(second - joint.ratio * first - joint.offset);
        }
        if (joint.breakable && all[i] > tolerance) {
            joint.broken = true;
            all[i] = 0.0;
        }
    }
    return all;
}

}  // namespace tenon::verify

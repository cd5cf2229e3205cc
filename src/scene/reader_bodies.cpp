#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "scene/reader.hpp"
#include "tenon/inertia.hpp"

namespace tenon::scene {
namespace {

std::array<bool, 6> read_fixed(const Value& value) {
    std::array<bool, 6> fixed{};
    if (value.is_flag()) {
        fixed.fill(value.flag());
        return fixed;
    }
    if (!value.is_list()) return fixed;
    static const std::array<std::string, 6> names = {"x", "y", "z", "rx", "ry", "rz"};
    const List& entries = value.list();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].is_flag())
            fixed[i] = entries[i].flag();
        else
            fixed[static_cast<std::size_t>(std::find(names.begin(), names.end(), entries[i].text()) -
                                           names.begin())] = true;
    }
    return fixed;
}

Mat3 read_matrix(const Value& value) {
    Mat3 m;
    if (value.is_list()) {
        for (int i = 0; i < 3; ++i) m.row(i) = to_vec3(value.list()[static_cast<std::size_t>(i)]);
        return 0.5 * (m + m.transpose());
    }
    const Numbers& n = value.numbers();
    m << n[0], n[1], n[2], n[1], n[3], n[4], n[2], n[4], n[5];
    return m;
}

bool has_geometry(const Value& body) {
    for (const char* key : {"shape", "mesh", "vertices", "parts"})
        if (body.find(key)) return true;
    return false;
}

// A body that moves needs mass and inertia from somewhere; a frame that stays or is scripted needs none.
bool may_lack_geometry(BodyType type, const Value& body) {
    return (body.find("mass") && body.find("inertia")) ||
           (type != BodyType::dynamic_body && !body.find("kinematic_until"));
}

}  // namespace

void Reader::read_bodies(const Where& where, Value& bodies) {
    if (!bodies.is_list()) return;
    scene_.bodies.reserve(bodies.list().size());
    scene_.body_lookup.reserve(bodies.list().size());
    for (std::size_t i = 0; i < bodies.list().size(); ++i) {
        const Where entry = where / static_cast<long>(i);
        BodySpec body = read_body(entry, bodies.list()[i]);
        if (body.name == "world")
            context_.fail(entry / "name", "'world' is the name of the fixed frame", "choose another name");
        scene_.add_body(std::move(body));
    }
}

BodySpec Reader::read_body(const Where& where, Value& value) {
    BodySpec body;
    if (const Value* name = value.find("name")) {
        body.name = name->text();
        if (body.name.empty()) context_.fail(where / "name", "is empty", "give a name, or leave the key out");
    }
    if (const Value* type = value.find("type"))
        body.type = type->text() == "static"      ? BodyType::static_body
                    : type->text() == "kinematic" ? BodyType::kinematic_body
                                                  : BodyType::dynamic_body;
    if (has_geometry(value) || !may_lack_geometry(body.type, value))
        body.geometry = geometry_of(where, value);
    if (const Value* material = value.find("material"))
        body.material = material_index(where / "material", material->text());
    body.position = vec3_or(value, "position", body.position);
    body.rotation = read_rotation(where, value);
    body.linear_velocity = vec3_or(value, "linear_velocity", body.linear_velocity);
    body.angular_velocity = vec3_or(value, "angular_velocity", body.angular_velocity);
    if (const Value* density = value.find("density")) body.density = density->number();
    if (const Value* mass = value.find("mass")) body.mass = mass->number();
    if (const Value* friction = value.find("friction")) body.friction = friction->number();
    if (const Value* restitution = value.find("restitution")) body.restitution = restitution->number();
    if (const Value* inertia = value.find("inertia"))
        body.inertia = read_inertia(where / "inertia", *inertia);
    if (const Value* fixed = value.find("fixed")) body.fixed = read_fixed(*fixed);
    body.group = text_or(value, "group", "");
    body.collides = flag_or(value, "collides", true);
    body.min_separation = number_or(value, "min_separation", 0.0);
    if (const Value* motion = value.find("motion"); motion && motion->is_list()) {
        body.motion = read_motion(where / "motion", *motion, {0.0, body.position, body.rotation});
        if (!value.find("position")) body.position = body.motion.front().position;
        if (!value.find("rotation") && !value.find("rotation_euler"))
            body.rotation = body.motion.front().rotation;
    }
    body.kinematic_until = number_or(value, "kinematic_until", body.kinematic_until);
    read_color(value, body.color);
    check_body(where, value, body);
    return body;
}

void Reader::check_body(const Where& where, const Value& value, const BodySpec& body) const {
    if (body.mass && body.density)
        context_.fail(where / "density", "is given besides a mass", "keep one of the two");
    if (body.geometry < 0)
        for (const char* key : {"scale", "thickness", "repair", "density", "triangles", "edges", "points"})
            if (value.find(key))
                context_.fail(where / key, "belongs to a geometry, and the body has none",
                              "add one of \"shape\", \"mesh\", \"vertices\" or \"parts\"");
    const bool moves = !body.linear_velocity.isZero(0.0) || !body.angular_velocity.isZero(0.0);
    const bool released = body.type == BodyType::kinematic_body && value.find("kinematic_until");
    if (body.type != BodyType::dynamic_body && moves && !released)
        context_.fail(where / (body.linear_velocity.isZero(0.0) ? "angular_velocity" : "linear_velocity"),
                      fmt::format("a {} body does not start with a velocity", value.find("type")->text()),
                      body.type == BodyType::static_body
                          ? "make it \"dynamic\", or \"kinematic\" with a \"motion\""
                          : "give its \"motion\" by keyframes, or \"kinematic_until\" to release it");
    if (body.type == BodyType::kinematic_body) return;
    for (const char* key : {"motion", "kinematic_until"})
        if (value.find(key))
            context_.fail(where / key, "belongs to a kinematic body", "add \"type\": \"kinematic\"");
}

InertiaSpec Reader::read_inertia(const Where& where, const Value& value) const {
    InertiaSpec inertia;
    inertia.center = vec3_or(value, "center", inertia.center);
    const Value *given = value.find("moments"), *matrix = value.find("matrix");
    if (!given == !matrix)
        context_.fail(where,
                      given ? "has both \"moments\" and \"matrix\"" : "has no 'moments' and no 'matrix'",
                      "give one of the two");
    if (matrix && value.find("axes"))
        context_.fail(where / "axes", "belongs to \"moments\"", "a \"matrix\" has its own axes");
    if (given) inertia.moments = to_vec3(*given);
    if (const Value* axes = value.find("axes")) inertia.axes = read_quaternion(where / "axes", *axes);
    if (matrix) {
        const InertiaSpec principal = principal_inertia(read_matrix(*matrix));
        inertia.moments = principal.moments;
        inertia.axes = principal.axes;
        if (!(inertia.moments.minCoeff() > 0))
            context_.fail(where / "matrix",
                          fmt::format("has the principal moments {:g}, {:g}, {:g}", inertia.moments[0],
                                      inertia.moments[1], inertia.moments[2]),
                          "all must be above 0");
    }
    const Vec3& moments = inertia.moments;
    if (2 * moments.maxCoeff() > moments.sum() * (1 + 1e-12))
        context_.fail(where / (matrix ? "matrix" : "moments"),
                      fmt::format("{}[{:g}, {:g}, {:g}] belong to no body",
                                  matrix ? "the principal moments " : "", moments[0], moments[1], moments[2]),
                      "no moment of inertia may exceed the sum of the other two");
    return inertia;
}

std::vector<Keyframe> Reader::read_motion(const Where& where, const Value& frames, Keyframe start) const {
    std::vector<Keyframe> motion;
    motion.reserve(frames.list().size());
    for (std::size_t i = 0; i < frames.list().size(); ++i) {
        const Value& value = frames.list()[i];
        const Where entry = where / static_cast<long>(i);
        Keyframe frame = motion.empty() ? start : motion.back();
        frame.time = value.find("time")->number();
        if (!motion.empty() && frame.time <= motion.back().time)
            context_.fail(entry / "time",
                          fmt::format("{:g} s does not come after {:g} s", frame.time, motion.back().time),
                          "keyframe times must ascend");
        frame.position = vec3_or(value, "position", frame.position);
        if (value.find("rotation") || value.find("rotation_euler"))
            frame.rotation = read_rotation(entry, value);
        motion.push_back(frame);
    }
    return motion;
}

Quat Reader::read_rotation(const Where& where, const Value& owner) const {
    const Value* quaternion = owner.find("rotation");
    const Value* euler = owner.find("rotation_euler");
    if (quaternion && euler)
        context_.fail(where / "rotation_euler", "is given besides \"rotation\"", "keep one of the two");
    if (quaternion) return read_quaternion(where / "rotation", *quaternion);
    if (!euler) return Quat::Identity();
    const Vec3 angles = to_vec3(*euler) * (std::numbers::pi / 180.0);
    return normalised_quaternion(Quat(Eigen::AngleAxisd(angles.x(), Vec3::UnitX())) *
                                 Quat(Eigen::AngleAxisd(angles.y(), Vec3::UnitY())) *
                                 Quat(Eigen::AngleAxisd(angles.z(), Vec3::UnitZ())));
}

Quat Reader::read_quaternion(const Where& where, const Value& value) const {
    const Numbers& n = value.numbers();
    const Quat q(n[0], n[1], n[2], n[3]);
    if (q.coeffs().cwiseAbs().maxCoeff() < 1e-150)
        context_.fail(where, "is a quaternion of length zero", "[1, 0, 0, 0] is no rotation");
    return normalised_quaternion(q);
}

}  // namespace tenon::scene

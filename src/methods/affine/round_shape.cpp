#include "methods/affine/round_shape.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/mesh_check.hpp"
#include "methods/affine/contact_field.hpp"

namespace tenon::affine {
namespace {

constexpr double meant_angle = 0.53;  // rad: facets that meet at more (a prism of 11 sides) are meant as such
constexpr double felt_height = 0.02;  // of the contact range: between corners, that the barrier does not feel
constexpr int most_corners = 512;     // of a rim
constexpr int most_cylinders = 64;    // of a scene: each stands on hundreds of corners
constexpr double same_length = 1e-9;  // of the radius
constexpr double within_part = 1e-12;  // of the radius: what the drawn mesh may reach beyond by rounding

Shape shape_around(const Shape& drawn, Mesh core, double rounding) {
    Shape shape;
    shape.name = drawn.name;
    shape.primitive = drawn.primitive;
    shape.radius = drawn.radius;
    shape.closed = drawn.closed;
    shape.convex = drawn.convex;
    shape.box = drawn.box;
    for (const Vec3& vertex : core.vertices) {
        shape.box.add(Vec3(vertex - Vec3::Constant(rounding)));
        shape.box.add(Vec3(vertex + Vec3::Constant(rounding)));
    }
    shape.mesh = std::move(core);
    shape.all_edges = geometry::all_edges(shape.mesh);
    return shape;
}

std::unique_ptr<ContactShape> around_core(const Shape& drawn, Mesh core, double rounding, double facets) {
    auto own = std::make_unique<Shape>(shape_around(drawn, std::move(core), rounding));
    std::unique_ptr<ContactShape> out = contact_shape(*own);
    out->own = std::move(own);
    out->rounding = rounding;
    out->radius = out->core_radius + (out->core_box.center() - out->shape->box.center()).norm() + rounding;
    out->facet_angle = facets;
    return out;
}

// Ends of the axis, in the body frame.
std::array<Vec3, 2> axis_of(const Primitive& primitive) {
    const Vec3 half = primitive.frame.rotation * Vec3(0.0, 0.5 * primitive.size[1], 0.0);
    return {Vec3(primitive.frame.position - half), Vec3(primitive.frame.position + half)};
}

bool within(const Shape& drawn, const std::array<Vec3, 2>& axis, double radius) {
    const Vec3 along = axis[1] - axis[0];
    const double length = along.squaredNorm();
    return std::all_of(drawn.mesh.vertices.begin(), drawn.mesh.vertices.end(), [&](const Vec3& v) {
        const double s = length > 0.0 ? std::clamp(along.dot(v - axis[0]) / length, 0.0, 1.0) : 0.0;
        return (v - axis[0] - s * along).norm() <= radius * (1.0 + within_part);
    });
}

std::unique_ptr<ContactShape> round_ball(const Shape& drawn) {
    const Vec3& center = drawn.primitive.frame.position;
    const double radius = drawn.primitive.size[0];
    if (!within(drawn, {center, center}, radius)) return nullptr;
    Mesh core;
    core.vertices = {center};
    core.points = {0};
    return around_core(drawn, std::move(core), radius, 0.0);
}

// Its ends are points too, so that capsules side by side touch at their ends.
std::unique_ptr<ContactShape> round_capsule(const Shape& drawn) {
    const std::array<Vec3, 2> axis = axis_of(drawn.primitive);
    const double radius = drawn.primitive.size[0];
    if (!within(drawn, axis, radius)) return nullptr;
    Mesh core;
    core.vertices = {axis[0], axis[1], axis[0], axis[1]};
    core.edges = {{0, 1}};
    core.points = {2, 3};
    std::unique_ptr<ContactShape> out = around_core(drawn, std::move(core), radius, 0.0);
    out->vertex_touches = {0, 0, 1, 1};
    return out;
}

// Angles of the corners of a cylinder's rim in order; empty where the mesh is not that of one.
std::vector<double> rim_angles(const Shape& drawn) {
    const Primitive& primitive = drawn.primitive;
    const double radius = primitive.size[0], half = 0.5 * primitive.size[1], near = same_length * radius;
    std::vector<double> angles;
    for (const Vec3& vertex : drawn.mesh.vertices) {
        const Vec3 v = primitive.frame.rotation.conjugate() * (vertex - primitive.frame.position);
        if (std::abs(std::abs(v.y()) - half) > near) return {};
        const double r = std::hypot(v.x(), v.z());
        if (r < near) continue;
        if (std::abs(r - radius) > near) return {};
        if (v.y() > 0.0) angles.push_back(std::atan2(-v.z(), v.x()));
    }
    std::sort(angles.begin(), angles.end());
    return angles;
}

// All corners of the drawn rim and as many more between them as it takes.
std::unique_ptr<ContactShape> finer_cylinder(const Shape& drawn, double dhat) {
    const Primitive& primitive = drawn.primitive;
    const double radius = primitive.size[0], half = 0.5 * primitive.size[1];
    const std::vector<double> corners = rim_angles(drawn);
    if (corners.size() < 3) return nullptr;
    const double unfelt = EIGEN_PI / std::sqrt(2.0 * felt_height * dhat / radius);
    const int parts = static_cast<int>(
        std::ceil(std::min<double>(most_corners, unfelt) / static_cast<double>(corners.size())));
    if (parts < 2) return nullptr;
    std::vector<double> angles;
    for (std::size_t k = 0; k < corners.size(); ++k) {
        const double next = k + 1 < corners.size() ? corners[k + 1] : corners[0] + 2.0 * EIGEN_PI;
        for (int part = 0; part < parts; ++part)
            angles.push_back(corners[k] + part * (next - corners[k]) / parts);
    }
    Mesh mesh;
    const auto add = [&](double x, double y, double z) {
        mesh.vertices.push_back(primitive.frame.position + primitive.frame.rotation * Vec3(x, y, z));
    };
    for (const double y : {-half, half}) {
        add(0.0, y, 0.0);
        for (const double angle : angles) add(radius * std::cos(angle), y, -radius * std::sin(angle));
    }
    const int count = static_cast<int>(angles.size()), top = count + 1;
    for (int k = 0; k < count; ++k) {
        const int here = 1 + k, next = 1 + (k + 1) % count;
        mesh.triangles.push_back({0, next, here});
        mesh.triangles.push_back({top, top + here, top + next});
        mesh.triangles.push_back({here, next, top + next});
        mesh.triangles.push_back({here, top + next, top + here});
    }
    return around_core(drawn, std::move(mesh), 0.0, count < unfelt ? 2.0 * EIGEN_PI / count : 0.0);
}

}  // namespace

std::unique_ptr<ContactShape> round_contact_shape(const Shape& drawn, double dhat) {
    const double angle = facet_angle(drawn);
    if (angle == 0.0 || angle > meant_angle) return nullptr;
    switch (drawn.primitive.kind) {
        case Primitive::Kind::sphere:
            return round_ball(drawn);
        case Primitive::Kind::capsule:
            return round_capsule(drawn);
        case Primitive::Kind::cylinder:
            return finer_cylinder(drawn, dhat);
        default:
            return nullptr;
    }
}

std::vector<char> bodies_that_start_round(const Model& model, const State& state, double dhat) {
    const std::size_t count = state.q.size();
    std::vector<char> round(count, 0);
    int cylinders = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Shape& shape = model.shape_of(static_cast<int>(i));
        const double angle = facet_angle(shape);
        round[i] = state.type[i] != BodyType::static_body && model.bodies.collides[i] && angle > 0.0 &&
                   angle <= meant_angle;
        cylinders += round[i] && shape.primitive.kind == Primitive::Kind::cylinder;
    }
    if (cylinders > most_cylinders)
        for (std::size_t i = 0; i < count; ++i)
            if (model.shape_of(static_cast<int>(i)).primitive.kind == Primitive::Kind::cylinder) round[i] = 0;
    if (std::none_of(round.begin(), round.end(), [](char r) { return r != 0; })) return round;

    std::vector<Motion> at_rest(count);
    for (std::size_t i = 0; i < count; ++i)
        at_rest[i] = {state.q[i], state.q[i], 0.0, state.type[i] != BodyType::static_body};
    ContactField field(model, state);
    for (bool again = true; again;) {
        again = false;
        field.make_round(model, round, dhat);
        ContactScale scale;
        scale.dhat = dhat;
        field.rebuild(model, at_rest, scale, {std::vector<double>(count, 1.0)});
        for (int k = 0; k < field.pair_count(); ++k) {
            const CandidatePair& pair = field.pair(k);
            if (!round[pair.a] && !round[pair.b]) continue;
            for (const int body : {pair.a, pair.b}) field.set_pose(body, state.q[body]);
            field.evaluate(k);
            if (!field.overlaps(k)) continue;
            round[pair.a] = round[pair.b] = 0;
            again = true;
        }
    }
    return round;
}

}  // namespace tenon::affine

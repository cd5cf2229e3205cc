#include "geometry/primitive_distance.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::geometry {
namespace {

using Kind = Primitive::Kind;

FieldSample box_distance(const Vec3& half, const Vec3& p) {
    const Vec3 q = p.cwiseAbs() - half;
    const Vec3 sign(p.x() < 0 ? -1 : 1, p.y() < 0 ? -1 : 1, p.z() < 0 ? -1 : 1);
    if (q.maxCoeff() > 0) {
        const Vec3 out = q.cwiseMax(0.0);
        const double d = out.norm();
        return {d, out.cwiseProduct(sign) / d};
    }
    int axis;
    const double d = q.maxCoeff(&axis);
    return {d, Vec3::Unit(axis) * sign[axis]};
}

// A solid of revolution seen in its half plane (distance from the axis, height).
FieldSample cylinder_distance(double radius, double half, const Vec3& p) {
    const double r = std::hypot(p.x(), p.z());
    const Vec3 radial = r > 1e-12 ? Vec3(p.x() / r, 0, p.z() / r) : Vec3(Vec3::UnitX());
    const Vec3 axial(0, p.y() < 0 ? -1 : 1, 0);
    const double side = r - radius, cap = std::abs(p.y()) - half;
    if (side > 0 && cap > 0) {
        const double d = std::hypot(side, cap);
        return {d, (side * radial + cap * axial) / d};
    }
    return side > cap ? FieldSample{side, radial} : FieldSample{cap, axial};
}

}  // namespace

bool has_closed_form(Primitive::Kind kind) {
    return kind == Kind::box || kind == Kind::sphere || kind == Kind::capsule || kind == Kind::cylinder ||
           kind == Kind::plane;
}

FieldSample primitive_distance(const Primitive& primitive, const Vec3& p) {
    switch (primitive.kind) {
        case Kind::plane:
            return {p.y(), Vec3::UnitY()};
        case Kind::box:
            return box_distance(0.5 * primitive.size, p);
        case Kind::cylinder:
            return cylinder_distance(primitive.size.x(), 0.5 * primitive.size.y(), p);
        case Kind::capsule:
        case Kind::sphere: {
            const double half = primitive.kind == Kind::capsule ? 0.5 * primitive.size.y() : 0.0;
            const Vec3 to = p - Vec3(0, std::clamp(p.y(), -half, half), 0);
            const double d = to.norm();
            return {d - primitive.size.x(), d > 1e-12 ? Vec3(to / d) : Vec3(Vec3::UnitX())};
        }
        default:
            return {1e300, Vec3::UnitY()};
    }
}

}  // namespace tenon::geometry

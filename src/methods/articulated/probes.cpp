#include "methods/articulated/probes.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::articulated {
namespace {

using Kind = Primitive::Kind;

void box_probes(const Primitive& primitive, std::vector<Probe>& probes) {
    const Mat3 R = primitive.frame.rotation.toRotationMatrix();
    for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j)
            for (int k = -1; k <= 1; ++k) {
                if (i == 0 && j == 0 && k == 0) continue;
                probes.push_back(
                    {R * (0.5 * Vec3(i, j, k)).cwiseProduct(primitive.size) + primitive.frame.position, 0.0});
            }
}

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

std::vector<Probe> make_probes(const Shape& shape, int max_probes) {
    std::vector<Probe> probes;
    const Primitive& primitive = shape.primitive;
    switch (primitive.kind) {
        case Kind::box:
            box_probes(primitive, probes);
            break;
        case Kind::sphere:
            probes.push_back({primitive.frame.position, primitive.size.x()});
            break;
        case Kind::capsule: {
            const Vec3 axis = primitive.frame.rotation * Vec3::UnitY();
            for (int k = -2; k <= 2; ++k)
                probes.push_back(
                    {primitive.frame.position + 0.25 * k * primitive.size.y() * axis, primitive.size.x()});
            break;
        }
        default: {
            const auto& vertices = shape.mesh.vertices;
            const std::size_t stride = vertices.size() / static_cast<std::size_t>(max_probes) + 1;
            for (std::size_t i = 0; i < vertices.size(); i += stride) probes.push_back({vertices[i], 0.0});
        }
    }
    return probes;
}

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

void probe_contacts(const Primitive* primitive, const geometry::SignedDistance* field, const Mat34& collider,
                    const std::vector<Probe>& probes, const Mat34& body, double margin, std::size_t most,
                    geometry::collide::ContactList& out) {
    const std::size_t first = out.size();
    Mat3 R = collider.leftCols<3>();
    Vec3 t = collider.col(3);
    if (primitive) {
        t += R * primitive->frame.position;
        R = R * primitive->frame.rotation.toRotationMatrix();
    }
    for (std::size_t k = 0; k < probes.size(); ++k) {
        const Vec3 at = transform(body, probes[k].center);
        const Vec3 local = R.transpose() * (at - t);
        FieldSample sample;
        if (primitive) {
            sample = primitive_distance(*primitive, local);
        } else {
            const auto found = field->sample(local);
            const double length = found.gradient.norm();
            if (length < 1e-6) continue;
            sample = {found.distance, found.gradient / length};
        }
        const double distance = sample.distance - probes[k].radius;
        if (distance > margin) continue;
        geometry::collide::PairContact contact;
        contact.normal = R * sample.normal;
        contact.distance = distance;
        contact.point = at - (probes[k].radius + 0.5 * distance) * contact.normal;
        contact.id = static_cast<std::uint32_t>(k);
        out.push_back(contact);
    }
    if (out.size() - first <= most) return;
    const auto begin = out.begin() + static_cast<long>(first);
    std::partial_sort(begin, begin + static_cast<long>(most), out.end(), [](const auto& a, const auto& b) {
        return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
    });
    out.resize(first + most);
}

}  // namespace tenon::articulated

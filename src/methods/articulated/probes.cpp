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

void cylinder_probes(const Primitive& cylinder, const Vec3& normal, std::vector<Probe>& probes) {
    probes.clear();
    const Vec3 local = cylinder.frame.rotation.conjugate() * normal;
    const double angle =
        local.x() * local.x() + local.z() * local.z() > 1e-12 ? std::atan2(-local.z(), -local.x()) : 0.0;
    for (int end : {-1, 1})
        for (int k = 0; k < 3; ++k) {
            const double a = angle + 2.0 * M_PI / 3.0 * k;
            const Vec3 rim(cylinder.size.x() * std::cos(a), 0.5 * end * cylinder.size.y(),
                           cylinder.size.x() * std::sin(a));
            probes.push_back({cylinder.frame.rotation * rim + cylinder.frame.position, 0.0});
        }
}

PlacedDistance::PlacedDistance(const Primitive* primitive, const geometry::SignedDistance* field,
                               const Mat34& collider)
    : primitive_(primitive), field_(field), rotation_(collider.leftCols<3>()), origin_(collider.col(3)) {
    if (!primitive) return;
    origin_ += rotation_ * primitive->frame.position;
    rotation_ = rotation_ * primitive->frame.rotation.toRotationMatrix();
}

bool PlacedDistance::at(const Vec3& point, FieldSample& sample) const {
    const Vec3 local = rotation_.transpose() * (point - origin_);
    if (primitive_) {
        sample = primitive_distance(*primitive_, local);
    } else {
        const auto found = field_->sample(local);
        const double length = found.gradient.norm();
        if (length < 1e-6) return false;
        sample = {found.distance, found.gradient / length};
    }
    sample.normal = rotation_ * sample.normal;
    return true;
}

void probe_contacts(const Primitive* primitive, const geometry::SignedDistance* field, const Mat34& collider,
                    const Shape& shape, const std::vector<Probe>& fixed_probes, const Mat34& body,
                    double margin, std::size_t most, geometry::collide::ContactList& out) {
    const std::size_t first = out.size();
    const PlacedDistance surface(primitive, field, collider);
    FieldSample sample;
    std::vector<Probe> turned;
    if (shape.primitive.kind == Kind::cylinder) {
        if (!surface.at(body.col(3), sample)) return;
        cylinder_probes(shape.primitive, body.leftCols<3>().transpose() * sample.normal, turned);
    }
    const std::vector<Probe>& probes = turned.empty() ? fixed_probes : turned;
    for (std::size_t k = 0; k < probes.size(); ++k) {
        const Vec3 at = transform(body, probes[k].center);
        if (!surface.at(at, sample)) continue;
        const double distance = sample.distance - probes[k].radius;
        if (distance > margin) continue;
        geometry::collide::PairContact contact;
        contact.normal = sample.normal;
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

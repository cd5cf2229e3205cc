#include "render/marks.hpp"

#include <cmath>

#include "render/model.hpp"

namespace tenon::render {
namespace {

// Rings of `sides` vertices around a straight axis, closed by a point at each end.
struct Ring {
    float along;  // distance from `from`
    float radius;
};

void add_turned(const Vec3f& from, const Vec3f& direction, const std::vector<Ring>& rings, int sides,
                DrawMesh& out) {
    const Vec3f u = direction.unitOrthogonal();
    const Vec3f w = direction.cross(u);
    const int first = static_cast<int>(out.vertices.size());
    const int count = static_cast<int>(rings.size());
    for (const Ring& ring : rings)
        for (int s = 0; s < sides; ++s) {
            const float angle = 2 * static_cast<float>(M_PI) * s / sides;
            out.vertices.push_back(from + ring.along * direction +
                                   ring.radius * (std::cos(angle) * u + std::sin(angle) * w));
        }
    for (int r = 0; r + 1 < count; ++r)
        for (int s = 0; s < sides; ++s) {
            const int a = first + r * sides + s, b = first + r * sides + (s + 1) % sides;
            if (rings[r].radius > 0) out.triangles.push_back({a, b, b + sides});
            if (rings[r + 1].radius > 0) out.triangles.push_back({a, b + sides, a + sides});
        }
}

}  // namespace

void add_capsule(const Vec3f& from, const Vec3f& to, float radius, int sides, DrawMesh& out) {
    const float length = (to - from).norm();
    if (length < 1e-12f) {
        add_ball(from, radius, out);
        return;
    }
    const float r = radius, h = 0.7071f * radius;
    add_turned(from, (to - from) / length,
               {{-r, 0}, {-h, h}, {0, r}, {length, r}, {length + h, h}, {length + r, 0}}, sides, out);
}

void add_ball(const Vec3f& center, float radius, DrawMesh& out) {
    std::vector<Ring> rings;
    for (int k = 0; k <= 6; ++k) {
        const float angle = static_cast<float>(M_PI) * k / 6;
        const float ring = k == 0 || k == 6 ? 0.0f : radius * std::sin(angle);
        rings.push_back({-radius * std::cos(angle), ring});
    }
    add_turned(center, Vec3f::UnitY(), rings, 10, out);
}

void add_arrow(const Vec3f& from, const Vec3f& to, float radius, DrawMesh& out) {
    const float length = (to - from).norm();
    if (length < 1e-12f) return;
    const float head = std::min(6 * radius, 0.6f * length), body = length - head;
    const float head_radius = std::min(2.6f * radius, 0.45f * head);
    const float shaft = std::min(radius, 0.5f * head_radius);
    add_turned(from, (to - from) / length,
               {{0, 0}, {0, shaft}, {body, shaft}, {body, head_radius}, {length, 0}}, 12, out);
}

}  // namespace tenon::render

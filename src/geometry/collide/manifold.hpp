// Contacts of one pair of bodies: a small buffer, clipping of polygons, reduction to few points.
#pragma once

#include <cstdint>
#include <vector>

#include "tenon/types.hpp"

namespace tenon::geometry::collide {

struct PairContact {
    Vec3 point = Vec3::Zero();    // half way between the two surfaces, world frame
    Vec3 normal = Vec3::UnitY();  // from the first body to the second
    double distance = 0.0;        // negative: penetration
    std::uint32_t id = 0;         // which features meet: the same contact keeps it from step to step
};

using ContactList = std::vector<PairContact>;

// At most this many contacts share a normal; more add cost but no support.
constexpr int max_points = 4;

// Keeps the `max_points` of the contacts from `first` on that span the largest area, the deepest among them.
// `rims`: the bodies may roll on rims of many corners, which boxes do not have.
void reduce(ContactList& contacts, std::size_t first, bool rims);

// Contacts with many normals: groups those within about 25 degrees of each other, reduces each group, and keeps
// at most `groups` of them, deepest first.
void reduce_by_normal(ContactList& contacts, std::size_t first, int groups);

// A polygon (or segment, or point) with an id per corner.
struct Polygon {
    static constexpr int capacity = 24;
    int count = 0;
    Vec3 p[capacity];
    std::uint32_t id[capacity];

    void add(const Vec3& point, std::uint32_t corner) {
        if (count == capacity) return;
        p[count] = point;
        id[count++] = corner;
    }
};

// Cuts away what lies outside the plane n.x <= offset. `plane` names the plane in the ids of new corners.
void clip(const Polygon& in, const Vec3& n, double offset, std::uint32_t plane, Polygon& out);

}  // namespace tenon::geometry::collide

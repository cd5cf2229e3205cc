// The face, edge or corner of a convex shape that faces a direction, and contacts from two of them.
#pragma once

#include "geometry/collide/convex.hpp"

namespace tenon::geometry::collide {

struct Feature {
    Polygon polygon;             // world frame, counter-clockwise seen from outside
    Vec3 normal = Vec3::Zero();  // of faces; zero for edges and corners
    bool face() const { return polygon.count >= 3; }
};

// The largest feature of the core within about ten degrees of the direction (world frame).
Feature facing_feature(const Collider& collider, const Placement& place, const Vec3& direction);

// Appends the contacts of two convex shapes whose gap is known.
void contacts_from_features(const Collider& a, const Placement& pa, const Collider& b, const Placement& pb,
                            const ConvexGap& gap, double margin, ContactList& out);

}  // namespace tenon::geometry::collide

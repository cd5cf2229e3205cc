// Contacts of one pair of bodies, whatever they are.
#pragma once

#include "geometry/collide/collider.hpp"

namespace tenon::geometry::collide {

// Appends the contacts of two bodies closer than `margin`. R and t take body frames to the world.
// Planes are half-spaces: everything below them is inside.
void find_contacts(const Collider& a, const Mat3& Ra, const Vec3& ta, const Collider& b, const Mat3& Rb,
                   const Vec3& tb, double margin, ContactList& out);

// The pieces, each for its kinds of shape; in the primitives' own frames.
// False: farther apart than the margin.
bool box_box(const Vec3& half_a, const Placement& a, const Vec3& half_b, const Placement& b, double margin,
             ContactList& out);
void sphere_sphere(double ra, const Vec3& a, double rb, const Vec3& b, double margin, ContactList& out);
void box_sphere(const Vec3& half, const Placement& box, double radius, const Vec3& sphere, double margin,
                ContactList& out);
void capsule_sphere(double half_length, double capsule_radius, const Placement& capsule, double radius,
                    const Vec3& sphere, double margin, ContactList& out);
void plane_convex(const Placement& plane, const Collider& convex, const Placement& place, double margin,
                  ContactList& out);
// Samples of each against the signed distance of the other; `a` or `b` is a mesh.
void sampled_contacts(const Collider& a, const Placement& body_a, const Collider& b, const Placement& body_b,
                      double margin, ContactList& out);

}  // namespace tenon::geometry::collide

// Contacts of a moving body with a collider whose signed distance is known in closed form: probes on the body's
// surface against that distance. Robust for thousands of links on a drum, and a fraction of a general search.
#pragma once

#include <vector>

#include "geometry/collide/manifold.hpp"
#include "geometry/primitive_distance.hpp"
#include "geometry/signed_distance.hpp"
#include "tenon/state.hpp"

namespace tenon::articulated {

struct Probe {
    Vec3 center;          // body frame
    double radius = 0.0;  // of a ball around it
};

// Where a shape can touch: corners, edges and faces of a box, the balls of a capsule, the vertices of a mesh
// (thinned out to `max_probes`).
std::vector<Probe> make_probes(const Shape& shape, int max_probes = 200);

// A cylinder touches where its rims come nearest: three points of each rim, the first turned towards the collider, whose
// outward normal at the body is given in the body frame.
void cylinder_probes(const Primitive& cylinder, const Vec3& normal, std::vector<Probe>& probes);

using geometry::FieldSample;
using geometry::has_closed_form;
using geometry::primitive_distance;

// The signed distance of a collider in the world: of its primitive in closed form, or of its field.
class PlacedDistance {
  public:
    PlacedDistance(const Primitive* primitive, const geometry::SignedDistance* field, const Mat34& collider);
    // Normals are the world's. False where the field has no gradient.
    bool at(const Vec3& point, FieldSample& sample) const;

  private:
    const Primitive* primitive_;
    const geometry::SignedDistance* field_;
    Mat3 rotation_;
    Vec3 origin_;
};

// Appends contacts closer than `margin`, normals from the collider to the body, at most `most` of them.
void probe_contacts(const Primitive* primitive, const geometry::SignedDistance* field, const Mat34& collider,
                    const Shape& shape, const std::vector<Probe>& probes, const Mat34& body, double margin,
                    std::size_t most, geometry::collide::ContactList& out);

}  // namespace tenon::articulated

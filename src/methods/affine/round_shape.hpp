// What something round touches with, in place of the facets that it is drawn with: a ball is a point and a capsule a segment
// with all that is within their radius; a cylinder has so many corners that the barrier does not feel them. The drawn mesh lies
// within, so that what these keep apart does not intersect.
#pragma once

#include "methods/affine/contact_shape.hpp"

namespace tenon::affine {

// Null for shapes that are not round, or whose corners are so few that they are meant.
std::unique_ptr<ContactShape> round_contact_shape(const Shape& drawn, double dhat);

// The moving bodies that can be round from this state on: nothing is within what they are drawn as.
std::vector<char> bodies_that_start_round(const Model& model, const State& state, double dhat);

}  // namespace tenon::affine

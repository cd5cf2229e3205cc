// Is a world fit to start from? Finds bodies that intersect, touch, come closer than their minimum separation or lie
// inside one another, and says where.
#pragma once

#include <string>
#include <vector>

#include "tenon/state.hpp"

namespace tenon::model {

// A primitive of one body: one of the three is set. Numbers are those of the shape's mesh and all_edges.
struct PrimitiveRef {
    int triangle = -1, edge = -1, vertex = -1;
};

struct InitialProblem {
    enum class Kind {
        intersection,  // an edge of one goes through a triangle of the other
        touching,      // distance zero, to round-off
        too_close,     // closer than the sum of their minimum separations
        enclosed,      // no contact, but body a lies inside the closed surface of body b
    };
    Kind kind = Kind::intersection;
    int a = -1, b = -1;         // body numbers; elastic bodies come after the bodies
    PrimitiveRef on_a, on_b;    // the first crossing, or the closest primitives
    Vec3 point = Vec3::Zero();  // where, in the world
    double distance = 0.0;      // between the two primitives
    double required = 0.0;      // minimum separation of the pair
    long count = 1;             // primitive pairs of this pair of bodies with the same problem
};

struct InitialCheck {
    std::vector<InitialProblem> problems;  // at most one for each pair of bodies, sorted by (a, b)
    long pairs = 0;                        // body pairs with overlapping boxes that were looked into
};

// Looks at all pairs that may collide, in parallel. Results do not depend on the number of threads.
InitialCheck check_initial_state(const Model& model, const State& state);

// One sentence, with the names of both bodies.
std::string describe(const Model& model, const InitialProblem& problem);

// The distance that two bodies must keep: the sum of their minimum separations.
double required_separation(const Model& model, int a, int b);

}  // namespace tenon::model

// The vertices of a candidate pair of primitives, and their distance.
#pragma once

#include "geometry/distance.hpp"
#include "methods/affine/candidates.hpp"

namespace tenon::affine {

// Vertex numbers of a candidate: the first `split` belong to body `first` (0: a, 1: b), the rest to the other.
struct Corners {
    int vertex[4] = {0, 0, 0, 0};
    int count = 4, split = 1;
    bool a_first = true;
};

inline Corners corners_of(const Candidate& c, const ContactShape& a, const ContactShape& b) {
    switch (c.kind) {
        case PairKind::vertex_triangle: {
            const Triangle& t = b.shape->mesh.triangles[c.j];
            return {{c.i, t[0], t[1], t[2]}, 4, 1, true};
        }
        case PairKind::triangle_vertex: {
            const Triangle& t = a.shape->mesh.triangles[c.i];
            return {{c.j, t[0], t[1], t[2]}, 4, 1, false};
        }
        case PairKind::edge_edge:
            return {{a.edge(c.i)[0], a.edge(c.i)[1], b.edge(c.j)[0], b.edge(c.j)[1]}, 4, 2, true};
        case PairKind::vertex_edge:
            return {{c.i, b.edge(c.j)[0], b.edge(c.j)[1], 0}, 3, 1, true};
        case PairKind::edge_vertex:
            return {{c.j, a.edge(c.i)[0], a.edge(c.i)[1], 0}, 3, 1, false};
        default:
            return {{c.i, c.j, 0, 0}, 2, 1, true};
    }
}

inline geometry::Closest closest_of(const Candidate& c, const Vec3* x[4]) {
    switch (c.kind) {
        case PairKind::vertex_triangle:
        case PairKind::triangle_vertex:
            return geometry::closest_point_triangle(*x[0], *x[1], *x[2], *x[3]);
        case PairKind::edge_edge:
            return geometry::closest_edge_edge(*x[0], *x[1], *x[2], *x[3]);
        case PairKind::vertex_edge:
        case PairKind::edge_vertex:
            return geometry::closest_point_edge(*x[0], *x[1], *x[2]);
        default:
            return geometry::closest_point_point(*x[0], *x[1]);
    }
}

}  // namespace tenon::affine

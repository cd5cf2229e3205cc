// World boxes of a posed surface's primitives and tree nodes; shared by the overlap searches.
#pragma once

#include <algorithm>
#include <array>

#include "geometry/overlap.hpp"

namespace tenon::geometry {

template <class BoxA, class BoxB>
bool overlap(const BoxA& a, const BoxB& b) {
    return a.lo[0] <= b.hi[0] && b.lo[0] <= a.hi[0] && a.lo[1] <= b.hi[1] && b.lo[1] <= a.hi[1] &&
           a.lo[2] <= b.hi[2] && b.lo[2] <= a.hi[2];
}

// Widened by the margin and by more than the rounding in comparing against it.
template <class Box>
Box widened(Box box, double margin) {
    double extent = 0.0;
    for (int k = 0; k < 3; ++k) extent = std::max({extent, std::abs(box.lo[k]), std::abs(box.hi[k])});
    box.inflate(margin + 1e-15 * (extent + margin));
    return box;
}

class Placement {
  public:
    explicit Placement(const Posed& body) : body_(body) {
        for (int pose = 0; pose < poses(); ++pose) {
            const Mat34& q = pose == 0 ? body.q0 : body.q1;
            Frame& frame = frames_[pose];
            frame.linear = q.leftCols<3>();
            frame.absolute = frame.linear.cwiseAbs();
            frame.origin = transform(q, body.surface->tree().origin());
            const Box3& box = body.surface->box();
            const Vec3 reach = frame.absolute * box.lo.cwiseAbs().cwiseMax(box.hi.cwiseAbs());
            // More than what rounding can do to a vertex.
            frame.slack = 1e-14 * (reach.maxCoeff() + q.col(3).cwiseAbs().maxCoeff());
        }
    }

    int poses() const { return body_.swept ? 2 : 1; }
    const SurfaceTree& surface() const { return *body_.surface; }

    RawBox vertex_box(int vertex) const {
        const Vec3 rest = body_.surface->vertices()[vertex];
        RawBox box;
        const Vec3 x0 = transform(body_.q0, rest);
        for (int k = 0; k < 3; ++k) box.lo[k] = box.hi[k] = x0[k];
        if (!body_.swept) return box;
        const Vec3 x1 = transform(body_.q1, rest);
        for (int k = 0; k < 3; ++k) {
            box.lo[k] = std::min(box.lo[k], x1[k]);
            box.hi[k] = std::max(box.hi[k], x1[k]);
        }
        return box;
    }

    // Contains the boxes of everything below the node.
    RawBox node_box(const Bvh::Node& node) const {
        RawBox box = RawBox::nothing();
        for (int pose = 0; pose < poses(); ++pose) {
            const Frame& frame = frames_[pose];
            for (int k = 0; k < 3; ++k) {
                double center = 2.0 * frame.origin[k], reach = 2.0 * frame.slack;
                for (int j = 0; j < 3; ++j) {
                    center += frame.linear(k, j) * (static_cast<double>(node.lo[j]) + node.hi[j]);
                    reach += frame.absolute(k, j) * (static_cast<double>(node.hi[j]) - node.lo[j]);
                }
                box.lo[k] = std::min(box.lo[k], 0.5 * (center - reach));
                box.hi[k] = std::max(box.hi[k], 0.5 * (center + reach));
            }
        }
        return box;
    }

  private:
    struct Frame {
        Mat3 linear, absolute;
        Vec3 origin;
        double slack = 0.0;
    };
    const Posed& body_;
    std::array<Frame, 2> frames_;
};

// The boxes of one block's primitives.
struct BlockBoxes {
    RawBox vertex[SurfaceTree::block_vertices];  // of all vertices the block uses

    BlockBoxes(const Placement& place, const SurfaceTree::Block& block) {
        for (std::size_t i = 0; i < block.vertices.size(); ++i)
            vertex[i] = place.vertex_box(block.vertices[i]);
    }
    RawBox triangle(const SurfaceTree::BlockTriangle& t) const {
        RawBox box = vertex[t.corner[0]];
        box.add(vertex[t.corner[1]]);
        box.add(vertex[t.corner[2]]);
        return box;
    }
    RawBox edge(const SurfaceTree::BlockEdge& e) const {
        RawBox box = vertex[e.corner[0]];
        box.add(vertex[e.corner[1]]);
        return box;
    }
};

// Candidates by searching both surfaces' block trees together; edge-triangle pairs where `crossings` is given.
void find_by_blocks(const Posed& a, const Posed& b, double margin, OverlapScratch& scratch, Candidates& out,
                    EdgeTriangles* crossings, OverlapStats& stats);

// Candidates inside the overlap of the bodies' boxes, through a tree when `tree_when_crowded`.
void find_in_region(const Posed& a, const Posed& b, double margin, bool tree_when_crowded,
                    OverlapScratch& scratch, Candidates& out, OverlapStats& stats);

}  // namespace tenon::geometry

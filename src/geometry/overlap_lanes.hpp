// Boxes in single precision, three axes at once, around straight motions. Two bodies need not be equally far on their
// ways: along a direction, all of one's way has to be apart from all of the other's.
#pragma once

#include "geometry/bvh.hpp"
#include "geometry/overlap.hpp"
#include "math/simd.hpp"

namespace tenon::geometry {

using Lanes = simd::Vector<float, 4>;  // x, y, z and a zero, or along four directions
using LaneMask = simd::MaskOf<Lanes>;
using simd::bits, simd::larger, simd::magnitude, simd::smaller;

inline Lanes all_lanes(float value) {
    return simd::all<Lanes>(value);
}
inline Lanes lanes(const Vec3& v) {
    return Lanes{static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z()), 0.0f};
}
inline float size_of(const Lanes& v) {
    const Lanes squares = v * v;
    return std::sqrt(squares[0] + squares[1] + squares[2]);
}
template <int Lane>
Lanes spread(const Lanes& v) {
    return __builtin_shufflevector(v, v, Lane, Lane, Lane, Lane);
}

// A point at both ends of its way.
struct LanePoint {
    Lanes at[2];
};

// Around all of the way.
struct LaneBox {
    Lanes lo, hi;

    static LaneBox nothing() { return {all_lanes(1e30f), all_lanes(-1e30f)}; }
    static LaneBox of(const LanePoint& p) { return {smaller(p.at[0], p.at[1]), larger(p.at[0], p.at[1])}; }
    void add(const LaneBox& other) {
        lo = smaller(lo, other.lo);
        hi = larger(hi, other.hi);
    }
    void add(const LanePoint& p) { add(of(p)); }
    void inflate(float margin) {
        lo -= all_lanes(margin);
        hi += all_lanes(margin);
    }
};

// True where one axis separates the boxes.
inline bool apart(const LaneBox& a, const LaneBox& b) {
    return bits(larger(a.lo - b.hi, b.lo - a.hi) > Lanes{}) != 0;
}

// Four boxes, one for each lane; axis by axis.
struct FourBoxes {
    Lanes lo[3], hi[3];

    static FourBoxes of(const LaneBox* boxes) {
        FourBoxes four;
        turn(boxes[0].lo, boxes[1].lo, boxes[2].lo, boxes[3].lo, four.lo);
        turn(boxes[0].hi, boxes[1].hi, boxes[2].hi, boxes[3].hi, four.hi);
        return four;
    }

  private:
    static void turn(const Lanes& a, const Lanes& b, const Lanes& c, const Lanes& d, Lanes* axes) {
        const Lanes ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                    cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
        axes[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
        axes[1] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        axes[2] = __builtin_shufflevector(__builtin_shufflevector(a, b, 2, 6, 2, 6),
                                          __builtin_shufflevector(c, d, 2, 6, 2, 6), 0, 1, 4, 5);
    }
};

// One box, to be compared with four at once.
struct SpreadBox {
    Lanes lo[3], hi[3];

    explicit SpreadBox(const LaneBox& box)
        : lo{spread<0>(box.lo), spread<1>(box.lo), spread<2>(box.lo)},
          hi{spread<0>(box.hi), spread<1>(box.hi), spread<2>(box.hi)} {}
};

// One bit for each of the four that an axis separates from the box.
inline int apart(const SpreadBox& a, const FourBoxes& b) {
    return bits((a.lo[0] > b.hi[0]) | (b.lo[0] > a.hi[0]) | (a.lo[1] > b.hi[1]) | (b.lo[1] > a.hi[1]) |
                (a.lo[2] > b.hi[2]) | (b.lo[2] > a.hi[2]));
}

// One bit for each side of the box that a way is beyond: a primitive is apart from the box where its corners have a bit in
// common.
inline std::uint8_t sides_beyond(const LaneBox& way, const LaneBox& box) {
    return static_cast<std::uint8_t>(bits(way.lo > box.hi) | bits(way.hi < box.lo) << 4);
}

// Directions, one for each lane.
struct LaneAxes {
    Lanes column[3];

    Lanes along(const Lanes& v) const {
        return column[0] * spread<0>(v) + column[1] * spread<1>(v) + column[2] * spread<2>(v);
    }
    LanePoint along(const LanePoint& p) const { return {{along(p.at[0]), along(p.at[1])}}; }
};

// A box turned along with a block: where it is at both ends of its way.
struct LaneOrientedBox {
    LanePoint center;
    Lanes half[3];          // vectors from the centre to the middles of three sides, at the start
    float drift = 0.0f;     // by which these change on the way, summed
    LaneAxes axes;          // the block's directions at the start
    LaneBox own;            // along them
    float rounding = 0.0f;  // of any number computed from the block's corners

    LaneBox along(const LaneAxes& directions) const {
        const LanePoint middle = directions.along(center);
        const Lanes reach = magnitude(directions.along(half[0])) + magnitude(directions.along(half[1])) +
                            magnitude(directions.along(half[2])) + all_lanes(drift);
        return {smaller(middle.at[0], middle.at[1]) - reach, larger(middle.at[0], middle.at[1]) + reach};
    }
};

// True where one of b's directions keeps the boxes further apart than the margin.
inline bool apart_along_own(const LaneOrientedBox& a, const LaneOrientedBox& b, float margin) {
    LaneBox box = a.along(b.axes);
    box.inflate(margin);
    return apart(box, b.own);
}

// More than rounding in single precision does to a sum of a few products, relative to their size; and to a vertex,
// relative to what it is summed of.
constexpr float lane_rounding = 2e-6f, point_rounding = 6e-7f;

// The boxes of a posed tree's nodes, around all of their way.
struct LaneNodes {
    Lanes column[2][3], absolute[2][3];
    Lanes center[2], slack[2];

    LaneBox box(const Bvh::Node& node) const {
        const Lanes lo{node.lo[0], node.lo[1], node.lo[2], 0.0f},
            hi{node.hi[0], node.hi[1], node.hi[2], 0.0f};
        const Lanes half = all_lanes(0.5f), middle = half * (lo + hi), size = half * (hi - lo);
        const Lanes c0 = spread<0>(middle), c1 = spread<1>(middle), c2 = spread<2>(middle);
        const Lanes s0 = spread<0>(size), s1 = spread<1>(size), s2 = spread<2>(size);
        LaneBox out = LaneBox::nothing();
        for (int pose = 0; pose < 2; ++pose) {
            const Lanes at =
                center[pose] + column[pose][0] * c0 + column[pose][1] * c1 + column[pose][2] * c2;
            const Lanes reach =
                slack[pose] + absolute[pose][0] * s0 + absolute[pose][1] * s1 + absolute[pose][2] * s2;
            out.add(LaneBox{at - reach, at + reach});
        }
        return out;
    }

    // Along other directions than the world's.
    LaneNodes along(const LaneAxes& axes) const {
        LaneNodes out;
        const LanePoint middle = axes.along({{center[0], center[1]}});
        for (int k = 0; k < 3; ++k) {
            const LanePoint turned = axes.along({{column[0][k], column[1][k]}});
            for (int pose = 0; pose < 2; ++pose) {
                out.column[pose][k] = turned.at[pose];
                out.absolute[pose][k] = magnitude(turned.at[pose]);
            }
        }
        for (int pose = 0; pose < 2; ++pose) {
            out.center[pose] = middle.at[pose];
            out.slack[pose] = slack[pose];
        }
        return out;
    }
};

// Many nodes against one region: all of a node's way lies around the middle of it, by half of it and the node's size.
class NodeTest {
  public:
    NodeTest(const LaneNodes& nodes, const LaneBox& region) {
        const Lanes half = all_lanes(0.5f);
        for (int k = 0; k < 3; ++k) {
            middle_[k] = half * (nodes.column[0][k] + nodes.column[1][k]);
            way_[k] = half * (nodes.column[1][k] - nodes.column[0][k]);
            size_[k] = larger(nodes.absolute[0][k], nodes.absolute[1][k]);
        }
        center_ = half * (nodes.center[0] + nodes.center[1]) - half * (region.lo + region.hi);
        center_way_ = half * (nodes.center[1] - nodes.center[0]);
        reach_ = larger(nodes.slack[0], nodes.slack[1]) + half * (region.hi - region.lo);
    }

    bool beyond(const Bvh::Node& node) const {
        const Lanes lo{node.lo[0], node.lo[1], node.lo[2], 0.0f},
            hi{node.hi[0], node.hi[1], node.hi[2], 0.0f};
        const Lanes half = all_lanes(0.5f), middle = half * (lo + hi), size = half * (hi - lo);
        const Lanes c0 = spread<0>(middle), c1 = spread<1>(middle), c2 = spread<2>(middle);
        const Lanes at = center_ + middle_[0] * c0 + middle_[1] * c1 + middle_[2] * c2,
                    way = center_way_ + way_[0] * c0 + way_[1] * c1 + way_[2] * c2,
                    reach = reach_ + size_[0] * spread<0>(size) + size_[1] * spread<1>(size) +
                            size_[2] * spread<2>(size);
        return bits(magnitude(at) - magnitude(way) > reach) != 0;
    }

  private:
    Lanes middle_[3], way_[3], size_[3];
    Lanes center_, center_way_, reach_;
};

// Where a posed surface's vertices and tree nodes are, relative to an origin near what is looked at.
class LanePlacement {
  public:
    // Node boxes come out widened by `margin` and by what rounding can do.
    LanePlacement(const Posed& body, const Vec3& origin, double margin) : body_(body) {
        const Bvh& tree = body.surface->tree();
        const Box3& box = body.surface->box();
        const Vec3 reach = (box.lo - tree.origin()).cwiseAbs().cwiseMax((box.hi - tree.origin()).cwiseAbs());
        for (int pose = 0; pose < 2; ++pose) {
            const Mat34& q = body.swept && pose == 1 ? body.q1 : body.q0;
            const Mat3 linear = q.leftCols<3>();
            const Vec3 center = linear * tree.origin() + (q.col(3) - origin);
            nodes_.center[pose] = lanes(center);
            for (int k = 0; k < 3; ++k) {
                nodes_.column[pose][k] = lanes(linear.col(k));
                nodes_.absolute[pose][k] = magnitude(nodes_.column[pose][k]);
            }
            if (pose == 0) {
                // Gershgorin's bound on how much the pose stretches anything.
                const double stretch = (linear.transpose() * linear).cwiseAbs().rowwise().sum().maxCoeff();
                shortest_ = all_lanes(static_cast<float>((1.0 - lane_rounding) / std::sqrt(stretch)));
            }
            const Vec3 sizes = center.cwiseAbs() + linear.cwiseAbs() * reach;
            const double size = sizes.maxCoeff();
            rounding_ = std::max(rounding_, point_rounding * static_cast<float>(sizes.sum()));
            nodes_.slack[pose] = all_lanes(
                static_cast<float>((1.0 + lane_rounding) * margin + lane_rounding * size +
                                   1e-14 * (q.col(3).cwiseAbs().maxCoeff() + origin.cwiseAbs().maxCoeff())));
        }
    }

    const SurfaceTree& surface() const { return *body_.surface; }
    const Posed& body() const { return body_; }

    LanePoint point(const SurfaceTree::LocalPoint& rest) const {
        return point(Lanes{rest.x, rest.y, rest.z, 0.0f});
    }

    const LaneNodes& nodes() const { return nodes_; }
    LaneBox node_box(const Bvh::Node& node) const { return nodes_.box(node); }

    LaneOrientedBox oriented_box(const SurfaceTree::OrientedBox& rest) const {
        LaneOrientedBox box;
        box.center = point(Lanes{rest.center[0], rest.center[1], rest.center[2], 0.0f});
        Lanes reach = magnitude(box.center.at[0]) + magnitude(box.center.at[1]);
        Lanes directions[4];
        LanePoint half[3];
        for (int k = 0; k < 3; ++k) {
            const LanePoint axis = vector(Lanes{rest.axes(0, k), rest.axes(1, k), rest.axes(2, k), 0.0f});
            const Lanes length = all_lanes(rest.half[k]);
            for (int pose = 0; pose < 2; ++pose) {
                half[k].at[pose] = length * axis.at[pose];
                reach += magnitude(half[k].at[pose]);
            }
            box.half[k] = half[k].at[0];
            box.drift += size_of(half[k].at[1] - half[k].at[0]);
            directions[k] = shortest_ * axis.at[0];
        }
        const Lanes fourth = vector(Lanes{rest.fourth[0], rest.fourth[1], rest.fourth[2], 0.0f}).at[0];
        directions[3] = shortest_ * fourth;
        for (int k = 0; k < 3; ++k)
            box.axes.column[k] =
                Lanes{directions[0][k], directions[1][k], directions[2][k], directions[3][k]};
        box.own = LaneBox::nothing();
        for (int pose = 0; pose < 2; ++pose) {
            const Lanes middle = box.axes.along(box.center.at[pose]);
            Lanes around{};
            for (int k = 0; k < 3; ++k) around += magnitude(box.axes.along(half[k].at[pose]));
            box.own.add(LaneBox{middle - around, middle + around});
        }
        box.rounding = rounding_ + lane_rounding * (reach[0] + reach[1] + reach[2]);
        return box;
    }

  private:
    // Of the body frame, moved along.
    LanePoint vector(const Lanes& rest) const {
        const Lanes x = spread<0>(rest), y = spread<1>(rest), z = spread<2>(rest);
        LanePoint v;
        for (int pose = 0; pose < 2; ++pose)
            v.at[pose] = nodes_.column[pose][0] * x + nodes_.column[pose][1] * y + nodes_.column[pose][2] * z;
        return v;
    }
    LanePoint point(const Lanes& rest) const {
        LanePoint p = vector(rest);
        for (int pose = 0; pose < 2; ++pose) p.at[pose] += nodes_.center[pose];
        return p;
    }

    const Posed& body_;
    LaneNodes nodes_;
    float rounding_ = 0.0f;  // of any vertex
    Lanes shortest_;  // times a unit vector of the body frame that is moved along: at most a unit vector
};

}  // namespace tenon::geometry

// Candidate pairs of primitives: everything that could come into contact range while each body stays within its
// margin of a straight reference motion. One set serves all Newton iterations of a step, and further steps while bodies
// stay within their margin; who leaves it is searched again.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "geometry/broad_phase.hpp"
#include "geometry/overlap.hpp"
#include "methods/affine/contact_shape.hpp"

namespace tenon::affine {

enum class PairKind : std::uint8_t {
    vertex_triangle,  // vertex of a, triangle of b
    triangle_vertex,
    edge_edge,
    vertex_edge,  // point of a, loose edge of b
    edge_vertex,
    vertex_vertex,
};

struct Candidate {
    int i = 0, j = 0;  // index of the vertex, crease edge or triangle in its shape
    PairKind kind = PairKind::vertex_triangle;
    float weight = 1.0f;  // nearly parallel edges count less; of edges negative until it is asked for
};

struct CandidatePair {
    int a = 0, b = 0;        // bodies, a < b
    int begin = 0, end = 0;  // range of candidates, sorted by kind:
    // where triangle_vertex, edge_edge and the rarer kinds begin
    int triangle_vertex = 0, edge_edge = 0, others = 0;
    int slot = 0;  // where more is known of it
};

// Pairs of detailed bodies have so many candidates that threads share them, in pieces of this size.
constexpr int piece_size = 2048;

inline int pieces_of(const CandidatePair& pair) {
    return std::max(1, (pair.end - pair.begin + piece_size - 1) / piece_size);
}

inline CandidatePair piece_of(CandidatePair pair, int n) {
    pair.begin += n * piece_size;
    pair.end = std::min(pair.end, pair.begin + piece_size);
    for (int* start : {&pair.triangle_vertex, &pair.edge_edge, &pair.others})
        *start = std::clamp(*start, pair.begin, pair.end);
    return pair;
}

// Reference motion of a body: straight from q0 to q1, plus or minus `margin` in any direction.
struct Motion {
    Mat34 q0, q1;
    double margin = 0.0;
    bool moves = true;
    Mat34 start = q0;  // where the body was at the beginning of the step: edges are weighed there
};

// Upper bound on the displacement of any point of a box under the affine map D, whose corners lie within `radius` of its
// middle: of the box, or of that ball with Gershgorin's bound on how much D stretches anything.
inline double displacement_bound(const Mat34& D, const Box3& box, double radius) {
    const Vec3 half = 0.5 * box.size(), x = D.col(0), y = D.col(1), z = D.col(2);
    const double xx = x.squaredNorm(), yy = y.squaredNorm(), zz = z.squaredNorm();
    const double xy = std::abs(x.dot(y)), yz = std::abs(y.dot(z)), zx = std::abs(z.dot(x));
    const double in_box = half[0] * std::sqrt(xx) + half[1] * std::sqrt(yy) + half[2] * std::sqrt(zz);
    const double in_ball = radius * std::sqrt(std::max({xx + xy + zx, yy + yz + xy, zz + zx + yz}));
    return transform(D, box.center()).norm() + std::min(in_box, in_ball);
}

// The same of any point of the shape, and of its core: what touches when something round turns is its core's distance.
inline double displacement_bound(const Mat34& D, const ContactShape& shape) {
    return displacement_bound(D, shape.shape->box, shape.radius);
}
inline double core_displacement_bound(const Mat34& D, const ContactShape& shape) {
    return displacement_bound(D, shape.core_box, shape.core_radius);
}

// How far any point of the body's core at q can be from the reference motion.
double deviation_from(const Motion& reference, const Mat34& q, const ContactShape& shape);

// Edges less than a few degrees from parallel have closest points that jump: they count less, at the step's start
// pose, but never nothing, so that CCD and barrier always speak of the same pairs.
float edge_weight(const ContactShape& a, const ContactShape& b, const Mat34& qa, const Mat34& qb, int i,
                  int j);

struct CandidateSet {
    std::vector<CandidatePair> pairs;
    // The first `count` of these lists, which never shrink: filling them anew costs more than the memory.
    std::vector<Candidate> candidates;
    std::vector<std::array<int, 4>> corners;  // of each: its vertices, the first side's before the second's
    std::size_t count = 0;

    void resize(std::size_t new_count) {
        count = new_count;
        if (count <= candidates.size()) return;
        candidates.resize(count + count / 4);
        corners.resize(count + count / 4);
    }
};

class CandidateBuilder {
  public:
    void build(const Model& model, const std::vector<const ContactShape*>& shapes,
               const std::vector<Motion>& motions, double dhat, CandidateSet& out);
    // Where only the motions of some bodies have changed: looks at their pairs again. The others' candidates stay where they
    // are, with their slots; new ones are added at the end. Leaves the new pairs, sorted, in `added`.
    void rebuild(const Model& model, const std::vector<const ContactShape*>& shapes,
                 const std::vector<Motion>& motions, double dhat, const std::vector<char>& changed,
                 CandidateSet& set, std::vector<int>& added);

    int slots() const { return slots_; }  // one more than the highest

    // Of what was found last: use(body, vertices that its candidates have).
    template <class Use>
    void visit_vertices(const Use& use) const {
        for (std::size_t k = 0; k < searches_.size(); ++k) {
            use(body_pairs_[searches_[k].pair].a, found_[k].vertices_a);
            use(body_pairs_[searches_[k].pair].b, found_[k].vertices_b);
        }
    }

  private:
    // The search of a pair of bodies, or a part of it.
    struct Search {
        std::size_t pair;
        geometry::NodePair start;
        bool part;
    };
    void find_body_pairs(const Model& model, const std::vector<const ContactShape*>& shapes,
                         const std::vector<Motion>& motions, double dhat);
    // Leaves the pairs in `fresh_` and appends their candidates to the set's.
    void search(const std::vector<const ContactShape*>& shapes, const std::vector<Motion>& motions,
                CandidateSet& set);
    void split_large_pairs(const std::vector<const ContactShape*>& shapes,
                           const std::vector<Motion>& motions);
    void join(const std::vector<const ContactShape*>& shapes, CandidateSet& set);

    geometry::BroadPhase broad_phase_;
    std::vector<Box3> boxes_;
    std::vector<char> moves_;
    std::vector<double> reach_;
    std::vector<geometry::ItemPair> body_pairs_;
    std::vector<geometry::NodePair> parts_;
    std::vector<Search> searches_;
    std::vector<geometry::Candidates> found_;  // by each search
    std::vector<std::array<int, 6>> place_;    // of what each search found, by kind
    std::vector<CandidatePair> fresh_, merged_;
    std::vector<int> free_slots_;
    int slots_ = 0;
};

}  // namespace tenon::affine

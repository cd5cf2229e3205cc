// Where bodies touch: vertices of one inside another (signed distances), with what persists from step to step.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "geometry/broad_phase.hpp"
#include "geometry/bvh_surface.hpp"
#include "geometry/collide/collide.hpp"
#include "geometry/signed_distance.hpp"
#include "methods/adaptive/solid.hpp"

namespace tenon::adaptive {

// A point of a body, or of an elastic solid between up to three of its vertices.
struct Support {
    int body = -1, solid = -1;
    int count = 0;
    std::array<int, 3> vertex{};
    std::array<double, 3> weight{};
};

// Of a point of a solid in a step of `dt`, by the diagonal blocks of its matrix at rest alone.
double inverse_mass_of(const Solid& solid, const Support& point, const Vec3& direction, double dt);

struct TouchPoint {
    std::uint64_t key = 0;  // which features meet: the same from step to step
    int a = 0, b = 0;       // numbers in the world; elastic bodies come after bodies
    Support on_a, on_b;
    Vec3 point = Vec3::Zero();
    Vec3 normal = Vec3::UnitY();  // from b to a
    double distance = 0.0;        // negative: penetration
    Vec3 impulse = Vec3::Zero();  // on a: of the last step at first, then of this one
    Vec3 stretch = Vec3::Zero();  // tangential offset that carries the static friction, as penetration does
    bool fresh = true;            // was not there in the last step
    bool solved = false;          // not when both sides are moved from outside
    int triangle = -1;            // of the solid b that a vertex lies in: where it is nearest to the surface
    double friction = 0.0, restitution = 0.0;
    double softness = 0.0;  // metres of penetration per newton at rest
};

// Contacts of a wholly rigid solid's vertices with a fixed body: from `first` on, before `last`.
struct PairRange {
    int solid = -1, body = -1, first = 0, last = 0;
};

class Contacts {
  public:
    Contacts(const Model& model, const State& state, const std::vector<Solid>& solids,
             const geometry::SignedDistanceOptions& options);

    // All contacts now, in a fixed order, with the impulses they had in the last step. In a step of `dt` a share
    // `baumgarte` of their penetration is undone.
    void find(const Model& model, const State& state, const std::vector<Solid>& solids,
              const std::vector<SolidState>& states, const std::vector<Mat34>& poses, double dt,
              double baumgarte);

    std::vector<TouchPoint>& points() { return points_; }
    const std::vector<TouchPoint>& points() const { return points_; }
    const std::vector<PairRange>& on_fixed_bodies() const { return ranges_; }
    // The impulses, for the next step; `others`: contacts that were not among the points.
    void remember(const std::vector<TouchPoint>& others);

    void save(std::ostream& out) const;
    void load(std::istream& in);

  private:
    // Trees of a solid's elements and of its surface vertices. While one component is all of the solid they lie in the
    // component's frame and stay as they are: what moves rigidly is not looked through again.
    struct SolidShape {
        bool in_frame = false;
        Mat3 rotation = Mat3::Identity();
        Vec3 position = Vec3::Zero();
        long framed = -1;  // SolidState::formed for which the frame holds
        Box3 box;          // of the surface, in the frame

        Mesh rest;
        std::vector<Edge> edges;
        geometry::SurfaceTree surface;
        geometry::Bvh tree, vertex_tree;
        std::vector<Box3> boxes, vertex_boxes;
        bool built = false, current = false, vertices_current = false;
        std::vector<int> near;
        std::vector<std::vector<int>> around;  // surface triangles of each vertex

        Vec3 to_frame(const Vec3& point) const { return rotation.transpose() * (point - position); }
    };
    struct Memory {
        std::uint64_t key;
        Vec3 impulse, stretch;
        long triangle;
    };
    const Memory* recall(std::uint64_t key) const;
    void find_frame(const Solid& solid, const SolidState& part, SolidShape& shape) const;
    void find_pairs(const Model& model, const State& state, const std::vector<Mat34>& poses);
    // Surface vertices that may lie in a plane's body, or in the box of a body or solid.
    const std::vector<int>& vertices_below(const Solid& solid, const SolidState& part, SolidShape& shape,
                                           const Mat34& pose, const Shape& plane);
    const std::vector<int>& vertices_in(const Box3& box, const Solid& solid, const SolidState& part,
                                        SolidShape& shape);
    void update_vertices(const Solid& solid, const SolidState& part, SolidShape& shape);
    void bodies_touch(const Model& model, int a, int b, const std::vector<Mat34>& poses);
    void solid_in_body(const Model& model, const State& state, int body, int solid,
                       const std::vector<Solid>& solids, const std::vector<SolidState>& states,
                       const Mat34& pose);
    void body_in_solid(const Model& model, int body, int solid, const std::vector<Solid>& solids,
                       const std::vector<SolidState>& states, const Mat34& pose);
    void solid_in_solid(const Model& model, int inner, int outer, const std::vector<Solid>& solids,
                        const std::vector<SolidState>& states);
    // The point of a solid's surface nearest to a point inside it, found in its rest shape; false when outside. For
    // a vertex of another solid only triangles that its surface faces: at the edges of things that lie on each other the
    // sides are as near as the tops. The triangle of the last step stays unless another is clearly nearer: what rests at
    // an edge would go to and fro between two.
    bool surface_of(int solid, const std::vector<Solid>& solids, const std::vector<SolidState>& states,
                    const Vec3& point, int vertex, int of_solid, TouchPoint& touch);
    int nearest_facing(const SolidShape& shape, const std::vector<Vec3>& x, const Vec3& at_rest,
                       const Vec3& facing, Vec3& nearest) const;
    void settle_ties(const Solid& solid, const SolidShape& shape, const std::vector<Vec3>& x,
                     const Vec3& at_rest, const Vec3& facing, int& triangle, Vec3& nearest) const;
    static void fill_around(const Solid& solid, SolidShape& shape);
    Vec3 vertex_normal(const Solid& solid, const SolidState& part, SolidShape& shape, int vertex) const;
    void add(TouchPoint point);
    double softness_of(const TouchPoint& point, const std::vector<Solid>& solids, double dt,
                       double baumgarte) const;

    std::vector<geometry::collide::Collider> colliders_;  // of shapes
    std::vector<char> is_plane_;                          // bodies
    std::vector<double> softness_;                        // of bodies and solids
    std::vector<double> mass_;                            // of dynamic bodies; 0: others
    double gravity_ = 9.81;                               // that softness is meant for
    std::vector<SolidShape> shapes_;
    std::vector<Box3> boxes_;
    std::vector<char> moves_;
    geometry::BroadPhase broad_;
    std::vector<geometry::ItemPair> pairs_;
    std::vector<TouchPoint> points_;
    std::vector<PairRange> ranges_;
    std::vector<Memory> memory_;
    geometry::collide::ContactList found_;
};

}  // namespace tenon::adaptive

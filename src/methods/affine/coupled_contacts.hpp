// Contacts of a coupled solve: barriers and lagged friction between all surfaces, those of elastic bodies with themselves
// included, and the part of a step that keeps every gap open.
//
// Surfaces are points, edges and triangles over one list of material points; what moves a point is no matter here. Candidate
// pairs of primitives are found for a ball around each point and serve for as long as all points stay in theirs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "geometry/broad_phase.hpp"
#include "geometry/distance.hpp"
#include "methods/affine/barrier.hpp"
#include "methods/affine/contact_field.hpp"
#include "methods/affine/coupled_nodes.hpp"

namespace tenon::affine {

// The surface of a body or of an elastic body; numbers are those of material points.
struct CoupledSurface {
    bool deforms = false, moves = false;
    std::vector<int> points;  // that may touch triangles
    std::vector<Edge> edges;  // that may touch edges
    std::vector<Triangle> triangles;
    std::vector<double> edge_length_squared;
    int first = 0, last = 0;  // of its material points
};

// Two surfaces that may meet, or one with itself.
struct SurfacePair {
    int a = -1, b = -1;
    ContactRange range;
    double strength = 0.0;  // J, of the barrier
    double stiffening = 1.0;
    double mu = 0.0;
    double closest = 1e300;  // m, of the last evaluation
};

struct SurfaceCandidate {
    std::array<int, 4> point;  // point and triangle, or two edges
    int pair = -1;
    bool edges = false;
    double weight = 1.0;  // of the barrier: small for nearly parallel edges
};

struct SurfaceContact {
    int candidate = -1;
    geometry::Closest closest;
    double distance = 0.0, force = 0.0, stiffness = 0.0;  // m, N, N/m along the distance
    Vec3 normal = Vec3::Zero();                           // from the second side to the first
};

struct SurfaceFriction {
    std::array<int, 4> point;
    std::array<double, 4> weight;
    Vec3 normal;
    double limit = 0.0;  // mu x normal force, N
    int pair = -1;
    bool reversed =
        false;  // by the last Newton step: the next one takes a model that is nowhere below its energy
};

// The distance that the two sides of a candidate had somewhere. As long as their corners have moved beside each other by
// less, nothing else need be asked.
struct MeasuredGap {
    std::array<Vec3, 4> at;
    double distance = -1.0;  // not measured
};

// stiffness x (direction . displacement)^2 / 2 over the four points of a contact.
struct StiffDirection {
    double stiffness = 0.0;
    std::array<Vec3, 4> direction;
};

class CoupledContacts {
  public:
    CoupledContacts(const Model& model, const State& state, const CoupledNodes& nodes);

    // Where all material points are.
    void place(const std::vector<Mat34>& q, std::vector<Vec3>& x) const;
    const std::vector<MaterialPoint>& points() const { return points_; }

    // Barriers and friction coefficients of a step that starts at x; sliding counts from `slide_from`. `load` is the mass that a contact of each surface has
    // to stop, kg. `fresh`: no step was before, and pairs that start within the range get a shorter one.
    void start_step(const Model& model, const ContactScale& scale, const std::vector<double>& load,
                    const std::vector<Vec3>& x, const std::vector<Vec3>& ahead, std::vector<Vec3> slide_from,
                    double smallest_dhat, bool fresh);
    // Candidates for paths from x to `ahead` and around.
    void find(const std::vector<Vec3>& x, const std::vector<Vec3>& ahead);
    bool covers(const std::vector<Vec3>& x) const;

    double evaluate(const std::vector<Vec3>& x);  // contacts there; returns the barriers' energy, J
    void lag_friction();                          // takes the present contacts' forces
    // Whether something has landed at x, or come to rest, of which lag_friction() did not know; `ahead` is where inertia
    // would have taken all. Fast impacts do not count: a second solve may lead around what was hit.
    bool friction_is_outdated(const std::vector<Vec3>& x, const std::vector<Vec3>& ahead) const;
    double friction_energy(const std::vector<Vec3>& x) const;
    // Which contacts a Newton step, of which `to` is the part t, would make slide the other way.
    void judge_friction(const std::vector<Vec3>& x, const std::vector<Vec3>& to, double t);
    // Largest part of the straight move that keeps every gap open, down to the part `keep` of it.
    double safe_step(const std::vector<Vec3>& from, const std::vector<Vec3>& to, double keep) const;
    bool stiffen_close_pairs();
    void end_step();
    // From the next step on a pair acts from its present gap: what its barrier holds is not given back.
    void shorten_range(int a, int b, double smallest_dhat);

    const std::vector<SurfaceContact>& contacts() const { return contacts_; }
    const std::vector<SurfaceFriction>& friction() const { return friction_; }
    const SurfaceCandidate& candidate(const SurfaceContact& contact) const {
        return candidates_[contact.candidate];
    }
    const SurfacePair& pair(int k) const { return pairs_[k]; }
    std::size_t candidate_count() const { return candidates_.size(); }
    int builds() const { return builds_; }
    double closest() const;
    bool belongs_to(int point, int surface) const {
        return point >= surfaces_[surface].first && point < surfaces_[surface].last;
    }
    int crowd_of(int surface) const { return static_cast<int>(surfaces_[surface].points.size()); }

    // Curvature of a contact's barrier, and of friction: up to three and two directions. Returns their number.
    int directions(const SurfaceContact& contact, const std::vector<Vec3>& x,
                   std::array<StiffDirection, 3>& out) const;
    int directions(const SurfaceFriction& friction, const std::vector<Vec3>& x,
                   std::array<StiffDirection, 3>& out) const;
    // Minus the energy's gradient with respect to the relative sliding: on the first side.
    Vec3 friction_force(const SurfaceFriction& friction, const std::vector<Vec3>& x) const;

    struct PairMemo {  // what outlasts a step of a pair
        int a, b;
        double dhat, stiffening;
    };
    std::vector<PairMemo> memory() const;
    void set_memory(const std::vector<PairMemo>& memory);

  private:
    int pair_number(int a, int b);
    void set_strength(SurfacePair& pair) const;
    void find_pair(int a, int b);
    void add_candidate(int pair, bool edges, std::array<int, 4> point, double rest_lengths);
    const std::vector<geometry::ItemPair>& surface_pairs();
    void build_trees(int surface);
    bool surely_apart(std::size_t candidate, const std::array<Vec3, 4>& corners, double gap) const;
    bool fixed_together(const std::array<int, 4>& point) const;
    Vec3 sliding(const SurfaceFriction& friction, const std::vector<Vec3>& x) const;

    struct Trees {
        std::vector<Box3> point_boxes, edge_boxes, triangle_boxes;
        geometry::Bvh points, edges, triangles;
        bool built = false;
    };

    const Model* model_ = nullptr;
    std::vector<MaterialPoint> points_;
    std::vector<char> turns_with_;  // points of bodies and scripts, not of vertices
    std::vector<CoupledSurface> surfaces_;
    std::vector<std::uint64_t> never_;  // pairs that do not collide: attached to each other
    std::vector<Trees> trees_;
    std::vector<SurfacePair> pairs_;
    std::map<std::uint64_t, int> pair_of_;
    std::map<std::uint64_t, PairMemo> memory_;
    std::vector<SurfaceCandidate> candidates_;
    std::vector<SurfaceContact> contacts_;
    std::vector<SurfaceFriction> friction_;
    std::vector<Vec3> start_;  // of the step
    std::vector<Vec3> slide_from_;
    std::vector<Vec3> reference_;  // of the candidates
    std::vector<double> reach_;
    std::vector<double> load_;
    ContactScale scale_;
    std::vector<geometry::ItemPair> found_, body_pairs_;
    geometry::BroadPhase broad_phase_;
    std::vector<Box3> boxes_;
    std::vector<char> moves_;
    mutable std::vector<MeasuredGap> measured_;  // per candidate, or empty when none was yet
    mutable std::vector<double> scratch_;
    mutable std::vector<SurfaceContact> tried_;
    int builds_ = 0;
};

}  // namespace tenon::affine

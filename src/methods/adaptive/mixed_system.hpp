// The velocities of a group of bodies that pull at each other, and one linearised backward Euler step of them.
//
// Unknowns are blocks of three: one for each free vertex, in the elimination order of its solid, then two (velocity and
// spin) for each rigid component and each dynamic body. This is A_A of Eq. 11 with G never formed: only elements at the
// boundary of a rigid component see it.
#pragma once

#include <vector>

#include "methods/adaptive/solid.hpp"
#include "solve/block_cholesky.hpp"

namespace tenon::adaptive {

// The velocity of a material point is the sum of `block[k]` times the unknowns of `node[k]`, plus `given`.
struct PointMap {
    int group = -1;
    int count = 0;
    std::array<int, 6> node{};
    std::array<Mat3, 6> block;
    Vec3 given = Vec3::Zero();
};

struct StepInput {
    const Model& model;
    const State& state;
    const std::vector<Solid>& solids;
    const std::vector<SolidState>& states;
    const std::vector<model::RigidState>& bodies;
    const std::vector<Wrench>& wrenches;
    const std::vector<std::vector<Vec3>>& driven;  // of each solid's driven vertices: velocity over the step
    const std::vector<std::vector<Vec3>>& given;   // forces on each solid's vertices; empty: none
    const std::vector<Vec6>& pushes;  // on each solid: impulse and moment of contacts that are held
    double h = 0;
    double least_edge = 0;  // of the finest solid: a velocity over it is a strain rate
};

class MixedSystem {
  public:
    MixedSystem(int group, std::vector<int> solids, std::vector<int> bodies);

    const std::vector<int>& solids() const { return solids_; }
    const std::vector<int>& bodies() const { return bodies_; }

    void lay_out(const std::vector<Solid>& solids, const std::vector<SolidState>& states);
    void assemble(const StepInput& in);  // matrix and right-hand side
    void factor();                       // throws StepFailure
    void solve();                        // velocity() after forces, before contact

    // Newton's method: assembling is then about velocities that start at zero and follow what is found.
    void start_newton(const StepInput& in);
    void end_newton() { about_.clear(); }
    // After solve and contact: goes towards the velocities found, as far as that lowers the energy, and linearises there.
    // Returns the largest difference of a vertex' velocity between there and where it was.
    double refine(const StepInput& in);

    // Velocity changes by impulses on the unknowns, and their inverse mass between nodes.
    void apply(const std::vector<double>& impulse);
    void inverse_on(const std::vector<int>& nodes, std::vector<double>& inverse) const;

    void add_vertex(const StepInput& in, int solid, int vertex, double weight, PointMap& map) const;
    void add_body_point(const StepInput& in, int body, const Vec3& point, PointMap& map) const;

    Vec3 vertex_velocity(int solid, int vertex) const;  // of a free vertex
    Vec6 owner_velocity(int solid, int owner) const;    // velocity and spin of a component
    Vec6 body_velocity(int body) const;

    double largest_change(const StepInput& in) const;  // of a free vertex' velocity
    const std::vector<double>& velocity() const { return velocity_; }
    int nodes() const { return nodes_; }
    int symbolic_count() const { return symbolic_count_; }
    double factor_ms() const { return factor_ms_; }
    double analyse_ms() const { return analyse_ms_; }

  private:
    struct MixedPlaces {            // of an elastic element with a rigid corner
        int nodes = 0;              // that it acts on; a frame has two
        std::array<int, 8> node;    // their numbers
        std::array<int, 28> entry;  // of pairs 10 20 21 30 ... in the pattern
        std::array<int, 4> slot;    // of corners: the node that moves it, -1 when driven
        std::array<bool, 4> rigid;
    };
    struct Part {                     // of one solid
        std::vector<int> owner;       // of vertices, for which this was laid out
        std::vector<int> node;        // of vertices; -1: not free
        std::vector<int> free;        // vertices with a node
        std::vector<int> owner_node;  // of owners: first node of the frame, -1 for drives
        std::vector<int> pure;        // elastic elements without a rigid corner, by colour
        std::vector<int> colour_start;
        std::vector<int> mixed;  // elastic elements with one
        std::vector<MixedPlaces> mixed_places;
        std::vector<ElementPlaces> places;  // of the pure ones
        std::vector<int> boundary;          // rigid vertices of elastic elements
        std::vector<Vec3> load;             // impulses on vertices during assembly
        Linearised about;
    };
    bool is_laid_out(const std::vector<SolidState>& states) const;
    void lay_out_pattern(const std::vector<Solid>& solids, const std::vector<SolidState>& states);
    void add_vertices(const StepInput& in, int k);
    void add_pure_elements(const StepInput& in, int k);
    void add_mixed_elements(const StepInput& in, int k);
    void add_mixed_element(const MixedPlaces& at, const std::array<Vec3, 4>& arm, const Mat12& s);
    void place_mixed(const Part& part, const std::vector<int>& owner, const Tet& tet, int corners,
                     MixedPlaces& at) const;
    void add_component(const StepInput& in, int k, int component);
    void add_body(const StepInput& in, int k);
    void reduce_loads(const StepInput& in, int k);
    int corner_maps(const StepInput& in, int k, int vertex, std::array<int, 2>& node,
                    std::array<Mat3, 2>& block) const;
    Vec3 frame_center(const StepInput& in, int solid, int owner) const;
    Eigen::Map<Mat3> block(int i, int j) { return Eigen::Map<Mat3>(matrix_.lower_block(matrix_.find(i, j))); }
    Eigen::Map<Mat3> diagonal(int i) { return Eigen::Map<Mat3>(matrix_.diagonal_block(i)); }
    Eigen::Map<Vec3> right(int i) { return Eigen::Map<Vec3>(right_.data() + 3 * i); }
    Eigen::Map<Vec3> start(int i) { return Eigen::Map<Vec3>(velocity_.data() + 3 * i); }
    int place_of(int solid) const;
    const Linearised* about(int k) const { return about_.empty() ? nullptr : &parts_[k].about; }
    void spread(const StepInput& in, int k, const std::vector<double>& nodes,
                std::vector<Vec3>& vertices) const;
    std::pair<double, double> elastic_slope(const StepInput& in, int k,
                                            const std::vector<Vec3>& change) const;
    std::vector<Vec3> moved(const StepInput& in, int k, const std::vector<Vec3>& change, double share) const;
    double elastic_energy_along(const StepInput& in, const std::vector<std::vector<Vec3>>& change,
                                double share) const;

    int group_;
    std::vector<int> solids_, bodies_;
    std::vector<Part> parts_;     // of solids_
    std::vector<int> body_node_;  // of bodies_
    int nodes_ = 0, symbolic_count_ = 0;
    bool fresh_ = true;
    solve::BlockMatrix matrix_;
    solve::BlockCholesky cholesky_;
    Mat6 lone_inverse_ = Mat6::Zero();  // of a group that is one rigid body
    std::vector<ElementResponse> responses_;
    std::vector<double> right_, velocity_, change_, about_;
    double factor_ms_ = 0, analyse_ms_ = 0;
};

}  // namespace tenon::adaptive

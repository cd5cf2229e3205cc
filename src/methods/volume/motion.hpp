// The unknowns of a step: six velocities per rigid body, three per vertex of an elastic body, and how an impulse
// changes them (the inverse of the matrix A in Eq. 2).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/elastic_cut.hpp"
#include "model/elastic_elements.hpp"
#include "model/rigid_state.hpp"
#include "solve/block_cholesky.hpp"
#include "tenon/state.hpp"

namespace tenon::volume {

// The linearised backward Euler matrix of one elastic body, factored.
class ElasticSystem {
  public:
    ElasticSystem(const ElasticBody& body, const std::vector<MaterialSpec>& materials,
                  std::vector<Bond> bonds);

    // Assembles and factors A at x; returns the velocities after one unconstrained step.
    void predict(const State& state, const ElasticBody& body, const std::vector<Vec3>& x, double dt,
                 std::vector<Vec3>& velocity);
    // y = A^-1 x, by vertices: bonded ones share what acts on them and move alike.
    void apply_inverse(const std::vector<double>& x, std::vector<double>& y) const;
    // A^-1 between some vertices, of which no two are bonded.
    void inverse_on(const std::vector<int>& vertices, std::vector<double>& inverse) const;
    double energy(const std::vector<Vec3>& x) const { return elastic_energy(elements_, x); }
    int representative(int vertex) const { return vertex_of_[node_[vertex]]; }

  private:
    void join(double time);
    void pin(const State& state, const ElasticBody& body, const std::vector<Vec3>& x, double dt,
             std::vector<Vec3>& velocity) const;

    ElasticElements elements_;
    ElasticAssembly assembly_;
    std::vector<Bond> bonds_;            // between the two sides of a cut
    std::vector<int> node_, vertex_of_;  // unknown of each vertex; the lowest vertex of each unknown
    int bonds_held_ = -1;                // for which the assembly was made
    double rayleigh_mass_ = 0, rayleigh_stiffness_ = 0;
    solve::BlockMatrix stiffness_, matrix_;
    solve::BlockCholesky cholesky_;
};

// All bodies of a world as they move through a step.
class Motion {
  public:
    explicit Motion(const Model& model, const State& state, const std::optional<CutSpec>& cut = std::nullopt);

    // Velocities after gravity, forces and elasticity, without contact.
    void predict(const Model& model, const State& state, double dt);
    void advance(const Model& model, const State& state, double dt);  // positions by the velocities
    void shift(const Model& model, const State& state,
               const std::vector<double>& step);  // positions by a correction
    void store(const Model& model, State& state) const;

    int rigid_offset(int body) const { return 6 * body; }
    int elastic_offset(int elastic) const { return elastic_offset_[elastic]; }
    int unknowns() const { return static_cast<int>(velocity.size()); }
    Mat34 pose(int body) const;
    bool moves(const State& state, int body) const { return state.dynamic(body); }

    // The change of velocity of a rigid body by an impulse and an angular impulse.
    Vec6 rigid_response(const Model& model, const State& state, int body, const Vec6& impulse) const;
    void elastic_response(int elastic, const std::vector<double>& impulse,
                          std::vector<double>& change) const {
        systems_[elastic]->apply_inverse(impulse, change);
    }
    void elastic_inverse(int elastic, const std::vector<int>& among, std::vector<double>& inverse) const {
        systems_[elastic]->inverse_on(among, inverse);
    }
    // The vertex that stands for this one and those bonded to it.
    int representative(int elastic, int vertex) const { return systems_[elastic]->representative(vertex); }
    double elastic_energy() const;

    std::vector<model::RigidState> rigid;
    std::vector<std::vector<Vec3>> vertices;
    std::vector<double> velocity;

  private:
    struct Start {
        model::RigidState state;
        Mat34 q;
    };
    void set_start(const Model& model, const State& state);

    std::vector<Start> start_;  // of rigid bodies
    std::vector<int> elastic_offset_;
    std::vector<std::unique_ptr<ElasticSystem>> systems_;
    std::vector<Wrench> wrenches_;
};

}  // namespace tenon::volume

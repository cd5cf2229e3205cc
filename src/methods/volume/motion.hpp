// The unknowns of a step: six velocities per rigid body, three per vertex of an elastic body, and how an impulse
// changes them (the inverse of the matrix A in Eq. 2).
#pragma once

#include <memory>
#include <vector>

#include "solve/block_cholesky.hpp"
#include "tenon/world.hpp"
#include "world/elastic_elements.hpp"
#include "world/rigid_state.hpp"

namespace tenon::volume {

// The linearised backward Euler matrix of one elastic body, factored.
class ElasticSystem {
  public:
    ElasticSystem(const ElasticBody& body, const std::vector<MaterialSpec>& materials);

    // Assembles and factors A at x; returns the velocities after one unconstrained step.
    void predict(const World& world, const ElasticBody& body, double dt, std::vector<Vec3>& velocity);
    // y = A^-1 x
    void apply_inverse(const std::vector<double>& x, std::vector<double>& y) const {
        cholesky_.solve(x.data(), y.data());
    }
    double energy(const std::vector<Vec3>& x) const { return elastic_energy(elements_, x); }

  private:
    void pin(const World& world, const ElasticBody& body, double dt, std::vector<Vec3>& velocity) const;

    ElasticElements elements_;
    ElasticAssembly assembly_;
    double rayleigh_mass_ = 0, rayleigh_stiffness_ = 0;
    solve::BlockMatrix stiffness_, matrix_;
    solve::BlockCholesky cholesky_;
};

// All bodies of a world as they move through a step.
class Motion {
  public:
    explicit Motion(const World& world);

    // Velocities after gravity, forces and elasticity, without contact.
    void predict(const World& world, double dt);
    void advance(const World& world, double dt);                      // positions by the velocities
    void shift(const World& world, const std::vector<double>& step);  // positions by a correction
    void store(World& world) const;

    int rigid_offset(int body) const { return 6 * body; }
    int elastic_offset(int elastic) const { return elastic_offset_[elastic]; }
    int unknowns() const { return static_cast<int>(velocity.size()); }
    Mat34 pose(int body) const { return world::to_q(rigid[body]); }
    bool moves(const World& world, int body) const { return world.bodies.dynamic(body); }

    // The change of velocity of a rigid body by an impulse and an angular impulse.
    Vec6 rigid_response(const World& world, int body, const Vec6& impulse) const;
    void elastic_response(int elastic, const std::vector<double>& impulse,
                          std::vector<double>& change) const {
        systems_[elastic]->apply_inverse(impulse, change);
    }
    double elastic_energy() const;

    std::vector<world::RigidState> rigid;
    std::vector<std::vector<Vec3>> vertices;
    std::vector<double> velocity;

  private:
    std::vector<int> elastic_offset_;
    std::vector<std::unique_ptr<ElasticSystem>> systems_;
    std::vector<Wrench> wrenches_;
};

}  // namespace tenon::volume

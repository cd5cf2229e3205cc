// One elastic solid in a step: linear tetrahedra, stepped by the rule of the bodies.
//
//   H dx = f,   H = M/eta^2 + (alpha M + beta K_0)/eta + K(x),
//   f = -M (x - x~)/eta^2 - alpha M v - viscous stress - dW/dx + contacts with colliders,   v = (x - x^)/eta
// with x~ where inertia and given forces alone would take it, and x^ = x_n (implicit Euler, eta = h) or (4 x_n - x_n-1)/3
// (BDF2, eta = 2h/3). Viscous stress is that of Hooke's law, times beta, for the rate (S - S^)/eta of the stretch F = R S, turned
// with the element: a turning solid is not braked. K_0 is the stiffness at rest, turned alike. Vertices that are pinned to what does not move freely
// are no unknowns.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "methods/articulated/body_field.hpp"
#include "model/elastic_elements.hpp"
#include "model/elastic_loads.hpp"
#include "solve/block_cholesky.hpp"

namespace tenon::articulated {

// A point of a solid, between up to three vertices of one triangle.
struct SolidPoint {
    int count = 0;
    std::array<int, 3> vertex{{-1, -1, -1}};
    std::array<double, 3> weight{};
};
inline SolidPoint solid_vertex(int vertex) {
    return {1, {{vertex, -1, -1}}, {1.0, 0.0, 0.0}};
}

// A spring that holds a point of a solid: its stiffness joins the matrix.
struct SolidTerm {
    SolidPoint point;
    Mat3 stiffness = Mat3::Zero();
};

class ElasticSolid {
  public:
    ElasticSolid(const Model& model, const State& state, int number);

    int index = 0;  // into Model::elastic
    std::string name;
    std::vector<ElasticBody::Pin> attached;  // to dynamic bodies
    std::vector<int> surface_vertices;       // that are not pinned to anything
    std::vector<Triangle> surface;
    double mean_edge = 0.0, size = 0.0, young = 0.0, mass = 0.0;  // m, m (radius), Pa (the largest), kg

    // Of the step.
    std::vector<Vec3> x, dx;       // iterate and increment
    std::vector<Vec3> unbalanced;  // force that is left at the iterate
    double eta = 0.0;

    bool free(int vertex) const { return node_[vertex] >= 0; }
    Vec3 at(const SolidPoint& point) const { return sum(point, x); }
    Vec3 moved(const SolidPoint& point) const { return sum(point, dx); }  // by the increment
    double mass_at(const SolidPoint& point) const;

    // Targets of a step to `end_time`. `before`: vertices one step earlier, for BDF2. `poses`: of bodies that do not move
    // freely, at the step's end.
    void begin_step(const Model& model, const State& state, double h, double end_time,
                    const ElasticState* before, const std::vector<Mat34>& poses);
    void predict();  // the iterate starts from the rigidly extrapolated shape
    void move(double length);
    // Velocities at the iterate, by the step's rule.
    Vec3 velocity(int vertex) const { return (x[vertex] - base_[vertex]) / eta; }

    // Force at the iterate, without joints and contacts, into `unbalanced`; zero at pinned vertices.
    void set_forces();
    void push(const SolidPoint& point, const Vec3& force);  // adds to `unbalanced`
    // Forces are judged by those at this solid: `at_work` is the largest of its contacts and attachments.
    void judge(double gravity, double at_work, Balance& balance) const;

    // H at the iterate, without springs.
    void linearise();
    // Factors H with these springs. False when there is no positive definite matrix.
    bool factor(const std::vector<SolidTerm>& terms);
    // dx = H^-1 force.
    void solve(const std::vector<Vec3>& force);
    // H^-1 between some free vertices, dense, by columns.
    void inverse_on(const std::vector<int>& vertices, std::vector<double>& inverse) const;

    double energy(const std::vector<Vec3>& at) const { return elastic_energy(elements_, at); }

  private:
    static Vec3 sum(const SolidPoint& point, const std::vector<Vec3>& of) {
        Vec3 out = Vec3::Zero();
        for (int k = 0; k < point.count; ++k) out += point.weight[k] * of[point.vertex[k]];
        return out;
    }
    void start_viscosity(const ElasticState* before);
    void add_viscous_forces();

    ElasticElements elements_;
    ElasticAssembly assembly_;
    std::vector<int> node_, vertex_of_;   // unknown of each vertex, -1: pinned
    std::vector<ElasticBody::Pin> held_;  // pins to what does not move freely
    std::vector<std::vector<Keyframe>> scripts_;
    std::vector<ElasticLoad> loads_;
    std::vector<double> vertex_mass_, mass_damping_, stiffness_damping_;  // of vertices, and of elements
    bool viscous_ = false;

    std::vector<Vec3> start_, start_v_, target_, base_;
    std::vector<Mat12> viscosity_;    // beta K_0 of elements, not turned
    std::vector<Mat3> base_stretch_;  // S^ of elements
    std::vector<Mat3> element_turn_;  // R at the last forces
    bool project_ = false;            // the exact stiffness was not positive definite in this step
    solve::BlockMatrix matrix_;       // H without springs
    solve::BlockCholesky cholesky_;
};

}  // namespace tenon::articulated

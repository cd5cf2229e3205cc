// The potential that one step of a coupled solve minimises:
//     1/2 |q - target|^2_M + h_eff^2 (rigidity + elasticity + barriers + friction + drives),   joints closed.
#pragma once

#include <memory>
#include <vector>

#include "methods/affine/coupled_contacts.hpp"
#include "methods/affine/coupled_joints.hpp"
#include "methods/affine/rigidity.hpp"
#include "model/elastic_elements.hpp"
#include "model/elastic_loads.hpp"

namespace tenon::affine {

struct NodeStep {
    Vec4 mass = Vec4::Zero();  // of the columns of q
    Mat34 start, target;
    double rigidity = 0.0;  // h_eff^2 x kappa x volume
};

// An elastic vertex that is a point of a body or a script.
struct AttachedVertex {
    MaterialPoint point;
    double mass = 0.0;
    Vec3 target = Vec3::Zero();
};

struct ElasticPart {
    ElasticElements elements;
    std::vector<double> mass_damping;       // kg/s of vertices
    std::vector<double> stiffness_damping;  // s of elements
    bool damped = false;                    // some element is
    std::vector<ElasticLoad> loads;
    std::vector<Vec3> start;       // vertices at the start of the step
    std::vector<Mat12> viscosity;  // of damped elements: stiffness there x damping / h
};

std::vector<ElasticPart> make_elastic_parts(const Model& model);
void start_step(std::vector<ElasticPart>& parts, const State& state, double h);

struct CoupledStep {
    CoupledStep(const Model& model_, const State& state, RigidityModel rigidity_)
        : model(&model_),
          nodes(make_nodes(model_, state)),
          rigidity(rigidity_),
          contacts(model_, state, nodes),
          joints(model_, state, nodes),
          elastic(make_elastic_parts(model_)) {}

    const Model* model;
    CoupledNodes nodes;
    RigidityModel rigidity;
    CoupledContacts contacts;
    CoupledJoints joints;
    std::vector<ElasticPart> elastic;
    std::vector<NodeStep> node;
    std::vector<AttachedVertex> attached;
    double potential_scale = 0.0;  // h_eff^2

    void place_vertices(const std::vector<Mat34>& q, std::vector<std::vector<Vec3>>& x) const;
    // All but barriers and friction, J s^2.
    double smooth_energy(const std::vector<Mat34>& q, std::vector<std::vector<Vec3>>& x) const;
};

}  // namespace tenon::affine

// The unknowns of a coupled solve: affine bodies, and elastic vertices four at a time.
//
// Every node has the twelve numbers of a 3x4 matrix q. Of a body they are its affine map [a1 a2 a3 t], of a group of
// vertices their positions. A material point then is x = q w with four constant weights in either case: (x_rest, 1) on a
// body, a unit vector for a vertex. An elastic vertex that is attached to a body is a point of that body.
//
// Increments are made in other coordinates. Of a body: turn w, shift u and strain E, A -> exp(w) (A + A E), so that the
// stiffness of the body meets six of the twelve unknowns only and a turn never strains. Of vertices: their displacements.
#pragma once

#include <array>
#include <vector>

#include "methods/affine/integrator.hpp"
#include "tenon/state.hpp"

namespace tenon::affine {

struct MaterialPoint {
    int node = -1;  // -1: nothing moves it
    Vec4 weight = Vec4::Zero();
    Vec3 fixed = Vec3::Zero();  // where it is then

    Vec3 at(const std::vector<Mat34>& q) const { return node < 0 ? fixed : Vec3(q[node] * weight); }
};

struct CoupledNode {
    enum class Kind { body, script, vertices };
    Kind kind = Kind::body;
    int body = -1;                                // of a body
    int elastic = -1, script = -1;                // of a script that moves pins, and of vertices
    std::array<int, 4> vertex{{-1, -1, -1, -1}};  // of vertices
    double size = 0.0;                            // m, of what a body or script moves

    bool turns() const { return kind != Kind::vertices; }
};

struct CoupledNodes {
    std::vector<CoupledNode> node;
    std::vector<int> of_body;                        // -1: static
    std::vector<std::vector<MaterialPoint>> vertex;  // of elastic bodies
    std::vector<std::array<int, 2>> attached;        // elastic body and vertex: points of a body or a script

    int size() const { return static_cast<int>(node.size()); }
    MaterialPoint point_of(const State& state, int body, const Vec3& local) const;
};

CoupledNodes make_nodes(const Model& model, const State& state);

// dq of an increment (w, u, E) at q, and loads on q as loads on the increment: its transpose.
Mat12 increment_map(const CoupledNode& node, const Mat34& q);

// The map with the unknowns left out that a body's fixed coordinates hold.
Mat12 increment_map(const CoupledNode& node, const Mat34& q, const Model& model);

Mat34 moved(const CoupledNode& node, const Mat34& q, const Vec12& increment, double t);

}  // namespace tenon::affine

// One elastic body as the adaptive method sees it: what stays constant, and what is rigid at the moment.
#pragma once

#include <array>
#include <vector>

#include "model/elastic_elements.hpp"
#include "model/elastic_loads.hpp"
#include "model/rigid_state.hpp"
#include "tenon/state.hpp"

namespace tenon::adaptive {

struct Solid {
    int index = 0;  // into Model::elastic
    ElasticElements elements;
    std::vector<double> mass, damping;       // of vertices: lumped, and weighted with Rayleigh's alpha_0
    std::vector<double> stiffness_damping;   // alpha_1 of elements
    std::vector<Mat3> rest_block;            // diagonal blocks of the stiffness at rest ...
    std::vector<Mat3> rest_damping_block;    // ... and of the same weighted with alpha_1
    std::vector<std::array<int, 4>> across;  // element on the other side of the face opposite a corner, or -1
    std::vector<int> order, position;        // elimination order of all vertices, and its inverse
    std::vector<int> adjacent_start, adjacent;  // vertices that share an element, ascending by position
    std::vector<int> colour;                    // elements of one colour share no vertex
    int colours = 0;
    std::vector<int> surface_vertices;
    std::vector<Vec3> rest;
    std::vector<Triangle> surface;

    // Vertices that are moved from outside: by a script, or by a body that is not dynamic. One per such frame.
    struct Drive {
        int script = -1, body = -1;
    };
    std::vector<Drive> drives;
    std::vector<int> holders;  // dynamic bodies that vertices are attached to
    std::vector<char> pinned;  // vertices
    std::vector<ElasticLoad> loads;

    int vertices() const { return static_cast<int>(mass.size()); }
    double mean_edge() const;
    double scale(int element, double h) const { return h * (h + stiffness_damping[element]); }
};

Solid make_solid(const Model& model, const State& state, int index);

// A connected set of elements that moves as one.
struct Component {
    model::RigidState state;  // axes along the principal axes
    double mass = 0.0;
    Vec3 moments = Vec3::Zero();
    Mat6 damping = Mat6::Zero();  // of velocity and spin, in the component's frame
    std::vector<int> vertices;
    std::vector<Vec3> internal;  // forces of its own elements on them, in its frame
    int elements = 0;
};

// Who moves a vertex: nobody (-1: it is a free vertex), a drive, a holder, or a component, counted in this order.
struct SolidState {
    std::vector<Vec3> x, v;
    std::vector<int> owner;       // of vertices
    std::vector<Vec3> local;      // of owned vertices, in the owner's frame
    std::vector<char> rigid;      // elements: wants to be rigid
    std::vector<int> element_of;  // elements: the owner that moves all of its corners, or -1: elastic
    std::vector<int> calm;        // steps below tau_R
    std::vector<std::array<double, 6>> strain;  // Green's, at the end of the last step
    std::vector<double> rate;     // squared strain rate: measured, or forecast for rigid elements
    std::vector<float> forecast;  // shown_rate of the last forecast of rigid elements
    std::vector<double> energy;   // of elements, when they last were elastic
    std::vector<Component> components;
    int elastic_elements = 0;
    std::vector<int> elastic_list;
    double rigid_energy = 0.0;  // of elements that are not elastic

    long formed = 0;           // counts how often components were formed
    Vec3 spin = Vec3::Zero();  // of the solid as a whole; zero when it is driven
    bool shown = false;        // element_state has what rigid elements look like

    int first_component = 0;  // owner of component 0
    bool wholly_rigid() const { return elastic_elements == 0; }
};

void list_elastic_elements(SolidState& part);  // and the energy of the others
SolidState make_state(const Solid& solid, const ElasticState& body);

// Where Newton's method linearises elastic forces: velocities of vertices, and x + h u.
struct Linearised {
    std::vector<Vec3> u, x;
};

// The spin that has the angular momentum of a solid; zero when it is driven.
Vec3 mean_spin(const Solid& solid, const SolidState& part);

// Up to four elements in a batch: S = h^2 K + h alpha_1 D, and the load h f - S (v - w) with the new velocity of driven corners.
// w is what takes the solid, turned as a whole by its spin, to where it is after the step: linear forces would take that for
// a stretch of (h spin)^2 / 2, and for a couple that brakes. What is rigid moves along circles as well.
// With `about`, forces and K are those at x + h u, and the load has h f - h^2 K (v - u) - h alpha_1 D (v - w).
void respond_to(const Solid& solid, const SolidState& part, const std::vector<Vec3>& driven, const int* list,
                int count, double h, bool blocks, ElementBatch& batch, const Linearised* about = nullptr);

// A squared strain rate as it is recorded: 0 to 1 for 1e-10 to 1e6, by its logarithm.
float shown_rate(double squared);

std::array<double, 6> green_strain(const Mat3& f);
double squared_rate(const std::array<double, 6>& from, const std::array<double, 6>& to, double h);

}  // namespace tenon::adaptive

// The linear tetrahedra of an elastic body (or its plane-strain triangles): rest shape, forces, stiffness.
#pragma once

#include <vector>

#include "model/elastic_kernel.hpp"
#include "solve/block_matrix.hpp"
#include "tenon/state.hpp"

namespace tenon {

// What stays constant about the elements of a body.
struct ElasticElements {
    ElasticModel model = ElasticModel::neo_hookean;
    int corners = 4;  // 3 for plane-strain triangles
    std::vector<Tet> tets;
    std::vector<Eigen::Matrix<double, 4, 3>> shape_gradient;  // row k: rest gradient of corner k's weight
    std::vector<double> volume;
    std::vector<Lame> material;

    int size() const { return static_cast<int>(tets.size()); }
    Mat3 deformation(int element, const std::vector<Vec3>& x) const;  // F
    Mat3 deformation_rate(int element,
                          const std::vector<Vec3>& v) const;  // dF/dt, no 1 in the plane-strain corner
};

ElasticElements make_elements(const ElasticBody& body, const std::vector<MaterialSpec>& materials);

double elastic_energy(const ElasticElements& elements, const std::vector<Vec3>& x);

// Adds minus the energy's gradient to `force`.
void add_elastic_forces(const ElasticElements& elements, const std::vector<Vec3>& x,
                        std::vector<Vec3>& force);

// Stiffness of one element over its corners: 12x12 (9x9 in its upper left for triangles), positive semidefinite
// when projected.
Mat12 element_stiffness(const ElasticElements& elements, int element, const std::vector<Vec3>& x,
                        bool project);

// Forces (minus the energy's gradient, by corner) and stiffness of elements.
struct ElementResponse {
    std::array<Vec3, 4> force;
    Mat12 stiffness;
};
void element_responses(const ElasticElements& elements, const int* list, int count,
                       const std::vector<Vec3>& x, bool project, ElementResponse* responses);

// The same in batches: an element becomes a lane, with its volume as the scale of forces and stiffness, undamped.
void set_lane(const ElasticElements& elements, int element, const std::vector<Vec3>& x, int lane,
              ElementBatch& batch);
void set_rate(const ElasticElements& elements, int element, const std::array<Vec3, 4>& v, int lane,
              ElementBatch& batch);
void respond(const ElasticElements& elements, bool project, bool blocks, ElementBatch& batch);
void read_lane(const ElementBatch& batch, int lane, int corners, ElementResponse& response);

// Where the blocks of an element go in a BlockMatrix.
struct ElementPlaces {
    std::array<int, 4> node;         // diagonal blocks, -1 when absent
    std::array<int, 6> entry;        // pairs 01 02 03 12 13 23: entry of the pattern, -1 when absent
    std::array<bool, 6> transposed;  // the pair's first corner is the column
};
void add_blocks(const ElementBatch& batch, int lane, const ElementPlaces& places, solve::BlockMatrix& matrix);

// The graph of vertices that share an element, and each element's places in it.
struct ElasticAssembly {
    solve::BlockPattern pattern;
    std::vector<ElementPlaces> places;
    std::vector<int> colour_start, by_colour;  // elements of one colour share no vertex
};

// `node_of_vertex` maps vertices to nodes of the matrix; -1 leaves a vertex out (pinned or rigid).
ElasticAssembly make_assembly(const ElasticElements& elements, const std::vector<int>& node_of_vertex,
                              int nodes);

// matrix += scale * stiffness of the elements, in parallel, the same bits for any number of threads.
void add_stiffness(const ElasticElements& elements, const ElasticAssembly& assembly,
                   const std::vector<Vec3>& x, double scale, bool project, solve::BlockMatrix& matrix);

}  // namespace tenon

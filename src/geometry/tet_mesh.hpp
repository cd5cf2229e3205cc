// Tetrahedral meshes: reading, checking, their surface, and finding where points lie in them.
#pragma once

#include <string>
#include <vector>

#include "tenon/mesh.hpp"

namespace tenon::geometry {

struct TetMesh {
    std::vector<Vec3> vertices;
    std::vector<Tet> tets;
    std::vector<int> region;  // label of each tetrahedron in the file, 0 where it has none
};

// Gmsh MSH (2.2 and 4.1, text), legacy VTK (text), MEDIT .mesh, TetGen .node with the .ele beside it.
// Throws InputError that names the file and the line.
TetMesh read_tets(const std::string& file);

struct TetReport {
    int inverted = 0, degenerate = 0, slivers = 0, unused_vertices = 0;
    int first_inverted = -1, first_degenerate = -1, first_sliver = -1;
    double worst_quality = 1.0;  // 1: regular; 0: flat
};

// Volume over the cube of the root-mean-square edge length, scaled so that a regular tetrahedron has 1.
double tet_quality(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);
TetReport check_tets(const TetMesh& mesh);

// Faces of one tetrahedron only, facing outward.
std::vector<Triangle> tet_surface(const std::vector<Tet>& tets);

// For each point the tetrahedron that holds it (or the nearest one) and its weights there.
struct Embedding {
    std::vector<int> tet;
    std::vector<Vec4> weight;
};
Embedding embed(const std::vector<Vec3>& points, const TetMesh& mesh);

// Fills a closed surface with tetrahedra of about `cell_size` that keep its corners, sharp edges and faces; smaller ones
// where the solid is thin or strongly curved. Solids with faces at right angles become bricks, whose planes include those
// of `regions`. Throws std::invalid_argument when the surface is open or the cells are too many.
TetMesh fill_with_tets(const Mesh& surface, double cell_size, const std::vector<Box3>& regions = {});

// A tenth of the longest side, less where walls are thin: two and a half cells go through them.
double chosen_cell_size(const Mesh& surface);

}  // namespace tenon::geometry

// What a picture shows: meshes, the bodies that wear them, and elastic solids; from the static form of a run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "render/colors.hpp"
#include "render/scene_hints.hpp"
#include "run/run_file.hpp"

namespace tenon::render {

// Balls and discs look the same however they turn, so their quarters are painted in two shades.
enum class Quarters { none, about_x, about_y, about_z, of_ball };

// Triangles with a normal for each corner. Wires and points have become thin prisms and small balls.
struct DrawMesh {
    std::vector<Vec3f> vertices;
    std::vector<Triangle> triangles;
    std::vector<Vec3f> corner_normals;  // three per triangle
    Vec3f center = Vec3f::Zero();       // of the bounding sphere
    float radius = 0.0f;
    bool closed = false;  // its back faces are never seen
    Quarters quarters = Quarters::none;
};

struct DrawBody {
    int mesh = -1;
    bool moves = true;
    Vec3f color = Vec3f::Ones();
};

struct DrawElastic {
    std::vector<Triangle> triangles;
    std::vector<int> triangle_tet;  // which tetrahedron a triangle belongs to; -1 unknown
    std::vector<int>
        embedded_tet;  // of a fine surface inside the tetrahedra; empty: vertices are the solid's
    std::vector<Vec4> embedded_weight;
    std::vector<Tet> tets;
    Vec3f color = Vec3f::Ones();
    std::vector<int>
        triangle_material;  // which of the materials of its regions, -1: its own; empty: it has one
};

// A rod that is drawn with a body (struts.hpp), in its frame.
struct Strut {
    int body = -1;
    DrawMesh mesh;
};

struct Drawing {
    std::vector<DrawMesh> meshes;
    std::vector<DrawMesh> coarse;  // a box for each mesh: for bodies a few pixels wide
    std::vector<DrawBody> bodies;
    std::vector<DrawElastic> elastic;
    std::vector<Strut> struts;
    std::vector<Box3> boxes;  // of each mesh, body frame
    Vec3 up = Vec3::UnitY();
    std::map<std::string, std::vector<double>> camera;  // the scene's hints
};

Drawing model_of(const run::RunModel& run, const SceneHints& hints);
Drawing model_of(const run::RunReader& reader);

// Corners share a normal across edges flatter than this; sharper edges stay sharp.
constexpr double crease_degrees = 35.0;
DrawMesh draw_mesh(const Mesh& mesh, bool closed);

// Positions of an elastic solid's drawn vertices in a frame.
std::vector<Vec3f> drawn_vertices(const DrawElastic& elastic, const std::vector<Vec3>& x);
std::vector<Vec3f> corner_normals(const std::vector<Vec3f>& vertices, const std::vector<Triangle>& triangles);

// What a camera should see of a frame: corners of the boxes of what moves, and of statics near by. Few outliers
// among many bodies are left out.
std::vector<Vec3> points_of_interest(const Drawing& model, const std::vector<run::Frame>& frames);

}  // namespace tenon::render

// What does not change while a scene is simulated: shapes, masses, materials, joint frames, scripts, pair rules, names.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tenon/mesh.hpp"
#include "tenon/scene.hpp"
#include "tenon/shape.hpp"
#include "tenon/types.hpp"

namespace tenon {

// Arrays over bodies: entry i of each describes body i.
struct Bodies {
    std::vector<std::string> name;
    std::vector<int> shape;            // index into Model::shapes
    std::vector<BodyType> start_type;  // State::type is what a body is now
    std::vector<Mat34> start_q;        // pose at the start: body frame to world
    std::vector<Mat34> start_rate;     // its dq/dt
    std::vector<double> mass;          // kg
    std::vector<Vec3> second_moments;  // integral of rho x_k^2, kg m^2 (not moments of inertia)
    std::vector<double> volume;        // m^3
    std::vector<int> material;         // index into Model::materials
    std::vector<double> friction, restitution, min_separation;
    std::vector<std::array<bool, 6>> fixed;
    std::vector<std::string> group;
    std::vector<char> collides;
    std::vector<std::vector<Keyframe>> motion;  // of the geometry frame
    std::vector<double> kinematic_until;
    std::vector<std::array<double, 3>> color;

    int size() const { return static_cast<int>(mass.size()); }
    Vec3 moments_of_inertia(int body) const {
        const Vec3& s = second_moments[body];
        return {s.y() + s.z(), s.z() + s.x(), s.x() + s.y()};
    }
};

// A joint with its anchors and axes fixed in the two bodies' frames (or in the world, for body -1).
struct Joint {
    JointSpec spec;
    std::array<int, 2> bodies{-1, -1};
    std::array<Vec3, 2> point;  // anchor in each body's frame
    std::array<Mat3, 2> frame;  // columns: axis and two normals, equal in the world at the start
    double rest_length = 0.0;   // distance joints
    std::array<double, 3> start_coordinate{};  // where the joint starts: angles count their turns
};

// An elastic solid of linear tetrahedra (or plane-strain triangles, whose fourth index is -1).
struct ElasticBody {
    std::string name;
    std::string model;
    std::vector<Vec3> rest;              // vertices without strain
    std::vector<Vec3> start_x, start_v;  // at the start
    std::vector<Tet> tets;
    std::vector<double> vertex_mass;
    std::vector<int> tet_material;  // index into Model::materials
    std::vector<Triangle> surface;  // boundary of the tetrahedra
    Mesh embedded;                  // fine surface, and for each of its vertices a tetrahedron and weights
    std::vector<int> embedded_tet;
    std::vector<Vec4> embedded_weight;
    struct Pin {
        int vertex = -1;
        int body = -1;              // attached to this body, or scripted
        Vec3 local = Vec3::Zero();  // in that body's frame, or in the script's frame
        int script = -1;            // index into scripts
    };
    std::vector<Pin> pins;
    std::vector<std::vector<Keyframe>> scripts;
    bool plane_strain = false;
    double thickness = 1.0;  // of plane-strain bodies
    double friction = 0.3, restitution = 0.0;
    std::array<double, 3> color{-1, -1, -1};
};

struct Model {
    std::vector<std::shared_ptr<const Shape>> shapes;
    std::vector<MaterialSpec> materials;
    Bodies bodies;
    std::vector<Joint> joints;
    std::vector<ElasticBody> elastic;
    std::vector<ActuatorSpec> actuators;  // their motors are in the joints
    std::vector<ForceSpec> forces;
    WindSpec wind;
    ContactSpec contact_spec;
    Vec3 gravity = Vec3::Zero();  // at the start; State::gravity is what acts

    const Shape& shape_of(int body) const { return *shapes[bodies.shape[body]]; }
    double pair_friction(int a, int b) const;  // body numbers; elastic bodies after bodies
    double pair_restitution(int a, int b) const;
    bool may_collide(int a, int b) const;  // types, groups, ignore list, joints

    std::unordered_set<std::uint64_t> ignored_pairs;
    std::unordered_map<std::uint64_t, PairSpec> material_pairs;
    std::unordered_map<int, std::array<Vec3, 2>>
        release_velocity;                            // linear and angular, of bodies let go with their own
    std::unordered_map<int, int> shape_of_geometry;  // scene geometry to shape, for bodies that share one
};

// Key of an unordered pair in ignored_pairs and material_pairs.
inline std::uint64_t pair_key(int a, int b) {
    const auto lo = static_cast<std::uint32_t>(a < b ? a : b), hi = static_cast<std::uint32_t>(a < b ? b : a);
    return (static_cast<std::uint64_t>(hi) << 32) | lo;
}

// Builds shapes, mass properties and frames. Shapes of `earlier`, a model of a scene with the same geometries, are used
// again. Throws InputError with a path such as `bodies[3].mesh`.
Model compile(const Scene& scene, const Model* earlier = nullptr);

}  // namespace tenon

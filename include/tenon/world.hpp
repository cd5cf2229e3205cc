// The state that steps: bodies, joints and elastic solids, built from a Scene.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tenon/mesh.hpp"
#include "tenon/scene.hpp"
#include "tenon/types.hpp"

namespace tenon {

// A simple solid that a mesh approximates: methods with analytic contact use it instead of the mesh.
struct Primitive {
    enum class Kind { none, box, sphere, capsule, cylinder, cone, plane } kind = Kind::none;
    Vec3 size = Vec3::Zero();  // box: full lengths; sphere: radius; capsule, cylinder, cone: radius, length
    Pose frame;                // of the primitive in the body frame (axis along its y; plane normal along y)
};

// Geometry and mass distribution shared by all bodies that look alike. The body frame has its origin in
// the centre of mass and its axes along the principal axes.
struct Shape {
    std::string name;
    Mesh mesh;                    // in the body frame
    std::vector<Edge> all_edges;  // every edge of the mesh, loose ones included
    Pose geometry_frame;          // the geometry's own frame, seen from the body frame
    Primitive primitive;
    double volume = 0.0;                 // m^3
    Vec3 second_moments = Vec3::Zero();  // integral of x_k^2 over the volume, m^5 (unit density)
    double radius = 0.0;                 // largest distance of a vertex from the origin
    Box3 box;                            // of the vertices, body frame
    bool closed = false;                 // watertight and oriented
    bool convex = false;
};

// Arrays over bodies: entry i of each describes body i.
struct Bodies {
    std::vector<std::string> name;
    std::vector<int> shape;  // index into World::shapes
    std::vector<BodyType> type;
    std::vector<Mat34> q;              // body frame to world
    std::vector<Mat34> rate;           // dq/dt
    std::vector<double> mass;          // kg
    std::vector<Vec3> second_moments;  // integral of rho x_k^2, kg m^2 (not moments of inertia)
    std::vector<double> volume;        // m^3
    std::vector<int> material;         // index into World::materials
    std::vector<double> friction, restitution, min_separation;
    std::vector<std::array<bool, 6>> fixed;
    std::vector<std::string> group;
    std::vector<char> collides;
    std::vector<std::vector<Keyframe>> motion;  // of the geometry frame
    std::vector<double> kinematic_until;
    std::vector<std::array<double, 3>> color;

    int size() const { return static_cast<int>(q.size()); }
    bool dynamic(int body) const { return type[body] == BodyType::dynamic_body; }
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
    bool broken = false;
    Vec3 force = Vec3::Zero();  // on the second body, world frame, at the anchor (output)
    Vec3 torque = Vec3::Zero();
    std::array<double, 3> coordinate{};  // joint coordinates (output)
    std::array<double, 3> coordinate_rate{};
};

// An elastic solid of linear tetrahedra (or plane-strain triangles, whose fourth index is -1).
struct ElasticBody {
    std::string name;
    std::string model;
    std::vector<Vec3> rest, x, v;  // vertices
    std::vector<Tet> tets;
    std::vector<double> vertex_mass;
    std::vector<int> tet_material;  // index into World::materials
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
    std::vector<float> element_state;  // per tetrahedron, for pictures: meaning set by the method
};

// One contact of the last step. Elastic bodies are numbered after the bodies.
struct Contact {
    int a = -1, b = -1;
    Vec3 point = Vec3::Zero();
    Vec3 normal = Vec3::Zero();  // from a to b
    Vec3 force = Vec3::Zero();   // on b, N, averaged over the step
    double distance = 0.0;       // negative: penetration
};

struct World {
    std::vector<std::shared_ptr<const Shape>> shapes;
    std::vector<MaterialSpec> materials;
    Bodies bodies;
    std::vector<Joint> joints;
    std::vector<ElasticBody> elastic;
    std::vector<ForceSpec> forces;
    WindSpec wind;
    ContactSpec contact_spec;
    Vec3 gravity = Vec3::Zero();
    double time = 0.0;
    long step = 0;
    std::vector<Contact> contacts;  // of the last step, filled by the method

    const Shape& shape_of(int body) const { return *shapes[bodies.shape[body]]; }
    double pair_friction(int a, int b) const;  // body numbers; elastic bodies after bodies
    double pair_restitution(int a, int b) const;
    bool may_collide(int a, int b) const;  // types, groups, ignore list, joints
    Box3 bounds() const;                   // of everything, now
    double scene_length() const;           // diagonal of the dynamic bodies' and near statics' box

    std::unordered_set<std::uint64_t> ignored_pairs;
    std::unordered_map<std::uint64_t, PairSpec> material_pairs;
    std::unordered_map<int, int> shape_of_geometry;  // scene geometry to shape, for bodies that share one
};

// Key of an unordered pair in ignored_pairs and material_pairs.
inline std::uint64_t pair_key(int a, int b) {
    const auto lo = static_cast<std::uint32_t>(a < b ? a : b), hi = static_cast<std::uint32_t>(a < b ? b : a);
    return (static_cast<std::uint64_t>(hi) << 32) | lo;
}

// Builds shapes, mass properties and states. Throws InputError with a path such as `bodies[3].mesh`.
World build_world(const Scene& scene);

// Adds body `index` of the scene to the world (used by build_world, and to add bodies later).
int add_body(World& world, const Scene& scene, int index);

// Removes a body with its joints, forces and ignore entries; later bodies move down by one.
void remove_body(World& world, int body);

// Where the motion of a kinematic body has it at a time: body frame to world, and its rate.
Mat34 scripted_pose(const World& world, int body, double time);
Mat34 scripted_rate(const World& world, int body, double time);

// Force and torque about the centre of mass from `forces` and wind at a time (gravity not included).
struct Wrench {
    Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
};
Wrench external_wrench(const World& world, int body, double time);
void external_wrenches(const World& world, double time, std::vector<Wrench>& out);  // all bodies at once

struct Energies {
    double kinetic = 0, gravity = 0, elastic = 0;
    double total() const { return kinetic + gravity + elastic; }
};
Energies energies(const World& world);
Vec3 linear_momentum(const World& world);
Vec3 angular_momentum(const World& world);  // about the origin

// Largest violation of the joints' geometric conditions: metres for points, radians for directions.
double joint_residual(const World& world, const Joint& joint);
double joint_residual_max(const World& world);

// True when every coordinate and rate is finite.
bool all_finite(const World& world);

}  // namespace tenon

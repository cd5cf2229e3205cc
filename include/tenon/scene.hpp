// The scene description: plain data, in SI units, independent of any method.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/params.hpp"
#include "tenon/types.hpp"

namespace tenon {

struct GeometryPart;

// Geometry of one or many bodies: a built-in shape with its parameters, a mesh file, an inline mesh, or several of
// these as parts of one solid.
struct GeometrySpec {
    std::string shape;           // built-in shape's name, or empty
    Params shape_params;         // complete set of the shape's parameters
    std::string mesh_file;       // resolved path, or empty
    std::vector<Vec3> vertices;  // inline mesh
    std::vector<Triangle> triangles;
    std::vector<Edge> edges;
    std::vector<int> points;
    std::vector<GeometryPart> parts;  // volumes of parts that overlap add up
    Vec3 scale = Vec3::Ones();
    double thickness = 0.0;  // of open, flat, edge-only and point-only meshes
    bool repair = false;     // weld, orient and drop degenerate triangles instead of refusing them
    friend bool operator==(const GeometrySpec&, const GeometrySpec&);
};

// A piece of a geometry and where it sits in the geometry's frame. Parts have no parts of their own.
struct GeometryPart {
    GeometrySpec geometry;
    Vec3 position = Vec3::Zero();
    Quat rotation = Quat::Identity();
    friend bool operator==(const GeometryPart&, const GeometryPart&);
};

struct MaterialSpec {
    std::string name;
    double density = 1000.0;   // kg/m^3
    double young = 1e9;        // Pa
    bool young_given = false;  // by the scene: bodies of `articulated` are elastic then, and rigid otherwise
    double poisson = 0.3;
    double max_strain = 0.0;  // deformation that is meant; 0: none, and more than 1e-2 is a fault
    double friction = 0.3;
    double restitution = 0.0;
    double rayleigh_mass = 0.0;       // 1/s, elastic bodies
    double rayleigh_stiffness = 0.0;  // s, elastic bodies
};

enum class BodyType { dynamic_body, static_body, kinematic_body };

struct Keyframe {
    double time = 0.0;
    Vec3 position = Vec3::Zero();
    Quat rotation = Quat::Identity();
};

struct InertiaSpec {
    Vec3 center = Vec3::Zero();    // centre of mass in the geometry's frame
    Vec3 moments = Vec3::Zero();   // principal moments of inertia, kg m^2
    Quat axes = Quat::Identity();  // principal axes in the geometry's frame
};

struct BodySpec {
    std::string name;
    BodyType type = BodyType::dynamic_body;
    int geometry = -1;             // index into Scene::geometries; -1: none, with mass and inertia given
    int material = 0;              // index into Scene::materials
    Vec3 position = Vec3::Zero();  // of the geometry's frame
    Quat rotation = Quat::Identity();
    Vec3 linear_velocity = Vec3::Zero();   // of the centre of mass, m/s
    Vec3 angular_velocity = Vec3::Zero();  // rad/s, world frame
    std::optional<double> density, mass, friction, restitution;
    std::optional<InertiaSpec> inertia;
    std::array<bool, 6> fixed{};  // x y z rx ry rz, world axes
    std::string group;            // bodies of one non-empty group do not collide with each other
    bool collides = true;
    double min_separation = 0.0;     // m
    std::vector<Keyframe> motion;    // kinematic bodies
    double kinematic_until = 1e300;  // a kinematic body becomes dynamic at this time
    std::array<double, 3> color{-1, -1, -1};
};

enum class JointType { ball, hinge, universal, prismatic, fixed, cylindrical, planar, distance, coupling };

struct SpringSpec {
    double stiffness = 0.0;  // N/m or N m/rad
    double damping = 0.0;    // N s/m or N m s/rad
    double rest = 0.0;
};

// Without gains a motor holds its target exactly while its force stays within `max`. With gains its force is
// stiffness (target - q) - damping q' (position) or damping (target - q') (velocity), cut off at `max`.
struct MotorSpec {
    enum class Type { none, velocity, position, force } type = Type::none;
    double target = 0.0;
    double max = 1e300;                          // N or N m
    double stiffness = 0.0;                      // N/m or N m/rad
    double damping = 0.0;                        // N s/m or N m s/rad
    std::vector<std::array<double, 2>> profile;  // (time, target), linear in between

    // The actuators that this motor was made from, whose targets a state may set: target = (l - constant) / factor, or,
    // of forces, the sum of factor * f.
    struct Source {
        int actuator = -1;
        double factor = 1.0, constant = 0.0;
        double target = 0.0;  // of a force: what the scene says
        std::vector<std::array<double, 2>> profile;
        std::array<double, 2> limits{-1e300, 1e300};  // of a force
    };
    std::vector<Source> sources;
};

// What acts along one free coordinate of a joint.
struct DriveSpec {
    std::optional<std::array<double, 2>> limits;
    std::optional<SpringSpec> spring;
    double friction = 0.0;  // N or N m
    double armature = 0.0;  // kg or kg m^2
    MotorSpec motor;
    bool empty() const {
        return !limits && !spring && friction == 0 && armature == 0 && motor.type == MotorSpec::Type::none;
    }
};

struct JointSpec {
    std::string name;
    JointType type = JointType::ball;
    std::array<int, 2> bodies{-1, -1};  // -1: the world
    Vec3 point = Vec3::Zero();          // world frame, at the start
    std::optional<Vec3> point_b;        // anchor on the second body, when it differs (distance)
    Vec3 axis = Vec3::UnitZ();
    std::optional<Vec3> axis_b;             // second axis (universal)
    std::vector<DriveSpec> drives;          // one per free coordinate, in the order of docs/joints.md
    std::optional<SpringSpec> twist, bend;  // ball joints: about, and away from, `axis`
    bool linear = false;                    // linear form of the rows (6-row hinge, two-hinge universal)
    double break_force = 1e300, break_torque = 1e300;
    std::array<int, 2> joints{-1, -1};  // coupling: joints, their coordinates, q2 = ratio * q1 + offset
    std::array<int, 2> coordinates{0, 0};
    double ratio = 1.0, offset = 0.0;
    // Where the joint starts, when not at zero: one number per free coordinate. A ball joint takes a quaternion
    // [w,x,y,z] and an angular velocity of the second body against the first, about the axes of the world at the
    // start as the first body carries them. Poses of bodies are those with all joints at zero.
    std::vector<double> start, start_rate;
};

// A fixed tendon: length = sum of coefficient * joint coordinate.
struct TendonSpec {
    struct Term {
        int joint = -1;
        int coordinate = 0;
        double coefficient = 1.0;
    };
    std::string name;
    std::vector<Term> terms;
};

// A drive with a name. It acts on l = gear * (joint coordinate), or gear * (tendon length), with the force f; the
// coordinate feels gear * f. Without gains position and velocity are held exactly while f stays within its limits.
struct ActuatorSpec {
    enum class Type { position, velocity, torque };
    std::string name;
    Type type = Type::torque;
    int joint = -1;  // of a joint's coordinate ...
    int coordinate = 0;
    int tendon = -1;  // ... or of a tendon
    double gear = 1.0;
    double kp = 0.0;  // position: f = kp (target - l) - kd l'
    double kd = 0.0;  // velocity: f = kd (target - l')
    std::array<double, 2> force_limits{-1e300, 1e300};
    double velocity_limit = 1e300;                       // of l, on the way to a target
    std::array<double, 2> target_limits{-1e300, 1e300};  // targets beyond are refused
    double target = 0.0;                                 // of l; or f itself
    std::vector<std::array<double, 2>> profile;          // (time, target), linear in between
};

// A state by name: what it does not mention is as in the scene.
struct KeyframeSpec {
    struct JointState {
        int joint = -1;
        std::vector<double> position, velocity;  // as JointSpec::start and start_rate; empty: not given
    };
    struct BodyState {
        int body = -1;
        std::optional<Vec3> position, linear_velocity, angular_velocity;
        std::optional<Quat> rotation;
    };
    struct Target {
        int actuator = -1;
        double target = 0.0;
    };
    std::string name;
    std::vector<JointState> joints;
    std::vector<BodyState> bodies;
    std::vector<Target> targets;
};

// A named measurement, taken after every step.
struct SensorSpec {
    enum class Type {
        pose,            // x y z, qw qx qy qz of the frame at `point` of `body`
        velocity,        // vx vy vz, wx wy wz of that frame
        acceleration,    // ax ay az: mean over the step, minus gravity, in the sensor's frame (inertial unit)
        joint_position,  // of `joint`, `coordinate`
        joint_velocity,
        joint_torque,   // what the joint carries along its coordinate, drives included
        force_torque,   // fx fy fz, tx ty tz that a joint puts on its second body
        contact_force,  // fx fy fz on `body`, from `other` or from all
        distance,       // between the surfaces of `body` and `other`
    };
    std::string name;
    Type type = Type::pose;
    int body = -1, other = -1;
    int joint = -1, coordinate = 0;
    Vec3 point = Vec3::Zero();  // in the body's geometry frame
    Quat rotation = Quat::Identity();
    bool body_frame = false;  // velocity, force_torque, contact_force: in the sensor's frame, not the world's
};

struct ElasticSpec {
    std::string name;
    std::string tets_file;  // tetrahedra from a file, or made from `geometry`
    int geometry = -1;
    double cell_size = 0.0;             // m, of the lattice made from `geometry`; 0: chosen
    std::string model = "neo-hookean";  // neo-hookean | stvk | corotational
    int material = 0;
    Vec3 scale = Vec3::Ones();
    Vec3 position = Vec3::Zero();
    Quat rotation = Quat::Identity();
    Vec3 linear_velocity = Vec3::Zero();
    Vec3 angular_velocity = Vec3::Zero();
    std::string surface_file;  // embedded fine surface
    struct Region {
        Vec3 lo, hi;  // box in the body's rest frame
        int material = 0;
    };
    std::vector<Region> regions;  // other materials inside boxes, the last one wins
    struct Pin {
        Vec3 lo, hi;                   // vertices inside this box of the rest frame ...
        std::vector<Keyframe> motion;  // ... stay, or follow this motion of the box
        std::string body;              // ... or are attached to this body
    };
    std::vector<Pin> pins;
    bool plane_strain = false;  // 2-D triangles instead of tetrahedra
    std::array<double, 3> color{-1, -1, -1};
};

struct ForceSpec {
    int body = -1;
    Vec3 force = Vec3::Zero();      // N
    Vec3 torque = Vec3::Zero();     // N m
    std::optional<Vec3> point;      // body's geometry frame; otherwise the centre of mass
    bool body_frame = false;        // force and torque turn with the body
    double from = 0.0, to = 1e300;  // s
};

struct WindSpec {
    Vec3 velocity = Vec3::Zero();  // m/s
    double drag = 0.0;             // N s/m per m^2 of bounding-box face
    double gust = 0.0;             // relative amplitude
    double gust_period = 1.0;      // s
};

// A statement about the end (or some other time) of a run, checked by `tenon run`.
struct ExpectSpec {
    std::string body;              // empty: all dynamic bodies, or a quantity of the whole scene
    double at = -1.0;              // s; negative: the end
    std::optional<Vec3> position;  // of the geometry's frame ...
    double within = 0.0;           // ... m
    // x y z speed spin moved tilt turned_x turned_y turned_z (bodies; angles in radians, turns add up)
    // kinetic_energy joint_residual min_distance max_speed intersections (scene)
    std::string quantity;
    double min = -1e300, max = 1e300;
    std::string note;  // said to the user beside the verdict
};

struct PairSpec {
    std::array<int, 2> materials{-1, -1};
    std::optional<double> friction, restitution;
};

struct ContactSpec {
    std::optional<double> dhat;  // m
    std::vector<PairSpec> pairs;
    std::vector<std::array<int, 2>> ignore;  // body indices
    bool jointed_bodies_collide = false;     // bodies that share a joint
};

struct Scene {
    std::string name = "scene";
    std::string file;      // where it was read from; empty for built-in scenes
    std::string text;      // the JSON it was read from or would be written as
    std::string up = "y";  // y or z: for pictures and exports
    Vec3 gravity = Vec3(0, -9.81, 0);
    double seconds = 1.0;
    double dt = 0.01;
    std::string method = "affine";
    std::map<std::string, ParamValue> method_params;  // as given; checked by the method
    std::vector<GeometrySpec> geometries;
    std::vector<MaterialSpec> materials{MaterialSpec{"default"}};
    std::vector<BodySpec> bodies;
    std::vector<JointSpec> joints;
    std::vector<TendonSpec> tendons;
    std::vector<ActuatorSpec> actuators;
    std::vector<SensorSpec> sensors;
    std::vector<KeyframeSpec> keyframes;
    std::string start;  // the keyframe that a run begins with; empty: the scene as it is
    std::vector<ElasticSpec> elastic;
    std::vector<ForceSpec> forces;
    std::vector<ExpectSpec> expect;
    ContactSpec contact;
    WindSpec wind;
    std::map<std::string, std::vector<double>> camera;  // eye, target, fov: hints for pictures

    int add_geometry(const GeometrySpec& geometry);      // reuses an equal one
    int add_material(const MaterialSpec& material);      // reuses one of the same name
    int add_body(BodySpec body);                         // unnamed ones become body-N; InputError when taken
    int body_index(const std::string& body_name) const;  // -1 when there is none

    // Look-up tables kept by the functions above, so that a million bodies are quick. The lists may be
    // changed without them: a stale entry is noticed and looked up the slow way.
    std::unordered_multimap<std::size_t, int> geometry_lookup;
    std::unordered_map<std::string, int> body_lookup;
};

}  // namespace tenon

// Robots in joint coordinates: where links are, how they move, what torques it takes.
//
// A tree of links, each moved against its parent by one joint. Link frames are turned like the world and sit at the
// joint's anchor when all joints are at zero; so does the world frame they are seen from. Rotations and slides of one
// joint with several coordinates are chains of links without mass. Speeds v have one entry per degree of freedom;
// positions q have four for a ball joint (quaternion w x y z of the child against the parent) and seven for a
// free body (position, quaternion).
//
// M(q) a + c(q, v) + g(q) = tau, where c are Coriolis and centrifugal torques and g holds the links against gravity
// (R. Featherstone, Rigid Body Dynamics Algorithms, 2008; here by Newton-Euler recursion in world coordinates).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tenon/types.hpp"

namespace tenon::kinematics {

struct Link {
    enum class Motion { fixed, hinge, slide, ball, free };
    std::string name;  // of the joint
    int parent = -1;   // -1: the world
    Motion motion = Motion::fixed;
    Vec3 anchor = Vec3::Zero();  // of the joint in the parent's frame, at zero
    Vec3 axis = Vec3::UnitZ();   // of a hinge or slide
    double mass = 0.0;
    Vec3 center = Vec3::Zero();   // of mass, in the link's frame
    Mat3 inertia = Mat3::Zero();  // about the centre of mass
    double armature = 0.0;        // added to the diagonal of M for each degree of freedom
    std::optional<std::array<double, 2>> limits;
    int q = 0, v = 0;  // first entry in positions and speeds
};

struct Tree {
    std::vector<Link> links;  // parents before children
    int positions = 0, freedoms = 0;
    Vec3 gravity = Vec3::Zero();

    // Appends a link and gives it its place in q and v. Throws std::invalid_argument for a parent that comes later.
    int add(Link link);
    VecX zero() const;  // all joints at zero
};

int position_count(Link::Motion motion);
int freedom_count(Link::Motion motion);

// Poses and axes at q, for all that follows.
struct Frames {
    std::vector<Mat3> rotation;  // link frame to world
    std::vector<Vec3> origin;
    // of each degree of freedom, in the world: angular part and the linear part at the link's origin
    std::vector<Vec3> angular, linear;
};
Frames forward(const Tree& tree, const VecX& q);

inline Vec3 point_of(const Frames& frames, int link, const Vec3& local) {
    const auto i = static_cast<std::size_t>(link);
    return frames.origin[i] + frames.rotation[i] * local;
}

// Six rows, linear velocity of the point then angular velocity of the link, both in the world; a column per freedom.
MatX jacobian(const Tree& tree, const Frames& frames, int link, const Vec3& local_point);

MatX mass_matrix(const Tree& tree, const Frames& frames);  // composite inertias; armature on the diagonal
VecX inverse_dynamics(const Tree& tree, const Frames& frames, const VecX& v, const VecX& a);
VecX gravity_torques(const Tree& tree, const Frames& frames);                                   // g(q)
VecX coriolis_torques(const Tree& tree, const Frames& frames, const VecX& v);                   // c(q, v)
VecX forward_dynamics(const Tree& tree, const Frames& frames, const VecX& v, const VecX& tau);  // a

// q moved along v for a time: quaternions stay quaternions.
VecX integrate(const Tree& tree, const VecX& q, const VecX& v, double time);
// The v that takes one q to another in unit time.
VecX difference(const Tree& tree, const VecX& from, const VecX& to);

// A link's point, and its orientation where given, shall be at a place in the world.
struct Target {
    int link = 0;
    Vec3 point = Vec3::Zero();  // in the link's frame
    Vec3 position = Vec3::Zero();
    std::optional<Quat> rotation;  // of the link's frame
    double weight = 1.0;
};

struct InverseOptions {
    int iterations = 200;
    double tolerance = 1e-10;      // m and rad
    double rotation_length = 0.3;  // m that weigh as much as a radian
};

struct InverseResult {
    VecX q;
    double error = 0.0;  // largest of positions (m) and rotations (rad)
    int iterations = 0;
    bool converged = false;
};

// Damped least squares from a start, within the joints' limits: joints at a limit that the step would pass are held. A
// step costs rows^2 times freedoms, or freedoms^2 times rows, whichever is less: 14,000 joints and ten targets are quick.
InverseResult inverse_kinematics(const Tree& tree, const std::vector<Target>& targets, const VecX& start,
                                 const InverseOptions& options = {});

// Speed up, cruise, slow down along a path of given length; never faster than the two limits.
struct Profile {
    double length = 0.0, speed = 0.0, acceleration = 0.0;
    double ramp = 0.0, duration = 0.0;  // s
    struct State {
        double s, rate, acceleration;
    };
    State at(double time) const;
};
Profile trapezoid(double length, double max_speed, double max_acceleration);

// All joints start and end together; each stays within its limits. `at` gives q; `rate` its v.
struct JointTrajectory {
    const Tree* tree = nullptr;
    VecX from, displacement;  // displacement: the speeds that take `from` to the end in unit time
    Profile profile;          // from 0 to 1
    VecX at(double time) const;
    VecX rate(double time) const;
};
JointTrajectory joint_trajectory(const Tree& tree, const VecX& from, const VecX& to, const VecX& max_speed,
                                 const VecX& max_acceleration);

// A straight line of a link's point with an even turn, as joint positions at equal steps of time. The speed limits are
// of the point (m/s, m/s^2); joint speeds beyond `max_joint_speed` (where not empty) slow the whole line down. Throws
// std::runtime_error where a place on the line cannot be reached.
struct LineTrajectory {
    double dt = 0.0;
    std::vector<VecX> q;
};
LineTrajectory line_trajectory(const Tree& tree, const VecX& from, const Target& to, double max_speed,
                               double max_acceleration, double dt, const VecX& max_joint_speed = {},
                               const InverseOptions& options = {});

}  // namespace tenon::kinematics

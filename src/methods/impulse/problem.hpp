// One velocity-level contact problem: bodies with twists and inverse inertia, contacts with impulses.
#pragma once

#include <array>
#include <vector>

#include "tenon/types.hpp"

namespace tenon::impulse {

// Twist of a body about its centre of mass, padded so that a vector load never straddles two bodies.
struct alignas(64) Twist {
    Vec3 v = Vec3::Zero();
    double pad0 = 0.0;
    Vec3 w = Vec3::Zero();
    double pad1 = 0.0;
};

// Inverse mass along the world axes and inverse inertia (xx xy xz yy yz zz); all zero for what does not move.
struct alignas(64) InverseMass {
    std::array<double, 3> m{};
    std::array<double, 6> I{};
    bool movable = false;

    Vec3 linear(const Vec3& p) const { return {m[0] * p.x(), m[1] * p.y(), m[2] * p.z()}; }
    Vec3 angular(const Vec3& p) const {
        return {I[0] * p.x() + I[1] * p.y() + I[2] * p.z(), I[1] * p.x() + I[3] * p.y() + I[4] * p.z(),
                I[2] * p.x() + I[4] * p.y() + I[5] * p.z()};
    }
    Mat3 inertia() const {
        Mat3 out;
        out << I[0], I[1], I[2], I[1], I[3], I[4], I[2], I[4], I[5];
        return out;
    }
};

// One contact point. Impulses act on b; the opposite acts on a.
struct ContactPoint {
    int a = -1, b = -1;
    Vec3 normal = Vec3::UnitY();  // from a to b
    Vec3 tangent1 = Vec3::UnitX(), tangent2 = Vec3::UnitZ();
    Vec3 ra = Vec3::Zero(), rb = Vec3::Zero();  // from the centres of mass
    double distance = 0.0;
    double friction = 0.0, restitution = 0.0;
    double target = 0.0;          // least normal velocity: 0, or less while there is a gap to close
    Vec3 impulse = Vec3::Zero();  // normal, tangent 1, tangent 2: warm start in, solution out
    Vec3 total = Vec3::Zero();    // out: the same, summed over sub-steps
    Vec3 impact = Vec3::Zero();   // the same of impacts with restitution, which came before
    bool shifted = false;         // by impacts: its distance is that of a path before it met anything
};

struct ContactProblem {
    std::vector<Twist> twist;   // in: after gravity and forces; out: after contact
    std::vector<Twist> before;  // at the start of the step: what the paper's neighbours are seen with
    std::vector<InverseMass> mass;
    std::vector<ContactPoint> contacts;
    double dt = 0.01;

    Vec3 velocity(int body, const Vec3& r) const { return twist[body].v + twist[body].w.cross(r); }
    Vec3 relative_velocity(const ContactPoint& c) const { return velocity(c.b, c.rb) - velocity(c.a, c.ra); }
};

// What a contact solver reports.
struct SolveReport {
    int sweeps = 0;
    double residual = 0.0;  // largest violation of the contact conditions met in the last sweep, m/s
    bool converged = true;
    int infeasible = 0;      // bodies whose half-spaces had no common point (paper's scheme)
    int energy_limited = 0;  // groups whose energy contact would have increased
};

// Unit tangents that turn little when the normal does.
void make_tangents(const Vec3& normal, Vec3& tangent1, Vec3& tangent2);

// Symmetric 3x3 response of a contact point in its frame: velocity change per impulse, both bodies counted.
Mat3 contact_response(const ContactPoint& c, const InverseMass& a, const InverseMass& b);

// That response as Gauss-Seidel uses it. Held axes may leave no compliance in some direction: nothing to gain there.
struct ContactResponse {
    double kn, inverse_kn;  // along the normal
    double k1n, k2n;        // tangential velocity per normal impulse
    double i11, i12, i22;   // inverse of the tangential 2x2 block
    double slide;           // 1 / the largest eigenvalue of that block
};
ContactResponse response_of(const Mat3& K);

// The conditions at the current impulses and twists, by the natural map: 0 at a solution. In m/s.
double contact_residual(const ContactProblem& problem);

double kinetic_energy(const InverseMass& mass, const Twist& twist);
double kinetic_energy(const ContactProblem& problem);

}  // namespace tenon::impulse

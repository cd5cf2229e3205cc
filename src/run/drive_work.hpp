// What springs, dampers, motors, limits, dry friction and armatures of joints do along their coordinates.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tenon/state.hpp"

namespace tenon::run {

// Generalised forces along one coordinate of a joint, on the second body; N or N m.
struct DriveForces {
    double whole = 0;  // all that the joint carries along it
    double spring = 0, damper = 0, armature = 0, motor = 0, limit = 0;
    double rest =
        0;  // what is left of the whole: dry friction, or a motor that the method does not tell apart
};

struct DriveWork {
    double motors = 0;                             // into the bodies, J
    double friction = 0, impact = 0, damping = 0;  // out of them
    double stored = 0;      // change of the springs' energy and the armatures' kinetic energy
    double whole = 0;       // of all that the joints carry along their coordinates
    double integrator = 0;  // lost where forces of springs and armatures miss the change of their energy
};

// The drives of a model's joints from step to step.
class DriveBooks {
  public:
    DriveBooks(const Model& model, const State& state);
    bool empty() const { return joints_.empty(); }

    // The work over the step that led to `state`. With `bdf2` forces are the mean of those before and after it, as a
    // scheme of second order has them; otherwise those at its end.
    DriveWork step(const Model& model, const State& state, const Outputs& outputs, double dt, bool bdf2);

    void forget_forces();  // those of the last step stand for a part of it only

    void save(std::ostream& out) const;
    void load(std::istream& in);

  private:
    struct Past {
        std::array<double, 3> coordinate{}, rate{}, rate_before{};
        std::array<DriveForces, 3> force{};
        double stored = 0;
        std::int64_t known = 0;  // the forces are those of a step
    };
    static void add_joint(const Joint& joint, const State& state, const JointOutput& output, Past& past,
                          double dt, bool bdf2, DriveWork& work);
    std::vector<int> joints_;
    std::vector<Past> past_;
};

// Springs' potential energy and armatures' kinetic energy of all joints.
double joint_energy(const Model& model, const State& state);

}  // namespace tenon::run

// What acts along a joint's free coordinates, as rows of the dual system.
//
// Each has a convex potential of its coordinate theta at the step's end, and the row's multiplier is the potential's slope:
//   springs, dampers, armature   K/2 (theta - theta*)^2                     a row of compliance 1/K
//   limits                       k/2 (distance beyond the limit)^2          active beyond it
//   bounded motors, friction     Huber: k/2 (theta - theta*)^2 up to the bound of the force, then a straight line
//   motors with gains            the same with K of the gains
//   given forces                 a straight line
// The stiffness k of limits, motors and friction is not a property of the joint: it is 1e6 times what the row feels, so that
// they give by a millionth of what the same force would move the bodies in one step.
#pragma once

#include <vector>

#include "methods/articulated/component.hpp"
#include "model/joint_rows.hpp"

namespace tenon::articulated {

struct DriveRow {
    enum class Kind { smooth, bend, limit, servo, friction, force };
    // The branch of the potential on which the row is: off (no force), hold (quadratic), at a limit, or at a bound of the force.
    enum class Branch { off, hold, low, high };
    Kind kind = Kind::smooth;
    int joint = -1;
    int coordinate = 0;
    int component = 0;       // of a bend spring: 0 or 1
    int row = 0;             // within the joint's block
    bool has_gains = false;  // of a motor: its stiffness is its own
    // of this step
    double stiffness = 0.0;        // K, or k of this linearisation
    double target = 0.0;           // theta*, or a given force
    double bound = 1e300;          // largest |multiplier|
    double low = 0.0, high = 0.0;  // limits
    double reference = 0.0;        // coordinate at the step's start, turns counted
    // of dampers and armatures: their share of K, which is about the rate, g(x) (x - hat)/eta with the bodies' own rule, that
    // the state and the energy have; the coordinate's own differs by a third of (omega h)^2 of it
    double rate_share = 0.0, predicted = 0.0;
    std::vector<Mat34> hat;  // by side
    Branch branch = Branch::hold;
    Branch started = Branch::hold;  // on which branch the step began
};

// The drive rows that a joint needs.
std::vector<DriveRow> make_drive_rows(const Joint& joint, int joint_index);

// Targets, stiffnesses and bounds for the step that begins.
void begin_step(DriveRow& drive, const Joint& joint, const std::array<double, 3>& coordinate,
                const BodyField& field, const StepStart& start);

// The row at the iterate: value, compliance and, where wanted, gradients by side.
struct DriveValue {
    double value = 0.0, compliance = 0.0, coordinate = 0.0;
};
DriveValue evaluate(const DriveRow& drive, const Joint& joint, const Mat34& qa, const Mat34& qb,
                    std::array<Mat34, 2>* gradient = nullptr);

// Whether its potential has branches.
inline bool is_bounded(const DriveRow& drive) {
    return drive.kind == DriveRow::Kind::limit ||
           ((drive.kind == DriveRow::Kind::servo || drive.kind == DriveRow::Kind::friction) &&
            drive.bound < 1e299);
}

// The slope of a bounded row's potential, and the branch on which a coordinate is.
double slope_at(const DriveRow& drive, double coordinate);
DriveRow::Branch branch_at(const DriveRow& drive, double coordinate);

// The force of a row that is not active: at its bound, or none.
inline double given_force(const DriveRow& drive) {
    if (drive.kind == DriveRow::Kind::force) return -drive.target;
    if (drive.kind == DriveRow::Kind::limit) return 0.0;
    return drive.branch == DriveRow::Branch::high  ? drive.bound
           : drive.branch == DriveRow::Branch::low ? -drive.bound
                                                   : 0.0;
}

// Whether the row belongs to the linear system.
inline bool is_active(const DriveRow& drive) {
    switch (drive.kind) {
        case DriveRow::Kind::smooth:
        case DriveRow::Kind::bend:
            return true;
        case DriveRow::Kind::limit:
            return drive.branch != DriveRow::Branch::off;
        case DriveRow::Kind::force:
            return false;
        default:
            return drive.branch == DriveRow::Branch::hold;
    }
}

}  // namespace tenon::articulated

// What acts along a joint's free coordinates, as rows of the dual system.
//
// Springs, dampers and armature are one quadratic in the coordinate at the step's end, K/2 (theta - theta*)^2: a soft
// row of compliance 1/K. Motors and friction are rows that hold a target while their multiplier stays within bounds;
// limits are rows that bind one way.
#pragma once

#include <vector>

#include "methods/articulated/component.hpp"
#include "model/joint_rows.hpp"

namespace tenon::articulated {

struct DriveRow {
    enum class Kind { smooth, bend, limit, servo, friction, force };
    enum class State {
        off,
        hold,
        at_low,
        at_high
    };  // at_low/high: a limit's side, or a multiplier at its bound
    Kind kind = Kind::smooth;
    int joint = -1;
    int coordinate = 0;
    int component = 0;  // of a bend spring: 0 or 1
    int row = 0;        // within the joint's block
    // of this step
    double stiffness = 0.0;        // K of smooth rows
    double target = 0.0;           // theta*, or what a servo holds
    double bound = 1e300;          // largest |multiplier|
    double low = 0.0, high = 0.0;  // limits
    double reference = 0.0;        // coordinate at the step's start, turns counted
    State state = State::hold;
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

// Moves the row to the side that its multiplier and coordinate ask for; `multiplier` becomes the given one where
// the row no longer binds.
// True when the side changed.
bool update_state(DriveRow& drive, double coordinate, double& multiplier);

// Whether it may change sides.
inline bool has_sides(const DriveRow& drive) {
    return drive.kind == DriveRow::Kind::limit || drive.kind == DriveRow::Kind::servo ||
           drive.kind == DriveRow::Kind::friction;
}

inline bool binds(const DriveRow& drive) {
    switch (drive.kind) {
        case DriveRow::Kind::smooth:
        case DriveRow::Kind::bend:
            return true;
        case DriveRow::Kind::limit:
            return drive.state != DriveRow::State::off;
        case DriveRow::Kind::force:
            return false;
        default:
            return drive.state == DriveRow::State::hold;
    }
}

}  // namespace tenon::articulated

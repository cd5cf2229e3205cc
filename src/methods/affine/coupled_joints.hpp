// Joints of a coupled solve: closed joints and couplings are equalities, what acts along free coordinates are convex
// potentials of them. The functions of q are those of model/joint_rows.
#pragma once

#include <array>
#include <vector>

#include "methods/affine/coupled_nodes.hpp"

namespace tenon::affine {

// c(q) = 0, with dc/dq of each node that it moves with.
struct CoupledRow {
    int joint = -1;
    int count = 0;  // of nodes
    std::array<int, 4> node{};
    std::array<Mat34, 4> gradient;
    double value = 0.0;
    Mat34 on_second = Mat34::Zero();  // dc/dq of the joint's second side, moved or not
};

// What acts along one free coordinate of a joint, as a potential of the coordinate at the step's end:
//   smooth, bend     K/2 (theta - target)^2: springs, dampers, armature
//   limit            k/2 (distance beyond the limit)^2
//   servo, friction  Huber: k/2 (theta - target)^2 up to the bound of the force, then a straight line
//   force            a straight line
struct DriveRow {
    enum class Kind { smooth, bend, limit, servo, friction, force };
    Kind kind = Kind::smooth;
    int joint = -1;
    int coordinate = 0;
    int component = 0;       // of a bend spring: 0 or 1
    bool has_gains = false;  // of a motor: its stiffness is its own
    // of this step
    double stiffness = 0.0;
    double target = 0.0;  // theta*, or a given force
    double bound = 1e300;
    double low = 0.0, high = 0.0;  // limits
    double reference = 0.0;        // coordinate at the step's start, turns counted

    bool is_motor() const { return kind == Kind::servo || kind == Kind::force; }
};

std::vector<DriveRow> make_drive_rows(const Joint& joint, int joint_index);

struct CoupledDrive {
    DriveRow row;
    double armature_target = 0.0;
    double start_rate = 0.0;  // of the coordinate, at the start of this step
    BodyHistory history;      // of the coordinate: entry (0, 0)
};

// Slope and curvature of a drive's potential, N or N m.
double drive_energy(const DriveRow& row, double coordinate);
double drive_slope(const DriveRow& row, double coordinate);
double drive_curvature(const DriveRow& row, double coordinate);
// Which piece of its potential a coordinate is on: -1, 0, 1 from the lowest to the highest.
int drive_branch(const DriveRow& row, double coordinate);

struct StepTimes {
    double start = 0.0, h = 0.0;
    double potential_scale = 0.0;  // h_eff^2
    Integrator integrator = Integrator::implicit_euler;
    bool fresh = true;
};

class CoupledJoints {
  public:
    CoupledJoints(const Model& model, const State& state, const CoupledNodes& nodes);

    // Targets, bounds and stiffnesses of a step; joints that have broken since are left out.
    void start_step(const Model& model, const State& state, const StepTimes& times);
    void end_step(const Model& model, const State& state, const StepTimes& times);  // rates of armatures

    bool empty() const { return rows_.empty() && drives_.empty(); }
    const std::vector<CoupledRow>& rows() const { return rows_; }
    const std::vector<CoupledDrive>& drives() const { return drives_; }
    // Motors without a bound: equalities, rows one after the other from the first on.
    const std::vector<CoupledDrive>& servos() const { return servos_; }
    std::size_t first_servo_row() const { return rows_.size() - active_couplings_.size() - servos_.size(); }

    // Values and gradients of all rows at q.
    void linearise(const std::vector<Mat34>& q);
    void values(const std::vector<Mat34>& q, std::vector<double>& out) const;
    // The row of a drive: its coordinate at q and gradients by node.
    double coordinate(const CoupledDrive& drive, const std::vector<Mat34>& q,
                      CoupledRow* row = nullptr) const;
    double drives_energy(const std::vector<Mat34>& q) const;

    std::vector<BodyHistory> histories() const;  // of armatures
    bool set_histories(const std::vector<BodyHistory>& histories);

  private:
    const Mat34& map_of(int body, const std::vector<Mat34>& q) const;
    void add_sides(const Joint& joint, const std::array<Mat34, 2>& gradient, double factor,
                   CoupledRow& row) const;
    struct Coupling {
        int joint = -1;
        std::array<double, 2> reference{};  // coordinates at the start of the step, turns counted
    };
    double coupling_value(const Coupling& coupling, const std::vector<Mat34>& q, CoupledRow* row) const;
    double ease(const CoupledRow& row, const State& state) const;
    void begin(CoupledDrive& drive, const State& state, const StepTimes& times);

    const Model* model_ = nullptr;
    const CoupledNodes& nodes_;
    std::vector<Mat34> still_;  // of bodies without unknowns
    std::vector<int> closed_;   // joints with rows
    std::vector<int> couplings_;
    std::vector<CoupledDrive> all_drives_, drives_;
    std::vector<CoupledDrive> servos_;  // without a bound: equalities
    std::vector<Joint> joints_;
    std::vector<CoupledRow> rows_;
    // Of this step, in the order of the rows: closed joints, unbounded motors, couplings.
    std::vector<int> active_;
    std::vector<Coupling> active_couplings_;
};

}  // namespace tenon::affine

// Joints of a coupled solve: closed joints and couplings are equalities, what acts along free coordinates are convex
// potentials of them. The functions are those of model/joint_rows; potentials are written as in `articulated`.
#pragma once

#include <array>
#include <vector>

#include "methods/affine/coupled_nodes.hpp"
#include "methods/articulated/drives.hpp"

namespace tenon::affine {

// c(q) = 0, with dc/dq of each node that it moves with.
struct CoupledRow {
    int joint = -1;
    int count = 0;  // of nodes
    std::array<int, 4> node{};
    std::array<Mat34, 4> gradient;
    double value = 0.0;
    Mat34 on_second = Mat34::Zero();        // dc/dq of the joint's second side, moved or not
};

struct CoupledDrive {
    articulated::DriveRow row;
    double armature_target = 0.0;
    BodyHistory history;  // of a coordinate with armature: entry (0, 0)
};

// Slope and curvature of a drive's potential, N or N m.
double drive_energy(const articulated::DriveRow& row, double coordinate);
double drive_slope(const articulated::DriveRow& row, double coordinate);
double drive_curvature(const articulated::DriveRow& row, double coordinate);

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

    // Values and gradients of all rows at q.
    void linearise(const std::vector<Mat34>& q);
    void values(const std::vector<Mat34>& q, std::vector<double>& out) const;
    // The row of a drive: its coordinate at q and gradients by node.
    double coordinate(const CoupledDrive& drive, const std::vector<Mat34>& q, CoupledRow* row = nullptr) const;
    double drives_energy(const std::vector<Mat34>& q) const;

    std::vector<BodyHistory> histories() const;  // of armatures
    bool set_histories(const std::vector<BodyHistory>& histories);

  private:
    const Mat34& map_of(int body, const std::vector<Mat34>& q) const;
    void add_sides(const Joint& joint, const std::array<Mat34, 2>& gradient, double factor, CoupledRow& row) const;
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

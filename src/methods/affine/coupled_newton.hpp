// Newton's method on a coupled step: joints are closed exactly, every accepted step keeps every gap open, and the sum of
// the potential and a multiple of the joints' residuals falls.
#pragma once

#include <string>
#include <vector>

#include "math/timer.hpp"
#include "methods/affine/coupled_system.hpp"

namespace tenon::affine {

struct CoupledOptions {
    int max_iterations = 1000;
    double tolerance = 0.0;        // m: largest motion of a converged Newton step
    bool polish = false;           // beyond it, where nothing touches
    double joint_tolerance = 0.0;  // largest residual of a closed joint, m or rad
    double most_motion = 1e300;    // m: of a point in one Newton step
    bool record_path = false;
    bool log = false;
    std::string dump;  // beginning of the names of files for the Newton systems; empty: none
};

struct CoupledLog {  // of one iteration
    int solves = 0, contacts = 0, trials = 0;
    double energy = 0.0, slope = 0.0, motion = 0.0, residual = 0.0;  // where it starts
    double filtered = 0.0, length = 0.0;                             // of the step: free of contact, taken
};

struct CoupledResult {
    int iterations = 0, solves = 0, line_search_steps = 0;
    bool converged = false;
    double residual = 0.0;  // of the joints
    int open_joint = -1;    // the most open one
    std::vector<std::vector<Mat34>> path;
    std::vector<CoupledLog> log;
};

class CoupledNewton {
  public:
    CoupledNewton(CoupledStep& step, CoupledSystem& system, const CoupledOptions& options, StageTimer& timer)
        : step_(step), system_(system), options_(options), timer_(timer) {}

    // Moves q. `multipliers` of the rows are the warm start, and what holds the joints afterwards.
    CoupledResult run(std::vector<Mat34>& q, std::vector<double>& multipliers);

  private:
    double energy_at(const std::vector<Mat34>& q, std::vector<Vec3>& x);
    double penalty(const std::vector<double>& values) const;
    double largest_motion(const std::vector<double>& increments) const;
    double extrapolated_length();
    void narrow_candidates();
    void stiffen_blockers();
    bool make_trial(double t);
    double filter(double t);
    bool right_handed() const;
    bool take_step();
    bool some_drive_changed_branch();
    void find_direction();
    void solve_model();
    void follow_drives();
    double slope_of(const std::vector<double>& direction) const;
    void note_residual();

    CoupledStep& step_;
    CoupledSystem& system_;
    CoupledOptions options_;
    StageTimer& timer_;
    CoupledResult result_;
    std::vector<Mat34>*q_ = nullptr, trial_;
    std::vector<double>* multipliers_ = nullptr;
    std::vector<Vec3> x_, trial_x_;
    std::vector<std::vector<Vec3>> vertices_;
    std::vector<double> last_direction_;
    double last_length_ = 0.0;  // of the last step, 0 when there was none
    int polishes_ = 0;
    double last_motion_ = 0.0;  // m, of the last step's direction
    int short_steps_ = 0;       // one after the other that contact has left little of
    std::vector<double> direction_, gradient_, correction_, values_, trial_values_, gap_, price_;
    std::vector<int> branch_;  // of each drive's potential, at q
    double energy_ = 0.0, slope_ = 0.0;
};

}  // namespace tenon::affine

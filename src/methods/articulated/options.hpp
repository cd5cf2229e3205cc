// What a user may choose, and what the solve of one component reports.
#pragma once

#include "methods/articulated/contacts.hpp"
#include "methods/articulated/dual_rows.hpp"
#include "tenon/params.hpp"

namespace tenon::articulated {

struct Options {
    bool bdf2 = true;
    bool backtracking = true;
    int max_iterations = 12;
    int min_iterations = 1;
    double strain_tolerance = 0.025;
    double joint_tolerance = 1e-9;
    int max_corrections = 20;
    int start_substeps = 8;
    bool polar_free = false;
    SolverChoice solver;
    ContactOptions contact;
};

// Of the tolerance for strain that turning leaves, where the next step starts from it.
constexpr double carried_share = 0.4;

Options read_options(const Params& params);

// What the solves of one component did, or of all of them in one step.
struct SolveReport {
    int solves = 0, halvings = 0, corrections = 0, fallbacks = 0;
    double strain = 0.0, residual = 0.0;
    double excess = 0.0;  // of the strain: what turning has left
    bool converged = true;
    bool settled = true;  // turning has left no strain worth another try in smaller steps
};

}  // namespace tenon::articulated

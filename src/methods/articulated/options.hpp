// What a user may choose, and what the solve of one component reports.
#pragma once

#include "methods/articulated/contacts.hpp"
#include "methods/articulated/dual_rows.hpp"
#include "tenon/params.hpp"

namespace tenon::articulated {

struct Options {
    bool bdf2 = true;
    int max_iterations = 12;
    int min_iterations = 1;
    double joint_tolerance = 1e-9;
    double force_tolerance = 1e-6;
    int max_corrections = 20;
    int start_substeps = 8;
    bool polar_free = false;
    SolverChoice solver;
    ContactOptions contact;
};

Options read_options(const Params& params);

// What the solves of one component did, or of all of them in one step.
struct SolveReport {
    int solves = 0, corrections = 0, fallbacks = 0, substeps = 0;
    double strain = 0.0, residual = 0.0;
    bool converged = false;
};

}  // namespace tenon::articulated

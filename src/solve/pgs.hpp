// Projected Gauss-Seidel for mixed complementarity problems given by sparse rows.
#pragma once

#include <vector>

#include "tenon/types.hpp"

namespace tenon::solve {

// Find x and v with
//     v = v0 + sum_i B_i x_i,                      (B = M^-1 J^T)
//     w_i = J_i v + compliance_i x_i - target_i,
//     lower_i <= x_i <= upper_i,  w_i = 0 inside, >= 0 at the lower and <= 0 at the upper bound.
// Friction rows take their bounds from a normal row n: |x_i| <= mu x_n (pyramid: each tangent by itself), or
// jointly with the following row, |(x_i, x_i+1)| <= mu x_n (cone). Rows of J and columns of B are sparse and
// may differ in pattern: a dense matrix A fits as well, with J_i = e_i and B_i = column i of A.
struct PgsProblem {
    std::vector<int> j_start{0}, b_start{0};  // CSR offsets, one per row and one past the end
    std::vector<int> j_index, b_index;
    std::vector<double> j_value, b_value;
    std::vector<double> target, compliance, lower, upper;
    std::vector<int> normal_row;   // of friction rows; -1 otherwise
    std::vector<double> friction;  // mu of friction rows
    std::vector<char> cone;        // 1: first of two tangents of a friction cone, 2: its second

    int rows() const { return static_cast<int>(target.size()); }
    void clear();
    // Adds an empty row with bounds; its entries follow through add_entry (to the last row only).
    int add_row(double row_target, double row_compliance, double row_lower, double row_upper);
    int add_friction_row(double row_target, double row_compliance, int normal, double mu);
    int add_cone(double target_1, double target_2, double row_compliance, int normal, double mu);  // two rows
    // Adds J entries and B entries of a row. Rows must be filled in order.
    void fill_row(int row, const std::vector<int>& columns, const std::vector<double>& J,
                  const std::vector<int>& b_columns, const std::vector<double>& B);
};

struct PgsSettings {
    int max_sweeps = 50;
    double tolerance = 1e-10;  // of the residual below; 0: always max_sweeps
    double relaxation = 1.0;
    bool symmetric = false;    // alternate forward and backward sweeps
    int check_every = 5;       // sweeps between residual checks
    bool check_first = false;  // no sweep when the warm start is the solution
    // Nonlinear conjugate gradients with sweeps for gradients (Silcowitz et al. 2010): far fewer sweeps for large problems.
    bool conjugate = false;
};

struct PgsResult {
    int sweeps = 0;
    double residual = 0.0;
    bool converged = false;
};

class Pgs {
  public:
    // `x` is the warm start and the solution (resized with zeros when it does not fit), `v` enters as v0 and
    // leaves as v.
    PgsResult solve(const PgsProblem& problem, const PgsSettings& settings, std::vector<double>& x,
                    std::vector<double>& v);

  private:
    void prepare(const PgsProblem& problem, std::size_t unknowns);
    void relax_row(const PgsProblem& problem, int row, double relaxation, std::vector<double>& x,
                   std::vector<double>& v) const;
    void relax_cone(const PgsProblem& problem, int row, double relaxation, std::vector<double>& x,
                    std::vector<double>& v) const;
    void add_column(const PgsProblem& problem, int row, double amount, std::vector<double>& v) const;
    void extrapolate(std::vector<double>& x, std::vector<double>& v);

    struct Run {  // entries of a column of B that lie side by side in v
        int from, to, count;
    };
    std::vector<Run> runs_;
    std::vector<int> run_start_;  // of columns
    std::vector<double> diagonal_, work_;
    // Of conjugate gradients: x and v where the last ones ended, and the direction since.
    std::vector<double> from_x_, from_v_, along_x_, along_v_;
    double last_squared_ = 0;
};

// Largest violation of the conditions, in units of w: |w_i - ...| through the natural map
// d_i (x_i - clamp(x_i - w_i / d_i)), d the diagonal of J B + compliance. Zero exactly at a solution.
double pgs_residual(const PgsProblem& problem, const std::vector<double>& x, const std::vector<double>& v);

}  // namespace tenon::solve

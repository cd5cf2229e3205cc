// The small dense steps of the tree recursion on plain numbers, chosen for the machine's instructions at run time.
//
// Columns and rows are padded with zeros to whole vectors of four: a body's unknowns to 8 (rigid, 6) or 12, its rows to a multiple
// of four. With N unknowns, m rows, and P and Q the padded numbers of the body's rows and its parent's unknowns:
//   K      padded N x N, by columns: lower triangle of the matrix, then its Cholesky factor with 1/L_jj on the diagonal
//   own    N x P, by unknowns: C^T, then L^-1 C^T
//   S      P x m, by columns: C K^-1 C^T + E, then its factor in the same form; redundant rows are zero
//   above  m x Q, by rows: C_p, then Ls^-1 C_p
#pragma once

namespace tenon::articulated {

constexpr int padded(int count) {
    return (count + 3) / 4 * 4;
}

struct TreeKernel {
    // Factors K, reduces own to L^-1 own and factors S.
    void (*eliminate)(int size, int rows, double* K, double* own, double* S, const double* compliance);
    // Reduces above and adds what the rows pass on to the parent's matrix, K_p += C_p^T S^-1 C_p.
    void (*pass_on)(int parent_size, int rows, const double* S, double* above, double* parent_matrix);
    // f becomes L^-1 f and s the reduced multipliers Ls^-1 (C K^-1 f + s); s is padded.
    void (*forward)(int size, int rows, const double* K, const double* own, const double* S, double* f,
                    double* s);
    void (*forward_parent)(int parent_size, int rows, const double* above, const double* s,
                           double* parent_f);  // f_p -= C_p^T S^-1 (...)
    void (*backward_parent)(int parent_size, int rows, const double* above, const double* parent_dq,
                            double* s);
    void (*backward)(int size, int rows, const double* K, const double* own, const double* S, double* f,
                     double* s);  // multipliers in s, increments in f
};

const TreeKernel& tree_kernel();

const TreeKernel& tree_kernel_portable();
const TreeKernel& tree_kernel_avx2();

}  // namespace tenon::articulated

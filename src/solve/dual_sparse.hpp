// Sparse direct solution of clique systems of any graph: supernodal Cholesky with nested dissection, whose
// symbolic part is made once per structure.
#pragma once

#include "solve/clique_system.hpp"

namespace tenon::solve {

class DualSparse : public CliqueSolver {
  public:
    explicit DualSparse(const CliqueSystem& structure);

    void factor(const CliqueSystem& system) override;
    void solve(double* x) override;
    std::string name() const override { return "sparse"; }
    std::size_t factor_entries() const { return values_.size(); }

  private:
    struct Supernode {
        int first = 0, width = 0;     // columns, in elimination order
        int rows = 0;                 // its own columns first, then the rows below
        std::size_t index_start = 0;  // into row_index_
        std::size_t value_start = 0;  // rows x width, column-major
    };
    void order_blocks(const CliqueSystem& structure);
    void find_supernodes(const CliqueSystem& structure);
    void map_entries(const CliqueSystem& structure);
    void eliminate(int supernode);
    void update(const Supernode& target, const Supernode& from, int begin, int end);

    std::vector<int> block_order_;         // elimination position -> block
    std::vector<std::vector<int>> lower_;  // per position: positions below it in the factor
    std::vector<int> new_row_;             // row of the system -> elimination row
    std::vector<Supernode> nodes_;
    std::vector<int> node_of_row_;
    std::vector<int> row_index_;
    std::vector<std::size_t> entry_target_;  // per clique matrix entry: where it goes, or none
    std::vector<std::size_t> diagonal_target_;
    std::vector<double> values_, original_, work_, product_;
    std::vector<int> place_;  // elimination row -> row within the supernode being made
    std::vector<int> next_, first_pending_, pending_row_;  // who still updates whom
};

}  // namespace tenon::solve

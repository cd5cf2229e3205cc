// Systems with a few loops: the closing blocks are cut, the forest is eliminated exactly, and the closers follow
// from their Schur complement.
#pragma once

#include "solve/clique_system.hpp"
#include "solve/tree_elimination.hpp"

namespace tenon::solve {

class LoopSchur : public CliqueSolver {
  public:
    LoopSchur(const CliqueSystem& structure, const std::vector<int>& closers);

    void factor(const CliqueSystem& system) override;
    void solve(double* x) override;
    std::string name() const override { return "loops"; }

  private:
    TreeElimination tree_;
    std::vector<int> closer_row_;    // global row of each closer row
    std::vector<int> closer_index_;  // per global row: its closer row, or -1
    int rows_ = 0;
    std::vector<double> coupling_;  // X: forest rows x closer rows (global row numbering)
    std::vector<double> solved_;    // T^-1 X
    std::vector<double> schur_, small_, original_;
};

}  // namespace tenon::solve

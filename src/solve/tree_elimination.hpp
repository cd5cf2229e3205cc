// Exact leaf-to-root elimination of a clique system whose graph is a forest, in time linear in its size.
//
// At each clique (body) the blocks towards its leaves are eliminated: with F the clique's matrix plus what its
// children passed up, split into children c and the parent block p, it keeps the factor of F_cc and
// G = F_cc^-1 F_cp, and passes F_pp - F_pc G up. A chain is the case of one child each.
#pragma once

#include "solve/clique_system.hpp"

namespace tenon::solve {

class TreeElimination : public CliqueSolver {
  public:
    // `closers` are left out: their rows are treated as absent, and solve() leaves them alone.
    explicit TreeElimination(const CliqueSystem& structure, const std::vector<int>& closers = {});

    void factor(const CliqueSystem& system) override;
    void solve(double* x) override;
    std::string name() const override { return "tree"; }

  private:
    struct Node {
        int clique = -1;
        int parent_block = -1;               // -1 at a root
        int first_child = 0, child_end = 0;  // range in child_block_
        int child_rows = 0, parent_rows = 0;
        std::size_t factor_start = 0;  // child_rows^2 factor, then child_rows x parent_rows G
    };
    void gather(const CliqueSystem& system, const Node& node);

    std::vector<Node> nodes_;  // leaf to root
    std::vector<int> child_block_;
    std::vector<int> place_;  // per block of each clique: its first row in the front; -1: left out
    std::vector<int> block_start_;
    std::vector<char> left_out_;
    std::vector<std::size_t> passed_start_;  // per block: where the matrix passed up to it lies
    std::vector<double> passed_, factors_;
    std::vector<double> front_, buffer_, original_;
};

}  // namespace tenon::solve

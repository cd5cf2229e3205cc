// Block Thomas algorithm: clique systems that are chains (each clique touches at most two blocks) are block
// tridiagonal along the chain (Eq. 39 of the paper) and cost one small factorisation per block.
#pragma once

#include "solve/clique_system.hpp"

namespace tenon::solve {

class ChainThomas : public CliqueSolver {
  public:
    explicit ChainThomas(const CliqueSystem& structure);

    void factor(const CliqueSystem& system) override;
    void solve(double* x) override;
    std::string name() const override { return "chain"; }

    // The order in which a structure's blocks follow each other; several chains follow one another.
    static std::vector<int> chain_order(const CliqueSystem& structure);

  private:
    struct Link {
        int block = -1;
        int rows = 0, next_rows = 0;  // next_rows = 0 at the end of a chain
        std::size_t diagonal = 0;     // rows x rows
        std::size_t upper = 0;        // rows x next_rows: B, then D^-1 B after it
    };
    struct Entry {  // where a clique's matrix goes
        int clique = -1;
        int first = -1, second = -1;  // links, in chain order; second = -1 for one block
        int first_offset = 0, second_offset = 0;
    };
    std::vector<Link> links_;
    std::vector<Entry> entries_;
    std::vector<int> block_start_;
    std::vector<double> values_, original_;
};

}  // namespace tenon::solve

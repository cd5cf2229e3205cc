// Sparse direct solution of clique systems on the multifrontal block factorisation: tiles of twelve rows, all threads. Blocks are
// cut into nodes of three rows; where a block's rows are no multiple of three, unit rows fill it up. The
// system is scaled to a unit diagonal; rows with a pivot of next to nothing are redundant and left out.
#pragma once

#include "solve/block_cholesky.hpp"
#include "solve/clique_system.hpp"

namespace tenon::solve {

class CliqueCholesky : public CliqueSolver {
  public:
    explicit CliqueCholesky(const CliqueSystem& structure);

    void factor(const CliqueSystem& system) override;
    void solve(double* x) override;
    std::string name() const override { return "sparse"; }

  private:
    struct Tile {  // where up to 3x3 numbers of a clique's matrix go
        std::size_t from = 0;
        std::size_t to = 0;       // first number of the block, in the diagonal or in the lower part
        int row = 0, column = 0;  // first unknowns
        int stride = 0, rows = 0, columns = 0;
        bool diagonal = false;
    };
    void find_nodes(const CliqueSystem& structure);
    void find_scale(const CliqueSystem& system);

    BlockMatrix matrix_;
    BlockCholesky factor_;
    std::vector<int> unknown_of_row_;  // rows of the system among the padded unknowns
    std::vector<char> padding_;        // per unknown: a unit row
    std::vector<Tile> tiles_;
    std::vector<double> scale_;  // per unknown
    std::vector<double> work_;
    bool factored_ = false;
};

}  // namespace tenon::solve

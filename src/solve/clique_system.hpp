// A symmetric positive definite system given as a sum of small dense matrices ("cliques") and a diagonal.
//
// The dual system of jointed bodies has this form: unknown blocks are joints (their multipliers), each body is a
// clique over its joints with the matrix C H^-1 C^T, the diagonal holds the rows' compliances. So does the system
// of condensed points: blocks are points, each body a clique over its points.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tenon/types.hpp"

namespace tenon::solve {

struct CliqueSystem {
    // Structure: fixed while the topology is.
    std::vector<int> block_start{0};           // first row of each block, and the number of rows
    std::vector<int> clique_start{0};          // first entry of each clique in clique_block, and their number
    std::vector<int> clique_block;             // the blocks of each clique, each once
    std::vector<std::size_t> matrix_start{0};  // first number of each clique's matrix
    // Values: anew for each factorisation.
    std::vector<double> matrix;    // dense, column-major, rows in the order of the clique's blocks
    std::vector<double> diagonal;  // per row, added to the cliques

    int add_block(int rows) {
        block_start.push_back(block_start.back() + rows);
        diagonal.resize(block_start.back(), 0.0);
        return blocks() - 1;
    }
    int add_clique(const std::vector<int>& members);

    int blocks() const { return static_cast<int>(block_start.size()) - 1; }
    int cliques() const { return static_cast<int>(clique_start.size()) - 1; }
    int rows() const { return block_start.back(); }
    int block_rows(int block) const { return block_start[block + 1] - block_start[block]; }
    int clique_rows(int clique) const;
    double* clique_matrix(int clique) { return matrix.data() + matrix_start[clique]; }
    const double* clique_matrix(int clique) const { return matrix.data() + matrix_start[clique]; }
};

void multiply(const CliqueSystem& system, const double* x, double* y);  // y = A x
MatX to_dense(const CliqueSystem& system);
std::vector<double> diagonal_of(const CliqueSystem& system);

// The cliques that hold each block.
std::vector<std::vector<int>> cliques_of_blocks(const CliqueSystem& system);

// Solves systems of one structure again and again.
class CliqueSolver {
  public:
    virtual ~CliqueSolver() = default;
    virtual void factor(const CliqueSystem& system) = 0;
    virtual void solve(double* x) = 0;  // right-hand side in, solution out
    virtual std::string name() const = 0;
    int redundant_rows() const { return redundant_; }

  protected:
    int redundant_ = 0;
};

// What shape a system has, by its graph of cliques and blocks.
enum class Topology { chain, tree, loops, graph };
struct TopologyReport {
    Topology topology = Topology::chain;
    std::vector<int>
        closers;  // blocks that close loops over a spanning forest, or bind more than two cliques
    int closer_rows = 0;
};
TopologyReport find_topology(const CliqueSystem& system, int max_closer_rows);

}  // namespace tenon::solve

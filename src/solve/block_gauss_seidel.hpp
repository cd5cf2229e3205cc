// Multi-directional block Gauss-Seidel: the blocks are cut into threads (paths that follow shared cliques), each
// thread is solved exactly as a chain while the others stand still, forwards and backwards; conjugate gradients speed the
// sweeps up. The option for graphs that needs no factorisation beyond its chains, with its residual at hand.
#pragma once

#include "solve/clique_system.hpp"

namespace tenon::solve {

class BlockGaussSeidel : public CliqueSolver {
  public:
    // Sweeps until the residual has fallen to `tolerance` times the right-hand side, at most `max_sweeps` times.
    BlockGaussSeidel(const CliqueSystem& structure, double tolerance, int max_sweeps);

    void factor(const CliqueSystem& system) override;
    void solve(double* x) override;
    std::string name() const override { return "gauss-seidel"; }

    int sweeps() const { return sweeps_; }
    double relative_residual() const { return residual_; }

  private:
    struct Thread {
        std::vector<int> blocks;                   // in order
        std::vector<std::size_t> diagonal, upper;  // factored D and D^-1 B of each
    };
    void relax(const Thread& thread, double* x);
    void sweep(const std::vector<double>& r, std::vector<double>& z);
    void round(double* x, double target);

    const CliqueSystem* system_ = nullptr;  // between factor and solve
    double tolerance_;
    int max_sweeps_, sweeps_ = 0;
    double residual_ = 0.0;
    std::vector<Thread> threads_;
    std::vector<std::vector<std::array<int, 2>>> at_;  // per block: (clique, first row inside it)
    std::vector<double> values_, rhs_, work_, product_;
    std::vector<double> b_, r_, z_, p_, best_;  // of conjugate gradients
};

}  // namespace tenon::solve

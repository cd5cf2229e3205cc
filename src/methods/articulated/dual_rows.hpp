// Rows between bodies and their dual system: gradients in, increments out.
//   H dq + C^T lambda = f,   C dq - E lambda = -c    =>    (C H^-1 C^T + E) lambda = C H^-1 f + c
// H is block diagonal over bodies, so each body is a clique over the rows that touch it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "methods/articulated/body_field.hpp"
#include "methods/articulated/tree_recursion.hpp"
#include "solve/clique_system.hpp"

namespace tenon::articulated {

// Which solver a component gets, and from when.
struct SolverChoice {
    std::string solver = "auto";     // auto | chain | tree | loops | sparse | gauss-seidel
    int max_closer_rows = 96;        // loops: more rows than these are left to the sparse solver
    double sweep_tolerance = 1e-10;  // gauss-seidel
    int max_sweeps = 200;
};

std::unique_ptr<solve::CliqueSolver> make_clique_solver(const solve::CliqueSystem& system,
                                                        const SolverChoice& choice);

class DualRows {
  public:
    static constexpr int max_bodies = 4;
    struct Block {
        std::array<int, max_bodies> bodies{-1, -1, -1, -1};  // world's numbering; only moving ones
        int body_count = 0;
        int rows = 0;
        int row_start = 0;
        std::size_t gradient_start = 0;
    };

    int add_block(const std::vector<int>& bodies, int rows);
    // The first three rows of the block, never inactive, are those of a body's point: the gradient of row i is e_i (x) arm, for good.
    // With it known, their forces, increments and compliances are those of one point, a third of the work of three rows.
    void set_point(int block, int slot, const Vec4& arm);
    void finish(const SolverChoice& choice);  // after the last block: builds cliques and the solver

    int blocks() const { return static_cast<int>(blocks_.size()); }
    int rows() const { return static_cast<int>(value.size()); }
    const Block& block(int b) const { return blocks_[b]; }
    Mat34& gradient(int block, int slot, int row) {
        return gradient_[blocks_[block].gradient_start +
                         static_cast<std::size_t>(slot) * blocks_[block].rows + row];
    }
    const Mat34& gradient(int block, int slot, int row) const {
        return gradient_[blocks_[block].gradient_start +
                         static_cast<std::size_t>(slot) * blocks_[block].rows + row];
    }

    // per row
    std::vector<double> value;       // c
    std::vector<double> compliance;  // E; zero for hard rows
    std::vector<double> multiplier;  // lambda, kept for inactive rows (a given force)
    std::vector<char> active;        // inactive rows do not bind: their multiplier is given

    // Rows that may say the same as others get a compliance of this share of their diagonal entry; passes of refine()
    // take its effect out.
    double regularisation = 0.0;
    // That compliance is about no multipliers, or about those at hand: what such rows are left open by then vanishes from one
    // linearisation to the next (method of multipliers), also near dead points, where forces are large.
    void regularise_about_present(bool none);

    // Factors at the iterate and solves for increments and multipliers.
    void solve(BodyField& field);
    // What is left of all forces at the iterate, with the present gradients and multipliers, into field.unbalanced.
    void balance(BodyField& field, Balance& result);
    // With the factors of the last solve: increments that remove field.unbalanced and `value - E lambda` of active rows; updates
    // multipliers. Needs balance() before.
    void refine(BodyField& field);
    // The same for field.unbalanced alone, rows as they are; `keep`: multipliers change with it.
    void respond(BodyField& field, bool keep);
    // C_r dq of the increments in the field, for rows of blocks that are asked for: call begin_slopes() first.
    void begin_slopes(const BodyField& field);
    double slope(int block, int row) const;
    // C_r H^-1 C_r^T at the iterate.
    double self_compliance(const BodyField& field, int block, int row) const;

    std::string solver_name() const;
    int redundant_rows() const { return solver_ ? solver_->redundant_rows() : 0; }

    const solve::CliqueSystem& system() const { return system_; }

  private:
    struct Incidence {  // of a block's slot at its body
        int block, slot;
        int row_start, rows;
        std::size_t gradient_start;
        int points = 0;  // rows that are a point's: 3 or 0
        Vec4 arm = Vec4::Zero();
    };
    bool make_recursion(const SolverChoice& choice);
    void factor(const BodyField& field);
    void assemble(const BodyField& field);
    void assemble_clique(const BodyField& field, std::size_t c);
    // From forces in free_ and values in rhs_ to field.dq; rhs_ becomes the change of multipliers.
    void solve_forces(BodyField& field);
    void solve_free(BodyField& field);  // the same through the dual system, from increments in free_
    Mat34 pushed(std::size_t c, const std::vector<double>& lambda) const;  // H^-1 C^T lambda of active rows

    std::vector<Block> blocks_;
    std::vector<Mat34> gradient_;  // C
    std::vector<int> body_;        // bodies touched, one per clique
    std::vector<int> incidence_start_;
    std::vector<Incidence> incidence_;
    struct Arm {
        int block, slot;
        Vec4 arm;
    };
    std::vector<Arm> arms_;  // as they were set
    // of the last factorisation, per touched body: its inverse, its rotation, and whether its points have closed forms
    std::vector<BodyInverse> inverse_;
    std::vector<Mat3> rotation_;
    std::vector<char> by_points_;
    std::vector<Mat34> moved_;   // H^-1 C^T of the other rows, as increments, in the layout of the gradients
    std::vector<Mat34> free_;    // f, then H^-1 f, per touched body
    std::vector<Mat34> slopes_;  // increments in the world's frame, per touched body
    std::vector<int> clique_of_slot_;  // per gradient slot of a block: its body's place in body_
    solve::CliqueSystem system_;
    std::unique_ptr<solve::CliqueSolver> solver_;
    std::vector<double> rhs_;
    std::vector<Balance> partial_;
    std::vector<double> softness_, about_;      // per row: the regularisation, and its multiplier
    std::unique_ptr<TreeRecursion> recursion_;  // instead of the dual system, where bodies form trees
    bool is_chain_ = false;
};

}  // namespace tenon::articulated

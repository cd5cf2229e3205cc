// The Newton system of a coupled solve: bodies and groups of four vertices as nodes of twelve unknowns in one block
// factorisation, joints as exact equalities on top of it.
//
// All terms are summed in the numbers q of the nodes, where a material point has constant weights, and then taken to the
// increments of coupled_nodes.hpp. The matrix is scaled to a unit diagonal before it is factored: elements of 1e4 Pa beside
// bodies of 1e11 Pa then differ by what couples them only. Joints are closed by H + C^T W C with multipliers and refinement.
#pragma once

#include <vector>

#include "methods/affine/coupled_step.hpp"
#include "solve/block_cholesky.hpp"

namespace tenon::affine {

class CoupledSystem {
  public:
    // At q, where contacts have been evaluated; `x` are the surfaces' points, `vertices` the elastic bodies'. The
    // multipliers of the rows bend the bodies' turns.
    void assemble(CoupledStep& step, const std::vector<Mat34>& q, const std::vector<Vec3>& x,
                  const std::vector<std::vector<Vec3>>& vertices, const std::vector<double>& multipliers);
    // After assemble() and before all that solves.
    void factor();
    // The same system but for its drives, whose slopes are linearised at these coordinates instead of at q.
    void linearise_drives(const CoupledStep& step, const std::vector<double>& at);
    // The Newton direction, with the rows' values closed to `enough`; fills the multipliers.
    void solve(const CoupledStep& step, double enough, std::vector<double>& direction,
               std::vector<double>& multipliers);
    // The smallest increments, in the metric of the matrix, that change the rows by -gap.
    void close(const CoupledStep& step, const std::vector<double>& gap, double enough,
               std::vector<double>& increments);

    const std::vector<double>& gradient() const { return gradient_; }  // of the increments
    const solve::BlockMatrix& matrix() const { return plain_; }
    const solve::BlockMatrix& matrix_to_factor() const { return matrix_; }  // with rows' squares, not scaled
    std::vector<double> right_side() const {
        std::vector<double> minus(gradient_.size());
        for (std::size_t k = 0; k < minus.size(); ++k) minus[k] = -gradient_[k];
        return minus;
    }
    double row_value(const CoupledStep& step, std::size_t row, const std::vector<double>& increments) const;
    // Coordinates of the drives after the increments, to first order.
    void drive_coordinates(const std::vector<double>& increments, std::vector<double>& out) const;
    // The part of the way from one direction to another at which the model, with the drives' potentials as they are, is
    // least.
    double least_between(const CoupledStep& step, const std::vector<double>& from,
                         const std::vector<double>& to) const;
    int shifts() const { return shifts_; }
    // Nothing is kept over the end of a step that a checkpoint has not.
    void new_step() {
        contact_links_.clear();
        new_pattern_ = true;
    }

  private:
    void find_pattern(const CoupledStep& step, const std::vector<Mat34>& q);
    void add_inertia(const CoupledStep& step, const std::vector<Mat34>& q);
    void add_elements(const CoupledStep& step, const std::vector<std::vector<Vec3>>& vertices);
    void add_contacts(const CoupledStep& step, const std::vector<Vec3>& x);
    void add_drives(const CoupledStep& step, const std::vector<Mat34>& q);
    void keep_drives(const CoupledStep& step);
    void add_point_block(const MaterialPoint& a, const MaterialPoint& b, const Mat3& block);
    void add_point_force(const MaterialPoint& a, const Vec3& gradient);
    void add_square(double stiffness, int count, const int* node, const Vec12* direction);
    void add_corner_square(const CoupledStep& step, double stiffness, const std::array<int, 4>& point,
                           const std::array<Vec3, 4>& direction);
    void to_increments(CoupledStep& step, const std::vector<Mat34>& q,
                       const std::vector<double>& multipliers);
    void add_rows(const CoupledStep& step);
    void solve_factored(const std::vector<double>& right, std::vector<double>& out);
    void add_pulls(const CoupledStep& step, const std::vector<double>& pull, std::vector<double>& load) const;
    void close_by_gradients(const CoupledStep& step, double closed, std::vector<double>& x,
                            std::vector<double>& multipliers);
    void solve_with_rows(const CoupledStep& step, const std::vector<double>& right,
                         const std::vector<double>& gap, double enough, std::vector<double>& out,
                         std::vector<double>& multipliers);

    solve::BlockMatrix matrix_, plain_, scaled_;
    solve::BlockCholesky solver_;
    std::vector<std::pair<int, int>> element_links_, contact_links_;
    bool linked_elements_ = false;
    bool new_pattern_ = true;
    std::vector<Mat34> loads_;                // gradient in q, without rigidity
    std::vector<double> gradient_;            // in increments
    std::vector<Mat12> map_;                  // of nodes that turn
    std::vector<std::array<Vec12, 4>> rows_;  // of increments
    // Of drives: gradients of q, then of increments; the system with their slopes linearised at q.
    std::vector<CoupledRow> drive_rows_;
    solve::BlockMatrix at_q_;
    std::vector<double> gradient_at_q_;
    std::vector<double> row_weight_, scale_;
    std::vector<double> residual_, correction_, open_;
    std::vector<double> search_, image_, load_, change_, best_x_, best_multipliers_;  // of gradients
    std::vector<ElementResponse> responses_;
    int shifts_ = 0;
};

}  // namespace tenon::affine

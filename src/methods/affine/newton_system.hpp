// The Newton system of an island: gradient, projected Hessian, direction.
//
// Two forms. In the rigid form each body has six unknowns (turn w, shift u; A moves to exp(w) A): the rigidity energy
// does not change along them, so its stiffness never enters the coupled system; strain is solved body by body, where
// it is diagonal. In the affine form each body has its twelve coordinates. The rigid form takes an eighth of the
// work and is exact up to the ratio of contact stiffness to rigidity; the affine form serves soft bodies and holds.
#pragma once

#include <vector>

#include <Eigen/Cholesky>

#include "methods/affine/friction.hpp"
#include "methods/affine/pair_sum.hpp"
#include "solve/block_ldlt.hpp"

namespace tenon::affine {

struct Direction {
    std::vector<Mat34> step;       // first-order increment of q per island body
    std::vector<Vec3> turn;        // rigid form: w
    std::vector<Mat3> stretch;     // rigid form: E
    std::vector<double> slope_of;  // gradient . step per body
    double slope = 0.0;            // and their sum
    double softness = 0.0;         // largest ratio of contact stiffness to rigidity
    bool rigid = true;
};

template <int Dof>
class NewtonSystem {
  public:
    // What it knows of the island's pairs: it is for another one now.
    void forget() {
        known_ = 0;
        listed_ = false;
    }
    // In two steps: which blocks there are, true when that is new; then what is in them. The first is enough for a solver
    // to analyse.
    bool link(const Island& island, const StepContext& context);
    void sum(const Island& island, const StepContext& context);
    void assemble(const Island& island, const StepContext& context) {
        link(island, context);
        sum(island, context);
    }
    void analyse(const Island& island, solve::BlockCholesky& solver) const;
    void solve(const Island& island, const StepContext& context, solve::BlockCholesky& solver,
               Direction& out);

    // Poses a fraction t along a direction, with rotations kept rotations, move contact points off their straight paths:
    // by the square of the turn, which is more than a small gap. Moves the poses back so that gaps change as the
    // linear model says, in the metric of the Hessian.
    void second_order_correction(const Island& island, const StepContext& context,
                                 solve::BlockCholesky& solver, const Direction& direction, double t,
                                 std::vector<Mat34>& trial);

    // Changes increments of the bodies as little as possible so that a fraction t of the joints' residual is removed.
    void project_onto_joints(const Island& island, const StepContext& context, solve::BlockCholesky& solver,
                             std::vector<Mat34>& increments, double t);

    // For tests and dumps: the assembled matrix, gradient and right-hand side.
    const solve::BlockMatrix& matrix() const { return matrix_; }
    const std::vector<Mat34>& gradient() const { return gradient_; }
    const std::vector<double>& right() const { return right_; }
    bool used_ldlt() const { return fallback_ != nullptr; }
    int contacts() const { return contacts_; }  // that there were when blocks were linked

  private:
    void assemble_body(const BodyStep& body, const Mat34& q, int node, const StepContext& context);
    void add_pairs(const Island& island, const StepContext& context);
    void list_pairs(const Island& island, const StepContext& context);
    void add_pairs_of(int node, const Island& island, const StepContext& context);
    void project_holds(const Island& island, const StepContext& context);
    void add_motors(const Island& island, const StepContext& context);
    void add_joints(const Island& island, const StepContext& context);
    void factor(const Island& island, solve::BlockCholesky& solver);
    void solve_factored(solve::BlockCholesky& solver, const std::vector<double>& right,
                        std::vector<double>& x);
    void solve_with_joints(const Island& island, const StepContext& context, solve::BlockCholesky& solver,
                           double t, double* multipliers);
    double row_dot(const ConstraintRow& row, const StepContext& context, const double* x) const;
    void add_row(const ConstraintRow& row, const StepContext& context, double factor, double* x) const;

    solve::BlockMatrix matrix_;
    solve::BlockMatrix plain_;     // with joints: the matrix without their weights
    std::vector<Mat34> gradient_;  // dE/dq per body
    std::vector<double> stretch_;  // contact stiffness seen by strain
    std::vector<PairSum<Dof>> pair_sums_;
    std::size_t known_ = 0;                    // of them, those that belong to the island
    std::vector<int> pairs_start_, pairs_of_;  // per body
    bool listed_ = false;
    std::vector<int> place_of_;  // of each pair's block in the matrix; -1: none
    std::size_t linked_ = 0;     // pairs that have or had contacts
    int contacts_ = 0;
    Eigen::LDLT<Eigen::Matrix<double, Dof, Dof>> single_;
    std::unique_ptr<solve::BlockLdlt> fallback_;  // of the last factorisation, where Cholesky failed
    std::vector<double> right_, x_, residual_, correction_;
    std::vector<double> row_weight_,
        row_gap_;  // per joint row: weight in the augmented matrix, ja.qa + jb.qb
};

// The pose a fraction t along a direction, with rotations kept rotations.
Mat34 move_along(const Mat34& q, const Direction& direction, int index, double t);

double body_energy(const BodyStep& body, const Mat34& q, RigidityModel model);

extern template class NewtonSystem<6>;
extern template class NewtonSystem<12>;

}  // namespace tenon::affine

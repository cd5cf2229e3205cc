#include "solve/block_ldlt.hpp"

#include <vector>

#include <Eigen/SparseCholesky>

namespace tenon::solve {

struct BlockLdlt::Impl {
    Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>, Eigen::Lower> ldlt;
    Eigen::VectorXd pivots;
    int negative = 0;
};

BlockLdlt::BlockLdlt() : impl_(std::make_unique<Impl>()) {}
BlockLdlt::~BlockLdlt() = default;
BlockLdlt::BlockLdlt(BlockLdlt&&) noexcept = default;
BlockLdlt& BlockLdlt::operator=(BlockLdlt&&) noexcept = default;

bool BlockLdlt::factor(const BlockMatrix& matrix) {
    const int dof = matrix.dof;
    std::vector<Eigen::Triplet<double>> entries;
    entries.reserve(matrix.diagonal.size() + matrix.lower.size());
    const auto add = [&](int i, int j, const double* block) {
        for (int column = 0; column < dof; ++column)
            for (int row = i == j ? column : 0; row < dof; ++row)
                entries.emplace_back(i * dof + row, j * dof + column, block[column * dof + row]);
    };
    const std::size_t square = static_cast<std::size_t>(dof) * dof;
    for (int i = 0; i < matrix.pattern.nodes; ++i) {
        for (int e = matrix.pattern.start[i]; e < matrix.pattern.start[i + 1]; ++e)
            add(i, matrix.pattern.columns[e], matrix.lower.data() + e * square);
        add(i, i, matrix.diagonal.data() + i * square);
    }
    Eigen::SparseMatrix<double> sparse(matrix.size(), matrix.size());
    sparse.setFromTriplets(entries.begin(), entries.end());
    impl_->ldlt.compute(sparse);
    if (impl_->ldlt.info() != Eigen::Success) return false;
    impl_->pivots = impl_->ldlt.vectorD();
    impl_->negative = static_cast<int>((impl_->pivots.array() < 0.0).count());
    impl_->pivots = impl_->pivots.cwiseAbs().eval();
    return impl_->pivots.size() == 0 || impl_->pivots.minCoeff() > 0.0;
}

void BlockLdlt::solve(const double* right_hand_side, double* x) const {
    const auto n = impl_->pivots.size();
    Eigen::VectorXd y = impl_->ldlt.permutationP() * Eigen::Map<const Eigen::VectorXd>(right_hand_side, n);
    impl_->ldlt.matrixL().solveInPlace(y);
    y.array() /= impl_->pivots.array();
    impl_->ldlt.matrixU().solveInPlace(y);
    Eigen::Map<Eigen::VectorXd>(x, n) = impl_->ldlt.permutationPinv() * y;
}

int BlockLdlt::negative_pivots() const {
    return impl_->negative;
}

}  // namespace tenon::solve

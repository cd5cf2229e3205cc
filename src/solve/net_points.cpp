#include "solve/net_points.hpp"

#include <Eigen/Cholesky>

namespace tenon::solve {

NetPoints::NetPoints(const std::vector<std::vector<int>>& body_points, const std::vector<char>& fixed)
    : slot_start_{0}, block_of_point_(fixed.size(), -1), matrix_start_{0} {
    for (std::size_t p = 0; p < fixed.size(); ++p)
        if (!fixed[p]) block_of_point_[p] = system_.add_block(3);
    std::vector<int> members;
    for (const auto& points : body_points) {
        members.clear();
        for (int p : points) {
            point_of_slot_.push_back(p);
            if (block_of_point_[p] >= 0) members.push_back(block_of_point_[p]);
        }
        slot_start_.push_back(static_cast<int>(point_of_slot_.size()));
        matrix_start_.push_back(matrix_start_.back() + 9 * points.size() * points.size());
        clique_of_body_.push_back(members.empty() ? -1 : system_.add_clique(members));
    }
    stiffness_.resize(matrix_start_.back());
    rhs_.resize(system_.rows());
    solver_ = std::make_unique<DualSparse>(system_);
}

void NetPoints::factor() {
    for (std::size_t b = 0; b + 1 < slot_start_.size(); ++b) {
        const int body = static_cast<int>(b), k = points_of(body), size = 3 * k;
        Eigen::Map<MatX> K(stiffness_.data() + matrix_start_[b], size, size);
        if (k == 1) {
            const Mat3 inverse = Mat3(K).ldlt().solve(Mat3::Identity());
            K = inverse;
        } else if (k == 2) {
            const Mat6 inverse = Mat6(K).ldlt().solve(Mat6::Identity());
            K = inverse;
        } else {
            K = K.ldlt().solve(MatX::Identity(size, size)).eval();
        }
        if (clique_of_body_[b] < 0) continue;
        // the free points' part goes into the system
        double* matrix = system_.clique_matrix(clique_of_body_[b]);
        const int rows = system_.clique_rows(clique_of_body_[b]);
        int column = 0;
        for (int j = 0; j < k; ++j) {
            if (block_of_point_[point_of_slot_[slot(body, j)]] < 0) continue;
            int row = 0;
            for (int i = 0; i < k; ++i) {
                if (block_of_point_[point_of_slot_[slot(body, i)]] < 0) continue;
                for (int c = 0; c < 3; ++c)
                    for (int r = 0; r < 3; ++r)
                        matrix[row + r + static_cast<std::size_t>(column + c) * rows] =
                            0.5 * (K(3 * i + r, 3 * j + c) + K(3 * j + c, 3 * i + r));
                row += 3;
            }
            column += 3;
        }
    }
    solver_->factor(system_);
}

void NetPoints::solve(const std::vector<Vec3>& wanted, std::vector<Vec3>& position,
                      std::vector<Vec3>& force) {
    // sum over bodies of K (wanted - position) = 0 at each free point, in increments from the positions given
    std::fill(rhs_.begin(), rhs_.end(), 0.0);
    const auto forces = [&](std::size_t b) {
        const int body = static_cast<int>(b), k = points_of(body);
        const Eigen::Map<const MatX> K(stiffness_.data() + matrix_start_[b], 3 * k, 3 * k);
        for (int i = 0; i < k; ++i) {
            Vec3 f = Vec3::Zero();
            for (int j = 0; j < k; ++j) {
                const int s = slot(body, j);
                f += K.block<3, 3>(3 * i, 3 * j) * (wanted[s] - position[point_of_slot_[s]]);
            }
            force[slot(body, i)] = f;
        }
    };
    for (std::size_t b = 0; b + 1 < slot_start_.size(); ++b) {
        forces(b);
        for (int s = slot_start_[b]; s < slot_start_[b + 1]; ++s) {
            const int block = block_of_point_[point_of_slot_[s]];
            if (block >= 0)
                for (int i = 0; i < 3; ++i) rhs_[system_.block_start[block] + i] += force[s][i];
        }
    }
    solver_->solve(rhs_.data());
    for (std::size_t p = 0; p < block_of_point_.size(); ++p)
        if (block_of_point_[p] >= 0)
            for (int i = 0; i < 3; ++i) position[p][i] += rhs_[system_.block_start[block_of_point_[p]] + i];
    for (std::size_t b = 0; b + 1 < slot_start_.size(); ++b) forces(b);
}

}  // namespace tenon::solve

#include "solve/net_points.hpp"

#include <Eigen/Cholesky>
#include <array>

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
    compliance_.resize(matrix_start_.back());
    stiffness_.resize(matrix_start_.back());
    rhs_.resize(system_.rows());
    solver_ = std::make_unique<CliqueCholesky>(system_);
}

void NetPoints::factor() {
    for (std::size_t b = 0; b + 1 < slot_start_.size(); ++b) {
        const int body = static_cast<int>(b), k = points_of(body), size = 3 * k;
        const Eigen::Map<const MatX> S(compliance_.data() + matrix_start_[b], size, size);
        Eigen::Map<MatX> K(stiffness_.data() + matrix_start_[b], size, size);
        if (k == 1)
            K = Mat3(S).ldlt().solve(Mat3::Identity());
        else if (k == 2)
            K = Mat6(S).ldlt().solve(Mat6::Identity());
        else
            K = S.ldlt().solve(MatX::Identity(size, size));
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

// Moves free points until the forces in them balance.
void NetPoints::balance(std::vector<Vec3>& position, std::vector<Vec3>& force) {
    std::fill(rhs_.begin(), rhs_.end(), 0.0);
    for (std::size_t s = 0; s < point_of_slot_.size(); ++s) {
        const int block = block_of_point_[point_of_slot_[s]];
        if (block >= 0)
            for (int i = 0; i < 3; ++i) rhs_[system_.block_start[block] + i] += force[s][i];
    }
    solver_->solve(rhs_.data());
    const auto moved = [&](int point) -> Vec3 {
        const int block = block_of_point_[point];
        return block < 0 ? Vec3(Vec3::Zero())
                         : Vec3(Eigen::Map<const Vec3>(rhs_.data() + system_.block_start[block]));
    };
    for (std::size_t p = 0; p < block_of_point_.size(); ++p) position[p] += moved(static_cast<int>(p));
    for (std::size_t b = 0; b + 1 < slot_start_.size(); ++b) {
        const int body = static_cast<int>(b), k = points_of(body);
        const Eigen::Map<const MatX> K(stiffness_.data() + matrix_start_[b], 3 * k, 3 * k);
        for (int j = 0; j < k; ++j) {
            const Vec3 way = moved(point_of_slot_[slot(body, j)]);
            for (int i = 0; i < k; ++i) force[slot(body, i)] -= K.block<3, 3>(3 * i, 3 * j) * way;
        }
    }
}

// Each body pulls its points to where it wants them, force = K (wanted - position); then points move until forces balance.
// A second round takes out what the inverses K of stiff bodies' compliances S have lost: the distance that is left between
// where the forces take the bodies, wanted - S force, and the points.
void NetPoints::solve(const std::vector<Vec3>& wanted, std::vector<Vec3>& position,
                      std::vector<Vec3>& force) {
    std::fill(force.begin(), force.end(), Vec3::Zero());
    std::array<Vec3, 4> open;
    for (int round = 0; round < 2; ++round) {
        for (std::size_t b = 0; b + 1 < slot_start_.size(); ++b) {
            const int body = static_cast<int>(b), k = points_of(body);
            const Eigen::Map<const MatX> S(compliance_.data() + matrix_start_[b], 3 * k, 3 * k),
                K(stiffness_.data() + matrix_start_[b], 3 * k, 3 * k);
            for (int i = 0; i < k; ++i) {
                const int s = slot(body, i);
                open[i] = wanted[s] - position[point_of_slot_[s]];
                for (int j = 0; round > 0 && j < k; ++j)
                    open[i] -= S.block<3, 3>(3 * i, 3 * j) * force[slot(body, j)];
            }
            for (int i = 0; i < k; ++i)
                for (int j = 0; j < k; ++j) force[slot(body, i)] += K.block<3, 3>(3 * i, 3 * j) * open[j];
        }
        balance(position, force);
    }
}

}  // namespace tenon::solve

// Nets: where many ball joints meet in one point, the unknowns are the points. Each body is condensed onto its few
// points - K = (J H^-1 J^T)^-1, at most 12x12 - and the points' positions follow from a sparse positive definite
// system with 3 unknowns a point, a tenth of the work of the joints' multipliers.
#pragma once

#include <memory>
#include <vector>

#include "solve/clique_cholesky.hpp"
#include "solve/clique_system.hpp"

namespace tenon::solve {

class NetPoints {
  public:
    // body_points[b]: the points of body b (each once, at most four); fixed[p]: the point's position is given.
    NetPoints(const std::vector<std::vector<int>>& body_points, const std::vector<char>& fixed);

    int points_of(int body) const { return slot_start_[body + 1] - slot_start_[body]; }
    int slot(int body, int k) const { return slot_start_[body] + k; }
    int slots() const { return slot_start_.back(); }
    int point_of_slot(int slot) const { return point_of_slot_[slot]; }

    // Compliance between a body's points, 3k x 3k column-major, to be filled before factor().
    double* compliance(int body) { return compliance_.data() + matrix_start_[body]; }
    void factor();

    // `wanted`: where each body's points (slots) would be without joints. `position`: fixed points in, all out.
    // `force`: what the net does to each body at each slot is minus this.
    void solve(const std::vector<Vec3>& wanted, std::vector<Vec3>& position, std::vector<Vec3>& force);

  private:
    void balance(std::vector<Vec3>& position, std::vector<Vec3>& force);
    std::vector<int> slot_start_, point_of_slot_, block_of_point_;
    std::vector<std::size_t> matrix_start_;
    std::vector<double> compliance_, stiffness_;
    std::vector<int> clique_of_body_;
    CliqueSystem system_;
    std::unique_ptr<CliqueSolver> solver_;
    std::vector<double> rhs_;
};

}  // namespace tenon::solve

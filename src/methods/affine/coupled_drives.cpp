// Drives in the Newton system: what it becomes when they are on other pieces of their potentials.
#include <cmath>

#include "methods/affine/coupled_system.hpp"

namespace tenon::affine {

void CoupledSystem::keep_drives(const CoupledStep& step) {
    if (drive_rows_.empty()) return;
    for (CoupledRow& row : drive_rows_)
        for (int k = 0; k < row.count; ++k) {
            if (!step.nodes.node[row.node[k]].turns()) continue;
            Eigen::Map<Vec12> gradient(row.gradient[k].data());
            gradient = (map_[row.node[k]].transpose() * gradient).eval();
        }
    at_q_ = matrix_;
    gradient_at_q_ = gradient_;
}

void CoupledSystem::drive_coordinates(const std::vector<double>& increments, std::vector<double>& out) const {
    out.resize(drive_rows_.size());
    for (std::size_t d = 0; d < out.size(); ++d) {
        const CoupledRow& row = drive_rows_[d];
        out[d] = row.value;
        for (int k = 0; k < row.count; ++k)
            out[d] += Eigen::Map<const Vec12>(row.gradient[k].data())
                          .dot(Eigen::Map<const Vec12>(increments.data() + 12 * row.node[k]));
    }
}

void CoupledSystem::linearise_drives(const CoupledStep& step, const std::vector<double>& at) {
    const auto& drives = step.joints.drives();
    matrix_ = at_q_;
    gradient_ = gradient_at_q_;
    for (std::size_t d = 0; d < at.size(); ++d) {
        const DriveRow& drive = drives[d].row;
        const CoupledRow& row = drive_rows_[d];
        if (drive_branch(drive, at[d]) == drive_branch(drive, row.value)) continue;
        const double stiffness = drive_curvature(drive, at[d]);
        const double slope = drive_slope(drive, at[d]) + stiffness * (row.value - at[d]);
        Vec12 direction[4];
        for (int k = 0; k < row.count; ++k) {
            direction[k] = Eigen::Map<const Vec12>(row.gradient[k].data());
            Eigen::Map<Vec12>(gradient_.data() + 12 * row.node[k]) +=
                step.potential_scale * (slope - drive_slope(drive, row.value)) * direction[k];
        }
        add_square(step.potential_scale * (stiffness - drive_curvature(drive, row.value)), row.count,
                   row.node.data(), direction);
    }
    plain_ = matrix_;
    if (!step.joints.rows().empty()) add_rows(step);
    factor();
}

// The model's slope on the way is a straight line and the slopes of the drives, all of which rise.
double CoupledSystem::least_between(const CoupledStep& step, const std::vector<double>& from,
                                    const std::vector<double>& to) const {
    const auto& drives = step.joints.drives();
    std::vector<double> way(from.size()), image(from.size()), start, end;
    for (std::size_t k = 0; k < way.size(); ++k) way[k] = to[k] - from[k];
    at_q_.multiply(way.data(), image.data());
    double slope = 0.0, curvature = 0.0;
    for (std::size_t k = 0; k < way.size(); ++k) {
        slope += gradient_at_q_[k] * way[k] + from[k] * image[k];
        curvature += way[k] * image[k];
    }
    drive_coordinates(from, start);
    drive_coordinates(to, end);
    const double scale = step.potential_scale;
    for (std::size_t d = 0; d < drives.size(); ++d) {  // the rest of the model has no drives
        const double at = drive_rows_[d].value, own = end[d] - start[d];
        const double stiffness = scale * drive_curvature(drives[d].row, at);
        slope -= (scale * drive_slope(drives[d].row, at) + stiffness * (start[d] - at)) * own;
        curvature -= stiffness * own * own;
    }
    const auto slope_at = [&](double part) {
        double sum = slope + part * curvature;
        for (std::size_t d = 0; d < drives.size(); ++d)
            sum += scale * drive_slope(drives[d].row, start[d] + part * (end[d] - start[d])) *
                   (end[d] - start[d]);
        return sum;
    };
    if (slope_at(1.0) <= 0.0) return 1.0;
    double low = 0.0, high = 1.0;
    while (high - low > 1e-15 * high) {
        const double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) break;
        (slope_at(middle) > 0.0 ? high : low) = middle;
    }
    return low;
}

}  // namespace tenon::affine

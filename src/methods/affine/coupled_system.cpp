#include "methods/affine/coupled_system.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

#include "math/parallel.hpp"
#include "tenon/error.hpp"

namespace tenon::affine {
namespace {

constexpr double least_turn = 0.05;  // of a body's own inertia that its turns keep

using Block = Eigen::Map<Mat12>;

// The part of sum G_k . (w x (w x a_k)) / 2 that is quadratic in w.
Mat3 turning_curvature(const Mat34& load, const Mat34& q) {
    const Mat3 moment = load.leftCols<3>() * q.leftCols<3>().transpose();
    return 0.5 * (moment + moment.transpose()) - moment.trace() * Mat3::Identity();
}

}  // namespace

void CoupledSystem::find_pattern(const CoupledStep& step, const std::vector<Mat34>& q) {
    const auto link = [](std::vector<std::pair<int, int>>& links, const int* node, int count) {
        for (int i = 0; i < count; ++i)
            for (int j = 0; j < count; ++j)
                if (node[i] > node[j] && node[j] >= 0) links.emplace_back(node[i], node[j]);
    };
    const auto tidy = [](std::vector<std::pair<int, int>>& links) {
        std::sort(links.begin(), links.end());
        links.erase(std::unique(links.begin(), links.end()), links.end());
    };
    if (!linked_elements_) {
        linked_elements_ = true;
        for (std::size_t e = 0; e < step.elastic.size(); ++e)
            for (const Tet& tet : step.elastic[e].elements.tets) {
                int node[4];
                for (int c = 0; c < 4; ++c) node[c] = tet[c] < 0 ? -1 : step.nodes.vertex[e][tet[c]].node;
                link(element_links_, node, 4);
            }
        tidy(element_links_);
    }
    // Links that there were once in a step stay: a new pattern needs a new elimination order.
    const std::size_t known = contact_links_.size();
    const auto& points = step.contacts.points();
    const auto link_points = [&](const std::array<int, 4>& point) {
        int node[4];
        for (int i = 0; i < 4; ++i) node[i] = points[point[i]].node;
        link(contact_links_, node, 4);
    };
    for (const SurfaceContact& contact : step.contacts.contacts())
        link_points(step.contacts.candidate(contact).point);
    for (const SurfaceFriction& friction : step.contacts.friction()) link_points(friction.point);
    for (const CoupledRow& row : step.joints.rows()) link(contact_links_, row.node.data(), row.count);
    for (const auto& drive : step.joints.drives()) {  // those of a joint that asks for nothing else: a spring
        CoupledRow row;
        step.joints.coordinate(drive, q, &row);
        link(contact_links_, row.node.data(), row.count);
    }
    tidy(contact_links_);
    if (!new_pattern_ && contact_links_.size() == known) {
        std::fill(matrix_.diagonal.begin(), matrix_.diagonal.end(), 0.0);
        std::fill(matrix_.lower.begin(), matrix_.lower.end(), 0.0);
        return;
    }
    new_pattern_ = false;
    std::vector<std::pair<int, int>> all = element_links_;
    all.insert(all.end(), contact_links_.begin(), contact_links_.end());
    matrix_.resize(solve::make_pattern(step.nodes.size(), std::move(all)), 12);
}

void CoupledSystem::add_point_force(const MaterialPoint& a, const Vec3& gradient) {
    if (a.node >= 0) loads_[a.node] += gradient * a.weight.transpose();
}

// J_a^T h J_b with J = weight (x) I, where a's node is b's or follows it.
void CoupledSystem::add_point_block(const MaterialPoint& a, const MaterialPoint& b, const Mat3& block) {
    if (a.node < 0 || b.node < 0 || a.node < b.node) return;
    Block to(a.node == b.node ? matrix_.diagonal_block(a.node)
                              : matrix_.lower_block(matrix_.find(a.node, b.node)));
    for (int j = 0; j < 4; ++j) {
        if (b.weight[j] == 0.0) continue;
        for (int i = 0; i < 4; ++i)
            if (a.weight[i] != 0.0) to.block<3, 3>(3 * i, 3 * j) += a.weight[i] * b.weight[j] * block;
    }
}

void CoupledSystem::add_square(double stiffness, int count, const int* node, const Vec12* direction) {
    for (int i = 0; i < count; ++i) {
        const Vec12 scaled = stiffness * direction[i];
        Block(matrix_.diagonal_block(node[i])).noalias() += scaled * direction[i].transpose();
        for (int j = 0; j < count; ++j)
            if (node[i] > node[j])
                Block(matrix_.lower_block(matrix_.find(node[i], node[j]))).noalias() +=
                    scaled * direction[j].transpose();
    }
}

void CoupledSystem::add_corner_square(const CoupledStep& step, double stiffness,
                                      const std::array<int, 4>& point, const std::array<Vec3, 4>& direction) {
    int node[4], count = 0;
    Vec12 sum[4];
    for (int i = 0; i < 4; ++i) {
        const MaterialPoint& p = step.contacts.points()[point[i]];
        if (p.node < 0 || direction[i].isZero(0.0)) continue;
        int place = 0;
        while (place < count && node[place] != p.node) ++place;
        if (place == count) {
            node[count] = p.node;
            sum[count++].setZero();
        }
        Eigen::Map<Mat34>(sum[place].data()) += direction[i] * p.weight.transpose();
    }
    add_square(stiffness, count, node, sum);
}

void CoupledSystem::add_inertia(const CoupledStep& step, const std::vector<Mat34>& q) {
    parallel_for(q.size(), 64, [&](std::size_t n) {
        const NodeStep& node = step.node[n];
        Block H(matrix_.diagonal_block(static_cast<int>(n)));
        for (int k = 0; k < 4; ++k) {
            loads_[n].col(k) += node.mass[k] * (q[n].col(k) - node.target.col(k));
            for (int axis = 0; axis < 3; ++axis) H(3 * k + axis, 3 * k + axis) += node.mass[k];
        }
    });
    for (const AttachedVertex& a : step.attached) {
        if (a.point.node < 0) continue;
        add_point_force(a.point, a.mass * (a.point.at(q) - a.target));
        add_point_block(a.point, a.point, a.mass * Mat3::Identity());
    }
}

void CoupledSystem::add_elements(const CoupledStep& step, const std::vector<std::vector<Vec3>>& vertices) {
    constexpr std::size_t chunk = 4096, batch = 64;
    for (std::size_t e = 0; e < step.elastic.size(); ++e) {
        const ElasticPart& part = step.elastic[e];
        const std::size_t count = part.elements.tets.size();
        responses_.resize(std::min(count, chunk));
        for (std::size_t first = 0; first < count; first += chunk) {
            const std::size_t size = std::min(chunk, count - first);
            parallel_ranges(size, batch, [&](std::size_t begin, std::size_t end) {
                std::vector<int> list(end - begin);
                for (std::size_t i = begin; i < end; ++i) list[i - begin] = static_cast<int>(first + i);
                element_responses(part.elements, list.data(), static_cast<int>(list.size()), vertices[e],
                                  true, responses_.data() + begin);
            });
            for (std::size_t i = 0; i < size; ++i) {
                const int element = static_cast<int>(first + i);
                const Tet& tet = part.elements.tets[element];
                ElementResponse& response = responses_[i];
                if (part.damped && part.stiffness_damping[element] > 0.0) {
                    Vec12 change;
                    for (int c = 0; c < 4; ++c)
                        change.segment<3>(3 * c) = vertices[e][tet[c]] - part.start[tet[c]];
                    const Vec12 drag = part.viscosity[element] * change;
                    for (int c = 0; c < 4; ++c) response.force[c] -= drag.segment<3>(3 * c);
                    response.stiffness += part.viscosity[element];
                }
                for (int a = 0; a < 4; ++a) {
                    const MaterialPoint& pa = step.nodes.vertex[e][tet[a]];
                    add_point_force(pa, -step.potential_scale * response.force[a]);
                    for (int b = 0; b < 4; ++b)
                        add_point_block(pa, step.nodes.vertex[e][tet[b]],
                                        step.potential_scale * response.stiffness.block<3, 3>(3 * a, 3 * b));
                }
            }
        }
    }
}

void CoupledSystem::add_contacts(const CoupledStep& step, const std::vector<Vec3>& x) {
    const double scale = step.potential_scale;
    const auto& points = step.contacts.points();
    std::array<StiffDirection, 3> directions;
    for (const SurfaceContact& contact : step.contacts.contacts()) {
        const SurfaceCandidate& candidate = step.contacts.candidate(contact);
        for (int i = 0; i < 4; ++i)
            add_point_force(points[candidate.point[i]],
                            -scale * contact.force * contact.closest.weight[i] * contact.normal);
        const int count = step.contacts.directions(contact, x, directions);
        for (int k = 0; k < count; ++k)
            add_corner_square(step, scale * directions[k].stiffness, candidate.point,
                              directions[k].direction);
    }
    for (const SurfaceFriction& friction : step.contacts.friction()) {
        const Vec3 force = step.contacts.friction_force(friction, x);
        for (int i = 0; i < 4; ++i)
            add_point_force(points[friction.point[i]], -scale * friction.weight[i] * force);
        const int count = step.contacts.directions(friction, x, directions);
        for (int k = 0; k < count; ++k)
            add_corner_square(step, scale * directions[k].stiffness, friction.point, directions[k].direction);
    }
}

void CoupledSystem::add_drives(const CoupledStep& step, const std::vector<Mat34>& q) {
    const auto& drives = step.joints.drives();
    drive_rows_.resize(drives.size());
    for (std::size_t d = 0; d < drives.size(); ++d) {
        CoupledRow& row = drive_rows_[d] = {};
        row.value = step.joints.coordinate(drives[d], q, &row);
        const double slope = step.potential_scale * drive_slope(drives[d].row, row.value),
                     curvature = step.potential_scale * drive_curvature(drives[d].row, row.value);
        Vec12 direction[4];
        for (int k = 0; k < row.count; ++k) {
            loads_[row.node[k]] += slope * row.gradient[k];
            direction[k] = Eigen::Map<const Vec12>(row.gradient[k].data());
        }
        if (curvature > 0.0) add_square(curvature, row.count, row.node.data(), direction);
    }
}

// From q to increments. A turn moves material points on circles: the loads, joints' included, add to its stiffness.
void CoupledSystem::to_increments(CoupledStep& step, const std::vector<Mat34>& q,
                                  const std::vector<double>& multipliers) {
    const std::vector<CoupledRow>& rows = step.joints.rows();
    std::vector<Mat34> bending = loads_;
    for (std::size_t r = 0; r < rows.size(); ++r)
        for (int k = 0; k < rows[r].count; ++k)
            bending[rows[r].node[k]] += multipliers[r] * rows[r].gradient[k];
    map_.resize(q.size());
    gradient_.resize(12 * q.size());
    parallel_for(q.size(), 32, [&](std::size_t n) {
        const CoupledNode& node = step.nodes.node[n];
        Eigen::Map<Vec12> g(gradient_.data() + 12 * n);
        const Eigen::Map<const Vec12> load(loads_[n].data());
        Block H(matrix_.diagonal_block(static_cast<int>(n)));
        if (!node.turns()) {
            g = load;
            for (int k = 0; k < 4; ++k)
                if (node.vertex[k] < 0) {
                    H.block<3, 3>(3 * k, 3 * k).setIdentity();
                    g.segment<3>(3 * k).setZero();
                }
            return;
        }
        const NodeStep& own = step.node[n];
        const Mat3 A = q[n].leftCols<3>();
        Mat12& T = map_[n];
        T = increment_map(node, q[n], *step.model);
        g = T.transpose() * load;
        H = (T.transpose() * H * T).eval();
        const Mat3 second = A * own.mass.head<3>().asDiagonal() * A.transpose();
        const Mat3 inertia = second.trace() * Mat3::Identity() - second;
        const Eigen::SelfAdjointEigenSolver<Mat3> turns(inertia + turning_curvature(bending[n], q[n]));
        const double least = least_turn * inertia.diagonal().minCoeff();
        const Mat3 kept = turns.eigenvectors() * turns.eigenvalues().cwiseMax(least).asDiagonal() *
                          turns.eigenvectors().transpose();
        H.topLeftCorner<3, 3>() += kept - inertia;
        // Rigidity sees strains only.
        const Eigen::Matrix<double, 9, 6> strains = T.block<9, 6>(0, 6);
        const Mat3 stress = own.rigidity * rigidity_gradient(step.rigidity, A);
        g.tail<6>() += strains.transpose() * Eigen::Map<const Eigen::Matrix<double, 9, 1>>(stress.data());
        H.bottomRightCorner<6, 6>() +=
            own.rigidity * (strains.transpose() * rigidity_hessian(step.rigidity, A, true) * strains);
        for (int k = 0; k < 6; ++k) {
            if (!T.col(k).isZero(0.0)) continue;
            H.row(k).setZero();
            H.col(k).setZero();
            H(k, k) = k < 3 ? inertia(k, k) : own.mass[3];
            g[k] = 0.0;
        }
    });
    parallel_for(q.size(), 16, [&](std::size_t i) {
        for (int e = matrix_.pattern.start[i]; e < matrix_.pattern.start[i + 1]; ++e) {
            const int j = matrix_.pattern.columns[e];
            Block block(matrix_.lower_block(e));
            if (step.nodes.node[i].turns()) block = map_[i].transpose().lazyProduct(block).eval();
            if (step.nodes.node[j].turns()) block = block.lazyProduct(map_[j]).eval();
        }
    });
}

void CoupledSystem::assemble(CoupledStep& step, const std::vector<Mat34>& q, const std::vector<Vec3>& x,
                             const std::vector<std::vector<Vec3>>& vertices,
                             const std::vector<double>& multipliers) {
    step.joints.linearise(q);
    find_pattern(step, q);
    loads_.assign(q.size(), Mat34::Zero());
    add_inertia(step, q);
    add_elements(step, vertices);
    add_contacts(step, x);
    add_drives(step, q);
    to_increments(step, q, multipliers);
    keep_drives(step);
    plain_ = matrix_;
    if (!step.joints.rows().empty()) add_rows(step);
}

void CoupledSystem::factor() {
    const int nodes = matrix_.pattern.nodes;
    scale_.resize(static_cast<std::size_t>(12 * nodes));
    for (int n = 0; n < nodes; ++n)
        for (int k = 0; k < 12; ++k) {
            const double entry = matrix_.diagonal_block(n)[13 * k];
            scale_[12 * n + k] = entry > 0.0 ? 1.0 / std::sqrt(entry) : 1.0;
        }
    scaled_ = matrix_;
    const auto scaled = [&](double* block, int i, int j) {
        Block b(block);
        b = Eigen::Map<const Vec12>(scale_.data() + 12 * i).asDiagonal() * b *
            Eigen::Map<const Vec12>(scale_.data() + 12 * j).asDiagonal();
    };
    parallel_for(static_cast<std::size_t>(nodes), 64, [&](std::size_t n) {
        const int i = static_cast<int>(n);
        scaled(scaled_.diagonal_block(i), i, i);
        for (int e = scaled_.pattern.start[n]; e < scaled_.pattern.start[n + 1]; ++e)
            scaled(scaled_.lower_block(e), i, scaled_.pattern.columns[e]);
    });
    double shift = 0.0;
    while (!solver_.factor(scaled_)) {
        ++shifts_;
        shift = shift == 0.0 ? 1e-12 : 100.0 * shift;
        if (shift > 1.0) throw StepFailure("the Newton matrix cannot be factored", -1);
        for (int n = 0; n < nodes; ++n)
            for (int k = 0; k < 12; ++k) scaled_.diagonal_block(n)[13 * k] += shift;
    }
}

void CoupledSystem::solve_factored(const std::vector<double>& right, std::vector<double>& out) {
    correction_.resize(right.size());
    out.resize(right.size());
    for (std::size_t k = 0; k < right.size(); ++k) correction_[k] = scale_[k] * right[k];
    solver_.solve(correction_.data(), out.data());
    for (std::size_t k = 0; k < right.size(); ++k) out[k] *= scale_[k];
}

}  // namespace tenon::affine

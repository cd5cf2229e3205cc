#include "methods/affine/newton_system.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "math/parallel.hpp"
#include "tenon/error.hpp"

namespace tenon::affine {
namespace {

constexpr int most_refinements = 30;   // of a solve with joints
constexpr double closed_part = 1e-15;  // of the largest body: joint rows closed to round-off

}  // namespace

double body_energy(const BodyStep& body, const Mat34& q, RigidityModel model) {
    double sum = 0.0;
    for (int k = 0; k < 4; ++k)
        sum += 0.5 * body.inertia.of_column(k) * (q.col(k) - body.target.col(k)).squaredNorm();
    return sum + body.rigidity * rigidity_energy(model, q.leftCols<3>());
}

Mat34 move_along(const Mat34& q, const Direction& direction, int index, double t) {
    if (!direction.rigid) return retract(q, direction.step[index], t);
    const Mat3 A = q.leftCols<3>();
    Mat34 moved;
    moved.leftCols<3>() = rotation_matrix(t * direction.turn[index]) * (A + t * A * direction.stretch[index]);
    moved.col(3) = q.col(3) + t * direction.step[index].col(3);
    return moved;
}

template <int Dof>
void NewtonSystem<Dof>::assemble_body(const BodyStep& body, const Mat34& q, int node,
                                      const StepContext& context) {
    const Mat3 A = q.leftCols<3>();
    Mat34& g = gradient_[node];
    for (int k = 0; k < 4; ++k) g.col(k) = body.inertia.of_column(k) * (q.col(k) - body.target.col(k));
    Eigen::Map<Eigen::Matrix<double, Dof, Dof>> H(matrix_.diagonal_block(node));
    H.setZero();
    if constexpr (Dof == 6) {
        // Along exp(w) A the inertial term has the Hessian tr(Y) I - Y with Y = sum s_k target_k a_k^T.
        const Mat3 target = body.target.template leftCols<3>();
        Mat3 Y = target * body.inertia.moments.asDiagonal() * A.transpose();
        Y = (0.5 * (Y + Y.transpose())).eval();
        Mat3 turn = Y.trace() * Mat3::Identity() - Y;
        if (Eigen::LLT<Mat3>(turn - 0.05 * turn.cwiseAbs().maxCoeff() * Mat3::Identity()).info() !=
            Eigen::Success) {
            const Mat3 second = A * body.inertia.moments.asDiagonal() * A.transpose();
            turn = second.trace() * Mat3::Identity() - second;
        }
        H.template topLeftCorner<3, 3>() += turn;
        H.diagonal().template tail<3>().array() += body.inertia.mass;
    } else {
        for (int k = 0; k < 12; ++k) H(k, k) += body.inertia.of_column(k / 3);
        H.template topLeftCorner<9, 9>() +=
            body.rigidity * rigidity_hessian(context.settings.rigidity, A, true);
    }
    g.leftCols<3>() += body.rigidity * rigidity_gradient(context.settings.rigidity, A);
}

template <int Dof>
void NewtonSystem<Dof>::add_pairs(const Island& island, const StepContext& context) {
    const std::size_t count = island.pairs.size();
    if (pair_sums_.size() < count) pair_sums_.resize(count);
    for (; known_ < count; ++known_) pair_sums_[known_].forget();
    parallel_for(count, grain_of(island, 2), [&](std::size_t k) {
        const CandidatePair& pair = context.field.pair(island.pairs[k]);
        const PairContacts& contacts = context.field.contacts(island.pairs[k]);
        using Block = Eigen::Map<Eigen::Matrix<double, Dof, Dof>>;
        if (contacts.points.empty() && contacts.friction.empty()) {
            if (place_of_[k] >= 0) Block(matrix_.lower_block(place_of_[k])).setZero();
            return;
        }
        PairSum<Dof>& sum = pair_sums_[k];
        sum_pair(sum, island.pairs[k], context);
        if (place_of_[k] < 0) return;
        if (context.node[pair.b] > context.node[pair.a])
            Block(matrix_.lower_block(place_of_[k])) = sum.ba;
        else
            Block(matrix_.lower_block(place_of_[k])) = sum.ba.transpose();
    });
}

// Which pairs a body belongs to: twice their number in the island, and one more where it is their second body.
template <int Dof>
void NewtonSystem<Dof>::list_pairs(const Island& island, const StepContext& context) {
    if (listed_) return;
    listed_ = true;
    const auto each = [&](const auto& visit) {
        for (std::size_t k = 0; k < island.pairs.size(); ++k) {
            const CandidatePair& pair = context.field.pair(island.pairs[k]);
            if (context.node[pair.a] >= 0) visit(context.node[pair.a], static_cast<int>(2 * k));
            if (context.node[pair.b] >= 0) visit(context.node[pair.b], static_cast<int>(2 * k + 1));
        }
    };
    pairs_start_.assign(island.bodies.size() + 1, 0);
    each([&](int node, int) { ++pairs_start_[node + 1]; });
    for (std::size_t n = 0; n < island.bodies.size(); ++n) pairs_start_[n + 1] += pairs_start_[n];
    pairs_of_.resize(pairs_start_.back());
    std::vector<int> next(pairs_start_.begin(), pairs_start_.end() - 1);
    each([&](int node, int entry) { pairs_of_[next[node]++] = entry; });
}

template <int Dof>
void NewtonSystem<Dof>::add_pairs_of(int node, const Island& island, const StepContext& context) {
    Eigen::Map<Eigen::Matrix<double, Dof, Dof>> H(matrix_.diagonal_block(node));
    for (int e = pairs_start_[node]; e < pairs_start_[node + 1]; ++e) {
        const int k = pairs_of_[e] / 2;
        const PairContacts& contacts = context.field.contacts(island.pairs[k]);
        if (contacts.points.empty() && contacts.friction.empty()) continue;
        const PairSum<Dof>& sum = pair_sums_[k];
        const bool second = pairs_of_[e] % 2;
        H += second ? sum.bb : sum.aa;
        gradient_[node] += second ? sum.gradient_b : sum.gradient_a;
        stretch_[node] += second ? sum.stretch_b : sum.stretch_a;
    }
}

template <int Dof>
bool NewtonSystem<Dof>::link(const Island& island, const StepContext& context) {
    struct Counts {
        std::size_t linked = 0, contacts = 0;
        void operator+=(const Counts& more) {
            linked += more.linked;
            contacts += more.contacts;
        }
    };
    const auto [linked, contacts] =
        parallel_sum(island.pairs.size(), large_island, Counts{}, [&](std::size_t n) {
            PairContacts& pair = context.field.contacts(island.pairs[n]);
            // Pairs that touched once keep their place: a new pattern needs a new elimination order.
            pair.linked = pair.linked || !pair.points.empty() || !pair.friction.empty();
            return Counts{pair.linked, pair.points.size()};
        });
    contacts_ = static_cast<int>(contacts);
    if (listed_ && linked == linked_) return false;
    linked_ = linked;
    const auto nodes_of = [&](const auto& two) {
        const int a = context.node[two.a], b = context.node[two.b];
        return std::pair(std::max(a, b), std::min(a, b));
    };
    std::vector<std::pair<int, int>> links;
    links.reserve(linked + island.rows.size());
    for (const int k : island.pairs)
        if (const auto [i, j] = nodes_of(context.field.pair(k)); context.field.contacts(k).linked && j >= 0)
            links.emplace_back(i, j);
    for (const int r : island.rows) links.push_back(nodes_of(context.constraint_rows[r]));
    matrix_.resize(solve::make_pattern(static_cast<int>(island.bodies.size()), std::move(links)), Dof);
    place_of_.resize(island.pairs.size());
    parallel_for(island.pairs.size(), grain_of(island, 64), [&](std::size_t k) {
        const auto [i, j] = nodes_of(context.field.pair(island.pairs[k]));
        place_of_[k] = j >= 0 && context.field.contacts(island.pairs[k]).linked ? matrix_.find(i, j) : -1;
    });
    list_pairs(island, context);
    return true;
}

template <int Dof>
void NewtonSystem<Dof>::sum(const Island& island, const StepContext& context) {
    const std::size_t nodes = island.bodies.size();
    gradient_.resize(nodes);
    stretch_.resize(nodes);
    if (!island.rows.empty()) std::fill(matrix_.lower.begin(), matrix_.lower.end(), 0.0);
    add_pairs(island, context);
    parallel_for(nodes, grain_of(island, 8), [&](std::size_t n) {
        const int body = island.bodies[n];
        stretch_[n] = 0.0;
        assemble_body(context.bodies.body[body], context.q[body], static_cast<int>(n), context);
        add_pairs_of(static_cast<int>(n), island, context);
    });
    if constexpr (Dof == 12) {
        if (!island.motors.empty()) add_motors(island, context);
        project_holds(island, context);
        if (!island.rows.empty()) {
            plain_ = matrix_;
            add_joints(island, context);
        }
    }
}

template <int Dof>
void NewtonSystem<Dof>::add_motors(const Island& island, const StepContext& context) {
    if constexpr (Dof == 12) {
        const double scale = context.bodies.potential_scale;
        for (const int m : island.motors) {
            const Motor& motor = context.motors[m];
            const double c = motor.off(motor.a >= 0 ? &context.q[motor.a] : nullptr,
                                       motor.b >= 0 ? &context.q[motor.b] : nullptr);
            const double slope = scale * motor.slope(c), curvature = scale * motor.curvature(c);
            const auto add = [&](int body, const Vec12& j) {
                const int n = context.node[body];
                Eigen::Map<Vec12>(gradient_[n].data()) += slope * j;
                Eigen::Map<Mat12>(matrix_.diagonal_block(n)) += curvature * j * j.transpose();
            };
            if (motor.a >= 0) add(motor.a, motor.ja);
            if (motor.b >= 0) add(motor.b, motor.jb);
            if (motor.a < 0 || motor.b < 0) continue;
            const int a = context.node[motor.a], b = context.node[motor.b];
            Eigen::Map<Mat12> lower(matrix_.lower_block(matrix_.find(std::max(a, b), std::min(a, b))));
            if (b > a)
                lower += curvature * motor.jb * motor.ja.transpose();
            else
                lower += curvature * motor.ja * motor.jb.transpose();
        }
    }
}

// Increments of a held body are P y: P H P + (I - P) on the diagonal, P on each side of the couplings.
template <int Dof>
void NewtonSystem<Dof>::project_holds(const Island& island, const StepContext& context) {
    if constexpr (Dof == 12) {
        if (!island.held) return;
        for (int n = 0; n < static_cast<int>(island.bodies.size()); ++n) {
            const BodyStep& body = context.bodies.body[island.bodies[n]];
            if (body.hold < 0) continue;
            const Mat12& P = context.bodies.holds[body.hold].projection;
            Eigen::Map<Mat12> H(matrix_.diagonal_block(n));
            H = (P * H * P + body.inertia.mass * (Mat12::Identity() - P)).eval();
            Eigen::Map<Vec12> g(gradient_[n].data());
            g = (P * g).eval();
        }
        const auto hold_of = [&](int n) { return context.bodies.body[island.bodies[n]].hold; };
        for (int i = 0; i < matrix_.pattern.nodes; ++i)
            for (int e = matrix_.pattern.start[i]; e < matrix_.pattern.start[i + 1]; ++e) {
                const int j = matrix_.pattern.columns[e];
                Eigen::Map<Mat12> block(matrix_.lower_block(e));
                if (hold_of(i) >= 0) block = (context.bodies.holds[hold_of(i)].projection * block).eval();
                if (hold_of(j) >= 0) block = (block * context.bodies.holds[hold_of(j)].projection).eval();
            }
    }
}

template <int Dof>
void NewtonSystem<Dof>::solve(const Island& island, const StepContext& context, solve::BlockCholesky& solver,
                              Direction& out) {
    const std::size_t nodes = island.bodies.size();
    right_.assign(nodes * Dof, 0.0);
    x_.assign(nodes * Dof, 0.0);
    parallel_for(nodes, grain_of(island, 64), [&](std::size_t n) {
        const Mat34& g = gradient_[n];
        Eigen::Map<Eigen::Matrix<double, Dof, 1>> r(right_.data() + n * Dof);
        if constexpr (Dof == 6) {
            const Mat34& q = context.q[island.bodies[n]];
            Vec3 torque = Vec3::Zero();
            for (int k = 0; k < 3; ++k) torque += q.col(k).cross(g.col(k));
            r.template head<3>() = -torque;
            r.template tail<3>() = -g.col(3);
        } else {
            r = -Eigen::Map<const Vec12>(g.data());
        }
    });
    factor(island, solver);
    if (island.rows.empty()) {
        solve_factored(solver, right_, x_);
    } else {
        std::vector<double> multipliers(island.rows.size());
        solve_with_joints(island, context, solver, 1.0, multipliers.data());
        for (std::size_t r = 0; r < island.rows.size(); ++r)
            context.multipliers[island.rows[r]] = multipliers[r];
    }
    out.rigid = Dof == 6;
    out.step.resize(nodes);
    out.turn.resize(nodes);
    out.stretch.resize(nodes);
    out.slope_of.resize(nodes);
    parallel_for(nodes, grain_of(island, 16), [&](std::size_t n) {
        const BodyStep& body = context.bodies.body[island.bodies[n]];
        const Mat34& q = context.q[island.bodies[n]];
        const Eigen::Map<const Eigen::Matrix<double, Dof, 1>> d(x_.data() + n * Dof);
        Mat34& step = out.step[n];
        if constexpr (Dof == 6) {
            const Mat3 A = q.leftCols<3>();
            const Mat3 G = A.transpose() * gradient_[n].leftCols<3>();
            Mat3& E = out.stretch[n];
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    E(i, j) = -0.5 * (G(i, j) + G(j, i)) /
                              (8.0 * body.rigidity + stretch_[n] +
                               0.5 * (body.inertia.moments[i] + body.inertia.moments[j]));
            out.turn[n] = d.template head<3>();
            step.leftCols<3>() = skew(out.turn[n]) * A + A * E;
            step.col(3) = d.template tail<3>();
        } else {
            step = Eigen::Map<const Mat34>(d.data());
        }
        out.slope_of[n] = gradient_[n].cwiseProduct(step).sum();
    });
    out.slope = 0.0;
    out.softness = 0.0;
    for (std::size_t n = 0; n < nodes; ++n) {
        out.slope += out.slope_of[n];
        out.softness =
            std::max(out.softness, stretch_[n] / (8.0 * context.bodies.body[island.bodies[n]].rigidity));
    }
}

template <int Dof>
void NewtonSystem<Dof>::solve_factored(solve::BlockCholesky& solver, const std::vector<double>& right,
                                       std::vector<double>& x) {
    if (right.size() == Dof)
        Eigen::Map<Eigen::Matrix<double, Dof, 1>>(x.data()) =
            single_.solve(Eigen::Map<const Eigen::Matrix<double, Dof, 1>>(right.data()));
    else if (fallback_)
        fallback_->solve(right.data(), x.data());
    else
        solver.solve(right.data(), x.data());
}

template <int Dof>
void NewtonSystem<Dof>::second_order_correction(const Island& island, const StepContext& context,
                                                solve::BlockCholesky& solver, const Direction& direction,
                                                double t, std::vector<Mat34>& trial) {
    const std::size_t nodes = island.bodies.size(), pairs = island.pairs.size();
    std::vector<Mat34> bent(nodes);   // what the poses are off a straight step
    std::vector<double> most(nodes);  // of that, for any point of the body
    std::vector<double> closed;       // by it, of each pair's gaps
    const auto off_straight = [&](int a, int b, const ContactPoint& p) {
        double off = 0.0;
        if (a >= 0) off += p.normal.dot(transform(bent[a], p.local_a));
        if (b >= 0) off -= p.normal.dot(transform(bent[b], p.local_b));
        return off;
    };
    const auto some_gap_closes = [&] {
        closed.assign(pairs, 0.0);
        parallel_for(pairs, grain_of(island, 32), [&](std::size_t k) {
            const CandidatePair& pair = context.field.pair(island.pairs[k]);
            const PairContacts& contacts = context.field.contacts(island.pairs[k]);
            const int a = context.node[pair.a], b = context.node[pair.b];
            const double bound = (a >= 0 ? most[a] : 0.0) + (b >= 0 ? most[b] : 0.0);
            if (bound <= 0.1 * contacts.closest) return;
            for (const ContactPoint& p : contacts.points)
                closed[k] = std::max(closed[k], -off_straight(a, b, p) / p.distance);
        });
        return std::any_of(closed.begin(), closed.end(), [](double part) { return part >= 0.1; });
    };
    for (int pass = 0; pass < 2; ++pass) {
        parallel_for(nodes, grain_of(island, 16), [&](std::size_t n) {
            bent[n] = trial[n] - context.q[island.bodies[n]] - t * direction.step[n];
            most[n] = displacement_bound(bent[n], context.field.shape(island.bodies[n]));
        });
        if (!some_gap_closes()) return;
        // Turns too large for a square to describe.
        if (pass == 0)
            for (std::size_t n = 0; n < nodes; ++n)
                if (bent[n].squaredNorm() > 0.1 * (t * direction.step[n]).squaredNorm()) return;
        residual_.resize(nodes * Dof);
        correction_.resize(nodes * Dof);
        parallel_for(nodes, grain_of(island, 8), [&](std::size_t n) {
            Eigen::Map<Eigen::Matrix<double, Dof, 1>> sum(residual_.data() + Dof * n);
            sum.setZero();
            const Mat34& q = context.q[island.bodies[n]];
            for (int e = pairs_start_[n]; e < pairs_start_[n + 1]; ++e) {
                const int k = island.pairs[pairs_of_[e] / 2];
                const CandidatePair& pair = context.field.pair(k);
                const bool second = pairs_of_[e] % 2;
                for (const ContactPoint& p : context.field.contacts(k).points) {
                    const double off = off_straight(context.node[pair.a], context.node[pair.b], p);
                    const double pull = -context.bodies.potential_scale * p.stiffness * off;
                    if (second)
                        sum -= pull * unknowns_of<Dof>(q, p.local_b, p.normal);
                    else
                        sum += pull * unknowns_of<Dof>(q, p.local_a, p.normal);
                }
            }
        });
        solve_factored(solver, residual_, correction_);
        parallel_for(nodes, grain_of(island, 16), [&](std::size_t n) {
            const Eigen::Map<const Eigen::Matrix<double, Dof, 1>> d(correction_.data() + Dof * n);
            if constexpr (Dof == 6) {
                trial[n].template leftCols<3>() =
                    (rotation_matrix(d.template head<3>()) * trial[n].template leftCols<3>()).eval();
                trial[n].col(3) += d.template tail<3>();
            } else {
                trial[n] = retract(trial[n], Eigen::Map<const Mat34>(d.data()), 1.0);
            }
        });
    }
}

template <int Dof>
void NewtonSystem<Dof>::analyse(const Island& island, solve::BlockCholesky& solver) const {
    if (island.bodies.size() > 1) solver.analyse(matrix_.pattern, Dof, island.in_order);
}

template <int Dof>
void NewtonSystem<Dof>::factor(const Island& island, solve::BlockCholesky& solver) {
    if (island.bodies.size() == 1) {
        single_.compute(Eigen::Map<const Eigen::Matrix<double, Dof, Dof>>(matrix_.diagonal.data()));
        return;
    }
    fallback_.reset();
    analyse(island, solver);
    const bool good = solver.factor(matrix_);
    solver.keep_order(true);
    if (good) return;
    // A pivot lost to round-off: L D L^T; with joints, whose solve needs the matrix itself, a little more inertia.
    if (island.rows.empty()) {
        fallback_ = std::make_unique<solve::BlockLdlt>();
        if (fallback_->factor(matrix_)) return;
        fallback_.reset();
    }
    double shift = 0.0;
    while (!solver.factor(matrix_)) {
        shift = shift == 0.0 ? 1e-10 : 100.0 * shift;
        if (shift > 1.0) throw StepFailure("the Newton matrix cannot be factored", island.bodies[0]);
        for (int k = 0; k < matrix_.pattern.nodes; ++k) {
            Eigen::Map<Eigen::Matrix<double, Dof, Dof>> H(matrix_.diagonal_block(k));
            H.diagonal() *= 1.0 + shift;
        }
    }
}

template <int Dof>
double NewtonSystem<Dof>::row_dot(const ConstraintRow& row, const StepContext& context,
                                  const double* x) const {
    return row.ja.dot(Eigen::Map<const Vec12>(x + 12 * context.node[row.a])) +
           row.jb.dot(Eigen::Map<const Vec12>(x + 12 * context.node[row.b]));
}

template <int Dof>
void NewtonSystem<Dof>::add_row(const ConstraintRow& row, const StepContext& context, double factor,
                                double* x) const {
    Eigen::Map<Vec12>(x + 12 * context.node[row.a]) += factor * row.ja;
    Eigen::Map<Vec12>(x + 12 * context.node[row.b]) += factor * row.jb;
}

// Joints are exact: [H C^T; C 0] is solved with the augmented H + C^T W C, which is definite and has the joints' block
// pattern; its multipliers and a few refinements on the true residual bring C d to round-off.
template <int Dof>
void NewtonSystem<Dof>::add_joints(const Island& island, const StepContext& context) {
    if constexpr (Dof == 12) {
        row_weight_.resize(island.rows.size());
        row_gap_.resize(island.rows.size());
        for (std::size_t r = 0; r < island.rows.size(); ++r) {
            const ConstraintRow& row = context.constraint_rows[island.rows[r]];
            const int a = context.node[row.a], b = context.node[row.b];
            const Eigen::Map<const Mat12> Ha(matrix_.diagonal_block(a)), Hb(matrix_.diagonal_block(b));
            row_weight_[r] = 100.0 * std::max(row.ja.dot(Ha * row.ja) / std::pow(row.ja.squaredNorm(), 2),
                                              row.jb.dot(Hb * row.jb) / std::pow(row.jb.squaredNorm(), 2));
            row_gap_[r] = row.ja.dot(Eigen::Map<const Vec12>(context.q[row.a].data())) +
                          row.jb.dot(Eigen::Map<const Vec12>(context.q[row.b].data()));
        }
        for (std::size_t r = 0; r < island.rows.size(); ++r) {
            const ConstraintRow& row = context.constraint_rows[island.rows[r]];
            const int a = context.node[row.a], b = context.node[row.b];
            const auto held = [&](int body, const Vec12& j) -> Vec12 {
                const int hold = context.bodies.body[body].hold;
                return hold < 0 ? j : Vec12(context.bodies.holds[hold].projection * j);
            };
            const Vec12 ja = held(row.a, row.ja), jb = held(row.b, row.jb);
            Eigen::Map<Mat12>(matrix_.diagonal_block(a)) += row_weight_[r] * ja * ja.transpose();
            Eigen::Map<Mat12>(matrix_.diagonal_block(b)) += row_weight_[r] * jb * jb.transpose();
            Eigen::Map<Mat12> lower(matrix_.lower_block(matrix_.find(std::max(a, b), std::min(a, b))));
            if (b > a)
                lower += row_weight_[r] * jb * ja.transpose();
            else
                lower += row_weight_[r] * ja * jb.transpose();
        }
    }
}

// Solves H x + C^T y = right, C x = -t gap, with the augmented matrix factored; held bodies stay in their projection.
template <int Dof>
void NewtonSystem<Dof>::solve_with_joints(const Island& island, const StepContext& context,
                                          solve::BlockCholesky& solver, double t, double* multipliers) {
    if constexpr (Dof == 12) {
        const std::size_t rows = island.rows.size(), size = right_.size();
        const auto project = [&](std::vector<double>& x) {
            for (std::size_t n = 0; n < island.bodies.size(); ++n) {
                const int hold = context.bodies.body[island.bodies[n]].hold;
                if (hold < 0) continue;
                Eigen::Map<Vec12> v(x.data() + 12 * n);
                v = (context.bodies.holds[hold].projection * v).eval();
            }
        };
        std::fill(x_.begin(), x_.end(), 0.0);
        std::fill(multipliers, multipliers + rows, 0.0);
        residual_.resize(size);
        correction_.resize(size);
        double size_of_bodies = 0.0;
        for (const int body : island.bodies)
            size_of_bodies = std::max(size_of_bodies, context.field.shape(body).radius);
        std::vector<double> open(rows);
        for (int refinement = 0; refinement < most_refinements; ++refinement) {
            // r = right - H x - C^T y, and the rows' own residual, weighted.
            plain_.multiply(x_.data(), residual_.data());
            double worst = 0.0;
            for (std::size_t k = 0; k < size; ++k) residual_[k] = right_[k] - residual_[k];
            for (std::size_t r = 0; r < rows; ++r) {
                const ConstraintRow& row = context.constraint_rows[island.rows[r]];
                open[r] = -t * row_gap_[r] - row_dot(row, context, x_.data());
                worst = std::max(worst, std::abs(open[r]));
                add_row(row, context, row_weight_[r] * open[r] - multipliers[r], residual_.data());
            }
            if (refinement > 1 && worst < closed_part * size_of_bodies) break;
            project(residual_);
            solver.solve(residual_.data(), correction_.data());
            project(correction_);
            for (std::size_t k = 0; k < size; ++k) x_[k] += correction_[k];
            for (std::size_t r = 0; r < rows; ++r) {
                const ConstraintRow& row = context.constraint_rows[island.rows[r]];
                multipliers[r] += row_weight_[r] * (row_dot(row, context, correction_.data()) - open[r]);
            }
        }
    }
}

template <int Dof>
void NewtonSystem<Dof>::project_onto_joints(const Island& island, const StepContext& context,
                                            solve::BlockCholesky& solver, std::vector<Mat34>& increments,
                                            double t) {
    if constexpr (Dof == 12) {
        // Nearest in the metric H: H x + C^T y = H increment.
        std::vector<double> moved(right_.size());
        for (std::size_t n = 0; n < increments.size(); ++n)
            Eigen::Map<Mat34>(moved.data() + 12 * n) = increments[n];
        plain_.multiply(moved.data(), right_.data());
        std::vector<double> multipliers(island.rows.size());
        solve_with_joints(island, context, solver, t, multipliers.data());
        for (std::size_t n = 0; n < increments.size(); ++n)
            increments[n] = Eigen::Map<const Mat34>(x_.data() + 12 * n);
    }
}

template class NewtonSystem<6>;
template class NewtonSystem<12>;

}  // namespace tenon::affine

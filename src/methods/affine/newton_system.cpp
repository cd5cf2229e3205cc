#include "methods/affine/newton_system.hpp"

#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "math/parallel.hpp"
#include "tenon/error.hpp"

namespace tenon::affine {
namespace {

// Motion of the material point `local` along `direction`, as a vector over the body's unknowns.
template <int Dof>
Eigen::Matrix<double, Dof, 1> unknowns_of(const Mat34& q, const Vec3& local, const Vec3& direction) {
    Eigen::Matrix<double, Dof, 1> j;
    if constexpr (Dof == 6) {
        j.template head<3>() = linear_part_times(q, local).cross(direction);
        j.template tail<3>() = direction;
    } else {
        for (int k = 0; k < 3; ++k) j.template segment<3>(3 * k) = local[k] * direction;
        j.template tail<3>() = direction;
    }
    return j;
}

[[gnu::always_inline]] inline void add_force(Mat34& gradient, const Vec3& local, const Vec3& force) {
    for (int k = 0; k < 3; ++k) gradient.col(k) += local[k] * force;
    gradient.col(3) += force;
}

// Relative sliding since the start of the step, perpendicular to the contact's normal.
[[gnu::always_inline]] inline Vec3 sliding(const FrictionPoint& p, const Mat34& da, const Mat34& db) {
    Vec3 u = da.col(3) - db.col(3);
    for (int k = 0; k < 3; ++k) u += p.local_a[k] * da.col(k) - p.local_b[k] * db.col(k);
    return u - p.normal * p.normal.dot(u);
}

// A spring of one stiffness along one direction between the two material points.
template <int Dof>
void add_spring(PairSum<Dof>& out, const Mat34& qa, const Mat34& qb, const Vec3& local_a, const Vec3& local_b,
                const Vec3& direction, double stiffness) {
    const auto ja = unknowns_of<Dof>(qa, local_a, direction);
    const auto jb = unknowns_of<Dof>(qb, local_b, direction);
    out.aa.noalias() += (stiffness * ja) * ja.transpose();
    out.bb.noalias() += (stiffness * jb) * jb.transpose();
    out.ba.noalias() -= (stiffness * jb) * ja.transpose();
}

// Springs between points of two rigid bodies, summed about the first body's centre: contacts of a pair share one such
// matrix; where the two material points differ by a little (a gap, short sliding) it takes their middle.
struct RigidSprings {
    Mat6 K = Mat6::Zero();

    [[gnu::always_inline]] void add(const Vec3& r, const Vec3& direction, double stiffness) {
        Vec6 j;
        j.head<3>() = r.cross(direction);
        j.tail<3>() = direction;
        const Vec6 kj = stiffness * j;
        for (int column = 0; column < 6; ++column) K.col(column) += j[column] * kj;
    }

    // `offset` leads from the second body's centre to the first's.
    void write(const Vec3& offset, PairSum<6>& out) const {
        const Mat3 arm = cross_matrix(offset);
        Mat6 moved = K;
        moved.topRows<3>() += arm * K.bottomRows<3>();
        out.aa += K;
        out.ba -= moved;
        out.bb += moved;
        out.bb.leftCols<3>() += moved.rightCols<3>() * arm.transpose();
    }
};

// Points that slid away from each other pull at their bodies with different arms.
bool far_apart(const Vec3& a, const Vec3& b) {
    return (a - b).squaredNorm() > 1e-4 * a.squaredNorm();
}

// A load on q as a vector over the body's unknowns.
template <int Dof>
Eigen::Matrix<double, Dof, 1> unknowns_of_load(const Mat34& q, const Mat34& load) {
    if constexpr (Dof == 6) {
        Vec6 j = Vec6::Zero();
        for (int k = 0; k < 3; ++k) j.head<3>() += q.col(k).cross(load.col(k));
        j.tail<3>() = load.col(3);
        return j;
    } else {
        return Eigen::Map<const Vec12>(load.data());
    }
}

// Hard contacts whose distance bends as the bodies turn: without this part Newton turns them into each other.
template <int Dof>
void add_bends(const ContactField& field, int index, const Mat34& qa, const Mat34& qb, double scale,
               double relevant_force, PairSum<Dof>& out) {
    std::array<ContactBend, 2> bends;
    for (const ContactPoint& p : field.contacts(index).points) {
        if (p.force < relevant_force) continue;
        const int count = field.bends(index, p, bends);
        for (int k = 0; k < count; ++k) {
            const auto ja = unknowns_of_load<Dof>(qa, bends[k].a);
            const auto jb = unknowns_of_load<Dof>(qb, bends[k].b);
            const double stiffness = scale * bends[k].stiffness;
            out.aa.noalias() += (stiffness * ja) * ja.transpose();
            out.bb.noalias() += (stiffness * jb) * jb.transpose();
            out.ba.noalias() += (stiffness * jb) * ja.transpose();
        }
    }
}

// Friction's curvature (I - sym(f grad psi^T)) / psi as two springs: along f_hat + u_hat (or any direction when one of
// them vanishes) and across it.
struct FrictionSprings {
    Vec3 force;         // on a, of the energy: dE/dx
    Vec3 axis, across;  // unit vectors
    double k_axis, k_across;
};

[[gnu::always_inline]] inline FrictionSprings friction_springs(const FrictionPoint& p, const Vec3& u,
                                                               double scale, double eps) {
    const double y = u.norm();
    const FrictionScale psi = friction_scale(y, eps);
    const double stiffness = scale * p.limit / psi.psi;
    const double f = p.dual.norm(), bend = y > 0.0 ? 0.5 * f * psi.slope : 0.0;
    const Vec3 along = y > 0.0 ? Vec3(u / y) : p.normal.unitOrthogonal();
    const bool both = y > 0.0 && f > 0.0;
    const double cosine = both ? along.dot(p.dual) / f : 0.0;
    Vec3 axis = both ? Vec3(along + p.dual / f) : along;
    const double length = axis.norm();
    axis = length > 1e-6 ? Vec3(axis / length) : Vec3(p.normal.cross(along));
    return {stiffness * u, axis, p.normal.cross(axis), stiffness * (1.0 - bend * (1.0 + cosine)),
            stiffness * (1.0 + bend * (1.0 - cosine))};
}

template <int Dof>
void sum_barrier(const PairContacts& pair, const Mat34& qa, const Mat34& qb, double scale,
                 PairSum<Dof>& out) {
    out.aa.setZero();
    out.bb.setZero();
    out.ba.setZero();
    out.gradient_a.setZero();
    out.gradient_b.setZero();
    out.stretch_a = out.stretch_b = 0.0;
    RigidSprings springs;
    const Mat3 A = qa.leftCols<3>();
    for (const ContactPoint& p : pair.points) {
        const Vec3 force = -scale * p.force * p.normal;
        add_force(out.gradient_a, p.local_a, force);
        add_force(out.gradient_b, p.local_b, -force);
        if constexpr (Dof == 6)
            springs.add(A * p.local_a - 0.5 * p.distance * p.normal, p.normal, scale * p.stiffness);
        else
            add_spring(out, qa, qb, p.local_a, p.local_b, p.normal, scale * p.stiffness);
        out.stretch_a += scale * p.stiffness * p.local_a.squaredNorm();
        out.stretch_b += scale * p.stiffness * p.local_b.squaredNorm();
    }
    if constexpr (Dof == 6) springs.write(qa.col(3) - qb.col(3), out);
}

template <int Dof>
void add_friction(const PairContacts& pair, const Mat34& qa, const Mat34& qb, const Mat34& start_a,
                  const Mat34& start_b, double scale, double eps, PairSum<Dof>& out) {
    if (pair.friction.empty()) return;
    RigidSprings springs;
    const Mat3 A = qa.leftCols<3>(), B = qb.leftCols<3>();
    const Vec3 offset = qa.col(3) - qb.col(3);
    const Mat34 da = qa - start_a, db = qb - start_b;
    for (const FrictionPoint& p : pair.friction) {
        const FrictionSprings f = friction_springs(p, sliding(p, da, db), scale, eps);
        add_force(out.gradient_a, p.local_a, f.force);
        add_force(out.gradient_b, p.local_b, -f.force);
        const Vec3 arm_a = A * p.local_a, arm_b = B * p.local_b - offset;  // from the first body's centre
        if (Dof == 6 && !far_apart(arm_a, arm_b)) {
            const Vec3 r = 0.5 * (arm_a + arm_b);
            springs.add(r, f.axis, f.k_axis);
            springs.add(r, f.across, f.k_across);
        } else {
            add_spring(out, qa, qb, p.local_a, p.local_b, f.axis, f.k_axis);
            add_spring(out, qa, qb, p.local_a, p.local_b, f.across, f.k_across);
        }
    }
    if constexpr (Dof == 6) springs.write(offset, out);
}

}  // namespace

void stiffen_friction(PairContacts& pair) {
    for (FrictionPoint& p : pair.friction) p.dual.setZero();
    ++pair.duals;
}

double friction_excess(PairContacts& pair, const Mat34& moved_a, const Mat34& moved_b, const Mat34& step_a,
                       const Mat34& step_b, double eps, bool stiffen) {
    double sum = 0.0;
    bool changed = false;
    for (FrictionPoint& p : pair.friction) {
        if (p.dual.isZero(0.0)) continue;
        const Vec3 u = sliding(p, moved_a, moved_b), du = sliding(p, step_a, step_b), end = u + du;
        if (u.dot(end) >= 0.0) continue;
        const FrictionSprings f = friction_springs(p, u, 1.0, eps);
        const double along = f.axis.dot(du), across = f.across.dot(du);
        const double model =
            f.force.dot(du) + 0.5 * (f.k_axis * along * along + f.k_across * across * across);
        const double excess =
            p.limit * (friction_norm(end.norm(), eps).value - friction_norm(u.norm(), eps).value) - model;
        if (excess <= 0.0) continue;
        sum += excess;
        if (!stiffen) continue;
        p.dual.setZero();
        changed = true;
    }
    pair.duals += changed;
    return sum;
}

double update_friction_duals(PairContacts& pair, const Mat34& moved_a, const Mat34& moved_b,
                             const Mat34& step_a, const Mat34& step_b, double eps) {
    Vec3 error = Vec3::Zero();
    bool changed = false;
    for (FrictionPoint& p : pair.friction) {
        const Vec3 before = p.dual;
        const Vec3 u = sliding(p, moved_a, moved_b), du = sliding(p, step_a, step_b), end = u + du;
        const double y = u.norm();
        const FrictionScale psi = friction_scale(y, eps);
        const double stretch = y > 0.0 ? psi.slope * u.dot(du) / y : 0.0;
        p.dual = (end - stretch * p.dual) / psi.psi;
        error += p.limit * (p.dual - end / friction_scale(end.norm(), eps).psi);
        const double length = p.dual.norm();
        if (length > 1.0) p.dual /= length;
        changed = changed || p.dual != before;
    }
    pair.duals += changed;
    return error.norm();
}

double relevant_force(const StepContext& context, const CandidatePair& pair) {
    double force = 1e300;
    for (const int body : {pair.a, pair.b}) {
        if (context.node[body] < 0) continue;
        const BodyStep& step = context.bodies.body[body];
        const double radius = 0.5 * context.field.local_box(body).diagonal();
        force = std::min(force,
                         0.1 * step.inertia.moments.minCoeff() / (radius * context.bodies.potential_scale));
    }
    return force;
}

double body_energy(const BodyStep& body, const Mat34& q, RigidityModel model) {
    double sum = 0.0;
    for (int k = 0; k < 4; ++k)
        sum += 0.5 * body.inertia.of_column(k) * (q.col(k) - body.target.col(k)).squaredNorm();
    return sum + body.rigidity * rigidity_energy(model, q.leftCols<3>());
}

double friction_energy(const PairContacts& pair, const Mat34& qa, const Mat34& qb, const Mat34& start_a,
                       const Mat34& start_b, double eps) {
    const Mat34 da = qa - start_a, db = qb - start_b;
    double sum = 0.0;
    for (const FrictionPoint& p : pair.friction)
        sum += p.limit * friction_norm(sliding(p, da, db).norm(), eps).value;
    return sum;
}

Vec3 friction_force(const FrictionPoint& point, const Mat34& moved_a, const Mat34& moved_b, double eps) {
    const Vec3 u = sliding(point, moved_a, moved_b);
    return point.limit * friction_slope_over(u.norm(), eps) * u;
}

Mat34 move_along(const Mat34& q, const Direction& direction, int index, double t) {
    if (!direction.rigid) return retract(q, direction.step[index], t);
    const Mat3 A = q.leftCols<3>();
    Mat34 moved;
    moved.leftCols<3>() = rotation_of(t * direction.turn[index]) * (A + t * A * direction.stretch[index]);
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

namespace {

// The pair's sums at the present poses, where they are not known.
template <int Dof>
void sum_pair(PairBlocks<Dof>& blocks, int index, const StepContext& context) {
    const CandidatePair& pair = context.field.pair(index);
    const PairContacts& contacts = context.field.contacts(index);
    if (blocks.up_to_date(contacts)) return;
    const auto& bodies = context.bodies.body;
    const Mat34 &qa = context.q[pair.a], &qb = context.q[pair.b];
    const double scale = context.bodies.potential_scale;
    if (!blocks.has_barrier(contacts)) {
        sum_barrier(contacts, qa, qb, scale, blocks.barrier);
        add_bends(context.field, index, qa, qb, scale, relevant_force(context, pair), blocks.barrier);
    }
    blocks.all = blocks.barrier;
    add_friction(contacts, qa, qb, bodies[pair.a].start, bodies[pair.b].start, scale, context.friction_eps,
                 blocks.all);
    blocks.seen_a = contacts.seen_a;
    blocks.seen_b = contacts.seen_b;
    blocks.duals = contacts.duals;
}

}  // namespace

template <int Dof>
void NewtonSystem<Dof>::add_pairs(const Island& island, const StepContext& context) {
    const std::size_t count = island.pairs.size();
    if (pair_blocks_.size() < count) pair_blocks_.resize(count);
    for (; known_ < count; ++known_) pair_blocks_[known_].seen_a = -1;
    parallel_for(count, grain_of(island, 16), [&](std::size_t k) {
        const CandidatePair& pair = context.field.pair(island.pairs[k]);
        const PairContacts& contacts = context.field.contacts(island.pairs[k]);
        if (contacts.points.empty() && contacts.friction.empty()) return;
        PairBlocks<Dof>& blocks = pair_blocks_[k];
        sum_pair(blocks, island.pairs[k], context);
        const int a = context.node[pair.a], b = context.node[pair.b];
        if (a < 0 || b < 0) return;
        Eigen::Map<Eigen::Matrix<double, Dof, Dof>> lower(
            matrix_.lower_block(matrix_.find(std::max(a, b), std::min(a, b))));
        if (b > a)
            lower = blocks.all.ba;
        else
            lower = blocks.all.ba.transpose();
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
        const PairSum<Dof>& blocks = pair_blocks_[k].all;
        const bool second = pairs_of_[e] % 2;
        H += second ? blocks.bb : blocks.aa;
        gradient_[node] += second ? blocks.gradient_b : blocks.gradient_a;
        stretch_[node] += second ? blocks.stretch_b : blocks.stretch_a;
    }
}

template <int Dof>
void NewtonSystem<Dof>::assemble(const Island& island, const StepContext& context) {
    const int nodes = static_cast<int>(island.bodies.size());
    std::vector<std::pair<int, int>> links;
    for (const int k : island.pairs) {
        const CandidatePair& pair = context.field.pair(k);
        PairContacts& contacts = context.field.contacts(k);
        // Pairs that touched once keep their place: a new pattern needs a new elimination order.
        contacts.linked = contacts.linked || !contacts.points.empty() || !contacts.friction.empty();
        if (!contacts.linked) continue;
        const int a = context.node[pair.a], b = context.node[pair.b];
        if (a >= 0 && b >= 0) links.emplace_back(std::max(a, b), std::min(a, b));
    }
    for (const int r : island.rows) {
        const int a = context.node[context.joint_rows[r].a], b = context.node[context.joint_rows[r].b];
        links.emplace_back(std::max(a, b), std::min(a, b));
    }
    matrix_.resize(solve::make_pattern(nodes, std::move(links)), Dof);
    gradient_.assign(nodes, Mat34::Zero());
    stretch_.assign(nodes, 0.0);
    list_pairs(island, context);
    add_pairs(island, context);
    parallel_for(island.bodies.size(), grain_of(island, 32), [&](std::size_t n) {
        const int body = island.bodies[n];
        assemble_body(context.bodies.body[body], context.q[body], static_cast<int>(n), context);
        add_pairs_of(static_cast<int>(n), island, context);
    });
    if constexpr (Dof == 12) {
        project_holds(island, context);
        if (!island.rows.empty()) add_joints(island, context);
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
    parallel_for(nodes, grain_of(island, 64), [&](std::size_t n) {
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
            step.leftCols<3>() = cross_matrix(out.turn[n]) * A + A * E;
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
void NewtonSystem<Dof>::onto_gaps(const Island& island, const StepContext& context,
                                  solve::BlockCholesky& solver, const Direction& direction, double t,
                                  std::vector<Mat34>& trial) {
    const std::size_t nodes = island.bodies.size();
    std::vector<Mat34> bent(nodes);   // what the poses are off a straight step
    std::vector<double> most(nodes);  // of that, for any point of the body
    const auto some_gap_closes = [&] {
        for (const int k : island.pairs) {
            const CandidatePair& pair = context.field.pair(k);
            const int a = context.node[pair.a], b = context.node[pair.b];
            const double off = (a >= 0 ? most[a] : 0.0) + (b >= 0 ? most[b] : 0.0);
            if (off > 0.1 * context.field.contacts(k).closest) return true;
        }
        return false;
    };
    for (int sweep = 0; sweep < 2; ++sweep) {
        for (std::size_t n = 0; n < nodes; ++n) {
            bent[n] = trial[n] - context.q[island.bodies[n]] - t * direction.step[n];
            most[n] = displacement_bound(bent[n], context.field.local_box(island.bodies[n]));
        }
        if (!some_gap_closes()) return;
        residual_.assign(nodes * Dof, 0.0);
        correction_.resize(nodes * Dof);
        double worst = 0.0;  // of gaps closed by it, in gaps
        for (const int k : island.pairs) {
            const CandidatePair& pair = context.field.pair(k);
            const int a = context.node[pair.a], b = context.node[pair.b];
            for (const ContactPoint& p : context.field.contacts(k).points) {
                double off = 0.0;
                if (a >= 0) off += p.normal.dot(transform(bent[a], p.local_a));
                if (b >= 0) off -= p.normal.dot(transform(bent[b], p.local_b));
                worst = std::max(worst, -off / p.distance);
                const double pull = -context.bodies.potential_scale * p.stiffness * off;
                using Unknowns = Eigen::Map<Eigen::Matrix<double, Dof, 1>>;
                if (a >= 0)
                    Unknowns(residual_.data() + Dof * a) +=
                        pull * unknowns_of<Dof>(context.q[pair.a], p.local_a, p.normal);
                if (b >= 0)
                    Unknowns(residual_.data() + Dof * b) -=
                        pull * unknowns_of<Dof>(context.q[pair.b], p.local_b, p.normal);
            }
        }
        if (worst < 0.1) return;
        // Turns too large for a square to describe.
        if (sweep == 0)
            for (std::size_t n = 0; n < nodes; ++n)
                if (bent[n].squaredNorm() > 0.1 * (t * direction.step[n]).squaredNorm()) return;
        solve_factored(solver, residual_, correction_);
        for (std::size_t n = 0; n < nodes; ++n) {
            const Eigen::Map<const Eigen::Matrix<double, Dof, 1>> d(correction_.data() + Dof * n);
            if constexpr (Dof == 6) {
                trial[n].template leftCols<3>() =
                    (rotation_of(d.template head<3>()) * trial[n].template leftCols<3>()).eval();
                trial[n].col(3) += d.template tail<3>();
            } else {
                trial[n] = retract(trial[n], Eigen::Map<const Mat34>(d.data()), 1.0);
            }
        }
    }
}

template <int Dof>
void NewtonSystem<Dof>::factor(const Island& island, solve::BlockCholesky& solver) {
    if (island.bodies.size() == 1) {
        single_.compute(Eigen::Map<const Eigen::Matrix<double, Dof, Dof>>(matrix_.diagonal.data()));
        return;
    }
    fallback_.reset();
    if (island.in_order) solver.analyse(matrix_.pattern, Dof, true);
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
double NewtonSystem<Dof>::row_dot(const JointRow& row, const StepContext& context, const double* x) const {
    return row.ja.dot(Eigen::Map<const Vec12>(x + 12 * context.node[row.a])) +
           row.jb.dot(Eigen::Map<const Vec12>(x + 12 * context.node[row.b]));
}

template <int Dof>
void NewtonSystem<Dof>::add_row(const JointRow& row, const StepContext& context, double factor,
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
            const JointRow& row = context.joint_rows[island.rows[r]];
            const int a = context.node[row.a], b = context.node[row.b];
            const Eigen::Map<const Mat12> Ha(matrix_.diagonal_block(a)), Hb(matrix_.diagonal_block(b));
            row_weight_[r] = 100.0 * std::max(row.ja.dot(Ha * row.ja) / std::pow(row.ja.squaredNorm(), 2),
                                              row.jb.dot(Hb * row.jb) / std::pow(row.jb.squaredNorm(), 2));
            row_gap_[r] = row.ja.dot(Eigen::Map<const Vec12>(context.q[row.a].data())) +
                          row.jb.dot(Eigen::Map<const Vec12>(context.q[row.b].data()));
        }
        for (std::size_t r = 0; r < island.rows.size(); ++r) {
            const JointRow& row = context.joint_rows[island.rows[r]];
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
        for (int refinement = 0; refinement < 12; ++refinement) {
            // r = right - (H + C^T W C) x + C^T W (C x) - C^T y; then the rows' own residual, weighted.
            matrix_.multiply(x_.data(), residual_.data());
            double worst = 0.0;
            for (std::size_t k = 0; k < size; ++k) residual_[k] = right_[k] - residual_[k];
            std::vector<double> open(rows);
            for (std::size_t r = 0; r < rows; ++r) {
                const JointRow& row = context.joint_rows[island.rows[r]];
                const double cx = row_dot(row, context, x_.data());
                open[r] = -t * row_gap_[r] - cx;
                worst = std::max(worst, std::abs(open[r]) / row.ja.norm());
                add_row(row, context, row_weight_[r] * cx - multipliers[r] + row_weight_[r] * open[r],
                        residual_.data());
            }
            if (refinement > 1 && worst < 1e-15) break;
            project(residual_);
            solver.solve(residual_.data(), correction_.data());
            project(correction_);
            for (std::size_t k = 0; k < size; ++k) x_[k] += correction_[k];
            for (std::size_t r = 0; r < rows; ++r) {
                const JointRow& row = context.joint_rows[island.rows[r]];
                multipliers[r] += row_weight_[r] * (row_dot(row, context, correction_.data()) - open[r]);
            }
        }
    }
}

template <int Dof>
void NewtonSystem<Dof>::onto_joints(const Island& island, const StepContext& context,
                                    solve::BlockCholesky& solver, std::vector<Mat34>& increments, double t) {
    if constexpr (Dof == 12) {
        // Nearest in the metric H: H x + C^T y = H increment. (With C^T W C on both sides nothing changes.)
        std::vector<double> moved(right_.size());
        for (std::size_t n = 0; n < increments.size(); ++n)
            Eigen::Map<Mat34>(moved.data() + 12 * n) = increments[n];
        matrix_.multiply(moved.data(), right_.data());
        for (std::size_t k = 0; k < island.rows.size(); ++k) {
            const JointRow& row = context.joint_rows[island.rows[k]];
            add_row(row, context, -row_weight_[k] * row_dot(row, context, moved.data()), right_.data());
        }
        std::vector<double> multipliers(island.rows.size());
        solve_with_joints(island, context, solver, t, multipliers.data());
        for (std::size_t n = 0; n < increments.size(); ++n)
            increments[n] = Eigen::Map<const Mat34>(x_.data() + 12 * n);
    }
}

template class NewtonSystem<6>;
template class NewtonSystem<12>;

}  // namespace tenon::affine

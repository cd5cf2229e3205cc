#include "methods/articulated/rigid_method.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Sparse>
#include <Eigen/SparseLU>

#include <fmt/format.h>

#include "math/binary_io.hpp"
#include "math/interrupt.hpp"
#include "math/timer.hpp"
#include "methods/articulated/contacts.hpp"
#include "methods/articulated/joint_outputs.hpp"
#include "model/joint_rows.hpp"
#include "model/rigid_state.hpp"

namespace tenon::articulated {
namespace {

using model::RigidState;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat6 = Eigen::Matrix<double, 6, 6>;

// The wrench about the centre of mass of an affine force: how a row's gradient acts on a rigid body.
Vec6 wrench_of(const Mat34& gradient, const Mat34& q) {
    Vec6 out;
    out.head<3>() = gradient.col(3);
    out.tail<3>().setZero();
    for (int k = 0; k < 3; ++k) out.tail<3>() += q.col(k).cross(gradient.col(k));
    return out;
}

Mat34 moved(const Mat34& q, int direction, double by) {
    Mat34 out = q;
    if (direction < 3) {
        out(direction, 3) += by;
    } else {
        const Mat3 turn = exponential_map(by * Vec3(Vec3::Unit(direction - 3))).toRotationMatrix();
        out.leftCols<3>() = turn * q.leftCols<3>();
    }
    return out;
}

// d(rotation vector)/d(turn): inverse of the left Jacobian of the exponential map.
Mat3 inverse_jacobian(const Vec3& phi) {
    const double a = phi.norm();
    const Mat3 S = skew(phi);
    const double c =
        a < 1e-3 ? 1.0 / 12.0 + a * a / 720.0 : 1.0 / (a * a) - (1.0 + std::cos(a)) / (2.0 * a * std::sin(a));
    return Mat3::Identity() - 0.5 * S + c * S * S;
}

}  // namespace

// The unknowns of a step and their linear system.
struct RigidMethod::System {
    std::vector<int> bodies, slot;  // moving ones, and the place of each body among them
    std::vector<int> row_start;     // per joint, after the last: number of rows
    std::vector<RigidState> start, now;
    std::vector<Mat34> q;  // per body of the world, at the iterate
    std::vector<Vec3> force, torque;
    std::vector<JointRows> rows;
    std::vector<double> multipliers;
    Eigen::VectorXd residual;
    Eigen::SparseMatrix<double> matrix;
    Eigen::SparseLU<Eigen::SparseMatrix<double>> factor;
    std::vector<Eigen::Triplet<double>> entries;
    double h = 0.0;
    bool analysed = false;

    explicit System(const Model& model, const State& state) : slot(model.bodies.size(), -1) {
        for (int i = 0; i < model.bodies.size(); ++i)
            if (state.dynamic(i)) {
                slot[i] = static_cast<int>(bodies.size());
                bodies.push_back(i);
            }
        row_start.push_back(0);
        for (const Joint& joint : model.joints)
            row_start.push_back(row_start.back() + joint_row_count(joint.spec));
        rows.resize(model.joints.size());
        multipliers.assign(row_start.back(), 0.0);
    }
    int unknowns() const { return 6 * static_cast<int>(bodies.size()); }
    const Mat34& map(int body) const { return body < 0 ? world_map() : q[body]; }
    bool moves(int body) const { return body >= 0 && slot[body] >= 0; }

    void begin(const Model& model, const State& state, double step) {
        h = step;
        q = state.q;
        std::vector<Wrench> wrenches;
        external_wrenches(model, state, state.time + h, wrenches);
        start.clear(), force.clear(), torque.clear();
        for (int body : bodies) {
            start.push_back(model::rigid_state(state, body));
            force.push_back(model.bodies.mass[body] * state.gravity + wrenches[body].force);
            torque.push_back(wrenches[body].torque);
        }
        now = start;
        for (std::size_t k = 0; k < bodies.size(); ++k) {
            now[k].position += h * now[k].velocity;
            now[k].rotation = (exponential_map(h * now[k].spin) * now[k].rotation).normalized();
            q[bodies[k]] = model::to_q(now[k]);
        }
        for (int i = 0; i < model.bodies.size(); ++i)
            if (state.type[i] == BodyType::kinematic_body)
                q[i] = scripted_pose(model, state, i, state.time + h);
    }

    // Velocities that lead from the start to the iterate, the balance of forces and the joints' rows there.
    // Returns its size as a length: h^2/m and h^2/I times what is out of balance, and the rows themselves.
    double evaluate(const Model& model) {
        residual.setZero(unknowns() + row_start.back());
        for (std::size_t k = 0; k < bodies.size(); ++k) {
            RigidState& body = now[k];
            body.velocity = (body.position - start[k].position) / h;
            body.spin = logarithm_map(body.rotation * start[k].rotation.conjugate()) / h;
            const double mass = model.bodies.mass[bodies[k]];
            const Vec3 inertia = model.bodies.moments_of_inertia(bodies[k]);
            residual.segment<3>(6 * k) = mass / h * (body.velocity - start[k].velocity) - force[k];
            residual.segment<3>(6 * k + 3) =
                (model::spin_momentum(body, inertia) - model::spin_momentum(start[k], inertia)) / h -
                torque[k];
        }
        for (std::size_t j = 0; j < model.joints.size(); ++j) {
            const Joint& joint = model.joints[j];
            joint_rows(joint, map(joint.bodies[0]), map(joint.bodies[1]), rows[j]);
            for (int r = 0; r < rows[j].count; ++r) {
                residual[unknowns() + row_start[j] + r] = rows[j].value[r];
                for (int side = 0; side < 2; ++side)
                    if (moves(joint.bodies[side]))
                        residual.segment<6>(6 * slot[joint.bodies[side]]) +=
                            multipliers[row_start[j] + r] *
                            wrench_of(rows[j].gradient[side][r], map(joint.bodies[side]));
            }
        }
        double size = residual.tail(row_start.back()).squaredNorm();
        for (std::size_t k = 0; k < bodies.size(); ++k) {
            const int body = bodies[k];
            size += std::pow(h * h / model.bodies.mass[body], 2) * residual.segment<3>(6 * k).squaredNorm();
            const double reach = model.shape_of(body).radius;
            size += std::pow(h * h * reach / model.bodies.moments_of_inertia(body).maxCoeff(), 2) *
                    residual.segment<3>(6 * k + 3).squaredNorm();
        }
        return std::sqrt(size);
    }

    void add(int row, int column, const Eigen::Ref<const Eigen::MatrixXd>& block) {
        for (int c = 0; c < block.cols(); ++c)
            for (int r = 0; r < block.rows(); ++r) entries.emplace_back(row + r, column + c, block(r, c));
    }

    void add_inertia(const Model& model) {
        for (std::size_t k = 0; k < bodies.size(); ++k) {
            const int at = 6 * static_cast<int>(k), body = bodies[k];
            const Mat3 inertia = model::world_inertia(now[k].rotation, model.bodies.moments_of_inertia(body));
            const Vec3 w = now[k].spin;
            Mat6 block = Mat6::Zero();
            block.topLeftCorner<3, 3>() = Mat3::Identity() * (model.bodies.mass[body] / (h * h));
            block.bottomRightCorner<3, 3>() =
                (inertia * (skew(w) + inverse_jacobian(h * w) / h) - skew(inertia * w)) / h;
            add(at, at, block);
        }
    }

    // The joint's forces change as its bodies move. With rows that are linear in the maps only the lever arms turn;
    // of others the change is taken by central differences.
    void add_geometric_stiffness(const Joint& joint, int j) {
        const auto force_on = [&](const JointRows& all, int side, const Mat34& at) -> Vec6 {
            Mat34 sum = Mat34::Zero();
            for (int r = 0; r < all.count; ++r) sum += multipliers[row_start[j] + r] * all.gradient[side][r];
            return wrench_of(sum, at);
        };
        if (joint_rows_are_linear(joint.spec)) {
            for (int side = 0; side < 2; ++side) {
                const int body = joint.bodies[side];
                if (!moves(body)) continue;
                Mat34 sum = Mat34::Zero();
                for (int r = 0; r < rows[j].count; ++r)
                    sum += multipliers[row_start[j] + r] * rows[j].gradient[side][r];
                Mat3 turn = Mat3::Zero();
                for (int k = 0; k < 3; ++k) turn += skew(sum.col(k)) * skew(q[body].col(k));
                add(6 * slot[body] + 3, 6 * slot[body] + 3, turn);
            }
            return;
        }
        const double by = 1e-6;
        for (int from = 0; from < 2; ++from) {
            if (!moves(joint.bodies[from])) continue;
            Mat6 change[2];
            for (int d = 0; d < 6; ++d) {
                Vec6 wrench[2][2];
                for (int sign = 0; sign < 2; ++sign) {
                    Mat34 maps[2] = {map(joint.bodies[0]), map(joint.bodies[1])};
                    maps[from] = moved(maps[from], d, sign ? by : -by);
                    JointRows at;
                    joint_rows(joint, maps[0], maps[1], at);
                    for (int side = 0; side < 2; ++side) wrench[sign][side] = force_on(at, side, maps[side]);
                }
                for (int side = 0; side < 2; ++side)
                    change[side].col(d) = (wrench[1][side] - wrench[0][side]) / (2 * by);
            }
            for (int side = 0; side < 2; ++side)
                if (moves(joint.bodies[side]))
                    add(6 * slot[joint.bodies[side]], 6 * slot[joint.bodies[from]], change[side]);
        }
    }

    // One Newton step from the iterate.
    Eigen::VectorXd solve(const Model& model) {
        const int size = unknowns() + row_start.back();
        entries.clear();
        add_inertia(model);
        double lightest = 1e300;
        for (int body : bodies) lightest = std::min(lightest, model.bodies.mass[body]);
        for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
            const Joint& joint = model.joints[j];
            add_geometric_stiffness(joint, j);
            for (int r = 0; r < rows[j].count; ++r) {
                const int row = unknowns() + row_start[j] + r;
                // rows that repeat others would make the matrix singular
                entries.emplace_back(row, row, -1e-12 * h * h / lightest);
                for (int side = 0; side < 2; ++side) {
                    if (!moves(joint.bodies[side])) continue;
                    const Vec6 gradient = wrench_of(rows[j].gradient[side][r], map(joint.bodies[side]));
                    add(6 * slot[joint.bodies[side]], row, gradient);
                    add(row, 6 * slot[joint.bodies[side]], gradient.transpose());
                }
            }
        }
        matrix.resize(size, size);
        matrix.setFromTriplets(entries.begin(), entries.end());
        if (!analysed) factor.analyzePattern(matrix);
        analysed = true;
        factor.factorize(matrix);
        if (factor.info() != Eigen::Success)
            throw StepFailure("the rigid reference's matrix is singular", bodies.front());
        return factor.solve(-residual);
    }

    void move(const Eigen::VectorXd& step, double length) {
        for (std::size_t k = 0; k < bodies.size(); ++k) {
            now[k].position += length * step.segment<3>(6 * k);
            now[k].rotation =
                (exponential_map(length * step.segment<3>(6 * k + 3)) * now[k].rotation).normalized();
            q[bodies[k]] = model::to_q(now[k]);
        }
        for (std::size_t r = 0; r < multipliers.size(); ++r)
            multipliers[r] += length * step[unknowns() + static_cast<int>(r)];
    }
};

RigidMethod::RigidMethod(const Model& model, const State& state, const RigidOptions& options)
    : options_(options), system_(std::make_unique<System>(model, state)) {
    if (ContactSet(model, state, {}).enabled())
        throw InputError("", "method.model", "the rigid reference has no contacts, and bodies here may touch",
                         "use \"model\": \"corotated\", or give the bodies \"collides\": false");
    multipliers_ = system_->multipliers;
}

RigidMethod::~RigidMethod() = default;

StepReport RigidMethod::step(const Model& model, State& state, Outputs& outputs, double dt) {
    StageTimer timer;
    System& system = *system_;
    StepReport report;
    {
        auto guard = timer.stage("solve");
        system.begin(model, state, dt);
        system.multipliers = multipliers_;
        double size = system.evaluate(model);
        while (size > options_.tolerance && report.iterations < options_.max_iterations) {
            check_interrupt();
            const Eigen::VectorXd step = system.solve(model);
            ++report.iterations;
            // halve until what is out of balance shrinks; if it never does, take the smallest piece and go on
            double length = 1.0, trial = 0.0;
            const auto now = system.now;
            const auto multipliers = system.multipliers;
            const auto q = system.q;
            for (int halvings = 0;; ++halvings, length *= 0.5) {
                system.now = now, system.multipliers = multipliers, system.q = q;
                system.move(step, length);
                trial = system.evaluate(model);
                if (trial < size || halvings == 8) break;
            }
            // round-off: as small as it gets
            const bool stuck = !(trial < 0.5 * size) && trial < 1e3 * options_.tolerance;
            size = trial;
            if (!std::isfinite(size))
                throw StepFailure("the rigid reference gave numbers that are not finite",
                                  system.bodies.front());
            if (stuck) break;
        }
        report.converged = size < 1e3 * options_.tolerance;
    }
    multipliers_ = system.multipliers;
    for (std::size_t k = 0; k < system.bodies.size(); ++k)
        model::store(system.now[k], state, system.bodies[k]);
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.type[i] == BodyType::kinematic_body) {
            state.q[i] = system.q[i];
            state.rate[i] = scripted_rate(model, i, state.time + dt);
        }
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const int side = system.moves(model.joints[j].bodies[1]) ? 1 : 0;
        Mat34 force = Mat34::Zero();
        for (int r = 0; r < system.rows[j].count; ++r)
            force -= multipliers_[system.row_start[j] + r] * system.rows[j].gradient[side][r];
        set_joint_force(model.joints[j], side, force, system.map(model.joints[j].bodies[side]),
                        outputs.joints[j]);
        report.joint_residual =
            std::max(report.joint_residual, joint_residual(model, state, static_cast<int>(j)));
    }
    write_joint_coordinates(model, state, outputs, joints_to_measure(model));
    report.solver = "rigid reference, sparse LU";
    report.phases = timer.stages();
    report.metrics = {{"solves", static_cast<double>(report.iterations)}};
    return report;
}

void RigidMethod::save(std::ostream& out) const {
    write_values(out, multipliers_);
}

void RigidMethod::load(std::istream& in) {
    read_values(in, multipliers_);
    multipliers_.resize(system_->multipliers.size(), 0.0);
}

std::optional<Unsupported> rigid_supports(const Scene& scene) {
    const std::string cure = "use \"model\": \"corotated\"";
    if (!scene.elastic.empty())
        return Unsupported{"elastic[0]", "the rigid reference has no elastic bodies", cure};
    for (std::size_t j = 0; j < scene.joints.size(); ++j) {
        const JointSpec& joint = scene.joints[j];
        const std::string path = fmt::format("joints[{}]", j);
        if (joint.type == JointType::coupling)
            return Unsupported{path, "the rigid reference has no couplings", cure};
        if (joint.twist || joint.bend ||
            std::any_of(joint.drives.begin(), joint.drives.end(),
                        [](const DriveSpec& d) { return !d.empty(); }))
            return Unsupported{path, "the rigid reference has no drives or springs", cure};
        if (joint.break_force < 1e299 || joint.break_torque < 1e299)
            return Unsupported{path, "joints of the rigid reference do not break", cure};
    }
    for (std::size_t i = 0; i < scene.bodies.size(); ++i)
        for (bool fixed : scene.bodies[i].fixed)
            if (fixed)
                return Unsupported{fmt::format("bodies[{}].fixed", i),
                                   "the rigid reference has no fixed directions", cure};
    return std::nullopt;
}

}  // namespace tenon::articulated

#include "methods/articulated/row_component.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "methods/articulated/joint_outputs.hpp"

namespace tenon::articulated {
namespace {

// Stiffness of limits, bounded motors and friction: this many times what resists along their coordinate.
constexpr double drive_stiffness = 1e6;

const Mat34& map_of(const BodyField& field, int body) {
    return body < 0 ? world_map() : field.x[body];
}

// How many of a joint's constraints, its first ones, are lengths.
int length_rows(JointType type) {
    switch (type) {
        case JointType::ball:
        case JointType::hinge:
        case JointType::universal:
        case JointType::fixed:
            return 3;
        case JointType::prismatic:
        case JointType::cylindrical:
            return 2;
        case JointType::planar:
        case JointType::distance:
            return 1;
        case JointType::coupling:
            return 0;
    }
    return 0;
}

// Whether its first three constraints are x_a - x_b.
bool begins_with_point(JointType type) {
    return length_rows(type) == 3;
}

bool has_branches(const Joint& joint, const DriveRow& drive) {
    if (drive.kind == DriveRow::Kind::servo) return joint.spec.drives[drive.coordinate].motor.max < 1e299;
    return drive.kind == DriveRow::Kind::limit || drive.kind == DriveRow::Kind::friction;
}

constexpr double elastic_regularisation = 1e-11;
constexpr double least_regularisation = 1e-11, most_regularisation = 1e-4;  // of rigid bodies
constexpr int plain_linearisations =
    3;  // of a last try, before multipliers are kept: they may lead through a dead point

// Where a bounded drive's quadratic branch has its minimum.
double branch_target(const DriveRow& drive) {
    if (drive.kind != DriveRow::Kind::limit) return drive.target;
    return drive.branch == DriveRow::Branch::low ? drive.low : drive.high;
}

// Bodies bound by joints so far; all that does not move is one node.
struct JointForest {
    std::unordered_map<int, int> root;

    int find(int node) {
        root.try_emplace(node, node);
        while (root[node] != node) node = root[node] = root[root[node]];
        return node;
    }
    // False when the joint closes a loop.
    bool join(int a, int b) {
        const int first = find(a), second = find(b);
        root[first] = second;
        return first != second;
    }
};

template <class Moving>
bool stretches(const Model& model, const Joint& joint, const Moving& moving) {
    return std::any_of(joint.bodies.begin(), joint.bodies.end(),
                       [&](int body) { return moving(body) && is_elastic(model, body); });
}

}  // namespace

RowComponent::RowComponent(const Model& model, const State& state, std::vector<int> component_bodies,
                           const std::vector<int>& component_joints, const SolverChoice& choice,
                           ContactSet* contacts, const std::vector<int>& contact_points)
    : contacts_(contacts), contact_points_(contact_points) {
    bodies = std::move(component_bodies);
    const auto moving = [&](int body) { return body >= 0 && state.dynamic(body); };
    JointForest forest;
    for (int index : component_joints) {
        Joint joint = model.joints[index];
        if (joint.spec.type == JointType::coupling) {
            CouplingBlock block;
            block.joint = index;
            std::vector<int> touched;
            for (int which = 0; which < 2; ++which)
                for (int side = 0; side < 2; ++side) {
                    const int body = model.joints[joint.spec.joints[which]].bodies[side];
                    if (!moving(body)) continue;
                    auto found = std::find(touched.begin(), touched.end(), body);
                    block.slot[which][side] = static_cast<int>(found - touched.begin());
                    if (found == touched.end()) touched.push_back(body);
                }
            block.block = rows_.add_block(touched, 1);
            coupled_.push_back({model.joints[joint.spec.joints[0]], model.joints[joint.spec.joints[1]]});
            coupling_spec_.push_back(joint.spec);
            coupling_blocks_.push_back(block);
            row_size_.push_back(1.0);
            continue;
        }
        // Bodies that do not stretch along the axis make the sixth row of the linear form say what the others say.
        if (joint.spec.type == JointType::hinge && !stretches(model, joint, moving))
            joint.spec.linear = false;
        const auto node = [&](int body) { return moving(body) ? body : -1; };
        if (!forest.join(node(joint.bodies[0]), node(joint.bodies[1]))) may_be_redundant_ = true;
        JointBlock block;
        block.joint = index;
        block.hard_rows = joint_row_count(joint.spec);
        block.first_drive = static_cast<int>(drives_.size());
        for (DriveRow& drive : make_drive_rows(joint, index)) {
            drive.row = block.hard_rows + static_cast<int>(drives_.size()) - block.first_drive;
            drives_.push_back(drive);
        }
        block.drive_end = static_cast<int>(drives_.size());
        std::vector<int> touched;
        for (int side = 0; side < 2; ++side)
            if (moving(joint.bodies[side])) {
                block.slot[side] = static_cast<int>(touched.size());
                touched.push_back(joint.bodies[side]);
            }
        block.block = rows_.add_block(touched, block.hard_rows + block.drive_end - block.first_drive);
        joint_blocks_.push_back(block);
        joints_.push_back(joint);
        for (int side = 0; side < 2 && begins_with_point(joint.spec.type); ++side) {
            const double sign = side == 0 ? 1.0 : -1.0;
            Vec4 arm;
            arm << sign * joint.point[side], sign;
            if (block.slot[side] >= 0) rows_.set_point(block.block, block.slot[side], arm);
        }
        if (joint_rows_are_linear(joint.spec)) {  // the gradients are the same everywhere
            JointRows rows;
            joint_rows(joint, world_map(), world_map(), rows);
            write_gradients(block, rows);
        }
        double size = 0.0;  // of the bodies that move; of the lever where they have none
        for (int side = 0; side < 2; ++side)
            if (moving(joint.bodies[side])) {
                const double radius = model.shape_of(joint.bodies[side]).radius;
                size = std::max(size, radius > 0.0 ? radius : joint.point[side].norm());
            }
        row_size_.resize(rows_.rows(), 1.0);
        for (int r = 0; r < std::min(length_rows(joint.spec.type), block.hard_rows); ++r)
            row_size_[rows_.block(block.block).row_start + r] = std::max(size, 1e-9);
        for (int d = block.first_drive; d < block.drive_end; ++d)
            if (has_branches(joint, drives_[d])) bounded_.push_back({d, block.block, drives_[d].row});
    }
    may_be_redundant_ = may_be_redundant_ || !coupling_blocks_.empty();
    for (int body : bodies) {
        FixedBlock block;
        for (int axis = 0; axis < 6; ++axis)
            if (model.bodies.fixed[body][axis]) block.axes.push_back(axis);
        if (block.axes.empty()) continue;
        block.body = body;
        block.reference = state.q[body];
        block.block = rows_.add_block({body}, static_cast<int>(block.axes.size()));
        fixed_blocks_.push_back(block);
        may_be_redundant_ = true;
    }
    row_size_.resize(rows_.rows(), 1.0);
    first_contact_block_ = rows_.blocks();
    for (int k : contact_points_) rows_.add_block({contacts_->points()[k].a, contacts_->points()[k].b}, 3);
    rows_.finish(choice);
    contact_separation_.resize(contact_points_.size());
    directions_.assign(contact_points_.size(), Mat3::Identity());
    std::vector<int> held;
    for (int b = 0; b < rows_.blocks(); ++b)
        held.insert(held.end(), rows_.block(b).bodies.begin(),
                    rows_.block(b).bodies.begin() + rows_.block(b).body_count);
    std::sort(held.begin(), held.end());
    for (int body : bodies)
        if (!std::binary_search(held.begin(), held.end(), body)) free_bodies_.push_back(body);
}

void RowComponent::begin_step(const BodyField& field, const StepStart& start) {
    motors_start_ =
        !start.previous_q && std::any_of(drives_.begin(), drives_.end(), [](const DriveRow& drive) {
            return drive.kind == DriveRow::Kind::servo && !drive.has_gains;
        });
    linearisations_ = 0;
    for (std::size_t k = 0; k < joint_blocks_.size(); ++k) {
        const JointBlock& block = joint_blocks_[k];
        const auto& coordinate = start.state.joint_coordinate[block.joint];
        for (int d = block.first_drive; d < block.drive_end; ++d)
            drives_[d].branch =
                static_cast<DriveRow::Branch>((*start.branches)[block.joint][d - block.first_drive]);
        for (int d = block.first_drive; d < block.drive_end; ++d)
            articulated::begin_step(drives_[d], joints_[k], coordinate, field, start);
    }
    for (std::size_t k = 0; k < coupling_blocks_.size(); ++k) {
        const JointSpec& spec = start.model.joints[coupling_blocks_[k].joint].spec;
        for (int which = 0; which < 2; ++which)
            coupling_blocks_[k].reference[which] =
                start.state.joint_coordinate[spec.joints[which]][spec.coordinates[which]];
    }
    for (FixedBlock& block : fixed_blocks_) block.reference.leftCols<3>() = field.rotation[block.body];
}

void RowComponent::write_gradients(const JointBlock& block, const JointRows& rows) {
    for (int side = 0; side < 2; ++side)
        for (int r = 0; r < rows.count && block.slot[side] >= 0; ++r)
            rows_.gradient(block.block, block.slot[side], r) = rows.gradient[side][r];
}

void RowComponent::evaluate_joint(const JointBlock& block, const BodyField& field) {
    const Joint& joint = joints_[&block - joint_blocks_.data()];
    const Mat34 &qa = map_of(field, joint.bodies[0]), &qb = map_of(field, joint.bodies[1]);
    const int start = rows_.block(block.block).row_start;
    if (joint_rows_are_linear(joint.spec)) {
        if (joint.spec.type == JointType::ball) {
            const Vec3 gap = point_at(qa, joint.point[0]) - point_at(qb, joint.point[1]);
            for (int i = 0; i < 3; ++i) rows_.value[start + i] = gap[i];
        } else {
            joint_row_values(joint, qa, qb, rows_.value.data() + start);
        }
    } else {
        JointRows rows;
        joint_rows(joint, qa, qb, rows);
        for (int r = 0; r < rows.count; ++r) rows_.value[start + r] = rows.value[r];
        write_gradients(block, rows);
    }
    std::array<Mat34, 2> gradient;
    for (int d = block.first_drive; d < block.drive_end; ++d) {
        const DriveRow& drive = drives_[d];
        const DriveValue value = articulated::evaluate(drive, joint, qa, qb, &gradient);
        rows_.value[start + drive.row] = value.value;
        rows_.compliance[start + drive.row] = value.compliance;
        rows_.active[start + drive.row] = is_active(drive) && value.compliance < 1e299;
        if (!is_active(drive)) rows_.multiplier[start + drive.row] = given_force(drive);
        for (int side = 0; side < 2; ++side)
            if (block.slot[side] >= 0)
                rows_.gradient(block.block, block.slot[side], drive.row) = gradient[side];
    }
}

// theta_2 - ratio theta_1 - offset, turns counted on both sides.
void RowComponent::evaluate_coupling(const CouplingBlock& block, const BodyField& field) {
    const std::size_t k = static_cast<std::size_t>(&block - coupling_blocks_.data());
    const JointSpec& spec = coupling_spec_[k];
    const double factor[2] = {-spec.ratio, 1.0};
    double value = -spec.offset;
    for (int s = 0; s < rows_.block(block.block).body_count; ++s) rows_.gradient(block.block, s, 0).setZero();
    for (int which = 0; which < 2; ++which) {
        const Joint& joint = coupled_[k][which];
        JointCoordinate c = joint_coordinate(joint, spec.coordinates[which], map_of(field, joint.bodies[0]),
                                             map_of(field, joint.bodies[1]));
        if (coordinate_is_angle(joint.spec.type, spec.coordinates[which]))
            c.value = unwrapped(c.value, block.reference[which]);
        value += factor[which] * c.value;
        for (int side = 0; side < 2; ++side)
            if (block.slot[which][side] >= 0)
                rows_.gradient(block.block, block.slot[which][side], 0) += factor[which] * c.gradient[side];
    }
    rows_.value[rows_.block(block.block).row_start] = value;
}

// Fixed translations hold the start; fixed turns forbid turning within the step: e . sum_k r_k x a_k / 2 = 0.
void RowComponent::evaluate_fixed(const FixedBlock& block, const BodyField& field) {
    const int start = rows_.block(block.block).row_start;
    const Mat34& x = field.x[block.body];
    for (std::size_t r = 0; r < block.axes.size(); ++r) {
        const int axis = block.axes[r];
        Mat34 gradient = Mat34::Zero();
        double value = 0.0;
        if (axis < 3) {
            gradient(axis, 3) = 1.0;
            value = x(axis, 3) - block.reference(axis, 3);
        } else {
            for (int k = 0; k < 3; ++k)
                gradient.col(k) = 0.5 * Vec3::Unit(axis - 3).cross(Vec3(block.reference.col(k)));
            value = gradient.cwiseProduct(x).sum();
        }
        rows_.value[start + static_cast<int>(r)] = value;
        rows_.gradient(block.block, 0, static_cast<int>(r)) = gradient;
    }
}

// A contact between two moving bodies, as soft rows along its normal and two directions of the surface.
void RowComponent::evaluate_contact(std::size_t k, const BodyField& field) {
    contact_separation_[k] = ContactSet::separation(contacts_->points()[contact_points_[k]], field);
    set_contact(k);
}

// Rows of a contact on its present branch, at the separation of the linearisation.
void RowComponent::set_contact(std::size_t k) {
    turn_contact(k);
    const ContactPoint& c = contacts_->points()[contact_points_[k]];
    const int block = first_contact_block_ + static_cast<int>(k), start = rows_.block(block).row_start;
    const Vec3& s = contact_separation_[k];
    const Mat3& directions = directions_[k];
    const Vec3 stiffness = contact_stiffness(c);
    const Vec4 xa(c.xa.x(), c.xa.y(), c.xa.z(), 1.0), xb(c.xb.x(), c.xb.y(), c.xb.z(), 1.0);
    for (int r = 0; r < 3; ++r) {
        rows_.value[start + r] = r == 0 ? c.normal.dot(s) - c.aim : directions.col(r).dot(s - c.start);
        rows_.active[start + r] = stiffness[r] > 0.0;
        rows_.compliance[start + r] = stiffness[r] > 0.0 ? 1.0 / stiffness[r] : 1.0;
        if (!rows_.active[start + r])
            rows_.multiplier[start + r] = c.friction_limit * c.slides.dot(directions.col(r));
        rows_.gradient(block, 0, r) = -directions.col(r) * xa.transpose();
        rows_.gradient(block, 1, r) = directions.col(r) * xb.transpose();
    }
}

// The directions of its present branch; multipliers at hand are the same forces along these.
void RowComponent::turn_contact(std::size_t k) {
    const Mat3 now = contact_directions(contacts_->points()[contact_points_[k]]);
    if (now == directions_[k]) return;
    const Mat3 turn = now.transpose() * directions_[k];
    const int start = rows_.block(first_contact_block_ + static_cast<int>(k)).row_start;
    for (std::vector<double>* forces : {&rows_.multiplier, &path_})
        if (forces->size() == rows_.multiplier.size()) {
            Eigen::Map<Vec3> force(forces->data() + start);
            force = (turn * force).eval();
        }
    directions_[k] = now;
}

void RowComponent::keep_nearest() {
    nearest_ = rows_.multiplier;
    nearest_directions_ = directions_;
}

void RowComponent::go_to_nearest() {
    rows_.multiplier = nearest_;
    directions_ = nearest_directions_;
}

void RowComponent::evaluate(const BodyField& field) {
    for (const JointBlock& block : joint_blocks_) evaluate_joint(block, field);
    for (const CouplingBlock& block : coupling_blocks_) evaluate_coupling(block, field);
    for (const FixedBlock& block : fixed_blocks_) evaluate_fixed(block, field);
    for (std::size_t k = 0; k < contact_points_.size(); ++k) evaluate_contact(k, field);
}

void RowComponent::linearise(BodyField& field) {
    evaluate(field);
    rows_.regularise_about_present(!last_try || ++linearisations_ <= plain_linearisations);
    for (BoundedDrive& bounded : bounded_) {
        DriveRow& drive = drives_[bounded.drive];
        const int row = rows_.block(bounded.block).row_start + bounded.row;
        if (!drive.has_gains)
            drive.stiffness =
                drive_stiffness / std::max(rows_.self_compliance(field, bounded.block, bounded.row), 1e-300);
        bounded.coordinate = rows_.value[row] + branch_target(drive);
        set_drive(bounded);
    }
    bool rigid = false;
    for (int body : bodies) rigid = rigid || field.matrix(body).rigid;
    Balance gaps;
    judge_gaps(gaps);
    // Rows that follow from others do so exactly only where joints are closed. Where they are open by a share g of their size, what
    // remains of such a row is of order g, and its part of the dual matrix of order g^2: it gives by as much. Elastic bodies give by
    // themselves, stiff ones hardly more than rounding.
    rows_.regularisation =
        !may_be_redundant_ ? 0.0
        : rigid ? std::clamp(gaps.relative_gap * gaps.relative_gap, least_regularisation, most_regularisation)
                : elastic_regularisation;
}

// Value, compliance and given force of a drive on its present branch.
void RowComponent::set_drive(const BoundedDrive& bounded) {
    const DriveRow& drive = drives_[bounded.drive];
    const int row = rows_.block(bounded.block).row_start + bounded.row;
    rows_.value[row] = bounded.coordinate - branch_target(drive);
    rows_.compliance[row] = 1.0 / drive.stiffness;
    rows_.active[row] = is_active(drive);
    if (!is_active(drive)) rows_.multiplier[row] = given_force(drive);
}

void RowComponent::solve(BodyField& field) {
    rows_.solve(field);
    for (int body : free_bodies_)
        field.dq[body] = field.apply_inverse(body, field.inverse(body), field.force(body));
}

void RowComponent::read_terms(const BodyField& field, BoundedTerm* terms) {
    rows_.begin_slopes(field);
    for (std::size_t k = 0; k < bounded_.size(); ++k) {
        const BoundedDrive& bounded = bounded_[k];
        terms[k].at = Vec3(bounded.coordinate + rows_.slope(bounded.block, bounded.row), 0, 0);
        terms[k].force = Vec3(rows_.multiplier[rows_.block(bounded.block).row_start + bounded.row], 0, 0);
    }
    for (std::size_t k = 0; k < contact_points_.size(); ++k) {
        const int block = first_contact_block_ + static_cast<int>(k), start = rows_.block(block).row_start;
        const Mat3& directions = directions_[k];
        BoundedTerm& term = terms[bounded_.size() + k];
        term.at = contact_separation_[k];
        term.force.setZero();
        for (int r = 0; r < 3; ++r) {
            term.at += rows_.slope(block, r) * directions.col(r);
            term.force += rows_.multiplier[start + r] * directions.col(r);
        }
    }
}

void RowComponent::step_path(double length) {
    for (std::size_t r = 0; r < path_.size(); ++r) path_[r] += length * (rows_.multiplier[r] - path_[r]);
}

Vec3 RowComponent::term_slope(std::size_t k, const Vec3& at) const {
    if (k < bounded_.size()) return Vec3(slope_at(drives_[bounded_[k].drive], at.x()), 0, 0);
    return contacts_->slope(contacts_->points()[contact_points_[k - bounded_.size()]], at);
}

void RowComponent::store_branches(DriveBranches& branches) const {
    for (const JointBlock& block : joint_blocks_)
        for (int d = block.first_drive; d < block.drive_end; ++d)
            branches[block.joint][d - block.first_drive] = static_cast<char>(drives_[d].branch);
}

bool RowComponent::reached_limit() const {
    return motors_start_ || std::any_of(drives_.begin(), drives_.end(), [](const DriveRow& drive) {
               return drive.kind == DriveRow::Kind::limit && drive.started == DriveRow::Branch::off &&
                      drive.branch != DriveRow::Branch::off;
           });
}

// Bounded forces may have gone from bound to bound within the step, others by what the way of their coordinate asks for.
Component::Work RowComponent::drive_work(const BodyField& field) const {
    Work work;
    for (std::size_t k = 0; k < joint_blocks_.size(); ++k) {
        const JointBlock& block = joint_blocks_[k];
        const Joint& joint = joints_[k];
        const Mat34 &qa = map_of(field, joint.bodies[0]), &qb = map_of(field, joint.bodies[1]);
        for (int d = block.first_drive; d < block.drive_end; ++d) {
            const DriveRow& drive = drives_[d];
            const double force = -rows_.multiplier[rows_.block(block.block).row_start + drive.row];
            const double way = articulated::evaluate(drive, joint, qa, qb).coordinate - drive.reference;
            double change = std::abs(force);
            if (is_bounded(drive) && drive.kind != DriveRow::Kind::limit) change += 2.0 * drive.bound;
            if (drive.kind == DriveRow::Kind::smooth || drive.kind == DriveRow::Kind::bend || drive.has_gains)
                change += drive.stiffness * std::abs(way);
            work.done += force * way;
            work.uncertain += change * std::abs(way);
        }
    }
    return work;
}

void RowComponent::project(BodyField& field, std::vector<Mat34>& at_start) {
    field.x.swap(at_start);
    evaluate(field);
    std::vector<double> before = rows_.value;
    field.x.swap(at_start);
    evaluate(field);
    for (std::size_t r = 0; r < before.size(); ++r) rows_.value[r] -= before[r];
    for (const JointBlock& block : joint_blocks_)
        for (int d = block.first_drive; d < block.drive_end; ++d) {
            const int row = rows_.block(block.block).row_start + drives_[d].row;
            rows_.active[row] = 0;
            rows_.multiplier[row] = 0.0;
        }
    rows_.regularisation = may_be_redundant_ ? 1e-9 : 0.0;
    rows_.regularise_about_present(true);
    solve(field);
}

double RowComponent::renew_contacts(const BodyField& field) {
    return contact_points_.empty() ? 0.0 : contacts_->renew(field, contact_points_);
}

double RowComponent::term_tolerance(std::size_t k) const {
    return k < bounded_.size() ? 1e-8 : contact_tolerance;
}

double RowComponent::term_noise(std::size_t k) const {
    if (k >= bounded_.size()) return 0.0;
    return 1e-14 * drives_[bounded_[k].drive].stiffness * (1.0 + std::abs(bounded_[k].coordinate));
}

void RowComponent::choose_branches(const BoundedTerm* terms) {
    for (std::size_t k = 0; k < bounded_.size(); ++k) {
        DriveRow& drive = drives_[bounded_[k].drive];
        drive.branch = branch_at(drive, terms[k].at.x());
        set_drive(bounded_[k]);
    }
    for (std::size_t k = 0; k < contact_points_.size(); ++k) {
        ContactPoint& c = contacts_->points()[contact_points_[k]];
        contacts_->choose_branch(c, terms[bounded_.size() + k].at);
        set_contact(k);
    }
}

void RowComponent::list_friction(const BoundedTerm* terms, std::vector<FrictionLimit>& list) {
    for (std::size_t k = 0; k < contact_points_.size(); ++k)
        list.push_back(
            friction_allowed(contacts_->points()[contact_points_[k]], terms[bounded_.size() + k].force));
}

void RowComponent::judge_gaps(Balance& result) const {
    for (std::size_t r = 0; r < row_size_.size(); ++r) {
        if (!rows_.active[r] || rows_.compliance[r] > 0.0) continue;
        const double open = std::abs(rows_.value[r]);
        result.gap = std::max(result.gap, open);
        result.relative_gap = std::max(result.relative_gap, open / row_size_[r]);
    }
}

// Whether bounded constraints are on the right branches at the iterate, and active ones follow their law.
void RowComponent::judge_branches(Balance& result) const {
    const auto miss = [&](double force, double allowed) {
        if (force <= allowed) return;
        result.branch = std::max(result.branch, force);
        result.consistent = false;
    };
    for (const JointBlock& block : joint_blocks_)  // springs, dampers, armature
        for (int d = block.first_drive; d < block.drive_end; ++d) {
            const int row = rows_.block(block.block).row_start + drives_[d].row;
            if (!rows_.active[row] || has_branches(joints_[&block - joint_blocks_.data()], drives_[d]))
                continue;
            const double missing = std::abs(rows_.value[row] - rows_.compliance[row] * rows_.multiplier[row]);
            if (missing * drives_[d].stiffness > 1e-7 * result.scale)
                result.relative_gap = std::max(result.relative_gap, missing);
        }
    for (const BoundedDrive& bounded : bounded_) {
        const DriveRow& drive = drives_[bounded.drive];
        const int row = rows_.block(bounded.block).row_start + bounded.row;
        const double force = rows_.multiplier[row];
        const double slack = 1e-7 * result.scale + 1e-11 * drive.stiffness;
        const double at = rows_.value[row] + branch_target(drive);
        if (rows_.active[row]) {
            result.relative_gap =
                std::max(result.relative_gap, std::abs(rows_.value[row] - force / drive.stiffness));
            const bool limit = drive.kind == DriveRow::Kind::limit;
            const double beyond = !limit                                   ? std::abs(force) - drive.bound
                                  : drive.branch == DriveRow::Branch::high ? -force
                                                                           : force;
            miss(beyond, slack);
        } else {
            miss(std::abs(slope_at(drive, at) - force), slack);
        }
    }
    for (std::size_t k = 0; k < contact_points_.size(); ++k) {
        const ContactPoint& c = contacts_->points()[contact_points_[k]];
        const int start = rows_.block(first_contact_block_ + static_cast<int>(k)).row_start;
        const Vec3 force = directions_[k] * Eigen::Map<const Vec3>(rows_.multiplier.data() + start);
        const Vec3& s = contact_separation_[k];
        miss((contacts_->slope(c, s) - force).norm(), contact_tolerance * result.scale);
    }
}

void RowComponent::balance(BodyField& field, Balance& result) {
    if (!contact_points_.empty()) contacts_->roll_listed(field, contact_points_);
    evaluate(field);
    rows_.balance(field, result);
    for (int body : free_bodies_) {
        field.unbalanced[body] = field.force(body);
        judge(field, body, field.unbalanced[body], result);
    }
    judge_gaps(result);
    judge_branches(result);
}

void RowComponent::refine(BodyField& field) {
    rows_.refine(field);
    for (int body : free_bodies_)
        field.dq[body] = field.apply_inverse(body, field.inverse(body), field.unbalanced[body]);
}

void RowComponent::respond(BodyField& field, bool keep) {
    rows_.respond(field, keep);
    for (int body : free_bodies_)
        field.dq[body] = field.apply_inverse(body, field.inverse(body), field.unbalanced[body]);
}

void RowComponent::write_forces(const BodyField& field, const Model& model, Outputs& outputs) const {
    for (const JointBlock& block : joint_blocks_) {
        const Joint& joint = model.joints[block.joint];
        // generalised force of all rows on one side: on the second body, or minus that on the first
        const int side = block.slot[1] >= 0 ? 1 : 0;
        const int body = joint.bodies[side];
        Mat34 force = Mat34::Zero();
        const auto& rows = rows_.block(block.block);
        for (int r = 0; r < rows.rows; ++r)
            force -= rows_.multiplier[rows.row_start + r] * rows_.gradient(block.block, block.slot[side], r);
        JointOutput& output = outputs.joints[block.joint];
        set_joint_force(joint, side, force, field.x[body], output);
        output.motor_force = output.limit_force = {};
        for (int d = block.first_drive; d < block.drive_end; ++d) {
            const DriveRow& drive = drives_[d];
            const double along = -rows_.multiplier[rows.row_start + drive.row];
            if (drive.kind == DriveRow::Kind::servo || drive.kind == DriveRow::Kind::force)
                output.motor_force[drive.coordinate] += along;
            if (drive.kind == DriveRow::Kind::limit) output.limit_force[drive.coordinate] += along;
        }
    }
}

}  // namespace tenon::articulated

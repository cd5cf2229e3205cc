#include "methods/articulated/row_component.hpp"

#include <algorithm>
#include <cmath>

#include "methods/articulated/joint_outputs.hpp"

namespace tenon::articulated {
namespace {

const Mat34& map_of(const BodyField& field, int body) {
    return body < 0 ? world_map() : field.x[body];
}

}  // namespace

RowComponent::RowComponent(const Model& model, const State& state, std::vector<int> component_bodies,
                           const std::vector<int>& component_joints, const SolverChoice& choice,
                           ContactSet* contacts, const std::vector<int>& contact_points)
    : contacts_(contacts), contact_points_(contact_points) {
    bodies = std::move(component_bodies);
    const auto moving = [&](int body) { return body >= 0 && state.dynamic(body); };
    for (int index : component_joints) {
        const Joint& joint = model.joints[index];
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
            linear_ = false;
            continue;
        }
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
        if (joint_rows_are_linear(joint.spec)) {  // the gradients are the same everywhere
            JointRows rows;
            joint_rows(joint, world_map(), world_map(), rows);
            write_gradients(block, rows);
        }
        linear_ = linear_ && joint_rows_are_linear(joint.spec) && block.first_drive == block.drive_end;
    }
    for (int body : bodies) {
        FixedBlock block;
        for (int axis = 0; axis < 6; ++axis)
            if (model.bodies.fixed[body][axis]) block.axes.push_back(axis);
        if (block.axes.empty()) continue;
        block.body = body;
        block.reference = state.q[body];
        block.block = rows_.add_block({body}, static_cast<int>(block.axes.size()));
        fixed_blocks_.push_back(block);
    }
    first_contact_block_ = rows_.blocks();
    for (int k : contact_points_) rows_.add_block({contacts_->points()[k].a, contacts_->points()[k].b}, 3);
    rows_.finish(choice);
}

void RowComponent::begin_step(const BodyField& field, const StepStart& start) {
    known_ = false;
    for (std::size_t k = 0; k < joint_blocks_.size(); ++k) {
        const auto& coordinate = start.state.joint_coordinate[joint_blocks_[k].joint];
        for (int d = joint_blocks_[k].first_drive; d < joint_blocks_[k].drive_end; ++d)
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

void RowComponent::evaluate_joint(const JointBlock& block, const BodyField& field, bool gradients) {
    const Joint& joint = joints_[&block - joint_blocks_.data()];
    const Mat34 &qa = map_of(field, joint.bodies[0]), &qb = map_of(field, joint.bodies[1]);
    const int start = rows_.block(block.block).row_start;
    if (gradients && !joint_rows_are_linear(joint.spec)) {
        JointRows rows;
        joint_rows(joint, qa, qb, rows);
        for (int r = 0; r < rows.count; ++r) rows_.value[start + r] = rows.value[r];
        write_gradients(block, rows);
    } else {
        joint_row_values(joint, qa, qb, rows_.value.data() + start);
    }
    std::array<Mat34, 2> gradient;
    for (int d = block.first_drive; d < block.drive_end; ++d) {
        const DriveRow& drive = drives_[d];
        const DriveValue value = articulated::evaluate(drive, joint, qa, qb, gradients ? &gradient : nullptr);
        rows_.value[start + drive.row] = value.value;
        rows_.compliance[start + drive.row] = value.compliance;
        rows_.active[start + drive.row] = binds(drive) && value.compliance < 1e299;
        if (drive.kind == DriveRow::Kind::force) rows_.multiplier[start + drive.row] = -drive.target;
        if (!gradients) continue;
        for (int side = 0; side < 2; ++side)
            if (block.slot[side] >= 0)
                rows_.gradient(block.block, block.slot[side], drive.row) = gradient[side];
    }
}

// theta_2 - ratio theta_1 - offset, turns counted on both sides.
void RowComponent::evaluate_coupling(const CouplingBlock& block, const BodyField& field, bool gradients) {
    const std::size_t k = static_cast<std::size_t>(&block - coupling_blocks_.data());
    const JointSpec& spec = coupling_spec_[k];
    const double factor[2] = {-spec.ratio, 1.0};
    double value = -spec.offset;
    if (gradients)
        for (int s = 0; s < rows_.block(block.block).body_count; ++s)
            rows_.gradient(block.block, s, 0).setZero();
    for (int which = 0; which < 2; ++which) {
        const Joint& joint = coupled_[k][which];
        JointCoordinate c = joint_coordinate(joint, spec.coordinates[which], map_of(field, joint.bodies[0]),
                                             map_of(field, joint.bodies[1]));
        if (coordinate_is_angle(joint.spec.type, spec.coordinates[which]))
            c.value = unwrapped(c.value, block.reference[which]);
        value += factor[which] * c.value;
        if (!gradients) continue;
        for (int side = 0; side < 2; ++side)
            if (block.slot[which][side] >= 0)
                rows_.gradient(block.block, block.slot[which][side], 0) += factor[which] * c.gradient[side];
    }
    rows_.value[rows_.block(block.block).row_start] = value;
}

// Fixed translations hold the start; fixed turns forbid turning within the step: e . sum_k r_k x a_k / 2 = 0.
void RowComponent::evaluate_fixed(const FixedBlock& block, const BodyField& field, bool gradients) {
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
        if (gradients) rows_.gradient(block.block, 0, static_cast<int>(r)) = gradient;
    }
}

// Normal and two sliding directions of a contact between two moving bodies, as soft rows.
void RowComponent::evaluate_contact(std::size_t k, const BodyField& field, bool gradients) {
    const ContactPoint& c = contacts_->points()[contact_points_[k]];
    const int block = first_contact_block_ + static_cast<int>(k), start = rows_.block(block).row_start;
    const Vec3 s = ContactSet::separation(c, field);
    Mat3 directions;
    directions.col(0) = c.normal;
    directions.col(1) = c.normal.unitOrthogonal();
    directions.col(2) = c.normal.cross(Vec3(directions.col(1)));
    const bool slides = c.active && c.slide_stiffness > 0.0;
    rows_.active[start] = c.active;
    rows_.active[start + 1] = rows_.active[start + 2] = slides;
    rows_.compliance[start] = 1.0 / c.stiffness;
    rows_.compliance[start + 1] = rows_.compliance[start + 2] = slides ? 1.0 / c.slide_stiffness : 1.0;
    rows_.value[start] = c.normal.dot(s) - c.aim;
    for (int r = 1; r < 3; ++r) rows_.value[start + r] = directions.col(r).dot(s - c.start);
    for (int r = 0; r < 3; ++r)
        if (!rows_.active[start + r]) rows_.multiplier[start + r] = 0.0;
    if (!gradients) return;
    const Vec4 xa(c.xa.x(), c.xa.y(), c.xa.z(), 1.0), xb(c.xb.x(), c.xb.y(), c.xb.z(), 1.0);
    for (int r = 0; r < 3; ++r) {
        rows_.gradient(block, 0, r) = -directions.col(r) * xa.transpose();
        rows_.gradient(block, 1, r) = directions.col(r) * xb.transpose();
    }
}

void RowComponent::evaluate(const BodyField& field, bool gradients) {
    if (known_ && !gradients) return;
    known_ = true;
    for (const JointBlock& block : joint_blocks_) evaluate_joint(block, field, gradients);
    for (const CouplingBlock& block : coupling_blocks_) evaluate_coupling(block, field, gradients);
    for (const FixedBlock& block : fixed_blocks_) evaluate_fixed(block, field, gradients);
    for (std::size_t k = 0; k < contact_points_.size(); ++k) evaluate_contact(k, field, gradients);
}

void RowComponent::solve(BodyField& field) {
    evaluate(field, true);
    rows_.solve(field);
}

void RowComponent::correct(BodyField& field) {
    evaluate(field, false);
    rows_.correct(field);
}

double RowComponent::residual(const BodyField& field) {
    evaluate(field, false);
    double worst = 0.0;
    for (int r = 0; r < rows_.rows(); ++r)
        if (rows_.active[r] && rows_.compliance[r] == 0.0) worst = std::max(worst, std::abs(rows_.value[r]));
    return worst;
}

double RowComponent::soft_energy(const BodyField& field) {
    evaluate(field, false);
    double energy = 0.0;
    for (int k : contact_points_) energy += contacts_->point_energy(contacts_->points()[k], field);
    const int own_rows =
        contact_points_.empty() ? rows_.rows() : rows_.block(first_contact_block_).row_start;  // not contacts
    for (int r = 0; r < own_rows; ++r)
        if (rows_.active[r] && rows_.compliance[r] > 0.0)
            energy += 0.5 * rows_.value[r] * rows_.value[r] / rows_.compliance[r];
    // Given forces do work along their coordinate; the engaged limit's or motor's row is a condition, not an energy.
    for (const JointBlock& block : joint_blocks_)
        for (int d = block.first_drive; d < block.drive_end; ++d) {
            const int row = rows_.block(block.block).row_start + drives_[d].row;
            if (!rows_.active[row] && rows_.multiplier[row] != 0.0) {
                const Joint& joint = joints_[&block - joint_blocks_.data()];
                const double at = articulated::evaluate(drives_[d], joint, map_of(field, joint.bodies[0]),
                                                        map_of(field, joint.bodies[1]))
                                      .coordinate;
                energy += rows_.multiplier[row] * (at - drives_[d].reference);
            }
        }
    return energy;
}

bool RowComponent::update_bounds(const BodyField& field) {
    bool changed = false;
    for (const JointBlock& block : joint_blocks_)
        for (int d = block.first_drive; d < block.drive_end; ++d) {
            if (!has_sides(drives_[d])) continue;
            const Joint& joint = joints_[&block - joint_blocks_.data()];
            const int row = rows_.block(block.block).row_start + drives_[d].row;
            const double at = articulated::evaluate(drives_[d], joint, map_of(field, joint.bodies[0]),
                                                    map_of(field, joint.bodies[1]))
                                  .coordinate;
            changed |= update_state(drives_[d], at, rows_.multiplier[row]);
        }
    if (!contact_points_.empty()) changed |= contacts_->update(field, contact_points_);
    if (changed || !contact_points_.empty()) known_ = false;  // friction is not what it was
    return changed;
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
        set_joint_force(joint, side, force, field.x[body], outputs.joints[block.joint]);
    }
}

}  // namespace tenon::articulated

#include "methods/articulated/elastic_component.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace tenon::articulated {
namespace {

constexpr int entries = 12;

// The affine force of a force at a point of a body.
Mat34 point_force(const Vec3& force, const Vec3& local) {
    return force * Vec4(local.x(), local.y(), local.z(), 1.0).transpose();
}

Eigen::Matrix<double, 3, entries> point_map(const Vec3& local) {
    Eigen::Matrix<double, 3, entries> map;
    const Vec4 weight(local.x(), local.y(), local.z(), 1.0);
    for (int k = 0; k < 4; ++k) map.block<3, 3>(0, 3 * k) = weight[k] * Mat3::Identity();
    return map;
}

// Affine forces that turn and shift a rigid body: three torques, three forces, in the world.
Eigen::MatrixXd wrench_basis(const Mat3& rotation) {
    Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(entries, 6);
    for (int axis = 0; axis < 3; ++axis) {
        for (int k = 0; k < 3; ++k)
            basis.block<3, 1>(3 * k, axis) = 0.5 * Vec3(Vec3::Unit(axis)).cross(Vec3(rotation.col(k)));
        basis(9 + axis, 3 + axis) = 1.0;
    }
    return basis;
}

// The same three torques and forces of affine forces, given by rows.
Eigen::MatrixXd torques_of(const Mat3& rotation, const Eigen::Matrix<double, 3, entries>& forces) {
    Eigen::MatrixXd out(6, 3);
    for (int r = 0; r < 3; ++r) {
        const Eigen::Matrix<double, entries, 1> force = forces.row(r).transpose();
        Vec3 torque = Vec3::Zero();
        for (int k = 0; k < 3; ++k) torque += Vec3(rotation.col(k)).cross(Vec3(force.segment<3>(3 * k)));
        out.block<3, 1>(0, r) = torque;
        out.block<3, 1>(3, r) = force.tail<3>();
    }
    return out;
}

}  // namespace

ElasticComponent::ElasticComponent(ElasticWorld& world, std::vector<Component*> inner,
                                   std::vector<int> solids, std::vector<int> contact_points)
    : world_(world),
      inner_(std::move(inner)),
      solids_(std::move(solids)),
      contact_points_(std::move(contact_points)) {
    for (Component* component : inner_) {
        bodies.insert(bodies.end(), component->bodies.begin(), component->bodies.end());
        if (BoundedTerms* terms = component->bounded()) inner_terms_.push_back(terms);
    }
    for (int solid : solids_)
        for (const ElasticBody::Pin& pin : world_.solids[solid].attached) {
            Attachment attachment;
            attachment.solid = solid;
            attachment.body = pin.body;
            attachment.point = solid_vertex(pin.vertex);
            attachment.local = pin.local;
            attachments_.push_back(attachment);
        }
    const bool rows = !attachments_.empty() || !contact_points_.empty();
    for (std::size_t c = 0; rows && c < inner_.size(); ++c)
        for (int body : inner_[c]->bodies) inner_of_[body] = static_cast<int>(c);
}

void ElasticComponent::begin_step(const BodyField& field, const StepStart& start) {
    for (Component* component : inner_) component->begin_step(field, start);
}

void ElasticComponent::predict_more() {
    for (int solid : solids_) world_.solids[solid].predict();
    for (Component* component : inner_) component->last_try = last_try;
}

void ElasticComponent::push(BodyField& field, const Rows& rows, const Vec3& force) const {
    for (int side = 0; side < 2; ++side) {
        const Vec3 on = side == 0 ? Vec3(-force) : force;
        if (rows.solid[side] >= 0)
            world_.solids[rows.solid[side]].push(rows.point[side], on);
        else if (rows.body[side] >= 0 && field.moving[rows.body[side]])
            field.coupling[rows.body[side]] += point_force(on, rows.local[side]);
    }
}

void ElasticComponent::push_contact(BodyField& field, const ElasticContact& c, const Vec3& slope) const {
    Rows rows;
    rows.solid = c.solid;
    rows.point = c.point;
    rows.local = {c.law.xa, c.law.xb};
    if (c.solid[0] < 0) rows.body[0] = c.law.a;
    if (c.solid[1] < 0) rows.body[1] = c.law.b;
    push(field, rows, -slope);
}

// All forces on solids, and those of the coupling on bodies; contacts on their present branches (`model`) or as their
// potentials have them.
void ElasticComponent::set_coupling(BodyField& field, bool model) {
    for (int body : bodies) field.coupling[body].setZero();
    for (int solid : solids_) world_.solids[solid].set_forces();
    for (const Attachment& a : attachments_) push(field, rows_of(a), -a.force);
    for (std::size_t k = 0; k < contact_points_.size(); ++k) {
        const ElasticContact& c = contact(k);
        push_contact(field, c,
                     model ? ContactSet::model_slope(c.law, separation_[k])
                           : contact_slope(c.law, ElasticContacts::separation(c, field, world_.solids),
                                           world_.contacts->slide()));
    }
}

// The gap of an attachment is the solid's point minus the body's: side 1 is the solid.
ElasticComponent::Rows ElasticComponent::rows_of(const Attachment& attachment) const {
    Rows rows;
    rows.body[0] = attachment.body;
    rows.local[0] = attachment.local;
    rows.solid[1] = attachment.solid;
    rows.point[1] = attachment.point;
    return rows;
}

ElasticComponent::Rows ElasticComponent::rows_of(std::size_t contact_point) const {
    const ElasticContact& c = contact(contact_point);
    Rows rows;
    rows.contact = static_cast<int>(contact_point);
    rows.solid = c.solid;
    rows.point = c.point;
    rows.local = {c.law.xa, c.law.xb};
    if (c.solid[0] < 0) rows.body[0] = c.law.a;
    if (c.solid[1] < 0) rows.body[1] = c.law.b;
    const Mat3 directions = contact_directions(c.law);
    const Vec3 stiffness = contact_stiffness(c.law);
    rows.count = 0;
    for (int k = 0; k < 3; ++k) {
        if (!(stiffness[k] > 0.0)) continue;
        rows.directions.col(rows.count) = directions.col(k);
        rows.compliance[rows.count++] = 1.0 / stiffness[k];
    }
    return rows;
}

void ElasticComponent::linearise(BodyField& field) {
    for (Component* component : inner_) component->linearise(field);
    for (int solid : solids_) world_.solids[solid].linearise();
    for (Attachment& a : attachments_) {
        a.before = a.force;
        a.gap = world_.solids[a.solid].at(a.point) - transform(field.x[a.body], a.local);
    }
    separation_.resize(contact_points_.size());
    for (std::size_t k = 0; k < contact_points_.size(); ++k)
        separation_[k] = ElasticContacts::separation(contact(k), field, world_.solids);
}

// Rows of S on the present branches, and its factors. Bodies' components have theirs already.
void ElasticComponent::factor(BodyField& field) {
    rows_.clear();
    int size = 0;
    const auto add = [&](Rows rows) {
        if (rows.count == 0) return;
        rows.first = size;
        size += rows.count;
        rows_.push_back(rows);
    };
    for (const Attachment& a : attachments_) add(rows_of(a));
    std::map<int, std::vector<SolidTerm>> terms;
    for (std::size_t k = 0; k < contact_points_.size(); ++k) {
        const ElasticContact& c = contact(k);
        if (c.both_move) {
            add(rows_of(k));
            continue;
        }
        const int side = c.solid[0] >= 0 ? 0 : 1;
        const Mat3 directions = contact_directions(c.law);
        terms[c.solid[side]].push_back(
            {c.point[side], directions * contact_stiffness(c.law).asDiagonal() * directions.transpose()});
    }
    factored_ = true;
    for (int solid : solids_) factored_ = world_.solids[solid].factor(terms[solid]) && factored_;
    if (size == 0 || !factored_) return;
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size, size);
    add_bodies(field, matrix);
    add_solids(matrix);
    for (const Rows& rows : rows_)
        for (int r = 0; r < rows.count; ++r) matrix(rows.first + r, rows.first + r) += rows.compliance[r];
    schur_.compute(matrix);
    factored_ = schur_.info() == Eigen::Success;
}

// J_b P J_b^T, component by component: the response of each coupled body to the forces of its own rows, or, when these are
// many, to all that act on it differently (6 on a rigid body, 12 on another).
void ElasticComponent::add_bodies(BodyField& field, Eigen::MatrixXd& matrix) {
    using Map = Eigen::Matrix<double, 3, entries>;
    struct Touch {
        const Rows* rows;
        int body;
        Map map;                   // J, with the side's sign, along the rows' directions
        Eigen::MatrixXd to_basis;  // J^T f as forces of the body's basis
    };
    struct Basis {
        int place = 0, first = 0;  // of the body's rows and columns in the response
        std::vector<int> touches;
        Eigen::MatrixXd forces;  // by columns
    };
    std::vector<Touch> touches;
    std::vector<std::map<int, Basis>> coupled(inner_.size());
    for (const Rows& rows : rows_)
        for (int side = 0; side < 2; ++side) {
            const int body = rows.body[side];
            if (body < 0 || !field.moving[body]) continue;
            const Mat3 turned = (side == 0 ? -1.0 : 1.0) * rows.directions.transpose();
            coupled[inner_of_.at(body)][body].touches.push_back(static_cast<int>(touches.size()));
            touches.push_back({&rows, body, turned * point_map(rows.local[side]), {}});
        }
    for (std::size_t c = 0; c < inner_.size(); ++c) {
        Component* component = inner_[c];
        if (coupled[c].empty()) continue;
        int place = 0, columns = 0;
        for (auto& [body, basis] : coupled[c]) {
            const bool rigid = field.matrix(body).rigid;
            const int own = 3 * static_cast<int>(basis.touches.size()), all = rigid ? 6 : entries;
            basis.place = place;
            basis.first = columns;
            basis.forces = Eigen::MatrixXd::Zero(entries, std::min(own, all));
            for (std::size_t k = 0; k < basis.touches.size(); ++k) {
                Touch& touch = touches[basis.touches[k]];
                if (own <= all) {
                    basis.forces.middleCols<3>(3 * k) = touch.map.transpose();
                    touch.to_basis = Eigen::MatrixXd::Zero(own, 3);
                    touch.to_basis.middleRows<3>(3 * k).setIdentity();
                } else if (rigid) {  // torque and force
                    touch.to_basis = torques_of(field.rotation[body], touch.map);
                } else {
                    touch.to_basis = touch.map.transpose();
                }
            }
            if (own > all)
                basis.forces = rigid ? wrench_basis(field.rotation[body])
                                     : Eigen::MatrixXd(Eigen::MatrixXd::Identity(entries, entries));
            place += entries;
            columns += static_cast<int>(basis.forces.cols());
        }
        for (int body : component->bodies) field.unbalanced[body].setZero();
        Eigen::MatrixXd response(place, columns);
        for (const auto& [body, basis] : coupled[c]) {
            for (int k = 0; k < basis.forces.cols(); ++k) {
                for (int i = 0; i < entries; ++i) field.unbalanced[body].data()[i] = basis.forces(i, k);
                component->respond(field, false);
                for (const auto& [other, row] : coupled[c]) {
                    const Mat34 moved = in_world(field.dq[other], field.rotation[other]);
                    response.block<entries, 1>(row.place, basis.first + k) =
                        Eigen::Map<const Eigen::Matrix<double, entries, 1>>(moved.data());
                }
            }
            field.unbalanced[body].setZero();
        }
        for (const auto& [body, basis] : coupled[c])
            for (int t : basis.touches) {
                const Touch& b = touches[t];
                const Eigen::MatrixXd pushed =
                    response.middleCols(basis.first, basis.forces.cols()) * b.to_basis;
                for (const auto& [other, row] : coupled[c])
                    for (int u : row.touches) {
                        const Touch& a = touches[u];
                        const Mat3 block = a.map * pushed.middleRows<entries>(row.place);
                        matrix.block(a.rows->first, b.rows->first, a.rows->count, b.rows->count) +=
                            block.topLeftCorner(a.rows->count, b.rows->count);
                    }
            }
    }
}

void ElasticComponent::add_solids(Eigen::MatrixXd& matrix) const {
    struct Touch {
        const Rows* rows;
        int place;      // of the vertex
        double weight;  // with the side's sign
    };
    for (int solid : solids_) {
        std::vector<int> vertices;
        std::map<int, int> place;
        std::vector<Touch> touches;
        for (const Rows& rows : rows_)
            for (int side = 0; side < 2; ++side) {
                if (rows.solid[side] != solid) continue;
                const SolidPoint& point = rows.point[side];
                for (int k = 0; k < point.count; ++k) {
                    if (!world_.solids[solid].free(point.vertex[k])) continue;
                    const auto [found, added] =
                        place.try_emplace(point.vertex[k], static_cast<int>(vertices.size()));
                    if (added) vertices.push_back(point.vertex[k]);
                    touches.push_back({&rows, found->second, (side == 0 ? -1.0 : 1.0) * point.weight[k]});
                }
            }
        if (vertices.empty()) continue;
        std::vector<double> inverse;
        world_.solids[solid].inverse_on(vertices, inverse);
        const Eigen::Map<const Eigen::MatrixXd> response(inverse.data(), 3 * vertices.size(),
                                                         3 * vertices.size());
        for (const Touch& b : touches)
            for (const Touch& a : touches) {
                const Mat3 block = a.weight * b.weight * a.rows->directions.transpose() *
                                   response.block<3, 3>(3 * a.place, 3 * b.place) * b.rows->directions;
                matrix.block(a.rows->first, b.rows->first, a.rows->count, b.rows->count) +=
                    block.topLeftCorner(a.rows->count, b.rows->count);
            }
    }
}

Vec3 ElasticComponent::moved(const BodyField& field, const Rows& rows) const {
    Vec3 sum = Vec3::Zero();
    for (int side = 0; side < 2; ++side) {
        Vec3 by = Vec3::Zero();
        if (rows.solid[side] >= 0)
            by = world_.solids[rows.solid[side]].moved(rows.point[side]);
        else if (rows.body[side] >= 0 && field.moving[rows.body[side]])
            by = field.moved_point(rows.body[side], field.dq[rows.body[side]], rows.local[side]);
        sum += side == 0 ? Vec3(-by) : by;
    }
    return sum;
}

// What the rows are open by after the increments: contacts' forces are those of their branches, attachments have gaps.
Eigen::VectorXd ElasticComponent::moved_rows(const BodyField& field, bool with_gaps) const {
    Eigen::VectorXd out = Eigen::VectorXd::Zero(rows_.empty() ? 0 : rows_.back().first + rows_.back().count);
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        Vec3 open = moved(field, rows_[k]);
        if (with_gaps && rows_[k].contact < 0) open += attachments_[k].gap;
        out.segment(rows_[k].first, rows_[k].count) =
            (rows_[k].directions.transpose() * open).head(rows_[k].count);
    }
    return out;
}

// With S's factors: forces that close the rows, and what they move.
Eigen::VectorXd ElasticComponent::couple(BodyField& field, const Eigen::VectorXd& open) {
    if (!factored_) {
        for (int solid : solids_)
            std::fill(world_.solids[solid].dx.begin(), world_.solids[solid].dx.end(),
                      Vec3::Constant(std::numeric_limits<double>::quiet_NaN()));
        return Eigen::VectorXd::Zero(open.size());
    }
    if (open.size() == 0) return open;
    const Eigen::VectorXd forces = schur_.solve(open);
    std::vector<Mat34> first;
    for (int body : bodies) {
        first.push_back(field.dq[body]);
        field.coupling[body].setZero();
    }
    std::vector<std::vector<Vec3>> without;
    for (int solid : solids_) {
        without.push_back(world_.solids[solid].dx);
        std::fill(world_.solids[solid].unbalanced.begin(), world_.solids[solid].unbalanced.end(),
                  Vec3::Zero());
    }
    for (const Rows& rows : rows_)
        push(field, rows, -(rows.directions.leftCols(rows.count) * forces.segment(rows.first, rows.count)));
    for (int body : bodies) field.unbalanced[body] = field.coupling[body];
    for (Component* component : inner_) component->respond(field, true);
    for (std::size_t i = 0; i < bodies.size(); ++i) field.dq[bodies[i]] += first[i];
    for (std::size_t k = 0; k < solids_.size(); ++k) {
        ElasticSolid& solid = world_.solids[solids_[k]];
        solid.solve(solid.unbalanced);
        for (std::size_t v = 0; v < solid.dx.size(); ++v) solid.dx[v] += without[k][v];
    }
    return forces;
}

void ElasticComponent::solve(BodyField& field) {
    for (Attachment& a : attachments_) a.force = a.before;
    set_coupling(field, true);
    for (Component* component : inner_) component->solve(field);
    std::vector<Mat34> first;
    for (int body : bodies) first.push_back(field.dq[body]);
    factor(field);
    for (std::size_t i = 0; i < bodies.size(); ++i) field.dq[bodies[i]] = first[i];
    if (factored_)
        for (int solid : solids_) world_.solids[solid].solve(world_.solids[solid].unbalanced);
    const Eigen::VectorXd forces = couple(field, moved_rows(field, true));
    for (std::size_t k = 0; k < attachments_.size(); ++k)
        if (factored_) attachments_[k].force += forces.segment<3>(rows_[k].first);
}

void ElasticComponent::respond(BodyField& field, bool keep) {
    for (Component* component : inner_) component->respond(field, keep);
}

void ElasticComponent::balance(BodyField& field, Balance& result) {
    for (Attachment& a : attachments_) {
        a.gap = world_.solids[a.solid].at(a.point) - transform(field.x[a.body], a.local);
        result.gap = std::max(result.gap, a.gap.norm());
        result.relative_gap = std::max(result.relative_gap, a.gap.norm() / world_.solids[a.solid].size);
        result.scale = std::max(result.scale, a.force.norm());
    }
    set_coupling(field, false);
    for (Component* component : inner_) component->balance(field, result);
    at_work_.clear();
    for (const Attachment& a : attachments_) at_work_[a.solid] = std::max(at_work_[a.solid], a.force.norm());
    for (std::size_t k = 0; k < contact_points_.size(); ++k) {
        const double force =
            contact_slope(contact(k).law, ElasticContacts::separation(contact(k), field, world_.solids),
                          world_.contacts->slide())
                .norm();
        for (int solid : contact(k).solid)
            if (solid >= 0) at_work_[solid] = std::max(at_work_[solid], force);
    }
    for (int solid : solids_) world_.solids[solid].judge(field.gravity, at_work_[solid], result);
    scale_ = result.scale;
}

void ElasticComponent::refine(BodyField& field) {
    for (Component* component : inner_) component->refine(field);
    for (int solid : solids_) world_.solids[solid].solve(world_.solids[solid].unbalanced);
    const Eigen::VectorXd forces = couple(field, moved_rows(field, true));
    for (std::size_t k = 0; k < attachments_.size(); ++k)
        if (factored_) attachments_[k].force += forces.segment<3>(rows_[k].first);
}

void ElasticComponent::move_more(double length, FieldReport& report) {
    for (int number : solids_) {
        ElasticSolid& solid = world_.solids[number];
        for (const Vec3& by : solid.dx) report.finite = report.finite && by.allFinite();
        if (report.finite) solid.move(length);
    }
}

void ElasticComponent::begin_path() {
    path_.clear();
    for (int solid : solids_) path_.push_back(world_.solids[solid].dx);
}

void ElasticComponent::step_path(double length) {
    for (std::size_t k = 0; k < solids_.size(); ++k) {
        std::vector<Vec3>& dx = world_.solids[solids_[k]].dx;
        for (std::size_t v = 0; v < dx.size(); ++v) dx[v] = path_[k][v] + length * (dx[v] - path_[k][v]);
        path_[k] = dx;
    }
}

void ElasticComponent::keep_nearest() {
    for (Component* component : inner_) component->keep_nearest();
    nearest_.resize(solids_.size());
    for (std::size_t k = 0; k < solids_.size(); ++k) nearest_[k] = world_.solids[solids_[k]].x;
    nearest_force_.clear();
    for (const Attachment& a : attachments_) nearest_force_.push_back(a.force);
}

void ElasticComponent::go_to_nearest() {
    for (Component* component : inner_) component->go_to_nearest();
    for (std::size_t k = 0; k < solids_.size(); ++k) world_.solids[solids_[k]].x = nearest_[k];
    for (std::size_t k = 0; k < attachments_.size(); ++k) attachments_[k].force = nearest_force_[k];
}

// What is tolerated is a share of the largest force of all: that over the largest on the contact's solids.
double ElasticComponent::largest_share(const ElasticContact& c) const {
    double share = 1.0;
    for (int solid : c.solid)
        if (const auto found = at_work_.find(solid); found != at_work_.end() && found->second > 0.0)
            share = std::max(share, scale_ / found->second);
    return share;
}

double ElasticComponent::renew_contacts(const BodyField& field) {
    double most = 0.0;
    for (Component* component : inner_) most = std::max(most, component->renew_contacts(field));
    for (std::size_t k = 0; k < contact_points_.size(); ++k) {
        ElasticContact& c = contact(k);
        const Vec3 separation = ElasticContacts::separation(c, field, world_.solids);
        most = std::max(most, largest_share(c) * renew_contact(c.law, separation, world_.contacts->slide()));
    }
    return most;
}

void ElasticComponent::store_branches(DriveBranches& branches) const {
    for (const Component* component : inner_) component->store_branches(branches);
}

bool ElasticComponent::reached_limit() const {
    return std::any_of(inner_.begin(), inner_.end(), [](const Component* c) { return c->reached_limit(); });
}

void ElasticComponent::restart() {
    for (int solid : solids_) {
        world_.euler_left[solid] = 3;
        world_.restarted[solid] = 1;
    }
}

bool ElasticComponent::has_contacts() const {
    return !contact_points_.empty() ||
           std::any_of(inner_.begin(), inner_.end(), [](const Component* c) { return c->has_contacts(); });
}

std::string ElasticComponent::solver_name() const {
    std::string name = "elastic";
    for (const Component* component : inner_) name += fmt::format(" + {}", component->solver_name());
    return name;
}

void ElasticComponent::write_forces(const BodyField& field, const Model& model, Outputs& outputs) const {
    for (const Component* component : inner_) component->write_forces(field, model, outputs);
}

std::size_t ElasticComponent::term_count() const {
    std::size_t count = contact_points_.size();
    for (const BoundedTerms* terms : inner_terms_) count += terms->term_count();
    return count;
}

// The terms of the inner components come first. Null for those of the solids' contacts.
std::pair<BoundedTerms*, std::size_t> ElasticComponent::inner_term(std::size_t k) const {
    for (BoundedTerms* terms : inner_terms_) {
        if (k < terms->term_count()) return {terms, k};
        k -= terms->term_count();
    }
    return {nullptr, k};
}

void ElasticComponent::read_terms(const BodyField& field, BoundedTerm* terms) {
    for (BoundedTerms* inner : inner_terms_) {
        inner->read_terms(field, terms);
        terms += inner->term_count();
    }
    for (std::size_t k = 0; k < contact_points_.size(); ++k) {
        Rows rows = rows_of(k);
        terms[k].at = separation_[k] + moved(field, rows);
        terms[k].force = ContactSet::model_slope(contact(k).law, terms[k].at);
    }
}

Vec3 ElasticComponent::term_slope(std::size_t k, const Vec3& at) const {
    const auto [inner, own] = inner_term(k);
    return inner ? inner->term_slope(own, at) : contact_slope(contact(own).law, at, world_.contacts->slide());
}

void ElasticComponent::choose_branches(const BoundedTerm* terms) {
    for (BoundedTerms* inner : inner_terms_) {
        inner->choose_branches(terms);
        terms += inner->term_count();
    }
    for (std::size_t k = 0; k < contact_points_.size(); ++k)
        choose_contact_branch(contact(k).law, terms[k].at, world_.contacts->slide());
}

void ElasticComponent::list_friction(const BoundedTerm* terms, std::vector<FrictionLimit>& list) {
    for (BoundedTerms* inner : inner_terms_) {
        inner->list_friction(terms, list);
        terms += inner->term_count();
    }
    for (std::size_t k = 0; k < contact_points_.size(); ++k) {
        list.push_back(friction_allowed(contact(k).law, terms[k].force));
        list.back().weight = largest_share(contact(k));
    }
}

double ElasticComponent::term_tolerance(std::size_t k) const {
    const auto [inner, own] = inner_term(k);
    return inner ? inner->term_tolerance(own) : contact_tolerance;
}

double ElasticComponent::term_noise(std::size_t k) const {
    const auto [inner, own] = inner_term(k);
    return inner ? inner->term_noise(own) : 0.0;
}

}  // namespace tenon::articulated

#include "methods/volume/contact_problem.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "math/parallel.hpp"
#include "solve/cone_newton.hpp"

namespace tenon::volume {
namespace {

constexpr int kNewtonContacts = 400, kNewtonIterations = 20, kPolishSweeps = 20000;

using Mat66 = Eigen::Matrix<double, 6, 6>;

void sort_and_merge(std::vector<std::pair<int, double>>& weight) {
    std::sort(weight.begin(), weight.end());
    std::size_t kept = 0;
    for (const auto& [vertex, w] : weight) {
        if (kept > 0 && weight[kept - 1].first == vertex)
            weight[kept - 1].second += w;
        else
            weight[kept++] = {vertex, w};
    }
    weight.resize(kept);
}

}  // namespace

ContactProblem::Participant& ContactProblem::participant_of(int body) {
    int& index = participant_of_body_[body];
    if (index >= 0) return participants_[index];
    index = static_cast<int>(participants_.size());
    Participant& made = participants_.emplace_back();
    made.body = body;
    const int bodies = model_.bodies.size();
    if (body < bodies) {
        made.center = motion_.rigid[body].position;
        for (int k = 0; k < 6; ++k)
            made.inverse_mass.col(k) = motion_.rigid_response(model_, state_, body, Vec6::Unit(k));
    } else {
        made.as_rigid = whole_;
        if (whole_ && model_.elastic[body - bodies].pins.empty()) prepare_whole_body(made);
    }
    return made;
}

// An elastic body that moves without changing shape: its mass, centre and inertia as it is now.
void ContactProblem::prepare_whole_body(Participant& participant) const {
    const int elastic = participant.body - model_.bodies.size();
    const std::vector<double>& masses = model_.elastic[elastic].vertex_mass;
    const std::vector<Vec3>& x = motion_.vertices[elastic];
    double mass = 0;
    for (std::size_t v = 0; v < x.size(); ++v) {
        mass += masses[v];
        participant.center += masses[v] * x[v];
    }
    participant.center /= mass;
    Mat3 inertia = Mat3::Zero();
    for (std::size_t v = 0; v < x.size(); ++v) {
        const Vec3 arm = x[v] - participant.center;
        inertia += masses[v] * (arm.squaredNorm() * Mat3::Identity() - arm * arm.transpose());
    }
    participant.inverse_mass.topLeftCorner<3, 3>() = Mat3::Identity() / mass;
    participant.inverse_mass.bottomRightCorner<3, 3>() = inertia.ldlt().solve(Mat3::Identity());
}

void ContactProblem::begin(const std::vector<VolumeContact>& contacts, int block, bool whole) {
    block_ = block;
    whole_ = whole;
    participants_.clear();
    participant_of_body_.assign(model_.bodies.size() + model_.elastic.size(), -1);
    direction_.resize(contacts.size());
    sides_of_.assign(contacts.size(), {Reference{}, Reference{}});
    lcp_ = {};
    lcp_.block = block;
    lcp_.free.assign(static_cast<std::size_t>(block) * contacts.size(), 0.0);
    for (const VolumeContact& contact : contacts) lcp_.friction.push_back(contact.friction);
}

void ContactProblem::set_velocities(const std::vector<VolumeContact>& contacts, bool friction_at_center) {
    begin(contacts, 3, false);
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        add_contact(contacts[i], static_cast<int>(i), friction_at_center);
        const Vec3 velocity = relative_velocity(static_cast<int>(i));
        for (int k = 0; k < 3; ++k) lcp_.free[3 * i + k] = velocity[k];
    }
}

void ContactProblem::set_positions(const std::vector<VolumeContact>& contacts, double allowed_pixels,
                                   bool whole, double most_pixels) {
    begin(contacts, 1, whole);
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        add_contact(contacts[i], static_cast<int>(i), true);
        const double pixel = contacts[i].pixel;
        lcp_.free[i] = std::max(allowed_pixels * pixel - contacts[i].depth(), -most_pixels * pixel);
    }
}

void ContactProblem::add_contact(const VolumeContact& contact, int index, bool friction_at_center) {
    direction_[index] = {Vec3(-contact.normal), contact.tangent[0], contact.tangent[1]};
    add_side(contact, index, 0, friction_at_center);
    if (contact.a != contact.b) add_side(contact, index, 1, friction_at_center);
}

// Velocities along the direction are weighed by the areas of Eq. 20; with the normal this is minus the volume's
// gradient. Both bodies of a normal row push at one point, so that their torques balance.
void ContactProblem::add_side(const VolumeContact& contact, int index, int side, bool friction_at_center) {
    const int body = side == 0 ? contact.a : contact.b;
    Participant& participant = participant_of(body);
    Side made;
    made.contact = index;
    if (body >= model_.bodies.size()) {
        gather_weights(contact, side, made);
        if (contact.a == contact.b) gather_weights(contact, 1, made);
        sort_and_merge(made.weight);
    }
    for (int row = 0; participant.as_rigid && row < block_; ++row) {
        const Vec3& direction = direction_[index][row];
        if (body >= model_.bodies.size()) {
            for (const auto& [vertex, weight] : made.weight) {
                const Vec3 arm = motion_.vertices[body - model_.bodies.size()][vertex] - participant.center;
                made.rigid.col(row).head<3>() += weight * direction;
                made.rigid.col(row).tail<3>() += weight * arm.cross(direction);
            }
            continue;
        }
        const SideGradient& gradient = contact.cell.side[side];
        const double area = gradient.area.dot(contact.normal) / contact.area;
        const Vec3 moment = row == 0 || friction_at_center
                                ? Vec3(area * contact.center)
                                : Vec3(gradient.moment * contact.normal / contact.area);
        made.rigid.col(row) << area * direction, (moment - area * participant.center).cross(direction);
    }
    sides_of_[index][side] = {participant_of_body_[body], static_cast<int>(participant.sides.size())};
    participant.sides.push_back(std::move(made));
}

// Weights of the vertices that carry a side of an elastic body.
void ContactProblem::gather_weights(const VolumeContact& contact, int side, Side& out) const {
    const int elastic = (side == 0 ? contact.a : contact.b) - model_.bodies.size();
    const ElasticBody& body = model_.elastic[elastic];
    const SideGradient& gradient = contact.cell.side[side];
    const auto add = [&](int vertex, double weight) {
        out.weight.emplace_back(motion_.representative(elastic, vertex), weight / contact.area);
    };
    if (gradient.vertex.empty()) {  // a body that is swallowed whole is pushed as a whole
        double mass = 0;
        for (double m : body.vertex_mass) mass += m;
        const double area = gradient.area.dot(contact.normal);
        for (std::size_t v = 0; v < body.vertex_mass.size(); ++v)
            add(static_cast<int>(v), area * body.vertex_mass[v] / mass);
        return;
    }
    for (const auto& [vertex, g] : gradient.vertex) {
        const double weight = g.dot(contact.normal);
        if (body.embedded.triangles.empty()) {
            add(vertex, weight);
        } else {
            const Tet& tet = body.tets[body.embedded_tet[vertex]];
            for (int k = 0; k < 4; ++k) add(tet[k], body.embedded_weight[vertex][k] * weight);
        }
    }
}

Vec3 ContactProblem::relative_velocity(int contact) const {
    Vec3 sum = Vec3::Zero();
    for (const Reference& at : sides_of_[contact]) {
        if (at.participant < 0) continue;
        const Participant& participant = participants_[at.participant];
        const Side& side = participant.sides[at.side];
        if (participant.as_rigid) {
            const Eigen::Map<const Vec6> v(motion_.velocity.data() + motion_.rigid_offset(participant.body));
            sum += side.rigid.transpose() * v;
            continue;
        }
        const double* v =
            motion_.velocity.data() + motion_.elastic_offset(participant.body - model_.bodies.size());
        Vec3 mean = Vec3::Zero();
        for (const auto& [vertex, weight] : side.weight)
            mean += weight * Eigen::Map<const Vec3>(v + 3 * vertex);
        for (int row = 0; row < 3; ++row) sum[row] += direction_[contact][row].dot(mean);
    }
    return sum;
}

// A^-1 J^T of every side, at the vertices that any side touches. Either column by column, or through the inverse of A
// between those vertices, whichever is less work.
void ContactProblem::respond_elastic(Participant& participant) const {
    const int elastic = participant.body - model_.bodies.size();
    std::vector<int>& vertices = participant.vertices;
    for (const Side& side : participant.sides)
        for (const auto& [vertex, weight] : side.weight) vertices.push_back(vertex);
    std::sort(vertices.begin(), vertices.end());
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
    std::map<int, int> place;
    for (std::size_t k = 0; k < vertices.size(); ++k) place[vertices[k]] = static_cast<int>(k);
    for (Side& side : participant.sides)
        for (auto& entry : side.weight) side.place.push_back(place[entry.first]);

    const std::size_t count = vertices.size(), rows = participant.sides.size() * block_;
    participant.elastic_response.resize(participant.sides.size());
    std::vector<double> inverse;
    const bool by_inverse = 3 * count < 2 * rows;
    if (by_inverse) motion_.elastic_inverse(elastic, vertices, inverse);
    const Eigen::Map<const Eigen::MatrixXd> G(inverse.data(), by_inverse ? 3 * count : 0,
                                              by_inverse ? 3 * count : 0);
    parallel_for(participant.sides.size(), 1, [&](std::size_t s) {
        const Side& side = participant.sides[s];
        Eigen::Matrix3Xd& response = participant.elastic_response[s];
        response.setZero(3, static_cast<Eigen::Index>(count * block_));
        std::vector<double> right, change;
        for (int row = 0; row < block_; ++row) {
            const Vec3& direction = direction_[side.contact][row];
            if (by_inverse) {
                Eigen::Map<Eigen::VectorXd> out(response.data() + 3 * count * row,
                                                static_cast<Eigen::Index>(3 * count));
                for (std::size_t k = 0; k < side.weight.size(); ++k)
                    out.noalias() +=
                        G.middleCols<3>(3 * side.place[k]) * Vec3(side.weight[k].second * direction);
                continue;
            }
            right.assign(3 * motion_.vertices[elastic].size(), 0.0);
            change.resize(right.size());
            for (const auto& [vertex, weight] : side.weight)
                Eigen::Map<Vec3>(right.data() + 3 * vertex) = weight * direction;
            motion_.elastic_response(elastic, right, change);
            for (std::size_t k = 0; k < count; ++k)
                response.col(static_cast<Eigen::Index>(count * row + k)) =
                    Eigen::Map<const Vec3>(change.data() + 3 * vertices[k]);
        }
    });
}

// D_i^T (sum of weights times the other side's response): one block of W from one body that both contacts share.
void ContactProblem::add_block(const Participant& participant, const Side& from, std::size_t to,
                               double* block) const {
    const int b = block_;
    if (participant.as_rigid) {
        const Mat3 product = from.rigid.transpose() * participant.rigid_response[to];
        for (int k = 0; k < b; ++k)
            for (int l = 0; l < b; ++l) block[b * k + l] += product(k, l);
        return;
    }
    const std::size_t count = participant.vertices.size();
    const Eigen::Matrix3Xd& response = participant.elastic_response[to];
    for (int l = 0; l < b; ++l) {
        Vec3 sum = Vec3::Zero();
        for (std::size_t k = 0; k < from.weight.size(); ++k)
            sum += from.weight[k].second * response.col(static_cast<Eigen::Index>(count * l + from.place[k]));
        for (int k = 0; k < b; ++k) block[b * k + l] += direction_[from.contact][k].dot(sum);
    }
}

void ContactProblem::couple() {
    parallel_for(participants_.size(), 1, [&](std::size_t p) {
        Participant& participant = participants_[p];
        if (!participant.as_rigid) {
            respond_elastic(participant);
            return;
        }
        for (const Side& side : participant.sides)
            participant.rigid_response.push_back(participant.inverse_mass * side.rigid);
    });
    const int contacts = static_cast<int>(sides_of_.size());
    const auto moves = [&](const Participant& p) { return !p.as_rigid || !p.inverse_mass.isZero(0.0); };
    for (int i = 0; i < contacts; ++i) {
        const std::size_t first = lcp_.column.size();
        lcp_.column.push_back(i);
        for (const Reference& at : sides_of_[i])
            if (at.participant >= 0 && moves(participants_[at.participant]))
                for (const Side& side : participants_[at.participant].sides)
                    lcp_.column.push_back(side.contact);
        std::sort(lcp_.column.begin() + first, lcp_.column.end());
        lcp_.column.erase(std::unique(lcp_.column.begin() + first, lcp_.column.end()), lcp_.column.end());
        lcp_.start.push_back(static_cast<int>(lcp_.column.size()));
    }
    const std::size_t size = static_cast<std::size_t>(block_) * block_;
    lcp_.value.assign(size * lcp_.column.size(), 0.0);
    parallel_for(contacts, 4, [&](std::size_t i) {
        for (const Reference& at : sides_of_[i]) {
            if (at.participant < 0 || !moves(participants_[at.participant])) continue;
            const Participant& participant = participants_[at.participant];
            int entry = lcp_.start[i];  // sides are in the order of their contacts
            for (std::size_t t = 0; t < participant.sides.size(); ++t) {
                while (lcp_.column[entry] < participant.sides[t].contact) ++entry;
                add_block(participant, participant.sides[at.side], t, lcp_.value.data() + size * entry);
            }
        }
    });
}

void ContactProblem::guess(const std::vector<VolumeContact>& contacts, std::vector<double>& impulse) const {
    std::vector<int> patch;
    std::vector<double> area;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        if (i == 0 || contacts[i].a != contacts[i - 1].a || contacts[i].b != contacts[i - 1].b)
            area.push_back(0.0);
        area.back() += contacts[i].area;
        patch.push_back(static_cast<int>(area.size()) - 1);
    }
    // one unknown for each patch: its force, shared by area
    const auto share = [&](std::size_t i) { return contacts[i].area / area[patch[i]]; };
    const std::size_t size = static_cast<std::size_t>(block_) * block_;
    std::vector<std::map<int, double>> rows(area.size());
    solve::BlockLcp coarse;
    coarse.free.assign(area.size(), 0.0);
    coarse.friction.assign(area.size(), 0.0);
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        coarse.free[patch[i]] += share(i) * lcp_.free[block_ * i];
        for (int e = lcp_.start[i]; e < lcp_.start[i + 1]; ++e)
            rows[patch[i]][patch[lcp_.column[e]]] += share(i) * share(lcp_.column[e]) * lcp_.value[size * e];
    }
    for (const auto& row : rows) {
        for (const auto& [column, value] : row) {
            coarse.column.push_back(column);
            coarse.value.push_back(value);
        }
        coarse.start.push_back(static_cast<int>(coarse.column.size()));
    }
    std::vector<double> force;
    solve::solve_block_pgs(coarse, {100, 1e-9}, force);
    impulse.assign(block_ * contacts.size(), 0.0);
    for (std::size_t i = 0; i < contacts.size(); ++i) impulse[block_ * i] = share(i) * force[patch[i]];
}

solve::PgsResult ContactProblem::solve(const solve::BlockPgsSettings& settings, std::vector<double>& impulse,
                                       std::vector<double>& change) {
    solve::PgsResult result = solve::solve_block_pgs(lcp_, settings, impulse);
    if (!result.converged && block_ == 3 && lcp_.blocks() <= kNewtonContacts)
        polish(settings, impulse, result);
    respond(impulse, change);
    return result;
}

// Newton's method from where the sweeps led.
void ContactProblem::polish(const solve::BlockPgsSettings& settings, std::vector<double>& impulse,
                            solve::PgsResult& result) const {
    solve::ConeProblem problem;
    const int rows = 3 * lcp_.blocks();
    problem.matrix.setZero(rows, rows);
    problem.free = Eigen::Map<const VecX>(lcp_.free.data(), rows);
    problem.friction = lcp_.friction;
    problem.pyramid = true;
    for (int i = 0; i < lcp_.blocks(); ++i)
        for (int e = lcp_.start[i]; e < lcp_.start[i + 1]; ++e)
            problem.matrix.block<3, 3>(3 * i, 3 * lcp_.column[e]) =
                Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(
                    lcp_.value.data() + 9 * static_cast<std::size_t>(e));
    VecX x = Eigen::Map<const VecX>(impulse.data(), rows);
    if (solve::solve_cone_newton(problem, kNewtonIterations, 0.1 * settings.tolerance, x).residual >=
        result.residual)
        return;
    std::vector<double> polished(x.data(), x.data() + rows);
    solve::PgsResult again = solve::solve_block_pgs(lcp_, {kPolishSweeps, settings.tolerance}, polished);
    again.sweeps += result.sweeps;
    if (!(again.residual < result.residual)) return;
    result = again;
    impulse.swap(polished);
}

void ContactProblem::respond(const std::vector<double>& impulse, std::vector<double>& change) const {
    change.assign(motion_.unknowns(), 0.0);
    parallel_for(participants_.size(), 1, [&](std::size_t p) {
        const Participant& participant = participants_[p];
        const int elastic = participant.body - model_.bodies.size();
        if (participant.as_rigid) {
            Vec6 sum = Vec6::Zero();
            for (const Side& side : participant.sides)
                for (int k = 0; k < block_; ++k)
                    sum += impulse[block_ * side.contact + k] * side.rigid.col(k);
            const Vec6 d = participant.inverse_mass * sum;
            if (elastic < 0) {
                Eigen::Map<Vec6>(change.data() + motion_.rigid_offset(participant.body)) = d;
                return;
            }
            const Mat3 turn = exponential_map(d.tail<3>()).toRotationMatrix() - Mat3::Identity();
            double* out = change.data() + motion_.elastic_offset(elastic);
            for (std::size_t v = 0; v < motion_.vertices[elastic].size(); ++v)
                Eigen::Map<Vec3>(out + 3 * v) =
                    d.head<3>() + turn * (motion_.vertices[elastic][v] - participant.center);
            return;
        }
        std::vector<double> right(3 * motion_.vertices[elastic].size(), 0.0), out(right.size());
        for (const Side& side : participant.sides) {
            Vec3 sum = Vec3::Zero();
            for (int k = 0; k < block_; ++k)
                sum += impulse[block_ * side.contact + k] * direction_[side.contact][k];
            for (const auto& [vertex, weight] : side.weight)
                Eigen::Map<Vec3>(right.data() + 3 * vertex) += weight * sum;
        }
        motion_.elastic_response(elastic, right, out);
        std::copy(out.begin(), out.end(), change.begin() + motion_.elastic_offset(elastic));
    });
}

}  // namespace tenon::volume

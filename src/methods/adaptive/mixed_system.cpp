#include "methods/adaptive/mixed_system.hpp"

#include <Eigen/LU>
#include <algorithm>

#include "math/parallel.hpp"
#include "tenon/error.hpp"

namespace tenon::adaptive {
namespace {

constexpr std::array<Edge, 6> kPairs{{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
constexpr double kHeld = 1e10;  // axes that a body holds fixed act this much heavier

}  // namespace

MixedSystem::MixedSystem(int group, std::vector<int> solids, std::vector<int> bodies)
    : group_(group), solids_(std::move(solids)), bodies_(std::move(bodies)) {}

int MixedSystem::place_of(int solid) const {
    return static_cast<int>(std::find(solids_.begin(), solids_.end(), solid) - solids_.begin());
}

// Elements that asked to be rigid and were woken at once leave everything as it was.
bool MixedSystem::is_laid_out(const std::vector<SolidState>& states) const {
    if (parts_.size() != solids_.size() || nodes_ == 0) return false;
    for (std::size_t k = 0; k < solids_.size(); ++k)
        if (parts_[k].owner != states[solids_[k]].owner) return false;
    return true;
}

void MixedSystem::lay_out(const std::vector<Solid>& solids, const std::vector<SolidState>& states) {
    if (is_laid_out(states)) return;
    parts_.assign(solids_.size(), {});
    nodes_ = 0;
    for (std::size_t k = 0; k < solids_.size(); ++k) {
        const Solid& solid = solids[solids_[k]];
        const SolidState& state = states[solids_[k]];
        parts_[k].owner = state.owner;
        parts_[k].node.assign(solid.vertices(), -1);
        for (int v : solid.order) {
            if (state.owner[v] >= 0) continue;
            parts_[k].node[v] = nodes_++;
            parts_[k].free.push_back(v);
        }
    }
    body_node_.clear();
    for (std::size_t b = 0; b < bodies_.size(); ++b, nodes_ += 2) body_node_.push_back(nodes_);
    for (std::size_t k = 0; k < solids_.size(); ++k) {
        const Solid& solid = solids[solids_[k]];
        const SolidState& state = states[solids_[k]];
        Part& part = parts_[k];
        part.owner_node.assign(solid.drives.size(), -1);
        for (int holder : solid.holders)
            part.owner_node.push_back(
                body_node_[std::find(bodies_.begin(), bodies_.end(), holder) - bodies_.begin()]);
        for (std::size_t c = 0; c < state.components.size(); ++c, nodes_ += 2)
            part.owner_node.push_back(nodes_);
    }
    lay_out_pattern(solids, states);
    velocity_.assign(3 * nodes_, 0.0);
    right_.assign(3 * nodes_, 0.0);
    change_.assign(3 * nodes_, 0.0);
}

void MixedSystem::lay_out_pattern(const std::vector<Solid>& solids, const std::vector<SolidState>& states) {
    solve::BlockPattern pattern;
    pattern.nodes = nodes_;
    std::vector<std::vector<int>> frame_row(nodes_);  // only of frames
    for (int b : body_node_) frame_row[b + 1].push_back(b);
    for (std::size_t k = 0; k < solids_.size(); ++k) {
        const Solid& solid = solids[solids_[k]];
        const SolidState& state = states[solids_[k]];
        const ElasticElements& e = solid.elements;
        Part& part = parts_[k];
        for (std::size_t c = 0; c < state.components.size(); ++c) {
            const int node = part.owner_node[state.first_component + c];
            frame_row[node + 1].push_back(node);
        }
        const auto frame_of = [&](int v) {
            return state.owner[v] < 0 ? -1 : part.owner_node[state.owner[v]];
        };
        std::vector<std::vector<int>> by_colour(solid.colours);
        std::vector<char> boundary(solid.vertices(), 0);
        for (int i : state.elastic_list) {
            bool touches_frame = false;
            for (int a = 0; a < e.corners; ++a) touches_frame |= frame_of(e.tets[i][a]) >= 0;
            if (!touches_frame) {
                by_colour[solid.colour[i]].push_back(i);
                continue;
            }
            part.mixed.push_back(i);
            for (int a = 0; a < e.corners; ++a) {
                const int frame = frame_of(e.tets[i][a]);
                if (frame < 0) continue;
                boundary[e.tets[i][a]] = 1;
                for (int b = 0; b < e.corners; ++b) {
                    const int other = frame_of(e.tets[i][b]), free = part.node[e.tets[i][b]];
                    for (int row : {frame, frame + 1}) {
                        if (free >= 0) frame_row[row].push_back(free);
                        if (other >= 0 && other < frame) {
                            frame_row[row].push_back(other);
                            frame_row[row].push_back(other + 1);
                        }
                    }
                }
            }
        }
        part.colour_start.assign(1, 0);
        for (const auto& list : by_colour) {
            part.pure.insert(part.pure.end(), list.begin(), list.end());
            part.colour_start.push_back(static_cast<int>(part.pure.size()));
        }
        for (int v = 0; v < solid.vertices(); ++v)
            if (boundary[v]) part.boundary.push_back(v);
        part.load.assign(solid.vertices(), Vec3::Zero());
        for (int v : part.free) {
            for (int a = solid.adjacent_start[v]; a < solid.adjacent_start[v + 1]; ++a) {
                const int n = part.node[solid.adjacent[a]];
                if (n >= 0 && n < part.node[v]) pattern.columns.push_back(n);
            }
            pattern.start.push_back(static_cast<int>(pattern.columns.size()));
        }
    }
    for (int i = static_cast<int>(pattern.start.size()) - 1; i < nodes_; ++i) {
        auto& row = frame_row[i];
        std::sort(row.begin(), row.end());
        row.erase(std::unique(row.begin(), row.end()), row.end());
        pattern.columns.insert(pattern.columns.end(), row.begin(), row.end());
        pattern.start.push_back(static_cast<int>(pattern.columns.size()));
    }
    matrix_.resize(pattern, 3);
    fresh_ = true;
    ++symbolic_count_;
    for (std::size_t k = 0; k < solids_.size(); ++k) {
        const ElasticElements& e = solids[solids_[k]].elements;
        Part& part = parts_[k];
        const std::vector<int>& owner = states[solids_[k]].owner;
        part.mixed_places.resize(part.mixed.size());
        parallel_for(part.mixed.size(), 128, [&](std::size_t p) {
            place_mixed(part, owner, e.tets[part.mixed[p]], e.corners, part.mixed_places[p]);
        });
        part.places.resize(part.pure.size());
        parallel_for(part.pure.size(), 512, [&](std::size_t p) {
            auto& places = part.places[p];
            const Tet& t = e.tets[part.pure[p]];
            for (int c = 0; c < 4; ++c) places.node[c] = c < e.corners ? part.node[t[c]] : -1;
            for (int q = 0; q < 6; ++q) {
                const int a = places.node[kPairs[q][0]], b = places.node[kPairs[q][1]];
                places.entry[q] = a >= 0 && b >= 0 ? matrix_.find(std::max(a, b), std::min(a, b)) : -1;
                places.transposed[q] = a < b;
            }
        });
    }
}

void MixedSystem::place_mixed(const Part& part, const std::vector<int>& owner, const Tet& tet, int corners,
                              MixedPlaces& at) const {
    at.slot.fill(-1);
    at.rigid.fill(false);
    for (int c = 0; c < corners; ++c) {
        const int v = tet[c];
        at.rigid[c] = owner[v] >= 0 && part.owner_node[owner[v]] >= 0;
        const int node = owner[v] < 0 ? part.node[v] : part.owner_node[owner[v]];
        if (node < 0) continue;
        int slot = 0;
        while (slot < at.nodes && at.node[slot] != node) ++slot;
        at.slot[c] = slot;
        if (slot < at.nodes) continue;
        at.node[at.nodes++] = node;
        if (at.rigid[c]) at.node[at.nodes++] = node + 1;
    }
    for (int i = 0, entry = 0; i < at.nodes; ++i)
        for (int j = 0; j < i; ++j, ++entry)
            at.entry[entry] =
                matrix_.find(std::max(at.node[i], at.node[j]), std::min(at.node[i], at.node[j]));
}

void MixedSystem::assemble(const StepInput& in) {
    std::fill(matrix_.diagonal.begin(), matrix_.diagonal.end(), 0.0);
    std::fill(matrix_.lower.begin(), matrix_.lower.end(), 0.0);
    std::fill(right_.begin(), right_.end(), 0.0);
    for (std::size_t k = 0; k < bodies_.size(); ++k) add_body(in, static_cast<int>(k));
    for (int k = 0; k < static_cast<int>(solids_.size()); ++k) {
        add_vertices(in, k);
        add_pure_elements(in, k);
        add_mixed_elements(in, k);
        const int components = static_cast<int>(in.states[solids_[k]].components.size());
        for (int c = 0; c < components; ++c) add_component(in, k, c);
        reduce_loads(in, k);
    }
    for (std::size_t k = 0; k < bodies_.size(); ++k)
        for (int axis = 0; axis < 6; ++axis) {
            if (!in.model.bodies.fixed[bodies_[k]][axis]) continue;
            const int node = body_node_[k] + axis / 3, at = axis % 3;
            diagonal(node)(at, at) += kHeld * (1 + diagonal(node).trace());
            right(node)[at] = 0;
            start(node)[at] = 0;
        }
}

void MixedSystem::add_vertices(const StepInput& in, int k) {
    const Solid& solid = in.solids[solids_[k]];
    const SolidState& state = in.states[solids_[k]];
    Part& part = parts_[k];
    if (!state.wholly_rigid()) std::fill(part.load.begin(), part.load.end(), Vec3(Vec3::Zero()));
    for (int v : part.free) {
        const int node = part.node[v];
        start(node) = state.v[v];
        part.load[v] = in.h * (solid.mass[v] * in.state.gravity - solid.damping[v] * state.v[v]);
        diagonal(node).diagonal().array() += solid.mass[v] + in.h * solid.damping[v];
    }
    const std::vector<Vec3>& given = in.given[solids_[k]];
    for (std::size_t i = 0; i < given.size(); ++i) {
        const int v = static_cast<int>(i), owner = state.owner[v];
        if (given[i].isZero(0.0)) continue;
        if (owner < 0) {
            part.load[v] += in.h * given[i];
        } else if (const int node = part.owner_node[owner]; node >= 0) {
            right(node) += in.h * given[i];
            right(node + 1) += in.h * (state.x[v] - frame_center(in, solids_[k], owner)).cross(given[i]);
        }
    }
}

void MixedSystem::add_pure_elements(const StepInput& in, int k) {
    const ElasticElements& e = in.solids[solids_[k]].elements;
    Part& part = parts_[k];
    constexpr int lanes = ElementBatch::lanes;
    const auto add = [&](int begin, int end) {
        ElementBatch batch;
        respond_to(in.solids[solids_[k]], in.states[solids_[k]], in.driven[solids_[k]],
                   part.pure.data() + begin, end - begin, in.h, true, batch, about(k));
        for (int l = 0; l < lanes && begin + l < end; ++l) {
            const Tet& tet = e.tets[part.pure[begin + l]];
            for (int c = 0; c < e.corners; ++c)
                for (int r = 0; r < 3; ++r) part.load[tet[c]][r] += batch.load[3 * c + r][l];
            add_blocks(batch, l, part.places[begin + l], matrix_);
        }
    };
    for (std::size_t c = 0; c + 1 < part.colour_start.size(); ++c) {
        const int begin = part.colour_start[c], end = part.colour_start[c + 1];
        parallel_for((end - begin + lanes - 1) / lanes, 32,
                     [&](std::size_t p) { add(begin + lanes * static_cast<int>(p), end); });
    }
}

Vec3 MixedSystem::frame_center(const StepInput& in, int solid, int owner) const {
    const SolidState& state = in.states[solid];
    if (owner >= state.first_component) return state.components[owner - state.first_component].state.position;
    return in.bodies[in.solids[solid].holders[owner - in.solids[solid].drives.size()]].position;
}

// The nodes that move a vertex, and how: I for a free one; (I, -r x) of velocity and spin for a rigid one.
int MixedSystem::corner_maps(const StepInput& in, int k, int vertex, std::array<int, 2>& node,
                             std::array<Mat3, 2>& block) const {
    const SolidState& state = in.states[solids_[k]];
    const Part& part = parts_[k];
    if (part.node[vertex] >= 0) {
        node[0] = part.node[vertex];
        block[0].setIdentity();
        return 1;
    }
    const int owner = state.owner[vertex], frame = part.owner_node[owner];
    if (frame < 0) return 0;
    node = {frame, frame + 1};
    block[0].setIdentity();
    block[1] = -skew(state.x[vertex] - frame_center(in, solids_[k], owner));
    return 2;
}

// The blocks of one mixed element over its nodes: rows and columns of rigid corners are gathered by (I, -r x).
void MixedSystem::add_mixed_element(const MixedPlaces& at, const std::array<Vec3, 4>& arm, const Mat12& s) {
    std::array<std::array<Mat3, 4>, 8> rows;
    for (int i = 0; i < at.nodes; ++i)
        for (int b = 0; b < 4; ++b) rows[i][b].setZero();
    for (int a = 0; a < 4; ++a) {
        if (at.slot[a] < 0) continue;
        const Mat3 turn = skew(arm[a]);
        for (int b = 0; b < 4; ++b) {
            if (at.slot[b] < 0) continue;
            const auto block = s.block<3, 3>(3 * a, 3 * b);
            rows[at.slot[a]][b] += block;
            if (at.rigid[a]) rows[at.slot[a] + 1][b].noalias() += turn * block;
        }
    }
    std::array<Mat3, 8> sum;
    for (int i = 0, entry = 0; i < at.nodes; ++i) {
        for (int j = 0; j <= i; ++j) sum[j].setZero();
        for (int b = 0; b < 4; ++b) {
            const int j = at.slot[b];
            if (j < 0 || j > i) continue;
            sum[j] += rows[i][b];
            if (at.rigid[b] && j < i) sum[j + 1].noalias() -= rows[i][b] * skew(arm[b]);
        }
        for (int j = 0; j < i; ++j, ++entry) {
            Eigen::Map<Mat3> target(matrix_.lower_block(at.entry[entry]));
            if (at.node[i] > at.node[j])
                target += sum[j];
            else
                target += sum[j].transpose();
        }
        diagonal(at.node[i]) += sum[i];
    }
}

void MixedSystem::add_mixed_elements(const StepInput& in, int k) {
    const SolidState& state = in.states[solids_[k]];
    const ElasticElements& e = in.solids[solids_[k]].elements;
    Part& part = parts_[k];
    constexpr int chunk = 512, lanes = ElementBatch::lanes;  // responses side by side, then added in order
    const int size = static_cast<int>(part.mixed.size());
    responses_.resize(std::min(chunk, size));
    for (int first = 0; first < size; first += chunk) {
        const int count = std::min(chunk, size - first);
        parallel_for((count + lanes - 1) / lanes, 8, [&](std::size_t p) {
            const int from = lanes * static_cast<int>(p), left = std::min(lanes, count - from);
            ElementBatch batch;
            respond_to(in.solids[solids_[k]], state, in.driven[solids_[k]], part.mixed.data() + first + from,
                       left, in.h, true, batch, about(k));
            for (int l = 0; l < left; ++l) read_lane(batch, l, e.corners, responses_[from + l]);
        });
        for (int p = 0; p < count; ++p) {
            const Tet& tet = e.tets[part.mixed[first + p]];
            const MixedPlaces& at = part.mixed_places[first + p];
            std::array<Vec3, 4> arm;
            for (int c = 0; c < e.corners; ++c) {
                if (at.slot[c] < 0) continue;
                part.load[tet[c]] += responses_[p].force[c];
                if (at.rigid[c]) arm[c] = state.x[tet[c]] - frame_center(in, solids_[k], state.owner[tet[c]]);
            }
            add_mixed_element(at, arm, responses_[p].stiffness);
        }
    }
}

void MixedSystem::add_component(const StepInput& in, int k, int component) {
    const SolidState& state = in.states[solids_[k]];
    const Component& c = state.components[component];
    const int node = parts_[k].owner_node[state.first_component + component];
    const Mat3 R = c.state.rotation.toRotationMatrix();
    const Mat3 vv = in.h * c.damping.topLeftCorner<3, 3>();
    const Mat3 wv = in.h * R * c.damping.bottomLeftCorner<3, 3>() * R.transpose();
    const Mat3 ww = in.h * R * c.damping.bottomRightCorner<3, 3>() * R.transpose();
    start(node) = c.state.velocity;
    start(node + 1) = c.state.spin;
    diagonal(node) += c.mass * Mat3::Identity() + vv;
    diagonal(node + 1) += R * c.moments.asDiagonal() * R.transpose() + ww;
    block(node + 1, node) += wv;
    right(node) += in.h * c.mass * in.state.gravity - vv * c.state.velocity - wv.transpose() * c.state.spin;
    right(node + 1) -= wv * c.state.velocity + ww * c.state.spin;
    if (component > 0) return;  // only what is one component as a whole has contacts that are held
    right(node) += in.pushes[solids_[k]].head<3>();
    right(node + 1) += in.pushes[solids_[k]].tail<3>();
}

void MixedSystem::add_body(const StepInput& in, int k) {
    const int body = bodies_[k], node = body_node_[k];
    const model::RigidState& state = in.bodies[body];
    const double mass = in.model.bodies.mass[body];
    start(node) = state.velocity;
    start(node + 1) = state.spin;
    diagonal(node) += mass * Mat3::Identity();
    diagonal(node + 1) += model::world_inertia(state.rotation, in.model.bodies.moments_of_inertia(body));
    right(node) += in.h * (mass * in.state.gravity + in.wrenches[body].force);
    right(node + 1) += in.h * in.wrenches[body].torque;
}

// G^T times the loads on vertices.
void MixedSystem::reduce_loads(const StepInput& in, int k) {
    const SolidState& state = in.states[solids_[k]];
    const Part& part = parts_[k];
    for (int v : part.free) right(part.node[v]) = part.load[v];
    for (int v : part.boundary) {
        const int owner = state.owner[v], node = part.owner_node[owner];
        right(node) += part.load[v];
        right(node + 1) += (state.x[v] - frame_center(in, solids_[k], owner)).cross(part.load[v]);
    }
}

void MixedSystem::factor() {
    factor_ms_ = analyse_ms_ = 0;
    if (nodes_ == 0) return;
    if (nodes_ == 2 && (!bodies_.empty() || matrix_.pattern.columns.size() == 1)) {
        Mat6 full;
        full.topLeftCorner<3, 3>() = diagonal(0);
        full.bottomRightCorner<3, 3>() = diagonal(1);
        full.bottomLeftCorner<3, 3>() = block(1, 0);
        full.topRightCorner<3, 3>() = block(1, 0).transpose();
        lone_inverse_ = full.inverse();
        if (!lone_inverse_.allFinite()) throw StepFailure("a rigid body has no mass matrix");
        return;
    }
    if (fresh_) {
        cholesky_.analyse(matrix_.pattern, 3, true);
        analyse_ms_ = cholesky_.stats().analyse_ms;
    }
    fresh_ = false;
    if (!cholesky_.factor(matrix_)) throw StepFailure("an elastic body has no solvable step");
    factor_ms_ = cholesky_.stats().factor_ms;
}

void MixedSystem::solve() {
    apply(right_);
}

void MixedSystem::apply(const std::vector<double>& impulse) {
    if (nodes_ == 0) return;
    if (fresh_) {
        Eigen::Map<Vec6>(velocity_.data()) += lone_inverse_ * Eigen::Map<const Vec6>(impulse.data());
        return;
    }
    cholesky_.solve(impulse.data(), change_.data());
    for (std::size_t i = 0; i < velocity_.size(); ++i) velocity_[i] += change_[i];
}

void MixedSystem::inverse_on(const std::vector<int>& nodes, std::vector<double>& inverse) const {
    if (!fresh_) {
        cholesky_.inverse_on(nodes, inverse);
        return;
    }
    const int size = 3 * static_cast<int>(nodes.size());
    inverse.assign(static_cast<std::size_t>(size) * size, 0.0);
    Eigen::Map<MatX> result(inverse.data(), size, size);
    for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t b = 0; b < nodes.size(); ++b)
            result.block<3, 3>(3 * a, 3 * b) = lone_inverse_.block<3, 3>(3 * nodes[a], 3 * nodes[b]);
}

void MixedSystem::add_vertex(const StepInput& in, int solid, int vertex, double weight, PointMap& map) const {
    std::array<int, 2> node;
    std::array<Mat3, 2> block;
    const int count = corner_maps(in, place_of(solid), vertex, node, block);
    map.group = group_;
    if (count == 0) map.given += weight * in.driven[solid][vertex];
    for (int k = 0; k < count; ++k) {
        int at = 0;
        while (at < map.count && map.node[at] != node[k]) ++at;
        if (at == map.count) {
            map.node[at] = node[k];
            map.block[at].setZero();
            ++map.count;
        }
        map.block[at] += weight * block[k];
    }
}

void MixedSystem::add_body_point(const StepInput& in, int body, const Vec3& point, PointMap& map) const {
    const int node = body_node_[std::find(bodies_.begin(), bodies_.end(), body) - bodies_.begin()];
    map.group = group_;
    map.count = 2;
    map.node = {node, node + 1};
    map.block[0].setIdentity();
    map.block[1] = -skew(point - in.bodies[body].position);
}

Vec3 MixedSystem::vertex_velocity(int solid, int vertex) const {
    return Eigen::Map<const Vec3>(velocity_.data() + 3 * parts_[place_of(solid)].node[vertex]);
}

Vec6 MixedSystem::owner_velocity(int solid, int owner) const {
    const int node = parts_[place_of(solid)].owner_node[owner];
    return Eigen::Map<const Vec6>(velocity_.data() + 3 * node);
}

Vec6 MixedSystem::body_velocity(int body) const {
    const int node = body_node_[std::find(bodies_.begin(), bodies_.end(), body) - bodies_.begin()];
    return Eigen::Map<const Vec6>(velocity_.data() + 3 * node);
}

}  // namespace tenon::adaptive

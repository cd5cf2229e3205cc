#include "methods/adaptive/contact_solve.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "math/parallel.hpp"

namespace tenon::adaptive {
namespace {

constexpr int kPolishRounds = 4, kPolishSweeps = 20, kPolishRows = 700;

void make_tangents(const Vec3& n, Vec3& t1, Vec3& t2) {
    t1 = (std::abs(n.x()) < 0.7 ? Vec3::UnitX() : Vec3::UnitY()).cross(n).normalized();
    t2 = n.cross(t1);
}

// At rest gamma lambda = k_b (penetration), and lambda is the force times h.
double compliance_of(const Settings& settings, const TouchPoint& p, double h) {
    return settings.compliance > 0 ? settings.compliance : settings.baumgarte / (h * h) * p.softness;
}

PointMap map_of(const StepInput& in, const Support& s, const Vec3& point,
                const std::vector<MixedSystem>& groups, const std::vector<int>& group_of_solid,
                const std::vector<int>& group_of_body, const std::vector<Vec6>& body_rates) {
    PointMap map;
    if (s.solid >= 0) {
        for (int k = 0; k < s.count; ++k)
            groups[group_of_solid[s.solid]].add_vertex(in, s.solid, s.vertex[k], s.weight[k], map);
    } else if (group_of_body[s.body] >= 0) {
        groups[group_of_body[s.body]].add_body_point(in, s.body, point, map);
    } else {
        const Vec6& rate = body_rates[s.body];
        map.given = rate.head<3>() + rate.tail<3>().cross(Vec3(point - in.bodies[s.body].position));
    }
    return map;
}

}  // namespace

void ContactSolver::number_nodes(const std::vector<MixedSystem>& groups) {
    nodes_.assign(groups.size(), {});
    place_.resize(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) place_[g].clear();
    for (const Row& row : rows_)
        for (const PointMap* map : {&row.a, &row.b}) {
            if (map->count == 0) continue;
            auto& place = place_[map->group];
            if (place.empty()) place.assign(groups[map->group].nodes(), -1);
            for (int k = 0; k < map->count; ++k) {
                int& at = place[map->node[k]];
                if (at >= 0) continue;
                at = static_cast<int>(nodes_[map->group].size());
                nodes_[map->group].push_back(map->node[k]);
            }
        }
    first_.assign(groups.size() + 1, 0);
    for (std::size_t g = 0; g < groups.size(); ++g)
        first_[g + 1] = first_[g] + 3 * static_cast<int>(nodes_[g].size());
    inverse_.resize(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
        if (!nodes_[g].empty()) groups[g].inverse_on(nodes_[g], inverse_[g]);
}

// J over the nodes it touches; B = A^-1 J^T over all nodes that contacts touch in the same groups.
void ContactSolver::add_row(const Row& row, const Vec3& direction, int at) {
    solve::PgsProblem& p = problem_;
    const auto side = [&](const PointMap& map, double sign) {
        for (int k = 0; k < map.count; ++k) {
            const Vec3 j = sign * map.block[k].transpose() * direction;
            const int column = first_[map.group] + 3 * place_[map.group][map.node[k]];
            for (int c = 0; c < 3; ++c) {
                p.j_index.push_back(column + c);
                p.j_value.push_back(j[c]);
            }
        }
    };
    side(row.a, 1);
    side(row.b, -1);
    p.j_start.push_back(static_cast<int>(p.j_index.size()));
    const auto response = [&](int group) {
        const int size = first_[group + 1] - first_[group];
        const Eigen::Map<const MatX> inverse(inverse_[group].data(), size, size);
        const std::size_t begin = p.b_value.size();
        p.b_value.resize(begin + size, 0.0);
        Eigen::Map<VecX> sum(p.b_value.data() + begin, size);
        for (int k = p.j_start[at]; k < p.j_start[at + 1]; ++k) {
            const int column = p.j_index[k] - first_[group];
            if (column >= 0 && column < size) sum += p.j_value[k] * inverse.col(column);
        }
        for (int k = 0; k < size; ++k) p.b_index.push_back(first_[group] + k);
    };
    if (row.a.count > 0) response(row.a.group);
    if (row.b.count > 0 && !(row.a.count > 0 && row.a.group == row.b.group)) response(row.b.group);
    p.b_start.push_back(static_cast<int>(p.b_index.size()));
}

void ContactSolver::add_rows(const StepInput& in, const Settings& settings,
                             const std::vector<TouchPoint>& points) {
    problem_.clear();
    impulse_.clear();
    const double feedback = settings.baumgarte / in.h, threshold = 2 * in.h * in.world.gravity.norm();
    for (std::size_t k = 0; k < points.size(); ++k) {
        const TouchPoint& p = points[k];
        Row& row = rows_[k];
        const Vec3 given = row.a.given - row.b.given;
        double target = -feedback * p.distance;
        if (p.restitution > 0) {
            double approach = 0;  // before forces and contact
            const auto speed = [&](const Support& s) {
                Vec3 v = Vec3::Zero();
                if (s.solid >= 0)
                    for (int i = 0; i < s.count; ++i) v += s.weight[i] * in.states[s.solid].v[s.vertex[i]];
                else
                    v = world::velocity_at(in.bodies[s.body], p.point);
                return v;
            };
            approach = -p.normal.dot(speed(p.on_a) - speed(p.on_b));
            if (approach > threshold) target = std::max(target, p.restitution * approach);
        }
        const double compliance = compliance_of(settings, p, in.h);
        const int normal = problem_.add_row(target - p.normal.dot(given), compliance, 0, 1e300);
        problem_.add_cone(-row.tangent1.dot(given + feedback * p.stretch),
                          -row.tangent2.dot(given + feedback * p.stretch), compliance, normal, p.friction);
        add_row(row, p.normal, normal);
        add_row(row, row.tangent1, normal + 1);
        add_row(row, row.tangent2, normal + 2);
        impulse_.push_back(std::max(0.0, p.impulse.dot(p.normal)));
        impulse_.push_back(p.impulse.dot(row.tangent1));
        impulse_.push_back(p.impulse.dot(row.tangent2));
    }
}

solve::PgsResult ContactSolver::solve(const StepInput& in, const Settings& settings,
                                      std::vector<MixedSystem>& groups,
                                      const std::vector<int>& group_of_solid,
                                      const std::vector<int>& group_of_body,
                                      const std::vector<Vec6>& body_rates, std::vector<TouchPoint>& points) {
    solve::PgsResult result;
    result.converged = true;
    if (points.empty()) return result;
    rows_.assign(points.size(), {});
    for (std::size_t k = 0; k < points.size(); ++k) {
        const TouchPoint& p = points[k];
        rows_[k].a = map_of(in, p.on_a, p.point, groups, group_of_solid, group_of_body, body_rates);
        rows_[k].b = map_of(in, p.on_b, p.point, groups, group_of_solid, group_of_body, body_rates);
        make_tangents(p.normal, rows_[k].tangent1, rows_[k].tangent2);
    }
    number_nodes(groups);
    add_rows(in, settings, points);
    velocity_.assign(first_.back(), 0.0);
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (std::size_t k = 0; k < nodes_[g].size(); ++k)
            for (int c = 0; c < 3; ++c)
                velocity_[first_[g] + 3 * k + c] = groups[g].velocity()[3 * nodes_[g][k] + c];

    solve::PgsSettings pgs;
    pgs.max_sweeps = settings.sweeps;
    pgs.symmetric = true;
    pgs.tolerance =
        settings.tolerance > 0 ? settings.tolerance : 1e-6 * in.h * std::max(in.world.gravity.norm(), 1e-3);
    base_ = velocity_;
    result = pgs_.solve(problem_, pgs, impulse_, velocity_);
    pgs.max_sweeps = kPolishSweeps;
    for (int round = 0; round < kPolishRounds && !result.converged; ++round) {
        best_impulse_ = impulse_;
        best_velocity_ = velocity_;
        if (!polish()) break;
        velocity_ = base_;
        solve::PgsResult again = pgs_.solve(problem_, pgs, impulse_, velocity_);
        again.sweeps += result.sweeps;
        if (again.residual >= result.residual) {
            impulse_ = best_impulse_;
            velocity_ = best_velocity_;
            result.sweeps = again.sweeps;
            break;
        }
        result = again;
    }

    const double feedback = settings.baumgarte / in.h;
    for (std::size_t k = 0; k < points.size(); ++k) {
        TouchPoint& p = points[k];
        const Row& row = rows_[k];
        const Vec3 friction = impulse_[3 * k + 1] * row.tangent1 + impulse_[3 * k + 2] * row.tangent2;
        p.impulse = impulse_[3 * k] * p.normal + friction;
        // what sticks keeps its offset and the slip of this step; what slides drags it along
        if (friction.norm() < 0.999 * p.friction * impulse_[3 * k]) {
            for (int t = 0; t < 2; ++t) {
                double slip = 0;
                const int r = 3 * static_cast<int>(k) + 1 + t;
                for (int i = problem_.j_start[r]; i < problem_.j_start[r + 1]; ++i)
                    slip += problem_.j_value[i] * velocity_[problem_.j_index[i]];
                const Vec3& direction = t == 0 ? row.tangent1 : row.tangent2;
                p.stretch += in.h * (slip + direction.dot(row.a.given - row.b.given)) * direction;
            }
        } else {
            p.stretch = feedback > 0 ? Vec3(-compliance_of(settings, p, in.h) / feedback * friction)
                                     : Vec3(Vec3::Zero());
        }
    }
    apply_impulses(groups, points);
    return result;
}

// Sweeps are slow where many contacts carry one body. With the states found by them (open, sticking, sliding along a
// direction) the conditions are linear equations: solved directly, and swept again in case a state was wrong.
bool ContactSolver::polish() {
    const solve::PgsProblem& p = problem_;
    struct Unknown {
        int row;
        std::array<double, 3> share{1, 0, 0};  // of its row and the two after it
    };
    std::vector<Unknown> unknowns;
    for (int n = 0; n + 2 < p.rows(); n += 3) {
        if (!(impulse_[n] > 0)) continue;
        const double limit = p.friction[n + 1] * impulse_[n],
                     friction = std::hypot(impulse_[n + 1], impulse_[n + 2]);
        if (friction < 0.999 * limit) {
            for (int k = 0; k < 3; ++k) unknowns.push_back({n + k});
        } else {
            unknowns.push_back({n, {1, impulse_[n + 1] / impulse_[n], impulse_[n + 2] / impulse_[n]}});
        }
    }
    const int size = static_cast<int>(unknowns.size());
    if (size == 0 || size > kPolishRows) return false;
    MatX matrix(size, size);
    VecX right(size);
    std::vector<double> work(velocity_.size(), 0.0);
    const auto along = [&](int row, const std::vector<double>& v) {
        double sum = 0;
        for (int k = p.j_start[row]; k < p.j_start[row + 1]; ++k) sum += p.j_value[k] * v[p.j_index[k]];
        return sum;
    };
    for (int j = 0; j < size; ++j) {
        std::fill(work.begin(), work.end(), 0.0);
        for (int k = 0; k < 3; ++k) {
            if (unknowns[j].share[k] == 0) continue;
            const int row = unknowns[j].row + k;
            for (int e = p.b_start[row]; e < p.b_start[row + 1]; ++e)
                work[p.b_index[e]] += unknowns[j].share[k] * p.b_value[e];
        }
        for (int i = 0; i < size; ++i) matrix(i, j) = along(unknowns[i].row, work);
        matrix(j, j) += p.compliance[unknowns[j].row];
        right[j] = p.target[unknowns[j].row] - along(unknowns[j].row, base_);
    }
    const VecX found = matrix.partialPivLu().solve(right);
    if (!found.allFinite()) return false;
    std::fill(impulse_.begin(), impulse_.end(), 0.0);
    for (int j = 0; j < size; ++j)
        for (int k = 0; k < 3; ++k)
            if (unknowns[j].share[k] != 0) impulse_[unknowns[j].row + k] = unknowns[j].share[k] * found[j];
    for (int n = 0; n + 2 < p.rows(); n += 3) {  // back inside the cones
        impulse_[n] = std::max(0.0, impulse_[n]);
        const double limit = p.friction[n + 1] * impulse_[n],
                     friction = std::hypot(impulse_[n + 1], impulse_[n + 2]);
        const double shrink = friction > limit ? limit / friction : 1.0;
        impulse_[n + 1] *= shrink;
        impulse_[n + 2] *= shrink;
    }
    return true;
}

void ContactSolver::apply_impulses(std::vector<MixedSystem>& groups, const std::vector<TouchPoint>& points) {
    load_.resize(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
        load_[g].assign(nodes_[g].empty() ? 0 : 3 * static_cast<std::size_t>(groups[g].nodes()), 0.0);
    for (std::size_t k = 0; k < points.size(); ++k)
        for (const PointMap* map : {&rows_[k].a, &rows_[k].b})
            for (int i = 0; i < map->count; ++i)
                Eigen::Map<Vec3>(load_[map->group].data() + 3 * map->node[i]) +=
                    (map == &rows_[k].a ? 1.0 : -1.0) * map->block[i].transpose() * points[k].impulse;
    parallel_for(groups.size(), 1, [&](std::size_t g) {
        if (!load_[g].empty()) groups[g].apply(load_[g]);
    });
}

}  // namespace tenon::adaptive

#include "methods/adaptive/contact_island.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::adaptive {
namespace {

constexpr int kPolishRounds = 3, kPolishSweeps = 20;
constexpr int kNewtonRows = 1500, kNewtonIterations = 15;
constexpr int kScatteredRows = 150;  // from here on most pairs of contacts share no body

// At rest gamma lambda = k_b (penetration), and lambda is the force times h.
double compliance_of(const Settings& settings, const TouchPoint& p, double h) {
    return settings.compliance > 0 ? settings.compliance : settings.baumgarte / (h * h) * p.softness;
}

// How fast the sides of a contact approach each other before forces and contact.
double approach_speed(const StepInput& in, const TouchPoint& p) {
    const auto speed = [&](const Support& s) {
        if (s.solid < 0) return model::velocity_at(in.bodies[s.body], p.point);
        Vec3 v = Vec3::Zero();
        for (int i = 0; i < s.count; ++i) v += s.weight[i] * in.states[s.solid].v[s.vertex[i]];
        return v;
    };
    return -p.normal.dot(speed(p.on_a) - speed(p.on_b));
}

}  // namespace

void ContactIsland::clear() {
    points_.clear();
    used_ = 0;
}

ContactIsland::Group& ContactIsland::group_of(int index) {
    for (int g = 0; g < used_; ++g)
        if (groups_[g].index == index) return groups_[g];
    if (used_ == static_cast<int>(groups_.size())) groups_.emplace_back();
    Group& group = groups_[used_++];
    group.index = index;
    group.nodes.clear();
    group.place.clear();
    return group;
}

void ContactIsland::number_nodes(const std::vector<MixedSystem>& groups,
                                 const std::vector<ContactRow>& rows) {
    for (int p : points_)
        for (const PointMap* map : {&rows[p].a, &rows[p].b}) {
            if (map->count == 0) continue;
            Group& group = group_of(map->group);
            if (group.place.empty()) group.place.assign(groups[map->group].nodes(), -1);
            for (int k = 0; k < map->count; ++k) {
                int& at = group.place[map->node[k]];
                if (at >= 0) continue;
                at = static_cast<int>(group.nodes.size());
                group.nodes.push_back(map->node[k]);
            }
        }
    int unknowns = 0;
    for (int g = 0; g < used_; ++g) {
        Group& group = groups_[g];
        group.first = unknowns;
        unknowns += 3 * static_cast<int>(group.nodes.size());
        groups[group.index].inverse_on(group.nodes, group.inverse);
    }
    velocity_.resize(unknowns);
    for (int g = 0; g < used_; ++g) {
        const Group& group = groups_[g];
        const std::vector<double>& v = groups[group.index].velocity();
        for (std::size_t k = 0; k < group.nodes.size(); ++k)
            for (int c = 0; c < 3; ++c) velocity_[group.first + 3 * k + c] = v[3 * group.nodes[k] + c];
    }
}

// J over the nodes it touches; B = A^-1 J^T over all nodes that contacts touch in the same groups.
void ContactIsland::add_row(const ContactRow& row, const Vec3& direction, int at) {
    solve::PgsProblem& p = problem_;
    const auto side = [&](const PointMap& map, double sign) {
        if (map.count == 0) return;
        const Group& group = group_of(map.group);
        for (int k = 0; k < map.count; ++k) {
            const Vec3 j = sign * map.block[k].transpose() * direction;
            const int column = group.first + 3 * group.place[map.node[k]];
            for (int c = 0; c < 3; ++c) {
                p.j_index.push_back(column + c);
                p.j_value.push_back(j[c]);
            }
        }
    };
    side(row.a, 1);
    side(row.b, -1);
    p.j_start.push_back(static_cast<int>(p.j_index.size()));
    const auto response = [&](const Group& group) {
        const int size = 3 * static_cast<int>(group.nodes.size());
        const Eigen::Map<const MatX> inverse(group.inverse.data(), size, size);
        const std::size_t begin = p.b_value.size();
        p.b_value.resize(begin + size, 0.0);
        Eigen::Map<VecX> sum(p.b_value.data() + begin, size);
        for (int k = p.j_start[at]; k < p.j_start[at + 1]; ++k) {
            const int column = p.j_index[k] - group.first;
            if (column >= 0 && column < size) sum += p.j_value[k] * inverse.col(column);
        }
        for (int k = 0; k < size; ++k) p.b_index.push_back(group.first + k);
    };
    if (row.a.count > 0) response(group_of(row.a.group));
    if (row.b.count > 0 && !(row.a.count > 0 && row.a.group == row.b.group)) response(group_of(row.b.group));
    p.b_start.push_back(static_cast<int>(p.b_index.size()));
}

void ContactIsland::add_rows(const StepInput& in, const Settings& settings,
                             const std::vector<ContactRow>& rows, const std::vector<TouchPoint>& points) {
    problem_.clear();
    impulse_.clear();
    const double feedback = settings.baumgarte / in.h, threshold = 2 * in.h * in.state.gravity.norm();
    for (int k : points_) {
        const TouchPoint& p = points[k];
        const ContactRow& row = rows[k];
        const Vec3 given = row.a.given - row.b.given;
        double target = -feedback * p.distance;
        if (p.restitution > 0) {
            const double approach = approach_speed(in, p);
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

solve::PgsResult ContactIsland::solve(const StepInput& in, const Settings& settings,
                                      const std::vector<MixedSystem>& groups,
                                      const std::vector<ContactRow>& rows, std::vector<TouchPoint>& points) {
    number_nodes(groups, rows);
    add_rows(in, settings, rows, points);
    const double tolerance = velocity_tolerance(settings, in.h, in.state.gravity.norm(), in.least_edge);
    const solve::PgsResult result = sweep_and_polish(settings, tolerance);
    write_back(in, settings, rows, points);
    return result;
}

solve::PgsResult ContactIsland::sweep_and_polish(const Settings& settings, double tolerance) {
    solve::PgsSettings pgs;
    pgs.max_sweeps = settings.sweeps;
    pgs.symmetric = true;
    pgs.conjugate = true;
    pgs.check_first = true;
    pgs.tolerance = tolerance;
    base_ = velocity_;
    solve::PgsResult result = pgs_.solve(problem_, pgs, impulse_, velocity_);
    if (result.converged || problem_.rows() > kNewtonRows) return result;
    pgs.max_sweeps = kPolishSweeps;
    gather_cones();
    for (int round = 0; round < kPolishRounds && !result.converged; ++round) {
        best_impulse_ = impulse_;
        best_velocity_ = velocity_;
        polish(tolerance);
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
    return result;
}

void ContactIsland::write_back(const StepInput& in, const Settings& settings,
                               const std::vector<ContactRow>& rows, std::vector<TouchPoint>& points) const {
    const double feedback = settings.baumgarte / in.h;
    for (std::size_t k = 0; k < points_.size(); ++k) {
        TouchPoint& p = points[points_[k]];
        const ContactRow& row = rows[points_[k]];
        const Vec3 friction = impulse_[3 * k + 1] * row.tangent1 + impulse_[3 * k + 2] * row.tangent2;
        p.impulse = impulse_[3 * k] * p.normal + friction;
        p.solved = true;
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
}

// The dense form of the problem, which stays the same through all rounds of a solve.
void ContactIsland::gather_cones() {
    const solve::PgsProblem& p = problem_;
    const int rows = p.rows();
    const auto along = [&](int row, const std::vector<double>& v) {
        double sum = 0;
        for (int k = p.j_start[row]; k < p.j_start[row + 1]; ++k) sum += p.j_value[k] * v[p.j_index[k]];
        return sum;
    };
    cones_.matrix.resize(rows, rows);
    cones_.free.resize(rows);
    cones_.friction.resize(rows / 3);
    cones_.scattered = rows > kScatteredRows && used_ > 2;
    std::vector<double> work(velocity_.size(), 0.0);
    for (int j = 0; j < rows; ++j) {
        for (int e = p.b_start[j]; e < p.b_start[j + 1]; ++e) work[p.b_index[e]] = p.b_value[e];
        for (int i = 0; i < rows; ++i) cones_.matrix(i, j) = along(i, work);
        for (int e = p.b_start[j]; e < p.b_start[j + 1]; ++e) work[p.b_index[e]] = 0;
        cones_.matrix(j, j) += p.compliance[j];
        cones_.free[j] = along(j, base_) - p.target[j];
        if (j % 3 == 0) cones_.friction[j / 3] = p.friction[j + 1];
    }
}

// Sweeps are slow where many contacts carry one body: Newton's method takes over from where they led.
void ContactIsland::polish(double tolerance) {
    const int rows = problem_.rows();
    VecX x = Eigen::Map<const VecX>(impulse_.data(), rows);
    solve::solve_cone_newton(cones_, kNewtonIterations, 0.1 * tolerance, x);
    Eigen::Map<VecX>(impulse_.data(), rows) = x;
}

}  // namespace tenon::adaptive

#include "methods/affine/impact_step.hpp"

#include <algorithm>

#include "math/union_find.hpp"
#include "methods/affine/bodies.hpp"
#include "methods/affine/impact_law.hpp"
#include "methods/affine/restitution.hpp"
#include "model/joint_rows.hpp"

namespace tenon::affine {
namespace {

constexpr double falls = 2.0;  // steps of free fall whose speed is no impact

class Finder {
  public:
    Finder(const ImpactStep& step, std::vector<MetPoint>& points) : s_(step), points_(points) {}
    ImpactResult run();

  private:
    double restitution_of(const MetPoint& p) const {
        return s_.restitution >= 0.0 ? s_.restitution : s_.model.pair_restitution(p.a, p.b);
    }
    double threshold() const { return s_.slowest + falls * s_.h * s_.state.gravity.norm(); }
    Vec3 start_velocity(int body, const Vec3& point) const;
    double start_closing(const MetPoint& p) const {
        return -p.normal.dot(start_velocity(p.a, p.point) - start_velocity(p.b, p.point));
    }
    void find_clusters();
    ImpactProblem problem_of(int cluster);
    ImpactBody body_of(int body) const;
    void add_rows(int cluster, ImpactProblem& problem) const;

    const ImpactStep& s_;
    std::vector<MetPoint>& points_;
    std::vector<int> cluster_;          // per body; -1: none, or it does not move
    std::vector<std::vector<int>> in_;  // bodies that move, by cluster
    std::vector<int> number_;           // of a body in its problem
    std::vector<std::size_t> taken_;    // points of the problem at hand
};

Vec3 Finder::start_velocity(int body, const Vec3& point) const {
    if (s_.state.type[body] == BodyType::static_body) return Vec3::Zero();
    const Mat34 rate =
        s_.state.dynamic(body) ? s_.rate[body] : Mat34((s_.state.q[body] - s_.start[body]) / s_.h);
    const Vec3 w = angular_velocity(s_.start[body], rate, inertia_of(s_.model.bodies, body));
    return rate.col(3) + w.cross(point - s_.state.q[body].col(3));
}

// Bodies that touch or are jointed, where one of them may have met another.
void Finder::find_clusters() {
    const int count = s_.model.bodies.size();
    UnionFind groups(count);
    const auto join = [&](int a, int b) {
        if (a >= 0 && b >= 0 && s_.state.dynamic(a) && s_.state.dynamic(b)) groups.join(a, b);
    };
    for (const MetPoint& p : points_) join(p.a, p.b);
    for (std::size_t j = 0; j < s_.model.joints.size(); ++j)
        if (!s_.state.broken[j]) join(s_.model.joints[j].bodies[0], s_.model.joints[j].bodies[1]);
    cluster_.assign(count, -1);
    std::vector<int> of_root(count, -1);
    for (const MetPoint& p : points_) {
        if ((!s_.plastic && restitution_of(p) <= 0.0) || start_closing(p) < 0.3 * threshold()) continue;
        for (const int body : {p.a, p.b})
            if (s_.state.dynamic(body)) {
                int& number = of_root[groups.root(body)];
                if (number >= 0) continue;
                number = static_cast<int>(in_.size());
                in_.emplace_back();
            }
    }
    if (in_.empty()) return;
    for (int i = 0; i < count; ++i)
        if (s_.state.dynamic(i) && of_root[groups.root(i)] >= 0) {
            cluster_[i] = of_root[groups.root(i)];
            in_[cluster_[i]].push_back(i);
        }
}

ImpactBody Finder::body_of(int body) const {
    const Inertia inertia = inertia_of(s_.model.bodies, body);
    const Mat34& end = s_.state.q[body];
    if (s_.state.dynamic(body)) {
        const bool loaded = !s_.loads.empty();
        return impact_body(
            s_.start[body], s_.rate[body], inertia, end,
            inertia.mass * s_.state.gravity + (loaded ? s_.loads[body].force : Vec3(Vec3::Zero())),
            loaded ? s_.loads[body].torque : Vec3(Vec3::Zero()), s_.h);
    }
    ImpactBody fixed;
    fixed.place = end.col(3);
    if (s_.state.type[body] == BodyType::static_body) return fixed;
    const Mat34 rate = (end - s_.start[body]) / s_.h;
    fixed.v = rate.col(3);
    fixed.w = angular_velocity(s_.start[body], rate, inertia);
    return fixed;
}

// Conditions of joints and fixed coordinates. Bodies that scripts move go on moving.
void Finder::add_rows(int cluster, ImpactProblem& problem) const {
    const auto number = [&](int body) { return body >= 0 && cluster_[body] == cluster ? number_[body] : -1; };
    const auto given = [&](int body, const Vec6& row) {
        if (body < 0 || s_.state.type[body] == BodyType::static_body) return 0.0;
        const ImpactBody moves = body_of(body);
        return row.head<3>().dot(moves.v) + row.tail<3>().dot(moves.w);
    };
    JointRows rows;
    for (std::size_t j = 0; j < s_.model.joints.size(); ++j) {
        const Joint& joint = s_.model.joints[j];
        const int a = number(joint.bodies[0]), b = number(joint.bodies[1]);
        if ((a < 0 && b < 0) || s_.state.broken[j] || joint.spec.type == JointType::coupling) continue;
        const Mat34 &qa = side_map(s_.state, joint, 0), &qb = side_map(s_.state, joint, 1);
        joint_rows(joint, qa, qb, rows);
        for (int k = 0; k < rows.count; ++k) {
            ImpactRow& row = problem.rows.emplace_back();
            row.a = a;
            row.b = b;
            row.on_a = twist_row(rows.gradient[0][k], qa);
            row.on_b = twist_row(rows.gradient[1][k], qb);
            row.given = (a < 0 ? given(joint.bodies[0], row.on_a) : 0.0) +
                        (b < 0 ? given(joint.bodies[1], row.on_b) : 0.0);
        }
    }
    for (const int body : in_[cluster])
        for (int k = 0; k < 6; ++k)
            if (s_.model.bodies.fixed[body][k])
                problem.rows.push_back({number_[body], -1, Vec6::Unit(k), Vec6::Zero(), 0.0});
}

ImpactProblem Finder::problem_of(int cluster) {
    ImpactProblem problem;
    problem.h = s_.h;
    problem.threshold = threshold();
    problem.plastic = s_.plastic;
    number_.resize(cluster_.size(), -1);
    for (const int body : in_[cluster]) {
        number_[body] = static_cast<int>(problem.bodies.size());
        problem.bodies.push_back(body_of(body));
    }
    std::vector<std::pair<int, int>> fixed;  // body and its number
    const auto number = [&](int body) {
        if (s_.state.dynamic(body)) return number_[body];
        for (const auto& [known, n] : fixed)
            if (known == body) return n;
        fixed.emplace_back(body, static_cast<int>(problem.bodies.size()));
        problem.bodies.push_back(body_of(body));
        return fixed.back().second;
    };
    taken_.clear();
    for (std::size_t k = 0; k < points_.size(); ++k) {
        const MetPoint& p = points_[k];
        if (cluster_[p.a] != cluster && cluster_[p.b] != cluster) continue;
        ImpactContact& c = problem.contacts.emplace_back();
        c.a = number(p.a);
        c.b = number(p.b);
        c.point = p.point;
        c.normal = p.normal;
        c.mu = s_.model.pair_friction(p.a, p.b);
        c.restitution = restitution_of(p);
        c.before = start_closing(p);
        c.closed = p.closed;
        taken_.push_back(k);
    }
    add_rows(cluster, problem);
    return problem;
}

ImpactResult Finder::run() {
    ImpactResult result;
    find_clusters();
    for (std::size_t c = 0; c < in_.size(); ++c) {
        ImpactProblem problem = problem_of(static_cast<int>(c));
        const int impacts = resolve_impacts(problem);
        if (impacts == 0) continue;
        result.impacts += impacts;
        for (std::size_t k = 0; k < taken_.size(); ++k) {
            MetPoint& p = points_[taken_[k]];
            p.replaced = true;
            p.bounced = problem.contacts[k].bounced;
            p.impulse = problem.contacts[k].impulse;
        }
        for (const int body : in_[c])
            result.rates.emplace_back(body, rate_of(problem.bodies[number_[body]], s_.state.q[body]));
    }
    return result;
}

}  // namespace

ImpactResult find_impacts(const ImpactStep& step, std::vector<MetPoint>& points) {
    return Finder(step, points).run();
}

bool something_bounces(const Model& model, double restitution) {
    return restitution >= 0.0 ? restitution > 0.0 : wanted_restitution(model) > 0.0;
}

bool impacts_follow_law(const Model& model, const Settings& settings) {
    if (settings.restitution_speed != 0.0) return false;
    return settings.integrator == Integrator::bdf2 || something_bounces(model, settings.restitution);
}

}  // namespace tenon::affine

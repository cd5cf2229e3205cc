#include "methods/adaptive/contact_solve.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/parallel.hpp"

namespace tenon::adaptive {
namespace {

void make_tangents(const Vec3& n, Vec3& t1, Vec3& t2) {
    t1 = (std::abs(n.x()) < 0.7 ? Vec3::UnitX() : Vec3::UnitY()).cross(n).normalized();
    t2 = n.cross(t1);
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

// Groups that a contact connects belong together; what is held or scripted connects nothing.
void ContactSolver::find_islands(int groups) {
    groups_.reset(groups);
    for (const ContactRow& row : rows_) {
        if (row.a.count == 0 || row.b.count == 0) continue;
        groups_.join(row.a.group, row.b.group);
    }
    island_.assign(groups, -1);
    islands_used_ = 0;
    for (std::size_t p = 0; p < rows_.size(); ++p) {
        const PointMap& map = rows_[p].a.count > 0 ? rows_[p].a : rows_[p].b;
        if (map.count == 0) continue;  // both sides are moved from outside
        int& island = island_[groups_.root(map.group)];
        if (island < 0) {
            island = islands_used_++;
            if (islands_used_ > static_cast<int>(islands_.size())) islands_.emplace_back();
            islands_[island].clear();
        }
        islands_[island].add(static_cast<int>(p));
    }
}

solve::PgsResult ContactSolver::solve(const StepInput& in, const Settings& settings,
                                      std::vector<MixedSystem>& groups,
                                      const std::vector<int>& group_of_solid,
                                      const std::vector<int>& group_of_body,
                                      const std::vector<Vec6>& body_rates, std::vector<TouchPoint>& points) {
    solve::PgsResult result;
    result.converged = true;
    islands_used_ = 0;
    if (points.empty()) return result;
    rows_.assign(points.size(), {});
    for (std::size_t k = 0; k < points.size(); ++k) {
        const TouchPoint& p = points[k];
        rows_[k].a = map_of(in, p.on_a, p.point, groups, group_of_solid, group_of_body, body_rates);
        rows_[k].b = map_of(in, p.on_b, p.point, groups, group_of_solid, group_of_body, body_rates);
        make_tangents(p.normal, rows_[k].tangent1, rows_[k].tangent2);
        if (rows_[k].a.count == 0 && rows_[k].b.count == 0) points[k].impulse.setZero();
    }
    find_islands(static_cast<int>(groups.size()));
    std::vector<solve::PgsResult> results(islands_used_);
    parallel_for(islands_used_, 1,
                 [&](std::size_t i) { results[i] = islands_[i].solve(in, settings, groups, rows_, points); });
    for (const solve::PgsResult& r : results) {
        result.sweeps = std::max(result.sweeps, r.sweeps);
        result.residual = std::max(result.residual, r.residual);
        result.converged = result.converged && r.converged;
    }
    apply_impulses(groups, points);
    return result;
}

void ContactSolver::apply_impulses(std::vector<MixedSystem>& groups, const std::vector<TouchPoint>& points) {
    load_.resize(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) load_[g].clear();
    for (std::size_t k = 0; k < points.size(); ++k)
        for (const PointMap* map : {&rows_[k].a, &rows_[k].b}) {
            if (map->count == 0) continue;
            if (load_[map->group].empty())
                load_[map->group].assign(3 * static_cast<std::size_t>(groups[map->group].nodes()), 0.0);
            for (int i = 0; i < map->count; ++i)
                Eigen::Map<Vec3>(load_[map->group].data() + 3 * map->node[i]) +=
                    (map == &rows_[k].a ? 1.0 : -1.0) * map->block[i].transpose() * points[k].impulse;
        }
    parallel_for(groups.size(), 1, [&](std::size_t g) {
        if (!load_[g].empty()) groups[g].apply(load_[g]);
    });
}

}  // namespace tenon::adaptive

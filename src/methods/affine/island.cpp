#include "methods/affine/island.hpp"
#include "math/union_find.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "math/parallel.hpp"

namespace tenon::affine {

std::vector<Island> find_islands(const StepBodies& bodies, const ContactField& field,
                                 const std::vector<ConstraintRow>& rows, const std::vector<Motor>& motors) {
    const std::size_t count = bodies.body.size();
    const auto moves = [&](int i) { return bodies.body[i].type != BodyType::static_body; };
    UnionFind sets(count);
    std::vector<char> touched(count, 0);
    for (int k = 0; k < field.pair_count(); ++k) {
        const CandidatePair& pair = field.pair(k);
        touched[pair.a] = touched[pair.b] = 1;
        if (moves(pair.a) && moves(pair.b)) sets.join(pair.a, pair.b);
    }
    for (const ConstraintRow& row : rows) {
        touched[row.a] = touched[row.b] = 1;
        sets.join(row.a, row.b);
    }
    for (const Motor& motor : motors)
        for (const int body : {motor.a, motor.b})
            if (body >= 0) touched[body] = 1;
    std::vector<int> island_of(count, -1);
    std::vector<Island> islands;
    for (std::size_t i = 0; i < count; ++i) {
        const int body = static_cast<int>(i);
        if (!touched[i] || !moves(body)) continue;
        const int root = sets.root(body);
        if (island_of[root] < 0) {
            island_of[root] = static_cast<int>(islands.size());
            islands.emplace_back();
        }
        Island& island = islands[island_of[root]];
        island.bodies.push_back(body);
        island.held = island.held || bodies.body[i].hold >= 0;
    }
    for (int k = 0; k < field.pair_count(); ++k) {
        const CandidatePair& pair = field.pair(k);
        Island& island = islands[island_of[sets.root(moves(pair.a) ? pair.a : pair.b)]];
        island.pairs.push_back(k);
        island.detailed = island.detailed || pieces_of(pair) > 1;
    }
    for (std::size_t r = 0; r < rows.size(); ++r)
        islands[island_of[sets.root(rows[r].a)]].rows.push_back(static_cast<int>(r));
    for (std::size_t m = 0; m < motors.size(); ++m) {
        const int body = motors[m].a >= 0 ? motors[m].a : motors[m].b;
        islands[island_of[sets.root(body)]].motors.push_back(static_cast<int>(m));
    }
    return islands;
}

void IslandResult::go_on(IslandResult later) {
    const int together = iterations + later.iterations;
    converged = true;
    out_of_margin = false;
    go_beside(std::move(later));
    iterations = together;
}

void IslandResult::go_beside(IslandResult later) {
    iterations = std::max(iterations, later.iterations);
    solves += later.solves;
    fallbacks += later.fallbacks;
    line_search_steps += later.line_search_steps;
    converged = converged && later.converged;
    out_of_margin = out_of_margin || later.out_of_margin;
    assemble_ms += later.assemble_ms;
    solve_ms += later.solve_ms;
    ccd_ms += later.ccd_ms;
    energy_ms += later.energy_ms;
    move_ms += later.move_ms;
    log.insert(log.end(), later.log.begin(), later.log.end());
    path.insert(path.end(), std::make_move_iterator(later.path.begin()),
                std::make_move_iterator(later.path.end()));
}

void for_islands(const std::vector<Island>& islands, const std::function<void(std::size_t)>& solve) {
    std::vector<std::size_t> order(islands.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return islands[a].pairs.size() > islands[b].pairs.size();
    });
    parallel_for(order.size(), 1, [&](std::size_t k) { solve(order[k]); });
}

}  // namespace tenon::affine

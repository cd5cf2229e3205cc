#include "methods/articulated/topology.hpp"

#include <algorithm>
#include <numeric>

#include "math/union_find.hpp"
#include "methods/articulated/ball_chain.hpp"
#include "methods/articulated/net_component.hpp"
#include "methods/articulated/row_component.hpp"

namespace tenon::articulated {
namespace {

struct Graph {
    const Model& model;
    const State& state;
    UnionFind sets;                           // of bodies
    std::vector<std::vector<int>> joints_of;  // only filled for bodies with joints

    bool moving(int body) const { return body >= 0 && state.dynamic(body); }
};

std::vector<int> bodies_bound(const Model& model, const Joint& joint) {
    std::vector<int> bound;
    if (joint.spec.type == JointType::coupling) {
        for (int which : joint.spec.joints)
            for (int body : model.joints[which].bodies) bound.push_back(body);
    } else {
        bound.assign(joint.bodies.begin(), joint.bodies.end());
    }
    return bound;
}

bool plain_ball(const Joint& joint) {
    const JointSpec& spec = joint.spec;
    return spec.type == JointType::ball && spec.drives.empty() && !spec.twist && !spec.bend;
}

bool has_fixed_directions(const Model& model, int body) {
    const auto& fixed = model.bodies.fixed[body];
    return std::any_of(fixed.begin(), fixed.end(), [](bool f) { return f; });
}

// Bodies and joints in chain order, when the component is a chain of plain ball joints.
struct ChainOrder {
    bool found = false;
    std::vector<int> bodies, joints;
    bool pinned_start = false;
};

ChainOrder chain_order(const Graph& graph, const std::vector<int>& bodies, const std::vector<int>& joints) {
    ChainOrder order;
    for (int j : joints)
        if (!plain_ball(graph.model.joints[j])) return order;
    int start = -1;
    for (int body : bodies) {
        const auto& list = graph.joints_of[body];
        if (list.size() > 2 || has_fixed_directions(graph.model, body)) return order;
        int inner = 0;
        for (int j : list)
            inner += graph.moving(graph.model.joints[j].bodies[0]) &&
                     graph.moving(graph.model.joints[j].bodies[1]);
        // an end of the chain; prefer one that is held, as its sweep starts at a fixed point
        if (inner <= 1 && (start < 0 || list.size() > graph.joints_of[start].size())) start = body;
    }
    if (start < 0) return order;  // a ring
    int came = -1;
    for (int j : graph.joints_of[start]) {
        const Joint& joint = graph.model.joints[j];
        if (graph.moving(joint.bodies[0]) && graph.moving(joint.bodies[1])) continue;
        came = j;
        break;
    }
    order.pinned_start = came >= 0;
    if (came >= 0) order.joints.push_back(came);
    for (int body = start; body >= 0;) {
        order.bodies.push_back(body);
        int next_body = -1;
        for (int j : graph.joints_of[body]) {
            if (j == came) continue;
            const Joint& joint = graph.model.joints[j];
            const int other = joint.bodies[0] == body ? joint.bodies[1] : joint.bodies[0];
            order.joints.push_back(j);
            came = j;
            next_body = graph.moving(other) ? other : -1;
            break;
        }
        body = next_body;
    }
    order.found = order.bodies.size() == bodies.size() && order.joints.size() == joints.size();
    return order;
}

bool all_plain_balls(const Model& model, const std::vector<int>& bodies, const std::vector<int>& joints) {
    return std::all_of(joints.begin(), joints.end(), [&](int j) { return plain_ball(model.joints[j]); }) &&
           std::none_of(bodies.begin(), bodies.end(), [&](int b) { return has_fixed_directions(model, b); });
}

bool all_elastic(const Model& model, const std::vector<int>& bodies) {
    return std::all_of(bodies.begin(), bodies.end(), [&](int b) { return is_elastic(model, b); });
}

// Chains of plain ball joints first; nets of them when their joints meet in few points; rows for everything else.
std::unique_ptr<Component> make_component(const Graph& graph, std::vector<int> bodies,
                                          std::vector<int> joints, const SolverChoice& choice) {
    const Model& model = graph.model;
    const State& state = graph.state;
    if (choice.solver == "auto" || choice.solver == "chain") {
        ChainOrder chain = chain_order(graph, bodies, joints);
        if (chain.found)
            return std::make_unique<BallChain>(model, state, std::move(chain.bodies), std::move(chain.joints),
                                               chain.pinned_start);
    }
    const bool loops =
        joints.size() >= bodies.size() + 3 &&  // more than a tree with a few closers
        all_elastic(model, bodies);            // rigid rods have no compliance along themselves to invert
    if ((choice.solver == "points" && all_elastic(model, bodies)) || (choice.solver == "auto" && loops))
        if (all_plain_balls(model, bodies, joints)) {
            NetLayout layout = find_net(model, state, bodies, joints);
            const bool few = 4 * layout.fixed.size() <= 3 * joints.size();
            if (layout.valid && (few || choice.solver == "points"))
                return std::make_unique<NetComponent>(model, std::move(bodies), std::move(joints),
                                                      std::move(layout));
        }
    return std::make_unique<RowComponent>(model, state, std::move(bodies), joints, choice);
}

}  // namespace

std::vector<std::unique_ptr<Component>> make_components(const Model& model, const State& state,
                                                        const SolverChoice& choice) {
    const int count = model.bodies.size();
    Graph graph{model, state, UnionFind(count), std::vector<std::vector<int>>(count)};
    for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
        const Joint& joint = model.joints[j];
        if (state.broken[j]) continue;
        int first = -1;
        for (int body : bodies_bound(model, joint)) {
            if (!graph.moving(body)) continue;
            if (joint.spec.type != JointType::coupling) graph.joints_of[body].push_back(j);
            if (first < 0)
                first = body;
            else
                graph.sets.join(body, first);
        }
    }
    // components in the order of their first body
    std::vector<int> number(count, -1);
    std::vector<std::vector<int>> bodies, joints;
    for (int body = 0; body < count; ++body) {
        if (!graph.moving(body)) continue;
        const int top = graph.sets.root(body);
        if (number[top] < 0) {
            number[top] = static_cast<int>(bodies.size());
            bodies.emplace_back();
            joints.emplace_back();
        }
        bodies[number[top]].push_back(body);
    }
    for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
        const Joint& joint = model.joints[j];
        if (state.broken[j]) continue;
        for (int body : bodies_bound(model, joint))
            if (graph.moving(body)) {
                joints[number[graph.sets.root(body)]].push_back(j);
                break;
            }
    }
    std::vector<std::unique_ptr<Component>> components;
    for (std::size_t c = 0; c < bodies.size(); ++c) {
        components.push_back(make_component(graph, std::move(bodies[c]), std::move(joints[c]), choice));
    }
    return components;
}

std::vector<int> joints_among(const Model& model, const State& state, const std::vector<int>& bodies) {
    std::vector<char> inside(model.bodies.size(), 0);
    for (int body : bodies) inside[body] = 1;
    std::vector<int> joints;
    for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
        if (state.broken[j]) continue;
        const std::vector<int> bound = bodies_bound(model, model.joints[j]);
        if (std::any_of(bound.begin(), bound.end(), [&](int b) { return b >= 0 && inside[b]; }))
            joints.push_back(j);
    }
    return joints;
}

}  // namespace tenon::articulated

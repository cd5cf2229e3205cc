#include "methods/affine/coupled_nodes.hpp"

#include <algorithm>

namespace tenon::affine {
namespace {

std::vector<std::vector<int>> neighbours_of(const ElasticBody& body) {
    std::vector<std::vector<int>> neighbours(body.rest.size());
    for (const Tet& tet : body.tets)
        for (const int a : tet)
            for (const int b : tet)
                if (a != b && a >= 0 && b >= 0) neighbours[a].push_back(b);
    for (std::vector<int>& list : neighbours) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return neighbours;
}

// Groups of up to four vertices that share elements: the more neighbours in a group, the fewer blocks of the matrix.
std::vector<std::array<int, 4>> group_vertices(const ElasticBody& body, std::vector<char> taken) {
    const std::vector<std::vector<int>> neighbours = neighbours_of(body);
    std::vector<std::array<int, 4>> groups;
    std::vector<int> links(body.rest.size(), 0), queue;
    const auto fill = [&](int seed) {
        std::array<int, 4> group{{-1, -1, -1, -1}};
        std::vector<int> near;
        int next = seed;
        for (int k = 0; k < 4 && next >= 0; ++k) {
            group[k] = next;
            taken[next] = 1;
            for (const int n : neighbours[next])
                if (!taken[n] && links[n]++ == 0) near.push_back(n);
            next = -1;
            for (const int n : near)
                if (!taken[n] && (next < 0 || links[n] > links[next])) next = n;
        }
        for (const int n : near) {
            links[n] = 0;
            if (!taken[n]) queue.push_back(n);
        }
        groups.push_back(group);
    };
    for (int v = 0; v < static_cast<int>(body.rest.size()); ++v) {
        if (!taken[v]) queue.push_back(v);
        for (std::size_t k = 0; k < queue.size(); ++k)  // breadth first, so that few vertices are left alone
            if (!taken[queue[k]]) fill(queue[k]);
        queue.clear();
    }
    return groups;
}

Vec4 weights_of(const Vec3& local) {
    return {local.x(), local.y(), local.z(), 1.0};
}

}  // namespace

MaterialPoint CoupledNodes::point_of(const State& state, int body, const Vec3& local) const {
    MaterialPoint point;
    point.node = of_body[body];
    point.weight = weights_of(local);
    point.fixed = transform(state.q[body], local);
    return point;
}

CoupledNodes make_nodes(const Model& model, const State& state) {
    CoupledNodes nodes;
    nodes.of_body.assign(state.q.size(), -1);
    for (std::size_t i = 0; i < state.q.size(); ++i) {
        if (state.type[i] == BodyType::static_body) continue;
        nodes.of_body[i] = nodes.size();
        CoupledNode& node = nodes.node.emplace_back();
        node.body = static_cast<int>(i);
        node.size = model.shape_of(node.body).radius;
    }
    for (std::size_t e = 0; e < model.elastic.size(); ++e) {
        const ElasticBody& body = model.elastic[e];
        std::vector<MaterialPoint> points(body.rest.size());
        std::vector<char> taken(body.rest.size(), 0);
        std::vector<int> node_of_script(body.scripts.size(), -1);
        for (std::size_t s = 0; s < body.scripts.size(); ++s) {
            if (body.scripts[s].size() < 2) continue;
            node_of_script[s] = nodes.size();
            CoupledNode& node = nodes.node.emplace_back();
            node.kind = CoupledNode::Kind::script;
            node.elastic = static_cast<int>(e);
            node.script = static_cast<int>(s);
            for (const ElasticBody::Pin& pin : body.pins)
                if (pin.body < 0 && pin.script == node.script)
                    node.size = std::max(node.size, pin.local.norm());
        }
        for (const ElasticBody::Pin& pin : body.pins) {
            taken[pin.vertex] = 1;
            MaterialPoint& point = points[pin.vertex];
            if (pin.body >= 0) {
                point = nodes.point_of(state, pin.body, pin.local);
            } else {
                point.node = node_of_script[pin.script];
                point.weight = weights_of(pin.local);
                point.fixed = state.elastic[e].x[pin.vertex];
            }
            nodes.attached.push_back({static_cast<int>(e), pin.vertex});
        }
        for (const auto& group : group_vertices(body, taken)) {
            for (int k = 0; k < 4; ++k)
                if (group[k] >= 0) points[group[k]] = {nodes.size(), Vec4::Unit(k), Vec3::Zero()};
            CoupledNode& node = nodes.node.emplace_back();
            node.kind = CoupledNode::Kind::vertices;
            node.elastic = static_cast<int>(e);
            node.vertex = group;
        }
        nodes.vertex.push_back(std::move(points));
    }
    std::sort(nodes.attached.begin(), nodes.attached.end());
    return nodes;
}

Mat12 increment_map(const CoupledNode& node, const Mat34& q) {
    if (!node.turns()) {
        Mat12 map = Mat12::Zero();
        for (int k = 0; k < 4; ++k)
            if (node.vertex[k] >= 0) map.block<3, 3>(3 * k, 3 * k).setIdentity();
        return map;
    }
    Mat12 map = Mat12::Zero();
    for (int k = 0; k < 3; ++k) {
        map.block<3, 3>(3 * k, 0) = -skew(q.col(k));  // w x a_k
        map.block<3, 1>(3 * k, 6 + k) = q.col(k);     // E_kk
    }
    map.block<3, 3>(9, 3).setIdentity();
    constexpr int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (int p = 0; p < 3; ++p) {
        const auto [i, j] = pairs[p];
        map.block<3, 1>(3 * j, 9 + p) = q.col(i);
        map.block<3, 1>(3 * i, 9 + p) = q.col(j);
    }
    return map;
}

Mat12 increment_map(const CoupledNode& node, const Mat34& q, const Model& model) {
    Mat12 map = increment_map(node, q);
    if (node.kind == CoupledNode::Kind::body)
        for (int k = 0; k < 6; ++k)
            if (model.bodies.fixed[node.body][k]) map.col(k < 3 ? 3 + k : k - 3).setZero();
    return map;
}

Mat34 moved(const CoupledNode& node, const Mat34& q, const Vec12& increment, double t) {
    if (!node.turns()) return q + t * Eigen::Map<const Mat34>(increment.data());
    const Vec12& d = increment;
    Mat3 E;
    E << d[6], d[9], d[10], d[9], d[7], d[11], d[10], d[11], d[8];
    const Mat3 A = q.leftCols<3>();
    Mat34 out;
    out.leftCols<3>() = rotation_matrix(t * d.head<3>()) * (A + t * A * E);
    out.col(3) = q.col(3) + t * d.segment<3>(3);
    return out;
}

}  // namespace tenon::affine

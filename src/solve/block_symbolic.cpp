#include "solve/block_symbolic.hpp"

#include <metis.h>

#include <algorithm>
#include <mutex>
#include <numeric>

namespace tenon::solve {
namespace {

// Both directions of every edge, without the diagonal.
struct Graph {
    std::vector<idx_t> start, neighbour;
};

Graph full_graph(const BlockPattern& pattern) {
    Graph graph;
    graph.start.assign(pattern.nodes + 1, 0);
    for (int i = 0; i < pattern.nodes; ++i)
        for (int e = pattern.start[i]; e < pattern.start[i + 1]; ++e) {
            ++graph.start[i + 1];
            ++graph.start[pattern.columns[e] + 1];
        }
    std::partial_sum(graph.start.begin(), graph.start.end(), graph.start.begin());
    graph.neighbour.resize(graph.start.back());
    std::vector<idx_t> next(graph.start.begin(), graph.start.end() - 1);
    for (int i = 0; i < pattern.nodes; ++i)
        for (int e = pattern.start[i]; e < pattern.start[i + 1]; ++e) {
            const int j = pattern.columns[e];
            graph.neighbour[next[i]++] = j;
            graph.neighbour[next[j]++] = i;
        }
    return graph;
}

std::vector<int> fill_reducing_order(const BlockPattern& pattern, Graph& graph) {
    std::vector<int> order(pattern.nodes);
    std::iota(order.begin(), order.end(), 0);
    if (pattern.nodes < 4 || pattern.columns.empty()) return order;
    idx_t count = pattern.nodes;
    std::vector<idx_t> permutation(count), inverse(count);
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    // METIS draws from the C library's random numbers: two at a time would share a sequence, and orders would vary
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const int status = METIS_NodeND(&count, graph.start.data(), graph.neighbour.data(), nullptr, options,
                                    permutation.data(), inverse.data());
    if (status == METIS_OK) std::copy(permutation.begin(), permutation.end(), order.begin());
    return order;
}

std::vector<int> inverse_of(const std::vector<int>& order) {
    std::vector<int> position(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<int>(i);
    return position;
}

// Liu's algorithm with path compression, in elimination positions.
std::vector<int> elimination_tree(const Graph& graph, const std::vector<int>& order,
                                  const std::vector<int>& position) {
    const int count = static_cast<int>(order.size());
    std::vector<int> parent(count, -1), ancestor(count, -1);
    for (int column = 0; column < count; ++column)
        for (idx_t e = graph.start[order[column]]; e < graph.start[order[column] + 1]; ++e)
            for (int i = position[graph.neighbour[e]]; i >= 0 && i < column;) {
                const int next = ancestor[i];
                ancestor[i] = column;
                if (next < 0) parent[i] = column;
                i = next == column ? -1 : next;
            }
    return parent;
}

std::vector<int> post_order(const std::vector<int>& parent) {
    const int count = static_cast<int>(parent.size());
    std::vector<int> first_child(count, -1), sibling(count, -1), order, stack;
    for (int i = count - 1; i >= 0; --i)
        if (parent[i] >= 0) {
            sibling[i] = first_child[parent[i]];
            first_child[parent[i]] = i;
        }
    order.reserve(count);
    for (int root = 0; root < count; ++root) {
        if (parent[root] >= 0) continue;
        stack.push_back(root);
        while (!stack.empty()) {
            const int node = stack.back();
            if (first_child[node] >= 0) {
                stack.push_back(first_child[node]);
                first_child[node] = -1;
            } else {
                order.push_back(node);
                stack.pop_back();
                if (!stack.empty() && sibling[node] >= 0) stack.push_back(sibling[node]);
            }
        }
    }
    return order;
}

// Rows below the diagonal of each column of the factor; columns with the same rows become one supernode.
std::vector<Supernode> exact_supernodes(const Graph& graph, const BlockSymbolic& symbolic,
                                        const std::vector<int>& parent) {
    const int count = static_cast<int>(parent.size());
    std::vector<std::vector<int>> rows(count), children(count);
    for (int i = 0; i < count; ++i)
        if (parent[i] >= 0) children[parent[i]].push_back(i);
    std::vector<int> seen(count, -1);
    std::vector<Supernode> supernodes;
    for (int column = 0; column < count; ++column) {
        std::vector<int>& own = rows[column];
        seen[column] = column;
        const auto add = [&](int row) {
            if (row > column && seen[row] != column) {
                seen[row] = column;
                own.push_back(row);
            }
        };
        const int node = symbolic.order[column];
        for (idx_t e = graph.start[node]; e < graph.start[node + 1]; ++e)
            add(symbolic.position[graph.neighbour[e]]);
        for (int child : children[column])
            for (int row : rows[child]) add(row);
        std::sort(own.begin(), own.end());
        const bool joins =
            column > 0 && parent[column - 1] == column && rows[column - 1].size() == own.size() + 1;
        for (int child : children[column])
            if (!(joins && child == column - 1)) std::vector<int>().swap(rows[child]);
        if (joins) {
            std::vector<int>().swap(rows[column - 1]);
            ++supernodes.back().count;
            supernodes.back().rows = own;
        } else {
            supernodes.push_back({column, 1, -1, own, {}});
        }
    }
    return supernodes;
}

// Merges a supernode into the one right after it when that is its parent and the zeros this stores are few.
std::vector<Supernode> merge_small(std::vector<Supernode> exact, int dof) {
    std::vector<Supernode> merged;
    std::vector<double> zeros;  // blocks stored though zero, per supernode in `merged`
    for (Supernode& next : exact) {
        merged.push_back(std::move(next));
        zeros.push_back(0);
        while (merged.size() > 1) {
            Supernode &child = merged[merged.size() - 2], &top = merged.back();
            if (child.rows.empty() || child.rows.front() != top.first) break;
            const double height = top.count + static_cast<double>(top.rows.size());
            const double added = child.count * (height - static_cast<double>(child.rows.size()));
            const double all_zeros = zeros[zeros.size() - 2] + zeros.back() + added;
            const double columns = child.count + top.count;
            const double stored = columns * (0.5 * columns + static_cast<double>(top.rows.size()));
            const double share = all_zeros / stored, width = columns * dof;
            const bool worth =
                width <= 12 || (width <= 48 && share < 0.5) || (width <= 144 && share < 0.15) || share < 0.05;
            if (!worth) break;
            child.count += top.count;
            child.rows = std::move(top.rows);
            zeros[zeros.size() - 2] = all_zeros;
            merged.pop_back();
            zeros.pop_back();
        }
    }
    return merged;
}

void link_to_parents(std::vector<Supernode>& supernodes, int count) {
    std::vector<int> owner(count);
    for (std::size_t s = 0; s < supernodes.size(); ++s)
        for (int c = 0; c < supernodes[s].count; ++c) owner[supernodes[s].first + c] = static_cast<int>(s);
    for (Supernode& child : supernodes) {
        if (child.rows.empty()) continue;
        child.parent = owner[child.rows.front()];
        const Supernode& parent = supernodes[child.parent];
        child.place.reserve(child.rows.size());
        auto at = parent.rows.begin();
        for (int row : child.rows) {
            if (row < parent.first + parent.count) {
                child.place.push_back(row - parent.first);
            } else {
                at = std::lower_bound(at, parent.rows.end(), row);
                child.place.push_back(parent.count + static_cast<int>(at - parent.rows.begin()));
            }
        }
    }
}

}  // namespace

std::vector<int> dissection_order(const BlockPattern& pattern) {
    Graph graph = full_graph(pattern);
    return fill_reducing_order(pattern, graph);
}

BlockSymbolic analyse_pattern(const BlockPattern& pattern, int dof, bool in_order) {
    std::vector<int> order(pattern.nodes);
    std::iota(order.begin(), order.end(), 0);
    return analyse_pattern(pattern, dof, in_order ? order : dissection_order(pattern));
}

BlockSymbolic analyse_pattern(const BlockPattern& pattern, int dof, const std::vector<int>& first_order) {
    Graph graph = full_graph(pattern);
    BlockSymbolic symbolic;
    symbolic.order = first_order;
    symbolic.position = inverse_of(symbolic.order);

    // renumber so that children come right before their parents
    std::vector<int> parent = elimination_tree(graph, symbolic.order, symbolic.position);
    const std::vector<int> post = post_order(parent), post_position = inverse_of(post);
    std::vector<int> order(post.size()), post_parent(post.size(), -1);
    for (std::size_t i = 0; i < post.size(); ++i) {
        order[i] = symbolic.order[post[i]];
        if (parent[post[i]] >= 0) post_parent[i] = post_position[parent[post[i]]];
    }
    symbolic.order = std::move(order);
    symbolic.position = inverse_of(symbolic.order);

    symbolic.supernodes = merge_small(exact_supernodes(graph, symbolic, post_parent), dof);
    link_to_parents(symbolic.supernodes, pattern.nodes);
    return symbolic;
}

}  // namespace tenon::solve

// Ordering and symbolic factorisation of a block pattern: which columns are eliminated together, in what
// order, and which rows each such supernode touches.
#pragma once

#include <vector>

#include "solve/block_matrix.hpp"

namespace tenon::solve {

// Nodes are numbered in elimination order here. Rows are ascending and come after the supernode's columns.
struct Supernode {
    int first = 0, count = 0;
    int parent = -1;
    std::vector<int> rows;
    std::vector<int> place;  // of each row in the parent's front: its columns first, then its rows
};

struct BlockSymbolic {
    std::vector<int> order;             // elimination position to node
    std::vector<int> position;          // node to elimination position
    std::vector<Supernode> supernodes;  // children before parents
};

// `dof` matters for how much fill is worth larger supernodes. Nested dissection orders the nodes, unless they come in
// a good elimination order already (the rest of a larger system that was ordered once): then `in_order`.
BlockSymbolic analyse_pattern(const BlockPattern& pattern, int dof, bool in_order = false);

// With an elimination order that is known already: position to node.
BlockSymbolic analyse_pattern(const BlockPattern& pattern, int dof, const std::vector<int>& first_order);

// Nested dissection alone: elimination position to node.
std::vector<int> dissection_order(const BlockPattern& pattern);

}  // namespace tenon::solve

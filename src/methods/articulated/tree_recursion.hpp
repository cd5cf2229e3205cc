// Rows between bodies that form trees, solved body by body from the leaves to the root and back: the articulated-body recursion
// on the KKT system, in time linear in the number of bodies.
//
// A body b hangs on its parent p by the rows C_b dq_b + C_p dq_p - E lambda = -c. With K_b its own matrix and what its children
// passed on, K_b dq_b + C_b^T lambda = f_b, eliminating dq_b and lambda leaves
//   S = C_b K_b^-1 C_b^T + E,   K_p += C_p^T S^-1 C_p,   f_p -= C_p^T S^-1 (C_b K_b^-1 f_b + c).
// All that is passed on is positive semidefinite and is added: no digits cancel, however long and stiff the chain. In the dual
// system the condition of a chain of n locked joints grows with n^4; here with n^2.
#pragma once

#include <vector>

#include "methods/articulated/body_field.hpp"
#include "methods/articulated/tree_kernel.hpp"

namespace tenon::articulated {

class TreeRecursion {
  public:
    // A set of rows: `bodies` are the one or two moving bodies it binds, by their place among the component's bodies.
    struct Block {
        int bodies[2] = {-1, -1};
        int rows = 0, row_start = 0;
    };

    // False when the graph of bodies and blocks is no forest in which each tree is bound to the world at most once.
    bool build(const std::vector<int>& bodies, const std::vector<Block>& blocks);

    // Gradients in the world's frame: `gradient(block, slot, row)`; rows that are not active do not bind.
    template <class Gradient>
    void factor(const BodyField& field, const Gradient& gradient, const std::vector<char>& active,
                const std::vector<double>& compliance) {
        begin(field);
        for (Node& node : nodes_) {
            const Link& link = links_[node.link];
            node.active = 0;
            for (int r = 0; r < link.rows; ++r)
                if (active[link.row_start + r]) active_row_[link.row_start + node.active++] = r;
            begin(field, node);
            if (node.parent >= 0) begin(field, nodes_[node.parent]);
            clear_rows(node);
            for (int k = 0; k < node.active; ++k) {
                const int r = active_row_[link.row_start + k], row = link.row_start + r;
                active_row_[link.row_start + k] = row;
                compliance_[link.row_start + k] = compliance[row];
                write_row(field, node, 0, k, gradient(link.block, link.own_slot, r));
                if (node.parent >= 0)
                    write_row(field, node, 1, k, gradient(link.block, 1 - link.own_slot, r));
            }
            eliminate(node);
        }
    }

    // Increments of the bodies under forces in the world's frame (per body, in the order given to build) with the active rows'
    // values `c`; writes the active rows' multipliers.
    void solve(const std::vector<Mat34>& force, const std::vector<double>& value, BodyField& field,
               std::vector<double>& multiplier);

  private:
    struct Link {  // to the parent
        int block = -1, own_slot = 0, rows = 0, row_start = 0;
    };
    struct Node {
        int place = -1;   // among the bodies
        int parent = -1;  // node
        int link = -1;
        int size = 0;        // unknowns: 6 of a rigid body, 12 of an elastic one
        int active = 0;      // rows
        bool begun = false;  // its matrix is written
        // where its numbers are, in the layout of tree_kernel.hpp
        std::size_t matrix = 0, own = 0, above = 0, schur = 0;
        std::size_t vector = 0;   // f, then dq
        std::size_t reduced = 0;  // multipliers
    };
    void begin(const BodyField& field);
    void begin(const BodyField& field, Node& node);
    void lay_out(const BodyField& field);
    void clear_rows(const Node& node);
    void write_row(const BodyField& field, const Node& node, int side, int row, const Mat34& gradient);
    void eliminate(const Node& node);

    std::vector<int> bodies_;
    std::vector<Node> nodes_;  // leaves first
    std::vector<Link> links_;
    std::vector<int> active_row_;     // per link, compacted at its row_start
    std::vector<double> compliance_;  // the same
    std::vector<double> values_, vectors_, reduced_;
    const TreeKernel* kernel_ = &tree_kernel();
    bool laid_out_ = false;
};

}  // namespace tenon::articulated

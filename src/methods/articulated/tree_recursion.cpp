#include "methods/articulated/tree_recursion.hpp"

#include <algorithm>
#include <array>

namespace tenon::articulated {
namespace {

// A force or a row's gradient, world frame, as a vector over the body's unknowns, `stride` apart.
[[gnu::always_inline]] inline void write_vector(const Mat3& rotation, const Mat34& load, int size, double* to,
                                                int stride) {
    const auto turned = [&](int i, int k) {  // R^T times the linear part
        return rotation(0, i) * load(0, k) + rotation(1, i) * load(1, k) + rotation(2, i) * load(2, k);
    };
    if (size == 6) {
        for (int p = 0; p < 3; ++p) {
            const int i = (p + 1) % 3, j = (p + 2) % 3;
            to[p * stride] = turned(j, i) - turned(i, j);  // torque_of
            to[(3 + p) * stride] = load(p, 3);
        }
    } else {
        for (int k = 0; k < 3; ++k)
            for (int i = 0; i < 3; ++i) to[(i + 3 * k) * stride] = turned(i, k);
        for (int i = 0; i < 3; ++i) to[(9 + i) * stride] = load(i, 3);
    }
}

void write_matrix(const BodyField& field, int body, double* to) {
    const KindMatrix& kind = field.matrix(body);
    const Mat3& R = field.rotation[body];
    const bool dense = field.dense[body] >= 0;
    if (kind.rigid) {
        Eigen::Map<Mat6, 0, Eigen::OuterStride<padded(6)>> K(to);
        if (dense) {  // its translations are in the turned frame
            K = field.dense_bodies[field.dense[body]].rigid_matrix;
            K.bottomRightCorner<3, 3>() = (R * K.bottomRightCorner<3, 3>() * R.transpose()).eval();
            K.bottomLeftCorner<3, 3>() = (R * K.bottomLeftCorner<3, 3>()).eval();
        } else {
            K.setZero();
            K.topLeftCorner<3, 3>() = turn_matrix(kind, field.stress[body]);
            K.bottomRightCorner<3, 3>().diagonal().setConstant(kind.mass_rate);
        }
        return;
    }
    Eigen::Map<Mat12> K(to);
    if (dense) {
        K = field.dense_bodies[field.dense[body]].matrix;
        K.bottomRightCorner<3, 3>() = (R * K.bottomRightCorner<3, 3>() * R.transpose()).eval();
        K.bottomLeftCorner<3, 9>() = (R * K.bottomLeftCorner<3, 9>()).eval();
    } else {
        K = dense_body_matrix(kind, geometric_stiffness(field.stress[body]), Mat3::Identity());
    }
}

}  // namespace

bool TreeRecursion::build(const std::vector<int>& bodies, const std::vector<Block>& blocks) {
    bodies_ = bodies;
    const int count = static_cast<int>(bodies.size());
    std::vector<std::vector<int>> blocks_of(count);
    std::vector<int> to_world(count, -1);
    for (int b = 0; b < static_cast<int>(blocks.size()); ++b) {
        const auto& [first, second] = blocks[b].bodies;
        if (first < 0 || first == second) return false;
        if (second < 0) {
            if (to_world[first] >= 0) return false;
            to_world[first] = b;
            continue;
        }
        blocks_of[first].push_back(b);
        blocks_of[second].push_back(b);
    }
    std::vector<int> node_of(count, -1);
    nodes_.clear();
    links_.clear();
    // from the bodies that are bound to the world, then from any that is left; depth first, so that what a body passes on goes
    // to one that is worked on soon
    int rows = 0;
    const auto enter = [&](int place, int parent, int block) {
        node_of[place] = static_cast<int>(nodes_.size());
        Link link;
        link.block = block;
        link.row_start = rows;
        if (block >= 0) {
            link.rows = blocks[block].rows;
            link.own_slot = blocks[block].bodies[0] == place ? 0 : 1;
            rows += link.rows;
        }
        Node node;
        node.place = place;
        node.parent = parent;
        node.link = static_cast<int>(links_.size());
        links_.push_back(link);
        nodes_.push_back(node);
    };
    std::vector<std::array<int, 3>> waiting;  // place, the parent's node, block between them
    for (const bool bound : {true, false})
        for (int root = 0; root < count; ++root) {
            if (node_of[root] >= 0 || (to_world[root] >= 0) != bound) continue;
            waiting.push_back({root, -1, to_world[root]});
            while (!waiting.empty()) {
                const auto [place, parent, came] = waiting.back();
                waiting.pop_back();
                if (node_of[place] >= 0) return false;  // a loop
                enter(place, parent, came);
                for (int block : blocks_of[place]) {
                    if (block == came) continue;
                    const int other =
                        blocks[block].bodies[0] == place ? blocks[block].bodies[1] : blocks[block].bodies[0];
                    if (node_of[other] >= 0 || to_world[other] >= 0) return false;
                    waiting.push_back({other, node_of[place], block});
                }
            }
        }
    const int last = count - 1;
    std::reverse(nodes_.begin(), nodes_.end());
    for (Node& node : nodes_)
        if (node.parent >= 0) node.parent = last - node.parent;
    // a link's rows are read by the system's numbers
    for (Link& link : links_)
        if (link.block >= 0) link.row_start = blocks[link.block].row_start;
    int end = 0;
    for (const Block& block : blocks) end = std::max(end, block.row_start + block.rows);
    active_row_.assign(end, -1);
    compliance_.assign(end, 0.0);
    laid_out_ = false;
    return true;
}

void TreeRecursion::lay_out(const BodyField& field) {
    std::size_t matrices = 0, vectors = 0, reduced = 0;
    for (Node& node : nodes_) node.size = field.matrix(bodies_[node.place]).rigid ? 6 : 12;
    for (Node& node : nodes_) {
        const std::size_t rows = links_[node.link].rows, row_places = padded(static_cast<int>(rows));
        const std::size_t size = node.size, places = padded(node.size);
        node.matrix = matrices, matrices += places * size;
        node.own = matrices, matrices += size * row_places;
        node.schur = matrices, matrices += row_places * rows;
        node.above = matrices, matrices += node.parent < 0 ? 0 : padded(nodes_[node.parent].size) * rows;
        node.vector = vectors, vectors += places;
        node.reduced = reduced, reduced += row_places;
    }
    values_.assign(matrices, 0.0);
    vectors_.assign(vectors, 0.0);
    reduced_.assign(reduced, 0.0);
    laid_out_ = true;
}

void TreeRecursion::begin(const BodyField& field) {
    if (!laid_out_) lay_out(field);
    for (Node& node : nodes_) node.begun = false;
}

// The body's own matrix, before what its children pass on.
void TreeRecursion::begin(const BodyField& field, Node& node) {
    if (node.begun) return;
    write_matrix(field, bodies_[node.place], values_.data() + node.matrix);
    node.begun = true;
}

void TreeRecursion::clear_rows(const Node& node) {
    std::fill_n(values_.data() + node.own, node.size * padded(node.active), 0.0);
}

void TreeRecursion::write_row(const BodyField& field, const Node& node, int side, int row,
                              const Mat34& gradient) {
    const Node& of = side == 0 ? node : nodes_[node.parent];
    const Mat3& rotation = field.rotation[bodies_[of.place]];
    if (side == 0)
        write_vector(rotation, gradient, of.size, values_.data() + node.own + row, padded(node.active));
    else
        write_vector(rotation, gradient, of.size, values_.data() + node.above + row * padded(of.size), 1);
}

void TreeRecursion::eliminate(const Node& node) {
    double *at = values_.data(), *S = at + node.schur;
    kernel_->eliminate(node.size, node.active, at + node.matrix, at + node.own, S,
                       compliance_.data() + links_[node.link].row_start);
    if (node.parent < 0) return;
    const Node& parent = nodes_[node.parent];
    kernel_->pass_on(parent.size, node.active, S, at + node.above, at + parent.matrix);
}

void TreeRecursion::solve(const std::vector<Mat34>& force, const std::vector<double>& value, BodyField& field,
                          std::vector<double>& multiplier) {
    const double* at = values_.data();
    for (const Node& node : nodes_)
        write_vector(field.rotation[bodies_[node.place]], force[node.place], node.size,
                     vectors_.data() + node.vector, 1);
    for (const Node& node : nodes_) {  // to the root: f becomes L^-1 f
        const int start = links_[node.link].row_start, rows = node.active;
        double *f = vectors_.data() + node.vector, *s = reduced_.data() + node.reduced;
        for (int r = 0; r < rows; ++r) s[r] = value[active_row_[start + r]];
        for (int r = rows; r < padded(rows); ++r) s[r] = 0.0;
        kernel_->forward(node.size, rows, at + node.matrix, at + node.own, at + node.schur, f, s);
        if (node.parent < 0) continue;
        const Node& parent = nodes_[node.parent];
        kernel_->forward_parent(parent.size, rows, at + node.above, s, vectors_.data() + parent.vector);
    }
    for (std::size_t n = nodes_.size(); n-- > 0;) {  // and back
        const Node& node = nodes_[n];
        const int start = links_[node.link].row_start, rows = node.active;
        double *f = vectors_.data() + node.vector, *s = reduced_.data() + node.reduced;
        if (node.parent >= 0) {
            const Node& parent = nodes_[node.parent];
            kernel_->backward_parent(parent.size, rows, at + node.above, vectors_.data() + parent.vector, s);
        }
        kernel_->backward(node.size, rows, at + node.matrix, at + node.own, at + node.schur, f, s);
        for (int r = 0; r < rows; ++r) multiplier[active_row_[start + r]] = s[r];
        Mat34& dq = field.dq[bodies_[node.place]];
        if (node.size == 6)
            set_linear_part(dq, skew(Vec3(f[0], f[1], f[2])));
        else
            for (int i = 0; i < 9; ++i) dq.data()[i] = f[i];
        for (int i = 0; i < 3; ++i) dq(i, 3) = f[node.size - 3 + i];
    }
}

}  // namespace tenon::articulated

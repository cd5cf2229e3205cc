#include "methods/articulated/tree_recursion.hpp"

#include <algorithm>

#include "solve/small_cholesky.hpp"

namespace tenon::articulated {
namespace {

using solve::cholesky_in_place;
using solve::solve_lower;
using solve::solve_lower_transposed;

// Cholesky factor in place, 1/L_jj on the diagonal. The matrices here are definite: inertia is part of each.
template <int N>
void factor_body(double* a) {
    for (int j = 0; j < N; ++j) {
        double* column = a + j * N;
        for (int k = 0; k < j; ++k) {
            const double* done = a + k * N;
            const double factor = done[j];
            for (int i = j; i < N; ++i) column[i] -= factor * done[i];
        }
        const double inverse = 1.0 / __builtin_sqrt(column[j]);
        column[j] = inverse;
        for (int i = j + 1; i < N; ++i) column[i] *= inverse;
    }
}

template <int N>
void lower(const double* a, double* x) {
    for (int j = 0; j < N; ++j) {
        const double value = x[j] * a[j * N + j];
        x[j] = value;
        for (int i = j + 1; i < N; ++i) x[i] -= a[j * N + i] * value;
    }
}

template <int N>
void lower_transposed(const double* a, double* x) {
    for (int j = N - 1; j >= 0; --j) {
        double value = x[j];
        for (int i = j + 1; i < N; ++i) value -= a[j * N + i] * x[i];
        x[j] = value * a[j * N + j];
    }
}

template <int N>
double dot(const double* a, const double* b) {
    double sum = 0.0;
    for (int i = 0; i < N; ++i) sum += a[i] * b[i];
    return sum;
}

template <int N>
void reduce(const double* L, double* own, double* S, int rows, const double* compliance) {
    for (int r = 0; r < rows; ++r) {
        lower<N>(L, own + r * N);
        for (int s = 0; s <= r; ++s) S[r + s * rows] = dot<N>(own + r * N, own + s * N);
        S[r + r * rows] += compliance[r];
    }
}

// K_p += Z^T Z with Z = Ls^-1 C_p, whose rows lie one after the other.
template <int N>
void pass_on(const double* S, double* above, double* K, int rows) {
    for (int r = 0; r < rows; ++r) {
        double* z = above + r * N;
        for (int s = 0; s < r; ++s) {
            const double factor = S[r + s * rows];
            for (int i = 0; i < N; ++i) z[i] -= factor * above[s * N + i];
        }
        const double inverse = S[r + r * rows];  // of a redundant row 0
        for (int i = 0; i < N; ++i) z[i] *= inverse;
        for (int j = 0; j < N; ++j)
            for (int i = j; i < N; ++i) K[i + j * N] += z[i] * z[j];
    }
}

template <class Six, class Twelve>
void by_size(int size, const Six& six, const Twelve& twelve) {
    if (size == 6)
        six();
    else
        twelve();
}

// A force or a row's gradient, world frame, as a vector over the body's unknowns.
void write_vector(const Mat3& rotation, const Mat34& load, int size, double* to) {
    const Mat3 G = product_left_transposed(rotation, linear_part(load));
    if (size == 6) {
        const Vec3 torque = torque_of(G);
        for (int i = 0; i < 3; ++i) to[i] = torque[i], to[3 + i] = load(i, 3);
    } else {
        for (int i = 0; i < 9; ++i) to[i] = G.data()[i];
        for (int i = 0; i < 3; ++i) to[9 + i] = load(i, 3);
    }
}

void write_matrix(const BodyField& field, int body, double* to) {
    const KindMatrix& kind = field.matrix(body);
    const Mat3& R = field.rotation[body];
    const bool dense = field.dense[body] >= 0;
    if (kind.rigid) {
        Eigen::Map<Mat6> K(to);
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
    // breadth first from the bodies that are bound to the world, then from any that is left
    std::size_t head = 0;
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
    for (const bool bound : {true, false})
        for (int root = 0; root < count; ++root) {
            if (node_of[root] >= 0 || (to_world[root] >= 0) != bound) continue;
            enter(root, -1, to_world[root]);
            for (; head < nodes_.size(); ++head) {
                const int place = nodes_[head].place, came = links_[nodes_[head].link].block;
                for (int block : blocks_of[place]) {
                    if (block == came) continue;
                    const int other =
                        blocks[block].bodies[0] == place ? blocks[block].bodies[1] : blocks[block].bodies[0];
                    if (node_of[other] >= 0 || to_world[other] >= 0) return false;  // a loop
                    enter(other, static_cast<int>(head), block);
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
    reduced_.assign(end, 0.0);
    laid_out_ = false;
    return true;
}

void TreeRecursion::lay_out(const BodyField& field) {
    std::size_t matrices = 0, vectors = 0;
    int most = 0;
    for (Node& node : nodes_) node.size = field.matrix(bodies_[node.place]).rigid ? 6 : 12;
    for (Node& node : nodes_) {
        const std::size_t rows = links_[node.link].rows, size = node.size;
        node.matrix = matrices, matrices += size * size;
        node.own = matrices, matrices += size * rows;
        node.schur = matrices, matrices += rows * rows;
        node.above = matrices, matrices += node.parent < 0 ? 0 : nodes_[node.parent].size * rows;
        node.vector = vectors, vectors += size;
        most = std::max(most, static_cast<int>(rows));
    }
    values_.assign(matrices, 0.0);
    vectors_.assign(vectors, 0.0);
    original_.assign(most, 0.0);
    laid_out_ = true;
}

void TreeRecursion::begin(const BodyField& field) {
    if (!laid_out_) lay_out(field);
    for (const Node& node : nodes_) write_matrix(field, bodies_[node.place], values_.data() + node.matrix);
}

void TreeRecursion::write_row(const BodyField& field, const Node& node, int side, int row,
                              const Mat34& gradient) {
    const Node& of = side == 0 ? node : nodes_[node.parent];
    double* to =
        values_.data() + (side == 0 ? node.own : node.above) + static_cast<std::size_t>(row) * of.size;
    write_vector(field.rotation[bodies_[of.place]], gradient, of.size, to);
}

void TreeRecursion::eliminate(const Node& node) {
    double* K = values_.data() + node.matrix;
    double* own = values_.data() + node.own;
    double* S = values_.data() + node.schur;
    const double* compliance = compliance_.data() + links_[node.link].row_start;
    const int rows = node.active;
    by_size(
        node.size, [&] { factor_body<6>(K), reduce<6>(K, own, S, rows, compliance); },
        [&] { factor_body<12>(K), reduce<12>(K, own, S, rows, compliance); });
    for (int r = 0; r < rows; ++r) original_[r] = S[r + r * rows];
    cholesky_in_place(S, rows, rows, original_.data());
    if (node.parent < 0) return;
    const Node& parent = nodes_[node.parent];
    double *above = values_.data() + node.above, *up = values_.data() + parent.matrix;
    by_size(
        parent.size, [&] { pass_on<6>(S, above, up, rows); }, [&] { pass_on<12>(S, above, up, rows); });
}

void TreeRecursion::solve(const std::vector<Mat34>& force, const std::vector<double>& value, BodyField& field,
                          std::vector<double>& multiplier) {
    for (const Node& node : nodes_)
        write_vector(field.rotation[bodies_[node.place]], force[node.place], node.size,
                     vectors_.data() + node.vector);
    for (const Node& node : nodes_) {  // to the root: f becomes L^-1 f
        const double* own = values_.data() + node.own;
        double* f = vectors_.data() + node.vector;
        const int start = links_[node.link].row_start, rows = node.active;
        double* s = reduced_.data() + start;
        by_size(
            node.size,
            [&] {
                lower<6>(values_.data() + node.matrix, f);
                for (int r = 0; r < rows; ++r) s[r] = dot<6>(own + r * 6, f);
            },
            [&] {
                lower<12>(values_.data() + node.matrix, f);
                for (int r = 0; r < rows; ++r) s[r] = dot<12>(own + r * 12, f);
            });
        for (int r = 0; r < rows; ++r) s[r] += value[active_row_[start + r]];
        solve_lower(values_.data() + node.schur, rows, rows, s);
        if (node.parent < 0) continue;
        const Node& parent = nodes_[node.parent];
        const double* above = values_.data() + node.above;
        double* up = vectors_.data() + parent.vector;
        for (int r = 0; r < rows; ++r)
            for (int i = 0; i < parent.size; ++i) up[i] -= above[r * parent.size + i] * s[r];
    }
    for (std::size_t n = nodes_.size(); n-- > 0;) {  // and back
        const Node& node = nodes_[n];
        const double* own = values_.data() + node.own;
        double* f = vectors_.data() + node.vector;
        const int start = links_[node.link].row_start, rows = node.active;
        double* s = reduced_.data() + start;
        if (node.parent >= 0) {
            const Node& parent = nodes_[node.parent];
            const double *above = values_.data() + node.above, *dq = vectors_.data() + parent.vector;
            for (int r = 0; r < rows; ++r)
                for (int i = 0; i < parent.size; ++i) s[r] += above[r * parent.size + i] * dq[i];
        }
        solve_lower_transposed(values_.data() + node.schur, rows, rows, s);
        for (int r = 0; r < rows; ++r) {
            multiplier[active_row_[start + r]] = s[r];
            for (int i = 0; i < node.size; ++i) f[i] -= own[r * node.size + i] * s[r];
        }
        Mat34& dq = field.dq[bodies_[node.place]];
        if (node.size == 6) {
            lower_transposed<6>(values_.data() + node.matrix, f);
            set_linear_part(dq, skew_matrix(Vec3(f[0], f[1], f[2])));
        } else {
            lower_transposed<12>(values_.data() + node.matrix, f);
            for (int i = 0; i < 9; ++i) dq.data()[i] = f[i];
        }
        for (int i = 0; i < 3; ++i) dq(i, 3) = f[node.size - 3 + i];
    }
}

}  // namespace tenon::articulated

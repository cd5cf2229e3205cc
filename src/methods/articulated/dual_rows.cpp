#include "methods/articulated/dual_rows.hpp"

#include <algorithm>
#include <unordered_map>

#include "math/parallel.hpp"
#include "solve/block_gauss_seidel.hpp"
#include "solve/chain_thomas.hpp"
#include "solve/clique_cholesky.hpp"
#include "solve/loop_schur.hpp"
#include "solve/tree_elimination.hpp"

namespace tenon::articulated {
namespace {

double dot(const Mat34& a, const Mat34& b) {
    return a.cwiseProduct(b).sum();
}

constexpr std::size_t kGrain = 64;

// The rows at one body while its part C H^-1 C^T of the dual system is made: points by closed forms, other rows one by one.
class CliqueScratch {
  public:
    void begin(const BodyInverse& inverse, const Mat3& rotation, int size) {
        inverse_ = &inverse;
        rotation_ = rotation;
        if (inverse.kind->rigid) turn_ = product_right_transposed(product(rotation, inverse.turn), rotation);
        points_.clear();
        rows_.clear();
        empty_.assign(size, 1);
    }

    void add_point(int row, const Vec4& arm) {
        const Vec3 x(arm[3] * arm.head<3>());
        points_.push_back({row, x, product(rotation_, x), arm[3]});
        for (int r = 0; r < 3; ++r) empty_[row + r] = 0;
    }

    // `moved`: H^-1 gradient.
    void add_row(int row, const Mat34& gradient, const Mat34& moved) {
        RowAt entry{row, gradient, moved};
        set_linear_part(entry.turned, product_left_transposed(rotation_, linear_part(gradient)));
        rows_.push_back(entry);
        empty_[row] = 0;
    }

    void write(double* matrix, int size) const {
        const auto entry = [&](int i, int j) -> double& {
            return matrix[i + static_cast<std::size_t>(j) * size];
        };
        for (int j = 0; j < size; ++j)
            if (empty_[j])
                for (int i = 0; i < size; ++i) entry(i, j) = entry(j, i) = 0.0;
        for (std::size_t b = 0; b < points_.size(); ++b)
            for (std::size_t a = 0; a <= b; ++a) {
                const Mat3 S = compliance(points_[a], points_[b]);
                const int i = points_[a].row, j = points_[b].row;
                for (int k = 0; k < 3; ++k)
                    for (int l = 0; l < 3; ++l)
                        if (a < b || l <= k) entry(i + l, j + k) = entry(j + k, i + l) = S(l, k);
            }
        for (std::size_t b = 0; b < rows_.size(); ++b) {
            const RowAt& right = rows_[b];
            for (const PointAt& left : points_) {
                const Vec3 v = left.sign * (product(rotation_, product(linear_part(right.moved), left.x)) +
                                            right.moved.col(3));
                for (int k = 0; k < 3; ++k)
                    entry(left.row + k, right.row) = entry(right.row, left.row + k) = v[k];
            }
            for (std::size_t a = 0; a <= b; ++a) {
                const double *x = rows_[a].turned.data(), *y = right.moved.data();
                double even = 0.0, odd = 0.0;
                for (int k = 0; k < 12; k += 2) even += x[k] * y[k], odd += x[k + 1] * y[k + 1];
                entry(rows_[a].row, right.row) = entry(right.row, rows_[a].row) = even + odd;
            }
        }
    }

  private:
    struct PointAt {
        int row;
        Vec3 x, turned;  // in the body's frame, and in the world's
        double sign;
    };
    struct RowAt {
        int row;
        Mat34 turned, moved;  // R^T C and H^-1 C^T
    };

    // J(x) H^-1 J(y)^T in the world's frame. Of a rigid body  -[x] K^-1 [y] + 1/m  with everything turned before.
    Mat3 compliance(const PointAt& a, const PointAt& b) const {
        Mat3 S;
        if (inverse_->kind->rigid) {
            S = -product(skew(a.turned), product(turn_, skew(b.turned)));
            S.diagonal().array() += inverse_->kind->translation_inverse;
        } else {
            S = product_right_transposed(product(rotation_, point_compliance(*inverse_, a.x, b.x)),
                                         rotation_);
        }
        return a.sign * b.sign * S;
    }

    const BodyInverse* inverse_ = nullptr;
    Mat3 rotation_, turn_;
    std::vector<PointAt> points_;
    std::vector<RowAt> rows_;
    std::vector<char> empty_;  // inactive rows
};

// The force of rows at one body: their gradients times `lambda`, without those that are `left_out`.
template <class Incidence, class LeftOut>
Mat34 force_of(const Incidence& at, const std::vector<Mat34>& gradient, const double* lambda,
               const LeftOut& left_out) {
    Mat34 force = Mat34::Zero();
    if (at.points > 0)
        for (int k = 0; k < 4; ++k)
            for (int i = 0; i < 3; ++i) force(i, k) = lambda[i] * at.arm[k];
    for (int r = at.points; r < at.rows; ++r)
        if (!left_out(r)) force += lambda[r] * gradient[at.gradient_start + r];
    return force;
}

}  // namespace

std::unique_ptr<solve::CliqueSolver> make_clique_solver(const solve::CliqueSystem& system,
                                                        const SolverChoice& choice) {
    const solve::TopologyReport topology = solve::find_topology(system, choice.max_closer_rows);
    const bool chain = topology.topology == solve::Topology::chain;
    const bool forest = topology.closers.empty();
    const std::string& wish = choice.solver;
    // A wish that the topology does not allow falls back to the sparse solver, which solves anything.
    if (wish == "gauss-seidel")
        return std::make_unique<solve::BlockGaussSeidel>(system, choice.sweep_tolerance, choice.max_sweeps);
    if (chain && (wish == "auto" || wish == "chain")) return std::make_unique<solve::ChainThomas>(system);
    if (forest && (wish == "auto" || wish == "tree")) return std::make_unique<solve::TreeElimination>(system);
    if (wish == "loops" || (wish == "auto" && topology.topology == solve::Topology::loops))
        return std::make_unique<solve::LoopSchur>(system, topology.closers);
    return std::make_unique<solve::CliqueCholesky>(system);
}

int DualRows::add_block(const std::vector<int>& bodies, int rows) {
    Block block;
    for (int body : bodies) block.bodies[block.body_count++] = body;
    block.rows = rows;
    block.row_start = static_cast<int>(value.size());
    block.gradient_start = gradient_.size();
    gradient_.resize(gradient_.size() + static_cast<std::size_t>(rows) * bodies.size(), Mat34::Zero());
    const std::size_t total = static_cast<std::size_t>(block.row_start + rows);
    value.resize(total, 0.0);
    compliance.resize(total, 0.0);
    multiplier.resize(total, 0.0);
    active.resize(total, 1);
    blocks_.push_back(block);
    return blocks() - 1;
}

void DualRows::set_point(int block, int slot, const Vec4& arm) {
    arms_.push_back({block, slot, arm});
}

void DualRows::finish(const SolverChoice& choice) {
    std::unordered_map<int, int> clique_of;
    std::vector<std::vector<Incidence>> touching;
    std::sort(arms_.begin(), arms_.end(), [](const Arm& x, const Arm& y) {
        return x.block != y.block ? x.block < y.block : x.slot < y.slot;
    });
    std::size_t next_arm = 0;
    for (int b = 0; b < blocks(); ++b) {
        system_.add_block(blocks_[b].rows);
        for (int s = 0; s < blocks_[b].body_count; ++s) {
            const auto [found, added] =
                clique_of.try_emplace(blocks_[b].bodies[s], static_cast<int>(body_.size()));
            if (added) {
                body_.push_back(blocks_[b].bodies[s]);
                touching.emplace_back();
            }
            Incidence at{b, s, blocks_[b].row_start, blocks_[b].rows,
                         blocks_[b].gradient_start + static_cast<std::size_t>(s) * blocks_[b].rows};
            for (; next_arm < arms_.size() && arms_[next_arm].block == b && arms_[next_arm].slot == s;
                 ++next_arm) {
                at.points = 3;
                at.arm = arms_[next_arm].arm;
            }
            touching[found->second].push_back(at);
        }
    }
    incidence_start_.assign(1, 0);
    std::vector<int> members;
    for (const auto& list : touching) {
        members.clear();
        for (const Incidence& i : list) {
            incidence_.push_back(i);
            members.push_back(i.block);
        }
        incidence_start_.push_back(static_cast<int>(incidence_.size()));
        system_.add_clique(members);
    }
    moved_.resize(gradient_.size());
    inverse_.resize(body_.size());
    rotation_.resize(body_.size());
    by_points_.resize(body_.size());
    free_.resize(body_.size());
    slopes_.resize(body_.size());
    clique_of_slot_.assign(static_cast<std::size_t>(max_bodies) * blocks_.size(), -1);
    for (int b = 0; b < blocks(); ++b)
        for (int s = 0; s < blocks_[b].body_count; ++s)
            clique_of_slot_[max_bodies * b + s] = clique_of[blocks_[b].bodies[s]];
    rhs_.resize(value.size());
    softness_.assign(value.size(), 0.0);
    about_.assign(value.size(), 0.0);
    if (!make_recursion(choice)) solver_ = make_clique_solver(system_, choice);
}

// Where bodies form trees, they are solved from the leaves to the root; a wish for another solver is granted.
bool DualRows::make_recursion(const SolverChoice& choice) {
    if (choice.solver != "auto" && choice.solver != "chain" && choice.solver != "tree") return false;
    std::vector<TreeRecursion::Block> links(blocks_.size());
    std::vector<int> blocks_of_body(body_.size(), 0);
    is_chain_ = true;
    for (int b = 0; b < blocks(); ++b) {
        if (blocks_[b].body_count > 2) return false;
        links[b].rows = blocks_[b].rows;
        links[b].row_start = blocks_[b].row_start;
        for (int s = 0; s < blocks_[b].body_count; ++s) {
            links[b].bodies[s] = clique_of_slot_[max_bodies * b + s];
            if (++blocks_of_body[links[b].bodies[s]] > 2) is_chain_ = false;
        }
    }
    if (choice.solver == "chain" && !is_chain_) return false;
    if (choice.solver == "tree") is_chain_ = false;  // named as it was asked for
    recursion_ = std::make_unique<TreeRecursion>();
    if (recursion_->build(body_, links)) return true;
    recursion_.reset();
    return false;
}

std::string DualRows::solver_name() const {
    if (body_.empty()) return "free";
    if (recursion_) return is_chain_ ? "chain" : "tree";
    return solver_->name();
}

void DualRows::factor(const BodyField& field) {
    if (recursion_) {
        const auto at = [&](int block, int slot, int row) -> const Mat34& {
            return gradient(block, slot, row);
        };
        recursion_->factor(field, at, active, compliance);
        return;
    }
    assemble(field);
    solver_->factor(system_);
}

// The part of the dual system that goes through one body.
void DualRows::assemble_clique(const BodyField& field, std::size_t c) {
    thread_local CliqueScratch scratch;
    const int body = body_[c], size = system_.clique_rows(static_cast<int>(c));
    const BodyInverse& inverse = inverse_[c] = field.inverse(body);
    rotation_[c] = field.rotation[body];
    scratch.begin(inverse, rotation_[c], size);
    const bool dense = field.dense[body] >= 0;
    by_points_[c] = !dense;
    int row = 0;
    for (int i = incidence_start_[c]; i < incidence_start_[c + 1]; ++i) {
        const Incidence& at = incidence_[i];
        const int points = dense ? 0 : at.points;
        if (points > 0) scratch.add_point(row, at.arm);
        for (int r = points; r < at.rows; ++r)
            if (active[at.row_start + r]) {
                const Mat34& gradient = gradient_[at.gradient_start + r];
                Mat34& moved = moved_[at.gradient_start + r];
                moved = dense ? field.apply_inverse(body, inverse, gradient)
                              : apply(inverse, rotation_[c], gradient);
                scratch.add_row(row + r, gradient, moved);
            }
        row += at.rows;
    }
    scratch.write(system_.clique_matrix(static_cast<int>(c)), size);
}

// C H^-1 C^T, body by body, in the body's turned frame. Inactive rows become unit rows of the system.
void DualRows::assemble(const BodyField& field) {
    parallel_for(body_.size(), kGrain, [&](std::size_t c) { assemble_clique(field, c); });
    for (std::size_t r = 0; r < value.size(); ++r) system_.diagonal[r] = active[r] ? compliance[r] : 1.0;
    // soft rows have a compliance of their own; more would part their force from their potential's slope
    std::fill(softness_.begin(), softness_.end(), 0.0);
    if (regularisation <= 0.0) return;
    for (std::size_t c = 0; c < body_.size(); ++c) {
        const double* matrix = system_.clique_matrix(static_cast<int>(c));
        const int size = system_.clique_rows(static_cast<int>(c));
        int row = 0;
        for (int i = incidence_start_[c]; i < incidence_start_[c + 1]; ++i) {
            const Block& block = blocks_[incidence_[i].block];
            for (int r = 0; r < block.rows; ++r, ++row)
                if (active[block.row_start + r] && compliance[block.row_start + r] == 0.0)
                    softness_[block.row_start + r] +=
                        regularisation * matrix[row + static_cast<std::size_t>(row) * size];
        }
    }
    for (std::size_t r = 0; r < value.size(); ++r) system_.diagonal[r] += softness_[r];
}

void DualRows::regularise_about_present(bool none) {
    if (none)
        std::fill(about_.begin(), about_.end(), 0.0);
    else
        about_ = multiplier;
}

// As the system was made: where rows nearly follow from each other, their multipliers are large and must cancel.
Mat34 DualRows::pushed(std::size_t c, const std::vector<double>& lambda) const {
    Mat34 sum = Mat34::Zero();
    if (by_points_[c]) {
        Mat34 force = Mat34::Zero();
        for (int i = incidence_start_[c]; i < incidence_start_[c + 1]; ++i) {
            const Incidence& at = incidence_[i];
            if (at.points == 0) continue;
            for (int k = 0; k < 4; ++k)
                for (int r = 0; r < 3; ++r) force(r, k) += lambda[at.row_start + r] * at.arm[k];
        }
        sum = apply(inverse_[c], rotation_[c], force);
    }
    for (int i = incidence_start_[c]; i < incidence_start_[c + 1]; ++i) {
        const Incidence& at = incidence_[i];
        for (int r = by_points_[c] ? at.points : 0; r < at.rows; ++r)
            if (active[at.row_start + r]) sum += lambda[at.row_start + r] * moved_[at.gradient_start + r];
    }
    return sum;
}

void DualRows::solve_forces(BodyField& field) {
    if (recursion_) {
        recursion_->solve(free_, rhs_, field, rhs_);
        return;
    }
    parallel_for(body_.size(), kGrain, [&](std::size_t c) {
        const Mat34 force = free_[c];
        free_[c] = field.apply_inverse(body_[c], field.inverse(body_[c]), force);
    });
    solve_free(field);
}

// Adds C free to the right-hand side, solves, and takes what the multipliers do off the free increments.
void DualRows::solve_free(BodyField& field) {
    for (std::size_t c = 0; c < body_.size(); ++c) {
        const Mat34 world = in_world(free_[c], field.rotation[body_[c]]);
        for (int i = incidence_start_[c]; i < incidence_start_[c + 1]; ++i) {
            const Incidence& at = incidence_[i];
            if (at.points > 0)
                for (int r = 0; r < 3; ++r)
                    for (int k = 0; k < 4; ++k) rhs_[at.row_start + r] += world(r, k) * at.arm[k];
            for (int r = at.points; r < at.rows; ++r)
                if (active[at.row_start + r])
                    rhs_[at.row_start + r] += dot(gradient_[at.gradient_start + r], world);
        }
    }
    solver_->solve(rhs_.data());
    parallel_for(body_.size(), kGrain,
                 [&](std::size_t c) { field.dq[body_[c]] = free_[c] - pushed(c, rhs_); });
}

void DualRows::solve(BodyField& field) {
    factor(field);
    // the body's own force and the given multipliers of inactive rows
    parallel_for(body_.size(), kGrain, [&](std::size_t c) {
        const int body = body_[c];
        Mat34 force = field.force(body);
        for (int i = incidence_start_[c]; i < incidence_start_[c + 1]; ++i) {
            const Block& block = blocks_[incidence_[i].block];
            for (int r = 0; r < block.rows; ++r)
                if (!active[block.row_start + r] && multiplier[block.row_start + r] != 0.0)
                    force -= multiplier[block.row_start + r] *
                             gradient(incidence_[i].block, incidence_[i].slot, r);
        }
        free_[c] = force;
    });
    for (std::size_t r = 0; r < value.size(); ++r)
        rhs_[r] = active[r] ? value[r] + softness_[r] * about_[r] : 0.0;
    solve_forces(field);
    for (std::size_t r = 0; r < value.size(); ++r)
        if (active[r]) multiplier[r] = rhs_[r];
}

void DualRows::balance(BodyField& field, Balance& result) {
    constexpr std::size_t kChunk = 256;  // bodies: their share of the result is gathered in a fixed order
    partial_.assign((body_.size() + kChunk - 1) / kChunk, {});
    parallel_for(partial_.size(), 1, [&](std::size_t chunk) {
        const std::size_t end = std::min(body_.size(), (chunk + 1) * kChunk);
        for (std::size_t c = chunk * kChunk; c < end; ++c) {
            const int body = body_[c];
            Mat34 left = field.force(body);
            for (int i = incidence_start_[c]; i < incidence_start_[c + 1]; ++i) {
                const double* lambda = multiplier.data() + incidence_[i].row_start;
                const Mat34 force =
                    force_of(incidence_[i], gradient_, lambda, [&](int r) { return lambda[r] == 0.0; });
                judge_joint_force(field, body, force, partial_[chunk]);
                left -= force;
            }
            field.unbalanced[body] = left;
            judge(field, body, left, partial_[chunk]);
        }
    });
    for (const Balance& part : partial_) result.add(part);
}

void DualRows::refine(BodyField& field) {
    for (std::size_t c = 0; c < body_.size(); ++c) free_[c] = field.unbalanced[body_[c]];
    for (std::size_t r = 0; r < value.size(); ++r)
        rhs_[r] = active[r] ? value[r] - compliance[r] * multiplier[r] : 0.0;
    solve_forces(field);
    for (std::size_t r = 0; r < value.size(); ++r)
        if (active[r]) multiplier[r] += rhs_[r];
}

void DualRows::respond(BodyField& field, bool keep) {
    for (std::size_t c = 0; c < body_.size(); ++c) free_[c] = field.unbalanced[body_[c]];
    std::fill(rhs_.begin(), rhs_.end(), 0.0);
    solve_forces(field);
    for (std::size_t r = 0; keep && r < value.size(); ++r)
        if (active[r]) multiplier[r] += rhs_[r];
}

void DualRows::begin_slopes(const BodyField& field) {
    for (std::size_t c = 0; c < body_.size(); ++c)
        slopes_[c] = in_world(field.dq[body_[c]], field.rotation[body_[c]]);
}

double DualRows::slope(int block, int row) const {
    double sum = 0.0;
    for (int s = 0; s < blocks_[block].body_count; ++s)
        sum += dot(gradient(block, s, row), slopes_[clique_of_slot_[DualRows::max_bodies * block + s]]);
    return sum;
}

double DualRows::self_compliance(const BodyField& field, int block, int row) const {
    double sum = 0.0;
    for (int s = 0; s < blocks_[block].body_count; ++s) {
        const int body = blocks_[block].bodies[s];
        const Mat34& g = gradient(block, s, row);
        sum += dot(g, in_world(field.apply_inverse(body, field.inverse(body), g), field.rotation[body]));
    }
    return sum;
}

}  // namespace tenon::articulated

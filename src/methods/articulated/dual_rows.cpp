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

void DualRows::finish(const SolverChoice& choice) {
    std::unordered_map<int, int> clique_of;
    std::vector<std::vector<Incidence>> touching;
    for (int b = 0; b < blocks(); ++b) {
        system_.add_block(blocks_[b].rows);
        for (int s = 0; s < blocks_[b].body_count; ++s) {
            const auto [found, added] =
                clique_of.try_emplace(blocks_[b].bodies[s], static_cast<int>(body_.size()));
            if (added) {
                body_.push_back(blocks_[b].bodies[s]);
                touching.emplace_back();
            }
            touching[found->second].push_back({b, s});
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

// H^-1 C^T and C H^-1 C^T, body by body, in the body's turned frame. Inactive rows become unit rows of the system.
void DualRows::assemble(const BodyField& field) {
    parallel_for(body_.size(), kGrain, [&](std::size_t c) {
        thread_local std::vector<Mat34> turned;  // R^T C of active rows; zero for others
        thread_local std::vector<const Mat34*> moved;
        const int body = body_[c];
        const BodyInverse inverse = field.inverse(body);
        const Mat3& R = field.rotation[body];
        const bool dense = field.dense[body] >= 0;
        const int size = system_.clique_rows(static_cast<int>(c));
        turned.resize(size);
        moved.resize(size);
        int row = 0;
        for (int i = incidence_start_[c]; i < incidence_start_[c + 1]; ++i) {
            const Block& block = blocks_[incidence_[i].block];
            const std::size_t first =
                block.gradient_start + static_cast<std::size_t>(incidence_[i].slot) * block.rows;
            for (int r = 0; r < block.rows; ++r, ++row) {
                const Mat34& from = gradient_[first + r];
                Mat34 &to = turned[row], &out = moved_[first + r];
                moved[row] = &out;
                if (!active[block.row_start + r]) {
                    to.setZero();
                    out.setZero();
                    continue;
                }
                const Mat3 G = product_left_transposed(R, linear_part(from));
                set_linear_part(to, G);
                to.col(3) = from.col(3);
                if (dense) {
                    out = field.apply_inverse(body, inverse, from);
                } else {
                    set_linear_part(out, apply_rotated(inverse, G));
                    out.col(3) = inverse.kind->translation_inverse * from.col(3);
                }
            }
        }
        double* matrix = system_.clique_matrix(static_cast<int>(c));
        for (int j = 0; j < size; ++j) {
            const double* b = moved[j]->data();
            for (int i = 0; i <= j; ++i) {
                const double* a = turned[i].data();
                double even = 0.0, odd = 0.0;
                for (int k = 0; k < 12; k += 2) even += a[k] * b[k], odd += a[k + 1] * b[k + 1];
                matrix[i + static_cast<std::size_t>(j) * size] = even + odd;
                matrix[j + static_cast<std::size_t>(i) * size] = even + odd;
            }
        }
    });
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

Mat34 DualRows::pushed(std::size_t c, const std::vector<double>& lambda) const {
    Mat34 sum = Mat34::Zero();
    for (int i = incidence_start_[c]; i < incidence_start_[c + 1]; ++i) {
        const Block& block = blocks_[incidence_[i].block];
        const std::size_t first =
            block.gradient_start + static_cast<std::size_t>(incidence_[i].slot) * block.rows;
        for (int r = 0; r < block.rows; ++r)
            if (active[block.row_start + r]) sum += lambda[block.row_start + r] * moved_[first + r];
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
            const Block& block = blocks_[incidence_[i].block];
            for (int r = 0; r < block.rows; ++r)
                if (active[block.row_start + r])
                    rhs_[block.row_start + r] +=
                        dot(gradient(incidence_[i].block, incidence_[i].slot, r), world);
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
    for (std::size_t c = 0; c < body_.size(); ++c) {
        const int body = body_[c];
        Mat34 left = field.force(body);
        for (int i = incidence_start_[c]; i < incidence_start_[c + 1]; ++i) {
            const Block& block = blocks_[incidence_[i].block];
            Mat34 force = Mat34::Zero();
            for (int r = 0; r < block.rows; ++r)
                if (multiplier[block.row_start + r] != 0.0)
                    force += multiplier[block.row_start + r] *
                             gradient(incidence_[i].block, incidence_[i].slot, r);
            judge_joint_force(field, body, force, result);
            left -= force;
        }
        field.unbalanced[body] = left;
        judge(field, body, left, result);
    }
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

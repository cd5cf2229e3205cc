// Every dual solver against a dense long-double KKT solve, on random systems of each topology.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <numeric>
#include <random>

#include "methods/articulated/dual_rows.hpp"
#include "methods/articulated/net_component.hpp"
#include "model/joint_rows.hpp"
#include "solve/block_gauss_seidel.hpp"
#include "solve/chain_thomas.hpp"
#include "solve/clique_cholesky.hpp"
#include "solve/loop_schur.hpp"
#include "solve/tree_elimination.hpp"
#include "tests/solve/kkt_dense.hpp"

using namespace tenon;
using namespace tenon::articulated;

namespace {

struct Random {
    std::mt19937 engine;
    double uniform(double lo = -1, double hi = 1) {
        return std::uniform_real_distribution<double>(lo, hi)(engine);
    }
    int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine); }
    Vec3 vector() { return {uniform(), uniform(), uniform()}; }
    Mat3 rotation() {
        return Quat(Vec4(uniform(), uniform(), uniform(), uniform()).normalized()).toRotationMatrix();
    }
};

struct Edge2 {
    int a, b;            // b = -1: the world
    bool loose = false;  // a joint that takes few freedoms: dense graphs of stiff joints would leave none
};

std::vector<Edge2> chain_edges(Random& random, int n) {
    std::vector<Edge2> edges;
    if (random.below(2)) edges.push_back({0, -1});
    for (int i = 0; i + 1 < n; ++i) edges.push_back({i, i + 1});
    if (random.below(2)) edges.push_back({n - 1, -1});
    return edges;
}
std::vector<Edge2> tree_edges(Random& random, int n) {
    std::vector<Edge2> edges;
    for (int i = 1; i < n; ++i) edges.push_back({random.below(i), i});
    edges.push_back({random.below(n), -1});
    return edges;
}
std::vector<Edge2> loop_edges(Random& random, int n) {
    std::vector<Edge2> edges = tree_edges(random, n);
    for (int k = 0; k < 2; ++k) {
        const int a = random.below(n), b = random.below(n);
        if (a != b) edges.push_back({a, b});
    }
    return edges;
}
std::vector<Edge2> graph_edges(Random& random, int n) {
    std::vector<Edge2> edges = loop_edges(random, n);
    for (int i = 0; i < n; i += 2) edges.push_back({i, (i + 2 + random.below(n - 2)) % n, true});
    std::erase_if(edges, [](const Edge2& e) { return e.a == e.b; });
    return edges;
}

struct System {
    BodyField field;
    DualRows rows;
    solve::KktProblem problem;
};

// Bodies with random poses, stresses and masses (ratios up to `mass_ratio`).
void make_bodies(Random& random, int bodies, double mass_ratio, BodyField& field) {
    field.etas[0] = field.etas[1] = 1e-2;
    for (int i = 0; i < bodies; ++i) {
        const double mass = std::pow(mass_ratio, random.uniform(0, 1));
        BodyKind kind = make_kind(mass, Vec3(0.5, 1.0, 2.0) * (0.02 * mass * random.uniform(0.5, 1)),
                                  1e-3 * mass, 1e8, 0.3);
        field.kinds.push_back(kind);
        for (auto& matrices : field.matrices) matrices.push_back(make_kind_matrix(kind, 1e-2));
        field.kind.push_back(i);
        field.euler.push_back(0);
        field.dense.push_back(-1);
        field.moving.push_back(1);
        Mat34 x;
        x << random.rotation(), random.vector();
        field.rotation.push_back(x.leftCols<3>());
        const Mat3 M = Mat3::NullaryExpr([&] { return random.uniform(); });
        field.stress.push_back(1e-4 * kind.volume_mu * (M + M.transpose()));
        field.x.push_back(x);
        field.target.push_back(x + 0.01 * Mat34::NullaryExpr([&] { return random.uniform(); }));
        field.dq.push_back(Mat34::Zero());
    }
}

void add_bodies_to_oracle(System& s) {
    for (int i = 0; i < static_cast<int>(s.field.x.size()); ++i) {
        s.problem.H.push_back(dense_body_matrix(s.field.matrix(i), geometric_stiffness(s.field.stress[i]),
                                                s.field.rotation[i]));
        const Mat34 force = s.field.force(i);
        s.problem.force.push_back(Eigen::Map<const Vec12>(force.data()));
    }
}

// Such bodies and joints of random types.
void make_system(Random& random, int bodies, const std::vector<Edge2>& edges, double mass_ratio, System& s) {
    BodyField& field = s.field;
    make_bodies(random, bodies, mass_ratio, field);
    constexpr JointType types[] = {JointType::ball,      JointType::hinge,   JointType::universal,
                                   JointType::prismatic, JointType::fixed,   JointType::cylindrical,
                                   JointType::planar,    JointType::distance};
    std::vector<Joint> joints;
    for (const Edge2& edge : edges) {
        Joint joint;
        joint.spec.type =
            edge.loose ? (random.below(2) ? JointType::distance : JointType::ball) : types[random.below(8)];
        joint.spec.linear = random.below(2);
        joint.bodies = {edge.a, edge.b};
        joint.rest_length = 0.3;
        const Vec3 point = random.vector();
        const Mat3 frame = random.rotation();
        for (int side = 0; side < 2; ++side) {
            const Mat34& q = joint.bodies[side] < 0 ? world_map() : field.x[joint.bodies[side]];
            joint.point[side] = q.leftCols<3>().transpose() * (point + 0.01 * random.vector() - q.col(3));
            joint.frame[side] =
                q.leftCols<3>().transpose() * (Eigen::AngleAxisd(0.01, Vec3::UnitX()) * frame);
        }
        joints.push_back(joint);
        std::vector<int> moving{edge.a};
        if (edge.b >= 0) moving.push_back(edge.b);
        s.rows.add_block(moving, joint_row_count(joint.spec));
    }
    for (int b = 0; b < s.rows.blocks(); ++b) {
        const Joint& joint = joints[b];
        JointRows rows;
        joint_rows(joint, field.x[joint.bodies[0]],
                   joint.bodies[1] < 0 ? world_map() : field.x[joint.bodies[1]], rows);
        const auto& block = s.rows.block(b);
        solve::KktBlock kkt;
        for (int slot = 0; slot < block.body_count; ++slot) {
            kkt.bodies.push_back(block.bodies[slot]);
            kkt.gradient.emplace_back();
            for (int r = 0; r < rows.count; ++r) {
                s.rows.gradient(b, slot, r) = rows.gradient[slot][r];
                kkt.gradient.back().push_back(Eigen::Map<const Vec12>(rows.gradient[slot][r].data()));
            }
        }
        for (int r = 0; r < rows.count; ++r) {
            s.rows.value[block.row_start + r] = rows.value[r];
            // A little compliance on some rows: springs are such rows.
            s.rows.compliance[block.row_start + r] = random.below(4) == 0 ? 1e-6 : 0.0;
            kkt.residual.push_back(rows.value[r]);
            kkt.compliance.push_back(s.rows.compliance[block.row_start + r]);
        }
        s.problem.blocks.push_back(kkt);
    }
    add_bodies_to_oracle(s);
}

// An increment in the world's frame, as the oracle has it.
Vec12 increment(const System& s, std::size_t body) {
    const Mat34 world = in_world(s.field.dq[body], s.field.rotation[body]);
    return Eigen::Map<const Vec12>(world.data());
}

double relative_error(const System& s, const solve::KktSolution& exact) {
    double error = 0, scale = 0;
    for (std::size_t i = 0; i < exact.increment.size(); ++i) {
        const Vec12 found = increment(s, i);
        error = std::max(error, (found - exact.increment[i]).cwiseAbs().maxCoeff());
        scale = std::max(scale, exact.increment[i].cwiseAbs().maxCoeff());
    }
    return error / scale;
}

double multiplier_error(const System& s, const solve::KktSolution& exact) {
    double error = 0, scale = 0;
    for (std::size_t r = 0; r < exact.multiplier.size(); ++r) {
        error = std::max(error, std::abs(s.rows.multiplier[r] - exact.multiplier[r]));
        scale = std::max(scale, std::abs(exact.multiplier[r]));
    }
    return error / scale;
}

// Residual of the KKT equations, each body's in the scale of the forces that act on it.
double scaled_residual(const System& s) {
    std::vector<Vec12> sum(s.field.x.size()), scale(s.field.x.size());
    for (std::size_t i = 0; i < sum.size(); ++i) {
        const Vec12 dq = increment(s, i), Hdq = s.problem.H[i] * dq;
        sum[i] = Hdq - s.problem.force[i];
        scale[i] = s.problem.H[i].cwiseAbs() * dq.cwiseAbs() + s.problem.force[i].cwiseAbs();
    }
    for (int b = 0; b < s.rows.blocks(); ++b)
        for (std::size_t slot = 0; slot < s.problem.blocks[b].bodies.size(); ++slot)
            for (int r = 0; r < s.rows.block(b).rows; ++r) {
                const Vec12 term =
                    s.rows.multiplier[s.rows.block(b).row_start + r] * s.problem.blocks[b].gradient[slot][r];
                sum[s.problem.blocks[b].bodies[slot]] += term;
                scale[s.problem.blocks[b].bodies[slot]] += term.cwiseAbs();
            }
    double worst = 0;
    for (std::size_t i = 0; i < sum.size(); ++i)
        worst = std::max(worst, sum[i].cwiseAbs().maxCoeff() / scale[i].maxCoeff());
    return worst;
}

using Maker = std::vector<Edge2> (*)(Random&, int);

void compare(Maker maker, const std::string& solver, const std::string& expected_name, double tolerance,
             int systems = 200) {
    Random random{std::mt19937(42)};
    for (int trial = 0; trial < systems; ++trial) {
        System s;
        const int bodies = (maker == graph_edges ? 7 : 3) + random.below(4);
        make_system(random, bodies, maker(random, bodies), 1e3, s);
        SolverChoice choice;
        choice.solver = solver;
        choice.sweep_tolerance = 1e-13;
        choice.max_sweeps = 20000;
        s.rows.finish(choice);
        ASSERT_EQ(s.rows.solver_name(), expected_name);
        s.rows.solve(s.field);
        const solve::KktSolution exact = solve::solve_kkt_dense(s.problem);
        ASSERT_LT(relative_error(s, exact), tolerance) << solver << " trial " << trial;
        if (solver != "gauss-seidel") {
            ASSERT_LT(multiplier_error(s, exact), 1e3 * tolerance) << solver << " trial " << trial;
        }
    }
}

// A net: points in which bodies with one to four of them meet, some held by the world. The world has what a net
// component reads: which bodies move, and the joints.
std::unique_ptr<NetComponent> make_net(Random& random, double mass_ratio, System& s) {
    for (;;) {
        s = System();
        const int points = 4 + random.below(4), bodies = points + 2;
        make_bodies(random, bodies, mass_ratio, s.field);
        std::vector<Vec3> at;
        for (int p = 0; p < points; ++p) at.push_back(random.vector());
        Model model;
        State state;
        state.type.assign(bodies, BodyType::dynamic_body);
        model.materials.resize(1);
        model.materials[0].young_given = true;
        model.bodies.material.assign(bodies, 0);
        model.shapes.push_back(std::make_shared<Shape>());  // a joint's size follows its bodies'
        model.bodies.shape.assign(bodies, 0);
        const auto ball = [&](int a, int b, const Vec3& on_a, const Vec3& on_b) {
            Joint joint;
            joint.spec.type = JointType::ball;
            joint.bodies = {a, b};
            joint.point = {on_a, on_b};
            model.joints.push_back(joint);
        };
        std::vector<int> first(points, -1);  // the body that the others of a point are joined to
        std::vector<Vec3> first_anchor(points);
        for (int i = 0; i < bodies; ++i) {
            std::vector<int> own(points);
            std::iota(own.begin(), own.end(), 0);
            std::shuffle(own.begin(), own.end(), random.engine);
            own.resize(1 + random.below(4));
            for (int p : own) {
                const Mat34& q = s.field.x[i];
                const Vec3 anchor = q.leftCols<3>().transpose() * (at[p] + 0.01 * random.vector() - q.col(3));
                if (first[p] >= 0) {
                    ball(first[p], i, first_anchor[p], anchor);
                } else {
                    first[p] = i;
                    first_anchor[p] = anchor;
                    if (random.below(3) == 0) ball(i, -1, anchor, at[p]);
                }
            }
        }
        std::vector<int> all_bodies(bodies), all_joints(model.joints.size());
        std::iota(all_bodies.begin(), all_bodies.end(), 0);
        std::iota(all_joints.begin(), all_joints.end(), 0);
        NetLayout layout = find_net(model, state, all_bodies, all_joints);
        if (!layout.valid || all_joints.empty()) continue;  // a body with points nearly in a plane
        for (const Joint& joint : model.joints) {
            JointRows rows;
            joint_rows(joint, s.field.x[joint.bodies[0]],
                       joint.bodies[1] < 0 ? world_map() : s.field.x[joint.bodies[1]], rows);
            solve::KktBlock kkt;
            for (int side = 0; side < (joint.bodies[1] < 0 ? 1 : 2); ++side) {
                kkt.bodies.push_back(joint.bodies[side]);
                kkt.gradient.emplace_back();
                for (int r = 0; r < 3; ++r)
                    kkt.gradient.back().push_back(Eigen::Map<const Vec12>(rows.gradient[side][r].data()));
            }
            kkt.residual.assign(rows.value.begin(), rows.value.begin() + 3);
            kkt.compliance.assign(3, 0.0);
            s.problem.blocks.push_back(kkt);
        }
        add_bodies_to_oracle(s);
        return std::make_unique<NetComponent>(model, all_bodies, all_joints, layout);
    }
}

// Largest |C dq + c - E lambda|, as a share of the largest |c|.
double row_residual(const System& s) {
    double worst = 0, scale = 0;
    std::size_t row = 0;
    for (const solve::KktBlock& block : s.problem.blocks)
        for (std::size_t r = 0; r < block.residual.size(); ++r, ++row) {
            double sum = block.residual[r];
            if (block.compliance[r] > 0) sum -= block.compliance[r] * s.rows.multiplier[row];
            for (std::size_t side = 0; side < block.bodies.size(); ++side)
                sum += block.gradient[side][r].dot(increment(s, block.bodies[side]));
            worst = std::max(worst, std::abs(sum));
            scale = std::max(scale, std::abs(block.residual[r]));
        }
    return worst / scale;
}

}  // namespace

TEST(DualSolvers, ChainMatchesTheOracle) {
    compare(chain_edges, "chain", "chain", 1e-9);
}
TEST(DualSolvers, TreeMatchesTheOracle) {
    compare(tree_edges, "tree", "tree", 1e-9);
}
TEST(DualSolvers, LoopsMatchTheOracle) {
    compare(loop_edges, "loops", "loops", 1e-9);
}
TEST(DualSolvers, SparseMatchesTheOracleOnGraphs) {
    compare(graph_edges, "sparse", "sparse", 1e-9);
}
TEST(DualSolvers, SparseMatchesTheOracleOnTrees) {
    compare(tree_edges, "sparse", "sparse", 1e-9, 50);
}
TEST(DualSolvers, GaussSeidelMatchesTheOracleOnTrees) {
    compare(tree_edges, "gauss-seidel", "gauss-seidel", 1e-5);
}
TEST(DualSolvers, GaussSeidelMatchesTheOracleOnGraphs) {
    compare(graph_edges, "gauss-seidel", "gauss-seidel", 1e-5);
}

TEST(DualSolvers, PointsOfNetsMatchTheOracle) {
    Random random{std::mt19937(42)};
    for (int trial = 0; trial < 200; ++trial) {
        System s;
        const auto net = make_net(random, 1e3, s);
        net->solve(s.field);
        ASSERT_LT(relative_error(s, solve::solve_kkt_dense(s.problem)), 1e-9) << "trial " << trial;
    }
}

// The points' forces are in balance by the way increments are made from them; what is left is whether joints close.
TEST(DualSolvers, PointsOfNetsCloseAtMassRatiosOfAMillion) {
    Random random{std::mt19937(5)};
    for (int trial = 0; trial < 200; ++trial) {
        System s;
        const auto net = make_net(random, 1e6, s);
        net->solve(s.field);
        ASSERT_LT(row_residual(s), 1e-9) << "trial " << trial;
        ASSERT_LT(relative_error(s, solve::solve_kkt_dense(s.problem)), 1e-6) << "trial " << trial;
    }
}

// Its tolerance is one for the right-hand side: 1e-10 of that leaves rows open by up to 1e-8 of what they were.
TEST(DualSolvers, GaussSeidelAtMassRatiosOfAMillion) {
    Random random{std::mt19937(5)};
    for (int trial = 0; trial < 200; ++trial) {
        System s;
        make_system(random, 8, graph_edges(random, 8), 1e6, s);
        SolverChoice choice;
        choice.solver = "gauss-seidel";
        s.rows.finish(choice);
        s.rows.solve(s.field);
        ASSERT_LT(row_residual(s), 1e-8) << "trial " << trial;
        ASSERT_LT(scaled_residual(s), 1e-9) << "trial " << trial;
    }
}

TEST(DualSolvers, ChoosesByTopology) {
    Random random{std::mt19937(3)};
    const auto name = [&](const std::vector<Edge2>& edges, int closer_rows) {
        System s;
        make_system(random, 6, edges, 10, s);
        SolverChoice choice;
        choice.max_closer_rows = closer_rows;
        s.rows.finish(choice);
        return s.rows.solver_name();
    };
    EXPECT_EQ(name({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}, 96), "chain");
    EXPECT_EQ(name({{0, 1}, {0, 2}, {0, 3}, {3, 4}, {4, 5}}, 96), "tree");
    EXPECT_EQ(name({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}, 96), "loops");
    EXPECT_EQ(name({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}, 0), "sparse");
}

TEST(DualSolvers, MassRatiosOfAMillionLeaveASmallResidual) {
    for (const char* solver : {"chain", "tree", "loops", "sparse"}) {
        Random random{std::mt19937(5)};
        for (int trial = 0; trial < 200; ++trial) {
            System s;
            const Maker maker = std::string(solver) == "chain"   ? chain_edges
                                : std::string(solver) == "tree"  ? tree_edges
                                : std::string(solver) == "loops" ? loop_edges
                                                                 : graph_edges;
            make_system(random, 5, maker(random, 5), 1e6, s);
            SolverChoice choice;
            choice.solver = solver;
            s.rows.finish(choice);
            s.rows.solve(s.field);
            ASSERT_LT(scaled_residual(s), 1e-9) << solver << " trial " << trial;
        }
    }
}

// A grid of 3x3 blocks, 24 x 24 cells: large enough for wide supernodes.
TEST(CliqueCholesky, SolvesAGridOfPoints) {
    const int n = 24;
    Random random{std::mt19937(9)};
    solve::CliqueSystem system;
    for (int i = 0; i < n * n; ++i) system.add_block(3);
    const auto add = [&](int a, int b) {
        const int c = system.add_clique({a, b});
        const Eigen::Matrix<double, 6, 6> M =
            Eigen::Matrix<double, 6, 6>::NullaryExpr([&] { return random.uniform(); });
        Eigen::Map<Eigen::Matrix<double, 6, 6>>(system.clique_matrix(c)) = M * M.transpose();
    };
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            if (i + 1 < n) add(i * n + j, (i + 1) * n + j);
            if (j + 1 < n) add(i * n + j, i * n + j + 1);
        }
    std::fill(system.diagonal.begin(), system.diagonal.end(), 0.1);
    VecX expected(system.rows()), x(system.rows());
    for (int r = 0; r < system.rows(); ++r) expected[r] = random.uniform();
    solve::multiply(system, expected.data(), x.data());
    solve::CliqueCholesky solver(system);
    solver.factor(system);
    solver.solve(x.data());
    EXPECT_LT((x - expected).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_EQ(solver.redundant_rows(), 0);
}

// A grid of which some points have a twin, whose rows are combinations of the point's own: a solution is found all the same, and as
// many rows are left out.
TEST(CliqueCholesky, LeavesRedundantRowsOfAGridOut) {
    const int n = 12;
    Random random{std::mt19937(10)};
    const auto any = [&](int rows, int columns) {
        return MatX(MatX::NullaryExpr(rows, columns, [&] { return random.uniform(); }));
    };
    solve::CliqueSystem system;
    for (int i = 0; i < n * n + n; ++i) system.add_block(3);
    const auto twin_of = [&](int point) { return point % (n + 1) == 0 ? n * n + point / (n + 1) : -1; };
    std::vector<MatX> combination;
    for (int t = 0; t < n; ++t) combination.push_back(any(3, 3));
    const auto add = [&](int a, int b) {
        MatX rows = any(6, 6);
        std::vector<int> blocks = {a, b};
        for (int k = 0; k < 2; ++k) {
            const int twin = twin_of(blocks[k]);
            if (twin < 0) continue;
            blocks.push_back(twin);
            MatX more(rows.rows() + 3, 6);
            more << rows, combination[twin - n * n] * rows.middleRows(3 * k, 3);
            rows = more;
        }
        const int c = system.add_clique(blocks);
        Eigen::Map<MatX>(system.clique_matrix(c), rows.rows(), rows.rows()) = rows * rows.transpose();
    };
    for (int i = 0; i < n; ++i)
        for (int j = 0; j + 1 < n; ++j) {
            add(i * n + j, i * n + j + 1);
            add(j * n + i, (j + 1) * n + i);
        }
    VecX expected(system.rows()), right(system.rows()), back(system.rows());
    for (int r = 0; r < system.rows(); ++r) expected[r] = random.uniform();
    solve::multiply(system, expected.data(), right.data());
    VecX x = right;
    solve::CliqueCholesky solver(system);
    solver.factor(system);
    solver.solve(x.data());
    solve::multiply(system, x.data(), back.data());
    EXPECT_LT((back - right).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_EQ(solver.redundant_rows(), 3 * n);
    system.matrix[0] = std::numeric_limits<double>::quiet_NaN();  // and a system of no sense has no solution
    solver.factor(system);
    x = right;
    solver.solve(x.data());
    EXPECT_FALSE(x.allFinite());
}

// The same row twice: the second one is redundant and is dropped instead of dividing by zero.
TEST(DualSolvers, RedundantRowsAreDropped) {
    solve::CliqueSystem system;
    system.add_block(2);
    const int c = system.add_clique({0});
    Eigen::Map<Mat2>(system.clique_matrix(c)) << 2.0, 2.0, 2.0, 2.0;
    for (const char* kind : {"chain", "tree", "sparse"}) {
        SolverChoice choice;
        choice.solver = kind;
        auto solver = make_clique_solver(system, choice);
        solver->factor(system);
        double x[2] = {4.0, 4.0};
        solver->solve(x);
        EXPECT_EQ(solver->redundant_rows(), 1);
        EXPECT_NEAR(2 * x[0] + 2 * x[1], 4.0, 1e-12) << kind;
    }
}

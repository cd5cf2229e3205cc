// The contact solvers on problems given directly: the paper's figures, Newton's third law, energy.
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "bench/impulse_piles.hpp"
#include "math/parallel.hpp"
#include "methods/impulse/decomposition.hpp"
#include "methods/impulse/ffd.hpp"
#include "methods/impulse/sweeps.hpp"

namespace tenon::impulse {
namespace {

using Builder = ProblemBuilder;

// Fig. 2: a ball of mass 2 in a V-shaped slot, walls at `angle` from the horizontal, after a step of gravity.
Builder v_slot(double angle) {
    Builder b;
    const int ball = b.add_body(2.0, Vec3::Zero(), Vec3::Constant(0.8));
    b.problem.twist[ball].v = Vec3(0, -0.0981, 0);
    for (double side : {-1.0, 1.0}) {
        const Vec3 normal(side * std::sin(angle), std::cos(angle), 0);
        b.add_contact(0, ball, -0.5 * normal, normal, 0.0);
    }
    return b;
}

TEST(ImpulseSolvers, VSlotImpulsesAreExactByDecompositionAndKnownToBeWrongByFfd) {
    for (double angle : {0.3, 0.7, 1.2}) {
        // equilibrium: 2 alpha cos(angle) = m g h; projection: alpha' = m g h cos(angle)
        const double weight = 2.0 * 0.0981;
        Builder ours = v_slot(angle);
        solve_by_decomposition(ours.problem);
        for (const ContactPoint& c : ours.problem.contacts)
            EXPECT_NEAR(c.impulse[0], weight / (2 * std::cos(angle)), 1e-9);
        EXPECT_LT(ours.problem.twist[1].v.norm(), 1e-12);
        Builder ffd = v_slot(angle);
        solve_by_ffd(ffd.problem);
        for (const ContactPoint& c : ffd.problem.contacts)
            EXPECT_NEAR(c.impulse[0], weight * std::cos(angle), 1e-9);
        Builder swept = v_slot(angle);
        Sweeper sweeper;
        SweepSettings settings;
        settings.max_sweeps = 2000;
        settings.tolerance = 1e-13;
        sweeper.prepare(swept.problem, swept.centers, settings);
        EXPECT_TRUE(sweeper.solve(swept.problem).converged);
        for (const ContactPoint& c : swept.problem.contacts)
            EXPECT_NEAR(c.impulse[0], weight / (2 * std::cos(angle)), 1e-9);
    }
}

// Fig. 3: A falls vertically on B, which moves left, rests or moves right.
Vec3 friction_on_falling_body(double speed_of_b, bool ffd) {
    Builder b;
    const int a = b.add_body(1.0, Vec3::Zero(), Vec3::Constant(0.1));
    b.problem.twist[a].v = Vec3(0, -1, 0);
    b.problem.twist[0].v = b.problem.before[0].v = Vec3(speed_of_b, 0, 0);
    b.add_contact(0, a, Vec3(0, -0.5, 0), Vec3::UnitY(), 0.4);
    if (ffd)
        solve_by_ffd(b.problem);
    else
        solve_by_decomposition(b.problem);
    return b.problem.twist[a].v;
}

TEST(ImpulseSolvers, FrictionSeesRelativeMotionByDecompositionButNotByFfd) {
    // normal impulse 1, so friction is at most 0.4 and points with B's motion
    EXPECT_NEAR(friction_on_falling_body(-3, false).x(), -0.4, 1e-12);
    EXPECT_NEAR(friction_on_falling_body(0, false).x(), 0.0, 1e-12);
    EXPECT_NEAR(friction_on_falling_body(3, false).x(), 0.4, 1e-12);
    for (double speed : {-3.0, 0.0, 3.0}) EXPECT_NEAR(friction_on_falling_body(speed, true).x(), 0.0, 1e-12);
}

// A unit box on a slope with tan = 0.5, one step of gravity, `rows` x `columns` contacts under it.
Builder box_on_slope(int rows, int columns, double mu) {
    Builder b;
    const int box = b.add_body(3.0, Vec3::Zero(), Vec3::Constant(0.5));
    b.problem.twist[box].v = 0.0981 * Vec3(1, -2, 0) / std::sqrt(5.0);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            b.add_contact(0, box, Vec3(-0.5 + i / (rows - 1.0), -0.5, -0.5 + j / (columns - 1.0)),
                          Vec3::UnitY(), mu);
    return b;
}

TEST(ImpulseSolvers, BoxOnASlopeStopsExactlyHoweverManyContactsItHas) {
    for (auto [rows, columns] : {std::pair{2, 2}, std::pair{8, 5}}) {
        Builder b = box_on_slope(rows, columns, 0.8);
        solve_by_decomposition(b.problem);
        EXPECT_EQ(b.problem.twist[1].v, Vec3::Zero()) << rows;
        EXPECT_EQ(b.problem.twist[1].w, Vec3::Zero()) << rows;
        Vec3 sum = Vec3::Zero();
        for (const ContactPoint& c : b.problem.contacts) {
            EXPECT_LE(std::hypot(c.impulse[1], c.impulse[2]), 0.8 * c.impulse[0] + 1e-12);
            sum += c.impulse[0] * c.normal + c.impulse[1] * c.tangent1 + c.impulse[2] * c.tangent2;
        }
        EXPECT_LT((sum + 3.0 * 0.0981 * Vec3(1, -2, 0) / std::sqrt(5.0)).norm(), 1e-10);
        // below the slope's tangent it slides: dv = g h (sin - mu cos)
        Builder slides = box_on_slope(rows, columns, 0.3);
        solve_by_decomposition(slides.problem);
        EXPECT_NEAR(slides.problem.twist[1].v.x(), 0.0981 * (1 - 0.3 * 2) / std::sqrt(5.0), 1e-6) << rows;
    }
}

Vec3 momentum(const ContactProblem& p) {
    Vec3 sum = Vec3::Zero();
    for (std::size_t i = 0; i < p.twist.size(); ++i)
        if (p.mass[i].movable) sum += p.twist[i].v / p.mass[i].m[0];
    return sum;
}

TEST(ImpulseSolvers, BoxOnASlopeStaysAtExactlyZeroSpeedStepAfterStep) {
    const Vec3 gravity_step = 0.0981 * Vec3(1, -2, 0) / std::sqrt(5.0);
    for (bool third_law : {true, false})
        for (auto [rows, columns] : {std::pair{2, 2}, std::pair{8, 5}}) {
            Builder b = box_on_slope(rows, columns, 0.8);
            for (int step = 0; step < 50; ++step) {
                b.problem.before = b.problem.twist;
                b.problem.before[1] = Twist{};
                b.problem.twist[1] = Twist{};
                b.problem.twist[1].v = gravity_step;
                std::vector<char> held;
                if (third_law)
                    hold_single_bodies(b.problem, 0.5, 1e300, held);
                else
                    solve_by_decomposition(b.problem);
                EXPECT_EQ(b.problem.twist[1].v, Vec3::Zero()) << rows << " " << step;
                EXPECT_EQ(b.problem.twist[1].w, Vec3::Zero()) << rows << " " << step;
            }
        }
}

SolveReport sweep(Builder& b, int sweeps, double tolerance) {
    Sweeper sweeper;
    SweepSettings settings;
    settings.max_sweeps = sweeps;
    settings.tolerance = tolerance;
    sweeper.prepare(b.problem, b.centers, settings);
    return sweeper.solve(b.problem);
}

TEST(ImpulseSolvers, SweepsMeetTheContactConditions) {
    std::mt19937 random(3);
    int converged = 0;
    for (int trial = 0; trial < 40; ++trial) {
        const double friction = trial % 2 ? 0.4 : 0.0;
        Builder b = random_pile(random, 12, true, friction);
        const std::vector<Twist> start = b.problem.twist;
        const SolveReport report = sweep(b, 5000, 1e-11);
        // without friction the problem is convex; with it sweeps may run in circles between wedged bodies
        if (friction == 0) {
            EXPECT_TRUE(report.converged) << trial;
        }
        if (!report.converged) continue;
        ++converged;
        EXPECT_LT(contact_residual(b.problem), 1e-8) << trial;  // computed independently of the sweeps
        // and the twists are those that the impulses give
        std::vector<Twist> rebuilt = start;
        for (const ContactPoint& c : b.problem.contacts) {
            const Vec3 P = c.impulse[0] * c.normal + c.impulse[1] * c.tangent1 + c.impulse[2] * c.tangent2;
            rebuilt[c.a].v -= b.problem.mass[c.a].linear(P);
            rebuilt[c.a].w -= b.problem.mass[c.a].angular(c.ra.cross(P));
            rebuilt[c.b].v += b.problem.mass[c.b].linear(P);
            rebuilt[c.b].w += b.problem.mass[c.b].angular(c.rb.cross(P));
        }
        for (std::size_t i = 1; i < rebuilt.size(); ++i) {
            EXPECT_LT((rebuilt[i].v - b.problem.twist[i].v).norm(), 1e-9);
            EXPECT_LT((rebuilt[i].w - b.problem.twist[i].w).norm(), 1e-9);
        }
    }
    EXPECT_GE(converged, 30);
}

TEST(ImpulseSolvers, ThirdLawKeepsMomentum) {
    std::mt19937 random(5);
    Builder b = random_pile(random, 500, false, 0.5);
    ASSERT_GT(b.problem.contacts.size(), 1000u);
    const Vec3 before = momentum(b.problem);
    double size = 0;
    for (std::size_t i = 1; i < b.problem.twist.size(); ++i)
        size += b.problem.twist[i].v.norm() / b.problem.mass[i].m[0];
    sweep(b, 30, 0);
    EXPECT_LT((momentum(b.problem) - before).norm(), 1e-12 * size);
    // angular impulses of each contact about any point cancel: ra and rb end in the same point of space
    for (const ContactPoint& c : b.problem.contacts) {
        const Vec3 P = c.impulse[0] * c.normal + c.impulse[1] * c.tangent1 + c.impulse[2] * c.tangent2;
        const Vec3 on_b = (b.centers[c.b] + c.rb).cross(P), on_a = (b.centers[c.a] + c.ra).cross(-P);
        EXPECT_LT((on_a + on_b).norm(), 1e-12 * (1 + on_b.norm()));
    }
    // the paper's scheme does not keep it
    Builder paper = random_pile(random, 500, false, 0.5);
    const Vec3 start = momentum(paper.problem);
    solve_by_decomposition(paper.problem);
    EXPECT_GT((momentum(paper.problem) - start).norm(), 1e-3 * size);
}

TEST(ImpulseSolvers, SweepsDoNotDependOnThreads) {
    std::mt19937 random(6);
    const Builder start = random_pile(random, 1500, true, 0.5);
    std::vector<Twist> results[2];
    for (int k = 0; k < 2; ++k) {
        set_threads(1 + k);
        Builder b = start;
        sweep(b, 10, 0);
        results[k] = b.problem.twist;
    }
    set_threads(0);
    for (std::size_t i = 0; i < results[0].size(); ++i) {
        EXPECT_EQ(results[0][i].v, results[1][i].v);
        EXPECT_EQ(results[0][i].w, results[1][i].w);
    }
}

TEST(ImpulseSolvers, VectorKernelsDoWhatThePortableOnesDo) {
    if (&sweep_kernels() == &portable_sweep_kernels) GTEST_SKIP() << "this processor has no AVX2";
    std::mt19937 random(12);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Row> rows(40);
    std::vector<RowMass> mass(6);
    std::vector<RowGroup> groups;
    struct alignas(64) Eight {
        double x[8];
    };
    std::vector<Eight> twist_store(mass.size(), Eight{});
    double* twist = twist_store.data()->x;
    for (std::size_t i = 0; i < mass.size(); ++i) {
        mass[i] = RowMass{};
        if (i == 0) continue;  // fixed
        mass[i].m[0] = mass[i].m[1] = mass[i].m[2] = 1 + 0.5 * uniform(random);
        mass[i].m[3] = 1;
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c <= r; ++c)
                mass[i].I[r][c] = mass[i].I[c][r] = r == c ? 2 : 0.2 * uniform(random);
        for (int k = 0; k < 3; ++k) {
            twist[8 * i + k] = uniform(random);
            twist[8 * i + 4 + k] = uniform(random);
        }
    }
    for (int i = 0; i < 40; ++i) {
        Row& r = rows[i] = Row{};
        Vec3 n(uniform(random), 1, uniform(random)), t1, t2;
        n.normalize();
        make_tangents(n, t1, t2);
        for (int k = 0; k < 3; ++k) {
            r.n[k] = n[k];
            r.t1[k] = t1[k];
            r.t2[k] = t2[k];
            r.ra[k] = uniform(random);
            r.rb[k] = uniform(random);
        }
        r.kn = 3;
        r.inverse_kn = 1.0 / 3;
        r.i11 = r.i22 = r.slide = 0.25;
        r.target = 0.1 * uniform(random);
        if (i % 4 == 0) groups.push_back({i / 4 % 6, (i / 4 + 1) % 6, i, i + 4, 0.5});
    }
    auto other_rows = rows;
    auto other_store = twist_store;
    double* other_twist = other_store.data()->x;
    std::vector<Eight> change_store(20, Eight{}), other_change_store(20, Eight{});
    double *change = change_store.data()->x, *other_change = other_change_store.data()->x;
    for (int sweep = 0; sweep < 4; ++sweep) {
        const SweepResult a = portable_sweep_kernels.relax(rows.data(), groups.data(), 0, 10, sweep % 2,
                                                           twist, mass.data(), change);
        const SweepResult b = avx2_sweep_kernels.relax(other_rows.data(), groups.data(), 0, 10, sweep % 2,
                                                       other_twist, mass.data(), other_change);
        EXPECT_GT(a.worst, 1e-3);
        EXPECT_NEAR(a.worst, b.worst, 1e-12);
        EXPECT_NEAR(a.change, b.change, 1e-12);
    }
    std::vector<double> target(40, 0.05), impulse(40, 0.0), other_impulse(40, 0.0);
    portable_sweep_kernels.correct(rows.data(), groups.data(), 0, 10, false, twist, mass.data(),
                                   target.data(), impulse.data());
    avx2_sweep_kernels.correct(other_rows.data(), groups.data(), 0, 10, false, other_twist, mass.data(),
                               target.data(), other_impulse.data());
    for (std::size_t k = 0; k < 8 * mass.size(); ++k) EXPECT_NEAR(twist[k], other_twist[k], 1e-12);
    for (std::size_t k = 0; k < 160; ++k) EXPECT_NEAR(change[k], other_change[k], 1e-12);
    for (std::size_t k = 0; k < impulse.size(); ++k) EXPECT_NEAR(impulse[k], other_impulse[k], 1e-12);
    for (int k = 0; k < 8; ++k) EXPECT_EQ(other_twist[k], 0);  // the fixed body was not touched
}

// Solves in which kinetic energy grew by more than 0.1 %: random piles, and two more steps of each that start from the
// impulses of the one before.
template <class Solve>
int energy_violations(int piles, const Solve& solve) {
    int violations = 0;
    for (int k = 0; k < piles; ++k) {
        Builder b = numbered_pile(k);
        std::mt19937 random(static_cast<unsigned>(k) + 7);
        for (int step = 0; step < 3 && !b.problem.contacts.empty(); ++step) {
            if (step > 0) next_step(b, random);
            const double before = kinetic_energy(b.problem);
            solve(b);
            violations += kinetic_energy(b.problem) > 1.001 * before;
        }
    }
    return violations;
}

TEST(ImpulseSolvers, ThirdLawNeverAddsEnergy) {
    EXPECT_EQ(energy_violations(1000, [](Builder& b) { sweep(b, 200, 1e-6); }), 0);
    EXPECT_EQ(energy_violations(1000, [](Builder& b) { sweep(b, 8, 1e-6); }), 0);
}

TEST(ImpulseSolvers, PlainGaussSeidelNeverAddsEnergy) {
    EXPECT_EQ(energy_violations(1000,
                                [](Builder& b) {
                                    Sweeper sweeper;
                                    SweepSettings settings;
                                    settings.max_sweeps = 5;
                                    settings.tolerance = 0;
                                    settings.accelerate = false;
                                    settings.pyramid = true;
                                    settings.graph_order = false;
                                    sweeper.prepare(b.problem, b.centers, settings);
                                    sweeper.solve(b.problem);
                                }),
              0);
}

TEST(ImpulseSolvers, BodiesByThemselvesAddNoEnergyUnlessAsked) {
    EXPECT_EQ(energy_violations(300, [](Builder& b) { solve_by_decomposition(b.problem); }), 0);
    EXPECT_EQ(energy_violations(300, [](Builder& b) { solve_by_ffd(b.problem); }), 0);
    // The papers' own schemes let a heavy body take on a light one's velocity.
    EXPECT_GT(energy_violations(100, [](Builder& b) { solve_by_decomposition(b.problem, false); }), 0);
    EXPECT_GT(energy_violations(100, [](Builder& b) { solve_by_ffd(b.problem, false); }), 0);
}

TEST(ImpulseSolvers, EnergyLimitLeavesScriptedBodiesTheirWork) {
    // A pusher drives a resting body at 2 m/s: energy from nothing, and rightly so.
    for (bool ffd : {false, true}) {
        Builder b;
        const int body = b.add_body(1.0, Vec3::Zero(), Vec3::Constant(0.1));
        b.problem.twist[0].v = b.problem.before[0].v = Vec3(2, 0, 0);
        b.add_contact(0, body, Vec3(-0.5, 0, 0), Vec3::UnitX(), 0.0);
        const SolveReport report = ffd ? solve_by_ffd(b.problem) : solve_by_decomposition(b.problem);
        EXPECT_NEAR(b.problem.twist[body].v.x(), 2.0, 1e-12);
        EXPECT_EQ(report.energy_limited, 0);
    }
}

TEST(ImpulseSolvers, BodyByItselfAgainstFixedOnesLosesEnergy) {
    std::mt19937 random(10);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int k = 0; k < 500; ++k) {
        Builder b;
        const int body = b.add_body(1.0, Vec3::Zero(), Vec3(0.1, 0.2, 0.15));
        b.problem.twist[body].v = Vec3(uniform(random), uniform(random), uniform(random));
        b.problem.twist[body].w = Vec3(uniform(random), uniform(random), uniform(random));
        for (int c = 0; c < 1 + k % 7; ++c)
            b.add_contact(0, body, 0.5 * Vec3(uniform(random), -1, uniform(random)),
                          Vec3(0.5 * uniform(random), 1, 0.5 * uniform(random)), 0.6);
        const double before = kinetic_energy(b.problem);
        solve_by_decomposition(b.problem, false);
        EXPECT_LE(kinetic_energy(b.problem), 1.001 * before) << k;
        for (const ContactPoint& c : b.problem.contacts)
            EXPECT_GE(c.normal.dot(b.problem.relative_velocity(c)), -1e-9) << k;
    }
}

}  // namespace
}  // namespace tenon::impulse

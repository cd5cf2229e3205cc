// The error estimate against the true error: that of the same scene with steps of a sixteenth.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "run/error_shadow.hpp"
#include "truth/random_smooth.hpp"

namespace tenon {
namespace {

struct Judged {
    double estimate = 0, error = 0;
};

Judged judge(const Scene& scene) {
    Simulation simulation(scene);
    run::ErrorShadow shadow(scene);
    const long steps = std::lround(scene.seconds / scene.dt);
    Judged out;
    for (long i = 0; i < steps; ++i) {
        simulation.step();
        out.estimate = shadow.follow(simulation);
    }
    constexpr int finer = 16;
    Scene fine = scene;
    fine.dt /= finer;
    Simulation exact(fine);
    for (long i = 0; i < finer * steps; ++i) exact.step();
    const Model& model = simulation.model();
    for (int i = 0; i < model.bodies.size(); ++i) {
        const Mat34 difference = simulation.state().q[i] - exact.state().q[i];
        const double reach = 0.5 * model.shape_of(i).box.diagonal();
        out.error = std::max(out.error, difference.col(3).norm() + reach * difference.leftCols<3>().norm());
    }
    return out;
}

}  // namespace

// 95 % of the true errors lie below the estimate, and its median is no more than ten times as large. TENON_SMOOTH=300 asks
// for more scenes.
TEST(ErrorEstimate, BoundsTheErrorsOfSmoothMotion) {
    const char* asked = std::getenv("TENON_SMOOTH");
    const int count = asked ? std::atoi(asked) : 100;
    int below = 0;
    std::vector<double> ratios;
    for (int seed = 1; seed <= count; ++seed) {
        const Judged judged = judge(test::random_smooth_scene(static_cast<std::uint64_t>(seed)));
        below += judged.error <= judged.estimate;
        ratios.push_back(judged.estimate / std::max(judged.error, 1e-15));
        if (judged.error > judged.estimate)
            std::cout << "seed " << seed << ": off by " << judged.error << " m, estimated " << judged.estimate
                      << "\n";
    }
    std::nth_element(ratios.begin(), ratios.begin() + count / 2, ratios.end());
    const double median = ratios[static_cast<std::size_t>(count / 2)];
    std::cout << below << " of " << count << " errors lie below their estimate, median estimate over error "
              << median << "\n";
    EXPECT_GE(below, 0.95 * count);
    EXPECT_GT(median, 1.0);
    EXPECT_LT(median, 10.0);
}

}  // namespace tenon

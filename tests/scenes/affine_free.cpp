// Built-in scenes in free flight.
#include <gtest/gtest.h>

#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

TEST(AffineScenes, FreeFlightComesBackAndKeepsMomentum) {
    const BuiltinScene* builtin = find_builtin("free-flight");
    ASSERT_NE(builtin, nullptr);
    Simulation simulation(make_builtin(*builtin, {}));
    const std::vector<Mat34> start = simulation.state().q;
    while (simulation.time() < simulation.scene().seconds - 1e-9) ASSERT_TRUE(simulation.step().converged);
    for (std::size_t i = 0; i < start.size(); ++i) {
        EXPECT_LT((simulation.state().q[i].col(3) - start[i].col(3)).norm(), 0.02);
        const Mat3 A = simulation.state().q[i].leftCols<3>();
        EXPECT_LT((A.transpose() * A - Mat3::Identity()).norm(), 1e-5);
    }
}

}  // namespace
}  // namespace tenon

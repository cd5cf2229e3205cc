// How far two runs are apart, and the order of a method.
#include <cmath>

#include <gtest/gtest.h>

#include "run/run_error.hpp"

namespace tenon::run {
namespace {

// e = C h^p for p = 1, 2, 4, against the truth and against a run of a smaller step.
TEST(ObservedOrder, IsThatOfTheError) {
    for (const double p : {0.5, 1.0, 2.0, 4.0})
        for (const double h0 : {0.0, 0.005}) {
            const auto error = [&](double h) { return 3.0 * (std::pow(h, p) - std::pow(h0, p)); };
            const auto order = observed_order(0.02, error(0.02), 0.01, error(0.01), h0);
            ASSERT_TRUE(order);
            EXPECT_NEAR(*order, p, 1e-6);
        }
    EXPECT_FALSE(observed_order(0.02, 1.0, 0.01, 1.0, 0));  // it does not shrink
    EXPECT_FALSE(observed_order(0.02, 1.0, 0.01, 0.0, 0));  // nothing to compare with
    EXPECT_FALSE(observed_order(0.01, 1.0, 0.02, 0.5, 0));
}

}  // namespace
}  // namespace tenon::run

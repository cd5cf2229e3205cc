// Samples by their defining properties: a grid is a product, a Latin hypercube uses every stratum once.
#include "sweep/samples.hpp"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "sweep/order.hpp"
#include "sweep/task.hpp"

namespace tenon::sweep {
namespace {

Parameter range(const std::string& key, double from, double to, long count = 0) {
    Parameter parameter;
    parameter.key = key;
    parameter.is_range = true;
    parameter.from = from;
    parameter.to = to;
    parameter.count = count;
    return parameter;
}

double number(const Cell& cell) {
    return std::get<double>(cell);
}

TEST(Samples, AGridIsTheProductWithTheLastFastest) {
    Plan plan;
    Parameter words;
    words.key = "w";
    words.values = {std::string("a"), std::string("b")};
    plan.parameters = {words, range("x", 0, 1, 3)};
    const auto rows = samples(plan);
    ASSERT_EQ(rows.size(), 6u);
    EXPECT_EQ(plain_text(rows[0][0]) + plain_text(rows[0][1]), "a0");
    EXPECT_EQ(plain_text(rows[1][1]), "0.5");
    EXPECT_EQ(plain_text(rows[5][0]) + plain_text(rows[5][1]), "b1");
}

TEST(Samples, LogRangesHaveEqualRatios) {
    Plan plan;
    plan.parameters = {range("x", 1e-3, 10, 5)};
    plan.parameters[0].logarithmic = true;
    const auto rows = samples(plan);
    for (int k = 0; k < 4; ++k) EXPECT_NEAR(number(rows[k + 1][0]) / number(rows[k][0]), 10, 1e-12);
    EXPECT_EQ(number(rows[0][0]), 1e-3);
    EXPECT_EQ(number(rows[4][0]), 10);
}

TEST(Samples, LatinHypercubeUsesEveryStratumOnce) {
    Plan plan;
    plan.sampling = Sampling::latin;
    plan.count = 97;
    plan.parameters = {range("x", -2, 5), range("y", 1e-4, 1e2)};
    plan.parameters[1].logarithmic = true;
    const auto rows = samples(plan);
    std::set<long> x, y;
    for (const auto& row : rows) {
        x.insert(static_cast<long>(std::floor((number(row[0]) + 2) / 7 * 97)));
        y.insert(static_cast<long>(std::floor((std::log10(number(row[1])) + 4) / 6 * 97)));
    }
    EXPECT_EQ(x.size(), 97u);
    EXPECT_EQ(y.size(), 97u);
}

TEST(Samples, RandomOnesFillTheRangeAndRepeatBySeed) {
    Plan plan;
    plan.sampling = Sampling::random;
    plan.count = 4000;
    plan.parameters = {range("x", 0, 1), range("k", 1, 6)};
    plan.parameters[1].integer = true;
    const auto rows = samples(plan);
    EXPECT_EQ(rows, samples(plan));
    double mean = 0;
    std::map<double, int> dice;
    for (const auto& row : rows) {
        mean += number(row[0]) / 4000;
        ++dice[number(row[1])];
    }
    // standard deviation of the mean: 1 / sqrt(12 * 4000) = 0.0046; of a face: sqrt(4000 * 5/36) = 24
    EXPECT_NEAR(mean, 0.5, 0.02);
    ASSERT_EQ(dice.size(), 6u);
    for (const auto& [face, count] : dice) EXPECT_NEAR(count, 4000 / 6.0, 100) << face;
    plan.sample_seed = 2;
    EXPECT_NE(rows, samples(plan));
}

std::vector<Task> tasks_with(const std::vector<std::pair<double, double>>& values) {
    std::vector<Task> tasks;
    for (const auto& [dt, n] : values) {
        Task& task = tasks.emplace_back();
        task.number = static_cast<long>(tasks.size()) - 1;
        task.values = {dt, n};
        task.overrides = {{"dt", plain_text(dt)}, {"n", plain_text(n)}};
    }
    return tasks;
}

TEST(Order, TheLongestGoFirst) {
    const std::vector<Task> tasks = tasks_with({{0.1, 1}, {0.01, 1}, {0.001, 1}, {0.01, 8}, {0.001, 8}});
    Order order(tasks, {0, 1, 2, 3, 4});
    EXPECT_EQ(order.next(), 2);  // the plan tells the steps, and nothing else is known yet
    // a run with n = 8 takes ten times as long per step
    order.note(1, 1.0);
    order.note(3, 10.0);
    EXPECT_EQ(order.next(), 4);
    EXPECT_EQ(order.next(), 3);
    EXPECT_EQ(order.next(), 1);
    EXPECT_EQ(order.next(), 0);
}

}  // namespace
}  // namespace tenon::sweep

#include "math/parallel.hpp"

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "math/static_partition.hpp"

namespace tenon {
namespace {

class Parallel : public ::testing::Test {
  protected:
    void TearDown() override { set_threads(0); }
};

// Every item once, in ranges that begin at multiples of the grain.
TEST_F(Parallel, RangesCoverEverythingOnce) {
    for (const int threads : {1, 2, 3, 7})
        for (const std::size_t count : {0, 1, 2, 15, 16, 17, 1000})
            for (const std::size_t grain : {1, 3, 16, 2000}) {
                set_threads(threads);
                for (const auto run : {parallel_ranges, static_partition_ranges}) {
                    std::vector<std::atomic<int>> times(count);
                    run(count, grain, [&](std::size_t begin, std::size_t end) {
                        EXPECT_EQ(begin % grain, 0u);
                        EXPECT_LE(end - begin, grain);
                        for (std::size_t i = begin; i < end; ++i) ++times[i];
                    });
                    for (const auto& t : times) ASSERT_EQ(t, 1);
                }
            }
}

TEST_F(Parallel, LoopsWithinLoopsEnd) {
    set_threads(4);
    std::atomic<long> sum = 0;
    for (int again = 0; again < 200; ++again)
        parallel_for(6, 1, [&](std::size_t i) {
            parallel_for(50, 4, [&](std::size_t j) {
                parallel_for(3, 1, [&](std::size_t k) { sum += static_cast<long>(i * 150 + j * 3 + k); });
            });
        });
    EXPECT_EQ(sum, 200L * 899 * 900 / 2);
}

TEST_F(Parallel, LoopsOfSeveralThreadsDoNotMeet) {
    set_threads(2);
    std::vector<std::thread> starters;
    std::vector<long> sums(4, 0);
    for (std::size_t s = 0; s < sums.size(); ++s)
        starters.emplace_back([&, s] {
            for (int again = 0; again < 300; ++again)
                sums[s] += parallel_sum(1000, 16, 0L, [&](std::size_t i) { return static_cast<long>(i); });
        });
    for (std::thread& starter : starters) starter.join();
    for (const long sum : sums) EXPECT_EQ(sum, 300L * 999 * 1000 / 2);
}

TEST_F(Parallel, WhatABodyThrowsReachesTheCaller) {
    set_threads(2);
    for (int again = 0; again < 100; ++again) {
        std::atomic<int> begun = 0;
        EXPECT_THROW(parallel_for(1000, 2,
                                  [&](std::size_t i) {
                                      ++begun;
                                      if (i == 700) throw std::runtime_error("no");
                                  }),
                     std::runtime_error);
        EXPECT_GE(begun, 1);
    }
    std::atomic<int> after = 0;
    parallel_for(100, 1, [&](std::size_t) { ++after; });
    EXPECT_EQ(after, 100);
}

// Threads that fell asleep come back, and take part: four naps of 20 ms by two.
TEST_F(Parallel, SleepersWakeAndHelp) {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
    set_threads(2);
    std::atomic<int> helped = 0;
    for (int again = 0; again < 3; ++again) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const auto self = std::this_thread::get_id();
        parallel_for(4, 1, [&](std::size_t) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            helped += std::this_thread::get_id() != self;
        });
    }
    EXPECT_GE(helped, 3);
}

}  // namespace
}  // namespace tenon

#include "bad_input/tables.hpp"

#include <iostream>

#include <gtest/gtest.h>

namespace tenon::bad_input {
namespace {

constexpr std::size_t wanted = 400;

TEST(BadInputTables, HoldFourHundredCases) {
    std::size_t total = 0;
    for (const auto& [name, cases] : tables()) {
        const std::size_t count = cases();
        EXPECT_GT(count, 0u) << name;
        std::cout << name << ": " << count << "\n";
        total += count;
    }
    std::cout << "all tables: " << total << "\n";
    EXPECT_GE(total, wanted);
}

}  // namespace
}  // namespace tenon::bad_input

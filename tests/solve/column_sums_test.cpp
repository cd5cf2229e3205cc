#include "solve/column_sums.hpp"

#include <cstring>
#include <random>

#include <gtest/gtest.h>

namespace tenon::solve {
namespace {

struct Dense {
    double squares = 0, sizes = 0;
    Vec6 along = Vec6::Zero();
    Mat6 outer = Mat6::Zero();
};

Dense dense_sums(const std::vector<Vec6>& columns, const Vec6& scale, const Vec6& y) {
    Dense out;
    for (const Vec6& column : columns) {
        const Vec6 c = scale.cwiseProduct(column);
        const double product = c.dot(y);
        if (product <= 0) continue;
        out.squares += product * product;
        out.sizes += c.squaredNorm();
        out.along += product * c;
        out.outer += c * c.transpose();
    }
    return out;
}

TEST(ColumnSums, AreThoseOfDenseAlgebraWhateverTheInstructions) {
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    auto vector = [&] { return Vec6(Vec6::NullaryExpr([&] { return normal(random); })); };
    std::vector<ColumnSumsKernel> kernels = {portable_column_sums};
    if (__builtin_cpu_supports("avx2")) kernels.push_back(avx2_column_sums);
    for (int count = 0; count < 40; ++count) {
        std::vector<Vec6> columns(count);
        for (Vec6& c : columns) c = vector();
        const Vec6 scale = vector().cwiseAbs(), y = vector();
        ColumnGroups groups;
        groups.set(columns, scale);
        for (int k = 0; k < count; ++k) EXPECT_EQ(groups.column(k), scale.cwiseProduct(columns[k]));
        const Dense expected = dense_sums(columns, scale, y);
        const double tolerance = 1e-13 * (1 + expected.sizes * (1 + y.squaredNorm()));
        ColumnSums first;
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            ColumnSums sums;
            kernels[i](groups.data(), groups.groups(), y.data(), sums);
            EXPECT_NEAR(sums.squares, expected.squares, tolerance);
            for (int a = 0, k = 0; a < 6; ++a) {
                EXPECT_NEAR(sums.along[a], expected.along[a], tolerance);
                for (int b = 0; b <= a; ++b, ++k) EXPECT_NEAR(sums.lower[k], expected.outer(a, b), tolerance);
            }
            if (i == 0) first = sums;
            EXPECT_EQ(std::memcmp(&sums, &first, sizeof sums), 0)
                << "kernel " << i << ", " << count << " columns";
        }
    }
}

}  // namespace
}  // namespace tenon::solve

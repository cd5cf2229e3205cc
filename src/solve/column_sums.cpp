#include "solve/column_sums.hpp"

#include "solve/column_sums_kernel.hpp"

namespace tenon::solve {

const ColumnSumsKernel portable_column_sums = sums_over_columns;

ColumnSumsKernel column_sums_kernel() {
    static const ColumnSumsKernel fastest =
        __builtin_cpu_supports("avx2") ? avx2_column_sums : portable_column_sums;
    return fastest;
}

void ColumnGroups::set(const std::vector<Vec6>& columns, const Vec6& scale) {
    columns_ = static_cast<int>(columns.size());
    numbers_.assign(24 * groups(), 0.0);
    for (int k = 0; k < columns_; ++k)
        for (int i = 0; i < 6; ++i) numbers_[24 * (k / 4) + 4 * i + k % 4] = scale[i] * columns[k][i];
}

Vec6 ColumnGroups::column(int k) const {
    Vec6 out;
    for (int i = 0; i < 6; ++i) out[i] = numbers_[24 * (k / 4) + 4 * i + k % 4];
    return out;
}

}  // namespace tenon::solve

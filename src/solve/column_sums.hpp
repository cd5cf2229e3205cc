// Sums over columns of six numbers, four columns in each vector: what the dual of a non-negative split asks for.
#pragma once

#include <array>
#include <vector>

#include "tenon/types.hpp"

namespace tenon::solve {

// Columns in groups of four, element by element: entry 24 g + 4 i + k is element i of column 4 g + k. Missing columns are zero.
class ColumnGroups {
  public:
    void set(const std::vector<Vec6>& columns, const Vec6& scale);  // each element times its scale
    int columns() const { return columns_; }
    int groups() const { return (columns_ + 3) / 4; }
    const double* data() const { return numbers_.data(); }
    Vec6 column(int k) const;

  private:
    int columns_ = 0;
    std::vector<double> numbers_;
};

// Over the columns c with c.y > 0.
struct ColumnSums {
    double squares;                // sum (c.y)^2
    std::array<double, 6> along;   // sum (c.y) c
    std::array<double, 21> lower;  // of sum c c^T: its lower triangle, row by row
};

// The fastest that this processor runs; all give the same bits.
using ColumnSumsKernel = void (*)(const double* groups, int count, const double* y, ColumnSums& sums);
ColumnSumsKernel column_sums_kernel();
extern const ColumnSumsKernel portable_column_sums, avx2_column_sums;

}  // namespace tenon::solve

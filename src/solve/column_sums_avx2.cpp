#include "solve/column_sums.hpp"

#if defined(__AVX2__)
#include "solve/column_sums_kernel.hpp"

namespace tenon::solve {
const ColumnSumsKernel avx2_column_sums = sums_over_columns;
}  // namespace tenon::solve
#else
namespace tenon::solve {
const ColumnSumsKernel avx2_column_sums = portable_column_sums;
}  // namespace tenon::solve
#endif

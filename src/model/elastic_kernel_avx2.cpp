// The element kernel in AVX2 instructions (see cmake/TenonSimd.cmake).
#include "model/elastic_kernel.hpp"

#if defined(__AVX2__)
#include "model/elastic_kernel_lanes.hpp"

namespace tenon {
const ElementKernel avx2_element_kernel{respond};
}  // namespace tenon
#else
namespace tenon {
const ElementKernel avx2_element_kernel = portable_element_kernel;
}  // namespace tenon
#endif

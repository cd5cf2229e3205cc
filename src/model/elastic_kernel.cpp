#include "model/elastic_kernel.hpp"

#include "model/elastic_kernel_lanes.hpp"

namespace tenon {

const ElementKernel portable_element_kernel{respond};

const ElementKernel& element_kernel() {
#if defined(__x86_64__)
    static const bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return fast ? avx2_element_kernel : portable_element_kernel;
#else
    return portable_element_kernel;
#endif
}

}  // namespace tenon

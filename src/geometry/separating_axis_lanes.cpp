#include "geometry/separating_axis_lanes_kernel.hpp"

namespace tenon::geometry {

const SeparatingAxisKernels portable_separating_axis{keep_near<1>, keep_near<2>};

const SeparatingAxisKernels& separating_axis_kernels() {
#if defined(__x86_64__)
    static const bool fast = __builtin_cpu_supports("avx2");
    return fast ? avx2_separating_axis : portable_separating_axis;
#else
    return portable_separating_axis;
#endif
}

}  // namespace tenon::geometry

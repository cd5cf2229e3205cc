#include "methods/impulse/wide_kernel.hpp"

namespace tenon::impulse {

const WideKernels portable_wide_kernels = {prepare, warm_start, pass, extrapolate, move};

const WideKernels& wide_kernels() {
    static const bool fast = __builtin_cpu_supports("avx2");
    return fast ? avx2_wide_kernels : portable_wide_kernels;
}

}  // namespace tenon::impulse

#include "methods/articulated/tree_kernel.hpp"

#include "methods/articulated/tree_kernel_steps.hpp"

namespace tenon::articulated {

const TreeKernel& tree_kernel_portable() {
    return kernel;
}

const TreeKernel& tree_kernel() {
#if defined(__x86_64__)
    static const bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (fast) return tree_kernel_avx2();
#endif
    return tree_kernel_portable();
}

}  // namespace tenon::articulated

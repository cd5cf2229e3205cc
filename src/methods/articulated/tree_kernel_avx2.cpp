// The tree recursion's small dense steps with AVX2 and FMA instructions.
#include "methods/articulated/tree_kernel.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#include "methods/articulated/tree_kernel_steps.hpp"

namespace tenon::articulated {

const TreeKernel& tree_kernel_avx2() {
    return kernel;
}

}  // namespace tenon::articulated
#endif

#include "methods/impulse/wide_contacts.hpp"

#if defined(__AVX2__)
#include "methods/impulse/wide_kernel.hpp"

namespace tenon::impulse {
const WideKernels avx2_wide_kernels = {prepare, warm_start, pass, extrapolate, move};
}  // namespace tenon::impulse
#else
namespace tenon::impulse {
const WideKernels avx2_wide_kernels = portable_wide_kernels;
}  // namespace tenon::impulse
#endif

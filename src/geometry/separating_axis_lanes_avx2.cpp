#include "geometry/separating_axis_lanes.hpp"

#if defined(__AVX2__)
#include "geometry/separating_axis_lanes_kernel.hpp"

namespace tenon::geometry {
const SeparatingAxisKernels avx2_separating_axis{keep_near<1>, keep_near<2>};
}  // namespace tenon::geometry
#else
namespace tenon::geometry {
const SeparatingAxisKernels avx2_separating_axis = portable_separating_axis;
}  // namespace tenon::geometry
#endif

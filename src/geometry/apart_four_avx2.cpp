#include "geometry/apart_four.hpp"

#if defined(__AVX2__)
#include "geometry/apart_four_kernel.hpp"

namespace tenon::geometry {
const ApartKernels avx2_apart_four{keep_near<1>, keep_near<2>};
}  // namespace tenon::geometry
#else
namespace tenon::geometry {
const ApartKernels avx2_apart_four = portable_apart_four;
}  // namespace tenon::geometry
#endif

#include "geometry/closest_four.hpp"

#if defined(__AVX2__)
#include "geometry/closest_four_kernel.hpp"

namespace tenon::geometry {
const FourKernels avx2_closest_four{point_triangles, edge_edges};
}  // namespace tenon::geometry
#else
namespace tenon::geometry {
const FourKernels avx2_closest_four = portable_closest_four;
}  // namespace tenon::geometry
#endif

#include "geometry/closest_point_lanes.hpp"

#if defined(__AVX2__)
#include "geometry/closest_point_lanes_kernel.hpp"

namespace tenon::geometry {
const ClosestPointKernels avx2_closest_point{point_triangles, edge_edges};
}  // namespace tenon::geometry
#else
namespace tenon::geometry {
const ClosestPointKernels avx2_closest_point = portable_closest_point;
}  // namespace tenon::geometry
#endif

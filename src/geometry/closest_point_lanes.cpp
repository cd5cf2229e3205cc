#include "geometry/closest_point_lanes_kernel.hpp"

namespace tenon::geometry {

const ClosestPointKernels portable_closest_point{point_triangles, edge_edges};

const ClosestPointKernels& closest_point_kernels() {
#if defined(__x86_64__)
    static const bool fast = __builtin_cpu_supports("avx2");
    return fast ? avx2_closest_point : portable_closest_point;
#else
    return portable_closest_point;
#endif
}

}  // namespace tenon::geometry

#include "geometry/closest_four_kernel.hpp"

namespace tenon::geometry {

const FourKernels portable_closest_four{point_triangles, edge_edges};

const FourKernels& closest_four() {
#if defined(__x86_64__)
    static const bool fast = __builtin_cpu_supports("avx2");
    return fast ? avx2_closest_four : portable_closest_four;
#else
    return portable_closest_four;
#endif
}

}  // namespace tenon::geometry

#include "geometry/apart_four_kernel.hpp"

namespace tenon::geometry {

const ApartKernels portable_apart_four{keep_near<1>, keep_near<2>};

const ApartKernels& apart_four() {
#if defined(__x86_64__)
    static const bool fast = __builtin_cpu_supports("avx2");
    return fast ? avx2_apart_four : portable_apart_four;
#else
    return portable_apart_four;
#endif
}

}  // namespace tenon::geometry

// Four numbers, one for each of four pairs of primitives.
#pragma once

#include "math/simd.hpp"

namespace tenon::geometry {
namespace {

using Four = simd::Vector<double, 4>;
using Mask = simd::MaskOf<Four>;
using Four3 = simd::Triple<Four>;

TENON_SIMD Four all(double value) {
    return simd::all<Four>(value);
}

// Three numbers from each of four places, which may be read one further.
TENON_SIMD Four3 load(const double* p0, const double* p1, const double* p2, const double* p3) {
    Four r0 = simd::load<Four>(p0), r1 = simd::load<Four>(p1), r2 = simd::load<Four>(p2),
         r3 = simd::load<Four>(p3);
    simd::transpose(r0, r1, r2, r3);
    return {r0, r1, r2};
}

}  // namespace
}  // namespace tenon::geometry

// Contacts packed for vector registers: eight patches of different bodies side by side, one in each lane.
#pragma once

#include <cstdint>

namespace tenon::impulse {

constexpr int lane_count = 8;
constexpr int patch_points = 4;  // contacts of one patch: of one pair of bodies, with one normal

using Lanes = float[lane_count];

// One contact of each of the eight patches. Single precision: a pass is bound by memory, and what the passes get wrong is
// far larger than rounding. What must be exact is made of their impulses afterwards, in double precision.
struct alignas(64) WidePoint {
    Lanes ra[3], rb[3];  // from the centres of mass
    Lanes gap;           // at the start of the step
    Lanes push;          // 1: penetration is undone, 0: it is not
    Lanes kn, inverse_kn;
    Lanes k1n, k2n;       // tangential velocity per normal impulse
    Lanes i11, i12, i22;  // inverse of the tangential response
    Lanes slide;          // 1 / the largest eigenvalue of that response
    Lanes p[3];           // impulses of this sub-step: normal, tangents
    Lanes total[3];       // of the sub-steps before it
};

// Eight patches that share no movable body. Lanes come first: they must be aligned. Unused lanes have no response and take no impulse.
struct alignas(64) WidePatch {
    std::int32_t a[lane_count], b[lane_count];
    Lanes n[3], t1[3], t2[3];
    Lanes friction;
    Lanes ma[3], mb[3];  // inverse masses along the axes
    Lanes Ia[6], Ib[6];  // inverse inertias (xx xy xz yy yz zz)
    Lanes total[3];      // impulse of the sub-steps before this one, world frame
    Lanes path[3];       // that of each sub-step so far at the time its bodies moved, summed up
    std::uint32_t moves_a = 0, moves_b = 0;  // bits: lanes whose body is movable, and so written
    std::int32_t first = 0, count = 0;       // points
};

// What a pass does with the gaps. All lengths in m, times in s.
struct PassSettings {
    float inverse_h = 0.0f;              // of the sub-step
    float touching = 0.0f, slop = 0.0f;  // gaps up to `touching` are closed; penetration up to `slop` is left
    float bias_rate = 0.0f, max_push = 0.0f;  // 1/s, m/s: velocity that undoes penetration; 0 when relaxing
    float mass_scale = 1.0f, impulse_scale = 0.0f;  // softness of contacts that are being pushed apart
    bool add_up = false;   // take the impulses as they are into `total` (pushing) or `path` (relaxing)
    bool measure = false;  // return the largest error of a velocity met, m/s
};

// Twists and displacements are eight floats a body: linear, 0, angular, 0.
struct WideKernels {
    // Responses of the points of the patches begin..end from their geometry.
    void (*prepare)(const WidePatch* patches, WidePoint* points, int begin, int end);
    // Adds the impulses of the patches to the twists.
    void (*warm_start)(const WidePatch* patches, const WidePoint* points, int begin, int end, float* twist);
    // A Gauss-Seidel pass over them: each contact takes its normal impulse, then friction in its cone.
    float (*pass)(WidePatch* patches, WidePoint* points, int begin, int end, float* twist, const float* moved,
                  const PassSettings& settings);
    // Adds to the twists what they changed by since `last`, and keeps them there; `count` floats.
    void (*extrapolate)(float* twist, float* last, int count);
    void (*move)(const float* twist, float* shift, int count, float h);
};

const WideKernels& wide_kernels();  // the fastest that this processor runs; all give the same bits
extern const WideKernels portable_wide_kernels, avx2_wide_kernels;

}  // namespace tenon::impulse

// Contacts packed for vector registers: four patches of different bodies side by side, one in each lane.
#pragma once

#include <cstdint>

namespace tenon::impulse {

constexpr int lane_count = 4;
constexpr int patch_points = 4;  // contacts of one patch: of one pair of bodies, with one normal

// One contact of each of the four patches. Geometry is kept in single precision: passes over many contacts are bound by
// memory. Impulses, velocities and displacements are double.
struct alignas(64) WidePoint {
    float ra[3][lane_count], rb[3][lane_count];  // from the centres of mass
    float gap[lane_count];                       // at the start of the step
    float kn[lane_count], inverse_kn[lane_count];
    float k1n[lane_count], k2n[lane_count];                   // tangential velocity per normal impulse
    float i11[lane_count], i12[lane_count], i22[lane_count];  // inverse of the tangential response
    float slide[lane_count];                                  // 1 / the largest eigenvalue of that response
    float push[lane_count];                                   // 1: penetration is undone, 0: it is not
    double p[3][lane_count];                                  // impulses of this sub-step: normal, tangents
};

// Four patches that share no movable body. Unused lanes have no response and take no impulse.
struct alignas(64) WidePatch {
    std::int32_t a[lane_count], b[lane_count];
    std::int32_t moves_a = 0, moves_b = 0;  // bits: lanes whose body is movable, and so written
    std::int32_t first = 0, count = 0;      // points
    float n[3][lane_count], t1[3][lane_count], t2[3][lane_count];
    float friction[lane_count];
    // inverse masses along the axes and inverse inertias (xx xy xz yy yz zz): double, or momentum would not be kept
    double ma[3][lane_count], mb[3][lane_count];
    double Ia[6][lane_count], Ib[6][lane_count];
};

// What a pass does with the gaps. All lengths in m, times in s.
struct PassSettings {
    double inverse_h = 0.0;             // of the sub-step
    double touching = 0.0, slop = 0.0;  // gaps up to `touching` are closed; penetration up to `slop` is left
    double bias_rate = 0.0, max_push = 0.0;  // 1/s, m/s: velocity that undoes penetration; 0 when relaxing
    double mass_scale = 1.0, impulse_scale = 0.0;  // softness of contacts that are being pushed apart
};

// Twists and displacements are eight numbers a body: linear, 0, angular, 0.
struct WideKernels {
    // Adds the impulses of the patches begin..end to the twists.
    void (*warm_start)(const WidePatch* patches, const WidePoint* points, int begin, int end, double* twist);
    // A Gauss-Seidel pass over them: each contact takes its normal impulse, then friction in its cone. Returns the largest
    // error of a velocity met, m/s.
    double (*pass)(const WidePatch* patches, WidePoint* points, int begin, int end, double* twist,
                   const double* moved, const PassSettings& settings);
};

const WideKernels& wide_kernels();  // the fastest that this processor runs; all give the same bits
extern const WideKernels portable_wide_kernels, avx2_wide_kernels;

}  // namespace tenon::impulse

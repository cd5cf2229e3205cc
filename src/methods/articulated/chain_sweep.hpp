// A whole step of a chain of ball-jointed bodies in two passes over its state, four bodies at a time.
//
// The first pass predicts each body's pose, turns its matrix into what its two joints see, and eliminates joint by joint
// (block Thomas, Eqs. 37-39); the second finds the multipliers from the far end back, moves the bodies and judges the
// result. Between the passes only 12 numbers per joint are kept: working a body's matrix out a second time costs less
// than fetching it from memory. In the frame turned by the predicted rotation everything about a body is symmetric and
// small, so that two polar decompositions and three 2x2 inverses are all there is.
//
// Plain numbers only: the kernels are compiled twice, for any processor and for AVX2, and must not share inline code.
#pragma once

#include <cstddef>

namespace tenon::articulated {

// The constants of a kind of body: KindMatrix as plain numbers. Symmetric matrices are xx, yy, zz, yz, zx, xy.
struct SweepKind {
    double inertia[3] = {};
    double mass_rate = 0.0, translation_inverse = 0.0;
    double volume_mu = 0.0, volume_lambda = 0.0;
    double stretch_inverse[6] = {};
};

// The integrator's rule: target = q0 q + q1 previous_q + v0 rate + v1 previous_rate + gravity,
// rate at the end = (x - q0 q - q1 previous_q) times rate_scale.
struct SweepRule {
    double q0 = 1.0, q1 = 0.0, v0 = 0.0, v1 = 0.0, rate_scale = 0.0;
    double gravity[3] = {};
};

struct SweepChain {
    std::size_t bodies = 0;
    const int* body = nullptr;        // places in the arrays below, padded to a multiple of four
    const int* kind = nullptr;        // same layout, padded
    const double* anchors = nullptr;  // per group of four bodies: 6 x 4, left point then right point
    bool held_start = false, held_end = false;
    double start[3] = {}, end[3] = {};  // where the held ends are to be
    const SweepKind* kinds = nullptr;
};

struct SweepState {
    const double *q = nullptr, *previous_q = nullptr, *rate = nullptr,
                 *previous_rate = nullptr;  // 12 per body
    double *new_q = nullptr, *new_rate = nullptr;
};

struct SweepReport {
    double energy_before = 0.0, energy_after = 0.0;  // incremental potential
    double gap_before = 0.0, gap_after = 0.0;        // largest distance along an axis, m
    double strain = 0.0;                             // largest entry of |S - I| after the step
    double excess = 0.0;  // the largest of it that comes from turning along a straight line
    double force = 0.0;   // largest entry of a joint's force, N
    bool near = true;     // every body near enough to a rotation; if not, nothing here is to be used
};

// The first solve starts from the prediction; `again` starts from where the last one left new_q, its straight increments turned
// into rotations. `work` has 12 numbers per joint, `multiplier` 3 per joint (on the body behind the joint).
using SweepKernel = SweepReport (*)(const SweepChain&, const SweepRule&, const SweepState&, bool again,
                                    double* work, double* multiplier);

// The fastest kernel this processor runs.
SweepKernel sweep_kernel();

SweepReport sweep_portable(const SweepChain&, const SweepRule&, const SweepState&, bool again, double* work,
                           double* multiplier);
SweepReport sweep_avx2(const SweepChain&, const SweepRule&, const SweepState&, bool again, double* work,
                       double* multiplier);

// What one step of a link reads and writes, in bytes, when nothing stays in the cache: the state of two moments twice
// (once per pass), anchors, indices, elimination and multipliers, and the new state with the lines fetched for it.
constexpr double sweep_bytes_per_link = 2.0 * (4 * 96 + 48 + 8) + 2.0 * 2 * 96 + 3.0 * 96 + 2.0 * 24;

}  // namespace tenon::articulated

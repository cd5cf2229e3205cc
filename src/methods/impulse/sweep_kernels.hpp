// The inner loops of the sweeps, over plain arrays: portable, and in AVX2 where the processor has it.
#pragma once

namespace tenon::impulse {

// A contact prepared for sweeping: all that a sweep touches, in four cache lines. Vectors are padded with zero.
struct alignas(64) Row {
    double n[4], t1[4], t2[4], ra[4], rb[4];
    double target;
    double kn, inverse_kn;  // response along the normal
    double k1n, k2n;        // tangential velocity per normal impulse
    double i11, i12, i22;   // inverse of the tangential 2x2 block
    double slide;           // 1 / the largest eigenvalue of that block
    double p[3];            // impulses: normal, tangent 1, tangent 2
};

// The contacts of one pair: rows begin..end.
struct RowGroup {
    int a, b;
    int begin, end;
    double mu;
};

// Inverse mass along the axes, and the columns of the inverse inertia.
struct alignas(64) RowMass {
    double m[4];  // the fourth: 1 for what moves, 0 otherwise
    double I[3][4];
    bool movable() const { return m[3] != 0; }
};

struct SweepResult {
    double worst = 0.0;   // largest error of a contact's velocity met
    double change = 0.0;  // sum of kn |change of impulse|^2
};

// Twists are eight numbers a body: v, 0, w, 0. Each kernel runs over the groups begin..end, in this order or
// backwards. What does not move is not written, so that threads may share it.
struct SweepKernels {
    // One contact after the other: normal first, then friction with the new limit (Eqs. 17-19 with both bodies'
    // masses). `change`, when given, takes each row's change of impulses (four numbers a row).
    SweepResult (*relax)(Row* rows, const RowGroup* groups, int begin, int end, bool backward, double* twist,
                         const RowMass* mass, double* change);
    // Normal impulses only, for position correction.
    void (*correct)(const Row* rows, const RowGroup* groups, int begin, int end, bool backward, double* twist,
                    const RowMass* mass, const double* target, double* impulse);
};

// The fastest kernels this processor runs.
const SweepKernels& sweep_kernels();

extern const SweepKernels portable_sweep_kernels;
extern const SweepKernels avx2_sweep_kernels;

// Friction pyramid instead of the cone: the usual LCP.
SweepResult relax_pyramid(Row* rows, const RowGroup* groups, int begin, int end, bool backward, double* twist,
                          const RowMass* mass, double* change);

// Adds the impulses of all rows to the twists: warm start.
void apply_impulses(const Row* rows, const RowGroup* groups, int begin, int end, double* twist,
                    const RowMass* mass);

}  // namespace tenon::impulse

#include "methods/articulated/chain_sweep.hpp"

#include "methods/articulated/chain_sweep_kernel.hpp"

namespace tenon::articulated {

SweepReport sweep_portable(const SweepChain& chain, const SweepRule& rule, const SweepState& state,
                           bool again, double* work, double* multiplier) {
    return sweep(chain, rule, state, again, work, multiplier);
}

SweepKernel sweep_kernel() {
#if defined(__x86_64__)
    static const bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (fast) return sweep_avx2;
#endif
    return sweep_portable;
}

}  // namespace tenon::articulated

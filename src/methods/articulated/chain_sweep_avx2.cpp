// The chain sweep with AVX2 and FMA instructions.
#include "methods/articulated/chain_sweep.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#include "methods/articulated/chain_sweep_kernel.hpp"

namespace tenon::articulated {

SweepReport sweep_avx2(const SweepChain& chain, const SweepRule& rule, const SweepState& state, bool again,
                       double* work, double* multiplier) {
    return sweep(chain, rule, state, again, work, multiplier);
}

}  // namespace tenon::articulated
#endif

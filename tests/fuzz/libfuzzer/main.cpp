// One libFuzzer program per target; TENON_FUZZ_TARGET names it.
#include <cstdint>

#include "fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const tenon::fuzz::Target* target = tenon::fuzz::find_target(TENON_FUZZ_TARGET);
    if (size <= target->longest) target->run({reinterpret_cast<const char*>(data), size});
    return 0;
}

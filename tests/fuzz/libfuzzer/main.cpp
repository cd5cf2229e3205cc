// One libFuzzer program per target: TENON_FUZZ_TARGET names it, TENON_FUZZ_LIST and TENON_FUZZ_SEEDS the lists it is in.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "fuzz/targets.hpp"

namespace {

const tenon::fuzz::Target& the_target() {
    static const tenon::fuzz::Target* target =
        tenon::fuzz::find_target(tenon::fuzz::TENON_FUZZ_LIST(), TENON_FUZZ_TARGET);
    return *target;
}

// A dictionary as libFuzzer reads it: every byte by its number.
std::string quoted(const std::string& word) {
    std::string text = "\"";
    char code[8];
    for (const char c : word) {
        std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        text += code;
    }
    return text + "\"\n";
}

}  // namespace

// Before anything is read: the target's own seeds and words, where TENON_FUZZ_START names a folder for them.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    const char* folder = std::getenv("TENON_FUZZ_START");
    if (!folder) return 0;
    std::ofstream words(std::string(folder) + ".dict", std::ios::binary);
    for (const std::string& word : the_target().words)
        if (!word.empty()) words << quoted(word);
    int number = 0;
    for (const std::string& seed : tenon::fuzz::TENON_FUZZ_SEEDS(the_target()))
        std::ofstream(std::string(folder) + "/start-" + std::to_string(number++), std::ios::binary) << seed;
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size <= the_target().longest) the_target().run({reinterpret_cast<const char*>(data), size});
    return 0;
}

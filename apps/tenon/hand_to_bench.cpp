#include "apps/tenon/hand_to_bench.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "tenon/error.hpp"

namespace tenon::app {

int hand_to_bench(int argc, char** argv) {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::string bench = (program.parent_path() / "tenon-bench").string();
    std::vector<char*> arguments(argv, argv + argc);
    arguments.push_back(nullptr);
    execv(bench.c_str(), arguments.data());
    throw InputError("", argv[1], "the benchmarks are not built: " + bench + " is missing",
                     "'make build' builds them, or 'cmake --build FOLDER --target tenon_bench'");
}

}  // namespace tenon::app

// `tenon bench` and `tenon paper` are done by tenon-bench, which lies beside the program.
#pragma once

namespace tenon::app {

// Becomes tenon-bench with the same arguments. Throws InputError where it is not built.
int hand_to_bench(int argc, char** argv);

}  // namespace tenon::app

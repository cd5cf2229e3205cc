#include "math/parallel.hpp"
#include "math/static_partition.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "math/thread_team.hpp"

namespace tenon {
namespace {

std::atomic<int> requested_threads{0};

int hardware_threads() {
    static const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    return cores;
}

}  // namespace

void set_threads(int count) {
    requested_threads = std::max(0, count);
}

int thread_count() {
    const int requested = requested_threads;
    return requested > 0 ? requested : hardware_threads();
}

void parallel_ranges(std::size_t count, std::size_t grain,
                     const std::function<void(std::size_t, std::size_t)>& body) {
    share_ranges(count, grain, thread_count(), grain <= 1 ? Sharing::dealt : Sharing::halves, body);
}

void static_partition_ranges(std::size_t count, std::size_t grain,
                             const std::function<void(std::size_t, std::size_t)>& body) {
    share_ranges(count, grain, thread_count(), Sharing::halves, body);
}

}  // namespace tenon

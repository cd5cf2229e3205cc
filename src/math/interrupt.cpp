#include "math/interrupt.hpp"

#include <utility>

namespace tenon {
namespace {

// Each thread's own: runs in other threads go on. Parallel loops hand it to the threads that help.
thread_local const std::atomic<bool>* watched = nullptr;

}  // namespace

InterruptScope::InterruptScope(const std::atomic<bool>* flag) : before_(std::exchange(watched, flag)) {}

InterruptScope::~InterruptScope() {
    watched = before_;
}

const std::atomic<bool>* watched_interrupt() {
    return watched;
}

void check_interrupt() {
    if (watched && watched->load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace tenon

#include "math/interrupt.hpp"

namespace tenon {
namespace {

// Loops run on threads that know nothing of who started them, so the flag is everyone's.
std::atomic<const std::atomic<bool>*> watched{nullptr};

}  // namespace

InterruptScope::InterruptScope(const std::atomic<bool>* flag) : before_(watched.exchange(flag)) {}

InterruptScope::~InterruptScope() {
    watched = before_;
}

void check_interrupt() {
    const std::atomic<bool>* flag = watched.load(std::memory_order_acquire);
    if (flag && flag->load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace tenon

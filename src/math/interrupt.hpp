// Stopping in the middle of a long step: loops that may take long ask whether someone wants them to end.
#pragma once

#include <atomic>
#include <exception>

namespace tenon {

// Thrown out of a step that was told to stop. The step did not happen.
class Interrupted : public std::exception {
  public:
    const char* what() const noexcept override { return "stopped in the middle of a step"; }
};

// While it lives, check_interrupt() looks at `flag` (nothing when null) in this thread and in the parallel loops it
// starts. Scopes nest.
class InterruptScope {
  public:
    explicit InterruptScope(const std::atomic<bool>* flag);
    ~InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;

  private:
    const std::atomic<bool>* before_;
};

// The flag that this thread looks at, for those who share its work.
const std::atomic<bool>* watched_interrupt();

// One line in each loop of a method that may go on for more than a second: throws Interrupted when asked to.
// It costs a load or two; results do not depend on it.
void check_interrupt();

}  // namespace tenon

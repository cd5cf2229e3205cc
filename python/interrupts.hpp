// Ctrl-C while the library works: a flag that loops of a step look at, set beside Python's own handler.
#pragma once

#include <atomic>
#include <csignal>

namespace tenon::python {

// While it lives, and where it was made in the main thread, SIGINT also sets a flag. Python's handler runs as ever.
class CtrlC {
  public:
    CtrlC();  // with the GIL
    ~CtrlC();
    CtrlC(const CtrlC&) = delete;
    CtrlC& operator=(const CtrlC&) = delete;

    const std::atomic<bool>* flag() const;  // for InterruptScope; null in other threads
    bool pressed() const;

    // With the GIL: runs Python's signal handlers and throws what they raise.
    void raise_if_pressed();

  private:
    bool installed_ = false;
    struct sigaction before_ {};
};

void remember_main_thread();  // at import

}  // namespace tenon::python

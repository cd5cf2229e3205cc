#include "interrupts.hpp"

#include <pybind11/pybind11.h>

namespace tenon::python {
namespace {

std::atomic<bool> wanted = false;
static_assert(std::atomic<bool>::is_always_lock_free);
struct sigaction chained {};  // only the main thread writes it, before the handler that reads it is installed
unsigned long main_thread = 0;

void handle(int number, siginfo_t* info, void* context) {
    wanted = true;
    if (chained.sa_flags & SA_SIGINFO)
        chained.sa_sigaction(number, info, context);
    else
        chained.sa_handler(number);
}

}  // namespace

void remember_main_thread() {
    main_thread =
        pybind11::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
}

CtrlC::CtrlC() {
    if (PyThread_get_thread_ident() != main_thread) return;
    if (sigaction(SIGINT, nullptr, &before_) != 0) return;
    const bool plain = !(before_.sa_flags & SA_SIGINFO);
    if (plain && (before_.sa_handler == SIG_DFL || before_.sa_handler == SIG_IGN)) return;
    if (!plain && before_.sa_sigaction == &handle) return;  // steps within steps: the outer one takes it away
    chained = before_;
    wanted = false;
    struct sigaction ours {};
    ours.sa_sigaction = &handle;
    ours.sa_mask = before_.sa_mask;
    ours.sa_flags = before_.sa_flags | SA_SIGINFO;
    installed_ = sigaction(SIGINT, &ours, nullptr) == 0;
}

CtrlC::~CtrlC() {
    if (installed_) sigaction(SIGINT, &before_, nullptr);
}

const std::atomic<bool>* CtrlC::flag() const {
    return installed_ ? &wanted : nullptr;
}

bool CtrlC::pressed() const {
    return installed_ && wanted;
}

void CtrlC::raise_if_pressed() {
    if (installed_) wanted = false;
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

}  // namespace tenon::python

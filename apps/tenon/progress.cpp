#include "apps/tenon/progress.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "apps/tenon/common.hpp"

namespace tenon::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

int terminal_width() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::atomic<bool> interrupted{false};

extern "C" void on_interrupt(int signal) {
    interrupted.store(true);
    std::signal(signal, SIG_DFL);  // a second time ends the program
}

}  // namespace

ProgressBar::ProgressBar(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0), start_(Clock::now()), last_(start_) {}

ProgressBar::~ProgressBar() {
    clear();
}

// Ten times a second on a terminal; elsewhere after 5 s, then ever more rarely.
bool ProgressBar::due() {
    if (quiet_) return false;
    const auto now = Clock::now();
    if (terminal_) {
        if (dirty_ && seconds_between(last_, now) < 0.1) return false;
    } else {
        const double elapsed = seconds_between(start_, now);
        if (elapsed < next_line_) return false;
        next_line_ = elapsed + std::clamp(0.5 * elapsed, 5.0, 60.0);
    }
    last_ = now;
    return true;
}

void ProgressBar::print(double part, const std::string& text) {
    if (!terminal_) {
        fmt::print(stderr, "{:3.0f} %  {}\n", 100 * part, text);
        return;
    }
    const int width = terminal_width();
    const int bar = std::clamp(width - static_cast<int>(text.size()) - 12, 0, 40);
    const int filled = static_cast<int>(part * bar + 0.5);
    std::string line = fmt::format("{:3.0f} % ", 100 * part);
    if (bar >= 8) line += "[" + std::string(filled, '=') + std::string(bar - filled, ' ') + "] ";
    line += text;
    line.resize(std::min<std::size_t>(line.size(), width - 1));
    fmt::print(stderr, "\r\033[K{}", line);
    std::fflush(stderr);
    dirty_ = true;
}

void ProgressBar::show(const run::Progress& progress) {
    if (!due()) return;
    const double part = progress.steps > 0 ? static_cast<double>(progress.step) / progress.steps : 1.0;
    std::string text = fmt::format("t={:.3g} s  step {}/{}", progress.time, progress.step, progress.steps);
    if (progress.last)
        text +=
            fmt::format("  contacts {}  iterations {}", progress.last->contacts, progress.last->iterations);
    text += "  ETA " + short_seconds(progress.eta_seconds);
    print(part, text);
}

void ProgressBar::show(double part, const std::string& text) {
    if (due()) print(part, text);
}

void ProgressBar::clear() {
    if (!dirty_) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    dirty_ = false;
}

const std::atomic<bool>& stop_on_interrupt() {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    return interrupted;
}

}  // namespace tenon::app

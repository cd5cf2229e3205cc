// A progress bar on standard error: live on a terminal, sparse lines elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "run/run_loop.hpp"

namespace tenon::app {

class ProgressBar {
  public:
    explicit ProgressBar(bool quiet);
    ~ProgressBar();  // leaves the line clean

    void show(const run::Progress& progress);
    void show(double part, const std::string& text);  // for work without steps
    void clear();

  private:
    bool due();
    void print(double part, const std::string& text);

    bool quiet_, terminal_, dirty_ = false;
    std::chrono::steady_clock::time_point start_, last_;
    double next_line_ = 5.0;  // s; where there is no terminal
};

// Sets a flag when Ctrl-C is pressed; a second one ends the program as usual.
const std::atomic<bool>& stop_on_interrupt();

}  // namespace tenon::app

// Named stage timers for a step: the same names in report, docs and viewer.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

class StageTimer {
  public:
    using Clock = std::chrono::steady_clock;

    // Adds the life time of the returned guard to the stage's milliseconds.
    class Guard {
      public:
        Guard(StageTimer& timer, int stage) : timer_(timer), stage_(stage), start_(Clock::now()) {}
        ~Guard() { timer_.stages_[stage_].second += elapsed_ms(start_); }
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;

      private:
        StageTimer& timer_;
        int stage_;
        Clock::time_point start_;
    };

    [[nodiscard]] Guard stage(const char* name) {
        for (std::size_t i = 0; i < stages_.size(); ++i)
            if (stages_[i].first == name) return Guard(*this, static_cast<int>(i));
        stages_.emplace_back(name, 0.0);
        return Guard(*this, static_cast<int>(stages_.size()) - 1);
    }
    const std::vector<std::pair<std::string, double>>& stages() const { return stages_; }
    // Adds time measured elsewhere to a stage.
    void add(const char* name, double milliseconds) {
        for (auto& stage : stages_)
            if (stage.first == name) {
                stage.second += milliseconds;
                return;
            }
        stages_.emplace_back(name, milliseconds);
    }
    void reset() {
        for (auto& stage : stages_) stage.second = 0.0;
    }
    static double elapsed_ms(Clock::time_point start) {
        return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    }

  private:
    std::vector<std::pair<std::string, double>> stages_;
};

}  // namespace tenon

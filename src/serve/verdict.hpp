// `tenon verify` for the viewer: the whole run's verdict first, then which frames it is about.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tenon::serve {

enum class FrameVerdict : char { unknown = '?', proven = 'p', unproven = 'u', violated = 'v' };

class Verdict {
  public:
    Verdict() = default;
    ~Verdict() { cancel(); }
    Verdict(const Verdict&) = delete;
    Verdict& operator=(const Verdict&) = delete;

    void start(const std::string& file, long generation);  // does nothing while one is under way
    void cancel();
    // {"state": "none|running|done|failed", "progress", "frames": one letter each, "verdict", "result": {...}}
    std::string json() const;

  private:
    void work(const std::string& file);

    mutable std::mutex mutex_;
    std::thread thread_;
    std::atomic<bool> stop_{false};
    std::string state_ = "none", problem_, verdict_, result_;
    double progress_ = 0.0;
    long generation_ = 0;
    std::string frames_;  // a FrameVerdict each
};

}  // namespace tenon::serve

// A scene that is simulated in a thread of its own while it is watched, and may be dragged.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "run/run_loop.hpp"
#include "serve/server.hpp"

namespace tenon::serve {

// The spring between the pointer and a body: critically damped, of this frequency, on what hangs together by joints.
constexpr double drag_hertz = 1.5;
constexpr double drag_largest_acceleration = 100.0;  // m/s^2

class LiveRun : public Steering {
  public:
    // Starts at once, no faster than real time; returns when the first frame is recorded. Without `output` the run
    // is kept in a temporary file that is removed at the end. Throws InputError.
    LiveRun(Scene scene, const std::string& output, double speed = 1.0);
    ~LiveRun() override;

    const std::string& file() const { return file_; }
    void finish();  // stops the simulation and waits
    std::string status() const;

    void drag(int body, const Vec3& point, const Vec3& target) override;
    void release() override;
    void pause(bool paused) override { paused_ = paused; }
    bool paused() const override { return paused_; }

  private:
    struct Pull {
        int body = -1;
        Vec3 point = Vec3::Zero(), target = Vec3::Zero();
    };
    void work(Scene scene);
    void before_step(Simulation& simulation);
    void keep_pace(double simulated);
    void apply_pull(Simulation& simulation);

    std::string file_, folder_;
    double speed_;
    mutable std::mutex mutex_;
    std::optional<Pull> pull_;
    std::string status_ = "starting", problem_;
    std::atomic<bool> stop_{false}, paused_{false};
    std::vector<double> mass_;  // of each body with all that joints tie to it
    double paced_from_ = -1.0, paced_time_ = 0.0;
    std::thread thread_;
};

}  // namespace tenon::serve

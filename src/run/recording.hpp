// Which steps of a run get a frame, and the hash that tells two states apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/run_file.hpp"

namespace tenon::run {

// A run that is resumed may go on by another rule: each holds from the step after `after` on.
class RecordingRule {
  public:
    static RecordingRule every(long steps);   // every n-th step
    static RecordingRule fps(double frames);  // the first step at or after each multiple of 1/fps seconds

    bool records(long step, double dt) const;
    void change(const RecordingRule& to, long after);

    std::string to_json() const;
    static std::optional<RecordingRule> parse(const std::string& json);

  private:
    struct Part {
        long after = 0;
        long every = 0;  // 0: by fps
        double fps = 60.0;
        bool operator==(const Part&) const = default;
    };
    std::vector<Part> parts_;
};

// 64 bits as 16 hexadecimal digits over step, time, poses, velocities and elastic vertices, bit for bit.
std::string state_hash(const Frame& frame);

}  // namespace tenon::run

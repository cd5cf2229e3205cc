// What acts along the joints' coordinates, frame by frame. Kept apart from frames: few readers ask for it.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "run/run_file.hpp"

namespace tenon::run {

// Per joint, along its three coordinates. Empty in files of older programs and of more than 100,000 joints.
struct JointDrives {
    std::vector<std::array<double, 3>> rate;           // m/s or rad/s
    std::vector<std::array<double, 3>> motor, limits;  // N or N m
};

class JointDriveReader {
  public:
    explicit JointDriveReader(const RunReader& run);  // throws InputError
    ~JointDriveReader();
    JointDrives at(long frame) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace tenon::run

// Whether a run file tells one story: frames, steps, times, status, report and contacts fit each other.
#pragma once

#include <memory>
#include <vector>

#include "run/joint_drives.hpp"
#include "run/run_file.hpp"
#include "verify/findings.hpp"

namespace tenon::verify {

class RecordAudit {
  public:
    // `dt` and `steps` are those of the scene; steps < 0: the scene could not be read.
    RecordAudit(const run::RunReader& run, double dt, long steps);

    // Everything that can be said without reading the frames themselves.
    void check(const Options& options, Result& result, FindingList& findings) const;

    // A frame's contacts and its hash against what was recorded beside it.
    // `place` is where the frame stands in frames().
    void check_frame(std::size_t place, const run::Frame& frame, Result& result, FindingList& findings) const;

    const std::vector<run::FrameEntry>& frames() const { return frames_; }

  private:
    void check_frames(Result& result, FindingList& findings) const;
    void check_hashes(Result& result, FindingList& findings) const;
    void check_rule(Result& result, FindingList& findings) const;
    void check_steps(const Options& options, Result& result, FindingList& findings) const;
    void check_end(Result& result, FindingList& findings) const;
    const run::StepRow* row_of(long step) const;

    const run::RunReader& run_;
    std::unique_ptr<run::JointDriveReader> drives_;  // of a run with joints
    double dt_;
    long planned_;
    long first_;  // step of the start; not 0 when a state was handed over
    std::vector<run::FrameEntry> frames_;
    std::vector<run::StepRow> steps_;
};

}  // namespace tenon::verify

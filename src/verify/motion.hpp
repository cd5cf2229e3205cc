// What may have happened to two bodies between two frames.
#pragma once

#include "verify/sweep.hpp"

namespace tenon::verify {

// A body at the two ends of an interval, with its recorded rates.
struct Travel {
    Placed start, end;
    Mat34 rate_start = Mat34::Zero(), rate_end = Mat34::Zero();
    double vertex_change = 0.0;  // elastic bodies: the largest change of a vertex's velocity, m/s
};

// The motion a body most likely made: a cubic for the centre that agrees with the velocities at both ends, and a
// turn about a fixed axis by as many turns as the spin at both ends says.
class LikelyMotion {
  public:
    LikelyMotion(const Travel& travel, double seconds, const Vec3& gravity);

    Mat34 at(double s) const;              // s in 0..1
    double turn() const { return turn_; }  // rad, over the whole interval

    // How far the true path of a surface point may lie from this one, judged by how much the recorded velocities
    // change and, when steps lie between the frames, by how far they are from explaining the displacement.
    double uncertainty(bool steps_between) const;

  private:
    bool elastic_ = false;
    double seconds_, vertex_change_, turn_ = 0.0, radius_ = 0.0, turn_rate_start_ = 1.0, turn_rate_end_ = 1.0;
    Vec3 from_, to_, v0_, v1_, w0_, w1_, axis_, gravity_;
    Mat3 rotation_, stretch_start_, stretch_end_;
};

enum class Verdict { free, avoidable, unavoidable };

// Judges two bodies that touch on the straight way. `avoidable`: some motion that the recorded poses and velocities
// allow does not touch. `unavoidable`: none was found. Bodies may come nearer than they may by `overlap_allowed`.
Verdict judge(const Travel& a, const Travel& b, const SweepHit& chord, double seconds, const Vec3& gravity,
              bool steps_between, double overlap_allowed);

}  // namespace tenon::verify

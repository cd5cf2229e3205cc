// How far a run is from the exact motion, estimated from a second run of the same scene with twice the step.
//
// The error of a scheme of order p is e(h) = C h^p: the runs differ by e(2h) - e(h) = (2^p - 1) e(h) (Richardson). The
// estimate is twice that, for what higher orders add; it holds where the motion is smooth and not chaotic.
#pragma once

#include <iosfwd>

#include "tenon/simulation.hpp"

namespace tenon::run {

class ErrorShadow {
  public:
    explicit ErrorShadow(const Scene& scene);  // throws InputError

    // Follows a step of the run. Returns the estimate, m: the largest displacement of a point of a body. Between the
    // steps of the second run it is that of the last one; not a number once the second run has failed.
    double follow(const Simulation& simulation);

    void save(std::ostream& out) const;
    void load(std::istream& in);

  private:
    Simulation coarse_;
    double order_ = 1.0;
    double estimate_ = 0.0;
    bool failed_ = false;
};

}  // namespace tenon::run

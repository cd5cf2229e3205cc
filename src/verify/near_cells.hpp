// The cells of two surfaces that come near each other, kept while a path is followed. Pieces of a path are short: what was
// far apart is still apart after many of them, and of the rest only the nearest cells must be looked at again.
#pragma once

#include <vector>

#include "verify/sweep.hpp"

namespace tenon::verify {

// Of a surface's points, or more: what rounding is measured by.
double largest_coordinate(const Placed& placed);

class NearCells {
  public:
    // One straight piece of the path, in which no point of `a` and point of `b` come nearer to each other by more than
    // `approach` (rounding included). The piece starts where the one before ended.
    SweepHit advance(const Placed& a0, const Placed& a1, const Placed& b0, const Placed& b1, double approach);

    bool looked_closely() const { return looked_; }  // at cells, in the last piece

  private:
    struct Entry {
        int a, b;     // cells
        double safe;  // they do not touch before this much approach
        Vec3 axis =
            Vec3::Zero();  // unit, from a to b: a normal, or between their closest points when last sought
    };
    bool gather(const Placed& a, const Placed& b, double reach);

    std::vector<Entry> near_;
    double travelled_ = 0.0;  // sum of the approaches since the cells were gathered
    double reach_ = 0.0;      // cells not listed do not touch before this much approach
    bool touched_ = false;    // distances mean nothing once surfaces have met
    bool looked_ = false;
};

}  // namespace tenon::verify

// Friction limits of contacts, mu f_n, where f_n depends on them: the fixed point of "solve with these limits, take those that the
// normal forces allow". What friction stops may press the harder and be released the next time, so that the plain iteration may
// swing for ever. This one is Anderson's: the combination of the last iterates whose misses come nearest to none.
#pragma once

#include <vector>

#include <Eigen/Core>

namespace tenon::articulated {

// One contact's: the limit at hand, what its normal force allows, and how much a miss counts.
struct FrictionLimit {
    double* limit = nullptr;
    double allowed = 0.0;
    double weight = 1.0;
};

class FrictionLimits {
  public:
    // Limits for the next solve. False, with limits as they are, when none misses what is allowed by more than `tolerance`, N.
    bool renew(const std::vector<FrictionLimit>& contacts, double tolerance);

  private:
    static constexpr int depth = 4;  // iterates that are combined
    struct Iterate {
        Eigen::VectorXd limit, miss;
    };
    Eigen::VectorXd combined() const;
    bool locks(const Iterate& now) const;

    std::vector<Iterate> last_;  // the newest at the end
    Iterate best_;
    double least_ = 1e300;  // size of the best one's miss
    double part_ = 1.0;     // of the miss, that is gone
};

}  // namespace tenon::articulated

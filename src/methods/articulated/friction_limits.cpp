#include "methods/articulated/friction_limits.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/QR>

namespace tenon::articulated {
namespace {

constexpr double least_part = 1.0 / 64.0;
constexpr double led_away = 1.5;       // of the best miss: what is worse has led away
constexpr double alike_misses = 1e-8;  // misses that differ by less of their size say nothing new
constexpr double farthest_lead = 1e3;  // times the miss: no combination leads further

}  // namespace

// The newest iterate and `part_` of its miss, less what the differences of the last ones explain of it.
Eigen::VectorXd FrictionLimits::combined() const {
    const Iterate& now = last_.back();
    Eigen::VectorXd next = now.limit + part_ * now.miss;
    const auto count = static_cast<Eigen::Index>(last_.size()) - 1;
    if (count == 0) return next;
    Eigen::MatrixXd limits(now.limit.size(), count), misses(now.limit.size(), count);
    for (Eigen::Index k = 0; k < count; ++k) {
        limits.col(k) = last_[k + 1].limit - last_[k].limit;
        misses.col(k) = last_[k + 1].miss - last_[k].miss;
    }
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> factor(misses);
    factor.setThreshold(alike_misses);
    const Eigen::VectorXd by = (limits + part_ * misses) * factor.solve(now.miss);
    if (!by.allFinite() || by.norm() > farthest_lead * now.miss.norm()) return next;
    return next - by;
}

// Whether more friction presses so much the harder that it misses the more: it grows until the points stick, and nothing else is a
// way there.
bool FrictionLimits::locks(const Iterate& now) const {
    return !last_.empty() && (now.limit - last_.back().limit).dot(now.miss - last_.back().miss) > 0.0;
}

bool FrictionLimits::renew(const std::vector<FrictionLimit>& contacts, double tolerance) {
    const auto count = static_cast<Eigen::Index>(contacts.size());
    Iterate now{Eigen::VectorXd(count), Eigen::VectorXd(count)};
    double most = 0.0;
    for (Eigen::Index k = 0; k < count; ++k) {
        const FrictionLimit& contact = contacts[k];
        now.limit[k] = *contact.limit;
        now.miss[k] = contact.allowed - *contact.limit;
        most = std::max(most, contact.weight * std::abs(now.miss[k]));
    }
    if (!(most > tolerance)) return false;
    const double size = now.miss.norm();
    if (locks(now)) last_.clear(), least_ = 1e300, part_ = 1.0;
    if (size > led_away * least_) {  // back to the best one, and a smaller part of the way from there
        part_ = std::max(least_part, 0.5 * part_);
        last_ = {best_};
        least_ = 1e300;
    } else {
        if (size < least_) {
            least_ = size;
            best_ = now;
            part_ = std::min(1.0, 1.5 * part_);
        }
        last_.push_back(std::move(now));
        if (last_.size() > depth + 1) last_.erase(last_.begin());
    }
    const Eigen::VectorXd next = combined().cwiseMax(0.0);
    for (Eigen::Index k = 0; k < count; ++k) *contacts[k].limit = next[k];
    return true;
}

}  // namespace tenon::articulated

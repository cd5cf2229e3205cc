#include "methods/affine/euler_lag.hpp"

#include <algorithm>

#include "math/binary_io.hpp"

namespace tenon::affine {
namespace {

constexpr double visible_travel = 0.01;  // of a body's size: less is settling
constexpr double main_travel =
    0.2;  // of the largest along any axis: less is no part of the motion that counts

}  // namespace

void EulerLag::start(const State& state) {
    q_ = state.q;
    rate_ = state.rate;
}

void EulerLag::add(const Model& model, const State& state, double h, StepReport& report) {
    for (std::size_t i = 0; i < q_.size(); ++i) {
        if (!state.dynamic(static_cast<int>(i))) continue;
        const double radius = model.shape_of(static_cast<int>(i)).radius;
        const Vec3 moved = (state.q[i].col(3) - q_[i].col(3)).cwiseAbs(),
                   change = (state.rate[i].col(3) - rate_[i].col(3)).cwiseAbs();
        for (int axis = 0; axis < 3; ++axis) {
            if (moved[axis] < visible_travel * radius) continue;
            travel_[axis] = std::max(travel_[axis], moved[axis]);
            lag_[axis] = std::max(lag_[axis], 0.5 * h * change[axis]);
        }
    }
    double largest = 0.0;
    for (int axis = 0; axis < 3; ++axis)
        if (travel_[axis] > main_travel * travel_.maxCoeff())
            largest = std::max(largest, lag_[axis] / travel_[axis]);
    report.metrics.emplace_back("lag", largest);
}

void EulerLag::save(std::ostream& out) const {
    write_values(out, q_);
    write_values(out, rate_);
    write_value(out, lag_);
    write_value(out, travel_);
}

void EulerLag::load(std::istream& in, std::size_t bodies) {
    read_values(in, q_);
    read_values(in, rate_, q_.size());
    read_value(in, lag_);
    read_value(in, travel_);
    expect_sound((q_.empty() || q_.size() == bodies) && lag_.allFinite() && travel_.allFinite());
    for (std::size_t i = 0; i < q_.size(); ++i) expect_sound(q_[i].allFinite() && rate_[i].allFinite());
}

}  // namespace tenon::affine

#include "methods/impulse/fast_turning.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::impulse {
namespace {

constexpr double turn_of_a_piece = 0.1;  // rad: what the splitting below takes for small
constexpr double most_pieces = 1000;

// The axis whose moment differs most from the other two, which are next to each other.
int odd_axis(const Vec3& inverse) {
    int odd = 0;
    double closest = 1e300;
    for (int k = 0; k < 3; ++k) {
        const double apart = std::abs(inverse[(k + 1) % 3] - inverse[(k + 2) % 3]) / inverse.maxCoeff();
        if (apart < closest) closest = apart, odd = k;
    }
    return odd;
}

// R for the energy rate l^2 / 2 of the angular momentum l along a body axis: a turn about that axis, which keeps l.
void turn_about(Mat3& R, const Vec3& momentum, int axis, double rate) {
    const double l = R.col(axis).dot(momentum);
    Vec3 turn = Vec3::Zero();
    turn[axis] = std::remainder(rate * l, 2 * M_PI);
    R = R * exponential_map(turn).toRotationMatrix();
}

}  // namespace

double turning_energy(const model::RigidState& state, const Vec3& moments) {
    const Vec3 spin = state.rotation.conjugate() * state.spin;
    return 0.5 * spin.dot(moments.cwiseProduct(spin));
}

// The energy (l1^2 / I1 + l2^2 / I2 + l3^2 / I3) / 2 is a sum of |l|^2 / (2 I1), (1 / I2 - 1 / I1) l2^2 / 2 and the same for
// 3. Each alone turns the body at a constant rate: the first about the angular momentum, and it commutes with the others;
// these about body axes. With I1 = I2 that is the exact motion of a symmetric top.
void turn_freely(model::RigidState& state, const Vec3& moments, double dt) {
    Mat3 R = state.rotation.toRotationMatrix();
    const Vec3 inverse = moments.cwiseInverse();
    const Vec3 L = R * moments.cwiseProduct(R.transpose() * state.spin);
    const int odd = odd_axis(inverse), first = (odd + 1) % 3, second = (odd + 2) % 3;
    const double base = inverse[first], about_odd = inverse[odd] - base,
                 about_second = inverse[second] - base;
    const double coupled = std::max(std::abs(about_second), std::sqrt(std::abs(about_second * about_odd)));
    const double pieces = std::clamp(std::ceil(dt * L.norm() * coupled / turn_of_a_piece), 1.0, most_pieces);
    const double h = dt / pieces;
    for (int k = 0; k < static_cast<int>(pieces); ++k) {
        turn_about(R, L, second, 0.5 * h * about_second);
        turn_about(R, L, odd, h * about_odd);
        turn_about(R, L, second, 0.5 * h * about_second);
    }
    state.rotation = (exponential_map(dt * base * L) * Quat(R)).normalized();
    R = state.rotation.toRotationMatrix();
    state.spin = R * inverse.cwiseProduct(R.transpose() * L);
}

void turn_far(model::RigidState& state, const Vec3& moments, const Vec3& added, double dt) {
    const double path = dt * state.spin.squaredNorm();
    const double share = path > 0 ? std::clamp(1 + added.dot(state.spin) / path, 0.0, 1.0) : 1.0;
    const Quat rest = exponential_map(added + (1 - share) * dt * state.spin);
    state.position += dt * state.velocity;
    state.rotation = (rest * state.rotation).normalized();
    state.spin = rest * state.spin;
    turn_freely(state, moments, share * dt);
}

}  // namespace tenon::impulse

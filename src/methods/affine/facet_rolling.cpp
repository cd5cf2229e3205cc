#include "methods/affine/facet_rolling.hpp"

#include <cmath>

#include <fmt/format.h>

#include "methods/affine/bodies.hpp"

namespace tenon::affine {
namespace {

constexpr double told_loss = 0.05;  // of the speed, at most lost: warned of
constexpr double rolls = 0.2;       // sliding over turning speed of what rolls
constexpr double most_load = 10.0;  // times its weight: what presses more is an impact
constexpr double hops = 0.1;        // s, at most, from one facet to the next

Vec3 spin_of(const Model& model, const State& state, int body) {
    return state.type[body] == BodyType::static_body
               ? Vec3(Vec3::Zero())
               : angular_velocity(state.q[body], state.rate[body], inertia_of(model.bodies, body));
}

// A polygon whose sides meet at an angle t keeps (I + m r^2 cos t) / (I + m r^2) of its spin when it lands on the next.
// What lies on it, `load` times its own weight, falls with it onto the facet.
double loss_per_turn(const Inertia& inertia, double radius, double angle, double load) {
    const double about =
        inertia.moments.sum() - inertia.moments.maxCoeff();  // across the longest axis at least
    const double push = inertia.mass * radius * radius;
    return EIGEN_PI * angle * load * push / (about + push);
}

}  // namespace

void FacetRolling::add(const Model& model, const State& state, const std::vector<double>& facet_angle,
                       const Outputs& outputs, double dt, StepReport& report) {
    turned_.resize(state.q.size(), 0.0);
    rolled_.resize(state.q.size(), 0.0);
    since_.resize(state.q.size(), 0.0);
    std::vector<double> turning(state.q.size(), 0.0), pressed(state.q.size(), 0.0);
    std::vector<char> touched(state.q.size(), 0);
    for (const Contact& contact : outputs.contacts) {
        const int bodies[2] = {contact.a, contact.b};
        if (std::max(contact.a, contact.b) >= model.bodies.size()) continue;
        for (const int side : {0, 1}) {
            const int body = bodies[side], other = bodies[1 - side];
            if (!state.dynamic(body) || turned_[body] < 0.0 || facet_angle[body] == 0.0) continue;
            const auto velocity = [&](int i) {
                return state.type[i] == BodyType::static_body
                           ? Vec3(Vec3::Zero())
                           : Vec3(state.rate[i].col(3) +
                                  spin_of(model, state, i).cross(contact.point - state.q[i].col(3)));
            };
            touched[body] = 1;
            pressed[body] += std::abs(contact.force.dot(contact.normal));
            const Vec3 n = contact.normal, spin = spin_of(model, state, body) - spin_of(model, state, other);
            const Vec3 sliding = velocity(body) - velocity(other);
            const double speed = (spin - n.dot(spin) * n).norm();
            const double arm = (contact.point - state.q[body].col(3)).norm();
            if ((sliding - n.dot(sliding) * n).norm() < rolls * speed * arm)
                turning[body] = std::max(turning[body], speed);
        }
    }
    for (std::size_t i = 0; i < turning.size(); ++i) {
        since_[i] = touched[i] ? 0.0 : since_[i] + dt;
        if (touched[i])
            rolled_[i] = turning[i];
        else if (since_[i] < hops)
            turning[i] = rolled_[i];
        if (turning[i] == 0.0 || turned_[i] < 0.0) continue;
        turned_[i] += dt * turning[i];
        const Shape& shape = model.shape_of(static_cast<int>(i));
        const double angle = facet_angle[i];
        const double weight = model.bodies.mass[i] * state.gravity.norm();
        const double load = weight > 0.0 ? std::clamp(pressed[i] / weight, 1.0, most_load) : 1.0;
        const double loss = std::min(1.0, loss_per_turn(inertia_of(model.bodies, static_cast<int>(i)),
                                                        shape.primitive.size[0], angle, load));
        if (loss * turned_[i] < told_loss * 2.0 * EIGEN_PI) continue;
        turned_[i] = -1.0;
        report.warnings.push_back(
            fmt::format("'{}' rolls on the facets of its mesh, {:.2g} degrees apart, which take up to {:.0f} "
                        "% of its speed a turn: a finer "
                        "mesh takes less, articulated and impulse roll it as what it is",
                        model.bodies.name[i], angle * 180.0 / EIGEN_PI, 100.0 * loss));
    }
}

}  // namespace tenon::affine

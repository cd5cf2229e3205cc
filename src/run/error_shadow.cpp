#include "run/error_shadow.hpp"

#include <cmath>
#include <limits>

#include "math/binary_io.hpp"

namespace tenon::run {
namespace {

constexpr double safety = 2.0;

Scene with_twice_the_step(Scene scene) {
    scene.dt *= 2;
    scene.expect.clear();
    return scene;
}

double order_of(const Scene& scene) {
    const Origin origin{scene.file, "method"};
    const MethodInfo& info = find_method(scene.method, origin);
    const Params params = resolve_params(info.parameters, scene.method_params, origin);
    return params.has("integrator") && params.text("integrator") != "euler" &&
                   params.text("integrator") != "implicit-euler"
               ? 2.0
               : 1.0;
}

double distance(const Model& model, const State& a, const State& b) {
    double largest = 0;
    for (int i = 0; i < model.bodies.size(); ++i) {
        if (!a.dynamic(i)) continue;
        const Mat34 difference = a.q[i] - b.q[i];
        const double reach = 0.5 * model.shape_of(i).box.diagonal();
        largest = std::max(largest, difference.col(3).norm() + reach * difference.leftCols<3>().norm());
    }
    for (std::size_t e = 0; e < model.elastic.size(); ++e)
        for (std::size_t i = 0; i < a.elastic[e].x.size(); ++i)
            largest = std::max(largest, (a.elastic[e].x[i] - b.elastic[e].x[i]).norm());
    return largest;
}

}  // namespace

ErrorShadow::ErrorShadow(const Scene& scene) : coarse_(with_twice_the_step(scene)), order_(order_of(scene)) {}

double ErrorShadow::follow(const Simulation& simulation) {
    const long step = simulation.state().step;
    if (failed_) return estimate_;
    if (step % 2 != 0) return estimate_;
    try {
        while (2 * coarse_.state().step < step) coarse_.step();
    } catch (const StepFailure&) {
        failed_ = true;
        return estimate_ = std::numeric_limits<double>::quiet_NaN();
    }
    const double apart = distance(simulation.model(), simulation.state(), coarse_.state());
    return estimate_ = safety * apart / (std::pow(2.0, order_) - 1.0);
}

void ErrorShadow::save(std::ostream& out) const {
    coarse_.save(out);
    write_value(out, estimate_);
    write_value(out, failed_);
}

void ErrorShadow::load(std::istream& in) {
    coarse_.load(in);
    read_value(in, estimate_);
    read_value(in, failed_);
}

}  // namespace tenon::run

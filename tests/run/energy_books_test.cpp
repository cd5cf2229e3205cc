// The energy books: shares against closed forms, and nothing left over.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "run/energy_books.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

constexpr double g = 9.81;

struct Kept {
    run::EnergyShares sum;
    double open =
        0;  // largest running sum of what is unexplained, over the turnover or the largest kinetic energy
};

Kept keep_books(const Scene& scene) {
    Simulation simulation(scene);
    run::EnergyBooks books(scene, simulation.model(), simulation.state());
    simulation.before_step([&](Simulation& s) { books.before_step(s.model(), s.state(), s.dt()); });
    Kept kept;
    double kinetic = 1e-12;
    const long steps = std::lround(scene.seconds / scene.dt);
    for (long i = 0; i < steps; ++i) {
        const StepReport report = simulation.step();
        kept.sum.add(
            books.after_step(simulation.model(), simulation.state(), simulation.outputs(), report, scene.dt));
        kept.open = std::max(kept.open, std::abs(kept.sum.unexplained));
        kinetic = std::max(kinetic, energies(simulation.model(), simulation.state()).kinetic);
    }
    kept.open /= std::max(kinetic, kept.sum.turnover);
    return kept;
}

Scene scene_of(const std::string& method, double dt, double seconds, const std::string& rest) {
    return parse_scene(fmt::format(R"({{"seconds": {}, "method": {{"type": "{}", "dt": {}}}, {}}})", seconds,
                                   method, dt, rest),
                       "books.json", "");
}

const std::string floor_and_box = R"("materials": {"m": {"friction": 0.4}}, "bodies": [
    {"name": "floor", "type": "static", "material": "m", "shape": {"type": "box", "size": [20, 1, 20]}, "position": [0, -0.5, 0]},
    {"name": "box", "material": "m", "mass": 35, "shape": {"type": "box", "size": [2, 1, 2]}, "position": [0, 0.502, 0],
     "linear_velocity": [2, 0, 0]}])";

}  // namespace

// A box that slides to rest gives its m v^2/2 = 70 J, and m g times the 2 mm that it sinks, to friction and impact.
TEST(EnergyBooks, FrictionTakesWhatASlidingBoxHad) {
    for (const std::string method : {"affine", "impulse", "articulated"}) {
        const Kept kept = keep_books(scene_of(method, 0.01, 1.0, floor_and_box));
        EXPECT_NEAR(kept.sum.friction, 70.0, 0.04 * 70.0) << method;
        EXPECT_NEAR(kept.sum.friction + kept.sum.impact + kept.sum.integrator + kept.sum.correction,
                    -kept.sum.change, 2e-3 * 70.0)
            << method;
        EXPECT_LT(kept.open, 1e-3) << method;
    }
}

// A rod on a hinge with a spring, a damper, an armature and a motor of constant torque, without friction: the motor's work is
// its torque times the angle, and by BDF2 the integrator's share falls at second order.
TEST(EnergyBooks, MotorsSpringsAndDampersOfAHinge) {
    const auto rod = [](double dt) {
        return scene_of("articulated", dt, 1.0, R"("bodies": [
            {"name": "rod", "shape": {"type": "box", "size": [1, 0.05, 0.05]}, "mass": 1, "position": [0.5, 0, 0]}],
            "joints": [{"name": "hinge", "type": "hinge", "bodies": ["world", "rod"], "point": [0, 0, 0], "axis": [0, 0, 1],
                        "spring": {"stiffness": 4, "damping": 0.3}, "armature": 0.1,
                        "motor": {"type": "force", "target": 2}}])");
    };
    const Scene scene = rod(0.01);
    const Kept coarse = keep_books(scene), fine = keep_books(rod(0.005));
    Simulation simulation(scene);
    while (simulation.time() < scene.seconds - 1e-9) simulation.step();
    EXPECT_NEAR(coarse.sum.motors, 2 * simulation.state().joint_coordinate[0][0], 1e-3 * coarse.sum.turnover);
    EXPECT_GT(coarse.sum.damping, 0.01 * coarse.sum.turnover);
    EXPECT_LT(coarse.open, 5e-6);
    EXPECT_LT(fine.open, 5e-6);
    EXPECT_GT(std::log2(std::abs(coarse.sum.integrator / fine.sum.integrator)), 1.9);
}

// A free fall of 1 m onto the floor: the impact takes m g h.
TEST(EnergyBooks, ImpactTakesWhatAFallGave) {
    for (const std::string method : {"affine", "impulse"}) {
        const Kept kept = keep_books(scene_of(method, 0.005, 0.8, R"("bodies": [
            {"name": "floor", "type": "static", "shape": {"type": "box", "size": [20, 1, 20]}, "position": [0, -0.5, 0]},
            {"name": "box", "mass": 3, "shape": {"type": "box", "size": [1, 1, 1]}, "position": [0, 1.5, 0]}])"));
        EXPECT_NEAR(kept.sum.impact, 3 * g * 1.0, 0.05 * 3 * g)
            << method;  // implicit Euler takes h v g of the fall
        EXPECT_LT(kept.open, 1e-3) << method;
    }
}

// A scripted plate lifts a box by 0.5 m: the script's work is m g times the height, and what the start and the stop take.
TEST(EnergyBooks, ScriptsLift) {
    const Kept kept = keep_books(scene_of("affine", 0.01, 1.2, R"("bodies": [
        {"name": "plate", "type": "kinematic", "shape": {"type": "box", "size": [2, 0.1, 2]}, "position": [0, 0, 0],
         "motion": [{"time": 0, "position": [0, 0, 0]}, {"time": 1, "position": [0, 0.5, 0]}, {"time": 2, "position": [0, 0.5, 0]}]},
        {"name": "box", "mass": 2, "shape": {"type": "box", "size": [0.5, 0.5, 0.5]}, "position": [0, 0.302, 0]}])"));
    EXPECT_NEAR(kept.sum.scripts, 2 * g * 0.5, 0.06 * 2 * g * 0.5);  // and m v^2/2 = 0.25 J of the start
    EXPECT_LT(kept.open, 1e-3);
}

// The work of a force over the way it pushes, and of a torque over the turn.
TEST(EnergyBooks, AppliedForcesAndTorques) {
    for (const std::string method : {"affine", "impulse", "articulated"}) {
        const Scene scene = scene_of(method, 0.005, 0.5, R"("gravity": [0, 0, 0], "bodies": [
            {"name": "rod", "shape": {"type": "box", "size": [1, 0.04, 0.04]}, "mass": 1}],
            "forces": [{"body": "rod", "force": [2, 0, 0], "torque": [0, 0, 1]}])");
        const Kept kept = keep_books(scene);
        // x = F t^2/(2 m), theta = T t^2/(2 I)
        const double work = 2 * 2 * 0.125 + 0.125 / ((1 + 0.0016) / 12);
        EXPECT_NEAR(kept.sum.forces, work, 0.025 * work) << method;
        EXPECT_LT(kept.open, 1e-6) << method;
    }
}

// Built-in scenes of every method that has bodies only: smooth ones to 1e-6 of the turnover, those with contact to a few 1e-3.
TEST(EnergyBooks, CloseInBuiltInScenes) {
    const std::pair<const char*, double> scenes[] = {{"physical-pendulum", 1e-6},
                                                     {"spinning-box", 1e-6},
                                                     {"heavy-top", 1e-6},
                                                     {"tree", 1e-5},
                                                     {"four-bar", 1e-6},
                                                     {"cloak", 1e-3},  // its pinned rim is pulled by a script
                                                     {"free-flight", 1e-6},
                                                     {"pendulum", 2e-6},
                                                     {"incline", 1e-3},
                                                     {"stack", 1e-3},
                                                     {"bar", 1e-3},
                                                     {"chess", 1e-3},
                                                     {"closed-loop-leg", 1e-3}};
    for (const auto& [name, most] : scenes) {
        Scene scene = load_scene(name);
        scene.seconds = 0.2;
        EXPECT_LT(keep_books(scene).open, most) << name;
    }
}

// Saved and loaded books go on as if nothing had happened.
TEST(EnergyBooks, GoOnAfterALoad) {
    Scene scene = load_scene("physical-pendulum");
    Simulation simulation(scene);
    run::EnergyBooks books(scene, simulation.model(), simulation.state());
    const auto step = [&](run::EnergyBooks& kept) {
        kept.before_step(simulation.model(), simulation.state(), scene.dt);
        const StepReport report = simulation.step();
        return kept.after_step(simulation.model(), simulation.state(), simulation.outputs(), report,
                               scene.dt);
    };
    for (int i = 0; i < 10; ++i) step(books);
    std::stringstream saved, state;
    books.save(saved);
    simulation.save(state);
    const run::EnergyShares expected = step(books);
    simulation.load(state);
    run::EnergyBooks loaded(scene, simulation.model(), simulation.state());
    loaded.load(simulation.state(), saved);
    const run::EnergyShares found = step(loaded);
    EXPECT_EQ(found.integrator, expected.integrator);
    EXPECT_EQ(found.unexplained, expected.unexplained);
}

}  // namespace tenon

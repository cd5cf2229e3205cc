// The built-in scenes of the impulse family, run as `tenon run` does, and what must be seen in them.
#include <gtest/gtest.h>

#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

Scene scene_of(const std::string& name, const std::map<std::string, ParamValue>& values = {}) {
    const BuiltinScene* found = find_builtin(name);
    EXPECT_NE(found, nullptr) << name;
    return make_builtin(*found, values);
}

double x_of(const Simulation& simulation, const std::string& name) {
    return simulation.state().q[simulation.scene().body_index(name)](0, 3);
}

TEST(ImpulseScenes, BarLeavesTheWedgeOnAParabola) {
    Simulation simulation(scene_of("bar"));
    const int bar = simulation.scene().body_index("bar");
    std::vector<Vec3> flight;  // after it has left the wedge's edge and before it lands
    for (int i = 0; i < 400; ++i) {
        const StepReport report = simulation.step();
        const Vec3 at = simulation.state().q[bar].col(3);
        if (at.x() > 3.3 && report.contacts == 0) flight.push_back(at);
        if (at.x() > 3.3 && report.contacts > 0 && !flight.empty()) break;
    }
    ASSERT_GT(flight.size(), 20u);
    // second differences of a parabola under gravity: (0, -g h^2, 0)
    const double h = simulation.dt();
    for (std::size_t i = 2; i < flight.size(); ++i) {
        const Vec3 second = flight[i] - 2 * flight[i - 1] + flight[i - 2];
        EXPECT_LT((second - Vec3(0, -9.81 * h * h, 0)).norm(), 1e-12);
    }
    EXPECT_GT(flight.front().y(), 0.6);  // it went over the top
}

TEST(ImpulseScenes, StackStandsTwentySecondsThenFalls) {
    Scene scene = scene_of("stack", {{"hold", 20.0}, {"seconds", 23.0}});
    scene.method_params["sleeping"] = false;
    Simulation simulation(scene);
    const auto start = simulation.state().q;
    double farthest = 0;
    for (int i = 0; i < 1999; ++i) {
        simulation.step();
        for (int k = 0; k < 5; ++k) {
            const int board = simulation.scene().body_index("board" + std::to_string(k));
            for (const Vec3& v : simulation.model().shape_of(board).mesh.vertices)
                farthest =
                    std::max(farthest,
                             (transform(simulation.state().q[board], v) - transform(start[board], v)).norm());
        }
    }
    EXPECT_LT(farthest, 1e-3);
    for (int i = 0; i < 300; ++i) simulation.step();
    const int top = simulation.scene().body_index("board4");
    EXPECT_GT((simulation.state().q[top].col(3) - start[top].col(3)).norm(), 0.2);
}

TEST(ImpulseScenes, TruckDragsItsPiecesButNotWithFfd) {
    for (const char* solver : {"gauss-seidel", "ffd"}) {
        Scene scene = scene_of("truck");
        scene.method_params["solver"] = std::string(solver);
        Simulation simulation(scene);
        double start[5];
        for (int k = 0; k < 5; ++k) start[k] = x_of(simulation, "piece" + std::to_string(k));
        while (simulation.time() < 1.999) simulation.step();
        // the bed has gone 4 m; friction brings a piece to its speed within v / (mu g) = 0.5 s, or 0.5 m behind
        int dragged = 0;
        for (int k = 0; k < 5; ++k) dragged += x_of(simulation, "piece" + std::to_string(k)) - start[k] > 3.0;
        EXPECT_EQ(dragged, std::string(solver) == "ffd" ? 0 : 5) << solver;
        // it stops; what was dragged goes on by its inertia: slides on or topples
        for (int k = 0; k < 5; ++k) start[k] = x_of(simulation, "piece" + std::to_string(k));
        while (simulation.time() < 3.499) simulation.step();
        int thrown = 0;
        for (int k = 0; k < 5; ++k) thrown += x_of(simulation, "piece" + std::to_string(k)) - start[k] > 0.05;
        if (std::string(solver) == "ffd")
            EXPECT_EQ(thrown, 0);
        else
            EXPECT_GE(thrown, 3);
    }
}

TEST(ImpulseScenes, BasinThrowsObjectsOut) {
    Simulation simulation(scene_of("basin", {{"objects", 24.0}}));
    while (simulation.time() < 4.999) simulation.step();
    int out = 0;
    for (int k = 0; k < 24; ++k)
        out += simulation.state().q[simulation.scene().body_index("object" + std::to_string(k))](1, 3) < -0.3;
    EXPECT_GE(out, 8);
}

TEST(ImpulseScenes, CubesPileUpWithoutSinking) {
    Simulation simulation(scene_of("cubes"));
    double deepest = 0;
    for (int i = 0; i < 200; ++i) deepest = std::min(deepest, simulation.step().min_distance);
    EXPECT_GT(deepest, -0.1 * 0.2);
    for (int i = 0; i < simulation.model().bodies.size(); ++i)
        if (simulation.state().dynamic(i)) {
            EXPECT_GT(simulation.state().q[i](1, 3), 0.09);
        }
    EXPECT_LT(energies(simulation.model(), simulation.state()).kinetic, 20);
}

TEST(ImpulseScenes, ChessPiecesComeToRestOnTheFloor) {
    Simulation simulation(scene_of("chess", {{"pieces", 20.0}}));
    for (int i = 0; i < 300; ++i) simulation.step();
    EXPECT_LT(energies(simulation.model(), simulation.state()).kinetic, 0.05);
    for (int i = 0; i < simulation.model().bodies.size(); ++i)
        if (simulation.state().dynamic(i)) {
            EXPECT_GT(simulation.state().q[i](1, 3), 0.02);
        }
}

}  // namespace
}  // namespace tenon

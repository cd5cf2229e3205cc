// Drives Tenon from C++: builds a scene in code, steps it, adds and removes bodies on the way, and hooks into every step.
#include <algorithm>
#include <cstdio>

#include <tenon/tenon.hpp>

int main() {
    try {
        // a scene: one ball thrown up
        tenon::Scene scene;
        scene.name = "falling-bodies";
        scene.method = "affine";
        scene.dt = 0.01;
        tenon::BodySpec ball;
        ball.name = "ball";
        ball.geometry = scene.add_geometry(tenon::shape_geometry("sphere", {{"radius", 0.25}}));
        ball.position = {0, 1, 0};
        ball.linear_velocity = {0, 4, 0};
        scene.add_body(ball);

        // the simulation, with a callback before and after each step
        tenon::Simulation simulation(scene);
        int before = 0, after = 0;
        double highest = 0;
        simulation.before_step([&](tenon::Simulation&) { ++before; });
        simulation.after_step([&](tenon::Simulation& now) {
            ++after;
            highest = std::max(highest, now.state().q[0](1, 3));  // height of the first body
        });

        for (int step = 0; step < 100; ++step) {
            if (step == 20) {  // a second body joins, spinning
                tenon::BodySpec box;
                box.name = "box";
                box.position = {2, 1, 0};
                box.angular_velocity = {0, 0, 5};
                simulation.add_body(
                    box, tenon::shape_geometry("box", {{"size", std::vector<double>{0.4, 0.2, 0.2}}}));
            }
            if (step == 60) simulation.remove_body("box");
            simulation.step();
            if (step % 20 == 19)
                std::printf("t = %.2f s: %d bodies, ball at height %.3f m\n", simulation.time(),
                            simulation.model().bodies.size(), simulation.state().q[0](1, 3));
        }
        std::printf("callbacks: %d before, %d after; highest point %.3f m\n", before, after, highest);
        return 0;
    } catch (const tenon::InputError& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 2;
    }
}

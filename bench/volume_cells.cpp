// What the grid's resolution buys: separation in one solve (Fig. 6) and friction like that of points (Fig. 7).
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "bench/snake_shape.hpp"
#include "bench/volume_cases.hpp"
#include "methods/volume/contact_problem.hpp"
#include "scene/builtin/scene_parts.hpp"
#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon::bench {
namespace {

double total_volume(const std::vector<volume::VolumeContact>& contacts) {
    double sum = 0;
    for (const volume::VolumeContact& contact : contacts) sum += contact.cell.volume();
    return sum;
}

struct Dragged {
    std::vector<Vec3> start, now;
    double unconverged = 0, sweeps = 0;  // of steps, mean
};

Dragged dragged_snake(const std::string& method, const std::map<std::string, ParamValue>& given,
                      double seconds) {
    Scene scene = make_builtin(*find_builtin("snake"), given);
    if (method != "volume") {
        scene.method = method;
        scene.method_params = {{"adaptive", false}};
    }
    Simulation simulation(scene);
    Dragged made;
    made.start = simulation.state().elastic[0].x;
    int steps = 0;
    for (; simulation.time() < seconds; ++steps) {
        const StepReport report = simulation.step();
        made.unconverged += report.converged ? 0 : 1;
        made.sweeps += report.iterations;
    }
    made.sweeps /= steps;
    made.now = simulation.state().elastic[0].x;
    return made;
}

// Root mean square of the distance between two states, over the length of the snake.
double difference(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]).squaredNorm();
    return std::sqrt(sum / static_cast<double>(a.size())) / 1.2;
}

}  // namespace

void separation_by_cells(const Options& options) {
    Scene scene;
    scene.method = "volume";
    for (int i = 0; i < 2; ++i)
        scene.add_body(body_spec(scene, fmt::format("ball-{}", i),
                                 shape_spec("icosphere", {{"radius", 0.5}, {"subdivisions", 4.0}}),
                                 {0.8 * i + 0.013, 0.021, 0.007}));
    const Model model = compile(scene);
    const State state = initial_state(model);
    const double pixel = 0.6 / 64;  // the lens is 0.6 m wide
    for (int cell_pixels : {0, 32, 16, 8, 4, 2}) {
        volume::Motion motion(model, state);
        volume::ContactFinder finder(model, state, {{pixel, cell_pixels}, 0, false, 0.0});
        std::vector<volume::VolumeContact> contacts;
        finder.find(model, motion, contacts);
        const double before = total_volume(contacts), count = static_cast<double>(contacts.size());
        volume::ContactProblem problem(model, state, motion);
        problem.set_positions(contacts, 0.0, false);
        problem.couple();
        std::vector<double> multiplier(contacts.size(), 0.0), step;
        const solve::PgsResult result = problem.solve({5000, 1e-9}, multiplier, step);
        motion.shift(model, state, step);
        finder.find(model, motion, contacts);
        Row row;
        row.set("bench", std::string("volume")).set("case", std::string("separation"));
        row.set("engine", std::string("tenon")).set("method", std::string("volume"));
        row.set("cell_pixels", cell_pixels).set("contacts", count).set("volume_before", before);
        row.set("volume_after", total_volume(contacts)).set("remaining", total_volume(contacts) / before);
        row.set("residual", result.residual);
        options.print(row);
    }
}

void friction_by_cells(const Options& options) {
    const double seconds = options.quick ? 0.5 : 1.2, pixel = 0.01;
    const Dragged points = dragged_snake("adaptive", {}, seconds);
    const Dragged fine = dragged_snake("volume", {{"cell_pixels", 2.0}}, seconds);
    const auto print = [&](const std::string& contacts, double cell, const Dragged& snake) {
        const SnakeShape shape = snake_shape(snake.start, snake.now);
        Row row;
        row.set("bench", std::string("volume")).set("case", std::string("friction-cells"));
        row.set("engine", std::string("tenon")).set("method", contacts == "vertices" ? "adaptive" : "volume");
        row.set("contacts", contacts).set("cell_over_length", cell / 1.2);
        row.set("turned_degrees", shape.turned).set("bent_degrees", shape.bent);
        row.set("pivot_from_middle", shape.pivot).set("far_end_over_dragged_end", shape.far_end);
        row.set("difference_to_points", difference(snake.now, points.now))
            .set("difference_to_finest", difference(snake.now, fine.now));
        row.set("sweeps", snake.sweeps).set("unconverged_steps", snake.unconverged);
        options.print(row);
    };
    print("vertices", 0, points);
    print("cells of 2 pixels", 2 * pixel, fine);
    for (double pixels : {4.0, 8.0, 16.0, 32.0})
        print(fmt::format("cells of {} pixels", pixels), pixels * pixel,
              dragged_snake("volume", {{"cell_pixels", pixels}}, seconds));
    print("one volume", 1.2, dragged_snake("volume", {{"contacts", std::string("mono")}}, seconds));
}

}  // namespace tenon::bench

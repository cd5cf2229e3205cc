#include "run/replay.hpp"

#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "run/frame_difference.hpp"
#include "run/hand_over.hpp"
#include "run/pushes.hpp"
#include "tenon/error.hpp"

namespace tenon::run {
namespace {

// A frame says how many steps to simulate until it is compared: believed only when the run made as many.
void check_steps(const RunReader& reader, long frames) {
    const std::vector<StepRow> rows = reader.steps();
    const long last = rows.empty() ? 0 : rows.back().step;
    for (long i = 0; i < frames; ++i)
        if (const long step = reader.frame_step(i); step < 0 || step > last)
            throw InputError(reader.file(), fmt::format("frames[{}]", i),
                             fmt::format("is of step {}, the last step of the run is {}", step, last),
                             "run the scene again");
}

}  // namespace

std::string ReplayResult::to_json() const {
    nlohmann::ordered_json out{
        {"status", status},         {"difference", difference},    {"frames", frames}, {"steps", steps},
        {"first_step", first_step}, {"first_frame", first_frame},  {"body", body},     {"quantity", quantity},
        {"largest", largest},       {"wall_seconds", wall_seconds}};
    return out.dump(2) + "\n";
}

ReplayResult replay_run(Scene scene, const RunReader& reader, const std::atomic<bool>* stop,
                        const std::function<void(const Progress&)>& progress) {
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const long frames = reader.frame_count();
    if (frames == 0)
        throw InputError(reader.file(), "", "holds no frame to compare with", "record the run first");
    Simulation simulation(std::move(scene), start_of(reader));
    const long steps = reader.frame_step(frames - 1);
    check_steps(reader, frames);
    const std::vector<std::string> bodies = body_names(reader), elastic = elastic_names(reader);
    const bool pushed = reader.meta("pushed") == "yes";
    ReplayResult result;
    StepReport last;

    const auto finish = [&](const char* status) {
        result.status = status;
        result.wall_seconds = elapsed();
        return result;
    };
    for (long i = 0; i < frames; ++i) {
        while (simulation.state().step < reader.frame_step(i)) {
            if (stop && stop->load()) return finish("stopped");
            if (pushed) simulation.state().pushes = pushes_of(reader, simulation.state().step + 1);
            try {
                last = simulation.step();
            } catch (const StepFailure& error) {
                result.difference = fmt::format("step {} failed: {}", result.steps + 1, error.what());
                return finish("failed");
            }
            ++result.steps;
            if (progress)
                progress({result.steps, steps, simulation.time(), elapsed(),
                          elapsed() / static_cast<double>(result.steps) *
                              static_cast<double>(steps - result.steps),
                          &last});
        }
        const auto d =
            difference(reader.frame(i), snapshot(simulation.state(), simulation.outputs()), bodies, elastic);
        ++result.frames;
        if (!d) continue;
        result.first_step = simulation.state().step;
        result.first_frame = i;
        result.body = d->body;
        result.quantity = d->quantity;
        result.largest = d->largest;
        result.difference =
            fmt::format("frame {} (step {}, {:g} s), {}", i, result.first_step, simulation.time(), d->text());
        return finish("differs");
    }
    return finish("same");
}

}  // namespace tenon::run

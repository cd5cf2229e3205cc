#include "run/replay.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tenon/error.hpp"

namespace tenon::run {
namespace {

// Bits, not values: -0 and 0 would part later on.
template <typename T>
bool same_bits(const T& a, const T& b) {
    return std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0;
}

struct Difference {
    std::string where;
    double largest = 0.0;

    template <typename T>
    void compare(const T& recorded, const T& now, const std::string& name) {
        if (same_bits(recorded, now)) return;
        if (where.empty()) where = name;
        largest = std::max(largest, (recorded - now).cwiseAbs().maxCoeff());
    }
};

Difference difference(const Frame& recorded, const Frame& now, const Model& model) {
    Difference d;
    if (recorded.q.size() != now.q.size() || recorded.x.size() != now.x.size())
        return {"the number of bodies", 0.0};
    for (std::size_t i = 0; i < now.q.size(); ++i) {
        d.compare(recorded.q[i], now.q[i], fmt::format("the pose of body '{}'", model.bodies.name[i]));
        d.compare(recorded.rate[i], now.rate[i],
                  fmt::format("the velocity of body '{}'", model.bodies.name[i]));
    }
    for (std::size_t e = 0; e < now.x.size(); ++e) {
        if (recorded.x[e].size() != now.x[e].size()) return {"the number of vertices", 0.0};
        for (std::size_t v = 0; v < now.x[e].size(); ++v) {
            const auto name = [&](const char* what) {
                return fmt::format("the {} of vertex {} of elastic body '{}'", what, v,
                                   model.elastic[e].name);
            };
            d.compare(recorded.x[e][v], now.x[e][v], name("position"));
            d.compare(recorded.v[e][v], now.v[e][v], name("velocity"));
        }
    }
    return d;
}

}  // namespace

std::string ReplayResult::to_json() const {
    nlohmann::ordered_json out{{"status", status},
                               {"difference", difference},
                               {"frames", frames},
                               {"steps", steps},
                               {"first_step", first_step},
                               {"largest", largest},
                               {"wall_seconds", wall_seconds}};
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
    Simulation simulation(std::move(scene));
    const long steps = reader.frame_step(frames - 1);
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
        const Difference d = difference(reader.frame(i), snapshot(simulation.state(), simulation.outputs()),
                                        simulation.model());
        ++result.frames;
        if (d.where.empty()) continue;
        result.first_step = simulation.state().step;
        result.largest = d.largest;
        result.difference = fmt::format("{} at {:g} s", d.where, simulation.time());
        return finish("differs");
    }
    return finish("same");
}

}  // namespace tenon::run

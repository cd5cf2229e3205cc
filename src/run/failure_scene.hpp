// A small scene that shows again what went wrong in a step.
#pragma once

#include <string>
#include <vector>

#include "tenon/simulation.hpp"

namespace tenon::run {

struct FailureScene {
    Scene scene;
    std::string note;  // what it holds and how it was found to reproduce the failure
};

// `before` is the state as the failed step found it, `body` the body it failed at (-1: unknown). The bodies that
// hang together with it are tried first, then all, each from its state with one step to go; where neither fails
// again (what the method remembers cannot be written into a scene) it is the whole scene up to the failure.
FailureScene failure_scene(const Scene& original, const Model& model, const State& before, int body);

// The scene with the `state` as its start, from its time on. Elastic bodies cannot be written so.
Scene scene_at(const Scene& original, const Model& model, const State& state);

// The scene with those bodies only, and what concerns them; elastic bodies stay.
Scene keep_only(const Scene& scene, const std::vector<char>& keep);

}  // namespace tenon::run

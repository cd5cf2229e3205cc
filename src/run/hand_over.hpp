// A run that goes on from a moment of a recorded one: with another method, another step, or just again from there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "run/run_file.hpp"
#include "tenon/simulation.hpp"

namespace tenon::run {

// Poses, rates, vertices and joint coordinates of a frame, at its time and step. What a method remembers starts afresh.
void set_state(const Model& model, const Frame& frame, double dt, State& state);

// Where a recorded run starts: at its scene's start (then this is empty), or at what was handed over to it.
Simulation::Start start_of(const RunReader& reader);

// The recorded frame nearest to `time` as the start of `scene`, whose method may be another than the run's; then bodies are
// made rigid, and for `affine` those that intersect are moved apart. `told`: what was taken and what was changed.
// Throws InputError when the run does not fit the scene or bodies cannot be moved apart. Moving them may take minutes:
// `say` hears of every round, and an InterruptScope ends it.
void hand_over(const RunReader& reader, double time, const Scene& scene, const Model& model, State& state,
               std::vector<std::string>& told, const std::function<void(const std::string&)>& say = {});

// Refuses a run whose bodies, joints or elastic bodies are not those of the model.
void check_same_bodies(const RunReader& reader, const Model& model, const std::string& cure);

}  // namespace tenon::run

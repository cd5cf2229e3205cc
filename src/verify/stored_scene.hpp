// The scene that a run file holds, made anew, against what the file says about shapes, bodies and the start.
#pragma once

#include <optional>

#include "run/run_file.hpp"
#include "tenon/scene.hpp"
#include "verify/findings.hpp"

namespace tenon::verify {

// The stored scene and what it is made into. Meshes that it names by path are read again.
struct StoredScene {
    Scene scene;
    Model model;
    State state;  // at the start
};

// Nothing when the scene cannot be made (a mesh is gone): then `why` says what is missing.
std::optional<StoredScene> rebuild(const run::RunReader& run, std::string& why);

// Every disagreement is a finding of kind `scene` and one record error.
void compare_with_scene(const run::RunReader& run, const StoredScene& stored, Result& result,
                        FindingList& findings);

// The poses and velocities of frame 0 are those of the scene.
void compare_start(const run::RunReader& run, const run::Frame& first, const StoredScene& stored,
                   Result& result, FindingList& findings);

// Static bodies stay where they are; kinematic ones follow their script until it lets go of them, or contact holds
// them up. `before` is the frame before; null for the first.
void compare_scripts(const run::RunReader& run, long index, const run::Frame* before, const run::Frame& frame,
                     const StoredScene& stored, Result& result, FindingList& findings);

}  // namespace tenon::verify

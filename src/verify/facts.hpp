// What the verifier reads from the scene's JSON besides joints.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "run/run_file.hpp"

namespace tenon::verify {

struct SceneFacts {
    Vec3 gravity = Vec3::Zero();
    double dt = 0.0;
    bool closed = false;       // nothing outside exchanges momentum with the bodies
    bool pushed = false;       // forces from outside the scene acted
    bool has_sources = false;  // something may add energy: scripts, forces, motors, springs, elastic bodies
    std::vector<double>
        allowed_strain;  // per body: largest entry of A^T A - I; what a material with a modulus says
    std::vector<double> free_from;  // per body: since when a scripted one moves freely; 1e300: never
};

// Methods whose bodies may not overlap at all; the others are allowed a share of the smaller body's size.
bool never_overlaps(const std::string& method);

// Whether a scene is made of files besides itself, which may be missing elsewhere.
bool names_files(const nlohmann::json& scene);

nlohmann::json scene_of(const run::RunReader& run);  // throws InputError
SceneFacts facts_of(const run::RunReader& run, const nlohmann::json& scene);

}  // namespace tenon::verify

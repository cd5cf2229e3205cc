// An independent check of a recorded run: exact non-intersection, motion between frames, joints, momenta.
// Uses nothing of the methods or of their geometry; docs/verify.md explains every rule.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "run/run_file.hpp"

namespace tenon::verify {

struct Options {
    bool motion = true;                     // check between frames too
    double joint_tolerance = 5e-7;          // m or rad
    double momentum_tolerance = 1e-6;       // relative
    std::size_t max_listed = 100;           // findings listed by name; all are counted
    long first_frame = 0, last_frame = -1;  // -1: the newest
    std::function<void(long done, long all)> progress;
};

struct Finding {
    std::string kind;  // surface | contained | path | motion | joint | momentum | velocity | inverted
    long frame = 0;    // the frame, or the one at the end of the interval
    double time = 0.0;
    std::string a, b;  // bodies, or the joint
    int triangle_a = -1, triangle_b = -1;
    double amount = 0.0;  // residual, mismatch ...
    long times = 1;       // in how many frames or intervals; the first is the one described
    std::string text;
};

struct Result {
    std::string file, scene, method;
    long frames = 0;
    long steps_between_min = 0, steps_between_max = 0;
    bool path_recorded = false;
    long body_pairs = 0;          // near enough to be tested, over all frames
    long intersections = 0;       // body pairs that intersect, over frames and intervals
    long chord_hits = 0;          // body pairs that touch when vertices move straight between frames
    long unproven = 0;            // chord hits that some plausible motion avoids; only the path could tell
    long contained_at_start = 0;  // bodies inside closed others in the first frame: kept apart, not counted
    long joints_open = 0;         // joints beyond the tolerance, over frames
    long momentum_errors = 0;
    long inverted = 0;  // bodies turned inside out, over frames
    double joint_residual_max = 0.0;
    double momentum_drift = -1.0;     // relative; negative: the scene is not closed
    double momentum_mismatch = 0.0;   // frames against the recorded steps, relative
    double velocity_mismatch = -1.0;  // rates against positions, relative; negative: not checked
    double deformation_max = 0.0;     // largest entry of A^T A - I
    double energy_start = 0.0, energy_end = 0.0, energy_max = 0.0;
    double seconds = 0.0;
    std::vector<Finding> findings;

    bool clean() const {
        return intersections == 0 && joints_open == 0 && momentum_errors == 0 && inverted == 0;
    }
    bool proven() const { return clean() && unproven == 0; }
    std::string to_json() const;
};

Result verify_run(const run::RunReader& run, const Options& options = {});

// Pairs of bodies whose surfaces intersect now, exactly.
long count_intersections(const Model& model, const State& state);

}  // namespace tenon::verify

// An independent check of a recorded run: exact non-intersection, motion between frames, joints, momenta.
// Uses nothing of the methods or of their geometry; docs/verify.md explains every rule.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "run/run_file.hpp"

namespace tenon::verify {

struct Options {
    bool motion = true;                   // check between frames too
    bool allow_unconverged = false;       // steps that did not converge are counted, not held against the run
    double joint_tolerance = 5e-7;        // m or rad
    double limit_tolerance = 1e-3;        // m or rad beyond a joint's limits
    double penetration_allowance = -1.0;  // m; negative: by method, see docs/verify.md
    double momentum_tolerance = 1e-6;     // relative
    std::size_t max_listed = 100;         // findings listed by name; all are counted
    long first_frame = 0, last_frame = -1;  // -1: the newest
    std::function<void(long done, long all)> progress;
};

struct Finding {
    std::string kind;  // see the table in docs/verify.md
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
    std::string status;  // the run's own: running | done | stopped | failed
    long frames = 0;
    long unconverged_steps = 0;  // by the recorded steps
    bool scene_rebuilt = false;  // shapes, masses and poses were made anew from the stored scene and compared
    bool motion_checked = true;
    bool pushed = false;  // forces from outside the scene acted: flight and energy cannot be judged
    long steps_between_min = 0, steps_between_max = 0;
    bool path_recorded = false;
    long body_pairs = 0;        // near enough to be tested, over all frames
    long elastic_pairs = 0;     // of those, pairs with an elastic body
    long self_tests = 0;        // elastic bodies tested against themselves, over all frames
    bool elastic_path = false;  // the path holds the vertices of elastic bodies too
    long jointed_checked = 0;   // pairs of bodies that share a joint and are checked like others ...
    long jointed_ignored = 0;   // ... or that the scene lets touch
    long intersections = 0;     // body pairs that intersect by an exact test, over frames and path segments
    long chord_hits = 0;        // body pairs that touch when vertices move straight between frames
    long unproven = 0;          // of those, the ones that no record rules out; only the path could tell
    long unexplained = 0;       // of the unproven, those for which no motion was found that avoids the hit
    long touching_at_start =
        0;  // pairs that touch, no more, where the scene puts them: moved apart by the method
    long contained_at_start = 0;  // bodies inside closed others in the first frame: kept apart, not counted
    long penetrations = 0;        // pairs that overlap by no more than the allowance, over frames
    double penetration_max = 0.0;
    double penetration_allowance = 0.0;  // relative to the smaller body; or metres when the user gave it
    bool allowance_relative = true;
    long joints_open = 0;    // joints beyond the tolerance, over frames
    long limits_passed = 0;  // joint coordinates beyond their limits, over frames
    double joint_residual_max = 0.0, limit_excess_max = 0.0;
    long momentum_errors = 0, velocity_errors = 0, energy_errors = 0;
    long record_errors =
        0;              // what does not fit: scene, bodies, frames, steps, times, contacts, hashes, status
    long inverted = 0;  // bodies turned inside out, over frames
    long deformed = 0;  // bodies stretched beyond their allowance, over frames
    double momentum_drift = -1.0;     // relative; negative: the scene is not closed
    double momentum_mismatch = 0.0;   // frames against the recorded steps, relative
    double velocity_mismatch = -1.0;  // rates against positions, relative; negative: not checked
    double script_deviation = 0.0;    // kinematic bodies against their scripts, m
    bool script_held_up = false;      // something pressed on those that were off
    double deformation_max = 0.0;     // largest entry of A^T A - I
    double energy_start = 0.0, energy_end = 0.0, energy_max = 0.0;
    double energy_rise =
        -1.0;  // largest rise between frames, relative; negative: the scene has sources of energy
    double unexplained_path =
        -1.0;                  // share of the paths that velocities do not explain; negative: nothing moved
    bool rule_known = true;    // the file says which steps have frames
    bool hashes_known = true;  // and holds the hashes of their states
    double seconds = 0.0;
    std::vector<std::string> warnings;
    std::vector<Finding> findings;

    bool clean() const {
        return intersections == 0 && unexplained == 0 && joints_open == 0 && limits_passed == 0 &&
               momentum_errors == 0 && velocity_errors == 0 && energy_errors == 0 && record_errors == 0 &&
               inverted == 0 && deformed == 0;
    }
    // Nothing is left open: every frame, all motion between them, and the scene they claim to come from.
    bool proven() const {
        return clean() && unproven == 0 && motion_checked && scene_rebuilt && rule_known && hashes_known &&
               touching_at_start == 0 && !pushed;
    }
    std::string to_json() const;
};

Result verify_run(const run::RunReader& run, const Options& options = {});

// Pairs of bodies whose surfaces intersect now, exactly.
long count_intersections(const Model& model, const State& state);

}  // namespace tenon::verify

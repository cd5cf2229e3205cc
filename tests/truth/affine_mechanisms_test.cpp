// Random mechanisms whose links touch, under the affine method: joints stay closed, nothing intersects on the recorded path,
// steps converge. TENON_AFFINE_MECHANISMS and TENON_MECHANISM_SEED make it longer; TENON_MECHANISM_SCENES is a folder for the
// scenes that did not converge.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "run/run_loop.hpp"
#include "run/small_world.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"
#include "truth/random_mechanism.hpp"
#include "verify/verify.hpp"

namespace tenon {
namespace {

long asked_for(const char* name, long otherwise) {
    const char* text = std::getenv(name);
    return text ? std::atol(text) : otherwise;
}

struct Outcome {
    std::string trouble;
    bool unconverged = false, clean = true;
    double residual = 0.0;
    long steps = 0, unconverged_steps = 0, jointed = 0, contacts = 0;
};

Outcome run_and_verify(const Scene& scene) {
    const test::TemporaryFolder folder;
    Outcome out;
    run::RunOptions options;
    options.output = folder / "mechanism.tenon";
    options.record_every = 1;
    options.record_path = true;
    const run::Report report = run::run_scene(scene, options);
    if (report.status != "done") out.trouble = report.status + ": " + report.failure, out.clean = false;
    out.steps = report.steps;
    out.unconverged_steps = report.unconverged_steps;
    out.unconverged = report.unconverged_steps > 0;
    out.residual = report.joint_residual_max;
    verify::Options how;
    how.allow_unconverged = true;  // counted apart
    const verify::Result verdict = verify::verify_run(run::RunReader(options.output), how);
    // A step that did not converge may leave joints open, and says so; nothing else is excused.
    const bool only_joints = std::all_of(verdict.findings.begin(), verdict.findings.end(),
                                         [](const verify::Finding& f) { return f.kind == "joint"; });
    out.clean = out.clean && (verdict.clean() || (out.unconverged && only_joints));
    out.jointed = verdict.jointed_checked;
    out.contacts = verdict.body_pairs;
    if (!report.unconverged.empty()) out.trouble += report.unconverged[0] + "; ";
    if (!out.clean && !verdict.findings.empty()) {
        const verify::Finding& first = verdict.findings[0];
        out.trouble += first.kind + ", " + first.a + " " + first.b + ": " + first.text;
    }
    return out;
}

Scene touching_mechanism(long seed) {
    test::MechanismRange range;
    range.most_links = 12;
    range.mass_range = 100.0;
    range.dt_min = 0.005;
    range.dt_max = 0.01;
    range.touching = true;
    Scene scene = test::random_mechanism(static_cast<std::uint64_t>(seed), range);
    scene.method = "affine";
    scene.seconds = 0.5;
    return scene;
}

}  // namespace

TEST(AffineMechanisms, TouchingLinksStayClosedAndApart) {
    const long count = asked_for("TENON_AFFINE_MECHANISMS", 4), first = asked_for("TENON_MECHANISM_SEED", 1);
    long unconverged = 0, open = 0, unclean = 0, refused = 0, jointed = 0, near = 0;
    double worst = 0.0;
    for (long seed = first; seed < first + count; ++seed) {
        const Scene scene = touching_mechanism(seed);
        try {
            const Outcome out = run_and_verify(scene);
            unconverged += out.unconverged;
            open += out.residual > 1e-9;
            unclean += !out.clean;
            jointed += out.jointed;
            near += out.contacts;
            worst = std::max(worst, out.residual);
            if (const char* folder = std::getenv("TENON_MECHANISM_SCENES"); folder && out.unconverged)
                std::ofstream(std::string(folder) + "/seed-" + std::to_string(seed) + ".json")
                    << write_scene(scene);
            if (out.unconverged || out.residual > 1e-9 || !out.clean)
                std::cout << "seed " << seed << ", " << scene.bodies.size() << " bodies, dt " << scene.dt
                          << ": " << out.unconverged_steps << " of " << out.steps
                          << " steps unconverged, joints open by " << out.residual << " m; " << out.trouble
                          << "\n";
        } catch (const InputError& error) {
            ++refused;
            std::cout << "seed " << seed << " refused: " << error.what() << "\n";
        }
    }
    std::cout << "seeds " << first << " to " << first + count - 1 << ": " << unclean << " not clean, " << open
              << " with joints open by more than 1e-9 m (worst " << worst << "), " << unconverged
              << " with unconverged steps, " << refused << " refused; " << jointed
              << " jointed pairs checked, " << near << " near pairs tested exactly\n";
    EXPECT_EQ(unclean, 0);
    EXPECT_GT(jointed, 0);
    EXPECT_LE(refused, count / 10);
    EXPECT_LE(unconverged, count / 100);
    EXPECT_EQ(open, 0);
}

// Limits and bounded drives whose potentials have corners: steps that only see the piece they start on go to and fro over them
// until the iterations are used up, with joints left open.
TEST(AffineMechanisms, CornersOfDrivesAreFound) {
    for (const long seed : {25, 29, 33, 43, 74}) {
        Scene scene = touching_mechanism(seed);
        scene.method_params["max_iterations"] = 100.0;
        const Outcome out = run_and_verify(scene);
        EXPECT_EQ(out.unconverged_steps, 0) << "seed " << seed;
        EXPECT_LT(out.residual, 1e-12) << "seed " << seed;
        EXPECT_TRUE(out.clean) << "seed " << seed << ": " << out.trouble;
    }
}

// Near a dead point, what a turn opens is closed by no small motion: steps have to become shorter until it is. Seed 5 has friction
// that full steps only turn round, to and fro.
TEST(AffineMechanisms, DeadPointsAreMet) {
    for (const long seed : {5, 77, 196}) {
        Scene scene = touching_mechanism(seed);
        scene.method_params["max_iterations"] = 300.0;
        const Outcome out = run_and_verify(scene);
        EXPECT_EQ(out.unconverged_steps, 0) << "seed " << seed;
        EXPECT_LT(out.residual, 1e-10) << "seed " << seed;
        EXPECT_TRUE(out.clean) << "seed " << seed << ": " << out.trouble;
    }
}

}  // namespace tenon

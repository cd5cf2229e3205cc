// `tenon verify`: the independent check of a run, as JSON.
#include <iostream>

#include <fmt/format.h>

#include "apps/tenon/common.hpp"
#include "apps/tenon/progress.hpp"
#include "math/parallel.hpp"
#include "verify/verify.hpp"

namespace tenon::app {
namespace {

std::string in_words(const verify::Result& result) {
    if (!result.clean())
        return fmt::format(
            "NOT CLEAN: {} intersections, {} open joints, {} momentum errors, {} bodies inside out",
            result.intersections, result.joints_open, result.momentum_errors, result.inverted);
    if (result.unproven > 0)
        return fmt::format(
            "clean in all {} frames; {} hits between frames are unproven (record with --record path)",
            result.frames, result.unproven);
    return fmt::format("clean: {} frames, {} body pairs tested exactly", result.frames,
                       short_count(static_cast<double>(result.body_pairs)));
}

std::string in_words(const verify::Finding& finding) {
    std::string who = finding.a;
    if (!finding.b.empty()) who += " and " + finding.b;
    return fmt::format("  frame {} at {:.4g} s: {}{}{}", finding.frame, finding.time, who,
                       who.empty() ? "" : ": ", finding.text);
}

}  // namespace

int verify_verb(const VerifyRequest& request) {
    set_threads(request.threads);
    const run::RunReader reader(request.run);
    ProgressBar bar(request.quiet);
    verify::Options options;
    options.motion = !request.no_motion;
    options.joint_tolerance = request.joint_tolerance;
    options.momentum_tolerance = request.momentum_tolerance;
    options.progress = [&](long done, long all) {
        bar.show(static_cast<double>(done) / static_cast<double>(std::max(1L, all)),
                 fmt::format("frame {}/{}", done, all));
    };
    const verify::Result result = verify::verify_run(reader, options);
    bar.clear();
    write_text(request.output, result.to_json());
    if (!request.quiet) {
        std::cerr << in_words(result) << "\n";
        for (std::size_t i = 0; i < std::min<std::size_t>(5, result.findings.size()); ++i)
            std::cerr << in_words(result.findings[i]) << "\n";
    }
    return (request.strict ? result.proven() : result.clean()) ? 0 : 1;
}

}  // namespace tenon::app

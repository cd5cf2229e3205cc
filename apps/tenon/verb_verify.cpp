// `tenon verify`: the independent check of a run, as JSON.
#include <iostream>

#include <fmt/format.h>

#include "apps/tenon/common.hpp"
#include "apps/tenon/progress.hpp"
#include "math/parallel.hpp"
#include "verify/verify.hpp"

namespace tenon::app {
namespace {

// What kept the run from being clean, each with its number.
std::string troubles(const verify::Result& r) {
    const std::pair<long, const char*> all[] = {
        {r.intersections, "intersections"},     {r.unexplained, "passages without an explanation"},
        {r.joints_open, "open joints"},         {r.limits_passed, "passed joint limits"},
        {r.momentum_errors, "momentum errors"}, {r.velocity_errors, "velocity errors"},
        {r.energy_errors, "energy errors"},     {r.record_errors, "records that do not fit"},
        {r.deformed, "deformed bodies"},        {r.inverted, "bodies inside out"}};
    std::string text;
    for (const auto& [count, what] : all)
        if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
    return text;
}

std::string in_words(const verify::Result& result) {
    std::string text;
    if (!result.clean())
        text = "NOT CLEAN: " + troubles(result);
    else if (!result.motion_checked)
        text =
            fmt::format("clean in all {} frames; motion between them was not looked at, so nothing is proven",
                        result.frames);
    else if (result.unproven > 0)
        text = fmt::format(
            "clean in all {} frames; {} hits between frames are unproven (record with --record path)",
            result.frames, result.unproven);
    else
        text = fmt::format("clean: {} frames, {} body pairs tested exactly", result.frames,
                           short_count(static_cast<double>(result.body_pairs)));
    if (result.elastic_pairs + result.self_tests > 0)
        text += fmt::format("; elastic bodies were tested against others {} times, against themselves {}",
                            short_count(static_cast<double>(result.elastic_pairs)),
                            short_count(static_cast<double>(result.self_tests)));
    if (result.jointed_checked + result.jointed_ignored > 0)
        text += fmt::format("; of {} pairs of jointed bodies {} were checked",
                            result.jointed_checked + result.jointed_ignored, result.jointed_checked);
    if (result.penetrations > 0)
        text += fmt::format("; overlaps of up to {:.3g} m, as allowed", result.penetration_max);
    return text;
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
    options.allow_unconverged = request.allow_unconverged;
    options.penetration_allowance = request.penetration;
    options.limit_tolerance = request.limit_tolerance;
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
        for (const std::string& warning : result.warnings) std::cerr << "  " << shown(warning) << "\n";
        for (std::size_t i = 0; i < std::min<std::size_t>(5, result.findings.size()); ++i)
            std::cerr << shown(in_words(result.findings[i])) << "\n";
    }
    return (request.strict ? result.proven() : result.clean()) ? 0 : 1;
}

}  // namespace tenon::app

// `tenon diff`: two runs compared frame by frame.
#include <iostream>

#include <fmt/format.h>

#include "apps/tenon/common.hpp"
#include "run/diff.hpp"

namespace tenon::app {

int diff_verb(const DiffRequest& request) {
    const run::RunReader a(request.first), b(request.second);
    const run::RunDifference d = run::diff_runs(a, b);
    if (request.json) {
        std::cout << d.to_json();
    } else if (!request.quiet) {
        for (const std::string& key : d.settings)
            if (key != "scene" || d.settings.size() == 1) std::cout << fmt::format("  {} differs\n", key);
        if (d.same)
            std::cout << fmt::format("{} frames the same, bit for bit\n", d.frames);
        else if (d.differing == 0)
            std::cout << fmt::format("{} common frames the same; the runs hold {} and {}\n", d.frames,
                                     d.frames_first, d.frames_second);
        else
            std::cout << shown(fmt::format("{} of {} common frames differ, from step {} ({:g} s) on: {}",
                                           d.differing, d.frames, d.first_step, d.first_time, d.text))
                      << fmt::format("\nlargest difference {:.3g}, in the last frame {:.3g}\n", d.largest,
                                     d.last_largest);
    }
    return d.same ? 0 : 1;
}

}  // namespace tenon::app

// `tenon run`: simulate, record, say what came of it.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include <unistd.h>

#include <fmt/format.h>

#include "apps/tenon/common.hpp"
#include "apps/tenon/progress.hpp"
#include "apps/tenon/summary.hpp"
#include "math/interrupt.hpp"
#include "run/replay.hpp"
#include "run/run_loop.hpp"
#include "run/series.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"
#include "verify/verify.hpp"

namespace tenon::app {
namespace {

// A run file may stand for its own scene, to be resumed or run again.
Scene scene_of(const RunRequest& request) {
    if (!is_run_file(request.scene.scene)) {
        if (request.from)
            throw InputError(request.scene.scene, "--from", "is not a run file",
                             "name a recorded run, such as ball.tenon");
        return load_requested(request.scene);
    }
    const run::RunReader reader(request.scene.scene);
    if (request.from) {
        std::vector<Override> changes = overrides_of(request.scene);
        if (request.scene.seconds) changes.push_back({"seconds", fmt::format("{}", *request.scene.seconds)});
        return parse_scene(reader.scene_json(), request.scene.scene, "", changes);
    }
    std::vector<Override> overrides;
    if (request.scene.seconds) overrides.push_back({"seconds", fmt::format("{}", *request.scene.seconds)});
    if (request.scene.method || request.scene.dt || !request.scene.set.empty())
        throw InputError(
            request.scene.scene, "", "a run file goes on as it was started",
            "of the scene only --seconds may be changed; --from TIME starts a run of its own from there, "
            "or run the scene itself");
    return parse_scene(reader.scene_json(), request.scene.scene, "", overrides);
}

// Named after the scene's file, or after the built-in scene: a name inside a file may be anything, a path as well.
std::string default_output(const RunRequest& request, const Scene& scene) {
    const std::string& given = request.scene.scene;
    if (is_run_file(given)) return given;
    const std::string stem = std::filesystem::path(given).stem().string();
    return (scene.file.empty() || stem.empty() ? scene.name : stem) + ".tenon";
}

run::RunOptions options_of(const RunRequest& request, const Scene& scene) {
    run::RunOptions options;
    options.output = request.output;
    if (options.output.empty()) options.output = default_output(request, scene);
    if (request.no_record) options.output.clear();
    options.report = request.report;
    options.fps = request.fps;
    options.record_every = request.record_every;
    options.record_path = request.record == "path";
    options.checkpoint_every = request.checkpoint_every;
    options.checkpoint_wall = request.checkpoint_wall;
    options.dump_failure = request.dump_failure;
    options.estimate_error = request.estimate_error;
    options.stop = &stop_on_interrupt();
    options.count_intersections = verify::count_intersections;
    if (request.from) {
        options.hand_over = request.scene.scene;
        options.from = *request.from;
    }
    if (request.resume)
        options.resume = is_run_file(request.scene.scene) ? request.scene.scene : options.output;
    else if (is_run_file(request.scene.scene) && options.output == request.scene.scene)
        throw InputError(request.scene.scene, "", "would be overwritten by its own scene",
                         request.from ? "add -o for another file"
                                      : "add --resume to go on with it, or -o for another file");
    return options;
}

// Found out before the run rather than after it: the scene is recorded for no steps, and the series looked for there.
void check_series(const RunRequest& request, Scene scene) {
    if (request.series.empty()) return;
    if (request.csv.empty())
        throw InputError("", "--series", "is for --csv", "add --csv FILE, or '--csv -' to print the series");
    std::vector<std::string> known_now;  // phases, metrics and sensors appear with the first step
    for (const std::string& name : request.series)
        if (!name.starts_with("phase.") && !name.starts_with("figure.") && !name.starts_with("sensor."))
            known_now.push_back(name);
    std::string folder = (std::filesystem::temp_directory_path() / "tenon-series-XXXXXX").string();
    if (known_now.empty() || !mkdtemp(folder.data())) return;
    const std::string name = scene.name;
    std::string problem, path, cure;
    try {
        scene.seconds = 0;
        scene.expect.clear();
        run::RunOptions options;
        options.output = folder + "/start.tenon";
        run::run_scene(std::move(scene), options);
        run::read_series(run::RunReader(options.output), known_now);
    } catch (const InputError& error) {
        if (error.file().starts_with(folder))
            problem = error.problem(), path = error.path(), cure = error.cure();
    }
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    if (!problem.empty()) throw InputError(name, "--series " + path, problem, cure);
}

// Writes nothing: the run file stays as it is.
int replay(const RunRequest& request) {
    const std::string& file = request.scene.scene;
    if (!is_run_file(file))
        throw InputError(file, "--replay", "is not a run file", "name a recorded run, such as ball.tenon");
    if (request.resume || request.from || !request.output.empty() || !request.csv.empty() ||
        request.scene.seconds)
        throw InputError(file, "--replay", "repeats the run as it was and writes nothing",
                         "leave --resume, --from, --output, --csv and --seconds away");
    const run::RunReader reader(file);
    ProgressBar bar(request.quiet || request.json);
    const run::ReplayResult result =
        run::replay_run(scene_of(request), reader, &stop_on_interrupt(),
                        [&](const run::Progress& progress) { bar.show(progress); });
    bar.clear();
    if (!request.report.empty()) write_text(request.report, result.to_json());
    if (request.json)
        std::cout << result.to_json();
    else if (result.status == "same" && !request.quiet)
        std::cout << fmt::format("{}: {} steps made again, {} frames the same, bit for bit\n", file,
                                 result.steps, result.frames);
    if (result.status == "stopped") std::cerr << fmt::format("stopped after {} steps\n", result.steps);
    if (result.status == "differs")
        std::cerr << shown(fmt::format("error: {}: {} differs, by up to {:.3g} in that frame", file,
                                       result.difference, result.largest))
                  << "\n";
    if (result.status == "failed") std::cerr << fmt::format("error: {}: {}\n", file, result.difference);
    return result.status == "same" ? 0 : 1;
}

void say_unconverged(const run::Report& report) {
    constexpr std::size_t listed = 5;
    std::cerr << fmt::format("error: {} of {} steps did not converge: their result may be wrong\n",
                             report.unconverged_steps, report.steps);
    for (std::size_t i = 0; i < std::min(listed, report.unconverged.size()); ++i)
        std::cerr << "  " << shown(report.unconverged[i]) << "\n";
    std::cerr
        << "  smaller steps (--dt) or more iterations may help; --allow-unconverged takes it as it is\n";
}

}  // namespace

int run_verb(const RunRequest& request) {
    if (request.replay) return replay(request);
    if (request.no_record && !request.csv.empty())
        throw InputError("", "--csv", "needs a recorded run", "leave --no-record away");
    Scene scene = scene_of(request);
    check_series(request, scene);
    run::RunOptions options = options_of(request, scene);
    ProgressBar bar(request.quiet || request.json);
    options.preparing = [&](const std::string& text) { bar.show(0.0, text); };
    run::Report report;
    try {
        report = run::run_scene(std::move(scene), options,
                                [&](const run::Progress& progress) { bar.show(progress); });
    } catch (const Interrupted&) {
        bar.clear();
        std::cerr << "stopped before the first step: nothing was written\n";
        return 1;
    }
    bar.clear();
    if (!request.csv.empty()) {
        const run::RunReader reader(options.output);
        write_text(request.csv,
                   run::series_csv(reader,
                                   request.series.empty() ? run::step_series_names(reader) : request.series));
    }
    if (request.json) {
        std::cout << report.to_json();
    } else if (!request.quiet) {
        std::cout << summary(report);
        if (!options.output.empty()) std::cout << fmt::format("  written    {}\n", options.output);
    }
    for (const std::string& warning : report.warnings) std::cerr << "warning: " << shown(warning) << "\n";
    if (report.status == "failed") std::cerr << "error: " << shown(report.failure) << "\n";
    const bool unconverged = report.unconverged_steps > 0 && !request.allow_unconverged;
    if (unconverged) say_unconverged(report);
    if (!report.dumped.empty()) std::cerr << "  a scene that shows it again: " << report.dumped << "\n";
    if (request.quiet)
        for (const run::ExpectResult& result : report.expect)
            if (!result.held) std::cerr << "not as expected: " << result.text << "\n";
    return passed(report) && !unconverged ? 0 : 1;
}

}  // namespace tenon::app

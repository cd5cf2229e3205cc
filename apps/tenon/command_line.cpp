// Includes CLI11, which is slow to compile: only this file and bench_line.cpp do.
#include "apps/tenon/command_line.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/tenon/bench_line.hpp"
#include "apps/tenon/hand_to_bench.hpp"
#include "apps/tenon/verb_new.hpp"
#include "apps/tenon/verb_sweep.hpp"
#include "apps/tenon/verbs.hpp"
#include "tenon/error.hpp"
#include "tenon/params.hpp"

namespace tenon::app {
namespace {

void add_scene_flags(CLI::App* verb, SceneRequest& scene, const std::string& what) {
    verb->add_option("scene", scene.scene, what)->required()->type_name("SCENE");
    verb->add_option("--method", scene.method, "affine | articulated | impulse | volume | adaptive")
        ->type_name("NAME");
    verb->add_option("--dt", scene.dt, "time step in seconds")->type_name("S");
    verb->add_option("--seconds", scene.seconds, "how long to simulate")->type_name("S");
    verb->add_option("--set", scene.set, "any scene or method parameter by its path; may be repeated")
        ->type_name("KEY=VALUE")
        ->take_all()
        ->expected(1);
    verb->add_option("--threads", scene.threads, "number of threads; 0: all cores")->type_name("N");
}

void add_run(CLI::App& app, RunRequest& r, Action& action) {
    CLI::App* verb = add_verb(app, "run", "simulate a scene",
                              "tenon run wrecking-ball -o ball.tenon --seconds 2 --set method.dhat=0.001");
    add_scene_flags(
        verb, r.scene,
        "scene file, built-in name (see 'tenon scenes'), or a run file to resume, replay or start from");
    verb->add_option("-o,--output", r.output, "run file; default NAME.tenon in this folder")
        ->type_name("FILE");
    verb->add_flag("--no-record", r.no_record, "write no run file");
    verb->add_option("--report", r.report, "write the report as JSON")->type_name("FILE");
    verb->add_option("--fps", r.fps, "recorded frames per simulated second")
        ->capture_default_str()
        ->type_name("N");
    verb->add_option("--record-every", r.record_every, "record every n-th step instead")
        ->check(CLI::PositiveNumber)
        ->excludes("--fps")
        ->type_name("N");
    verb->get_option("--no-record")->excludes("--output");
    verb->add_option("--record", r.record,
                     "path: keep every accepted piece of motion, for exact verification")
        ->check(CLI::IsMember({"path"}))
        ->type_name("WHAT");
    verb->add_option("--checkpoint-every", r.checkpoint_every,
                     "simulated seconds between checkpoints; one is made at the end")
        ->type_name("S");
    verb->add_option("--checkpoint-wall", r.checkpoint_wall,
                     "seconds of work that a kill may cost: checkpoints by the clock; 0: none")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber)
        ->type_name("S");
    verb->add_flag("--allow-unconverged", r.allow_unconverged, "exit with 0 although steps did not converge");
    verb->add_flag(
        "--estimate-error", r.estimate_error,
        "run it again beside with twice the step, and record how far off positions are (half as long again)");
    verb->add_option("--dump-failure", r.dump_failure,
                     "write a small scene that shows the first failed or unconverged step again")
        ->type_name("FILE");
    verb->add_flag("--resume", r.resume, "go on from the newest checkpoint of the run file, bit for bit");
    verb->add_option("--from", r.from,
                     "of a run file: start from its state at this time, with --method by another method")
        ->type_name("S")
        ->excludes("--resume");
    verb->add_flag("--replay", r.replay, "simulate a run file again and compare every frame, bit for bit");
    verb->add_option("--csv", r.csv, "write series of the run as CSV ('-' for standard output)")
        ->type_name("FILE");
    verb->add_option("--series", r.series, "which series, separated by commas; default: all of the steps")
        ->delimiter(',')
        ->type_name("NAMES");
    verb->add_flag("--quiet", r.quiet, "say nothing unless something is wrong");
    verb->add_flag("--json", r.json, "print the report as JSON");
    verb->callback([&] { action = [&] { return run_verb(r); }; });
}

void add_scenes(CLI::App& app, ScenesRequest& r, Action& action) {
    CLI::App* verb =
        add_verb(app, "scenes", "list the built-in scenes, or show one", "tenon scenes wrecking-ball");
    verb->add_option("name", r.name, "show this scene's parameters, source and what to expect")
        ->type_name("NAME");
    verb->add_flag("--json", r.json, "as JSON");
    verb->callback([&] { action = [&] { return scenes_verb(r); }; });
}

void add_check(CLI::App& app, CheckRequest& r, Action& action) {
    CLI::App* verb =
        add_verb(app, "check", "validate a scene without running it", "tenon check my-scene.json");
    add_scene_flags(verb, r.scene, "scene file or built-in name");
    verb->add_flag("--json", r.json, "as JSON");
    verb->callback([&] { action = [&] { return check_verb(r); }; });
}

void add_new(CLI::App& app, NewRequest& r, Action& action) {
    CLI::App* verb = add_verb(app, "new", "write a commented scene to edit, or a built-in scene as a file",
                              "tenon new swing --from physical-pendulum");
    verb->add_option("name", r.name, "of the scene; NAME.json is written")->required()->type_name("NAME");
    verb->add_option("--from", r.from, "a built-in scene or a scene file to start from")->type_name("SCENE");
    verb->add_flag("--quiet", r.quiet, "say nothing unless something is wrong");
    verb->callback([&] { action = [&] { return new_verb(r); }; });
}

void add_verify(CLI::App& app, VerifyRequest& r, Action& action) {
    CLI::App* verb =
        add_verb(app, "verify", "check a run exactly and independently: surfaces, motion, joints, momenta",
                 "tenon verify ball.tenon > verdict.json");
    verb->add_option("run", r.run, "run file")->required()->type_name("RUN");
    verb->add_option("-o,--output", r.output, "write the JSON here instead of to standard output")
        ->type_name("FILE");
    verb->add_flag("--no-motion", r.no_motion, "look at the frames only, not at the motion between them");
    verb->add_flag("--strict", r.strict, "fail on motion that could not be proven free of hits, too");
    verb->add_option("--joint-tolerance", r.joint_tolerance, "largest joint residual")->capture_default_str();
    verb->add_option("--momentum-tolerance", r.momentum_tolerance, "largest relative error")
        ->capture_default_str();
    verb->add_option("--limit-tolerance", r.limit_tolerance, "how far a joint may pass its limits, m or rad")
        ->capture_default_str();
    verb->add_option(
            "--penetration", r.penetration,
            "how far bodies may overlap, m; default 5 % of the smaller body's diagonal, 0 for 'affine'")
        ->check(CLI::NonNegativeNumber)
        ->type_name("M");
    verb->add_flag("--allow-unconverged", r.allow_unconverged,
                   "count steps that did not converge, without failing");
    verb->add_option("--threads", r.threads, "number of threads; 0: all cores")
        ->check(CLI::NonNegativeNumber);
    verb->add_flag("--quiet", r.quiet, "print the JSON only");
    verb->callback([&] { action = [&] { return verify_verb(r); }; });
}

void add_diff(CLI::App& app, DiffRequest& r, Action& action) {
    CLI::App* verb = add_verb(app, "diff", "compare two runs frame by frame, bit for bit",
                              "tenon diff one-thread.tenon two-threads.tenon");
    verb->add_option("first", r.first, "run file")->required()->type_name("RUN");
    verb->add_option("second", r.second, "run file")->required()->type_name("RUN");
    verb->add_flag("--json", r.json, "as JSON");
    verb->add_flag("--quiet", r.quiet, "say nothing: the exit code tells, 0 for the same");
    verb->callback([&] { action = [&] { return diff_verb(r); }; });
}

void add_compare(CLI::App& app, CompareRequest& r, Action& action) {
    CLI::App* verb =
        add_verb(app, "compare", "one scene with several methods, steps or parameters: a table and a page",
                 "tenon compare physical-pendulum --vary method=affine,articulated --vary dt=0.02,0.01");
    add_scene_flags(verb, r.scene, "scene file or built-in name");
    verb->remove_option(verb->get_option("--method"));
    verb->add_option("--methods", r.methods, "separated by commas; default: all")
        ->delimiter(',')
        ->type_name("NAMES");
    verb->add_option(
            "--vary", r.vary,
            "values to try, for example dt=0.02,0.01 or method=affine,impulse or a parameter's path; "
            "repeated: every combination")
        ->type_name("KEY=VALUES")
        ->allow_extra_args(false);
    verb->add_option("--reference", r.reference,
                     "measure errors against this run; default: the one of the smallest step")
        ->type_name("RUN");
    verb->add_option("--within", r.within, "largest error that passes, m")
        ->check(CLI::PositiveNumber)
        ->type_name("M");
    verb->add_option("-o,--output", r.output, "HTML page; default NAME-compare.html")->type_name("FILE");
    verb->add_flag("--json", r.json, "print the reports as JSON");
    verb->add_flag("--quiet", r.quiet, "write the page only");
    verb->callback([&] { action = [&] { return compare_verb(r); }; });
}

void add_plot(CLI::App& app, PlotRequest& r, Action& action) {
    CLI::App* verb =
        add_verb(app, "plot", "energies, momenta, contacts, joint forces, timings of a run: HTML or SVG",
                 "tenon plot ball.tenon -o ball.html --pictures 6");
    verb->add_option("run", r.run, "run file")->required()->type_name("RUN");
    verb->add_option("-o,--output", r.output, "page (.html) or picture (.svg); default NAME.html")
        ->type_name("FILE");
    verb->add_option("--series", r.series, "plot these instead, separated by commas")
        ->delimiter(',')
        ->type_name("NAMES");
    verb->add_option("--csv", r.csv, "write the series as CSV ('-' for standard output)")->type_name("FILE");
    verb->add_flag("--list", r.list, "list the series of this run");
    verb->add_option("--pictures", r.pictures, "draw this many frames at the top of the page")
        ->check(CLI::Range(0, 30))
        ->type_name("N");
    verb->add_option("--verdict", r.verdict, "show this output of 'tenon verify' in the page")
        ->type_name("FILE");
    verb->callback([&] { action = [&] { return plot_verb(r); }; });
}

void add_render(CLI::App& app, RenderRequest& r, Action& action) {
    CLI::App* verb =
        add_verb(app, "render", "pictures of a scene or a run: PNG, contact sheet, film (APNG, MP4)",
                 "tenon render ball.tenon -o ball.png --sheet 3x2");
    add_scene_flags(verb, r.scene, "run file, scene file or built-in name");
    verb->get_option("scene")->type_name("RUN|SCENE");
    verb->add_option("-o,--output", r.output,
                     ".png, or a film: .apng (no other program), .mp4 (needs ffmpeg); default NAME.png")
        ->type_name("FILE");
    verb->add_option("--size", r.size,
                     "of a picture, in pixels; default 1280x720, in a sheet 320x200, of an .apng 480x300")
        ->type_name("WxH");
    verb->add_option("--sheet", r.sheet, "frames spread over the run, on one picture")
        ->type_name("COLUMNSxROWS");
    verb->add_option("--frame", r.frame, "which frame; negative from the end; default the last")
        ->type_name("N");
    verb->add_option("--time", r.time, "the moment to draw, also between frames, s")->type_name("S");
    verb->add_flag("--portrait", r.portrait, "the moment that the scene says shows it best");
    verb->add_option("--every", r.every, "every n-th frame, as numbered files")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    verb->add_option("--fps", r.fps, "pictures per second of a film; default 30")
        ->check(CLI::Range(1.0, 240.0))
        ->type_name("N");
    verb->add_option("--speed", r.speed, "of a film: 0.25 is four times slower than it was; default 1")
        ->check(CLI::Range(1e-4, 1e4))
        ->type_name("X");
    verb->add_option("--colors", r.colors, "write a small PNG of at most so many colours")
        ->check(CLI::Range(2, 256))
        ->type_name("N");
    verb->add_flag("--forces", r.forces, "contact forces as arrows");
    verb->add_option("--force-scale", r.force_scale, "length of the arrows")
        ->check(CLI::PositiveNumber)
        ->type_name("M/N");
    verb->add_flag("--state", r.state, "colour elastic bodies by the state of their elements");
    verb->add_flag("--no-ground", r.no_ground, "without the ground plane");
    verb->add_option("--eye", r.camera["eye"], "where the camera is: x,y,z")->delimiter(',')->expected(3);
    verb->add_option("--target", r.camera["target"], "what it looks at: x,y,z")->delimiter(',')->expected(3);
    verb->add_option("--fov", r.camera["fov"], "field of view in degrees")
        ->expected(1)
        ->check(CLI::Range(1.0, 150.0));
    verb->add_option("--azimuth", r.azimuth, "direction of the fitted camera, degrees from the front")
        ->type_name("DEG");
    verb->add_option("--elevation", r.elevation, "its height, degrees above the horizon")->type_name("DEG");
    verb->add_flag("--quiet", r.quiet, "say nothing unless something is wrong");
    verb->callback([&] {
        std::erase_if(r.camera, [](const auto& entry) { return entry.second.empty(); });
        action = [&] { return render_verb(r); };
    });
}

void add_view(CLI::App& app, ViewRequest& r, Action& action) {
    CLI::App* verb =
        add_verb(app, "view", "see a run in the browser, a scene while it is simulated, or make a page",
                 "tenon view ball.tenon --html ball.html --max-size 10");
    add_scene_flags(verb, r.scene, "");
    verb->remove_option(verb->get_option("scene"));
    verb->add_option("run", r.runs, "run file (two: side by side), scene file or built-in name")
        ->required()
        ->type_name("RUN|SCENE");
    verb->add_option("--port", r.port, "port on 127.0.0.1; default a free one")
        ->check(CLI::Range(1, 65535))
        ->type_name("N");
    verb->add_flag("--no-open", r.no_open, "print the address only, open no browser");
    verb->add_option("--html", r.html, "write one page that works from disk, instead of serving")
        ->type_name("FILE");
    verb->add_option("--max-size", r.max_size, "of that page; frames are left out to keep it; default 20")
        ->check(CLI::PositiveNumber)
        ->type_name("MB");
    verb->add_option("-o,--output", r.output, "keep the run of a scene in this file")->type_name("FILE");
    verb->add_flag("--quiet", r.quiet, "say no more than the address");
    verb->callback([&] { action = [&] { return view_verb(r); }; });
}

void add_export(CLI::App& app, ExportRequest& r, Action& action) {
    CLI::App* verb = add_verb(app, "export", "a run for Blender, ParaView or game engines",
                              "tenon export ball.tenon --format gltf -o ball.glb");
    verb->add_option("run", r.run, "run file")->required()->type_name("RUN");
    verb->add_option("--format", r.format, "gltf | usd | vtk | obj")
        ->capture_default_str()
        ->type_name("NAME");
    verb->add_option("-o,--output", r.output, "file or folder; default named after the run")
        ->type_name("PATH");
    verb->add_option("--first", r.first, "first frame")->check(CLI::NonNegativeNumber)->type_name("N");
    verb->add_option("--last", r.last, "last frame; default the end")->type_name("N");
    verb->add_option("--every", r.every, "every n-th frame")->check(CLI::PositiveNumber)->type_name("N");
    verb->add_flag("--quiet", r.quiet, "say nothing unless something is wrong");
    verb->callback([&] { action = [&] { return export_verb(r); }; });
}

void add_import(CLI::App& app, ImportRequest& r, Action& action) {
    CLI::App* verb = add_verb(app, "import", "turn a URDF, MJCF or rigid-ipc file into a Tenon scene",
                              "tenon import robot.urdf -o robot.json");
    verb->add_option("file", r.file, "URDF, MJCF, or rigid-ipc JSON")->required()->type_name("FILE");
    verb->add_option("-o,--output", r.output, "scene file; default standard output")->type_name("FILE");
    verb->add_option("--meshes", r.mesh_root,
                     "folder that mesh paths and packages are relative to; default: found beside the file")
        ->type_name("FOLDER");
    verb->add_option("--losses", r.losses, "write what was approximated or left out, as JSON")
        ->type_name("FILE");
    verb->add_option("--geometry", r.geometry, "what bodies are made of: collision or visual")
        ->check(CLI::IsMember({"collision", "visual"}));
    verb->add_flag("--free-base", r.free_base, "URDF: the root link moves freely instead of being fixed");
    verb->callback([&] { action = [&] { return import_verb(r); }; });
}

void add_untangle(CLI::App& app, UntangleRequest& r, Action& action) {
    CLI::App* verb = add_verb(app, "untangle", "move overlapping bodies apart, so that the scene can start",
                              "tenon untangle pile.json -o clean.json");
    add_scene_flags(verb, r.scene, "scene file or built-in name");
    verb->add_option("-o,--output", r.output, "the scene without overlaps")->required()->type_name("FILE");
    verb->add_option("--margin", r.margin,
                     "metres between bodies afterwards; 0: the scene's dhat, or 1e-3 of its length")
        ->check(CLI::NonNegativeNumber);
    verb->add_option("--pixel", r.pixel,
                     "metres, resolution of the first images; 0: chosen from the bodies' sizes")
        ->check(CLI::NonNegativeNumber);
    verb->add_flag("--json", r.json, "what moved, as JSON");
    verb->add_flag("--quiet", r.quiet, "say nothing unless something is wrong");
    verb->callback([&] { action = [&] { return untangle_verb(r); }; });
}

void add_schema(CLI::App& app, SchemaRequest& r, Action& action) {
    CLI::App* verb =
        add_verb(app, "schema", "print the JSON Schema of scenes", "tenon schema -o scene.schema.json");
    verb->add_option("-o,--output", r.output, "file; default standard output")->type_name("FILE");
    verb->callback([&] { action = [&] { return schema_verb(r); }; });
}

void add_sweep(CLI::App& app, SweepRequest& r, Action& action) {
    CLI::App* verb = add_verb(app, "sweep", "many runs over parameters, methods and scenes: one table",
                              "tenon sweep friction.json --processes 2");
    verb->add_option("words", r.words,
                     "the plan; before it what to do: run (default), plan, status, retry, merge, plot")
        ->required()
        ->expected(1, 2)
        ->type_name("[ACTION] PLAN");
    verb->add_option("--folder", r.folder, "where the results are; default PLAN with .sweep")
        ->type_name("FOLDER");
    verb->add_option("--task", r.tasks, "run, retry: only these of the plan's runs, from 0: 7, 0-9 or 3,5")
        ->delimiter(',')
        ->type_name("K");
    verb->add_option("--processes", r.processes, "runs at a time; default: cores / threads")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    verb->add_option("--threads", r.threads, "threads of each run")
        ->check(CLI::PositiveNumber)
        ->capture_default_str()
        ->type_name("N");
    verb->add_option("--memory", r.memory, "of all runs together; default: nine tenths of what is free")
        ->check(CLI::PositiveNumber)
        ->type_name("MB");
    verb->add_option("--on", r.on, "a Dask scheduler that runs them instead: tcp://host:8786")
        ->type_name("ADDRESS");
    verb->add_option("--program", r.program, "--on: the program on the workers; default: this path, or tenon")
        ->type_name("PATH");
    verb->add_option("-o,--output", r.output,
                     "plot: the page; merge: a further copy of the CSV ('-' prints it)")
        ->type_name("FILE");
    verb->add_option("--results", r.results, "plot: only these, separated by commas")
        ->delimiter(',')
        ->type_name("NAMES");
    verb->add_flag("--all", r.all, "plan: show every run");
    verb->add_flag("--json", r.json, "plan, run, status: as JSON");
    verb->add_flag("--quiet", r.quiet, "say nothing unless something is wrong");
    verb->callback([&] { action = [&] { return sweep_verb(r); }; });
}

// Everything the verbs may be asked.
struct Requests {
    RunRequest run;
    ScenesRequest scenes;
    CheckRequest check;
    NewRequest new_;
    VerifyRequest verify;
    DiffRequest diff;
    CompareRequest compare;
    PlotRequest plot;
    RenderRequest render;
    ViewRequest view;
    ExportRequest export_;
    ImportRequest import;
    UntangleRequest untangle;
    SchemaRequest schema;
    SweepRequest sweep;
    BenchRequest bench;
    PaperRequest paper;
};

void check_verb_name(const CLI::App& app, const std::string& name) {
    std::vector<std::string> names;
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(verb->get_name());
    if (!name.starts_with('-') && std::find(names.begin(), names.end(), name) == names.end())
        throw InputError("", name, "no verb of this name", suggestion(name, names));
}

// A number as it is written: the parser's own has six decimals, and all its digits for the largest there is.
std::string plain(const std::string& number) {
    return fmt::format("{:g}", std::atof(number.c_str()));
}

// "Value 0 not in range 1.000000 to 240.000000"
std::string in_words(const std::string& message) {
    const std::string between = " not in range ";
    const std::size_t value = message.find("Value "), range = message.find(between);
    if (value == std::string::npos || range == std::string::npos || range < value) return message;
    const std::string given = message.substr(value + 6, range - value - 6),
                      limits = message.substr(range + between.size());
    const std::size_t to = limits.find(" to ");
    if (to == std::string::npos) return message;
    const std::string start = message.substr(0, value) + given + " is ";
    if (limits.starts_with("0.000000 to 1797")) return start + (given[0] == '-' ? "negative" : "not above 0");
    return start +
           fmt::format("not between {} and {}", plain(limits.substr(0, to)), plain(limits.substr(to + 4)));
}

// Flags that a verb does not have: the first, and the one that it may be.
std::string unknown_flags(const CLI::App& app, const std::string& otherwise) {
    for (const CLI::App* verb : app.get_subcommands())
        for (std::string wrong : verb->remaining()) {
            if (!wrong.starts_with("-")) continue;
            wrong = wrong.substr(0, wrong.find('='));
            std::vector<std::string> names;
            for (const CLI::Option* option : verb->get_options())
                for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
            std::string hint;
            for (const std::string& name : names)  // --every for --record-every
                if (wrong.size() > 3 && name.ends_with("-" + wrong.substr(2)))
                    hint += (hint.empty() ? "did you mean '" : "' or '") + name;
            if (!hint.empty())
                hint += "'?";
            else if (hint = suggestion(wrong, names); !hint.starts_with("did you mean"))
                hint.clear();
            if (!hint.empty()) hint += "; ";
            return fmt::format("{0}: 'tenon {1}' has no such flag ({2}'tenon {1} --help' lists them)", wrong,
                               verb->get_name(), hint);
        }
    return otherwise;
}

}  // namespace

int run_command_line(int argc, char** argv) {
    CLI::App app("Tenon simulates things that are stiff, jointed and touching.", "tenon");
    app.set_version_flag("--version", "tenon " TENON_VERSION);
    app.require_subcommand(1);
    app.footer(
        "'tenon VERB --help' explains a verb. Exit codes: 0 done, 1 the run or check failed, 2 bad input or "
        "usage.\n");
    Requests requests;
    Action action;
    add_run(app, requests.run, action);
    add_scenes(app, requests.scenes, action);
    add_check(app, requests.check, action);
    add_new(app, requests.new_, action);
    add_verify(app, requests.verify, action);
    add_diff(app, requests.diff, action);
    add_compare(app, requests.compare, action);
    add_plot(app, requests.plot, action);
    add_render(app, requests.render, action);
    add_view(app, requests.view, action);
    add_export(app, requests.export_, action);
    add_import(app, requests.import, action);
    add_untangle(app, requests.untangle, action);
    add_schema(app, requests.schema, action);
    add_sweep(app, requests.sweep, action);
    const auto hand_over = [&] { action = [&] { return hand_to_bench(argc, argv); }; };
    add_bench(app, requests.bench, hand_over);
    add_paper(app, requests.paper, hand_over);
    if (argc < 2)
        throw InputError("", "", "no verb", "'tenon --help' lists them; 'tenon scenes' is a good first one");
    check_verb_name(app, argv[1]);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& done) {
        return app.exit(done);  // --help, --version
    } catch (const CLI::ExtrasError& error) {
        std::cerr << "error: " << unknown_flags(app, error.what()) << "\n";
        return 2;
    } catch (const CLI::ParseError& error) {
        std::cerr << "error: " << in_words(error.what())
                  << " ('tenon --help' and 'tenon VERB --help' explain)\n";
        return 2;
    }
    return action();
}

}  // namespace tenon::app

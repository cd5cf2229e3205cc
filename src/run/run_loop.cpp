#include "run/run_loop.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "math/whole_file.hpp"
#include "run/report_builder.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::run {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string scene_source(const Scene& scene) {
    return scene.file.empty() ? scene.name : scene.file;
}

void check_options(const Scene& scene, const RunOptions& options) {
    const std::string file = scene_source(scene);
    if (!(scene.dt > 0) || !std::isfinite(scene.dt))
        throw InputError(file, "method.dt", fmt::format("a time step of {:g} s", scene.dt),
                         "must be positive");
    if (!(scene.seconds >= 0) || scene.seconds / scene.dt > 1e12)
        throw InputError(file, "seconds", fmt::format("{:g} s in steps of {:g} s", scene.seconds, scene.dt),
                         "must be zero or more, and less than 1e12 steps");
    if (options.record_every <= 0 && !(options.fps > 0))
        throw InputError("", "--fps", fmt::format("{:g} frames per second", options.fps), "must be positive");
    if (options.checkpoint_every < 0)
        throw InputError("", "--checkpoint-every", "is negative", "give simulated seconds");
}

// Found out before the run rather than after it.
void check_report_file(const std::string& file) {
    if (file.empty()) return;
    struct stat info {};
    if (::stat(file.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
        throw InputError(file, "", "is a directory", "name a file for the report");
    const std::size_t slash = file.find_last_of('/');
    const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : file.substr(0, slash);
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        throw InputError(file, "", fmt::format("cannot write the report: {}", std::strerror(errno)),
                         "check that its folder exists and is writable");
}

// Whole steps only: a shorter last step would be another method.
long step_count(const Scene& scene) {
    return std::lround(scene.seconds / scene.dt);
}

std::string rounding_warning(const Scene& scene, long steps) {
    const double simulated = static_cast<double>(steps) * scene.dt;
    if (std::abs(simulated - scene.seconds) <= 1e-9 * std::max(scene.seconds, scene.dt)) return {};
    return fmt::format("{:g} s is not a whole number of steps of {:g} s: {} steps end at {:g} s",
                       scene.seconds, scene.dt, steps, simulated);
}

// A frame at the first step at or after each multiple of 1/fps; which step that is depends on nothing else.
bool is_recorded(const RunOptions& options, double dt, long step) {
    if (options.record_every > 0) return step % options.record_every == 0;
    const auto frames = [&](long n) { return std::floor(static_cast<double>(n) * dt * options.fps + 1e-9); };
    return frames(step) > frames(step - 1);
}

bool is_checkpoint(const RunOptions& options, double dt, long step) {
    if (options.checkpoint_every <= 0) return false;
    const auto count = [&](long n) {
        return std::floor(static_cast<double>(n) * dt / options.checkpoint_every + 1e-9);
    };
    return count(step) > count(step - 1);
}

std::string saved(const Simulation& simulation) {
    std::ostringstream out;
    simulation.save(out);
    return std::move(out).str();
}

// Everything a run carries from step to step.
class Run {
  public:
    Run(Scene scene, const RunOptions& options)
        : options_(options), simulation_(std::move(scene)), steps_(step_count(simulation_.scene())) {
        const StepRow start = measure(simulation_.model(), simulation_.state(), StepReport{}, 0.0);
        builder_.emplace(simulation_, start);
        checker_.emplace(simulation_, options.count_intersections);
        const std::string warning = rounding_warning(simulation_.scene(), steps_);
        if (!warning.empty()) builder_->warn(warning);
        if (!options.resume.empty())
            resume();
        else if (!options.output.empty())
            record_start(start);
        if (options.before_step) simulation_.before_step(options.before_step);
        if (options.record_path && writer_)
            simulation_.set_path_sink([this](const std::vector<Mat34>& q) { add_path_piece(q); });
    }

    Report go(const std::function<void(const Progress&)>& progress);

  private:
    void record_start(const StepRow& start);
    void resume();
    void check_same_scene(const RunReader& reader) const;
    bool advance();  // false: the step failed
    void add_path_piece(const std::vector<Mat34>& q);
    void record(const StepRow& row);
    void record_end(const Report& report);
    Progress progress_now(double wall_seconds) const;

    const RunOptions& options_;
    Simulation simulation_;
    long steps_;
    std::optional<ReportBuilder> builder_;
    std::optional<ExpectChecker> checker_;
    std::unique_ptr<RunWriter> writer_;
    StepReport last_;
    std::string failure_;
    long frame_step_ = -1;           // step of the newest frame
    std::vector<Mat34> last_piece_;  // of this step's path
    double recent_ms_ = 0.0;
};

void Run::record_start(const StepRow& start) {
    writer_ = std::make_unique<RunWriter>(options_.output, simulation_.scene(), simulation_.model(),
                                          simulation_.state());
    writer_->add_step(start);
    writer_->add_frame(simulation_.state(), simulation_.outputs());
    frame_step_ = 0;
}

void Run::check_same_scene(const RunReader& reader) const {
    const auto refuse = [&](const std::string& problem) {
        throw InputError(options_.resume, "", problem, "resume with the scene the run was started with");
    };
    const Model& model = simulation_.model();
    const State& state = simulation_.state();
    if (reader.meta("method") != simulation_.scene().method)
        refuse(fmt::format("was made with method {}, not {}", reader.meta("method"),
                           simulation_.scene().method));
    if (std::strtod(reader.meta("dt").c_str(), nullptr) != simulation_.scene().dt)
        refuse(fmt::format("has time steps of {} s, not {:g} s", reader.meta("dt"), simulation_.scene().dt));
    if (reader.bodies().size() != state.q.size() || reader.joints().size() != model.joints.size() ||
        reader.elastic().size() != model.elastic.size())
        refuse("holds another number of bodies or joints than the scene");
    for (int i = 0; i < model.bodies.size(); ++i)
        if (reader.bodies()[i].name != model.bodies.name[i])
            refuse(fmt::format("has body '{}' where the scene has '{}'", reader.bodies()[i].name,
                               model.bodies.name[i]));
}

// Goes on from the newest checkpoint: into the same file, or into a copy when another output is named.
void Run::resume() {
    std::string file = options_.resume;
    long step = 0;
    {
        const RunReader reader(file);
        check_same_scene(reader);
        const std::string state = reader.checkpoint(step);
        if (state.empty())
            throw InputError(file, "", "holds no checkpoint to go on from",
                             "runs end with one; for long runs use --checkpoint-every");
        for (long i = 1; i < reader.frame_count() && reader.frame_step(i) <= step; ++i)
            checker_->replay(reader.frame(i));
        for (const StepRow& row : reader.steps()) {
            if (row.step == 0 || row.step > step) continue;
            builder_->add(row);
            checker_->replay(row.report);
        }
        std::istringstream in(state);
        try {
            simulation_.load(in);
        } catch (const InputError&) {
            throw;
        } catch (const std::exception& error) {
            throw InputError(file, "checkpoint", error.what(), "run the scene again from the start");
        }
    }
    if (!options_.output.empty() && options_.output != file) {
        copy_run_file(file, options_.output);
        file = options_.output;
    }
    writer_ = RunWriter::reopen(file, step);
    writer_->set_meta("scene", write_scene(simulation_.scene()));
    const RunReader reader(file);
    frame_step_ = reader.frame_count() > 0 ? reader.frame_step(reader.frame_count() - 1) : -1;
}

void Run::add_path_piece(const std::vector<Mat34>& q) {
    writer_->add_path_piece(simulation_.state().step + 1, q);
    last_piece_ = q;
}

bool Run::advance() {
    last_piece_.clear();
    const auto start = Clock::now();
    try {
        last_ = simulation_.step();
    } catch (const StepFailure& error) {
        const int body = error.body();
        const auto& names = simulation_.model().bodies.name;
        failure_ = fmt::format("step {} (from {:g} s): {}", simulation_.state().step + 1, simulation_.time(),
                               error.what());
        if (body >= 0 && body < static_cast<int>(names.size()))
            failure_ += fmt::format(", at body '{}'", names[body]);
        return false;
    }
    const double wall_ms = 1e3 * seconds_since(start);
    recent_ms_ = recent_ms_ == 0.0 ? wall_ms : 0.9 * recent_ms_ + 0.1 * wall_ms;
    const StepRow row = measure(simulation_.model(), simulation_.state(), last_, wall_ms);
    builder_->add(row);
    checker_->after_step(simulation_, last_);
    record(row);
    return true;
}

void Run::record(const StepRow& row) {
    if (!writer_) return;
    const State& state = simulation_.state();
    writer_->add_step(row);
    if (options_.record_path && last_piece_ != state.q) writer_->add_path_piece(state.step, state.q);
    if (is_recorded(options_, simulation_.dt(), state.step)) {
        writer_->add_frame(state, simulation_.outputs());
        frame_step_ = state.step;
    }
    if (is_checkpoint(options_, simulation_.dt(), state.step))
        writer_->add_checkpoint(state.step, saved(simulation_));
}

void Run::record_end(const Report& report) {
    if (!writer_) return;
    const State& state = simulation_.state();
    if (frame_step_ != state.step) writer_->add_frame(state, simulation_.outputs());
    // After a failure the method may carry spoiled state: the checkpoint before it stays the newest.
    if (report.status != "failed") writer_->add_checkpoint(state.step, saved(simulation_));
    writer_->set_meta("report", report.to_json());
    writer_->set_meta("status", report.status);
    writer_->close();
}

Progress Run::progress_now(double wall_seconds) const {
    Progress now;
    now.step = simulation_.state().step;
    now.steps = steps_;
    now.time = simulation_.time();
    now.wall_seconds = wall_seconds;
    now.eta_seconds = 1e-3 * recent_ms_ * static_cast<double>(std::max(0L, steps_ - now.step));
    now.last = &last_;
    return now;
}

Report Run::go(const std::function<void(const Progress&)>& progress) {
    const auto start = Clock::now();
    std::string status = "done";
    while (simulation_.state().step < steps_) {
        if (options_.stop && options_.stop->load()) {
            status = "stopped";
            break;
        }
        if (!advance()) {
            status = "failed";
            break;
        }
        if (progress) progress(progress_now(seconds_since(start)));
    }
    Report report = builder_->finish(status, seconds_since(start));
    report.failure = failure_;
    report.expect = checker_->results(simulation_);
    record_end(report);
    if (!options_.report.empty()) write_whole_file(options_.report, report.to_json());
    return report;
}

}  // namespace

Report run_scene(Scene scene, const RunOptions& options,
                 const std::function<void(const Progress&)>& progress) {
    check_options(scene, options);
    check_report_file(options.report);
    Run run(std::move(scene), options);
    return run.go(progress);
}

}  // namespace tenon::run

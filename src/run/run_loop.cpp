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

#include "math/interrupt.hpp"
#include "math/whole_file.hpp"
#include "model/path_piece.hpp"
#include "run/energy_books.hpp"
#include "run/error_shadow.hpp"
#include "run/failure_scene.hpp"
#include "run/hand_over.hpp"
#include "run/pushes.hpp"
#include "run/recording.hpp"
#include "run/report_builder.hpp"
#include "run/scene_warnings.hpp"
#include "run/start_velocities.hpp"
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
    if (scene.seconds > 0 && scene.dt > scene.seconds * (1 + 1e-9))
        throw InputError(
            file, "method.dt",
            fmt::format("a time step of {:g} s is longer than the run of {:g} s", scene.dt, scene.seconds),
            "make dt smaller (--dt) or the run longer (--seconds)");
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
    if (::access(make_folder_of(file).c_str(), W_OK | X_OK) != 0)
        throw InputError(file, "", fmt::format("cannot write the report: {}", std::strerror(errno)),
                         "check that its folder is writable");
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

RecordingRule rule_of(const RunOptions& options) {
    return options.record_every > 0 ? RecordingRule::every(options.record_every)
                                    : RecordingRule::fps(options.fps);
}

bool is_checkpoint(const RunOptions& options, double dt, long step) {
    if (options.checkpoint_every <= 0) return false;
    const auto count = [&](long n) {
        return std::floor(static_cast<double>(n) * dt / options.checkpoint_every + 1e-9);
    };
    return count(step) > count(step - 1);
}

// Everything a run carries from step to step.
class Run {
  public:
    Run(Scene scene, const RunOptions& options)
        : options_(options),
          output_(!options.output.empty() ? options.output : options.resume),
          rule_(rule_of(options)),
          simulation_(std::move(scene), start_of_run()),
          steps_(step_count(simulation_.scene())),
          books_(simulation_.scene(), simulation_.model(), simulation_.state()) {
        StepRow start = measure(simulation_.model(), simulation_.state(), StepReport{}, 0.0);
        start.energy.elastic += joint_energy(simulation_.model(), simulation_.state());
        builder_.emplace(simulation_, start);
        if (options.estimate_error) shadow_.emplace(simulation_.scene());
        checker_.emplace(simulation_, options.count_intersections);
        const std::string warning = rounding_warning(simulation_.scene(), steps_);
        if (!warning.empty()) builder_->warn(warning);
        for (const std::string& doubt : start_warnings(simulation_.scene(), simulation_.model()))
            builder_->warn(doubt);
        for (const std::string& told : handed_over_) builder_->warn(told);
        // articulated says itself what it makes of them
        const std::string misfit = misfit_of_start_velocities(simulation_.model(), simulation_.state());
        if (!misfit.empty() && simulation_.scene().method != "articulated") builder_->warn(misfit);
        if (!options.resume.empty())
            resume();
        else if (!options.output.empty())
            record_start(start);
        simulation_.before_step([this](Simulation& simulation) {
            if (options_.before_step) {
                options_.before_step(simulation);
                note_pushes();
            }
            books_.before_step(simulation.model(), simulation.state(), simulation.dt());
        });
        if (options.record_path && writer_)
            simulation_.set_path_sink([this](const std::vector<Mat34>& q) { add_path_piece(q); });
    }

    Report go(const std::function<void(const Progress&)>& progress);

  private:
    Simulation::Start start_of_run();
    void record_start(const StepRow& start);
    void resume();
    void load(const std::string& file, const std::string& state);
    std::string saved() const;
    void keep_books();
    void estimate_error();
    void check_same_scene(const RunReader& reader) const;
    std::string steps_until_end(const std::function<void(const Progress&)>& progress, std::string& status,
                                bool& interrupted);
    enum class Outcome { stepped, failed, interrupted };
    Outcome advance();
    void keep_state_before_step();
    bool is_checkpoint_due();
    void checkpoint();
    void dump_failure(const State& before, int body);
    void note_pushes();
    void add_path_piece(const std::vector<Mat34>& q);
    void record_end_of_path(const State& state);
    void record(const StepRow& row);
    void record_end(const Report& report, bool interrupted);
    Progress progress_now(double wall_seconds) const;

    const RunOptions& options_;
    std::string output_;  // the run file that is written
    RecordingRule rule_;
    std::vector<std::string> handed_over_;  // what there is to tell of it
    Simulation simulation_;
    long steps_;
    EnergyBooks books_;
    std::optional<ErrorShadow> shadow_;
    std::optional<ReportBuilder> builder_;
    std::optional<ExpectChecker> checker_;
    std::unique_ptr<RunWriter> writer_;
    StepReport last_;
    std::string failure_;
    std::string dumped_;
    bool pushed_ = false;                    // the file says so
    long frame_step_ = -1;                   // step of the newest frame
    std::string state_before_step_;          // of a step that may take long, for when it is interrupted
    std::optional<State> kept_before_step_;  // when a failure is to be dumped
    Clock::time_point checkpointed_ = Clock::now();
    double checkpoint_cost_ = 0.0;   // seconds that the last one took
    std::vector<Mat34> last_piece_;  // of this step's path
    double recent_ms_ = 0.0;
};

void Run::record_start(const StepRow& start) {
    writer_ = std::make_unique<RunWriter>(options_.output, simulation_.scene(), simulation_.model(),
                                          simulation_.state());
    writer_->set_meta("record", rule_.to_json());
    writer_->add_step(start);
    writer_->add_frame(simulation_.state(), simulation_.outputs());
    frame_step_ = simulation_.state().step;
    if (options_.hand_over.empty()) return;
    std::string broken;
    for (const char is_broken : simulation_.state().broken) broken += is_broken ? '1' : '0';
    writer_->set_meta("broken", broken);
    writer_->set_meta("from", handed_over_.front());
    writer_->set_meta("first_step", std::to_string(frame_step_));
}

Simulation::Start Run::start_of_run() {
    if (!options_.resume.empty()) return start_of(RunReader(options_.resume));
    if (options_.hand_over.empty()) return {};
    return [this](const Scene& scene, const Model& model, State& state) {
        const InterruptScope scope(options_.stop);
        hand_over(RunReader(options_.hand_over), options_.from, scene, model, state, handed_over_,
                  options_.preparing);
    };
}

void Run::check_same_scene(const RunReader& reader) const {
    const auto refuse = [&](const std::string& problem) {
        throw InputError(options_.resume, "", problem, "resume with the scene the run was started with");
    };
    if (reader.meta("method") != simulation_.scene().method)
        refuse(fmt::format("was made with method {}, not {}", reader.meta("method"),
                           simulation_.scene().method));
    if (std::strtod(reader.meta("dt").c_str(), nullptr) != simulation_.scene().dt)
        refuse(fmt::format("has time steps of {} s, not {:g} s", reader.meta("dt"), simulation_.scene().dt));
    check_same_bodies(reader, simulation_.model(), "resume with the scene the run was started with");
}

// Goes on from the newest checkpoint, or from the start when the run was ended before the first: into the same file,
// or into a copy when another output is named.
void Run::resume() {
    std::string file = options_.resume;
    long step = 0;
    bool keep_frame = true;
    {
        const RunReader reader(file);
        check_same_scene(reader);
        const std::string state = reader.checkpoint(step);
        for (long i = 1; i < reader.frame_count() && reader.frame_step(i) <= step; ++i)
            checker_->replay(reader.frame(i));
        for (const StepRow& row : reader.steps()) {
            if (row.step == 0 || row.step > step) continue;
            builder_->add(row);
            checker_->replay(row.report);
        }
        if (!state.empty()) load(file, state);
        // The frame at the end of a shorter run is none of this run, unless it was due anyway.
        auto rule = RecordingRule::parse(reader.meta("record"));
        if (rule) {
            keep_frame = step == 0 || rule->records(step, simulation_.dt());
            rule->change(rule_, step);
            rule_ = *rule;
        }
    }
    if (!options_.output.empty() && options_.output != file) {
        copy_run_file(file, options_.output);
        file = options_.output;
    }
    writer_ = RunWriter::reopen(file, step, keep_frame);
    writer_->set_meta("scene", write_scene(simulation_.scene()));
    writer_->set_meta("record", rule_.to_json());
    const RunReader reader(file);
    frame_step_ = reader.frame_count() > 0 ? reader.frame_step(reader.frame_count() - 1) : -1;
}

void Run::load(const std::string& file, const std::string& state) {
    std::istringstream in(state);
    try {
        simulation_.load(in);
        books_.load(simulation_.state(), in);
        if (shadow_ && in.peek() != std::istringstream::traits_type::eof())
            shadow_->load(in);
        else if (shadow_)
            throw InputError(file, "checkpoint", "holds no second run to estimate the error from",
                             "resume without --estimate-error, or run the scene again from the start");
    } catch (const InputError&) {
        throw;
    } catch (const std::exception& error) {
        throw InputError(file, "checkpoint", error.what(), "run the scene again from the start");
    }
}

// A verifier cannot know what the scene does not say: the file tells that something pushed, and how, so that a replay
// pushes the same.
void Run::note_pushes() {
    const State& state = simulation_.state();
    if (!writer_ || state.pushes.empty()) return;
    writer_->set_meta(push_key(state.step + 1), pushes_to_json(state.pushes));
    if (!pushed_) writer_->set_meta("pushed", "yes");
    pushed_ = true;
}

void Run::add_path_piece(const std::vector<Mat34>& q) {
    writer_->add_path_piece(simulation_.state().step + 1, q);
    last_piece_ = q;
}

// A step without pieces of its own was one straight piece.
void Run::record_end_of_path(const State& state) {
    std::vector<std::vector<Vec3>> x;
    for (const ElasticState& body : state.elastic) x.push_back(body.x);
    const std::vector<Mat34> end = path_piece(state.q, x);
    if (last_piece_ != end) writer_->add_path_piece(state.step, end);
}

// A step that is interrupted is lost, and with it what the method remembers: so steps that may take long are entered
// with the state in hand. Short ones are not worth it; the last checkpoint stands in for them.
void Run::keep_state_before_step() {
    constexpr double long_step_ms = 100.0;
    state_before_step_.clear();
    if (writer_ && options_.stop && recent_ms_ > long_step_ms) state_before_step_ = saved();
    if (!options_.dump_failure.empty() && dumped_.empty()) kept_before_step_ = simulation_.state();
}

// All that a run needs to go on as if nothing had interrupted it.
std::string Run::saved() const {
    std::ostringstream out;
    simulation_.save(out);
    books_.save(out);
    if (shadow_) shadow_->save(out);
    return std::move(out).str();
}

void Run::keep_books() {
    if (!books_.kept()) return;
    const EnergyShares shares = books_.after_step(simulation_.model(), simulation_.state(),
                                                  simulation_.outputs(), last_, simulation_.dt());
    const auto named = by_name(shares);
    last_.metrics.insert(last_.metrics.end(), named.begin(), named.end());
}

void Run::estimate_error() {
    if (!shadow_) return;
    const double estimate = shadow_->follow(simulation_);
    if (std::isfinite(estimate))
        last_.metrics.emplace_back("error_estimate", estimate);
    else
        builder_->warn(fmt::format(
            "steps of {:g} s, from which the error is estimated, fail: it is recorded up to there",
            2 * simulation_.dt()));
}

void Run::dump_failure(const State& before, int body) {
    if (options_.dump_failure.empty() || !dumped_.empty()) return;
    const FailureScene failure = failure_scene(simulation_.scene(), simulation_.model(), before, body);
    write_whole_file(options_.dump_failure, write_scene(failure.scene) + "\n");
    dumped_ = options_.dump_failure;
    builder_->warn(fmt::format("{}: {}", dumped_, failure.note));
}

Run::Outcome Run::advance() {
    last_piece_.clear();
    keep_state_before_step();
    const auto start = Clock::now();
    try {
        const InterruptScope scope(options_.stop);
        last_ = simulation_.step();
    } catch (const Interrupted&) {
        return Outcome::interrupted;
    } catch (const StepFailure& error) {
        const int body = error.body();
        const auto& names = simulation_.model().bodies.name;
        failure_ = fmt::format("step {} (from {:g} s): {}", simulation_.state().step + 1, simulation_.time(),
                               error.what());
        if (body >= 0 && body < static_cast<int>(names.size())) {
            const Vec3 at = simulation_.state().q[body].col(3);
            failure_ += fmt::format(", at body '{}' near ({:.6g}, {:.6g}, {:.6g})", names[body], at.x(),
                                    at.y(), at.z());
        }
        dump_failure(simulation_.state(), body);
        return Outcome::failed;
    }
    const double wall_ms = 1e3 * seconds_since(start);
    recent_ms_ = recent_ms_ == 0.0 ? wall_ms : std::max(wall_ms, 0.9 * recent_ms_ + 0.1 * wall_ms);
    keep_books();
    estimate_error();
    StepRow row = measure(simulation_.model(), simulation_.state(), last_, wall_ms);
    row.energy.elastic += joint_energy(simulation_.model(), simulation_.state());
    builder_->add(row);
    checker_->after_step(simulation_, last_);
    record(row);
    if (!last_.converged && kept_before_step_) dump_failure(*kept_before_step_, -1);
    return Outcome::stepped;
}

// By simulated time when asked for, and otherwise often enough that a kill costs little work.
bool Run::is_checkpoint_due() {
    if (is_checkpoint(options_, simulation_.dt(), simulation_.state().step)) return true;
    if (options_.checkpoint_wall <= 0) return false;
    return seconds_since(checkpointed_) > std::max(options_.checkpoint_wall, 20 * checkpoint_cost_);
}

void Run::checkpoint() {
    const auto start = Clock::now();
    writer_->add_checkpoint(simulation_.state().step, saved());
    checkpoint_cost_ = seconds_since(start);
    checkpointed_ = Clock::now();
}

void Run::record(const StepRow& row) {
    if (!writer_) return;
    const State& state = simulation_.state();
    writer_->add_step(row);
    if (options_.record_path) record_end_of_path(state);
    if (rule_.records(state.step, simulation_.dt())) {
        writer_->add_frame(state, simulation_.outputs());
        frame_step_ = state.step;
    }
    if (is_checkpoint_due()) checkpoint();
}

void Run::record_end(const Report& report, bool interrupted) {
    if (!writer_) return;
    const State& state = simulation_.state();
    if (frame_step_ != state.step) writer_->add_frame(state, simulation_.outputs());
    // After a failed or interrupted step the method's own state is spoiled: that from before it is the newest.
    if (interrupted) {
        if (!state_before_step_.empty()) writer_->add_checkpoint(state.step, state_before_step_);
    } else if (report.status != "failed") {
        writer_->add_checkpoint(state.step, saved());
    }
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

// Why writing ended, when a disk is full or a folder is gone in the middle of a run.
std::string Run::steps_until_end(const std::function<void(const Progress&)>& progress, std::string& status,
                                 bool& interrupted) {
    const auto start = Clock::now();
    try {
        while (simulation_.state().step < steps_) {
            if (options_.stop && options_.stop->load()) {
                status = "stopped";
                return {};
            }
            const Outcome outcome = advance();
            interrupted = outcome == Outcome::interrupted;
            if (outcome != Outcome::stepped) {
                status = interrupted ? "stopped" : "failed";
                return {};
            }
            if (progress) progress(progress_now(seconds_since(start)));
        }
    } catch (const InputError& error) {
        if (!writer_ || error.file() != output_) throw;
        status = "failed";
        return error.what();
    }
    return {};
}

Report Run::go(const std::function<void(const Progress&)>& progress) {
    const auto start = Clock::now();
    std::string status = "done";
    bool interrupted = false;
    std::string unwritten = steps_until_end(progress, status, interrupted);
    Report report = builder_->finish(status, seconds_since(start));
    report.failure = unwritten.empty() ? failure_ : unwritten;
    report.expect = checker_->results(simulation_);
    const std::string skipped = checker_->skipped(simulation_);
    if (!skipped.empty()) report.warnings.push_back(skipped);
    report.dumped = dumped_;
    if (unwritten.empty()) {
        try {
            record_end(report, interrupted);
        } catch (const InputError& error) {
            report.status = "failed";
            report.failure = error.what();
        }
    }
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

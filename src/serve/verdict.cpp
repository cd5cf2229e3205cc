#include "serve/verdict.hpp"

#include <algorithm>
#include <functional>

#include <nlohmann/json.hpp>

#include "serve/model_json.hpp"
#include "tenon/error.hpp"
#include "verify/verify.hpp"

namespace tenon::serve {
namespace {

struct Cancelled {};

FrameVerdict judged(const verify::Result& result) {
    if (!result.clean()) return FrameVerdict::violated;
    return result.unproven > 0 ? FrameVerdict::unproven : FrameVerdict::proven;
}

const char* in_words(FrameVerdict verdict) {
    return verdict == FrameVerdict::proven     ? "proven"
           : verdict == FrameVerdict::unproven ? "unproven"
                                               : "violated";
}

// Which frames a verdict is about: halves are verified again as long as they are not proven. A frame answers for
// itself and for the motion that leads to it.
class Locator {
  public:
    Locator(const run::RunReader& run, const std::function<void(long, long)>& checkpoint)
        : run_(run), checkpoint_(checkpoint) {}

    void locate(long first, long last, std::string& frames) {
        verify::Options options;
        options.first_frame = std::max(0L, first - 1);
        options.last_frame = last;
        options.progress = checkpoint_;
        const FrameVerdict verdict = judged(verify::verify_run(run_, options));
        if (verdict == FrameVerdict::proven || first == last) {
            std::fill(frames.begin() + first, frames.begin() + last + 1, static_cast<char>(verdict));
            return;
        }
        const long middle = (first + last) / 2;
        locate(first, middle, frames);
        locate(middle + 1, last, frames);
    }

  private:
    const run::RunReader& run_;
    const std::function<void(long, long)>& checkpoint_;
};

}  // namespace

void Verdict::start(const std::string& file, long generation) {
    {
        const std::lock_guard lock(mutex_);
        if (state_ == "running") return;
    }
    cancel();
    const std::lock_guard lock(mutex_);
    generation_ = generation;
    state_ = "running";
    progress_ = 0;
    frames_.clear();
    verdict_.clear();
    result_.clear();
    problem_.clear();
    stop_ = false;
    thread_ = std::thread([this, file] { work(file); });
}

void Verdict::cancel() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
}

void Verdict::work(const std::string& file) {
    try {
        const run::RunReader run(file);
        const std::function<void(long, long)> whole = [&](long done, long all) {
            if (stop_) throw Cancelled{};
            const std::lock_guard lock(mutex_);
            progress_ = static_cast<double>(done) / static_cast<double>(std::max(1L, all));
        };
        verify::Options options;
        options.progress = whole;
        const verify::Result result = verify::verify_run(run, options);
        const FrameVerdict verdict = judged(result);
        std::string frames(static_cast<std::size_t>(result.frames), static_cast<char>(FrameVerdict::proven));
        {
            const std::lock_guard lock(mutex_);
            verdict_ = in_words(verdict);
            result_ = result.to_json();
        }
        if (verdict != FrameVerdict::proven) {
            const std::function<void(long, long)> checkpoint = [&](long, long) {
                if (stop_) throw Cancelled{};
            };
            Locator locator(run, checkpoint);
            constexpr long block = 16;
            for (long first = 0; first < result.frames; first += block)
                locator.locate(first, std::min(first + block, result.frames) - 1, frames);
            // what only the whole run shows (momentum that drifts) is marked where the finding says it began
            for (const verify::Finding& finding : result.findings)
                if (finding.kind != "motion" && finding.kind != "velocity" && finding.frame >= 0 &&
                    finding.frame < result.frames)
                    frames[static_cast<std::size_t>(finding.frame)] =
                        static_cast<char>(FrameVerdict::violated);
        }
        const std::lock_guard lock(mutex_);
        frames_ = std::move(frames);
        state_ = "done";
        progress_ = 1;
    } catch (const Cancelled&) {
        const std::lock_guard lock(mutex_);
        state_ = "none";
    } catch (const std::exception& error) {
        const std::lock_guard lock(mutex_);
        state_ = "failed";
        problem_ = error.what();
    }
}

std::string Verdict::json() const {
    const std::lock_guard lock(mutex_);
    nlohmann::json answer = {{"state", state_},     {"progress", progress_}, {"frames", frames_},
                             {"verdict", verdict_}, {"problem", problem_},   {"generation", generation_}};
    answer["result"] = result_.empty() ? nlohmann::json() : nlohmann::json::parse(result_, nullptr, false);
    return dump(answer);
}

}  // namespace tenon::serve

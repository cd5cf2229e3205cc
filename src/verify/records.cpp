#include "verify/records.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "run/recording.hpp"

namespace tenon::verify {
namespace {

// Times are products of a whole number and the step: nothing but rounding may differ.
bool is_time_of(double time, long step, double dt) {
    return std::abs(time - static_cast<double>(step) * dt) <= 1e-9 * std::max(dt, std::abs(time));
}

}  // namespace

RecordAudit::RecordAudit(const run::RunReader& run, double dt, long steps)
    : run_(run),
      dt_(dt),
      planned_(steps),
      first_(std::max(0L, std::strtol(run.meta("first_step").c_str(), nullptr, 10))),
      frames_(run.frame_list()),
      steps_(run.steps()) {
    if (!run.joints().empty()) drives_ = std::make_unique<run::JointDriveReader>(run);
}

const run::StepRow* RecordAudit::row_of(long step) const {
    const auto row = std::lower_bound(steps_.begin(), steps_.end(), step,
                                      [](const run::StepRow& r, long s) { return r.step < s; });
    return row != steps_.end() && row->step == step ? &*row : nullptr;
}

void RecordAudit::check(const Options& options, Result& result, FindingList& findings) const {
    check_frames(result, findings);
    check_hashes(result, findings);
    check_rule(result, findings);
    check_steps(options, result, findings);
    check_end(result, findings);
}

void RecordAudit::check_frames(Result& result, FindingList& findings) const {
    const auto wrong = [&](const run::FrameEntry& frame, const std::string& text) {
        ++result.record_errors;
        findings.add(finding("frames", frame.id, std::isfinite(frame.time) ? frame.time : 0.0, "", text));
    };
    const std::string start = run_.meta("first_step");
    if (start.find_first_not_of("0123456789") != std::string::npos) {
        ++result.record_errors;
        findings.add(finding("frames", 0, 0.0, "", "the step that it starts at is not a number"));
    }
    for (std::size_t i = 0; i < frames_.size(); ++i) {
        const run::FrameEntry& frame = frames_[i];
        if (frame.id != static_cast<long>(i)) {
            wrong(frame, fmt::format("frame {} is missing", i));
            break;
        }
        if (i == 0 && frame.step != first_) wrong(frame, "the start is missing");
        if (i > 0 && frame.step <= frames_[i - 1].step)
            wrong(frame, "frames are not in the order of their steps");
        if (!is_time_of(frame.time, frame.step, dt_))
            wrong(frame, fmt::format("step {} is at {:.9g} s, not at {:.9g} s", frame.step,
                                     static_cast<double>(frame.step) * dt_, frame.time));
        if (!row_of(frame.step)) wrong(frame, "its step was not recorded");
    }
}

// Files of older programs have no hashes at all; one that has some has them all.
void RecordAudit::check_hashes(Result& result, FindingList& findings) const {
    const auto without = [](const run::FrameEntry& frame) { return frame.hash.empty(); };
    const auto missing = std::count_if(frames_.begin(), frames_.end(), without);
    if (missing == 0) return;
    if (missing == static_cast<long>(frames_.size())) {
        result.warnings.push_back(
            "the file holds no hashes of its frames: nothing says that they are as recorded");
        result.hashes_known = false;
        return;
    }
    const auto first = std::find_if(frames_.begin(), frames_.end(), without);
    ++result.record_errors;
    findings.add(finding("hash", first->id, first->time, "", fmt::format("{} frames have no hash", missing)));
}

// Which steps have frames follows from the rule the run was recorded by, the start and the end.
void RecordAudit::check_rule(Result& result, FindingList& findings) const {
    const std::string told = run_.meta("record");
    const auto rule = run::RecordingRule::parse(told);
    if (!rule && !told.empty()) {
        ++result.record_errors;
        findings.add(
            finding("frames", -1, 0.0, "", "what the file says of which steps have frames is no rule"));
        return;
    }
    if (!rule) {
        result.warnings.push_back(
            "the file does not say which steps were to be recorded: missing frames go unseen");
        result.rule_known = false;
        return;
    }
    if (frames_.empty()) return;
    std::size_t next = 0;
    const long last = frames_.back().step;
    for (long step = first_; step <= last && step <= first_ + 100'000'000; ++step) {
        const bool due = step == first_ || step == last || rule->records(step, dt_);
        while (next < frames_.size() && frames_[next].step < step) ++next;
        const bool there = next < frames_.size() && frames_[next].step == step;
        if (due == there) continue;
        ++result.record_errors;
        findings.add(
            finding("frames", static_cast<long>(next), static_cast<double>(step) * dt_, "",
                    fmt::format("step {} {}", step,
                                due ? "should have a frame and has none" : "has a frame that was not due")));
    }
}

void RecordAudit::check_steps(const Options& options, Result& result, FindingList& findings) const {
    const auto wrong = [&](const run::StepRow& row, const std::string& text) {
        ++result.record_errors;
        findings.add(finding("steps", -1, static_cast<double>(row.step) * dt_, "", text));
    };
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const run::StepRow& row = steps_[i];
        if (row.step != first_ + static_cast<long>(i)) {
            wrong(row, fmt::format("step {} is missing", first_ + static_cast<long>(i)));
            break;
        }
        if (!is_time_of(row.time, row.step, dt_))
            wrong(row, fmt::format("step {} has a wrong time", row.step));
        if (row.report.converged) continue;
        ++result.unconverged_steps;
        if (options.allow_unconverged) continue;
        ++result.record_errors;
        findings.add(
            finding("unconverged", -1, row.time, "", fmt::format("step {} did not converge", row.step)));
    }
}

void RecordAudit::check_end(Result& result, FindingList& findings) const {
    result.status = run_.meta("status");
    const long last = steps_.empty() ? 0 : steps_.back().step;
    const auto wrong = [&](const std::string& text) {
        ++result.record_errors;
        findings.add(finding("status", -1, static_cast<double>(last) * dt_, "", text));
    };
    if (result.status == "failed") wrong("the run failed");
    if (result.status != "done" && result.status != "stopped" && result.status != "running" &&
        result.status != "failed")
        wrong("the run has no status");
    if (!frames_.empty() && result.status != "running" && frames_.back().step != last)
        wrong(fmt::format("the last frame is of step {}, the last step is {}", frames_.back().step, last));
    if (result.status == "done" && planned_ >= 0 && last != planned_)
        wrong(fmt::format("the run is marked done after {} of {} steps", last, planned_));
    if (result.status == "running") {
        result.warnings.push_back("the run is still going, or was killed: only what is there was checked");
        return;
    }
    const auto report = nlohmann::json::parse(run_.meta("report"), nullptr, false);
    if (!report.is_object()) {
        wrong("the run ended without a report");
        return;
    }
    const auto differs = [&](const char* key, const nlohmann::json& is) {
        const auto found = report.find(key);
        if (found == report.end() || *found != is)
            wrong(fmt::format("the report's '{}' is not what the run holds", key));
    };
    differs("steps", last - first_);
    differs("status", result.status);
    differs("method", run_.meta("method"));
    differs("unconverged_steps", result.unconverged_steps);
    differs("bodies", run_.bodies().size());
}

void RecordAudit::check_frame(std::size_t place, const run::Frame& frame, Result& result,
                              FindingList& findings) const {
    const long index = frames_[place].id;
    const auto wrong = [&](const char* kind, const std::string& text) {
        ++result.record_errors;
        findings.add(finding(kind, index, frame.time, "", text));
    };
    const auto& entry = frames_[place];
    if (!entry.hash.empty() && entry.hash != run::state_hash(frame))
        wrong("hash", "is not the frame whose hash was recorded");
    if (const run::StepRow* row = row_of(frame.step)) {
        // `impulse` counts points that came near beside those that touch; the others record each one they count.
        const auto contacts = static_cast<long>(frame.contacts.size());
        const bool fits = run_.meta("method") == "impulse" ? contacts <= row->report.contacts
                                                           : contacts == row->report.contacts;
        if (!fits && frame.step > 0)
            wrong("contacts",
                  fmt::format("holds {} contacts, its step made {}", contacts, row->report.contacts));
    }
    if (drives_) drives_->at(index);  // throws when they are damaged
    for (const Contact& contact : frame.contacts)
        if (!contact.point.allFinite() || !contact.normal.allFinite() || !contact.force.allFinite()) {
            wrong("contacts", "holds a contact that is not finite");
            break;
        }
}

}  // namespace tenon::verify

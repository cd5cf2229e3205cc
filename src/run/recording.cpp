#include "run/recording.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tenon::run {
namespace {

// Two multiplications and a rotation per eight bytes: quick enough to hash every frame of a large scene.
class Hash {
  public:
    void add(const void* data, std::size_t bytes) {
        const auto* at = static_cast<const unsigned char*>(data);
        for (; bytes >= 8; at += 8, bytes -= 8) {
            std::uint64_t word;
            std::memcpy(&word, at, 8);
            mix(word);
        }
    }
    template <class T>
    void add_list(const std::vector<T>& values) {
        static_assert(sizeof(T) % 8 == 0);
        mix(values.size());
        if (!values.empty()) add(values.data(), values.size() * sizeof(T));
    }
    void mix(std::uint64_t word) {
        word *= 0x9E3779B97F4A7C15u;
        word ^= word >> 29;
        state_ = (state_ ^ word) * 0xD6E8FEB86659FD93u;
        state_ ^= state_ >> 32;
    }
    std::uint64_t value() const { return state_; }

  private:
    std::uint64_t state_ = 0x74656E6F6E;
};

}  // namespace

RecordingRule RecordingRule::every(long steps) {
    RecordingRule rule;
    rule.parts_.push_back({0, steps, 0.0});
    return rule;
}

RecordingRule RecordingRule::fps(double frames) {
    RecordingRule rule;
    rule.parts_.push_back({0, 0, frames});
    return rule;
}

// Which step it is depends on nothing but the rule and the step's length.
bool RecordingRule::records(long step, double dt) const {
    const Part* part = &parts_.front();
    for (const Part& other : parts_)
        if (other.after < step) part = &other;
    if (part->every > 0) return step % part->every == 0;
    const auto frames = [&](long n) { return std::floor(static_cast<double>(n) * dt * part->fps + 1e-9); };
    return frames(step) > frames(step - 1);
}

void RecordingRule::change(const RecordingRule& to, long after) {
    std::erase_if(parts_, [&](const Part& part) { return part.after > 0 && part.after >= after; });
    Part next = to.parts_.front();
    next.after = parts_.back().after;
    if (next == parts_.back()) return;
    next.after = after;
    if (after == 0) parts_.clear();
    parts_.push_back(next);
}

std::string RecordingRule::to_json() const {
    nlohmann::json list = nlohmann::json::array();
    for (const Part& part : parts_)
        list.push_back(part.every > 0 ? nlohmann::json{{"after", part.after}, {"every", part.every}}
                                      : nlohmann::json{{"after", part.after}, {"fps", part.fps}});
    return list.dump();
}

std::optional<RecordingRule> RecordingRule::parse(const std::string& text) {
    const auto list = nlohmann::json::parse(text, nullptr, false);
    if (!list.is_array() || list.empty()) return std::nullopt;
    RecordingRule rule;
    for (const auto& entry : list) {
        if (!entry.is_object() || !entry.contains("after") || !entry["after"].is_number_integer())
            return std::nullopt;
        Part part{entry["after"].get<long>(), 0, 0.0};
        if (entry.contains("every") && entry["every"].is_number_integer())
            part.every = entry["every"].get<long>();
        else if (entry.contains("fps") && entry["fps"].is_number())
            part.fps = entry["fps"].get<double>();
        const bool usable = part.after >= 0 && part.every >= 0 && (part.every > 0 || part.fps > 0);
        if (!usable || (rule.parts_.empty() ? part.after != 0 : part.after <= rule.parts_.back().after))
            return std::nullopt;
        rule.parts_.push_back(part);
    }
    return rule;
}

std::string state_hash(const Frame& frame) {
    Hash hash;
    hash.mix(static_cast<std::uint64_t>(frame.step));
    hash.add(&frame.time, sizeof frame.time);
    hash.add_list(frame.q);
    hash.add_list(frame.rate);
    for (const auto& x : frame.x) hash.add_list(x);
    for (const auto& v : frame.v) hash.add_list(v);
    return fmt::format("{:016x}", hash.value());
}

}  // namespace tenon::run

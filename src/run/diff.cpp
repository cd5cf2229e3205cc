#include "run/diff.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "run/frame_difference.hpp"

namespace tenon::run {

std::string RunDifference::to_json() const {
    nlohmann::ordered_json out{{"first", first},
                               {"second", second},
                               {"same", same},
                               {"settings", settings},
                               {"frames", frames},
                               {"frames_first", frames_first},
                               {"frames_second", frames_second},
                               {"differing", differing}};
    if (differing > 0)
        out["from"] = {{"step", first_step},
                       {"time", first_time},
                       {"body", body},
                       {"quantity", quantity},
                       {"text", text}};
    out["largest"] = largest;
    out["last_largest"] = last_largest;
    return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

RunDifference diff_runs(const RunReader& a, const RunReader& b) {
    RunDifference result;
    result.first = a.file();
    result.second = b.file();
    for (const char* key : {"name", "method", "dt", "gravity", "scene", "status", "record"})
        if (a.meta(key) != b.meta(key)) result.settings.emplace_back(key);
    const std::vector<std::string> bodies = body_names(a), elastic = elastic_names(a);
    const std::vector<FrameEntry> of_a = a.frame_list(), of_b = b.frame_list();
    result.frames_first = static_cast<long>(of_a.size());
    result.frames_second = static_cast<long>(of_b.size());
    auto other = of_b.begin();
    for (const FrameEntry& entry : of_a) {
        while (other != of_b.end() && other->step < entry.step) ++other;
        if (other == of_b.end()) break;
        if (other->step != entry.step) continue;
        ++result.frames;
        const auto d = difference(a.frame(entry.id), b.frame(other->id), bodies, elastic);
        result.last_largest = d ? d->largest : 0.0;
        if (!d) continue;
        if (result.differing++ == 0) {
            result.first_step = entry.step;
            result.first_time = entry.time;
            result.body = d->body;
            result.quantity = d->quantity;
            result.text = d->text();
        }
        result.largest = std::max(result.largest, d->largest);
    }
    result.same = result.differing == 0 && result.frames == result.frames_first &&
                  result.frames == result.frames_second;
    return result;
}

}  // namespace tenon::run

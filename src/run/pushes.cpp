#include "run/pushes.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tenon/error.hpp"

namespace tenon::run {
namespace {

using nlohmann::json;

json numbers(const Vec3& v) {
    return {v.x(), v.y(), v.z()};
}

Vec3 vector_of(const json& list) {
    return {list.at(0).get<double>(), list.at(1).get<double>(), list.at(2).get<double>()};
}

}  // namespace

std::string push_key(long step) {
    return fmt::format("push.{}", step);
}

// Numbers are written with as many digits as it takes to read back the same bits.
std::string pushes_to_json(const std::vector<ForceSpec>& pushes) {
    json list = json::array();
    for (const ForceSpec& push : pushes) {
        json entry{{"body", push.body}, {"force", numbers(push.force)}, {"torque", numbers(push.torque)}};
        if (push.point) entry["point"] = numbers(*push.point);
        if (push.body_frame) entry["body_frame"] = true;
        list.push_back(std::move(entry));
    }
    return list.dump();
}

std::vector<ForceSpec> pushes_of(const RunReader& reader, long step) {
    std::vector<ForceSpec> pushes;
    const std::string text = reader.meta(push_key(step));
    if (text.empty()) return pushes;
    try {
        for (const json& entry : json::parse(text)) {
            ForceSpec push;
            push.body = entry.at("body").get<int>();
            push.force = vector_of(entry.at("force"));
            push.torque = vector_of(entry.at("torque"));
            if (entry.contains("point")) push.point = vector_of(entry["point"]);
            push.body_frame = entry.value("body_frame", false);
            if (push.body < 0 || push.body >= static_cast<int>(reader.bodies().size()))
                throw InputError(reader.file(), push_key(step), "names a body that is not there",
                                 "the file is damaged; record the run again");
            pushes.push_back(std::move(push));
        }
    } catch (const json::exception&) {
        throw InputError(reader.file(), push_key(step), "is not a list of forces",
                         "the file is damaged; record the run again");
    }
    return pushes;
}

}  // namespace tenon::run

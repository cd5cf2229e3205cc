#include "verify/facts.hpp"

#include <nlohmann/json.hpp>

#include "tenon/error.hpp"

namespace tenon::verify {
namespace {

using Json = nlohmann::json;

bool holds_entries(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && !found->empty();
}

bool exchanges_momentum(const run::RunReader& run, const Json& scene) {
    for (const run::BodyInfo& body : run.bodies())
        if (body.type != BodyType::dynamic_body && body.collides) return true;
    for (const run::JointInfo& joint : run.joints()) {
        if (joint.type == JointType::coupling) continue;
        for (const int body : joint.bodies)
            if (body < 0 || run.bodies()[body].type != BodyType::dynamic_body) return true;
    }
    if (holds_entries(scene, "forces") || holds_entries(scene, "wind")) return true;
    for (const char* list : {"bodies", "elastic"}) {
        const auto found = scene.find(list);
        if (found == scene.end()) continue;
        for (const Json& body : *found)
            if (body.contains("fixed") || holds_entries(body, "pins")) return true;
    }
    return false;
}

}  // namespace

nlohmann::json scene_of(const run::RunReader& run) {
    Json scene = Json::parse(run.scene_json(), nullptr, false);
    if (scene.is_discarded() || !scene.is_object())
        throw InputError(run.file(), "meta.scene", "is not readable as JSON", "run the scene again");
    return scene;
}

SceneFacts facts_of(const run::RunReader& run, const nlohmann::json& scene) {
    SceneFacts facts;
    facts.gravity = Vec3(0, -9.81, 0);
    const Json gravity = Json::parse(run.meta("gravity"), nullptr, false);
    if (gravity.is_array() && gravity.size() == 3)
        for (int k = 0; k < 3; ++k) facts.gravity[k] = gravity[k].get<double>();
    facts.dt = std::strtod(run.meta("dt").c_str(), nullptr);
    facts.closed = !exchanges_momentum(run, scene);
    facts.free_from.assign(run.bodies().size(), 1e300);
    const auto bodies = scene.find("bodies");
    if (bodies != scene.end() && bodies->size() == facts.free_from.size())
        for (std::size_t i = 0; i < bodies->size(); ++i) {
            const auto until = (*bodies)[i].find("kinematic_until");
            // Released at the start of a step, so first measured as free at its end.
            if (until != (*bodies)[i].end()) facts.free_from[i] = until->get<double>() + facts.dt;
        }
    return facts;
}

}  // namespace tenon::verify

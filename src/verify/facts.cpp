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

// Someone pulled at bodies while it ran, as the viewer lets them.
bool was_pushed(const run::RunReader& run) {
    return !run.meta("pushed").empty();
}

bool exchanges_momentum(const run::RunReader& run, const Json& scene) {
    for (const run::BodyInfo& body : run.bodies())
        if (body.type != BodyType::dynamic_body && body.collides) return true;
    for (const run::JointInfo& joint : run.joints()) {
        if (joint.type == JointType::coupling) continue;
        for (const int body : joint.bodies)
            if (body < 0 || run.bodies()[body].type != BodyType::dynamic_body) return true;
    }
    if (was_pushed(run) || holds_entries(scene, "forces") || holds_entries(scene, "wind")) return true;
    for (const char* list : {"bodies", "elastic"}) {
        const auto found = scene.find(list);
        if (found == scene.end()) continue;
        for (const Json& body : *found)
            if (body.contains("fixed") || holds_entries(body, "pins")) return true;
    }
    return false;
}

bool adds_energy(const run::RunReader& run, const Json& scene) {
    for (const run::BodyInfo& body : run.bodies())
        if (body.type == BodyType::kinematic_body) return true;
    if (!run.elastic().empty() || was_pushed(run)) return true;
    for (const char* key : {"forces", "wind", "actuators"})
        if (holds_entries(scene, key)) return true;
    const auto joints = scene.find("joints");
    if (joints == scene.end()) return false;
    for (const Json& joint : *joints) {
        for (const char* key : {"motor", "spring", "twist", "bend", "limits", "armature"})
            if (joint.contains(key)) return true;
        if (holds_entries(joint, "drives")) return true;
    }
    return false;
}

// Bodies of rigid methods keep their shape to rounding; stiff ones give a little, and more where the scene says that it is meant.
std::vector<double> strain_allowed(const run::RunReader& run, const Json& scene) {
    const std::string method = run.meta("method");
    const bool rigid = method == "impulse" || method == "volume" || method == "adaptive";
    std::vector<double> allowed(run.bodies().size(), rigid ? 1e-9 : 1e-2);
    const auto bodies = scene.find("bodies"), materials = scene.find("materials");
    if (rigid || bodies == scene.end() || materials == scene.end() || bodies->size() != allowed.size())
        return allowed;
    for (std::size_t i = 0; i < allowed.size(); ++i) {
        const auto material = materials->find((*bodies)[i].value("material", "default"));
        if (material != materials->end() && material->contains("young"))
            allowed[i] = std::max(allowed[i], material->value("max_strain", 0.0));
    }
    return allowed;
}

}  // namespace

bool never_overlaps(const std::string& method) {
    return method != "impulse" && method != "volume" && method != "adaptive" && method != "articulated";
}

bool names_files(const nlohmann::json& scene) {
    if (!scene.is_structured()) return false;
    for (const auto& [key, value] : scene.items())
        if ((key == "mesh" && value.is_string()) || names_files(value)) return true;
    return false;
}

nlohmann::json scene_of(const run::RunReader& run) {
    Json scene = Json::parse(run.scene_json(), nullptr, false);
    if (scene.is_discarded() || !scene.is_object())
        throw InputError(run.file(), "meta.scene", "is not readable as JSON", "run the scene again");
    return scene;
}

SceneFacts facts_of(const run::RunReader& run, const nlohmann::json& scene) {
    SceneFacts facts;
    facts.gravity = Vec3(0, -9.81, 0);
    const auto gravity = scene.find("gravity");  // the scene's, not the file's copy of it
    if (gravity != scene.end() && gravity->is_array() && gravity->size() == 3)
        for (int k = 0; k < 3; ++k) facts.gravity[k] = (*gravity)[k].get<double>();
    facts.dt = std::strtod(run.meta("dt").c_str(), nullptr);
    facts.closed = !exchanges_momentum(run, scene);
    facts.pushed = was_pushed(run);
    facts.has_sources = adds_energy(run, scene);
    facts.allowed_strain = strain_allowed(run, scene);
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

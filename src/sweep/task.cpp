#include "sweep/task.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scene/value.hpp"
#include "sweep/samples.hpp"
#include "tenon/builtin.hpp"
#include "tenon/error.hpp"

namespace tenon::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Every text in a scene that names a file beside it: meshes, tetrahedra, whatever the format may yet hold.
void collect_files(const scene::Value& value, const fs::path& folder, std::set<std::string>& files) {
    if (value.is_text()) {
        std::error_code error;
        const fs::path path = folder / value.text();
        if (!value.text().empty() && value.text().size() < 4096 && fs::is_regular_file(path, error))
            files.insert(path.lexically_normal().string());
    } else if (value.is_list()) {
        for (const scene::Value& entry : value.list()) collect_files(entry, folder, files);
    } else if (value.is_object()) {
        for (const scene::Member& member : value.object()) collect_files(member.value, folder, files);
    }
}

std::set<std::string> files_of_scene(const std::string& file) {
    std::set<std::string> files;
    collect_files(scene::parse_json(scene::read_text_file(file), file), fs::path(file).parent_path(), files);
    return files;
}

// What the scene's files hold, in one digest; "" for built-in scenes, which belong to the version.
std::string scene_digest(const Plan& plan, const std::string& scene) {
    if (find_builtin(scene)) return {};
    const std::string file = scene_source(plan, scene);
    std::error_code error;
    if (!fs::exists(file, error)) load_scene(file);  // throws, and names the nearest built-in
    std::string all = digest(scene::read_text_file(file));
    for (const std::string& part : files_of_scene(file)) all += digest(scene::read_text_file(part));
    return digest(all);
}

std::string scene_path(const Plan& plan, std::size_t index) {
    return plan.scenes.size() == 1 ? "scene" : fmt::format("scenes[{}]", index);
}

// Spec parts that all tasks of a scene share.
std::string common_spec(const Plan& plan, std::size_t scene, const std::string& version) {
    Json spec;
    spec["tenon"] = version;
    spec["scene"] = plan.scenes[scene];
    try {
        spec["files"] = scene_digest(plan, plan.scenes[scene]);
    } catch (const InputError& error) {
        throw InputError(plan.file, scene_path(plan, scene), error.what());
    }
    if (plan.record_every > 0)
        spec["record_every"] = plan.record_every;
    else
        spec["fps"] = plan.fps;
    if (plan.allow_unconverged) spec["allow_unconverged"] = true;
    for (const ResultSpec& result : plan.results) spec["results"][result.name] = result.expression;
    return spec.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void finish(Task& task, const std::string& common) {
    std::stable_partition(task.overrides.begin(), task.overrides.end(),
                          [](const Override& entry) { return entry.key == "method"; });
    Json set = Json::array();
    for (const Override& entry : task.overrides) set.push_back({entry.key, entry.value});
    task.spec = common + set.dump(-1, ' ', false, Json::error_handler_t::replace);
    task.key = digest(task.spec);
}

}  // namespace

std::string scene_source(const Plan& plan, const std::string& scene) {
    if (find_builtin(scene)) return scene;
    const fs::path path = fs::path(plan.folder) / scene;
    std::error_code error;
    // a name without a file is left as it is, so that the error can name the nearest built-in
    if (!fs::exists(path, error) && scene.find('/') == std::string::npos && !scene.ends_with(".json"))
        return scene;
    return path.string();
}

std::vector<std::string> files_of(const Plan& plan) {
    std::set<std::string> all = {fs::absolute(plan.file).lexically_normal().string()};
    for (const std::string& scene : plan.scenes) {
        if (find_builtin(scene)) continue;
        const std::string file = fs::absolute(scene_source(plan, scene)).lexically_normal().string();
        all.insert(file);
        all.merge(files_of_scene(file));
    }
    return {all.begin(), all.end()};
}

std::vector<Task> make_tasks(const Plan& plan, const std::string& version) {
    const std::vector<std::string> columns = parameter_columns(plan);
    const std::vector<std::vector<Cell>> rows = samples(plan);
    const std::size_t methods = std::max<std::size_t>(1, plan.methods.size());
    const std::size_t seeds = std::max<std::size_t>(1, plan.seeds.size());
    std::vector<Task> tasks;
    for (std::size_t s = 0; s < plan.scenes.size(); ++s) {
        const std::string common = common_spec(plan, s, version);
        for (std::size_t m = 0; m < methods; ++m)
            for (const std::vector<Cell>& row : rows)
                for (std::size_t k = 0; k < seeds; ++k) {
                    Task& task = tasks.emplace_back();
                    task.number = static_cast<long>(tasks.size()) - 1;
                    task.scene = plan.scenes[s];
                    if (!plan.methods.empty()) task.values.emplace_back(plan.methods[m]);
                    if (!plan.seeds.empty()) task.values.emplace_back(static_cast<double>(plan.seeds[k]));
                    task.values.insert(task.values.end(), row.begin(), row.end());
                    task.overrides = plan.set;
                    for (std::size_t i = 0; i < columns.size(); ++i)
                        if (!std::holds_alternative<std::monostate>(task.values[i]))
                            task.overrides.push_back({columns[i], plain_text(task.values[i])});
                    finish(task, common);
                }
    }
    return tasks;
}

std::string digest(std::string_view bytes) {
    std::uint64_t a = 0xcbf29ce484222325ULL, b = 0x6c62272e07bb0142ULL;
    for (const char c : bytes) {
        a = (a ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
        b = (b ^ static_cast<unsigned char>(c) ^ (b >> 47)) * 0x9e3779b97f4a7c15ULL;
    }
    return fmt::format("{:016x}{:016x}", a, b);
}

std::uint64_t SampleRandom::next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

double SampleRandom::unit() {
    return static_cast<double>(next() >> 11) * 0x1p-53;
}

std::size_t SampleRandom::below(std::size_t end) {
    // the bias of taking the product is below end / 2^53: nothing for a sample
    return std::min(static_cast<std::size_t>(unit() * static_cast<double>(end)), end - 1);
}

}  // namespace tenon::sweep

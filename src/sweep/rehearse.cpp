#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "run/series.hpp"
#include "sweep/make_run.hpp"
#include "tenon/error.hpp"

namespace tenon::sweep {
namespace {

// How many runs of a scene may fail before the plan is taken to be wrong.
constexpr int most_tries = 8;

// Series of phases and metrics appear with the first step: the rehearsal makes none.
bool appears_later(const std::string& series) {
    return series.starts_with("phase.") || series.starts_with("figure.") || series.starts_with("sensor.");
}

void check_sensor(const Plan& plan, const ResultSpec& result, const Scene& scene) {
    if (!result.field.starts_with("sensor.")) return;
    const std::string rest = result.field.substr(7);
    std::vector<std::string> names;
    for (const SensorSpec& sensor : scene.sensors) {
        if (rest == sensor.name || rest.starts_with(sensor.name + ".")) return;
        names.push_back(sensor.name);
    }
    throw InputError(
        plan.file, "results." + result.name,
        fmt::format("there is no series '{}' in {}", result.field, scene.name),
        names.empty() ? "the scene has no sensors" : "name one of its sensors; " + suggestion(rest, names));
}

void check_series(const Plan& plan, const run::RunReader& reader, const Scene& scene) {
    for (const ResultSpec& result : plan.results) {
        if (result.kind != ResultSpec::Kind::series) continue;
        check_sensor(plan, result, scene);
        if (appears_later(result.field)) continue;
        try {
            run::read_series(reader, {result.field});
        } catch (const InputError& error) {
            throw InputError(plan.file, "results." + result.name,
                             fmt::format("there is no series '{}' in {}", result.field, scene.name),
                             error.cure());
        }
    }
}

// Where in the plan an error of loading comes from.
InputError in_plan(const Plan& plan, const Task& task, const InputError& error) {
    const std::string key = error.path().starts_with("--set ") ? error.path().substr(6) : std::string();
    if (!key.empty()) {
        std::string place = plan.sampling == Sampling::list ? "runs" : "parameters";
        for (const Override& entry : plan.set)
            if (entry.key == key) place = "set";
        if (!plan.seeds.empty() && key == plan.seed_parameter)
            return InputError(plan.file, "seeds",
                              fmt::format("{} takes no '{}': {}", task.scene, key, error.problem()),
                              "name what the seed sets as seed_parameter, or leave seeds away");
        return InputError(plan.file, place + "." + key, fmt::format("{}: {}", task.scene, error.problem()),
                          error.cure());
    }
    return InputError(plan.file, plan.scenes.size() == 1 ? "scene" : "scenes", error.what());
}

class Rehearsal {
  public:
    Rehearsal(const Plan& plan, const Folder& folder, const Tools& tools)
        : plan_(plan), folder_(folder), tools_(tools) {}

    void try_task(const Task& task) {
        Group& group = groups_[task.scene + "\n" + (plan_.methods.empty() ? "" : plain_text(task.values[0]))];
        if (group.good || group.tries >= most_tries) return;
        ++group.tries;
        Scene scene;
        try {
            scene = load_scene(scene_source(plan_, task.scene), task.overrides);
            scene.seconds = 0;
            scene.expect.clear();
            run_no_steps(task, scene);
            group.good = true;
        } catch (const Found& found) {
            throw found.error;
        } catch (const InputError& error) {
            if (!group.first) group.first = in_plan(plan_, task, error);
        }
    }

    void finish() const {
        for (const auto& [name, group] : groups_)
            if (!group.good && group.first) throw *group.first;
    }

  private:
    struct Group {
        bool good = false;
        int tries = 0;
        std::optional<InputError> first;
    };
    struct Found {  // a series that is not there is no fault of this run alone
        InputError error;
    };

    void run_no_steps(const Task& task, const Scene& scene) {
        const std::string file = folder_.scratch_file(task);
        run::RunOptions options;
        options.output = file;
        options.stop = tools_.stop;
        run::run_scene(scene, options);
        std::optional<InputError> wrong;
        try {
            const run::RunReader reader(file);
            check_series(plan_, reader, scene);
        } catch (const InputError& error) {
            wrong = error;
        }
        std::error_code error;
        for (const char* ending : {"", "-wal", "-shm", ".partial"})
            std::filesystem::remove(file + ending, error);
        if (wrong) throw Found{*wrong};
    }

    const Plan& plan_;
    const Folder& folder_;
    const Tools& tools_;
    std::map<std::string, Group> groups_;
};

}  // namespace

void rehearse(const Plan& plan, const std::vector<Task>& tasks, const Folder& folder, const Tools& tools) {
    Rehearsal rehearsal(plan, folder, tools);
    for (const Task& task : tasks) rehearsal.try_task(task);
    rehearsal.finish();
}

}  // namespace tenon::sweep

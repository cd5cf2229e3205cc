// The runs of a plan, in a fixed order, each with a key made of everything its results depend on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/plan.hpp"

namespace tenon::sweep {

struct Task {
    long number = 0;  // from 0
    std::string scene;
    std::vector<Cell> values;         // as in parameter_columns(); nothing: the scene's own
    std::vector<Override> overrides;  // the method first: another one drops the parameters of the scene's own
    std::string spec;  // JSON: scene and its files' digests, overrides, what to record and to keep
    std::string key;   // digest of the spec: names the task's files
};

// `version` is the program's: results of another one are not taken over. Throws InputError for missing scene files.
std::vector<Task> make_tasks(const Plan& plan, const std::string& version);

// A scene as `load_scene` wants it: a built-in's name, or a path that the plan's folder leads to.
std::string scene_source(const Plan& plan, const std::string& scene);

// The plan, its scene files and every file that a text in a scene names, as absolute paths.
std::vector<std::string> files_of(const Plan& plan);

// 128 bits as 32 hexadecimal digits (FNV-1a from two starts); for telling files apart, not for secrets.
std::string digest(std::string_view bytes);

// Numbers that are the same everywhere, which the standard's distributions are not.
class SampleRandom {
  public:
    explicit SampleRandom(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();                // SplitMix64
    double unit();                       // in [0, 1)
    std::size_t below(std::size_t end);  // in [0, end)

  private:
    std::uint64_t state_;
};

}  // namespace tenon::sweep

// What several verbs share: loading scenes by request, writing files, tables.
#pragma once

#include <string>
#include <vector>

#include "apps/tenon/verbs.hpp"
#include "tenon/scene.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::app {

// A file or a built-in with the request's changes, and the number of threads set.
Scene load_requested(const SceneRequest& request);
// The request's changes but for the duration, as they apply to any scene; sets the number of threads.
std::vector<Override> overrides_of(const SceneRequest& request);

// Names and texts of others as a terminal may show them: control characters become visible, lengths bounded.
std::string shown(const std::string& text);

bool is_run_file(const std::string& file);  // by its first bytes

// Text to a file, by way of a partial file; "-" or "" is standard output. Throws InputError.
void write_text(const std::string& file, const std::string& text);
void write_scene_file(const std::string& file, const Scene& scene);  // meshes beside it by relative paths
std::string read_text(const std::string& file);                      // throws InputError

// Columns as wide as their widest entry; the first row is the head. Numbers are set flush right.
std::string text_table(const std::vector<std::vector<std::string>>& rows, const std::string& indent = "  ");

std::string short_count(double count);      // 950, 12.3K, 4.5M
std::string short_seconds(double seconds);  // 0.53 s, 12 s, 3 min 20 s
std::string stem(const std::string& file);  // "a/b.tenon" -> "b"

}  // namespace tenon::app

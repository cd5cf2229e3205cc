#include "apps/tenon/common.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "math/parallel.hpp"
#include "math/whole_file.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::app {

namespace {

// The beginning of a scene: what is expected of its end is not expected of this one.
Scene shortened(Scene scene, double seconds) {
    for (ExpectSpec& entry : scene.expect)
        if (entry.at < 0) entry.at = scene.seconds;
    scene.seconds = seconds;
    return scene;
}

}  // namespace

std::vector<Override> overrides_of(const SceneRequest& request) {
    if (request.threads < 0)
        throw InputError("", "--threads", "is negative", "give the number of threads, or 0 for all cores");
    set_threads(request.threads);
    // the method comes first: another method drops the parameters of the scene's own
    std::vector<Override> overrides;
    if (request.method) overrides.push_back({"method", *request.method});
    if (request.dt) overrides.push_back({"dt", fmt::format("{}", *request.dt)});
    for (const std::string& entry : request.set) {
        const std::size_t equals = entry.find('=');
        if (equals == std::string::npos || equals == 0)
            throw InputError("", "--set " + entry, "is no key=value",
                             "write for example --set method.dhat=0.001");
        overrides.push_back({entry.substr(0, equals), entry.substr(equals + 1)});
    }
    return overrides;
}

Scene load_requested(const SceneRequest& request) {
    std::vector<Override> overrides = overrides_of(request);
    if (!request.seconds) return load_scene(request.scene, overrides);
    Scene scene = load_scene(request.scene, overrides);
    if (*request.seconds < scene.seconds) return shortened(std::move(scene), *request.seconds);
    overrides.push_back({"seconds", fmt::format("{}", *request.seconds)});
    return load_scene(request.scene, overrides);
}

namespace {

// U+202A to U+202E and U+2066 to U+2069 turn the direction of what follows: a line would read as another. 0 for others.
int direction_mark(const std::string& text, std::size_t at) {
    if (at + 2 >= text.size() || text[at] != '\xE2') return 0;
    const int code = 0x2000 + ((static_cast<unsigned char>(text[at + 1]) & 0x3F) << 6) +
                     (static_cast<unsigned char>(text[at + 2]) & 0x3F);
    return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ? code : 0;
}

}  // namespace

std::string shown(const std::string& text) {
    constexpr std::size_t longest = 4000;
    std::string out;
    for (std::size_t i = 0; i < text.size() && out.size() < longest; ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const bool c1 = c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
        if (c1) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[++i]));
        } else if (const int mark = direction_mark(text, i)) {
            out += fmt::format("\\u{:04x}", mark);
            i += 2;
        } else if (c < 0x20 || c == 0x7F) {
            out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : fmt::format("\\x{:02x}", c);
        } else {
            out += text[i];
        }
    }
    return text.size() > longest ? out + "..." : out;
}

bool is_run_file(const std::string& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) return false;  // a pipe would be waited for
    std::ifstream in(file, std::ios::binary);
    char head[16] = {};
    in.read(head, sizeof head);
    return in.gcount() == sizeof head && std::memcmp(head, "SQLite format 3", 16) == 0;
}

void write_scene_file(const std::string& file, const Scene& scene) {
    const bool printed = file.empty() || file == "-";
    const std::string folder = std::filesystem::path(file).parent_path().string();
    write_text(file, write_scene(scene, printed ? "" : folder.empty() ? "." : folder) + "\n");
}

void write_text(const std::string& file, const std::string& text) {
    if (file.empty() || file == "-") {
        std::cout << text << std::flush;
        return;
    }
    write_whole_file(file, text);
}

std::string read_text(const std::string& file) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error))
        throw InputError(file, "", "is a directory", "name a file");
    std::ifstream in(file, std::ios::binary);
    if (!in)
        throw InputError(file, "", fmt::format("cannot be read: {}", std::strerror(errno)), "check the path");
    std::ostringstream text;
    text << in.rdbuf();
    return std::move(text).str();
}

namespace {

bool looks_like_a_number(const std::string& text) {
    return !text.empty() &&
           (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-' || text[0] == '+');
}

// Width in characters, not bytes, of UTF-8 text.
std::size_t shown_width(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string text_table(const std::vector<std::vector<std::string>>& rows, const std::string& indent) {
    std::vector<std::size_t> width;
    for (const auto& row : rows)
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (k >= width.size()) width.push_back(0);
            width[k] = std::max(width[k], shown_width(row[k]));
        }
    std::string text;
    for (const auto& row : rows) {
        std::string line = indent;
        for (std::size_t k = 0; k < row.size(); ++k) {
            const std::string gap(width[k] - shown_width(row[k]), ' ');
            line += k > 0 && looks_like_a_number(row[k]) ? gap + row[k] : row[k] + gap;
            line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string short_count(double count) {
    if (count >= 1e6) return fmt::format("{:.3g}M", count / 1e6);
    if (count >= 1e4) return fmt::format("{:.3g}K", count / 1e3);
    return fmt::format("{:.4g}", count);
}

std::string short_seconds(double seconds) {
    if (seconds < 10) return fmt::format("{:.2g} s", seconds);
    if (seconds < 100) return fmt::format("{:.0f} s", seconds);
    const long whole = static_cast<long>(seconds);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string stem(const std::string& file) {
    return std::filesystem::path(file).stem().string();
}

}  // namespace tenon::app

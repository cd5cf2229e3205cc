// `tenon render`: PNG pictures, contact sheets and movies of a scene or a run.
#include <algorithm>
#include <charconv>
#include <iostream>

#include <fmt/format.h>

#include "apps/tenon/common.hpp"
#include "apps/tenon/pictures.hpp"
#include "apps/tenon/progress.hpp"
#include "math/parallel.hpp"
#include "render/movie.hpp"
#include "tenon/error.hpp"

namespace tenon::app {
namespace {

// "1280x720" or "3x2".
std::array<int, 2> two_numbers(const std::string& text, const char* flag, int largest) {
    std::array<int, 2> numbers{};
    const char *at = text.data(), *const end = at + text.size();
    const auto first = std::from_chars(at, end, numbers[0]);
    const bool cross = first.ec == std::errc() && first.ptr != end && *first.ptr == 'x';
    const auto second = cross ? std::from_chars(first.ptr + 1, end, numbers[1]) : first;
    if (!cross || second.ec != std::errc() || second.ptr != end || std::min(numbers[0], numbers[1]) < 1 ||
        std::max(numbers[0], numbers[1]) > largest)
        throw InputError("", flag, fmt::format("'{}' is no size", text),
                         fmt::format("write WIDTHxHEIGHT, each from 1 to {}", largest));
    return numbers;
}

render::RenderOptions options_of(const RenderRequest& request) {
    render::RenderOptions options;
    const auto size = two_numbers(request.size, "--size", 8192);
    options.width = size[0];
    options.height = size[1];
    options.forces = request.forces;
    options.force_scale = request.force_scale.value_or(0.0);
    options.ground = !request.no_ground;
    options.element_state = request.state;
    return options;
}

render::CameraWish wish_of(const RenderRequest& request) {
    render::CameraWish wish;
    wish.hints = request.camera;
    if (request.azimuth) wish.azimuth = *request.azimuth;
    if (request.elevation) wish.elevation = *request.elevation;
    return wish;
}

Subject subject_of(const RenderRequest& request) {
    if (is_run_file(request.scene.scene)) {
        set_threads(request.scene.threads);
        return Subject(request.scene.scene);
    }
    return Subject(load_requested(request.scene));
}

// frames/name.png -> frames/name-0012.png
std::string numbered(const std::string& file, long index) {
    const std::size_t dot = file.rfind(".png");
    return fmt::format("{}-{:04}.png", file.substr(0, dot), index);
}

std::vector<long> chosen_frames(const RenderRequest& request, long count) {
    std::vector<long> frames;
    if (request.frame) {
        const long index = *request.frame < 0 ? count + *request.frame : *request.frame;
        if (index < 0 || index >= count)
            throw InputError(request.scene.scene, "--frame",
                             fmt::format("there is no frame {}", *request.frame),
                             fmt::format("the run has frames 0 to {}; -1 is the last", count - 1));
        frames.push_back(index);
    } else if (request.every > 0) {
        for (long index = 0; index < count; index += request.every) frames.push_back(index);
    } else {
        frames.push_back(count - 1);
    }
    return frames;
}

void make_movie(const RenderRequest& request, const Subject& subject, const render::RenderOptions& options) {
    const render::Stage stage = subject.stage(options, wish_of(request));
    render::MovieWriter movie(request.output, options.width, options.height, request.fps);
    ProgressBar bar(request.quiet);
    const long count = subject.frame_count(), every = std::max(1, request.every);
    for (long index = 0; index < count; index += every) {
        movie.add(render::render_frame(subject.model(), subject.frame(index), stage, options));
        bar.show(static_cast<double>(index) / static_cast<double>(count),
                 fmt::format("frame {}/{}", index, count));
    }
    movie.close();
}

}  // namespace

int render_verb(const RenderRequest& request) {
    const render::RenderOptions options = options_of(request);
    const Subject subject = subject_of(request);
    std::string output = request.output.empty() ? stem(request.scene.scene) + ".png" : request.output;
    const auto say = [&](const std::string& file) {
        if (!request.quiet) std::cout << file << "\n";
    };
    if (output.ends_with(".mp4")) {
        make_movie(request, subject, options);
        say(output);
        return 0;
    }
    if (!output.ends_with(".png"))
        throw InputError(output, "", "is neither .png nor .mp4", "choose one of these endings");
    if (!request.sheet.empty()) {
        const auto grid = two_numbers(request.sheet, "--sheet", 20);
        render::write_png(run_sheet(subject, grid[0], grid[1], options, wish_of(request)), output);
        say(output);
        return 0;
    }
    const std::vector<long> frames = chosen_frames(request, subject.frame_count());
    const render::Stage stage = subject.stage(options, wish_of(request));
    ProgressBar bar(request.quiet || frames.size() < 2);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const std::string file =
            frames.size() > 1 || request.every > 0 ? numbered(output, frames[i]) : output;
        render::write_png(render::render_frame(subject.model(), subject.frame(frames[i]), stage, options),
                          file);
        bar.show(static_cast<double>(i + 1) / static_cast<double>(frames.size()), file);
        if (frames.size() == 1) say(file);
    }
    bar.clear();
    if (frames.size() > 1)
        say(fmt::format("{} pictures, {} to {}", frames.size(), numbered(output, frames.front()),
                        numbered(output, frames.back())));
    return 0;
}

}  // namespace tenon::app

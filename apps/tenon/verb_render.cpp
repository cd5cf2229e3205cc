// `tenon render`: PNG pictures, contact sheets and films of a scene or a run.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "apps/tenon/common.hpp"
#include "apps/tenon/pictures.hpp"
#include "apps/tenon/progress.hpp"
#include "math/parallel.hpp"
#include "math/whole_file.hpp"
#include "render/apng.hpp"
#include "render/movie.hpp"
#include "render/palette_png.hpp"
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
    const char* const usual = !request.sheet.empty()              ? "320x200"
                              : request.output.ends_with(".apng") ? "480x300"
                                                                  : "1280x720";
    const auto size = two_numbers(request.size.empty() ? usual : request.size, "--size", 8192);
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

void write_picture(const RenderRequest& request, const render::Image& image, const std::string& file) {
    if (request.colors == 0) return render::write_png(image, file);
    const std::vector<std::uint8_t> bytes = render::encode_palette_png(image, request.colors);
    write_whole_file(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
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

// Even steps of time, whatever the run recorded: what lies between frames is interpolated.
template <class Writer>
void draw_film(const RenderRequest& request, const Subject& subject, const render::RenderOptions& options,
               Writer film, double fps) {
    const render::Stage stage = subject.stage(options, wish_of(request));
    ProgressBar bar(request.quiet);
    const double step = request.speed.value_or(1.0) / fps;
    const long count = static_cast<long>(std::floor((subject.end() - subject.start()) / step + 1e-6)) + 1;
    for (long i = 0; i < count; ++i) {
        const run::Frame frame = subject.at(subject.start() + static_cast<double>(i) * step);
        film.add(render::render_frame(subject.model(), frame, stage, options));
        bar.show(static_cast<double>(i + 1) / static_cast<double>(count),
                 fmt::format("picture {} of {}", i + 1, count));
    }
    bar.clear();
    film.close();
}

void make_film(const RenderRequest& request, const Subject& subject, const render::RenderOptions& options) {
    if (request.every > 0 || request.frame || request.time || !request.sheet.empty())
        throw InputError(request.output, "", "is a film of the whole run",
                         "leave --every, --frame, --time and --sheet away; --fps and --speed set its pace");
    const double fps = request.fps.value_or(30.0);
    if (request.output.ends_with(".apng"))
        draw_film(request, subject, options,
                  render::ApngWriter(request.output, options.width, options.height, fps), fps);
    else
        draw_film<render::MovieWriter&>(
            request, subject, options,
            *std::make_unique<render::MovieWriter>(request.output, options.width, options.height, fps), fps);
}

bool is_film(const std::string& output) {
    return output.ends_with(".mp4") || output.ends_with(".apng");
}

// Every flag must do something.
void check_flags(const RenderRequest& request, const std::string& output) {
    if (!is_film(output) && !output.ends_with(".png"))
        throw InputError(output, "", "ends neither in .png nor in .apng nor in .mp4",
                         "choose one of these; browsers and mail show an .apng as a film");
    if (is_film(output) && request.colors > 0)
        throw InputError(output, "--colors", "is for pictures", "leave it away for a film");
    if (!is_film(output) && (request.fps || request.speed))
        throw InputError(output, "", "is a picture; --fps and --speed are for films",
                         "name a file that ends in .apng or .mp4");
    const int moments = (request.frame ? 1 : 0) + (request.time ? 1 : 0) + (request.portrait ? 1 : 0) +
                        (request.every > 0 ? 1 : 0) + (request.sheet.empty() ? 0 : 1);
    if (moments > 1)
        throw InputError("", "", "--frame, --time, --portrait, --every and --sheet exclude each other",
                         "give one of them");
}

void draw_sheet(const RenderRequest& request, const Subject& subject, const render::RenderOptions& options,
                const std::string& output) {
    const auto grid = two_numbers(request.sheet, "--sheet", 20);
    ProgressBar bar(request.quiet);
    const auto progress = [&](long done, long all) {
        bar.show(static_cast<double>(done) / static_cast<double>(all),
                 fmt::format("picture {} of {}", done + 1, all));
    };
    const render::Stage stage = subject.stage(options, wish_of(request));
    write_picture(request, run_sheet(subject, grid[0], grid[1], options, stage, progress), output);
}

}  // namespace

int render_verb(const RenderRequest& request) {
    const render::RenderOptions options = options_of(request);
    const std::string output = request.output.empty() ? stem(request.scene.scene) + ".png" : request.output;
    check_flags(request, output);
    const Subject subject = subject_of(request);
    const auto say = [&](const std::string& file) {
        if (!request.quiet) std::cout << file << "\n";
    };
    if (is_film(output)) {
        make_film(request, subject, options);
        say(output);
        return 0;
    }
    if (!request.sheet.empty()) {
        draw_sheet(request, subject, options, output);
        say(output);
        return 0;
    }
    if (request.time || request.portrait) {
        const double time = request.time.value_or(subject.portrait());
        if (time < subject.start() - 1e-9 || time > subject.end() + 1e-9)
            throw InputError(request.scene.scene, "--time", fmt::format("{:g} s is outside of the run", time),
                             fmt::format("it goes from {:g} to {:g} s", subject.start(), subject.end()));
        const render::Stage stage = request.portrait ? subject.stage_at(time, options, wish_of(request))
                                                     : subject.stage(options, wish_of(request));
        write_picture(request, render::render_frame(subject.model(), subject.at(time), stage, options),
                      output);
        say(output);
        return 0;
    }
    const std::vector<long> frames = chosen_frames(request, subject.frame_count());
    const render::Stage stage = subject.stage(options, wish_of(request));
    ProgressBar bar(request.quiet || frames.size() < 2);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const std::string file =
            frames.size() > 1 || request.every > 0 ? numbered(output, frames[i]) : output;
        write_picture(request,
                      render::render_frame(subject.model(), subject.frame(frames[i]), stage, options), file);
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

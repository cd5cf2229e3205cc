// Pictures of scenes and runs, for the verbs that show some.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "render/render.hpp"
#include "run/run_file.hpp"
#include "tenon/scene.hpp"

namespace tenon::app {

// Something to draw: a scene's first moment, or the frames of a run.
class Subject {
  public:
    explicit Subject(const Scene& scene);
    explicit Subject(const std::string& run_file);

    const render::Drawing& model() const { return model_; }
    long frame_count() const;
    run::Frame frame(long index) const;
    run::Frame at(double time) const;  // between frames: interpolated; before and after: the first and last
    double start() const;              // of the first and last frame, s
    double end() const;
    double portrait() const;  // the moment that shows the scene best; the end unless the scene says

    // The camera and ground that suit the whole motion.
    // Fits what moves around this time, where `stage` fits the whole run.
    render::Stage stage_at(double time, const render::RenderOptions& options,
                           const render::CameraWish& wish) const;
    render::Stage stage(const render::RenderOptions& options, const render::CameraWish& wish) const;

  private:
    std::unique_ptr<run::RunReader> reader_;
    run::Frame first_;
    std::vector<double> times_;
    mutable std::pair<long, run::Frame> kept_[2] = {{-1, {}}, {-1, {}}};  // a film asks for neighbours
    render::Drawing model_;
};

std::string time_caption(double seconds);

// Frames spread over the whole run on one picture, each told of when it is drawn.
render::Image run_sheet(const Subject& subject, int columns, int rows, const render::RenderOptions& options,
                        const render::Stage& stage, const std::function<void(long, long)>& progress = {});

}  // namespace tenon::app

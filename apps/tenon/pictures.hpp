// Pictures of scenes and runs, for the verbs that show some.
#pragma once

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

    // The camera and ground that suit the whole motion.
    render::Stage stage(const render::RenderOptions& options, const render::CameraWish& wish) const;

  private:
    std::unique_ptr<run::RunReader> reader_;
    run::Frame first_;
    render::Drawing model_;
};

std::string time_caption(double seconds);

// Frames spread over the whole run on one picture.
render::Image run_sheet(const Subject& subject, int columns, int rows, const render::RenderOptions& options,
                        const render::CameraWish& wish);

}  // namespace tenon::app

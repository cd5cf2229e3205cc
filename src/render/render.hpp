// One frame as a picture.
#pragma once

#include <optional>

#include "render/camera.hpp"
#include "render/image.hpp"
#include "render/model.hpp"

namespace tenon::render {

struct RenderOptions {
    int width = 1280, height = 720;
    int samples = 2;             // per pixel and direction
    bool ground = true;          // the plane with a grid under everything
    bool forces = false;         // contact forces as arrows
    double force_scale = 0.0;    // m per N; 0: suits nine tenths of the forces
    bool element_state = false;  // colour elastic bodies by what the method says about their elements
};

// What stays the same over a run's pictures, so that nothing jumps between frames.
struct Stage {
    Camera camera;
    Vec3 focus = Vec3::Zero();  // what is looked at: shadows and fog are sized by it
    double radius = 1.0;
    double ground_height = 0.0;  // along the up axis
    double force_scale = 0.0;
};

// The camera, ground and force scale that suit all the given frames.
Stage make_stage(const Drawing& model, const std::vector<run::Frame>& frames, const RenderOptions& options,
                 const CameraWish& wish);

Image render_frame(const Drawing& model, const run::Frame& frame, const Stage& stage,
                   const RenderOptions& options);

}  // namespace tenon::render

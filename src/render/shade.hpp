// From visible triangles to light: key light with soft shadows, sky, ambient occlusion, ground grid, fog.
#pragma once

#include <vector>

#include "render/image.hpp"
#include "render/raster.hpp"

namespace tenon::render {

// How a batch is coloured.
struct Surface {
    Vec3f color = Vec3f::Ones();
    const Vec3f* corner_normals = nullptr;  // three per triangle, in the frame that `turn` leads from
    Eigen::Matrix3f turn = Eigen::Matrix3f::Identity();
    const Vec3f* triangle_colors = nullptr;  // instead of `color`, when set
    bool gridded = false;                    // statics: the grid goes over their level faces
};

struct Lighting {
    Vec3f up = Vec3f::UnitY();
    Vec3f focus = Vec3f::Zero();
    float radius = 1.0f;
    bool ground = true;
    float ground_height = 0.0f;
};

// Everything that is drawn, with ids in the order of the batches.
struct DrawList {
    std::vector<Batch> batches;
    std::vector<Surface> surfaces;  // one per batch

    std::size_t batch_of(std::size_t id) const;
};

Image shade(const DrawList& solid, const DrawList& overlay, const Projection& view, const Lighting& lighting,
            int samples);

}  // namespace tenon::render

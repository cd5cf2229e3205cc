// From visible triangles to light: key light with soft shadows, sky, ambient occlusion, ground grid, fog.
#pragma once

#include <optional>
#include <vector>

#include "render/image.hpp"
#include "render/raster.hpp"

namespace tenon::render {

// Two shades that change where the product of the coordinates named by `signs` changes its sign, in the body's frame.
struct TwoShades {
    Eigen::Matrix3f to_body = Eigen::Matrix3f::Identity();
    Vec3f origin = Vec3f::Zero();      // in the world
    Eigen::Array3i signs = {0, 0, 0};  // one where a coordinate counts
    Vec3f other = Vec3f::Ones();       // the second shade

    bool is_other(const Vec3f& point) const {
        const Vec3f local = to_body * (point - origin);
        int negative = 0;
        for (int k = 0; k < 3; ++k) negative += signs[k] && local[k] < 0;
        return negative % 2 == 1;
    }
};

// How a batch is coloured.
struct Surface {
    Vec3f color = Vec3f::Ones();
    const Vec3f* corner_normals = nullptr;  // three per triangle, in the frame that `turn` leads from
    Eigen::Matrix3f turn = Eigen::Matrix3f::Identity();
    const Vec3f* triangle_colors = nullptr;  // instead of `color`, when set
    bool gridded = false;                    // statics: the grid goes over their level faces
    std::optional<TwoShades> two_shades = std::nullopt;
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

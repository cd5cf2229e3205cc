// How much light reaches a point: soft shadows from a shadow map, ambient occlusion from the picture's own depth.
#pragma once

#include "render/raster.hpp"

namespace tenon::render {

// Points of a disk (Vogel's spiral), turned by a pattern that repeats every 4x4 samples: a 4x4 blur then removes
// the noise completely.
struct TapPattern {
    float cosine, sine;  // of this sample's turn
    TapPattern(int x, int y);
    Eigen::Vector2f disk(int tap, int taps) const;
};

class ShadowMap {
  public:
    // `picture` is the larger side of the picture that it is for, in pixels.
    ShadowMap(const std::vector<Batch>& batches, const Vec3f& to_light, const Vec3f& focus, float radius,
              int picture);

    // 1: in full light. The penumbra widens with the distance to what casts the shadow.
    float light_at(const Vec3f& point, const Vec3f& normal, const TapPattern& pattern) const;
    const Vec3f& to_light() const { return to_light_; }

  private:
    bool blocker(float x, float y, float depth, float& found) const;

    Vec3f to_light_;
    Projection view_;
    Visibility map_;
};

// 1: open to the sky. `radius` is how far occluders count.
float ambient_occlusion(const Visibility& seen, const Projection& view, const Vec3f& point,
                        const Vec3f& normal, float radius, const TapPattern& pattern);

}  // namespace tenon::render

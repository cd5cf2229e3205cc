// A scene in Bullet, step by step, for comparison beside our own method.
#pragma once

#include <memory>

#include "tenon/mesh.hpp"
#include "tenon/state.hpp"

namespace tenon::bench {

struct PeerStep {
    double ms = 0.0;
    int contacts = 0;
    double penetration = 0.0;  // deepest, m
};

// Boxes, spheres and planes as such, everything else as its convex hull. Sleeping off, one thread.
class BulletScene {
  public:
    static bool available();
    explicit BulletScene(const Model& model, const State& state, int iterations = 10);
    ~BulletScene();
    PeerStep step(double dt);
    Mat34 pose(int body) const;  // body frame to world

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// The convex hull of a mesh's vertices, closed; by Bullet.
Mesh convex_hull(const Mesh& mesh);

}  // namespace tenon::bench

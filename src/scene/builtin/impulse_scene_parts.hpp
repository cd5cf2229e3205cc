// What the impulse scenes share.
#pragma once

#include <cstdint>
#include <string>

#include "scene/builtin/scene_parts.hpp"
#include "tenon/builtin.hpp"

namespace tenon::impulse_scene {

// A fixed sequence of numbers in [-1, 1): the same scene on every machine.
class Sequence {
  public:
    explicit Sequence(std::uint64_t seed) : state_(seed * 2654435769u + 1) {}
    double next() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state_ >> 11) / 4503599627370496.0 - 1.0;
    }
    Vec3 vector() {
        const double x = next(), y = next(), z = next();
        return {x, y, z};
    }
    Quat rotation() {
        Quat q;
        q.vec() = vector();
        q.w() = next();
        return q.norm() > 1e-3 ? q.normalized() : Quat::Identity();
    }

  private:
    std::uint64_t state_;
};

inline Scene start(const Params& params, double friction) {
    Scene scene;
    scene.method = "impulse";
    scene.dt = params.number("dt");
    scene.seconds = params.number("seconds");
    scene.materials[0].friction = friction;
    return scene;
}

inline BodySpec body(Scene& scene, const std::string& name, const GeometrySpec& geometry,
                     const Vec3& position, BodyType type = BodyType::dynamic_body) {
    BodySpec spec = body_spec(scene, name, geometry, position);
    spec.type = type;
    return spec;
}

inline void add_ground(Scene& scene, double size, double height = 0.0) {
    BodySpec ground = body(scene, "ground", shape_spec("plane", {{"size", std::vector<double>{size, size}}}),
                           Vec3(0, height, 0), BodyType::static_body);
    ground.color = {0.75, 0.75, 0.72};
    scene.add_body(ground);
}

inline void expect(Scene& scene, const std::string& who, const std::string& quantity, double min, double max,
                   const std::string& note, double at = -1) {
    ExpectSpec spec = expect_quantity(who, quantity, min, max, note);
    spec.at = at;
    scene.expect.push_back(spec);
}

// The chess piece of a number, in the order in which sets are made.
GeometrySpec chess_piece(int number, double height, int segments, int detail);

std::vector<BuiltinScene> pile_scenes();      // chess, cubes
std::vector<BuiltinScene> friction_scenes();  // bar, stack, truck, basin

}  // namespace tenon::impulse_scene

// Bodies in free flight: nothing touches, everything can be checked by hand.
#include "scene/builtin/affine_scene_families.hpp"
#include "scene/builtin/scene_parts.hpp"

namespace tenon {
namespace {

Scene make_free_flight(const Params& params) {
    Scene scene;
    scene.method = "affine";
    scene.method_params["integrator"] = std::string("bdf2");
    scene.dt = 0.005;
    scene.seconds = params.number("seconds");
    const double spin = params.number("spin"), up = 0.5 * 9.81 * scene.seconds;  // back at the start height
    struct Flyer {
        const char* name;
        GeometrySpec geometry;
        Vec3 spin;
        std::array<double, 3> color;
    };
    const Flyer flyers[] = {
        {"box", box_spec({0.6, 0.3, 0.15}), Vec3(0.05, spin, 0), {0.85, 0.35, 0.25}},
        {"cone",
         shape_spec("cone", {{"radius", 0.25}, {"length", 0.6}}),
         Vec3(0.3 * spin, 0, spin),
         {0.95, 0.7, 0.2}},
        {"torus", shape_spec("torus", {}), Vec3(spin, 0.2 * spin, 0), {0.3, 0.6, 0.85}},
        {"capsule",
         shape_spec("capsule", {{"radius", 0.12}, {"length", 0.5}}),
         Vec3(0, 0.4 * spin, spin),
         {0.45, 0.75, 0.4}},
        {"ball", shape_spec("icosphere", {{"radius", 0.25}}), Vec3(0, 0, spin), {0.6, 0.45, 0.75}},
    };
    double x = -3.0;
    for (const Flyer& flyer : flyers) {
        BodySpec body = body_spec(scene, flyer.name, flyer.geometry, Vec3(x, 1.0, 0));
        body.linear_velocity = Vec3(0, up, 0);
        body.angular_velocity = flyer.spin;
        body.color = flyer.color;
        scene.add_body(body);
        // Thrown up with g t / 2 everything is back where it started; BDF2 errs by O(g h^2).
        scene.expect.push_back(
            expect_quantity(flyer.name, "moved", 0.0, 0.02, "returns to where it was thrown"));
        x += 1.5;
    }
    return scene;
}

}  // namespace

std::vector<BuiltinScene> affine_free_scenes() {
    return {{"free-flight",
             "affine",
             "five shapes thrown up, spinning, in free flight",
             "free flight of affine bodies, Sec. 3",
             "every shape tumbles in its own way and comes back to its height; the box flips about its "
             "middle axis",
             {{"seconds", 1.2, "flight time", 0.1, 20.0, {}, "s"},
              {"spin", 8.0, "spin", -100.0, 100.0, {}, "rad/s"}},
             {},
             make_free_flight}};
}

}  // namespace tenon

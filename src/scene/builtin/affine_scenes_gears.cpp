// Gears that drive each other by their teeth (Figs. 1 and 9).
#include <cmath>

#include "scene/builtin/affine_scene_families.hpp"
#include "scene/builtin/scene_parts.hpp"

namespace tenon {
namespace {

constexpr int teeth = 20;  // a multiple of four: teeth, or gaps, in all four directions

GeometrySpec gear_spec(double module, double detail, double backlash, int count = teeth) {
    return shape_spec("gear", {{"teeth", double(count)},
                               {"module", module},
                               {"width", 2.0 * module},
                               {"bore", 3.0 * module},
                               {"backlash", backlash},
                               {"detail", detail}});
}

int add_gear(Scene& scene, const std::string& name, const GeometrySpec& geometry, const Vec3& position,
             double degrees) {
    BodySpec body = body_spec(scene, name, geometry, position, turn(degrees, Vec3::UnitY()));
    body.density = 7850.0;
    return scene.add_body(body);
}

void add_axle(Scene& scene, int body, const Vec3& position, double speed, double torque) {
    JointSpec hinge;
    hinge.name = "axle" + std::to_string(body);
    hinge.type = JointType::hinge;
    hinge.bodies = {-1, body};
    hinge.point = position;
    hinge.axis = Vec3::UnitY();
    if (speed != 0.0) {
        DriveSpec drive;
        drive.motor.type = MotorSpec::Type::velocity;
        drive.motor.target = speed;
        drive.motor.max = torque;
        hinge.drives.push_back(drive);
    }
    scene.joints.push_back(hinge);
}

Scene make_gear_pair(const Params& params) {
    Scene scene;
    scene.dt = 0.01;
    scene.seconds = params.number("seconds");
    scene.gravity = Vec3::Zero();
    scene.materials[0].friction = params.number("friction");
    scene.method_params["kappa"] = params.number("kappa");
    const double module = 0.025;  // half a metre across
    scene.contact.dhat = 0.001;
    const int other = params.integer("teeth");
    const GeometrySpec first = gear_spec(module, params.number("detail"), 0.08 * module);
    const GeometrySpec second = gear_spec(module, params.number("detail"), 0.08 * module, other);
    const Vec3 center(0.5 * module * (teeth + other), 0, 0);
    const int a = add_gear(scene, "driver", first, Vec3::Zero(), 0);
    const int b = add_gear(scene, "driven", second, center, other % 2 ? 0.0 : 180.0 / other);
    scene.bodies[a].color = {0.85, 0.5, 0.2};
    scene.bodies[b].color = {0.4, 0.55, 0.75};
    add_axle(scene, a, Vec3::Zero(), params.number("speed"), params.number("torque"));
    add_axle(scene, b, center, 0, 0);
    // The motor's largest torque brings both gears up to speed first; discs stand for their inertia.
    const double speed = params.number("speed"), ratio = double(teeth) / other;
    const auto disc = [&](int count) {
        return 0.5 * EIGEN_PI * 7850.0 * 2.0 * module * std::pow(0.5 * module * count, 4);
    };
    const double ramp =
        std::abs(speed) * (disc(teeth) + ratio * ratio * disc(other)) / params.number("torque");
    if (ramp < 0.5 * scene.seconds) {
        const double angle = std::abs(speed) * ratio * (scene.seconds - 0.5 * ramp), play = 0.04;
        const double sign = speed > 0 ? -1.0 : 1.0;  // the other way round
        scene.expect.push_back(expect_quantity("driven", "turned_y", sign * angle - 0.02 * angle - play,
                                               sign * angle + 0.02 * angle + play,
                                               "it turns by the ratio of the teeth"));
        scene.expect.push_back(expect_quantity("driven", "spin", 0.97 * std::abs(speed) * ratio,
                                               1.03 * std::abs(speed) * ratio, "as fast as the teeth say"));
    }
    scene.expect.push_back(expect_quantity("", "intersections", 0, 0, "nothing ever intersects"));
    scene.camera["eye"] = {0.25, 1.1, 0.8};
    scene.camera["target"] = {0.25, 0, 0};
    return scene;
}

// Gears on a grid, each meshing with its neighbours: next to each other they turn opposite ways.
Scene make_gear_train(const Params& params) {
    Scene scene;
    scene.dt = 0.01;
    scene.seconds = params.number("seconds");
    scene.gravity = Vec3::Zero();
    scene.materials[0].friction = params.number("friction");
    const double module = 0.1, pitch = module * teeth;
    scene.contact.dhat = 0.002;
    const GeometrySpec gear = gear_spec(module, params.number("detail"), 0.12 * module);
    const int columns = params.integer("columns"), rows = params.integer("rows");
    for (int j = 0; j < rows; ++j)
        for (int i = 0; i < columns; ++i) {
            const Vec3 position(i * pitch, 0, j * pitch);
            const bool odd = (i + j) % 2;
            const int body = add_gear(scene, "gear" + std::to_string(j * columns + i), gear, position,
                                      odd ? 180.0 / teeth : 0.0);
            const bool driver = i == 0 && j == 0;
            scene.bodies[body].color = driver ? std::array<double, 3>{0.85, 0.3, 0.2}
                                       : odd  ? std::array<double, 3>{0.75, 0.65, 0.4}
                                              : std::array<double, 3>{0.55, 0.6, 0.65};
            add_axle(scene, body, position, driver ? params.number("speed") : 0.0, params.number("torque"));
        }
    // The motor's largest torque brings all gears up to speed together; discs stand for their inertia.
    const double inertia = 0.5 * EIGEN_PI * 7850.0 * 2.0 * module * std::pow(0.5 * pitch, 4);
    const double speed = std::abs(params.number("speed"));
    const double ramp = speed * rows * columns * inertia / params.number("torque");
    const double part = std::min(1.0, scene.seconds / ramp), spin = speed * part;
    const double angle = speed * (scene.seconds - (1.0 - 0.5 * part) * std::min(ramp, scene.seconds));
    const int last = rows * columns - 1;
    const double sign = ((rows + columns) % 2 ? -1.0 : 1.0) * (params.number("speed") > 0 ? 1.0 : -1.0);
    const double teeth_play =
        0.015 * (rows + columns - 2);  // of the teeth on the way to it: it follows later
    const double play = teeth_play + 0.03 * angle;
    if (last > 0) {
        const std::string name = "gear" + std::to_string(last);
        scene.expect.push_back(expect_quantity(name, "turned_y", sign * angle - play, sign * angle + play,
                                               "the last gear turns with the first"));
        scene.expect.push_back(expect_quantity(name, "spin", 0.9 * spin, 1.1 * spin, "and as fast"));
    }
    scene.expect.push_back(expect_quantity("", "intersections", 0, 0, "nothing ever intersects"));
    const Vec3 middle(0.5 * (columns - 1) * pitch, 0, 0.5 * (rows - 1) * pitch);
    const double reach = std::max(columns, rows) * pitch;
    scene.camera["eye"] = list_of(middle + reach * Vec3(0.35, 1.25, 1.0));
    scene.camera["target"] = list_of(middle);
    return scene;
}

}  // namespace

std::vector<BuiltinScene> affine_gear_scenes() {
    return {{"gear-pair",
             "affine",
             "one gear drives another by its teeth",
             "Affine Body Dynamics, Fig. 9",
             "deformation vanishes as kappa grows; iterations stay flat",
             {{"kappa", 1e11, "stiffness of the gears", 1e6, 1e14, {}, "Pa"},
              {"teeth", 20.0, "of the driven gear", 8.0, 200.0},
              {"speed", 3.0, "of the driving gear", -100.0, 100.0, {}, "rad/s"},
              {"torque", 200.0, "the motor's largest", 0.0, 1e9, {}, "N m"},
              {"detail", 1.0, "fineness of the gears", 1.0, 16.0},
              {"friction", 0.1, "coefficient of friction", 0.0, 10.0},
              {"seconds", 1.0, "duration", 0.01, 100.0, {}, "s"}},
             {{"seconds", 5.0}, {"detail", 2.0}},
             make_gear_pair},
            {"gear-train",
             "affine",
             "a field of gears, one of them driven",
             "Affine Body Dynamics, Fig. 1",
             "every gear turns, neighbours in opposite directions; nothing intersects",
             {{"columns", 3.0, "gears along x", 1.0, 50.0},
              {"rows", 2.0, "gears along z", 1.0, 50.0},
              {"detail", 1.0, "fineness of the gears", 1.0, 16.0},
              {"speed", 2.0, "of the driven gear", -100.0, 100.0, {}, "rad/s"},
              {"torque", 1e6, "the motor's largest", 0.0, 1e12, {}, "N m"},
              {"friction", 0.1, "coefficient of friction", 0.0, 10.0},
              {"seconds", 0.5, "duration", 0.01, 100.0, {}, "s"}},
             {{"columns", 7.0}, {"rows", 4.0}, {"detail", 8.0}},
             make_gear_train}};
}

}  // namespace tenon

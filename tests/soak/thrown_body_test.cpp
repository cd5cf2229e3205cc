// A step whose solve fails ends at a sound iterate: the contacts' huge forces on the way there throw no body off.
#include <gtest/gtest.h>

#include "run/run_loop.hpp"
#include "run/small_world.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::soak {
namespace {

// A light cone of a millimetre lands on two edges at once, bounces and slides.
const char* const landing_cone = R"({
"tenon": 1, "gravity": [0, -9.81, 0], "seconds": 0.030571034319681858,
"method": {"type": "articulated", "dt": 0.0007642758579920465},
"bodies": [
  {"name": "floor", "type": "static",
   "shape": {"type": "box", "size": [0.10212190679090544, 0.001702031779848424, 0.10212190679090544]},
   "position": [0, -0.000851015889924212, 0]},
  {"name": "cone",
   "shape": {"type": "cone", "length": 0.0006972933868987549, "radius": 0.0002905389112078145, "segments": 32},
   "position": [-0.006637923941408854, 0.002655169576563542, -0.006637923941408854],
   "rotation": [0.5009224734603279, 0.8084738597196214, 0.2535380170732553, 0.17653659006281608],
   "linear_velocity": [-0.04433341395578386, -0.011820949566420444, 0.10448232150227027],
   "angular_velocity": [-0.0012519261424628746, -0.00029710305691238556, 0.0006844473345617229],
   "density": 4.531969369856461, "friction": 0.5059681637936215, "restitution": 0.6862914128076495}
]})";

TEST(ThrownBody, LandingNeverAddsEnergy) {
    const test::TemporaryFolder folder;
    run::RunOptions options;
    options.output = folder / "cone.tenon";
    const run::Report report = run::run_scene(parse_scene(landing_cone, "cone.json", ""), options);
    ASSERT_EQ(report.status, "done") << report.failure;
    // friction and the bounce take energy, nothing gives any
    EXPECT_LT(report.energy_end, report.energy_start);
}

}  // namespace
}  // namespace tenon::soak

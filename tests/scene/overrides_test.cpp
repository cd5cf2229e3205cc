// --set: paths into the JSON, parameters of built-in scenes, names that do not exist.
#include "scene/support.hpp"
#include "tenon/builtin.hpp"
#include "tenon/scene_io.hpp"

namespace tenon {
namespace {

const char* const base = R"({"gravity": [0, -9.81, 0], "method": {"type": "affine", "dt": 0.02, "kappa": 1e8},
    "materials": {"steel": {"density": 7850}},
    "shapes": {"ball": {"type": "sphere", "radius": 0.5}},
    "bodies": [{"name": "a", "shape": {"type": "box", "size": [1, 2, 3]}, "mass": 1},
               {"name": "b", "shape": "ball", "position": [0, 5, 0]}],
    "joints": [{"name": "j", "type": "hinge", "bodies": ["a", "b"]}]})";

Scene with(const std::vector<Override>& overrides) {
    return parse_scene(base, "base.json", "", overrides);
}

InputError error_with(const std::string& key, const std::string& value) {
    return test::input_error([&] { with({{key, value}}); });
}

TEST(Overrides, ReachEveryKindOfPlace) {
    const Scene scene = with({{"seconds", "7"},
                              {"gravity[1]", "-1.62"},
                              {"dt", "0.005"},
                              {"method.kappa", "1e9"},
                              {"materials.steel.friction", "0.1"},
                              {"shapes.ball.radius", "0.25"},
                              {"bodies[0].mass", "2"},
                              {"bodies[b].linear_velocity", "[1, 2, 3]"},
                              {"bodies[0].shape.size[2]", "9"},
                              {"joints[j].motor.type", "velocity"},
                              {"joints[0].motor.target", "3"},
                              {"contact.dhat", "0.01"},
                              {"name", "2024"}});
    EXPECT_EQ(scene.seconds, 7);
    EXPECT_EQ(scene.gravity, Vec3(0, -1.62, 0));
    EXPECT_EQ(scene.dt, 0.005);
    EXPECT_EQ(std::get<double>(scene.method_params.at("kappa")), 1e9);
    EXPECT_EQ(scene.materials[1].friction, 0.1);
    EXPECT_EQ(scene.geometries[1].shape_params.number("radius"), 0.25);
    EXPECT_EQ(*scene.bodies[0].mass, 2);
    EXPECT_EQ(scene.bodies[1].linear_velocity, Vec3(1, 2, 3));
    EXPECT_EQ(scene.geometries[0].shape_params.vec3("size"), Vec3(1, 2, 9));
    EXPECT_EQ(scene.joints[0].drives[0].motor.target, 3);
    EXPECT_EQ(*scene.contact.dhat, 0.01);
    EXPECT_EQ(scene.name, "2024");  // a text stays one
}

TEST(Overrides, AnotherMethodKeepsOnlyTheTimeStep) {
    const Scene other = with({{"method", "volume"}});
    EXPECT_EQ(other.method, "volume");
    EXPECT_EQ(other.dt, 0.02);
    EXPECT_TRUE(other.method_params.empty());
    EXPECT_EQ(with({{"method", "affine"}}).method_params.size(), 1u);
}

TEST(Overrides, RefuseWhatTheFormatHasNoPlaceFor) {
    const InputError top = error_with("secnods", "3");
    EXPECT_EQ(top.path(), "--set secnods");
    EXPECT_EQ(top.cure(), "did you mean 'seconds'?");
    EXPECT_EQ(error_with("bodies[0].masss", "3").cure(), "did you mean 'mass'?");
    EXPECT_EQ(error_with("bodies[7].mass", "3").problem(), "there is no entry 7");
    EXPECT_EQ(error_with("bodies[nobody].mass", "3").problem(), "no entry is named 'nobody'");
    EXPECT_EQ(error_with("materials[0].young", "3").problem(), "there is no '0' in materials");
    EXPECT_EQ(error_with("gravity.x", "3").problem(), "'gravity' has no parts named 'x'");
    EXPECT_EQ(error_with("gravity[3]", "3").problem(), "there is no entry 3");
    EXPECT_EQ(error_with("", "3").problem(), "is no path");
    EXPECT_EQ(error_with("bodies[0", "3").problem(), "has an open or empty bracket");
    EXPECT_EQ(error_with("elastic[0].model", "stvk").problem(), "the scene has no elastic");
    // Values are checked like those of the file.
    EXPECT_EQ(error_with("seconds", "soon").problem(), "is a text");
    EXPECT_EQ(error_with("dt", "-1").path(), "method.dt");
    EXPECT_EQ(error_with("method.kapa", "1").cure(), "did you mean 'kappa'?");
    EXPECT_EQ(error_with("shapes.ball.radios", "1").cure(), "did you mean 'radius'?");
    EXPECT_NE(error_with("gravity", "[0, 1").problem().find("JSON syntax error"), std::string::npos);
}

// Runs a check for each built-in scene; one that cannot be made does not hide the others.
template <class Check>
void for_each_builtin(Check check) {
    for (const BuiltinScene& builtin : builtin_scenes()) {
        SCOPED_TRACE(builtin.name);
        try {
            check(builtin);
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

TEST(Overrides, SetParametersOfBuiltInScenesFirst) {
    ASSERT_FALSE(builtin_scenes().empty());
    for_each_builtin([](const BuiltinScene& builtin) {
        const Scene made = load_scene(builtin.name, {{"seconds", "0.125"}, {"dt", "0.0625"}});
        bool own = false;
        for (const ParamInfo& parameter : builtin.parameters)
            own = own || parameter.name == "seconds" || parameter.name == "dt";
        if (!own) {
            EXPECT_EQ(made.seconds, 0.125);
            EXPECT_EQ(made.dt, 0.0625);
        }
        const InputError error = test::input_error([&] {
            load_scene(builtin.name, {{"no_such_thing", "1"}});
        });
        EXPECT_EQ(error.path(), "--set no_such_thing");
        EXPECT_EQ(test::input_error([&] {
                      load_scene(builtin.name, {{"preset", "papr"}});
                  }).path(),
                  "preset");
    });
}

// Keys of the scene as a whole take a shorter way than others; both must agree.
TEST(Overrides, ShortAndLongWayAgreeForBuiltInScenes) {
    for_each_builtin([](const BuiltinScene& builtin) {
        const std::vector<Override> header = {
            {"gravity[0]", "0.5"}, {"camera.fov", "33"}, {"wind.drag", "0.25"}};
        std::vector<Override> all = header;
        all.push_back({"contact.dhat", "0.0625"});
        Scene quick = load_scene(builtin.name, header);
        quick.contact.dhat = 0.0625;
        EXPECT_TRUE(write_scene(quick) == write_scene(load_scene(builtin.name, all)));
    });
}

TEST(Overrides, EveryBuiltInSceneSurvivesBeingWrittenOut) {
    for_each_builtin([](const BuiltinScene& builtin) {
        const std::string once = write_scene(load_scene(builtin.name));
        EXPECT_TRUE(write_scene(parse_scene(once, builtin.name, "")) == once);
    });
}

TEST(LoadScene, SuggestsBuiltInsForMistypedNames) {
    ASSERT_FALSE(builtin_scenes().empty());
    const std::string name = builtin_scenes()[0].name;
    const InputError error = test::input_error([&] { load_scene(name + "x"); });
    EXPECT_EQ(error.problem(), "is neither a file nor a built-in scene");
    EXPECT_NE(error.cure().find("did you mean '" + name + "'?"), std::string::npos);
    EXPECT_EQ(test::input_error([&] { load_scene("no/such/scene.json"); }).problem(), "no such file");
}

TEST(SceneLists, ReuseEqualGeometryAndFindBodiesByName) {
    Scene scene;
    GeometrySpec box;
    box.vertices = {{0, 0, 0}, {1, 0, 0}};
    box.edges = {{0, 1}};
    const int first = scene.add_geometry(box);
    GeometrySpec other = box;
    other.scale = Vec3(1, 2, 1);
    EXPECT_NE(scene.add_geometry(other), first);
    EXPECT_EQ(scene.add_geometry(box), first);
    scene.geometries.clear();  // the lists may be changed without the look-up tables
    EXPECT_EQ(scene.add_geometry(other), 0);

    BodySpec body;
    body.name = "one";
    EXPECT_EQ(scene.add_body(body), 0);
    EXPECT_EQ(scene.add_body({}), 1);
    EXPECT_EQ(scene.bodies[1].name, "body-1");
    EXPECT_EQ(scene.body_index("one"), 0);
    EXPECT_EQ(scene.body_index("two"), -1);
    EXPECT_THROW(scene.add_body(body), InputError);
    scene.bodies.erase(scene.bodies.begin());
    EXPECT_EQ(scene.body_index("one"), -1);
    EXPECT_EQ(scene.body_index("body-1"), 0);
    EXPECT_EQ(scene.add_body(body), 1);
    scene.bodies[0].name = "renamed";
    EXPECT_EQ(scene.body_index("renamed"), 0);
}

}  // namespace
}  // namespace tenon

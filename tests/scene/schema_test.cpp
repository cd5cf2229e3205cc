// The published schema: valid JSON that knows every key the reader knows.
#include <set>

#include <nlohmann/json.hpp>

#include "geometry/shapes.hpp"
#include "scene/keys.hpp"
#include "scene/support.hpp"
#include "tenon/method.hpp"
#include "tenon/scene_io.hpp"

namespace tenon {
namespace {

using nlohmann::json;

TEST(SceneSchema, HasEveryObjectWithEveryKeyAndADescription) {
    const json schema = json::parse(scene_schema());
    EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    for (const scene::ObjectInfo* object : scene::all_objects()) {
        const json& definition = object == &scene::scene_keys() ? schema : schema["$defs"][object->name];
        EXPECT_EQ(definition["type"], "object") << object->name;
        EXPECT_EQ(definition["additionalProperties"], false) << object->name;
        for (const scene::KeyInfo& key : object->keys) {
            ASSERT_TRUE(definition["properties"].contains(key.name)) << object->name << '.' << key.name;
            EXPECT_GT(definition["properties"][key.name]["description"].get<std::string>().size(), 3u)
                << object->name << '.' << key.name;
        }
    }
}

TEST(SceneSchema, HasEveryShapeAndMethodWithItsParameters) {
    const json schema = json::parse(scene_schema());
    for (const geometry::ShapeInfo& shape : geometry::all_shapes()) {
        const json& properties = schema["$defs"]["shape-" + shape.name]["properties"];
        EXPECT_EQ(properties["type"]["const"], shape.name);
        for (const ParamInfo& parameter : shape.parameters) EXPECT_TRUE(properties.contains(parameter.name));
    }
    for (const MethodInfo& method : all_methods()) {
        const json& properties = schema["$defs"]["method-" + method.name]["properties"];
        EXPECT_EQ(properties["type"]["const"], method.name);
        for (const ParamInfo& parameter : method.parameters) EXPECT_TRUE(properties.contains(parameter.name));
    }
}

void collect_references(const json& value, std::set<std::string>& out) {
    if (value.is_object() && value.contains("$ref")) out.insert(value["$ref"].get<std::string>());
    if (value.is_structured())
        for (const json& child : value) collect_references(child, out);
}

TEST(SceneSchema, RefersOnlyToWhatItDefines) {
    const json schema = json::parse(scene_schema());
    std::set<std::string> references;
    collect_references(schema, references);
    EXPECT_GT(references.size(), 10u);
    for (const std::string& reference : references) {
        const std::string prefix = "#/$defs/";
        ASSERT_EQ(reference.rfind(prefix, 0), 0u) << reference;
        EXPECT_TRUE(schema["$defs"].contains(reference.substr(prefix.size()))) << reference;
    }
}

// The page that describes the format names every key of every object.
TEST(SceneSchema, EveryKeyIsDocumented) {
    std::ifstream in(std::string(TENON_SOURCE_DIR) + "/docs/scene.md");
    ASSERT_TRUE(in) << "docs/scene.md is missing";
    const std::string page((std::istreambuf_iterator<char>(in)), {});
    for (const scene::ObjectInfo* object : scene::all_objects())
        for (const scene::KeyInfo& key : object->keys)
            EXPECT_NE(page.find("`" + key.name + "`"), std::string::npos) << object->name << '.' << key.name;
}

}  // namespace
}  // namespace tenon

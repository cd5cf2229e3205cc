// The published schema: valid JSON that knows every key the reader knows.
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "geometry/shapes.hpp"
#include "scene/keys.hpp"
#include "scene/samples.hpp"
#include "scene/support.hpp"
#include "tenon/builtin.hpp"
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

// The part of JSON Schema that ours uses; keywords it does not know are reported, never passed over.
class Validator {
  public:
    explicit Validator(const json& schema) : root_(schema) {}

    // Empty when `value` is valid, otherwise where and why it is not.
    std::string problem(const json& value) const { return check(root_, value, ""); }

  private:
    std::string check(const json& schema, const json& value, const std::string& path) const {
        if (!schema.is_object()) return path + ": the schema is no object";
        for (const auto& [keyword, rule] : schema.items()) {
            const std::string why = check_keyword(schema, keyword, rule, value, path);
            if (!why.empty()) return why;
        }
        return "";
    }

    std::string check_keyword(const json& schema, const std::string& keyword, const json& rule,
                              const json& value, const std::string& path) const {
        static const std::set<std::string> notes = {"$schema",
                                                    "$id",
                                                    "title",
                                                    "description",
                                                    "default",
                                                    "$defs",
                                                    "patternProperties",
                                                    "additionalProperties"};
        if (keyword == "properties") return check_members(schema, value, path);
        if (keyword == "additionalProperties" && !schema.contains("properties"))
            return check_members(schema, value, path);
        if (notes.count(keyword)) return "";
        if (keyword == "$ref")
            return check(root_["$defs"].at(rule.get<std::string>().substr(8)), value, path);
        if (keyword == "type") return has_type(value, rule) ? "" : path + ": is not of type " + rule.dump();
        if (keyword == "const") return value == rule ? "" : path + ": is not " + rule.dump();
        if (keyword == "enum")
            return std::find(rule.begin(), rule.end(), value) != rule.end()
                       ? ""
                       : path + ": is not in " + rule.dump();
        if (keyword == "not") return check(rule, value, path).empty() ? path + ": matches 'not'" : "";
        if (keyword == "required") {
            for (const json& key : rule)
                if (value.is_object() && !value.contains(key.get<std::string>()))
                    return path + ": has no " + key.dump();
            return "";
        }
        if (keyword == "anyOf") {
            std::string reasons;
            for (const json& option : rule) {
                const std::string why = check(option, value, path);
                if (why.empty()) return "";
                reasons += " | " + why;
            }
            return path + ": none of" + reasons;
        }
        if (keyword == "items") {
            for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
                const std::string why = check(rule, value[i], path + "[" + std::to_string(i) + "]");
                if (!why.empty()) return why;
            }
            return "";
        }
        if (keyword == "minItems") return value.size() >= rule ? "" : path + ": too short";
        if (keyword == "maxItems") return value.size() <= rule ? "" : path + ": too long";
        if (keyword == "minimum") return value >= rule ? "" : path + ": below " + rule.dump();
        if (keyword == "maximum") return value <= rule ? "" : path + ": above " + rule.dump();
        if (keyword == "exclusiveMinimum") return value > rule ? "" : path + ": not above " + rule.dump();
        if (keyword == "exclusiveMaximum") return value < rule ? "" : path + ": not below " + rule.dump();
        return path + ": unknown keyword " + keyword;
    }

    std::string check_members(const json& schema, const json& value, const std::string& path) const {
        if (!value.is_object()) return "";
        for (const auto& [key, member] : value.items()) {
            const std::string place = path + "." + key;
            std::string why;
            if (schema.contains("properties") && schema["properties"].contains(key))
                why = check(schema["properties"][key], member, place);
            else if (schema.contains("patternProperties") && key[0] == '#')
                continue;
            else if (schema["additionalProperties"].is_object())
                why = check(schema["additionalProperties"], member, place);
            else
                why = place + ": unknown key";
            if (!why.empty()) return why;
        }
        return "";
    }

    static bool has_type(const json& value, const std::string& type) {
        if (type == "object") return value.is_object();
        if (type == "array") return value.is_array();
        if (type == "string") return value.is_string();
        if (type == "boolean") return value.is_boolean();
        if (type == "number") return value.is_number();
        return type == "integer" && value.is_number() &&
               value.get<double>() == std::floor(value.get<double>());
    }

    json root_;
};

TEST(SceneSchema, AcceptsWhatTheReaderAccepts) {
    const Validator validator(json::parse(scene_schema()));
    EXPECT_EQ(validator.problem(json::parse(test::full_example)), "");
    json example = json::parse(test::published_example);
    if (std::none_of(all_methods().begin(), all_methods().end(),
                     [](const MethodInfo& method) { return method.name == "articulated"; }))
        example.erase("method");
    EXPECT_EQ(validator.problem(example), "");
    for (const BuiltinScene& builtin : builtin_scenes()) {
        SCOPED_TRACE(builtin.name);
        Scene scene;
        ASSERT_NO_THROW(scene = load_scene(builtin.name));
        if (scene.bodies.size() > 2000) continue;
        EXPECT_EQ(validator.problem(json::parse(write_scene(scene))), "") << builtin.name;
    }
}

TEST(SceneSchema, RefusesWhatTheReaderRefuses) {
    const Validator validator(json::parse(scene_schema()));
    for (const char* text :
         {R"({"seconds": 1})", R"({"bodies": [{"shape": "box", "mas": 1}]})",
          R"({"bodies": [{"shape": "box", "mass": 0}]})",
          R"({"bodies": [{"shape": {"type": "sphere", "size": 1}}]})",
          R"({"bodies": [{"shape": {"type": "spher"}}]})", R"({"method": {"dt": 0}, "bodies": []})",
          R"({"method": "afine", "bodies": []})", R"({"bodies": [{"position": [1, 2]}]})",
          R"({"joints": [{"type": "bal"}], "bodies": []})", R"({"bodies": [{"fixed": ["q"]}]})",
          R"({"materials": {"a": {"poisson": 0.5}}, "bodies": []})", R"({"bodies": [{"scale": 0}]})"})
        EXPECT_NE(validator.problem(json::parse(text)), "") << text;
    EXPECT_EQ(validator.problem(json::parse(R"({"#note": 1, "bodies": [{"shape": "box", "#": "x"}]})")), "");
}

// The pages that describe the format name every key of every object.
TEST(SceneSchema, EveryKeyIsDocumented) {
    std::string page;
    for (const char* name : {"scene.md", "robots.md"}) {
        std::ifstream in(std::string(TENON_SOURCE_DIR) + "/docs/" + name);
        ASSERT_TRUE(in) << name << " is missing";
        page.append(std::istreambuf_iterator<char>(in), {});
    }
    for (const scene::ObjectInfo* object : scene::all_objects())
        for (const scene::KeyInfo& key : object->keys)
            EXPECT_NE(page.find("`" + key.name + "`"), std::string::npos) << object->name << '.' << key.name;
}

}  // namespace
}  // namespace tenon

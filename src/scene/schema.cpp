// The published JSON Schema, made from the tables that the reader checks with.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "geometry/shapes.hpp"
#include "scene/keys.hpp"
#include "scene/method_schema.hpp"
#include "tenon/scene_io.hpp"

namespace tenon {
namespace {

using json = nlohmann::ordered_json;
using scene::KeyInfo;
using scene::Kind;
using scene::ObjectInfo;

json reference(const std::string& name) {
    return {{"$ref", "#/$defs/" + name}};
}

json number_type(const KeyInfo& key) {
    json type = {{"type", key.kind == Kind::integer ? "integer" : "number"}};
    if (std::isfinite(key.min)) type[key.open_min ? "exclusiveMinimum" : "minimum"] = key.min;
    if (std::isfinite(key.max)) type[key.open_max ? "exclusiveMaximum" : "maximum"] = key.max;
    return type;
}

json list_of(json items, int count = -1) {
    json list = {{"type", "array"}, {"items", std::move(items)}};
    if (count >= 0) list["minItems"] = list["maxItems"] = count;
    return list;
}

json index_type() {
    return {{"type", "integer"}, {"minimum", 0}};
}

json type_of(const KeyInfo& key) {
    const json text = {{"type", "string"}};
    switch (key.kind) {
        case Kind::flag:
            return {{"type", "boolean"}};
        case Kind::number:
        case Kind::integer:
            return number_type(key);
        case Kind::text:
            return key.choices.empty() ? text : json{{"type", "string"}, {"enum", key.choices}};
        case Kind::vec3:
            return list_of(number_type(key), 3);
        case Kind::numbers:
            return list_of(number_type(key), key.count);
        case Kind::scale: {
            const json factor = {{"type", "number"}, {"not", {{"const", 0}}}};
            return {{"anyOf", json::array({factor, list_of(factor, 3)})}};
        }
        case Kind::object:
            return reference(key.object().name);
        case Kind::objects:
            return list_of(reference(key.object().name));
        case Kind::object_map:
            return {{"type", "object"}, {"additionalProperties", reference(key.object().name)}};
        case Kind::names:
            return list_of(text, key.count);
        case Kind::name_pairs:
            return list_of(list_of(text, 2));
        case Kind::points:
            return list_of(list_of({{"type", "number"}}, 3));
        case Kind::indices:
            return list_of(list_of(index_type(), key.count));
        case Kind::index_list:
            return list_of(index_type());
        case Kind::number_pairs:
            return list_of(list_of({{"type", "number"}}, 2));
        case Kind::number_list:
            return {{"anyOf", json::array({{{"type", "number"}}, list_of({{"type", "number"}})})}};
        case Kind::number_lists:
            return {{"type", "object"},
                    {"additionalProperties",
                     {{"anyOf", json::array({{{"type", "number"}}, list_of({{"type", "number"}})})}}}};
        case Kind::name_list:
            return list_of(text);
        case Kind::matrix:
            return {{"anyOf", json::array({list_of({{"type", "number"}}, 6),
                                           list_of(list_of({{"type", "number"}}, 3), 3)})}};
        case Kind::fixed:
            return {{"anyOf", json::array({{{"type", "boolean"}},
                                           list_of({{"enum", {"x", "y", "z", "rx", "ry", "rz"}}}),
                                           list_of({{"type", "boolean"}}, 6)})}};
        case Kind::shape:
            return reference("shape");
        case Kind::shape_map:
            return {{"type", "object"},
                    {"additionalProperties",
                     {{"anyOf", json::array({reference("built-in-shape"), reference("geometry")})}}}};
        case Kind::method:
            return reference("method");
    }
    return {};
}

json described(json type, const std::string& help, const std::string& unit) {
    std::string text = help;
    if (!unit.empty()) text += (text.empty() || text.back() == '.' ? " Unit: " : ". Unit: ") + unit + ".";
    // Beside a $ref a description is allowed since draft 2019-09.
    type["description"] = text;
    return type;
}

json object_shell(const std::string& help) {
    return {{"type", "object"},
            {"description", help},
            {"properties", json::object()},
            {"patternProperties", {{"^#", {{"description", "A comment."}}}}},
            {"additionalProperties", false}};
}

json object_schema(const ObjectInfo& info) {
    json schema = object_shell(info.help);
    for (const KeyInfo& key : info.keys) {
        json type = described(type_of(key), key.help, key.unit);
        if (!key.fallback.empty()) type["default"] = json::parse(key.fallback);
        schema["properties"][key.name] = std::move(type);
        if (key.required) schema["required"].push_back(key.name);
    }
    return schema;
}

json param_number(const ParamInfo& info) {
    json type = {{"type", "number"}};
    // Bounds hold in metres; a file in millimetres has other numbers, but the same sign.
    const bool is_length = info.unit == "m" || info.unit == "m/s";
    if (std::isfinite(info.min) && (!is_length || info.min == 0)) type["minimum"] = info.min;
    if (std::isfinite(info.max) && !is_length) type["maximum"] = info.max;
    return type;
}

json param_schema(const ParamInfo& info) {
    json type, fallback;
    if (const bool* flag = std::get_if<bool>(&info.fallback)) {
        type = {{"type", "boolean"}};
        fallback = *flag;
    } else if (const double* number = std::get_if<double>(&info.fallback)) {
        type = param_number(info);
        fallback = *number;
    } else if (const std::string* text = std::get_if<std::string>(&info.fallback)) {
        type = {{"type", "string"}};
        if (!info.choices.empty()) type["enum"] = info.choices;
        fallback = *text;
    } else {
        const auto& list = std::get<std::vector<double>>(info.fallback);
        type = list_of(param_number(info), list.empty() ? -1 : static_cast<int>(list.size()));
        fallback = list;
    }
    type = described(std::move(type), info.help, info.unit);
    type["default"] = fallback;
    return type;
}

void add_shapes(json& definitions) {
    json names = json::array();
    for (const geometry::ShapeInfo& shape : geometry::all_shapes()) {
        json schema = object_shell(shape.summary);
        schema["properties"]["type"] = {{"const", shape.name}};
        for (const ParamInfo& parameter : shape.parameters)
            schema["properties"][parameter.name] = param_schema(parameter);
        schema["required"] = {"type"};
        definitions["shape-" + shape.name] = std::move(schema);
        names.push_back(reference("shape-" + shape.name));
    }
    definitions["built-in-shape"] = {{"description", "A built-in shape with its parameters."},
                                     {"anyOf", names}};
    definitions["shape"] = {
        {"description",
         "A built-in shape with its parameters, or the name of a built-in shape or entry of \"shapes\"."},
        {"anyOf", json::array({{{"type", "string"}}, reference("built-in-shape")})}};
}

void add_methods(json& definitions) {
    json choices = json::array(), names = json::array();
    const std::string standard = Scene{}.method;
    for (const scene::MethodSchema& method : scene::method_schemas()) {
        json schema = object_shell(method.summary);
        schema["properties"]["type"] = {{"const", method.name}};
        schema["properties"]["dt"] = {{"type", "number"},
                                      {"exclusiveMinimum", 0},
                                      {"maximum", 1000},
                                      {"default", Scene{}.dt},
                                      {"description", "Time step. Unit: s."}};
        for (const ParamInfo& parameter : method.parameters)
            schema["properties"][parameter.name] = param_schema(parameter);
        if (method.name != standard) schema["required"] = {"type"};
        definitions["method-" + method.name] = std::move(schema);
        choices.push_back(reference("method-" + method.name));
        names.push_back(method.name);
    }
    const json by_name = {{"type", "string"}, {"enum", names}};
    choices.insert(choices.begin(), by_name);
    definitions["method"] = {
        {"description", "A method's name, or an object with its type, dt and parameters."},
        {"anyOf", choices}};
}

}  // namespace

std::string scene_schema() {
    json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                   {"$id", "urn:tenon:scene:1"},
                   {"title", "Tenon scene"}};
    schema.update(object_schema(scene::scene_keys()));
    schema["anyOf"] = json::array({{{"required", {"bodies"}}}, {{"required", {"elastic"}}}});
    json definitions = json::object();
    for (const ObjectInfo* info : scene::all_objects())
        if (info != &scene::scene_keys()) definitions[info->name] = object_schema(*info);
    add_shapes(definitions);
    add_methods(definitions);
    schema["$defs"] = std::move(definitions);
    return schema.dump(2) + "\n";
}

}  // namespace tenon

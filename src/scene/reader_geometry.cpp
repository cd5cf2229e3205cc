#include <algorithm>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "geometry/shapes.hpp"
#include "scene/param_value.hpp"
#include "scene/reader.hpp"
#include "tenon/error.hpp"

namespace tenon::scene {
namespace {

// Equal texts give equal fingerprints: a million bodies with the same shape object are resolved once.
void append_fingerprint(std::string& out, const Value& value) {
    const auto append_number = [&](double number) {
        char bytes[sizeof number];
        out += 'n';
        std::memcpy(bytes, &number, sizeof number);
        out.append(bytes, sizeof number);
    };
    if (value.is_flag()) out += value.flag() ? 't' : 'f';
    if (value.is_number()) append_number(value.number());
    if (value.is_text()) ((out += 's') += value.text()) += '\0';
    if (value.is_numbers()) {
        out += '[';
        for (double number : value.numbers()) append_number(number);
        out += ']';
    }
    if (value.is_list()) {
        out += '(';
        for (const Value& entry : value.list()) append_fingerprint(out, entry);
        out += ')';
    }
    if (value.is_object()) {
        out += '{';
        for (const Member& member : value.object()) {
            (out += member.key) += '\0';
            append_fingerprint(out, member.value);
        }
        out += '}';
    }
}

Vec3 read_scale(const Value* scale) {
    if (!scale) return Vec3::Ones();
    return scale->is_number() ? Vec3::Constant(scale->number()) : to_vec3(*scale);
}

}  // namespace

void Reader::read_shapes(const Where& where, Value& shapes) {
    for (Member& member : shapes.object()) {
        if (is_comment(member.key)) continue;
        const Where entry = where / member.key;
        if (member.value.find("type")) {
            shapes_.emplace(member.key, shape_spec(entry, member.value));
            continue;
        }
        check_object(context_, entry, member.value, geometry_keys());
        shapes_.emplace(member.key, geometry_spec(entry, member.value));
    }
}

int Reader::geometry_of(const Where& where, Value& owner) {
    if (owner.find("vertices") || owner.find("parts"))
        return scene_.add_geometry(geometry_spec(where, owner));
    std::string fingerprint;
    for (const char* key : {"shape", "mesh", "scale", "thickness", "repair"})
        if (const Value* value = owner.find(key)) {
            (fingerprint += key) += '=';
            append_fingerprint(fingerprint, *value);
        }
    if (const auto found = geometry_by_fingerprint_.find(fingerprint);
        found != geometry_by_fingerprint_.end())
        return found->second;
    const int index = scene_.add_geometry(geometry_spec(where, owner));
    geometry_by_fingerprint_.emplace(std::move(fingerprint), index);
    return index;
}

GeometrySpec Reader::geometry_spec(const Where& where, Value& owner) {
    Value* const shape = owner.find("shape");
    const Value* const mesh = owner.find("mesh");
    const Value* const vertices = owner.find("vertices");
    Value* const parts = owner.find("parts");
    const int given = (shape != nullptr) + (mesh != nullptr) + (vertices != nullptr) + (parts != nullptr);
    if (given == 0)
        context_.fail(where, "has no geometry", "add one of \"shape\", \"mesh\", \"vertices\" or \"parts\"");
    if (given > 1)
        context_.fail(where, "has more than one geometry",
                      "keep one of \"shape\", \"mesh\", \"vertices\" and \"parts\"");
    for (const char* key : {"triangles", "edges", "points"})
        if (!vertices && owner.find(key))
            context_.fail(where / key, "belongs to an inline mesh", "add its \"vertices\"");

    GeometrySpec spec;
    if (shape) {
        spec = shape_spec(where / "shape", *shape);
    } else if (mesh) {
        spec.mesh_file = existing_file(where / "mesh", mesh->text());
        spec.scale.setConstant(context_.length);
    } else if (parts) {
        spec = compound(where / "parts", *parts);
    } else {
        spec = inline_mesh(where, owner);
    }
    spec.scale = spec.scale.cwiseProduct(read_scale(owner.find("scale")));
    if (const Value* thickness = owner.find("thickness")) spec.thickness = thickness->number();
    spec.repair = flag_or(owner, "repair", spec.repair);
    return spec;
}

GeometrySpec Reader::compound(const Where& where, Value& parts) {
    GeometrySpec spec;
    if (!parts.is_list()) context_.fail(where, "is empty", "list at least one part");
    for (std::size_t i = 0; i < parts.list().size(); ++i) {
        const Where entry = where / static_cast<long>(i);
        Value& value = parts.list()[i];
        GeometryPart part;
        part.geometry = geometry_spec(entry, value);
        if (!part.geometry.parts.empty())
            context_.fail(entry / "shape", "is made of parts itself", "list those parts instead");
        part.position = vec3_or(value, "position", part.position);
        part.rotation = read_rotation(entry, value);
        spec.parts.push_back(std::move(part));
    }
    return spec;
}

GeometrySpec Reader::shape_spec(const Where& where, Value& shape) {
    std::vector<std::string> names;
    for (const geometry::ShapeInfo& info : geometry::all_shapes()) names.push_back(info.name);
    GeometrySpec spec;
    if (shape.is_text()) {
        if (const auto found = shapes_.find(shape.text()); found != shapes_.end()) return found->second;
        const geometry::ShapeInfo* info = geometry::find_shape(shape.text());
        for (const auto& [name, unused] : shapes_) names.push_back(name);
        std::sort(names.begin(), names.end());
        if (!info)
            context_.fail(where, fmt::format("unknown shape '{}'", shape.text()),
                          suggestion(shape.text(), names));
        spec.shape = info->name;
        spec.shape_params = resolve_params(info->parameters, {}, {context_.file, where.text()});
        return spec;
    }
    const Value* type = shape.find("type");
    if (!type) context_.fail(where, "has no 'type'", "add the shape's name, such as \"type\": \"box\"");
    if (!type->is_text())
        context_.fail(where / "type", fmt::format("is {}", type->type_name()), "must be the name of a shape");
    const geometry::ShapeInfo* info = geometry::find_shape(type->text());
    if (!info)
        context_.fail(where / "type", fmt::format("unknown shape '{}'", type->text()),
                      suggestion(type->text(), names));
    std::map<std::string, ParamValue> given;
    for (const Member& member : shape.object())
        if (member.key != "type" && !is_comment(member.key))
            given.emplace(member.key,
                          to_param(context_, where / member.key, member.value, info->parameters, member.key));
    spec.shape = info->name;
    spec.shape_params = resolve_params(info->parameters, given, {context_.file, where.text()});
    return spec;
}

GeometrySpec Reader::inline_mesh(const Where& where, const Value& owner) const {
    GeometrySpec spec;
    const Value& vertices = *owner.find("vertices");
    if (vertices.array_size() == 0) context_.fail(where / "vertices", "is empty", "give at least one vertex");
    spec.vertices.reserve(vertices.array_size());
    for (const Value& vertex : vertices.list()) spec.vertices.push_back(to_vec3(vertex));

    const int count = static_cast<int>(spec.vertices.size());
    const auto checked = [&](const Where& place, double index) {
        if (index >= count)
            context_.fail(place, fmt::format("vertex {:g} does not exist", index),
                          fmt::format("there are {} vertices, numbered from 0", count));
        return static_cast<int>(index);
    };
    const auto read_tuples = [&](const char* key, auto& out, std::size_t size) {
        const Value* tuples = owner.find(key);
        if (!tuples || !tuples->is_list()) return;
        out.reserve(tuples->list().size());
        const Where list = where / key;
        for (std::size_t i = 0; i < tuples->list().size(); ++i) {
            const Numbers& numbers = tuples->list()[i].numbers();
            auto& tuple = out.emplace_back();
            for (std::size_t k = 0; k < size; ++k)
                tuple[k] = checked(list / static_cast<long>(i), numbers[k]);
        }
    };
    read_tuples("triangles", spec.triangles, 3);
    read_tuples("edges", spec.edges, 2);
    if (const Value* points = owner.find("points"))
        for (double point : points->numbers()) spec.points.push_back(checked(where / "points", point));
    if (spec.triangles.empty() && spec.edges.empty() && spec.points.empty())
        context_.fail(where / "vertices", "are joined by nothing",
                      "add \"triangles\", \"edges\" or \"points\"");
    return spec;
}

std::string Reader::existing_file(const Where& where, const std::string& given) {
    if (const auto found = files_.find(given); found != files_.end()) return found->second;
    namespace fs = std::filesystem;
    if (given.empty()) context_.fail(where, "is an empty file name", "give the path of a file");
    std::error_code error;
    const fs::path path = fs::absolute(fs::path(base_folder_) / given, error).lexically_normal();
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status))
        context_.fail(where, fmt::format("no such file: {}", path.string()),
                      "paths are relative to the scene file");
    if (fs::is_directory(status))
        context_.fail(where, fmt::format("{} is a folder", path.string()), "give a file");
    return files_.emplace(given, path.string()).first->second;
}

}  // namespace tenon::scene

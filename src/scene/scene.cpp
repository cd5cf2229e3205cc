#include "tenon/scene.hpp"

#include <functional>

#include <fmt/format.h>

#include "tenon/error.hpp"

namespace tenon {
namespace {

class Hasher {
  public:
    void add(std::size_t value) { hash_ ^= value + 0x9e3779b97f4a7c15ull + (hash_ << 6) + (hash_ >> 2); }
    void add(double value) { add(std::hash<double>()(value)); }
    void add(const std::string& value) { add(std::hash<std::string>()(value)); }
    void add(const Vec3& value) {
        for (int k = 0; k < 3; ++k) add(value[k]);
    }
    template <class Entries>
    void add_indices(const Entries& entries) {
        add(entries.size());
        for (const auto& entry : entries)
            for (int index : entry) add(static_cast<std::size_t>(index));
    }
    std::size_t value() const { return hash_; }

  private:
    std::size_t hash_ = 0;
};

std::size_t hash_of(const GeometrySpec& geometry) {
    Hasher hasher;
    hasher.add(geometry.shape);
    hasher.add(geometry.mesh_file);
    hasher.add(geometry.scale);
    hasher.add(geometry.thickness);
    for (const auto& [name, value] : geometry.shape_params.all()) {
        hasher.add(name);
        if (const double* number = std::get_if<double>(&value)) hasher.add(*number);
        if (const bool* flag = std::get_if<bool>(&value)) hasher.add(static_cast<std::size_t>(*flag));
        if (const std::string* text = std::get_if<std::string>(&value)) hasher.add(*text);
        if (const auto* list = std::get_if<std::vector<double>>(&value))
            for (double number : *list) hasher.add(number);
    }
    hasher.add(geometry.vertices.size());
    for (const Vec3& vertex : geometry.vertices) hasher.add(vertex);
    hasher.add_indices(geometry.triangles);
    hasher.add_indices(geometry.edges);
    for (int point : geometry.points) hasher.add(static_cast<std::size_t>(point));
    for (const GeometryPart& part : geometry.parts) {
        hasher.add(hash_of(part.geometry));
        hasher.add(part.position);
    }
    return hasher.value();
}

}  // namespace

bool operator==(const GeometrySpec& a, const GeometrySpec& b) {
    return a.shape == b.shape && a.shape_params == b.shape_params && a.mesh_file == b.mesh_file &&
           a.vertices == b.vertices && a.triangles == b.triangles && a.edges == b.edges &&
           a.points == b.points && a.parts == b.parts && a.scale == b.scale && a.thickness == b.thickness &&
           a.repair == b.repair;
}

bool operator==(const GeometryPart& a, const GeometryPart& b) {
    return a.geometry == b.geometry && a.position == b.position && a.rotation.coeffs() == b.rotation.coeffs();
}

int Scene::add_geometry(const GeometrySpec& geometry) {
    if (geometry_lookup.size() != geometries.size()) {
        geometry_lookup.clear();
        for (std::size_t i = 0; i < geometries.size(); ++i)
            geometry_lookup.emplace(hash_of(geometries[i]), static_cast<int>(i));
    }
    const std::size_t hash = hash_of(geometry);
    const auto [first, last] = geometry_lookup.equal_range(hash);
    for (auto entry = first; entry != last; ++entry)
        if (geometries[static_cast<std::size_t>(entry->second)] == geometry) return entry->second;
    const int index = static_cast<int>(geometries.size());
    geometries.push_back(geometry);
    geometry_lookup.emplace(hash, index);
    return index;
}

int Scene::add_material(const MaterialSpec& material) {
    for (std::size_t i = 0; i < materials.size(); ++i)
        if (materials[i].name == material.name) return static_cast<int>(i);
    materials.push_back(material);
    return static_cast<int>(materials.size()) - 1;
}

int Scene::add_body(BodySpec body) {
    if (body_lookup.size() != bodies.size()) {
        body_lookup.clear();
        for (std::size_t i = 0; i < bodies.size(); ++i)
            body_lookup.emplace(bodies[i].name, static_cast<int>(i));
    }
    const int index = static_cast<int>(bodies.size());
    if (body.name.empty()) body.name = fmt::format("body-{}", index);
    const auto [entry, is_new] = body_lookup.try_emplace(body.name, index);
    if (!is_new) {
        const int other = body_index(body.name);
        if (other >= 0)
            throw InputError(file, fmt::format("bodies[{}].name", index),
                             fmt::format("'{}' is already the name of bodies[{}]", body.name, other),
                             "names must be unique");
        entry->second = index;
    }
    bodies.push_back(std::move(body));
    return index;
}

int Scene::body_index(const std::string& body_name) const {
    const auto found = body_lookup.find(body_name);
    if (found != body_lookup.end() && static_cast<std::size_t>(found->second) < bodies.size() &&
        bodies[static_cast<std::size_t>(found->second)].name == body_name)
        return found->second;
    for (std::size_t i = 0; i < bodies.size(); ++i)
        if (bodies[i].name == body_name) return static_cast<int>(i);
    return -1;
}

}  // namespace tenon

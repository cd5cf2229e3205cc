#include <fmt/format.h>

#include "scene/reader.hpp"

namespace tenon::scene {

void Reader::read_elastic(const Where& where, Value& entries) {
    if (!entries.is_list()) return;
    for (std::size_t i = 0; i < entries.list().size(); ++i) {
        const Where entry = where / static_cast<long>(i);
        ElasticSpec elastic = read_elastic_body(entry, entries.list()[i]);
        if (elastic.name.empty()) elastic.name = fmt::format("elastic-{}", i);
        if (elastic.name == "world" || scene_.body_index(elastic.name) >= 0 ||
            !elastic_names_.emplace(elastic.name, static_cast<int>(i)).second)
            context_.fail(entry / "name", fmt::format("'{}' is already taken", elastic.name),
                          "names of bodies and elastic bodies must be unique");
        scene_.elastic.push_back(std::move(elastic));
    }
}

ElasticSpec Reader::read_elastic_body(const Where& where, Value& value) {
    ElasticSpec elastic;
    elastic.name = text_or(value, "name", "");
    double unit = 1.0;
    if (const Value* tets = value.find("tets")) {
        for (const char* key : {"shape", "mesh", "vertices", "cell_size", "thickness"})
            if (value.find(key))
                context_.fail(where / key, "is given besides \"tets\"", "keep one of the two");
        elastic.tets_file = existing_file(where / "tets", tets->text());
        unit = context_.length;
    } else {
        // `scale` belongs to the elastic body, not to its geometry; a mesh file brings the unit along.
        Value scale;
        if (Value* given = value.find("scale")) scale = std::move(*given);
        value.erase("scale");
        if (!value.find("shape") && !value.find("mesh") && !value.find("vertices"))
            context_.fail(where, "has no geometry",
                          "add one of \"tets\", \"shape\", \"mesh\" or \"vertices\"");
        elastic.geometry = geometry_of(where, value);
        if (!scale.is_null()) value.set("scale", std::move(scale));
    }
    if (const Value* scale = value.find("scale"))
        elastic.scale = scale->is_number() ? Vec3(Vec3::Constant(scale->number())) : to_vec3(*scale);
    elastic.scale *= unit;
    elastic.cell_size = number_or(value, "cell_size", elastic.cell_size);
    elastic.model = text_or(value, "model", elastic.model);
    if (const Value* material = value.find("material"))
        elastic.material = material_index(where / "material", material->text());
    elastic.position = vec3_or(value, "position", elastic.position);
    elastic.rotation = read_rotation(where, value);
    elastic.linear_velocity = vec3_or(value, "linear_velocity", elastic.linear_velocity);
    elastic.angular_velocity = vec3_or(value, "angular_velocity", elastic.angular_velocity);
    if (const Value* surface = value.find("surface"))
        elastic.surface_file = existing_file(where / "surface", surface->text());
    if (const Value* regions = value.find("regions"); regions && regions->is_list())
        for (std::size_t i = 0; i < regions->list().size(); ++i) {
            const Value& entry = regions->list()[i];
            const Where list = where / "regions", place = list / static_cast<long>(i);
            elastic.regions.push_back({to_vec3(*entry.find("lo")), to_vec3(*entry.find("hi")),
                                       material_index(place / "material", entry.find("material")->text())});
            check_box(place, elastic.regions.back().lo, elastic.regions.back().hi);
        }
    if (const Value* pins = value.find("pins"); pins && pins->is_list())
        read_pins(where / "pins", *pins, elastic);
    elastic.plane_strain = flag_or(value, "plane_strain", false);
    read_color(value, elastic.color);
    return elastic;
}

void Reader::read_pins(const Where& where, const Value& pins, ElasticSpec& elastic) const {
    for (std::size_t i = 0; i < pins.list().size(); ++i) {
        const Value& entry = pins.list()[i];
        const Where place = where / static_cast<long>(i);
        ElasticSpec::Pin pin;
        pin.lo = to_vec3(*entry.find("lo"));
        pin.hi = to_vec3(*entry.find("hi"));
        check_box(place, pin.lo, pin.hi);
        if (const Value* motion = entry.find("motion"); motion && motion->is_list())
            pin.motion = read_motion(place / "motion", *motion, {});
        pin.body = text_or(entry, "body", "");
        if (!pin.body.empty()) body_index(place / "body", pin.body);
        if (!pin.body.empty() && !pin.motion.empty())
            context_.fail(place / "motion", "is given besides a body", "keep one of the two");
        elastic.pins.push_back(std::move(pin));
    }
}

void Reader::check_box(const Where& where, const Vec3& lo, const Vec3& hi) const {
    if ((lo.array() > hi.array()).any())
        context_.fail(where / "lo", "is above hi", "every coordinate of lo must be at most that of hi");
}

}  // namespace tenon::scene

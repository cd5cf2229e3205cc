#include "scene/reader.hpp"
#include "scene/method_schema.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "scene/param_value.hpp"
#include "tenon/error.hpp"

namespace tenon::scene {

Vec3 to_vec3(const Value& numbers) {
    const Numbers& n = numbers.numbers();
    return {n[0], n[1], n[2]};
}

double number_or(const Value& object, std::string_view key, double fallback) {
    const Value* value = object.find(key);
    return value ? value->number() : fallback;
}

Vec3 vec3_or(const Value& object, std::string_view key, const Vec3& fallback) {
    const Value* value = object.find(key);
    return value ? to_vec3(*value) : fallback;
}

std::string text_or(const Value& object, std::string_view key, const std::string& fallback) {
    const Value* value = object.find(key);
    return value ? value->text() : fallback;
}

bool flag_or(const Value& object, std::string_view key, bool fallback) {
    const Value* value = object.find(key);
    return value ? value->flag() : fallback;
}

void read_color(const Value& object, std::array<double, 3>& color) {
    if (const Value* value = object.find("color"))
        std::copy(value->numbers().begin(), value->numbers().end(), color.begin());
}

Vec3 normalised(const Vec3& v) {
    return std::abs(v.squaredNorm() - 1.0) < 1e-14 ? v : Vec3(v / v.stableNorm());
}

Quat normalised_quaternion(const Quat& q) {
    if (std::abs(q.squaredNorm() - 1.0) < 1e-14) return q;
    const Vec4 coefficients = q.coeffs() / q.coeffs().stableNorm();
    return Quat(coefficients);
}

Reader::Reader(std::string file, std::string base_folder)
    : context_{std::move(file)}, base_folder_(std::move(base_folder)) {}

Scene Reader::read(Value& root) {
    const Where top;
    if (!root.is_object())
        context_.fail(top, fmt::format("is {}", root.type_name()),
                      "a scene is a JSON object with \"bodies\"");
    if (root.find("rigid_body_problem"))
        context_.fail(top, "is a scene of rigid-ipc", "turn it into one of Tenon's with 'tenon import'");
    // The units come first: checking already scales by them.
    if (const Value* units = root.find("units"); units && units->is_text() && units->text() == "mm")
        context_.length = 1e-3;
    check_object(context_, top, root, scene_keys());
    scene_.file = context_.file;  // for errors on the way

    read_header(root);
    if (Value* method = root.find("method")) read_method(top / "method", *method);
    if (scene_.seconds / scene_.dt > 1e12)
        context_.fail(top / "method" / "dt",
                      fmt::format("{:g} s would make {:g} steps", scene_.dt, scene_.seconds / scene_.dt),
                      "choose a larger dt or fewer seconds");
    if (const Value* materials = root.find("materials")) read_materials(*materials);
    if (Value* shapes = root.find("shapes")) read_shapes(top / "shapes", *shapes);
    if (Value* bodies = root.find("bodies")) read_bodies(top / "bodies", *bodies);
    if (Value* elastic = root.find("elastic")) read_elastic(top / "elastic", *elastic);
    if (scene_.bodies.empty() && scene_.elastic.empty() && !header_only_)
        context_.fail(top / "bodies", "the scene has no bodies", "add at least one body or elastic body");
    if (const Value* joints = root.find("joints")) read_joints(top / "joints", *joints);
    if (const Value* tendons = root.find("tendons")) read_tendons(top / "tendons", *tendons);
    if (const Value* actuators = root.find("actuators")) read_actuators(top / "actuators", *actuators);
    if (const Value* sensors = root.find("sensors")) read_sensors(top / "sensors", *sensors);
    if (const Value* keyframes = root.find("keyframes")) read_keyframes(top / "keyframes", *keyframes);
    if (const Value* start = root.find("start")) {
        scene_.start = start->text();
        if (!keyframe_names_.count(scene_.start)) {
            std::vector<std::string> names;
            for (const auto& [name, unused] : keyframe_names_) names.push_back(name);
            std::sort(names.begin(), names.end());
            context_.fail(top / "start", fmt::format("no keyframe is named '{}'", scene_.start),
                          suggestion(scene_.start, names));
        }
    }
    if (const Value* contact = root.find("contact")) read_contact(top / "contact", *contact);
    if (const Value* forces = root.find("forces")) read_forces(top / "forces", *forces);
    if (const Value* wind = root.find("wind")) read_wind(*wind);
    if (const Value* expect = root.find("expect")) read_expect(top / "expect", *expect);
    if (const Value* camera = root.find("camera")) read_camera(top / "camera", *camera);
    if (const Value* portrait = root.find("portrait")) scene_.camera["portrait"] = {portrait->number()};
    scene_.file.clear();
    return std::move(scene_);
}

void Reader::read_header(const Value& root) {
    scene_.name = text_or(root, "name", scene_.name);
    scene_.up = text_or(root, "up", scene_.up);
    const Vec3 down = scene_.up == "z" ? Vec3(0, 0, -9.81) : Vec3(0, -9.81, 0);
    scene_.gravity = vec3_or(root, "gravity", down);
    scene_.seconds = number_or(root, "seconds", scene_.seconds);
}

void Reader::read_method(const Where& where, Value& method) {
    if (method.is_text()) {
        Object object;
        object.push_back({"type", Value(method.text())});
        method = Value(std::move(object));
    }
    const KeyInfo type_key{.name = "type", .kind = Kind::text, .help = {}};
    const KeyInfo dt_key{
        .name = "dt", .kind = Kind::number, .help = {}, .unit = "s", .min = 0, .max = 1000, .open_min = true};
    if (Value* type = method.find("type")) {
        check_value(context_, where / "type", *type, type_key);
        scene_.method = type->text();
    }
    if (Value* dt = method.find("dt")) {
        check_value(context_, where / "dt", *dt, dt_key);
        scene_.dt = dt->number();
    }
    const std::vector<ParamInfo>* known = method_parameters(where / "type");
    for (const Member& member : method.object()) {
        if (member.key == "type" || member.key == "dt" || is_comment(member.key)) continue;
        scene_.method_params.emplace(member.key,
                                     to_param(context_, where / member.key, member.value,
                                              known ? *known : std::vector<ParamInfo>{}, member.key));
    }
    if (known) resolve_params(*known, scene_.method_params, {context_.file, where.text()});
}

// A scene may name any of the five families, also where a build leaves one out: then the parameters are
// kept unchecked, and it is the simulation that refuses.
const std::vector<ParamInfo>* Reader::method_parameters(const Where& where) const {
    std::vector<std::string> names = {"affine", "articulated", "impulse", "volume", "adaptive"};
    for (const MethodSchema& method : method_schemas()) {
        if (method.name == scene_.method) return &method.parameters;
        names.push_back(method.name);
    }
    if (std::find(names.begin(), names.begin() + 5, scene_.method) != names.begin() + 5) return nullptr;
    context_.fail(where, fmt::format("unknown method '{}'", scene_.method), suggestion(scene_.method, names));
}

void Reader::read_materials(const Value& materials) {
    for (const Member& member : materials.object()) {
        if (is_comment(member.key)) continue;
        MaterialSpec material;
        const Value& value = member.value;
        material.name = member.key;
        material.density = number_or(value, "density", material.density);
        material.young = number_or(value, "young", material.young);
        material.young_given = value.find("young") != nullptr;
        material.poisson = number_or(value, "poisson", material.poisson);
        material.max_strain = number_or(value, "max_strain", material.max_strain);
        material.friction = number_or(value, "friction", material.friction);
        material.restitution = number_or(value, "restitution", material.restitution);
        material.rayleigh_mass = number_or(value, "rayleigh_mass", material.rayleigh_mass);
        material.rayleigh_stiffness = number_or(value, "rayleigh_stiffness", material.rayleigh_stiffness);
        if (material.name == "default")
            scene_.materials[0] = material;
        else
            scene_.materials.push_back(material);
    }
}

int Reader::material_index(const Where& where, const std::string& name) const {
    for (std::size_t i = 0; i < scene_.materials.size(); ++i)
        if (scene_.materials[i].name == name) return static_cast<int>(i);
    std::vector<std::string> names;
    for (const MaterialSpec& material : scene_.materials) names.push_back(material.name);
    context_.fail(where, fmt::format("no material is named '{}'", name), suggestion(name, names));
}

std::vector<std::string> Reader::body_names() const {
    std::vector<std::string> names;
    for (const BodySpec& body : scene_.bodies) {
        if (names.size() == 1000) break;  // enough to suggest from
        names.push_back(body.name);
    }
    for (const ElasticSpec& elastic : scene_.elastic) names.push_back(elastic.name);
    return names;
}

int Reader::body_index(const Where& where, const std::string& name) const {
    const int index = scene_.body_index(name);
    if (index >= 0) return index;
    if (elastic_names_.count(name))
        context_.fail(where, fmt::format("'{}' is an elastic body", name), "name one of \"bodies\"");
    context_.fail(where, fmt::format("no body is named '{}'", name), suggestion(name, body_names()));
}

std::vector<int> Reader::bodies_of(const Where& where, const std::string& name) const {
    if (const int index = scene_.body_index(name); index >= 0) return {index};
    if (const auto found = elastic_names_.find(name); found != elastic_names_.end())
        return {static_cast<int>(scene_.bodies.size()) + found->second};
    std::vector<int> members;
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i)
        if (!name.empty() && scene_.bodies[i].group == name) members.push_back(static_cast<int>(i));
    if (members.empty())
        context_.fail(where, fmt::format("no body or group is named '{}'", name),
                      suggestion(name, body_names()));
    return members;
}

void Reader::read_contact(const Where& where, const Value& contact) {
    if (const Value* dhat = contact.find("dhat")) scene_.contact.dhat = dhat->number();
    scene_.contact.jointed_bodies_collide = flag_or(contact, "jointed_bodies_collide", false);
    if (const Value* pairs = contact.find("pairs"); pairs && pairs->is_list())
        for (std::size_t i = 0; i < pairs->list().size(); ++i) {
            const Value& value = pairs->list()[i];
            const Where list = where / "pairs", entry = list / static_cast<long>(i);
            PairSpec pair;
            const Where names = entry / "materials";
            for (long k = 0; k < 2; ++k)
                pair.materials[static_cast<std::size_t>(k)] = material_index(
                    names / k, value.find("materials")->list()[static_cast<std::size_t>(k)].text());
            if (const Value* friction = value.find("friction")) pair.friction = friction->number();
            if (const Value* restitution = value.find("restitution"))
                pair.restitution = restitution->number();
            scene_.contact.pairs.push_back(pair);
        }
    if (const Value* ignore = contact.find("ignore")) read_ignored(where / "ignore", *ignore);
}

void Reader::read_ignored(const Where& where, const Value& pairs) {
    if (!pairs.is_list()) return;
    constexpr std::size_t most_pairs = 10'000'000;
    for (std::size_t i = 0; i < pairs.list().size(); ++i) {
        const List& names = pairs.list()[i].list();
        const Where entry = where / static_cast<long>(i);
        const std::vector<int> first = bodies_of(entry / 0L, names[0].text());
        const std::vector<int> second = bodies_of(entry / 1L, names[1].text());
        if (names[0].text() == names[1].text())
            context_.fail(entry, fmt::format("pairs '{}' with itself", names[0].text()),
                          "name two different ones; bodies of one group never collide with each other");
        if (scene_.contact.ignore.size() + first.size() * second.size() > most_pairs)
            context_.fail(entry, "makes more than ten million pairs", "use one \"group\" for all of them");
        for (int a : first)
            for (int b : second)
                if (a != b) scene_.contact.ignore.push_back({a, b});
    }
}

void Reader::read_forces(const Where& where, const Value& forces) {
    if (!forces.is_list()) return;
    for (std::size_t i = 0; i < forces.list().size(); ++i) {
        const Value& value = forces.list()[i];
        const Where entry = where / static_cast<long>(i);
        ForceSpec force;
        const std::string& name = value.find("body")->text();
        const auto elastic = elastic_names_.find(name);
        force.body = elastic != elastic_names_.end() && scene_.body_index(name) < 0
                         ? static_cast<int>(scene_.bodies.size()) + elastic->second
                         : body_index(entry / "body", name);
        force.force = vec3_or(value, "force", force.force);
        force.torque = vec3_or(value, "torque", force.torque);
        if (const Value* point = value.find("point")) force.point = to_vec3(*point);
        force.body_frame = flag_or(value, "body_frame", false);
        if (force.body >= static_cast<int>(scene_.bodies.size()))
            for (const char* key : {"torque", "body_frame"})
                if (value.find(key))
                    context_.fail(entry / key, "does not fit an elastic body",
                                  "an elastic body takes a \"force\", shared by mass or at a \"point\" of "
                                  "the rest shape");
        force.from = number_or(value, "from", force.from);
        force.to = number_or(value, "to", force.to);
        if (force.to < force.from)
            context_.fail(entry / "to", fmt::format("{:g} s is before \"from\" {:g} s", force.to, force.from),
                          "a force ends after it begins");
        scene_.forces.push_back(force);
    }
}

void Reader::read_wind(const Value& wind) {
    scene_.wind.velocity = vec3_or(wind, "velocity", scene_.wind.velocity);
    scene_.wind.drag = number_or(wind, "drag", scene_.wind.drag);
    scene_.wind.gust = number_or(wind, "gust", scene_.wind.gust);
    scene_.wind.gust_period = number_or(wind, "gust_period", scene_.wind.gust_period);
}

void Reader::read_expect(const Where& where, const Value& entries) {
    if (!entries.is_list()) return;
    static const std::vector<std::string> lengths = {"x",        "y", "z", "speed", "moved", "min_distance",
                                                     "max_speed"};
    for (std::size_t i = 0; i < entries.list().size(); ++i) {
        const Value& value = entries.list()[i];
        const Where entry = where / static_cast<long>(i);
        ExpectSpec expect;
        expect.body = text_or(value, "body", "");
        if (!expect.body.empty() && !elastic_names_.count(expect.body))
            body_index(entry / "body", expect.body);
        expect.at = number_or(value, "at", expect.at);
        if (const Value* position = value.find("position")) expect.position = to_vec3(*position);
        expect.within = number_or(value, "within", expect.within);
        expect.quantity = text_or(value, "quantity", "");
        const bool is_length = std::find(lengths.begin(), lengths.end(), expect.quantity) != lengths.end();
        const double unit = is_length ? context_.length : 1.0;
        if (const Value* min = value.find("min")) expect.min = min->number() * unit;
        if (const Value* max = value.find("max")) expect.max = max->number() * unit;
        expect.note = text_or(value, "note", "");
        if (!expect.position && expect.quantity.empty())
            context_.fail(entry, "expects nothing",
                          "add a position with within, or a quantity with min or max");
        if (expect.position && expect.body.empty())
            context_.fail(entry, "expects a position of no body", "add the body's name");
        if (!expect.quantity.empty() && !value.find("min") && !value.find("max"))
            context_.fail(entry, fmt::format("sets no bounds for '{}'", expect.quantity),
                          "add min, max or both");
        if (expect.min > expect.max)
            context_.fail(entry / "min", fmt::format("{:g} is above max {:g}", expect.min, expect.max),
                          "min must not exceed max");
        scene_.expect.push_back(expect);
    }
}

void Reader::read_camera(const Where& where, const Value& camera) {
    for (const char* key : {"eye", "target"})
        if (const Value* value = camera.find(key)) scene_.camera[key] = value->numbers();
    if (const Value* fov = camera.find("fov")) scene_.camera["fov"] = {fov->number()};
    if (scene_.camera.count("eye") && scene_.camera.count("target") &&
        scene_.camera["eye"] == scene_.camera["target"])
        context_.fail(where, "eye and target are the same point", "move the eye away");
}

}  // namespace tenon::scene

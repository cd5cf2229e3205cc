#include "scene/import/mjcf_defaults.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "scene/import/mjcf_attributes.hpp"
#include "tenon/params.hpp"

namespace tenon::scene {
namespace {

// What all kinds of actuators have in common: a default for one of them is one for all.
const std::vector<std::string> actuator_tags = {"general", "motor",    "position", "velocity", "intvelocity",
                                                "damper",  "cylinder", "muscle",   "adhesion"};
const std::vector<std::string> shared_attributes = {
    "ctrlrange", "forcerange",  "gear",     "ctrllimited", "forcelimited", "lengthrange",
    "group",     "cranklength", "actrange", "actlimited",  "inheritrange"};

bool is_one_of(const std::vector<std::string>& list, std::string_view entry) {
    return std::find(list.begin(), list.end(), entry) != list.end();
}

}  // namespace

bool is_actuator_tag(std::string_view tag) {
    return is_one_of(actuator_tags, tag);
}

// Where a default is kept: MuJoCo has one set for all kinds of actuators.
static std::string key_of(std::string_view tag, std::string_view attribute) {
    const bool shared = is_actuator_tag(tag) && is_one_of(shared_attributes, attribute);
    return (shared ? "actuator" : std::string(tag)) + "/" + std::string(attribute);
}

MjcfDefaults::MjcfDefaults() {
    classes_.emplace_back();
    index_.emplace("main", 0);
}

int MjcfDefaults::open_class(const XmlElement& element, int parent) {
    const auto name = element.attribute("class");
    if (parent < 0) {
        if (name && !name->empty()) index_.emplace(std::string(*name), 0);
        return 0;
    }
    if (!name || name->empty()) element.fail("a default inside another has no 'class'", "name it");
    const auto [entry, is_new] = index_.emplace(std::string(*name), static_cast<int>(classes_.size()));
    if (!is_new)
        element.fail(fmt::format("two default classes are named '{}'", name->substr(0, 60)),
                     "names must be unique");
    const int depth = classes_[static_cast<std::size_t>(parent)].depth + 1;
    if (depth > 1000) element.fail("default classes are nested deeper than 1000", "flatten them");
    classes_.push_back({parent, depth, {}, {}});
    return entry->second;
}

void MjcfDefaults::add(const XmlElement& top) {
    static const std::vector<std::string> known = {
        "default",  "mesh",        "material", "joint",    "geom",    "site",    "camera",
        "light",    "pair",        "equality", "tendon",   "general", "motor",   "position",
        "velocity", "intvelocity", "damper",   "cylinder", "muscle",  "adhesion"};
    std::vector<std::pair<XmlElement, int>> stack = {{top, -1}};
    while (!stack.empty()) {
        const auto [element, parent] = stack.back();
        stack.pop_back();
        check_children(element, known);
        const int cls = open_class(element, parent);
        for (XmlElement child = element.first_child(); child; child = child.next()) {
            if (child.name() == "default") {
                stack.emplace_back(child, cls);
                continue;
            }
            check_mjcf_attributes(child);
            Class& own = classes_[static_cast<std::size_t>(cls)];
            for (const auto& [name, value] : child.attributes())
                own.values[key_of(child.name(), name)] = value;
            if (is_actuator_tag(child.name())) own.actuators.push_back(child);
        }
    }
}

int MjcfDefaults::find(const XmlElement& user, std::string_view name) const {
    const auto found = index_.find(std::string(name));
    if (found != index_.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [known, unused] : index_) names.push_back(known);
    std::sort(names.begin(), names.end());
    user.fail(fmt::format("no default class is named '{}'", name.substr(0, 60)),
              suggestion(std::string(name.substr(0, 100)), names));
}

std::optional<std::string_view> MjcfDefaults::value(int cls, std::string_view tag,
                                                    std::string_view attribute) const {
    const std::string key = key_of(tag, attribute);
    for (int c = cls; c >= 0; c = classes_[static_cast<std::size_t>(c)].parent) {
        const auto& values = classes_[static_cast<std::size_t>(c)].values;
        if (const auto found = values.find(key); found != values.end()) return found->second;
    }
    return std::nullopt;
}

std::vector<XmlElement> MjcfDefaults::actuators(int cls) const {
    std::vector<int> chain;
    for (int c = cls; c >= 0; c = classes_[static_cast<std::size_t>(c)].parent) chain.push_back(c);
    std::vector<XmlElement> all;
    for (auto c = chain.rbegin(); c != chain.rend(); ++c) {
        const auto& own = classes_[static_cast<std::size_t>(*c)].actuators;
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

MjcfElement::MjcfElement(const XmlElement& element, const MjcfDefaults& defaults, int childclass,
                         std::string_view tag)
    : element_(element), defaults_(defaults), class_(childclass), tag_(tag.empty() ? element.name() : tag) {
    check_mjcf_attributes(element);
    if (const auto cls = element.attribute("class")) class_ = defaults.find(element, *cls);
}

std::optional<std::string_view> MjcfElement::get(std::string_view attribute) const {
    if (const auto own = element_.attribute(attribute)) return own;
    return defaults_.value(class_, tag_, attribute);
}

std::string MjcfElement::text(std::string_view attribute, const std::string& fallback) const {
    const auto value = get(attribute);
    return value ? std::string(*value) : fallback;
}

double MjcfElement::number(std::string_view attribute, double fallback) const {
    const auto value = get(attribute);
    return value ? parse_numbers(element_, attribute, *value, 1, 1)[0] : fallback;
}

Vec3 MjcfElement::vec3(std::string_view attribute, const Vec3& fallback) const {
    const auto value = get(attribute);
    if (!value) return fallback;
    const std::vector<double> n = parse_numbers(element_, attribute, *value, 3, 3);
    return {n[0], n[1], n[2]};
}

std::vector<double> MjcfElement::numbers(std::string_view attribute, std::size_t least,
                                         std::size_t most) const {
    const auto value = get(attribute);
    return value ? parse_numbers(element_, attribute, *value, least, most) : std::vector<double>{};
}

bool MjcfElement::flag(std::string_view attribute, bool fallback, bool automatic) const {
    const auto value = get(attribute);
    if (!value) return fallback;
    if (*value == "true") return true;
    if (*value == "false") return false;
    if (*value == "auto") return automatic;
    element_.fail(fmt::format("{} is '{}'", attribute, value->substr(0, 40)), "it is true, false or auto");
}

}  // namespace tenon::scene

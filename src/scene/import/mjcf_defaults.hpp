// Default classes of MJCF, and attributes as an element has them: its own, its class's, or those of a class above.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "scene/import/attributes.hpp"

namespace tenon::scene {

class MjcfDefaults {
  public:
    MjcfDefaults();
    void add(const XmlElement& element);  // a top-level <default>

    int find(const XmlElement& user, std::string_view name) const;  // refuses unknown classes
    std::optional<std::string_view> value(int cls, std::string_view tag, std::string_view attribute) const;
    // Actuators among the defaults of a class, those of the classes above it first: each acts on what those before it made.
    std::vector<XmlElement> actuators(int cls) const;

  private:
    struct Class {
        int parent = -1, depth = 0;
        std::unordered_map<std::string, std::string_view> values;  // "tag/attribute"
        std::vector<XmlElement> actuators;
    };
    int open_class(const XmlElement& element, int parent);

    std::vector<Class> classes_;
    std::unordered_map<std::string, int> index_;
};

// An element with its defaults. `tag` is the name its defaults go by.
class MjcfElement {
  public:
    MjcfElement(const XmlElement& element, const MjcfDefaults& defaults, int childclass,
                std::string_view tag = {});

    const XmlElement& xml() const { return element_; }
    int default_class() const { return class_; }
    std::optional<std::string_view> get(std::string_view attribute) const;
    bool has(std::string_view attribute) const { return get(attribute).has_value(); }
    std::string text(std::string_view attribute, const std::string& fallback = {}) const;
    double number(std::string_view attribute, double fallback) const;
    Vec3 vec3(std::string_view attribute, const Vec3& fallback) const;
    std::vector<double> numbers(std::string_view attribute, std::size_t least,
                                std::size_t most) const;  // empty: not given
    // true, false or auto; auto gives `automatic`.
    bool flag(std::string_view attribute, bool fallback, bool automatic) const;

  private:
    XmlElement element_;
    const MjcfDefaults& defaults_;
    int class_;
    std::string tag_;
};

bool is_actuator_tag(std::string_view tag);

}  // namespace tenon::scene

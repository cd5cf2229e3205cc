// The keys of a scene file, as tables: what the reader checks, the overrides walk and the schema publishes.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::scene {

enum class Kind {
    flag,
    number,
    integer,
    text,
    vec3,
    numbers,  // exactly `count` numbers
    scale,    // one number or three, none of them zero
    object,
    objects,       // a list of objects
    object_map,    // objects by name
    names,         // exactly `count` texts
    name_pairs,    // a list of pairs of texts
    points,        // a list of triples of numbers
    indices,       // a list of lists of `count` whole numbers
    index_list,    // a list of whole numbers
    number_pairs,  // a list of pairs of numbers
    number_list,   // a number, or a list of numbers
    number_lists,  // of those, by name
    name_list,     // a list of texts
    matrix,        // a symmetric 3x3 matrix: six numbers xx xy xz yy yz zz, or three rows
    fixed,         // true, names of coordinates, or six flags
    shape,         // a built-in shape with its parameters, or a name out of "shapes"
    shape_map,     // shapes by name
    method,        // a method's name, or an object with its type and parameters
};

struct ObjectInfo;

struct KeyInfo {
    std::string name;
    Kind kind;
    std::string help;
    std::string fallback = {};  // JSON, for the schema
    std::string unit = {};      // "m" and "m/s" are scaled by the scene's units
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
    bool open_min = false, open_max = false;  // the bound itself is not allowed
    int count = 0;
    std::vector<std::string> choices = {};
    const ObjectInfo& (*object)() = nullptr;
    bool required = false;

    bool is_length() const { return unit == "m" || unit == "m/s"; }
};

struct ObjectInfo {
    std::string name;
    std::string help;
    std::vector<KeyInfo> keys;

    const KeyInfo* find(std::string_view key) const;
    std::vector<std::string> names() const;
};

const ObjectInfo& scene_keys();
const ObjectInfo& geometry_keys();  // an entry of "shapes" that is a mesh

const ObjectInfo& body_keys();
const ObjectInfo& part_keys();
const ObjectInfo& inertia_keys();
const ObjectInfo& keyframe_keys();
const ObjectInfo& elastic_keys();
const ObjectInfo& region_keys();
const ObjectInfo& pin_keys();

const ObjectInfo& joint_keys();
const ObjectInfo& drive_keys();
const ObjectInfo& spring_keys();
const ObjectInfo& motor_keys();

const ObjectInfo& tendon_keys();
const ObjectInfo& actuator_keys();
const ObjectInfo& sensor_keys();
const ObjectInfo& state_keyframe_keys();
const ObjectInfo& body_state_keys();

std::vector<const ObjectInfo*> all_objects();

}  // namespace tenon::scene

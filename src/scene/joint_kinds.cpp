#include "scene/joint_kinds.hpp"

#include <array>
#include <stdexcept>

namespace tenon::scene {
namespace {

struct JointKind {
    std::string name;
    std::vector<Coordinate> coordinates;
};

// In the order of the enumeration JointType.
const std::array<JointKind, 9>& joint_kinds() {
    constexpr auto angle = Coordinate::angle, length = Coordinate::length;
    static const std::array<JointKind, 9> kinds = {{{"ball", {angle, angle}},
                                                    {"hinge", {angle}},
                                                    {"universal", {angle, angle}},
                                                    {"prismatic", {length}},
                                                    {"fixed", {}},
                                                    {"cylindrical", {angle, length}},
                                                    {"planar", {length, length, angle}},
                                                    {"distance", {}},
                                                    {"coupling", {}}}};
    return kinds;
}

}  // namespace

const std::vector<Coordinate>& free_coordinates(JointType type) {
    return joint_kinds()[static_cast<std::size_t>(type)].coordinates;
}

const std::vector<Coordinate>& driven_coordinates(JointType type) {
    static const std::vector<Coordinate> length{Coordinate::length};
    return type == JointType::distance ? length : free_coordinates(type);
}

const std::string& joint_type_name(JointType type) {
    return joint_kinds()[static_cast<std::size_t>(type)].name;
}

JointType joint_type_of(const std::string& name) {
    for (std::size_t i = 0; i < joint_kinds().size(); ++i)
        if (joint_kinds()[i].name == name) return static_cast<JointType>(i);
    throw std::logic_error("no joint type named " + name);
}

}  // namespace tenon::scene

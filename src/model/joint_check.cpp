#include "model/joint_check.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "model/joint_rows.hpp"
#include "tenon/error.hpp"

namespace tenon {
namespace {

[[noreturn]] void refuse(const Scene& scene, int joint, const std::string& key, const std::string& problem,
                         const std::string& cure) {
    throw InputError(scene.file, fmt::format("joints[{}]{}", joint, key), problem, cure);
}

std::string called(const Scene& scene, int joint) {
    const std::string& name = scene.joints[joint].name;
    return name.empty() ? fmt::format("joints[{}]", joint) : fmt::format("joints[{}] ('{}')", joint, name);
}

void check_coupling(const Scene& scene, int j) {
    const JointSpec& spec = scene.joints[j];
    for (int k = 0; k < 2; ++k) {
        const int other = spec.joints[k];
        if (other < 0 || other >= static_cast<int>(scene.joints.size()))
            refuse(scene, j, fmt::format(".joints[{}]", k), fmt::format("there is no joint {}", other),
                   "give the numbers of two joints");
        const int count = joint_coordinate_count(scene.joints[other].type);
        if (spec.coordinates[k] < 0 || spec.coordinates[k] >= count)
            refuse(scene, j, ".coordinates",
                   fmt::format("{} has no coordinate {}", called(scene, other), spec.coordinates[k]),
                   fmt::format("it has {} free coordinates, numbered from 0", count));
    }
}

void check_bodies(const Scene& scene, int j) {
    const JointSpec& spec = scene.joints[j];
    bool moves = false;
    for (int k = 0; k < 2; ++k) {
        const int body = spec.bodies[k];
        if (body < -1 || body >= static_cast<int>(scene.bodies.size()))
            refuse(scene, j, fmt::format(".bodies[{}]", k), fmt::format("there is no body {}", body),
                   "give the numbers of two bodies, or -1 for the world");
        moves = moves || (body >= 0 && scene.bodies[body].type != BodyType::static_body);
    }
    if (!moves)
        refuse(scene, j, ".bodies", "joins two things that never move",
               "a joint needs a dynamic or kinematic body");
    if (!(spec.axis.norm() > 1e-150)) refuse(scene, j, ".axis", "has length zero", "give a direction");
}

bool has_axis(JointType type) {
    return type != JointType::ball && type != JointType::fixed && type != JointType::distance;
}

// The same conditions on the same two bodies.
bool repeats(const JointSpec& a, const JointSpec& b) {
    if (a.type != b.type) return false;
    if (a.type == JointType::coupling) return true;
    if ((a.point - b.point).norm() > 1e-9) return false;
    if (a.type == JointType::distance &&
        (a.point_b.value_or(a.point) - b.point_b.value_or(b.point)).norm() > 1e-9)
        return false;
    return !has_axis(a.type) || a.axis.normalized().cross(b.axis.normalized()).norm() < 1e-9;
}

}  // namespace

void check_joints(const Scene& scene) {
    // joints by what they tie: two bodies, or two coordinates
    using Key = std::tuple<int, int, int, int, int>;  // a and b, the coordinates of couplings, the joint
    std::vector<Key> ties;
    ties.reserve(scene.joints.size());
    for (int j = 0; j < static_cast<int>(scene.joints.size()); ++j) {
        const JointSpec& spec = scene.joints[j];
        const bool couples = spec.type == JointType::coupling;
        couples ? check_coupling(scene, j) : check_bodies(scene, j);
        const std::array<int, 2>& ends = couples ? spec.joints : spec.bodies;
        const int swap = ends[0] > ends[1];
        const int shift = couples ? static_cast<int>(scene.bodies.size()) + 1 : 0;  // couplings by themselves
        ties.emplace_back(ends[swap] + shift, ends[1 - swap] + shift, couples ? spec.coordinates[swap] : 0,
                          couples ? spec.coordinates[1 - swap] : 0, j);
    }
    std::sort(ties.begin(), ties.end());
    const auto same = [](const Key& a, const Key& b) {
        return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a), std::get<3>(a)) ==
               std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b), std::get<3>(b));
    };
    for (std::size_t first = 0; first < ties.size(); ++first)
        for (std::size_t k = first + 1; k < ties.size() && same(ties[first], ties[k]); ++k) {
            const int i = std::get<4>(ties[first]), j = std::get<4>(ties[k]);
            if (!repeats(scene.joints[i], scene.joints[j])) continue;
            if (scene.joints[j].type == JointType::coupling)
                refuse(scene, j, ".joints",
                       fmt::format("{} couples the same two coordinates", called(scene, i)),
                       "two couplings repeat or contradict each other: remove one");
            refuse(scene, j, "", fmt::format("repeats {}", called(scene, i)), "remove one of the two");
        }
}

}  // namespace tenon

#include "run/scene_warnings.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace tenon::run {
namespace {

// Drawn parts are mostly in millimetres, and their files do not say so.
void large_meshes(const Scene& scene, const Model& model, std::vector<std::string>& warnings) {
    constexpr double suspicious = 20.0;  // m
    std::vector<bool> told(scene.geometries.size(), false);
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
        const int geometry = scene.bodies[i].geometry;
        if (geometry < 0 || told[geometry] || scene.geometries[geometry].mesh_file.empty()) continue;
        if (scene.geometries[geometry].scale != Vec3::Ones()) continue;
        if (static_cast<int>(i) >= model.bodies.size() || model.bodies.name[i] != scene.bodies[i].name)
            continue;
        const Box3& box = model.shape_of(static_cast<int>(i)).box;
        if (box.empty() || box.size().maxCoeff() < suspicious) continue;
        told[geometry] = true;
        warnings.push_back(fmt::format(
            "bodies[{}] '{}': {} is {:.4g} m large; if it was drawn in millimetres, give the body \"scale\": "
            "0.001",
            i, scene.bodies[i].name, scene.geometries[geometry].mesh_file, box.size().maxCoeff()));
    }
}

// Two turns and more are rare; 45 or 90 are the degrees that everybody writes.
void large_angles(const Scene& scene, std::vector<std::string>& warnings) {
    constexpr double suspicious = 4 * std::numbers::pi, unlimited = 1e3;  // rad
    for (std::size_t j = 0; j < scene.joints.size(); ++j) {
        const JointSpec& joint = scene.joints[j];
        if (joint.type != JointType::hinge && joint.type != JointType::universal) continue;
        for (const DriveSpec& drive : joint.drives) {
            if (!drive.limits) continue;
            double largest = 0;
            for (const double limit : *drive.limits)
                if (std::abs(limit) < unlimited) largest = std::max(largest, std::abs(limit));
            if (largest < suspicious) continue;
            warnings.push_back(
                fmt::format("joints[{}] '{}': limits of {:.4g} rad are {:.2g} turns; if degrees were meant, "
                            "{:.4g} degrees "
                            "are {:.4g} rad",
                            j, joint.name, largest, largest / (2 * std::numbers::pi), largest,
                            largest * std::numbers::pi / 180));
        }
    }
}

}  // namespace

std::vector<std::string> unit_warnings(const Scene& scene, const Model& model) {
    std::vector<std::string> warnings;
    large_meshes(scene, model, warnings);
    large_angles(scene, warnings);
    return warnings;
}

}  // namespace tenon::run

#include "run/scene_warnings.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "model/joint_rows.hpp"

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

// A joint that starts beyond its limits is thrown back to them with the energy of stiff limits.
void starts_beyond_limits(const Model& model, std::vector<std::string>& warnings) {
    for (const Joint& joint : model.joints) {
        if (joint.spec.type == JointType::distance || joint.spec.type == JointType::coupling) continue;
        const auto count =
            std::min<std::size_t>(joint.spec.drives.size(), joint_coordinate_count(joint.spec.type));
        for (std::size_t k = 0; k < count; ++k) {
            if (!joint.spec.drives[k].limits) continue;
            const auto& [low, high] = *joint.spec.drives[k].limits;
            const double start = joint.start_coordinate[k], within = std::clamp(start, low, high);
            const bool angle = coordinate_is_angle(joint.spec.type, static_cast<int>(k));
            if (std::abs(start - within) <= 1e-9 * std::max(1.0, std::abs(start))) continue;
            warnings.push_back(
                fmt::format("joint '{}' starts at {:.4g} {}, outside its limits {:.4g} to {:.4g}: the first "
                            "step throws it back; "
                            "start it within them, with \"position\": {:.4g}",
                            joint.spec.name, start, angle ? "rad" : "m", low, high, within));
        }
    }
}

}  // namespace

std::vector<std::string> start_warnings(const Scene& scene, const Model& model) {
    std::vector<std::string> warnings;
    starts_beyond_limits(model, warnings);
    large_meshes(scene, model, warnings);
    large_angles(scene, warnings);
    return warnings;
}

}  // namespace tenon::run

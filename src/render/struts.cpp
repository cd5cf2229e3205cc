#include "render/struts.hpp"

#include <algorithm>

#include "render/marks.hpp"

namespace tenon::render {
namespace {

constexpr std::size_t most = 500;  // a mechanism, not a net

bool turns_about_a_point(JointType type) {
    return type == JointType::ball || type == JointType::hinge || type == JointType::universal;
}

}  // namespace

std::vector<JointAnchor> world_anchors(const run::RunModel& run) {
    std::vector<JointAnchor> anchors;
    for (const run::JointInfo& joint : run.joints)
        for (int side = 0; side < 2; ++side)
            if (joint.bodies[side] >= 0 && joint.bodies[1 - side] < 0 && anchors.size() < most)
                anchors.push_back({joint.type, joint.bodies[side], joint.point[side]});
    return anchors;
}

void add_struts(Drawing& drawing, const std::vector<JointAnchor>& anchors) {
    for (const JointAnchor& anchor : anchors) {
        if (!turns_about_a_point(anchor.type) || anchor.body >= static_cast<int>(drawing.bodies.size()))
            continue;
        const int mesh = drawing.bodies[anchor.body].mesh;
        if (mesh < 0) continue;
        const Box3& box = drawing.boxes[mesh];
        const Vec3 nearest = anchor.point.cwiseMax(box.lo).cwiseMin(box.hi);
        const double gap = (anchor.point - nearest).norm(), size = box.diagonal();
        if (gap < 0.04 * size) continue;
        const Vec3 center = box.center();
        const auto radius = static_cast<float>(0.012 * std::max(size, 0.4 * (anchor.point - center).norm()));
        Strut strut;
        strut.body = anchor.body;
        add_capsule(center.cast<float>(), anchor.point.cast<float>(), radius, 12, strut.mesh);
        add_ball(anchor.point.cast<float>(), 2 * radius, strut.mesh);
        strut.mesh.corner_normals = corner_normals(strut.mesh.vertices, strut.mesh.triangles);
        drawing.struts.push_back(std::move(strut));
    }
}

}  // namespace tenon::render

#include "render/struts.hpp"

#include <algorithm>
#include <cstring>

#include "render/marks.hpp"
#include "run/sqlite.hpp"

namespace tenon::render {
namespace {

constexpr std::size_t most = 500;  // a mechanism, not a net

bool turns_about_a_point(JointType type) {
    return type == JointType::ball || type == JointType::hinge || type == JointType::universal;
}

}  // namespace

std::vector<JointAnchor> world_anchors(const tenon::Model& model) {
    std::vector<JointAnchor> anchors;
    for (const Joint& joint : model.joints)
        for (int side = 0; side < 2; ++side)
            if (joint.bodies[side] >= 0 && joint.bodies[1 - side] < 0 && anchors.size() < most)
                anchors.push_back({joint.spec.type, joint.bodies[side], joint.point[side]});
    return anchors;
}

std::vector<JointAnchor> world_anchors(const run::RunReader& reader) {
    std::vector<JointAnchor> anchors;
    if (reader.joints().empty()) return anchors;
    const std::vector<run::JointInfo>& joints = reader.joints();
    try {
        const run::Database database(reader.file(), run::Database::Mode::read_only);
        run::Statement row(database, "SELECT id, point_a, point_b FROM joints ORDER BY id LIMIT 10000");
        while (row.next() && anchors.size() < most) {
            const auto id = static_cast<std::size_t>(row.integer(0));
            if (id >= joints.size()) continue;
            for (int side = 0; side < 2; ++side) {
                if (joints[id].bodies[side] < 0 || joints[id].bodies[1 - side] >= 0) continue;
                const std::string_view bytes = row.blob(1 + side);
                JointAnchor anchor{joints[id].type, joints[id].bodies[side], Vec3::Zero()};
                if (bytes.size() != sizeof(Vec3)) continue;
                std::memcpy(anchor.point.data(), bytes.data(), bytes.size());
                if (anchor.point.allFinite()) anchors.push_back(anchor);
            }
        }
    } catch (const run::SqliteError&) {  // a picture without rods is better than none
    }
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

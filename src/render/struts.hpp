// Thin rods from a body to the joint it hangs on or stands on, where that lies outside of the body: the string of a
// pendulum, the stem of a top. They are drawn only; nothing touches them.
#pragma once

#include <vector>

#include "render/model.hpp"

namespace tenon::render {

struct JointAnchor {
    JointType type = JointType::ball;
    int body = -1;
    Vec3 point = Vec3::Zero();  // in the body's frame
};

// Anchors of joints that tie a body to the world.
std::vector<JointAnchor> world_anchors(const run::RunModel& run);

void add_struts(Drawing& drawing, const std::vector<JointAnchor>& anchors);

}  // namespace tenon::render

#include "render/between.hpp"

#include "math/svd3.hpp"

namespace tenon::render {
namespace {

Mat34 between_maps(const Mat34& a, const Mat34& b, double part) {
    if (a == b) return a;
    // A = R S: the rotation turns, the stretch goes straight
    const RotationSvd sa = rotation_svd(a.leftCols<3>()), sb = rotation_svd(b.leftCols<3>());
    const Mat3 ra = sa.u * sa.v.transpose(), rb = sb.u * sb.v.transpose();
    const Mat3 stretch =
        (1 - part) * (ra.transpose() * a.leftCols<3>()) + part * (rb.transpose() * b.leftCols<3>());
    Mat34 map;
    map.leftCols<3>() = Quat(ra).slerp(part, Quat(rb)).toRotationMatrix() * stretch;
    map.col(3) = (1 - part) * a.col(3) + part * b.col(3);
    return map;
}

}  // namespace

run::Frame between_frames(const run::Frame& a, const run::Frame& b, double part) {
    run::Frame frame = part < 0.5 ? a : b;
    frame.time = (1 - part) * a.time + part * b.time;
    for (std::size_t i = 0; i < frame.q.size(); ++i) frame.q[i] = between_maps(a.q[i], b.q[i], part);
    for (std::size_t e = 0; e < frame.x.size(); ++e)
        for (std::size_t v = 0; v < frame.x[e].size(); ++v)
            frame.x[e][v] = (1 - part) * a.x[e][v] + part * b.x[e][v];
    return frame;
}

}  // namespace tenon::render

#include "render/camera.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::render {
namespace {

constexpr double degree = M_PI / 180.0;

// From the target to the eye, for the wished azimuth and elevation. With z up the front looks along +y.
Vec3 view_direction(const Vec3& up, const CameraWish& wish) {
    const Vec3 front = up.z() > 0.5 ? Vec3(0, -1, 0) : Vec3(0, 0, 1);
    const Vec3 right = up.cross(front);
    const double a = wish.azimuth * degree, e = wish.elevation * degree;
    return std::cos(e) * (std::cos(a) * front + std::sin(a) * right) + std::sin(e) * up;
}

const std::vector<double>* hint(const CameraWish& wish, const char* name, std::size_t size) {
    const auto found = wish.hints.find(name);
    return found != wish.hints.end() && found->second.size() == size ? &found->second : nullptr;
}

// Places the eye on the line of sight so that the four sides of the view pyramid hold every point: each side is a
// plane of known direction, so its offset is a maximum over the points.
void enclose(Camera& camera, const std::vector<Vec3>& points, double tan_x, double tan_y) {
    const Mat3 axes = camera.axes();
    double most[4] = {-1e300, -1e300, -1e300, -1e300};
    for (const Vec3& point : points) {
        const Vec3 p = axes * point;
        most[0] = std::max(most[0], p.x() - tan_x * p.z());
        most[1] = std::max(most[1], -p.x() - tan_x * p.z());
        most[2] = std::max(most[2], p.y() - tan_y * p.z());
        most[3] = std::max(most[3], -p.y() - tan_y * p.z());
    }
    // right: ex - tan ez >= most[0]; left: -ex - tan ez >= most[1]; their sum bounds ez from above
    const double ez = std::min(-(most[0] + most[1]) / (2 * tan_x), -(most[2] + most[3]) / (2 * tan_y));
    const Vec3 eye(0.5 * (most[0] - most[1]), 0.5 * (most[2] - most[3]), ez);
    const Vec3 forward = axes.row(2).transpose();
    camera.eye = axes.transpose() * eye;
    double depth = 0;
    for (const Vec3& point : points)
        depth += forward.dot(point - camera.eye) / static_cast<double>(points.size());
    camera.target = camera.eye + std::max(depth, 1e-9) * forward;
}

}  // namespace

Mat3 Camera::axes() const {
    const Vec3 forward = (target - eye).normalized();
    Vec3 right = forward.cross(up);
    if (right.norm() < 1e-6) right = forward.unitOrthogonal();  // straight down or up
    right.normalize();
    Mat3 rows;
    rows.row(0) = right.transpose();
    rows.row(1) = right.cross(forward).transpose();
    rows.row(2) = forward.transpose();
    return rows;
}

Camera fit_camera(const std::vector<Vec3>& points, const Vec3& up, double aspect, const CameraWish& wish) {
    Camera camera;
    camera.up = up;
    if (const auto* fov = hint(wish, "fov", 1)) camera.fov = std::clamp((*fov)[0], 1.0, 150.0);
    Box3 box;
    for (const Vec3& point : points) box.add(point);
    if (box.empty()) box.add(Vec3::Zero());
    camera.target = box.center();
    camera.eye = camera.target + view_direction(up, wish);

    const auto* eye = hint(wish, "eye", 3);
    const auto* target = hint(wish, "target", 3);
    if (target) camera.target = Vec3((*target)[0], (*target)[1], (*target)[2]);
    if (eye) {
        camera.eye = Vec3((*eye)[0], (*eye)[1], (*eye)[2]);
        if ((camera.eye - camera.target).norm() < 1e-12)
            camera.target = camera.eye - view_direction(up, wish);
        return camera;
    }
    const double half = std::tan(0.5 * camera.fov * degree) * (1 - 2 * wish.margin);
    const double tan_x = half * std::max(aspect, 1.0), tan_y = half * std::max(1.0 / aspect, 1.0);
    std::vector<Vec3> wanted = points;
    if (wanted.empty() || box.diagonal() < 1e-12)  // a single point: show a metre around it
        for (int k = 0; k < 8; ++k)
            wanted.push_back(box.center() + 0.5 * Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1));
    if (target) {
        // keep the target in the middle: mirror the points about it
        const std::size_t count = wanted.size();
        for (std::size_t i = 0; i < count; ++i) wanted.push_back(2 * camera.target - wanted[i]);
        camera.eye = camera.target + view_direction(up, wish);
    }
    enclose(camera, wanted, tan_x, tan_y);
    return camera;
}

}  // namespace tenon::render

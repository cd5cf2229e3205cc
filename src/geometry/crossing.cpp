#include "geometry/crossing.hpp"

#include <cmath>

namespace tenon::geometry {
namespace {

// Sign of the volume of (a, b, c, d), or 0 when rounding could have changed it.
int volume_sign(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    const Vec3 u = a - d, v = b - d, w = c - d;
    const double vw0 = v.y() * w.z(), vw1 = v.z() * w.y(), vw2 = v.z() * w.x(), vw3 = v.x() * w.z();
    const double vw4 = v.x() * w.y(), vw5 = v.y() * w.x();
    const double volume = u.x() * (vw0 - vw1) + u.y() * (vw2 - vw3) + u.z() * (vw4 - vw5);
    const double size = std::abs(u.x()) * (std::abs(vw0) + std::abs(vw1)) +
                        std::abs(u.y()) * (std::abs(vw2) + std::abs(vw3)) +
                        std::abs(u.z()) * (std::abs(vw4) + std::abs(vw5));
    const double error = 1e-15 * size;  // (7 + 56 eps) eps is enough, with eps = 2^-53
    if (volume > error) return 1;
    return volume < -error ? -1 : 0;
}

}  // namespace

bool crosses(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c) {
    const int sp = volume_sign(a, b, c, p);
    if (sp == 0 || volume_sign(a, b, c, q) != -sp) return false;
    // The line pq passes all three sides in the same sense.
    const int side = volume_sign(p, q, a, b);
    return side != 0 && volume_sign(p, q, b, c) == side && volume_sign(p, q, c, a) == side;
}

}  // namespace tenon::geometry

#include "geometry/collide/manifold.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::geometry::collide {

void reduce(ContactList& contacts, std::size_t first, bool rims) {
    const std::size_t count = contacts.size() - first;
    if (count <= static_cast<std::size_t>(max_points)) return;
    PairContact* c = contacts.data() + first;
    const Vec3 n = c[0].normal;
    // The first is chosen along a fixed direction of space, not by depth, so that a body at rest keeps its points.
    const Vec3 along = std::abs(n.x()) < 0.6 ? Vec3::UnitX().cross(n) : Vec3::UnitY().cross(n);
    std::size_t keep[max_points] = {0, 0, 0, 0};
    // Points that do not touch yet carry nothing: by what they are farther apart than the deepest they count less far out.
    // Where gaps are wide the bodies are fast, and all points may meet within the step. A body that rolls on a rim of many
    // corners needs those beside the one it stands on: left out, they sink in and are pushed out again, which keeps it
    // rolling for ever. There gaps count more.
    double deepest_distance = 1e300, widest = -1e300, span = 0;
    for (std::size_t i = 0; i < count; ++i) {
        deepest_distance = std::min(deepest_distance, c[i].distance);
        widest = std::max(widest, c[i].distance);
        span = std::max(span, (c[i].point - c[0].point).norm());
    }
    const double free_gap = deepest_distance + 2e-3 * span;
    const double weight =
        widest - deepest_distance < (rims ? 0.15 : 0.05) * span ? (rims ? 100.0 : 20.0) : 0.0;
    auto best = [&](double scale, auto&& score) {
        std::size_t winner = 0;
        double value = -1e300;
        for (std::size_t i = 0; i < count; ++i) {
            const double gap = std::max(0.0, c[i].distance - free_gap);
            if (const double s = score(c[i].point) - weight * gap * scale; s > value) {
                value = s;
                winner = i;
            }
        }
        return winner;
    };
    keep[0] = best(1.0, [&](const Vec3& p) { return along.dot(p); });
    const Vec3 a = c[keep[0]].point;
    keep[1] = best(1.0, [&](const Vec3& p) { return (p - a).norm(); });
    const Vec3 b = c[keep[1]].point;
    const double length = (b - a).norm();
    keep[2] = best(length, [&](const Vec3& p) { return n.dot((b - a).cross(p - a)); });
    keep[3] = best(length, [&](const Vec3& p) { return -n.dot((b - a).cross(p - a)); });
    // the deepest must stay: it takes the place of the nearest kept one
    std::size_t deepest = 0;
    for (std::size_t i = 1; i < count; ++i)
        if (c[i].distance < c[deepest].distance) deepest = i;
    std::size_t nearest = 0;
    double shallowest = 1e300;
    for (std::size_t k = 0; k < max_points; ++k) {
        shallowest = std::min(shallowest, c[keep[k]].distance);
        if ((c[keep[k]].point - c[deepest].point).squaredNorm() <
            (c[keep[nearest]].point - c[deepest].point).squaredNorm())
            nearest = k;
    }
    if (c[deepest].distance < shallowest - 1e-6) keep[nearest] = deepest;
    std::sort(keep, keep + max_points);
    std::size_t out = 0;
    for (std::size_t k = 0; k < max_points; ++k)
        if (k == 0 || keep[k] != keep[k - 1]) c[out++] = c[keep[k]];
    contacts.resize(first + out);
}

void reduce_by_normal(ContactList& contacts, std::size_t first, int groups) {
    if (contacts.size() - first <= 1) return;
    std::stable_sort(contacts.begin() + static_cast<std::ptrdiff_t>(first), contacts.end(),
                     [](const PairContact& a, const PairContact& b) { return a.distance < b.distance; });
    ContactList rest(contacts.begin() + static_cast<std::ptrdiff_t>(first), contacts.end());
    contacts.resize(first);
    for (int g = 0; g < groups && !rest.empty(); ++g) {
        const Vec3 normal = rest.front().normal;
        const std::size_t start = contacts.size();
        std::size_t kept = 0;
        for (const PairContact& c : rest)
            if (c.normal.dot(normal) > 0.9)
                contacts.push_back(c);
            else
                rest[kept++] = c;
        rest.resize(kept);
        reduce(contacts, start, true);
    }
}

void clip(const Polygon& in, const Vec3& n, double offset, std::uint32_t plane, Polygon& out) {
    out.count = 0;
    if (in.count == 0) return;
    if (in.count == 1) {
        out = in;
        return;
    }
    const int edges = in.count == 2 ? 1 : in.count;
    if (in.count == 2 && n.dot(in.p[0]) <= offset) out.add(in.p[0], in.id[0]);
    for (int i = 0; i < edges; ++i) {
        const int j = (i + 1) % in.count;
        const double di = n.dot(in.p[i]) - offset, dj = n.dot(in.p[j]) - offset;
        if ((di <= 0) != (dj <= 0)) {
            // named by the corner that stays and the plane that cuts
            const std::uint32_t stays = di <= 0 ? in.id[i] : in.id[j];
            const std::uint32_t side = di <= 0 ? 1 : 2;
            out.add(in.p[i] + di / (di - dj) * (in.p[j] - in.p[i]), (stays & 0xff) | side << 8 | plane << 10);
        }
        if (dj <= 0) out.add(in.p[j], in.id[j]);
    }
}

}  // namespace tenon::geometry::collide

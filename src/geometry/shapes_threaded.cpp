// A bolt and a nut with a round right-handed thread that match: radius = f(y / pitch - angle / turn).
#include <algorithm>
#include <cmath>

#include "geometry/shapes_build.hpp"

namespace tenon::geometry {
namespace {

struct Thread {
    double radius, pitch, depth;
    int segments, rows;  // corners around, rows of corners per pitch

    explicit Thread(const Params& p)
        : radius(p.number("radius")),
          pitch(p.number("pitch")),
          depth(p.number("depth")),
          segments((p.integer("segments") + 5) / 6 * 6),  // so that hexagons keep their corners
          rows(p.integer("rows")) {
        if (depth >= radius) refuse("depth", "reaches the axis", "make it smaller than radius");
    }
    // 1 on the crests, 0 in the roots.
    double height(double y, double angle) const {
        return 0.5 + 0.5 * std::cos(2.0 * M_PI * y / pitch - angle);
    }
};

double smooth_step(double t) {
    t = std::clamp(t, 0.0, 1.0);
    return t * t * (3.0 - 2.0 * t);
}

// Radius of a hexagon with the given distance from its centre to its corners, one of them at angle 0.
double hexagon(double corner, double angle) {
    const double sixth = M_PI / 3.0, off = std::fmod(angle, sixth) - 0.5 * sixth;
    return corner * std::cos(0.5 * sixth) / std::cos(off);
}

int rows_for(const Thread& thread, double length) {
    return std::max(2, static_cast<int>(std::ceil(length / thread.pitch * thread.rows)));
}

Mesh make_bolt(const Params& p) {
    const Thread thread(p);
    const double length = p.number("length"), head = p.number("head_radius"),
                 head_height = p.number("head_height");
    if (head * std::cos(M_PI / 6.0) <= thread.radius)
        refuse("head_radius", "is not wider than the thread", "make it at least 1.2 times radius");
    const double low = -0.5 * length, high = 0.5 * length;
    const int rows = rows_for(thread, length);
    std::vector<std::vector<Vec3>> rings;
    for (int i = 0; i <= rows; ++i) {
        const double y = low + length * i / rows;
        const double fade = smooth_step((y - low) / thread.pitch) * smooth_step((high - y) / thread.pitch);
        rings.push_back(ring_at(y, thread.segments, [&](double angle) {
            return thread.radius - thread.depth * (1.0 - fade * thread.height(y, angle));
        }));
    }
    for (const double y : {high, high + head_height})
        rings.push_back(ring_at(y, thread.segments, [&](double angle) { return hexagon(head, angle); }));
    return sweep(rings, false);
}

Mesh make_nut(const Params& p) {
    const Thread thread(p);
    const double height = p.number("height"), clearance = p.number("clearance"),
                 outer = p.number("outer_radius");
    // The hole's flat pieces lie nearer to the axis than its corners; widened by that much the gap holds everywhere.
    const double widen = 1.0 / std::cos(M_PI / thread.segments);
    if (outer * std::cos(M_PI / 6.0) <= (thread.radius + clearance) * widen)
        refuse("outer_radius", "is not wider than the thread", "make it at least 1.3 times radius");
    const double low = -0.5 * height, high = 0.5 * height;
    const int rows = rows_for(thread, height);
    std::vector<std::vector<Vec3>> rings;
    for (const double y : {low, high})
        rings.push_back(ring_at(y, thread.segments, [&](double angle) { return hexagon(outer, angle); }));
    for (int i = rows; i >= 0; --i) {
        const double y = low + height * i / rows;
        const double fade =
            smooth_step(2.0 * (y - low) / thread.pitch) * smooth_step(2.0 * (high - y) / thread.pitch);
        rings.push_back(ring_at(y, thread.segments, [&](double angle) {
            return widen *
                   (thread.radius + clearance - thread.depth * fade * (1.0 - thread.height(y, angle)));
        }));
    }
    return sweep(rings, true);
}

}  // namespace

std::vector<ShapeInfo> threaded_shapes() {
    const ParamInfo radius = length_param("radius", 0.5, "outer radius of the bolt's thread");
    const ParamInfo pitch = length_param("pitch", 0.25, "advance per turn");
    const ParamInfo depth = length_param("depth", 0.12, "depth of the thread");
    const ParamInfo segments =
        count_param("segments", 48, "corners around, rounded up to a multiple of 6", 12, 4096);
    const ParamInfo rows = count_param("rows", 16, "rows of corners per pitch", 6, 1024);
    return {
        {"bolt",
         "a bolt along y with a hexagonal head on top and a right-handed thread that matches the nut's: "
         "raised by d, "
         "it fits when also turned by d/pitch about +y",
         {radius, pitch, depth,
          length_param("length", 2.0, "length of the threaded shank, its middle at the origin"),
          length_param("head_radius", 0.85, "distance of the head's corners from the axis"),
          length_param("head_height", 0.35, "height of the head"), segments, rows},
         make_bolt},
        {"nut",
         "a hexagonal nut about y that matches a bolt of the same radius, pitch and depth",
         {radius, pitch, depth, length_param("height", 0.7, "height along y"),
          length_param("outer_radius", 0.95, "distance of its corners from the axis"),
          length_param("clearance", 0.02, "gap between the threads when the bolt is centred"), segments,
          rows},
         make_nut},
    };
}

}  // namespace tenon::geometry

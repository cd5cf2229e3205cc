// Machine parts and building blocks: chain rings, gears, handles, stars, stones of an arch.
#include <algorithm>
#include <cmath>

#include "geometry/shapes_build.hpp"

namespace tenon::geometry {
namespace {

// The middle line of a chain link: two half circles joined by straight pieces, counter-clockwise in x and y.
struct LinkPoint {
    Vec2 at, outward;
};

std::vector<LinkPoint> link_line(double bend, double straight, int segments) {
    std::vector<LinkPoint> line;
    const int half = std::max(2, segments / 2);
    const int pieces =
        straight > 0 ? std::max(1, static_cast<int>(std::lround(straight * half / (M_PI * bend)))) : 0;
    for (const double side : {1.0, -1.0}) {
        const Vec2 centre(0.0, 0.5 * side * straight);
        for (int i = 0; i <= half; ++i) {
            if (i == half && pieces == 0) continue;  // the other half circle begins here
            const double angle = M_PI * i / half;
            const Vec2 outward = side * Vec2(std::cos(angle), std::sin(angle));
            line.push_back({centre + bend * outward, outward});
        }
        for (int i = 1; i < pieces; ++i)
            line.push_back({Vec2(-side * bend, side * straight * (0.5 - static_cast<double>(i) / pieces)),
                            Vec2(-side, 0.0)});
    }
    return line;
}

Mesh make_ring(const Params& p) {
    const double length = p.number("length"), width = p.number("width"), wire = p.number("wire_radius");
    const int sides = p.integer("sides");
    if (length < width) refuse("length", "is smaller than width", "make length at least width");
    if (width <= 4.0 * wire) refuse("wire_radius", "leaves no hole", "must be less than a quarter of width");
    std::vector<std::vector<Vec3>> rings;
    for (const LinkPoint& point : link_line(0.5 * width - wire, length - width, p.integer("segments"))) {
        std::vector<Vec3> ring;
        for (int j = 0; j < sides; ++j) {
            const double angle = 2.0 * M_PI * j / sides;
            const Vec2 at = point.at + wire * std::cos(angle) * point.outward;
            ring.emplace_back(at.x(), at.y(), -wire * std::sin(angle));
        }
        rings.push_back(std::move(ring));
    }
    return sweep(rings, true);
}

// One gear: radii, and half the angle a tooth takes at a radius (involute above the base circle).
struct Toothing {
    double pitch, base, tip, root, half_angle_at_pitch, inv_pressure, module;

    explicit Toothing(const Params& p) {
        const double pressure = p.number("pressure_angle") * M_PI / 180.0;
        const int teeth = p.integer("teeth");
        module = p.number("module");
        pitch = 0.5 * module * teeth;
        base = pitch * std::cos(pressure);
        tip = pitch + module;
        root = pitch - 1.25 * module;
        half_angle_at_pitch = 0.5 * M_PI / teeth - 0.5 * p.number("backlash") / pitch;
        inv_pressure = std::tan(pressure) - pressure;
    }
    double half_angle(double radius) const {
        if (radius <= base)  // straight down to the root, a little wider there: no two corners at one angle
            return half_angle_at_pitch + inv_pressure + 0.02 * (base - radius) / pitch;
        const double a = std::acos(base / radius);
        return half_angle_at_pitch + inv_pressure - (std::tan(a) - a);
    }
};

// The outline as (radius, angle), angles rising; a tooth is centred on angle 0.
std::vector<Vec2> gear_outline(const Params& p, int flank_steps, int arc_steps) {
    const Toothing t(p);
    const int teeth = p.integer("teeth");
    const double tooth = 2.0 * M_PI / teeth, at_root = t.half_angle(t.root), at_tip = t.half_angle(t.tip);
    if (at_tip <= 0.0)
        refuse("pressure_angle", "makes the teeth pointed", "make it smaller, or use more teeth");
    if (2.0 * at_root >= tooth) refuse("teeth", "leaves no gap between teeth", "use more teeth");
    std::vector<Vec2> outline;
    for (int k = 0; k < teeth; ++k) {
        const double middle = k * tooth;
        for (int i = 0; i <= flank_steps; ++i) {
            const double r = t.root + (t.tip - t.root) * i / flank_steps;
            outline.emplace_back(r, middle - t.half_angle(r));
        }
        for (int i = 1; i < arc_steps; ++i)
            outline.emplace_back(t.tip, middle - at_tip + 2.0 * at_tip * i / arc_steps);
        for (int i = flank_steps; i >= 0; --i) {
            const double r = t.root + (t.tip - t.root) * i / flank_steps;
            outline.emplace_back(r, middle + t.half_angle(r));
        }
        for (int i = 1; i < arc_steps; ++i)
            outline.emplace_back(t.root, middle + at_root + (tooth - 2.0 * at_root) * i / arc_steps);
    }
    return outline;
}

Mesh make_gear(const Params& p) {
    const int detail = p.integer("detail");
    const std::vector<Vec2> outline = gear_outline(p, 4 * detail, std::max(1, detail));
    const Toothing t(p);
    const double bore = p.number("bore"), h = 0.5 * p.number("width"), rim = t.root - 0.5 * t.module;
    if (t.root <= 0.0 || rim <= 0.0) refuse("teeth", "leaves no body", "use at least 6 teeth");
    if (bore >= rim) refuse("bore", "reaches the teeth", "make the hole smaller than the teeth's roots");

    // Rings around the section: hub, faces and teeth; each has one corner per corner of the outline.
    const double inner = bore > 0.0 ? bore : 0.25 * rim;
    std::vector<std::vector<Vec3>> rings;
    const auto add = [&](double fraction, bool teeth, double y) {  // fraction 0 is the hub, 1 the rim
        std::vector<Vec3> ring;
        for (const Vec2& corner : outline) {
            const double r = teeth ? corner.x() : inner + (rim - inner) * fraction;
            ring.emplace_back(r * std::cos(corner.y()), y, -r * std::sin(corner.y()));
        }
        rings.push_back(std::move(ring));
    };
    for (int i = 0; i <= detail; ++i) add(static_cast<double>(i) / detail, false, -h);
    for (int i = 0; i <= detail; ++i) add(1.0, true, -h + 2.0 * h * i / detail);
    for (int i = detail; i >= 0; --i) add(static_cast<double>(i) / detail, false, h);
    if (bore == 0.0) return sweep(rings, false);
    for (int i = detail - 1; i > 0; --i) add(0.0, false, -h + 2.0 * h * i / detail);
    return sweep(rings, true);
}

// Turns a prism's axis from y to z: what was drawn in x and z stands upright in x and y.
Mesh upright(Mesh mesh) {
    for (Vec3& v : mesh.vertices) v = Vec3(v.x(), -v.z(), v.y());
    return mesh;
}

std::vector<Vec2> drawn_upright(const std::vector<Vec2>& outline) {
    std::vector<Vec2> turned;
    for (const Vec2& v : outline) turned.emplace_back(v.x(), -v.y());
    return turned;
}

Mesh make_t_handle(const Params& p) {
    const double bar = 0.5 * p.number("bar"), stem = p.number("stem"), t = p.number("thickness");
    if (bar <= 0.5 * t) refuse("bar", "is not longer than thickness", "make it longer");
    // Corners counter-clockwise in x and y; the bar lies across the top of the stem, its middle at the origin.
    const double x = 0.5 * t, top = 0.5 * t, low = -0.5 * t;
    return upright(prism(drawn_upright({{-x, low - stem},
                                        {x, low - stem},
                                        {x, low},
                                        {bar, low},
                                        {bar, top},
                                        {-bar, top},
                                        {-bar, low},
                                        {-x, low}}),
                         t));
}

Mesh make_star(const Params& p) {
    const int points = p.integer("points");
    const double outer = p.number("outer_radius"), inner = p.number("inner_radius");
    if (inner >= outer) refuse("inner_radius", "is not smaller than outer_radius", "make it smaller");
    std::vector<Vec2> outline;
    for (int i = 0; i < 2 * points; ++i) {
        const double angle = 0.5 * M_PI + M_PI * i / points, r = i % 2 ? inner : outer;
        outline.emplace_back(r * std::cos(angle), r * std::sin(angle));
    }
    return upright(prism(drawn_upright(outline), p.number("width")));
}

Mesh make_arch_stone(const Params& p) {
    const double inner = p.number("inner_radius"), outer = p.number("outer_radius");
    if (inner >= outer) refuse("inner_radius", "is not smaller than outer_radius", "make it smaller");
    const double span = p.number("span") * M_PI / 180.0;
    const int segments = p.integer("segments");
    std::vector<Vec2> outline;
    for (int i = 0; i <= segments; ++i) {
        const double angle = 0.5 * M_PI - 0.5 * span + span * i / segments;
        outline.emplace_back(outer * std::cos(angle), outer * std::sin(angle));
    }
    for (int i = segments; i >= 0; --i) {
        const double angle = 0.5 * M_PI - 0.5 * span + span * i / segments;
        outline.emplace_back(inner * std::cos(angle), inner * std::sin(angle));
    }
    return upright(prism(drawn_upright(outline), p.number("depth")));
}

}  // namespace

std::vector<ShapeInfo> mechanical_shapes() {
    return {
        {"ring",
         "a chain link in the plane of x and y; round when length equals width",
         {length_param("length", 1.0, "outer length along y"),
          length_param("width", 0.7, "outer width along x"),
          length_param("wire_radius", 0.1, "radius of the wire"),
          count_param("segments", 24, "corners along its two half circles", 4, 4096),
          count_param("sides", 10, "corners around the wire", 3, 1024)},
         make_ring},
        {"gear",
         "a spur gear with involute teeth, its axis along y, a tooth towards +x; two gears of one module "
         "mesh at a "
         "centre distance of module (teeth1 + teeth2) / 2",
         {count_param("teeth", 20, "number of teeth", 6, 2000),
          length_param("module", 0.1, "pitch diameter divided by the number of teeth"),
          length_param("width", 0.3, "width along y"),
          length_param("bore", 0.2, "radius of the hole; 0 for none", 0.0),
          number_param("pressure_angle", 20.0, "angle of the flanks at the pitch circle", 5.0, 35.0, "deg"),
          length_param("backlash", 0.004, "how much thinner than half the pitch each tooth is", 0.0),
          count_param("detail", 1,
                      "fineness: triangles grow with its square (20 teeth: 10 gives 190 thousand)", 1, 64)},
         make_gear},
        {"t_handle",
         "a T of square bars in the plane of x and y, the middle of its bar at the origin",
         {length_param("bar", 1.0, "length of the bar along x"),
          length_param("stem", 0.6, "length of the stem below it"),
          length_param("thickness", 0.15, "thickness of both")},
         make_t_handle},
        {"star",
         "a flat star in the plane of x and y",
         {count_param("points", 5, "number of points", 3, 200),
          length_param("outer_radius", 0.5, "radius of the tips"),
          length_param("inner_radius", 0.22, "radius of the notches"),
          length_param("width", 0.2, "width along z")},
         make_star},
        {"arch_stone",
         "a stone of an arch about the z axis, its middle straight above the origin at the arch's centre",
         {length_param("inner_radius", 1.0, "radius of the arch's underside"),
          length_param("outer_radius", 1.3, "radius of the arch's top"),
          number_param("span", 15.0, "angle the stone takes", 0.01, 170.0, "deg"),
          length_param("depth", 0.3, "depth along z"),
          count_param("segments", 1, "pieces along the curved sides; with 1 the stone is convex", 1, 512)},
         make_arch_stone},
    };
}

}  // namespace tenon::geometry

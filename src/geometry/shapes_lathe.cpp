// Turned bodies: any profile, bowls, dumbbells and chess pieces.
#include <algorithm>
#include <cmath>

#include "geometry/shapes_build.hpp"

namespace tenon::geometry {
namespace {

bool crosses(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d) {
    const auto side = [](const Vec2& p, const Vec2& q, const Vec2& r) {
        return (q.x() - p.x()) * (r.y() - p.y()) - (q.y() - p.y()) * (r.x() - p.x());
    };
    return side(a, b, c) * side(a, b, d) <= 0.0 && side(c, d, a) * side(c, d, b) <= 0.0;
}

void check_profile(const std::vector<Vec2>& profile) {
    const std::size_t n = profile.size();
    for (std::size_t i = 0; i < n; ++i) {
        if (profile[i].x() < 0.0)
            refuse("profile", "has a negative radius", "radii are distances from the axis");
        if (i > 0 && i + 1 < n && profile[i].x() == 0.0)
            refuse("profile", "touches the axis between its ends", "only its ends may have radius 0");
        if (i > 0 && profile[i] == profile[i - 1])
            refuse("profile", "repeats a point", "drop one of the two");
    }
    for (std::size_t i = 0; i + 1 < n; ++i)
        for (std::size_t j = i + 2; j + 1 < n; ++j)
            if (crosses(profile[i], profile[i + 1], profile[j], profile[j + 1]))
                refuse("profile", "crosses itself", "order the points along the outline");
}

Mesh make_lathe(const Params& p) {
    std::vector<double> numbers = p.list("profile");
    if (numbers.empty()) numbers = {0, -0.5, 0.3, -0.5, 0.35, -0.2, 0.15, 0.1, 0.1, 0.3, 0.2, 0.5, 0, 0.5};
    if (numbers.size() % 2 || numbers.size() < 4)
        refuse("profile", "is not a list of pairs", "give radius, height, radius, height, ...");
    std::vector<Vec2> profile;
    for (std::size_t i = 0; i < numbers.size(); i += 2) profile.emplace_back(numbers[i], numbers[i + 1]);
    if (profile.front().x() > 0.0) profile.insert(profile.begin(), Vec2(0.0, profile.front().y()));
    if (profile.back().x() > 0.0) profile.push_back(Vec2(0.0, profile.back().y()));
    if (profile.size() < 3) refuse("profile", "encloses nothing", "give points away from the axis");
    check_profile(profile);
    double enclosed = 0.0;  // Pappus, up to a factor: negative when the profile runs downward
    for (std::size_t i = 0; i + 1 < profile.size(); ++i) {
        const double r0 = profile[i].x(), r1 = profile[i + 1].x();
        enclosed += (profile[i + 1].y() - profile[i].y()) * (r0 * r0 + r0 * r1 + r1 * r1);
    }
    if (enclosed == 0.0) refuse("profile", "encloses nothing", "give points at different heights");
    if (enclosed < 0.0) std::reverse(profile.begin(), profile.end());
    return revolve(profile, p.integer("segments"));
}

Mesh make_bowl(const Params& p) {
    const double inner = p.number("radius"), outer = inner + p.number("thickness");
    const int segments = p.integer("segments"), steps = std::max(2, segments / 4);
    std::vector<Vec2> profile;
    add_arc(profile, Vec2::Zero(), outer, -0.5 * M_PI, 0.0, steps);
    add_arc(profile, Vec2::Zero(), inner, 0.0, -0.5 * M_PI, steps);
    return revolve(profile, segments);
}

Mesh make_dumbbell(const Params& p) {
    const double radius = p.number("radius"), bar = p.number("bar_radius"), h = 0.5 * p.number("length");
    if (bar >= radius)
        refuse("bar_radius", "is not smaller than radius", "make the bar thinner than the balls");
    const double meet = std::acos(bar / radius);  // where the bar enters the balls
    if (h <= radius * std::sin(meet)) refuse("length", "makes the balls meet", "make it longer");
    const int segments = p.integer("segments"), steps = std::max(4, segments / 2);
    std::vector<Vec2> profile;
    add_arc(profile, {0, -h}, radius, -0.5 * M_PI, meet, steps);
    add_arc(profile, {0, h}, radius, -meet, 0.5 * M_PI, steps);
    return revolve(profile, segments);
}

// A smooth curve through the given points (Catmull-Rom), radii kept positive.
std::vector<Vec2> smooth_profile(const std::vector<Vec2>& points, int pieces) {
    std::vector<Vec2> profile{points.front()};
    const int n = static_cast<int>(points.size());
    for (int i = 0; i + 1 < n; ++i) {
        const Vec2 &a = points[std::max(i - 1, 0)], &b = points[i], &c = points[i + 1],
                   &d = points[std::min(i + 2, n - 1)];
        for (int k = 1; k < pieces; ++k) {
            const double t = static_cast<double>(k) / pieces;
            Vec2 v = 0.5 * (2.0 * b + t * (c - a) + t * t * (2.0 * a - 5.0 * b + 4.0 * c - d) +
                            t * t * t * (3.0 * b - 3.0 * c + d - a));
            v.x() = std::max(v.x(), 0.5 * std::min(b.x(), c.x()) + 1e-3);
            v.y() = std::clamp(v.y(), std::min(b.y(), c.y()), std::max(b.y(), c.y()));
            profile.push_back(v);
        }
        profile.push_back(c);
    }
    return profile;
}

// Half outlines of the pieces, from the rim of the base to the top; the height is 1. All stand on y = 0.
const std::vector<Vec2> foot{{0.24, 0.0}, {0.25, 0.04}, {0.23, 0.09}, {0.18, 0.13}};

Mesh chess_piece(const Params& p, const std::vector<Vec2>& body, const std::vector<Vec2>& sharp_top) {
    std::vector<Vec2> curve = foot;
    curve.insert(curve.end(), body.begin(), body.end());
    std::vector<Vec2> profile = smooth_profile(curve, p.integer("detail"));
    profile.insert(profile.begin(), Vec2(0.0, 0.0));
    profile.insert(profile.end(), sharp_top.begin(), sharp_top.end());
    for (Vec2& v : profile) v *= p.number("height");
    return revolve(profile, p.integer("segments"));
}

Mesh make_pawn(const Params& p) {
    return chess_piece(
        p, {{0.1, 0.3}, {0.08, 0.5}, {0.15, 0.55}, {0.1, 0.6}, {0.16, 0.7}, {0.17, 0.8}, {0.13, 0.92}},
        {{0.07, 0.98}, {0.0, 1.0}});
}
Mesh make_rook(const Params& p) {
    return chess_piece(p, {{0.15, 0.3}, {0.13, 0.6}, {0.15, 0.7}, {0.21, 0.78}},
                       {{0.21, 1.0}, {0.13, 1.0}, {0.13, 0.88}, {0.0, 0.88}});
}
Mesh make_bishop(const Params& p) {
    return chess_piece(
        p, {{0.11, 0.28}, {0.08, 0.5}, {0.14, 0.55}, {0.09, 0.6}, {0.13, 0.7}, {0.1, 0.82}, {0.04, 0.9}},
        {{0.05, 0.94}, {0.04, 0.98}, {0.0, 1.0}});
}
Mesh make_queen(const Params& p) {
    return chess_piece(p, {{0.12, 0.25}, {0.09, 0.5}, {0.14, 0.58}, {0.09, 0.62}, {0.11, 0.75}, {0.17, 0.88}},
                       {{0.12, 0.86}, {0.05, 0.92}, {0.05, 0.97}, {0.0, 1.0}});
}
Mesh make_king(const Params& p) {
    return chess_piece(
        p, {{0.12, 0.25}, {0.09, 0.48}, {0.15, 0.55}, {0.1, 0.6}, {0.12, 0.72}, {0.16, 0.84}},
        {{0.03, 0.88}, {0.03, 0.91}, {0.07, 0.93}, {0.07, 0.96}, {0.03, 0.97}, {0.03, 1.0}, {0.0, 1.0}});
}

// Turned like the others, then bent forward and flattened: a horse's head from afar.
Mesh make_knight(const Params& p) {
    Mesh mesh = chess_piece(p, {{0.13, 0.25}, {0.13, 0.45}, {0.16, 0.6}, {0.17, 0.72}, {0.15, 0.85}},
                            {{0.08, 0.97}, {0.0, 1.0}});
    const double height = p.number("height");
    for (Vec3& v : mesh.vertices) {
        const double t = std::clamp(v.y() / height - 0.15, 0.0, 1.0);
        v.x() = v.x() * (1.0 + 0.9 * t) + 0.12 * height * std::sin(2.0 * M_PI * t);
        v.z() *= 1.0 - 0.55 * t;
        v.y() -= 0.45 * t * t * std::max(0.0, v.x());  // the muzzle hangs down
    }
    return mesh;
}

}  // namespace

std::vector<ShapeInfo> lathe_shapes() {
    const ParamInfo segments = count_param("segments", 32, "corners around the axis", 3, 4096);
    const std::vector<ParamInfo> piece{
        length_param("height", 1.0, "height; the piece stands on y = 0, its base half as wide"), segments,
        count_param("detail", 4, "pieces of curve between two points of the outline", 1, 64)};
    ParamInfo profile =
        size_param("profile", {}, "radius, height, radius, height, ... along the outline; empty: a vase");
    profile.min = -1e9;
    return {
        {"lathe", "a body turned about y from any profile", {profile, segments}, make_lathe},
        {"bowl",
         "half of a hollow sphere, open to the top, its rim at y = 0",
         {length_param("radius", 0.5, "inner radius"),
          length_param("thickness", 0.05, "thickness of the wall"),
          count_param("segments", 48, "corners around the axis", 4, 4096)},
         make_bowl},
        {"dumbbell",
         "two balls on a bar along y",
         {length_param("radius", 0.25, "radius of the balls"),
          length_param("bar_radius", 0.08, "radius of the bar"),
          length_param("length", 1.0, "distance of the balls' centres"), segments},
         make_dumbbell},
        {"pawn", "a chess pawn", piece, make_pawn},
        {"rook", "a chess rook, hollow at the top", piece, make_rook},
        {"knight", "a chess piece with a bent, flattened head", piece, make_knight},
        {"bishop", "a chess bishop", piece, make_bishop},
        {"queen", "a chess queen", piece, make_queen},
        {"king", "a chess king", piece, make_king},
    };
}

}  // namespace tenon::geometry

#include "geometry/shapes_build.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "geometry/mesh_check.hpp"
#include "tenon/error.hpp"

namespace tenon::geometry {
namespace {

double cross2(const Vec2& a, const Vec2& b) {
    return a.x() * b.y() - a.y() * b.x();
}

bool inside_triangle(const Vec2& p, const Vec2& a, const Vec2& b, const Vec2& c) {
    return cross2(b - a, p - a) >= 0 && cross2(c - b, p - b) >= 0 && cross2(a - c, p - c) >= 0;
}

// The vertex at angle index j of `segments`; exact at the quarter turns, so that symmetric shapes are.
Vec2 unit_circle(int j, int segments) {
    if (4 * j % segments == 0) {
        static const Vec2 quarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
        return quarters[4 * j / segments % 4];
    }
    const double angle = 2.0 * M_PI * j / segments;
    return {std::cos(angle), std::sin(angle)};
}

// First vertex of each ring of a revolved profile; poles have one vertex.
struct Ring {
    int first = 0;
    bool pole = false;
    int at(int j, int segments) const { return pole ? first : first + j % segments; }
};

std::vector<Ring> add_rings(Mesh& mesh, const std::vector<Vec2>& profile, int segments) {
    std::vector<Ring> rings;
    for (const Vec2& p : profile) {
        rings.push_back({static_cast<int>(mesh.vertices.size()), p.x() == 0.0});
        if (p.x() == 0.0) {
            mesh.vertices.emplace_back(0.0, p.y(), 0.0);
            continue;
        }
        for (int j = 0; j < segments; ++j) {
            const Vec2 c = unit_circle(j, segments);
            mesh.vertices.emplace_back(p.x() * c.x(), p.y(), -p.x() * c.y());
        }
    }
    return rings;
}

void join_rings(Mesh& mesh, const Ring& low, const Ring& high, int segments) {
    for (int j = 0; j < segments; ++j) {
        const int a = low.at(j, segments), b = low.at(j + 1, segments), c = high.at(j + 1, segments),
                  d = high.at(j, segments);
        if (low.pole && high.pole) continue;
        if (low.pole)
            mesh.triangles.push_back({a, c, d});
        else if (high.pole)
            mesh.triangles.push_back({a, b, c});
        else
            add_quad(mesh, a, b, c, d);
    }
}

}  // namespace

ParamInfo length_param(const std::string& name, double fallback, const std::string& help, double min) {
    return number_param(name, fallback, help, min, 1e9, std::string("m"));
}

ParamInfo count_param(const std::string& name, int fallback, const std::string& help, int min, int max) {
    return number_param(name, fallback, help, min, max);
}

ParamInfo number_param(const std::string& name, double fallback, const std::string& help, double min,
                       double max, const std::string& unit) {
    ParamInfo info;
    info.name = name;
    info.fallback = fallback;
    info.help = help;
    info.min = min;
    info.max = max;
    info.unit = unit;
    return info;
}

ParamInfo size_param(const std::string& name, const std::vector<double>& fallback, const std::string& help) {
    ParamInfo info = length_param(name, 0.0, help);
    info.fallback = fallback;
    return info;
}

void refuse(const std::string& parameter, const std::string& problem, const std::string& cure) {
    throw InputError("", parameter, problem, cure);
}

void add_quad(Mesh& mesh, int a, int b, int c, int d) {
    mesh.triangles.push_back({a, b, c});
    mesh.triangles.push_back({a, c, d});
}

Mesh revolve(const std::vector<Vec2>& profile, int segments) {
    Mesh mesh;
    const std::vector<Ring> rings = add_rings(mesh, profile, segments);
    for (std::size_t i = 0; i + 1 < rings.size(); ++i) join_rings(mesh, rings[i], rings[i + 1], segments);
    return mesh;
}

Mesh revolve_loop(const std::vector<Vec2>& loop, int segments) {
    Mesh mesh;
    const std::vector<Ring> rings = add_rings(mesh, loop, segments);
    for (std::size_t i = 0; i < rings.size(); ++i)
        join_rings(mesh, rings[i], rings[(i + 1) % rings.size()], segments);
    return mesh;
}

Mesh sweep(const std::vector<std::vector<Vec3>>& rings, bool closed) {
    Mesh mesh;
    const int count = static_cast<int>(rings.size()), around = static_cast<int>(rings.front().size());
    for (const auto& ring : rings) mesh.vertices.insert(mesh.vertices.end(), ring.begin(), ring.end());
    for (int i = 0; i < (closed ? count : count - 1); ++i) {
        const int low = i * around, high = (i + 1) % count * around;
        for (int j = 0; j < around; ++j) {
            const int next = (j + 1) % around;
            add_quad(mesh, low + j, low + next, high + next, high + j);
        }
    }
    if (closed) return mesh;
    for (const bool last : {false, true}) {
        Vec3 centre = Vec3::Zero();
        for (const Vec3& p : last ? rings.back() : rings.front()) centre += p / around;
        const int c = static_cast<int>(mesh.vertices.size()), base = last ? (count - 1) * around : 0;
        mesh.vertices.push_back(centre);
        for (int j = 0; j < around; ++j) {
            const int next = (j + 1) % around;
            if (last)
                mesh.triangles.push_back({base + j, base + next, c});
            else
                mesh.triangles.push_back({base + next, base + j, c});
        }
    }
    return mesh;
}

std::vector<Triangle> triangulate_polygon(const std::vector<Vec2>& polygon) {
    std::vector<int> left(polygon.size());
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = static_cast<int>(i);
    std::vector<Triangle> triangles;
    while (left.size() > 3) {
        const int n = static_cast<int>(left.size());
        int best = -1;
        double best_quality = -std::numeric_limits<double>::infinity();
        for (int i = 0; i < n; ++i) {
            const int ia = left[(i + n - 1) % n], ib = left[i], ic = left[(i + 1) % n];
            const Vec2 &a = polygon[ia], &b = polygon[ib], &c = polygon[ic];
            const double area = cross2(b - a, c - a);
            if (area <= 0.0) continue;
            const double quality =
                area / ((c - a).squaredNorm() + (b - a).squaredNorm() + (c - b).squaredNorm());
            if (quality <= best_quality) continue;
            const bool blocked = std::any_of(left.begin(), left.end(), [&](int v) {
                return v != ia && v != ib && v != ic && inside_triangle(polygon[v], a, b, c);
            });
            if (blocked) continue;
            best = i;
            best_quality = quality;
        }
        if (best < 0) best = 0;  // only a polygon that touches itself has no ear
        triangles.push_back({left[(best + n - 1) % n], left[best], left[(best + 1) % n]});
        left.erase(left.begin() + best);
    }
    triangles.push_back({left[0], left[1], left[2]});
    return triangles;
}

Mesh prism(const std::vector<Vec2>& outline, double height) {
    // (x, z) is counter-clockwise from above in the plane (x, -z).
    Mesh mesh;
    const int n = static_cast<int>(outline.size());
    for (const double y : {-0.5 * height, 0.5 * height})
        for (const Vec2& p : outline) mesh.vertices.emplace_back(p.x(), y, p.y());
    std::vector<Vec2> seen_from_above;
    for (const Vec2& p : outline) seen_from_above.emplace_back(p.x(), -p.y());
    for (const Triangle& t : triangulate_polygon(seen_from_above)) {
        mesh.triangles.push_back({n + t[0], n + t[1], n + t[2]});
        mesh.triangles.push_back({t[0], t[2], t[1]});
    }
    for (int j = 0; j < n; ++j) add_quad(mesh, j, (j + 1) % n, n + (j + 1) % n, n + j);
    return mesh;
}

Mesh unit_icosphere(int subdivisions) {
    const double g = 0.5 * (1.0 + std::sqrt(5.0));
    Mesh mesh;
    mesh.vertices = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                     {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    for (Vec3& v : mesh.vertices) v.normalize();
    mesh.triangles = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                      {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                      {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
    for (int level = 0; level < subdivisions; ++level) {
        std::unordered_map<std::uint64_t, int> middles;
        middles.reserve(mesh.triangles.size() * 2);
        const auto middle = [&](int a, int b) {
            const std::uint64_t key = (static_cast<std::uint64_t>(std::min(a, b)) << 32) |
                                      static_cast<std::uint64_t>(std::max(a, b));
            const auto [it, fresh] = middles.emplace(key, static_cast<int>(mesh.vertices.size()));
            if (fresh) mesh.vertices.push_back((mesh.vertices[a] + mesh.vertices[b]).normalized());
            return it->second;
        };
        std::vector<Triangle> finer;
        finer.reserve(4 * mesh.triangles.size());
        for (const Triangle& t : mesh.triangles) {
            const int ab = middle(t[0], t[1]), bc = middle(t[1], t[2]), ca = middle(t[2], t[0]);
            finer.push_back({t[0], ab, ca});
            finer.push_back({t[1], bc, ab});
            finer.push_back({t[2], ca, bc});
            finer.push_back({ab, bc, ca});
        }
        mesh.triangles = std::move(finer);
    }
    return mesh;
}

Mesh unit_geosphere(int frequency) {
    const Mesh base = unit_icosphere(0);
    Mesh soup;
    for (const Triangle& t : base.triangles) {
        const Vec3 &a = base.vertices[t[0]], &b = base.vertices[t[1]], &c = base.vertices[t[2]];
        const int first = static_cast<int>(soup.vertices.size());
        for (int i = 0; i <= frequency; ++i)
            for (int j = 0; j <= i; ++j)
                soup.vertices.push_back(((frequency - i) * a + (i - j) * b + j * c).normalized());
        const auto at = [&](int i, int j) { return first + i * (i + 1) / 2 + j; };
        for (int i = 0; i < frequency; ++i) {
            for (int j = 0; j <= i; ++j) {
                soup.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
                if (j < i) soup.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
            }
        }
    }
    return weld(soup, 1e-9);  // the twenty patches meet along their sides
}

void add_arc(std::vector<Vec2>& profile, const Vec2& centre, double radius, double from, double to,
             int steps) {
    for (int i = 0; i <= steps; ++i) {
        const double angle = from + (to - from) * i / steps;
        Vec2 point = centre + radius * Vec2(std::cos(angle), std::sin(angle));
        if (std::abs(point.x()) < 1e-12 * radius) point.x() = 0.0;
        profile.push_back(point);
    }
}

}  // namespace tenon::geometry

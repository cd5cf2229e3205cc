// What the shape generators are made of: parameter descriptions, revolved profiles, swept sections, prisms.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "geometry/shapes.hpp"

namespace tenon::geometry {

// The shapes of each file, in the order in which they are listed.
std::vector<ShapeInfo> basic_shapes();
std::vector<ShapeInfo> mechanical_shapes();
std::vector<ShapeInfo> threaded_shapes();
std::vector<ShapeInfo> lathe_shapes();
std::vector<ShapeInfo> rough_shapes();

ParamInfo length_param(const std::string& name, double fallback, const std::string& help, double min = 1e-9);
ParamInfo count_param(const std::string& name, int fallback, const std::string& help, int min, int max);
ParamInfo number_param(const std::string& name, double fallback, const std::string& help, double min,
                       double max, const std::string& unit = {});
ParamInfo size_param(const std::string& name, const std::vector<double>& fallback, const std::string& help);

// Bad combinations of parameters that bounds cannot express.
[[noreturn]] void refuse(const std::string& parameter, const std::string& problem, const std::string& cure);

// Two triangles for the corners a, b, c, d in counter-clockwise order.
void add_quad(Mesh& mesh, int a, int b, int c, int d);

// Revolves a profile of (radius, height) about the y axis. The profile runs from bottom to top with the solid
// on the axis' side; points of zero radius become poles. Closed when both ends are poles.
Mesh revolve(const std::vector<Vec2>& profile, int segments);

// Revolves a closed loop of (radius, height), counter-clockwise when radius points right and height up.
Mesh revolve_loop(const std::vector<Vec2>& loop, int segments);

// A tube through rings of equal size: ring k joins ring k+1; seen along the direction of travel each ring runs
// clockwise. `closed`: the last joins the first; otherwise both ends are capped by fans around their centres.
Mesh sweep(const std::vector<std::vector<Vec3>>& rings, bool closed);

// A straight prism over a simple outline of (x, z), counter-clockwise seen from +y; y from -height/2 to height/2.
// The caps use no further vertices.
Mesh prism(const std::vector<Vec2>& outline, double height);

// Triangles of a simple polygon by cutting ears; counter-clockwise in, counter-clockwise out.
std::vector<Triangle> triangulate_polygon(const std::vector<Vec2>& polygon);

// A sphere of radius 1 from an icosahedron, each triangle cut into four `subdivisions` times.
Mesh unit_icosphere(int subdivisions);

// The same with each edge cut into `frequency` parts: 20 frequency^2 triangles.
Mesh unit_geosphere(int frequency);

// Points of a circular arc about `centre`, angles in radians, both ends included; on the axis exactly, when there.
void add_arc(std::vector<Vec2>& profile, const Vec2& centre, double radius, double from, double to,
             int steps);

// A ring for `sweep`: radius(angle) at height y, turning about +y.
template <class Radius>
std::vector<Vec3> ring_at(double y, int segments, const Radius& radius) {
    std::vector<Vec3> ring;
    for (int j = 0; j < segments; ++j) {
        const double angle = 2.0 * M_PI * j / segments, r = radius(angle);
        ring.emplace_back(r * std::cos(angle), y, -r * std::sin(angle));
    }
    return ring;
}

}  // namespace tenon::geometry

// Boxes, round solids and flat pieces: the shapes that have, or nearly have, a closed form.
#include <cmath>

#include "geometry/shapes_build.hpp"

namespace tenon::geometry {
namespace {

Primitive primitive_of(Primitive::Kind kind, const Vec3& size) {
    Primitive primitive;
    primitive.kind = kind;
    primitive.size = size;
    return primitive;
}

Mesh box_mesh(const Vec3& size) {
    Mesh mesh;
    for (int k = 0; k < 8; ++k)
        mesh.vertices.emplace_back((k & 1 ? 0.5 : -0.5) * size.x(), (k & 2 ? 0.5 : -0.5) * size.y(),
                                   (k & 4 ? 0.5 : -0.5) * size.z());
    add_quad(mesh, 0, 2, 3, 1);
    add_quad(mesh, 4, 5, 7, 6);
    add_quad(mesh, 0, 1, 5, 4);
    add_quad(mesh, 2, 6, 7, 3);
    add_quad(mesh, 0, 4, 6, 2);
    add_quad(mesh, 1, 3, 7, 5);
    return mesh;
}

Mesh make_box(const Params& p) {
    return box_mesh(p.vec3("size"));
}
Primitive box_primitive(const Params& p) {
    return primitive_of(Primitive::Kind::box, p.vec3("size"));
}

Mesh make_sphere(const Params& p) {
    const int segments = p.integer("segments");
    std::vector<Vec2> profile;
    add_arc(profile, Vec2::Zero(), p.number("radius"), -0.5 * M_PI, 0.5 * M_PI, std::max(2, segments / 2));
    return revolve(profile, segments);
}

Mesh make_icosphere(const Params& p) {
    Mesh mesh = unit_icosphere(p.integer("subdivisions"));
    for (Vec3& v : mesh.vertices) v *= p.number("radius");
    return mesh;
}

Primitive sphere_primitive(const Params& p) {
    return primitive_of(Primitive::Kind::sphere, Vec3(p.number("radius"), 0, 0));
}

Mesh make_cylinder(const Params& p) {
    const double r = p.number("radius"), h = 0.5 * p.number("length");
    return revolve({{0, -h}, {r, -h}, {r, h}, {0, h}}, p.integer("segments"));
}

Primitive cylinder_primitive(const Params& p) {
    return primitive_of(Primitive::Kind::cylinder, Vec3(p.number("radius"), p.number("length"), 0));
}

Mesh make_cone(const Params& p) {
    const double r = p.number("radius"), h = 0.5 * p.number("length");
    return revolve({{0, -h}, {r, -h}, {0, h}}, p.integer("segments"));
}

Primitive cone_primitive(const Params& p) {
    return primitive_of(Primitive::Kind::cone, Vec3(p.number("radius"), p.number("length"), 0));
}

Mesh make_capsule(const Params& p) {
    const double r = p.number("radius"), h = 0.5 * p.number("length");
    const int segments = p.integer("segments"), steps = std::max(2, segments / 4);
    std::vector<Vec2> profile;
    add_arc(profile, {0, -h}, r, -0.5 * M_PI, 0.0, steps);
    add_arc(profile, {0, h}, r, 0.0, 0.5 * M_PI, steps);
    return revolve(profile, segments);
}

Primitive capsule_primitive(const Params& p) {
    return primitive_of(Primitive::Kind::capsule, Vec3(p.number("radius"), p.number("length"), 0));
}

Mesh flat_grid(double width, double depth, int cells) {
    Mesh mesh;
    for (int i = 0; i <= cells; ++i)
        for (int j = 0; j <= cells; ++j)
            mesh.vertices.emplace_back(width * (static_cast<double>(j) / cells - 0.5), 0.0,
                                       depth * (static_cast<double>(i) / cells - 0.5));
    const auto at = [&](int i, int j) { return i * (cells + 1) + j; };
    for (int i = 0; i < cells; ++i)
        for (int j = 0; j < cells; ++j)
            add_quad(mesh, at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
    return mesh;
}

Mesh make_plane(const Params& p) {
    return flat_grid(p.list("size")[0], p.list("size")[1], p.integer("cells"));
}

Primitive plane_primitive(const Params&) {
    return primitive_of(Primitive::Kind::plane, Vec3::Zero());
}

Mesh make_torus(const Params& p) {
    const double major = p.number("major"), minor = p.number("minor");
    if (minor >= major) refuse("minor", "is not smaller than major", "make the tube thinner than the ring");
    const int around = std::max(3, p.integer("segments") / 2);
    std::vector<Vec2> loop;
    for (int i = 0; i < around; ++i) {
        const double angle = 2.0 * M_PI * i / around;
        loop.emplace_back(major + minor * std::cos(angle), minor * std::sin(angle));
    }
    return revolve_loop(loop, p.integer("segments"));
}

Mesh make_tetrahedron(const Params& p) {
    Mesh mesh;
    mesh.vertices = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    for (Vec3& v : mesh.vertices) v *= p.number("edge") / std::sqrt(8.0);
    mesh.triangles = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
    return mesh;
}

Mesh make_wedge(const Params& p) {
    const Vec3 h = 0.5 * p.vec3("size");
    Mesh mesh;
    mesh.vertices = {{-h.x(), -h.y(), -h.z()}, {h.x(), -h.y(), -h.z()}, {-h.x(), h.y(), -h.z()},
                     {-h.x(), -h.y(), h.z()},  {h.x(), -h.y(), h.z()},  {-h.x(), h.y(), h.z()}};
    mesh.triangles = {{0, 2, 1}, {3, 4, 5}};
    add_quad(mesh, 0, 1, 4, 3);
    add_quad(mesh, 1, 2, 5, 4);
    add_quad(mesh, 2, 0, 3, 5);
    return mesh;
}

Mesh make_card(const Params& p) {
    const double x = 0.5 * p.list("size")[0], y = 0.5 * p.list("size")[1];
    Mesh mesh;
    mesh.vertices = {{-x, -y, 0}, {x, -y, 0}, {x, y, 0}, {-x, y, 0}};
    add_quad(mesh, 0, 1, 2, 3);
    return mesh;
}

// Stations from the stern to the bow; each runs from rail to rail under the keel and back over the deck.
Mesh make_hull(const Params& p) {
    const Vec3 size = p.vec3("size");
    const int stations = p.integer("segments"), below = std::max(2, stations / 3),
              deck = std::max(1, below / 2);
    std::vector<std::vector<Vec3>> rings;
    for (int k = 0; k <= stations; ++k) {
        const double s = static_cast<double>(k) / stations;  // 0: stern, 1: bow
        const double half = 0.5 * size.z() * (0.7 + 0.3 * std::sin(M_PI * std::min(2.0 * s, 1.0) / 2.0)) *
                            std::sqrt(1.001 - std::pow(s, 3.0));           // half the beam there
        const double draught = size.y() * (1.0 - 0.6 * std::pow(s, 4.0));  // the keel rises to the bow
        const double x = size.x() * (s - 0.5), top = 0.5 * size.y();
        std::vector<Vec3> ring;
        for (int i = 0; i <= below; ++i) {
            const double angle = M_PI * i / below;
            const double across = std::cos(angle),
                         down = std::sqrt(std::sqrt(std::max(0.0, std::sin(angle))));
            ring.emplace_back(x, i % below ? top - draught * down : top, half * across);
        }
        for (int i = 1; i < deck; ++i) ring.emplace_back(x, top, half * (2.0 * i / deck - 1.0));
        rings.push_back(ring);
    }
    return sweep(rings, false);
}

}  // namespace

std::vector<ShapeInfo> basic_shapes() {
    const ParamInfo radius = length_param("radius", 0.5, "radius");
    const ParamInfo length = length_param("length", 1.0, "length along y");
    const ParamInfo segments = count_param("segments", 32, "corners around the axis", 3, 4096);
    return {
        {"box",
         "a box",
         {size_param("size", {1, 1, 1}, "full lengths along x, y, z")},
         make_box,
         box_primitive},
        {"sphere",
         "a sphere of meridians and parallels, poles on the y axis",
         {radius, segments},
         make_sphere,
         sphere_primitive},
        {"icosphere",
         "a sphere of nearly equal triangles, from an icosahedron",
         {radius, count_param("subdivisions", 3, "how often each triangle is cut into four", 0, 9)},
         make_icosphere,
         sphere_primitive},
        {"cylinder", "a cylinder along y", {radius, length, segments}, make_cylinder, cylinder_primitive},
        {"rod",
         "a thin cylinder along y",
         {length_param("radius", 0.02, "radius"), length_param("length", 1.0, "length along y"),
          count_param("segments", 12, "corners around the axis", 3, 4096)},
         make_cylinder,
         cylinder_primitive},
        {"capsule",
         "a cylinder along y with a half sphere at each end",
         {length_param("radius", 0.25, "radius of the cylinder and of the half spheres"),
          length_param("length", 1.0, "length along y of the cylinder, without the half spheres"), segments},
         make_capsule,
         capsule_primitive},
        {"cone",
         "a cone along y, its tip up; the origin is half way between base and tip",
         {radius, length, segments},
         make_cone,
         cone_primitive},
        {"torus",
         "a torus in the plane of x and z",
         {length_param("major", 0.5, "radius of the circle the tube runs along"),
          length_param("minor", 0.15, "radius of the tube"),
          count_param("segments", 48, "corners along the ring; half as many around the tube", 3, 4096)},
         make_torus},
        {"tetrahedron",
         "a regular tetrahedron",
         {length_param("edge", 1.0, "length of an edge")},
         make_tetrahedron},
        {"wedge",
         "a ramp: half a box, its slope from the top at -x down to +x",
         {size_param("size", {1, 1, 1}, "full lengths along x, y, z")},
         make_wedge},
        {"plane",
         "a flat ground in the plane of x and z, facing up; methods that can treat it as endless",
         {size_param("size", {10, 10}, "full lengths along x and z"),
          count_param("cells", 1, "squares along each side", 1, 2000)},
         make_plane,
         plane_primitive},
        {"quad",
         "a flat rectangle in the plane of x and z; give the body a thickness",
         {size_param("size", {1, 1}, "full lengths along x and z"),
          count_param("cells", 1, "squares along each side", 1, 2000)},
         make_plane},
        {"card",
         "an upright playing card in the plane of x and y; give the body a thickness",
         {size_param("size", {0.063, 0.088}, "full lengths along x and y")},
         make_card},
        {"hull",
         "a ship's hull with a flat deck, its bow at +x",
         {size_param("size", {1, 0.2, 0.3}, "length, depth and beam along x, y, z"),
          count_param("segments", 24, "stations along it; a third as many lines below the deck", 4, 4096)},
         make_hull},
    };
}

}  // namespace tenon::geometry

// Irregular bodies and grounds, the same ones every time: height fields, spiky bodies, blobs.
#include <algorithm>
#include <cmath>
#include <random>

#include "geometry/shapes_build.hpp"

namespace tenon::geometry {
namespace {

// Directions spread evenly over the sphere (golden-angle spiral).
std::vector<Vec3> even_directions(int count) {
    std::vector<Vec3> directions;
    const double golden = M_PI * (3.0 - std::sqrt(5.0));
    for (int i = 0; i < count; ++i) {
        const double y = 1.0 - (2.0 * i + 1.0) / count, r = std::sqrt(std::max(0.0, 1.0 - y * y));
        directions.emplace_back(r * std::cos(golden * i), y, r * std::sin(golden * i));
    }
    return directions;
}

Mesh make_heightfield(const Params& p) {
    const double width = p.list("size")[0], depth = p.list("size")[1], amplitude = p.number("amplitude"),
                 waves = p.number("waves");
    const int cells = p.integer("cells");
    // Four crossing waves with lengths that never line up; phases from the seed. The sum stays within 1.
    std::mt19937 random(static_cast<std::uint32_t>(p.integer("seed")));
    double phase[4], angle[4];
    for (int k = 0; k < 4; ++k) {
        phase[k] = 2.0 * M_PI * (random() / 4294967296.0);
        angle[k] = M_PI * (random() / 4294967296.0);
    }
    static const double weight[] = {0.45, 0.25, 0.18, 0.12}, length[] = {1.0, 1.61, 2.33, 3.77};
    const auto height = [&](double u, double v) {
        double sum = 0.0;
        for (int k = 0; k < 4; ++k)
            sum += weight[k] * std::sin(2.0 * M_PI * waves * length[k] *
                                            (u * std::cos(angle[k]) + v * std::sin(angle[k])) +
                                        phase[k]);
        return amplitude * sum;
    };
    Mesh mesh;
    for (int i = 0; i <= cells; ++i) {
        for (int j = 0; j <= cells; ++j) {
            const double u = static_cast<double>(j) / cells - 0.5, v = static_cast<double>(i) / cells - 0.5;
            mesh.vertices.emplace_back(width * u, height(u, v), depth * v);
        }
    }
    const auto at = [&](int i, int j) { return i * (cells + 1) + j; };
    for (int i = 0; i < cells; ++i)
        for (int j = 0; j < cells; ++j)
            add_quad(mesh, at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
    return mesh;
}

Mesh make_spiky(const Params& p) {
    const double radius = p.number("radius"), length = p.number("spike_length");
    const double width = p.number("spike_radius") / radius;
    const std::vector<Vec3> spikes = even_directions(p.integer("spikes"));
    Mesh mesh = unit_geosphere(p.integer("detail"));
    for (Vec3& v : mesh.vertices) {
        double best = -1.0;
        for (const Vec3& spike : spikes) best = std::max(best, spike.dot(v));
        const double off =
            std::acos(std::clamp(best, -1.0, 1.0)) / width;  // 0 on a spike's axis, 1 at its foot
        const double rise =
            off < 1.0 ? (1.0 - off) * (1.0 - off) * (1.0 + 2.0 * off) / (1.0 + 6.0 * off) : 0.0;
        v *= radius + length * rise;
    }
    return mesh;
}

Mesh make_blob(const Params& p) {
    const double amplitude = p.number("amplitude");
    std::mt19937 random(static_cast<std::uint32_t>(p.integer("seed")));
    const std::vector<Vec3> bumps = even_directions(p.integer("bumps"));
    std::vector<double> sign;
    for (std::size_t i = 0; i < bumps.size(); ++i) sign.push_back(2.0 * (random() / 4294967296.0) - 1.0);
    const double sharpness = 0.75 * static_cast<double>(bumps.size());
    Mesh mesh = unit_geosphere(p.integer("detail"));
    for (Vec3& v : mesh.vertices) {
        double sum = 0.0;
        for (std::size_t i = 0; i < bumps.size(); ++i)
            sum += sign[i] * std::exp(sharpness * (bumps[i].dot(v) - 1.0));
        v *= p.number("radius") * (1.0 + amplitude * std::clamp(sum, -1.5, 1.5) / 1.5);
    }
    return mesh;
}

}  // namespace

std::vector<ShapeInfo> rough_shapes() {
    const ParamInfo seed = count_param("seed", 1, "another number, another form", 0, 1000000000);
    const ParamInfo detail =
        count_param("detail", 16, "pieces along each edge of an icosahedron: 20 detail^2 triangles", 1, 300);
    return {
        {"heightfield",
         "hills over the plane of x and z, facing up",
         {size_param("size", {10, 10}, "full lengths along x and z"),
          length_param("amplitude", 0.5, "greatest height above and below 0", 0.0),
          number_param("waves", 2.0, "waves of the longest kind along a side", 0.0, 1000.0),
          count_param("cells", 64, "squares along each side", 1, 2000), seed},
         make_heightfield},
        {"spiky",
         "a ball with spikes, for things that hook",
         {length_param("radius", 0.3, "radius of the ball"),
          length_param("spike_length", 0.3, "length of the spikes"),
          length_param("spike_radius", 0.12, "radius of the spikes at their feet"),
          count_param("spikes", 20, "number of spikes", 1, 500),
          count_param("detail", 24, "pieces along each edge of an icosahedron: 20 detail^2 triangles", 1,
                      300)},
         make_spiky},
        {"blob",
         "a ball with smooth bumps and dents",
         {length_param("radius", 0.5, "radius without bumps"),
          number_param("amplitude", 0.25, "largest bump or dent, relative to the radius", 0.0, 0.9),
          count_param("bumps", 24, "number of bumps and dents", 1, 500), detail, seed},
         make_blob},
    };
}

}  // namespace tenon::geometry

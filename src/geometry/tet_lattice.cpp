// Tetrahedra from a closed surface: a body-centred cubic lattice, cut to the inside and fitted to the surface.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_map>

#include "geometry/signed_distance.hpp"
#include "geometry/tet_mesh.hpp"

namespace tenon::geometry {
namespace {

// Lattice points by doubled integer coordinates: all even is a cell's corner, all odd a cell's centre.
struct Lattice {
    Vec3 origin;
    double half;  // half a cell
    std::unordered_map<std::uint64_t, int> index;
    std::vector<Vec3> points;

    Vec3 position(const std::array<int, 3>& at) const { return origin + half * Vec3(at[0], at[1], at[2]); }
    int point(const std::array<int, 3>& at) {
        const std::uint64_t key = (static_cast<std::uint64_t>(at[0] + 4) << 42) |
                                  (static_cast<std::uint64_t>(at[1] + 4) << 21) |
                                  static_cast<std::uint64_t>(at[2] + 4);
        const auto [found, added] = index.try_emplace(key, static_cast<int>(points.size()));
        if (added) points.push_back(position(at));
        return found->second;
    }
};

// The four tetrahedra around the face between two neighbouring cells' centres, kept where they lie inside.
void add_face(Lattice& lattice, const std::array<int, 3>& center, int axis, const SignedDistance& distance,
              std::vector<Tet>& tets) {
    std::array<int, 3> next = center;
    next[axis] += 2;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    std::array<std::array<int, 3>, 4> ring;
    for (int k = 0; k < 4; ++k) {
        ring[k] = center;
        ring[k][axis] += 1;
        ring[k][u] += k == 0 || k == 3 ? -1 : 1;
        ring[k][v] += k < 2 ? -1 : 1;
    }
    for (int k = 0; k < 4; ++k) {
        const std::array<std::array<int, 3>, 4> corners{center, next, ring[k], ring[(k + 1) % 4]};
        Vec3 middle = Vec3::Zero();
        for (const auto& corner : corners) middle += 0.25 * lattice.position(corner);
        if (distance.distance(middle) > 0) continue;
        Tet tet;
        for (int c = 0; c < 4; ++c) tet[c] = lattice.point(corners[c]);
        tets.push_back(tet);
    }
}

double quality_of(const TetMesh& mesh, const Tet& t) {
    return tet_quality(mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]], mesh.vertices[t[3]]);
}

// Moves a vertex as far towards its target as the tetrahedra around it stay well shaped.
void move_towards(TetMesh& mesh, const std::vector<int>& around, int vertex, const Vec3& target) {
    constexpr double least = 0.2;
    const Vec3 start = mesh.vertices[vertex];
    double before = 1;
    for (int tet : around) before = std::min(before, quality_of(mesh, mesh.tets[tet]));
    for (double part : {1.0, 0.75, 0.5, 0.25}) {
        mesh.vertices[vertex] = start + part * (target - start);
        double worst = 1;
        for (int tet : around) worst = std::min(worst, quality_of(mesh, mesh.tets[tet]));
        if (worst >= std::min(least, before)) return;
    }
    mesh.vertices[vertex] = start;
}

void fit_to_surface(TetMesh& mesh, const SignedDistance& distance) {
    std::vector<std::vector<int>> around(mesh.vertices.size());
    for (std::size_t i = 0; i < mesh.tets.size(); ++i)
        for (int v : mesh.tets[i]) around[v].push_back(static_cast<int>(i));
    std::vector<char> boundary(mesh.vertices.size(), 0);
    for (const Triangle& f : tet_surface(mesh.tets))
        for (int v : f) boundary[v] = 1;
    for (int sweep = 0; sweep < 6; ++sweep) {
        for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
            if (boundary[v]) {
                Vec3 target = mesh.vertices[v];
                for (int k = 0; k < 3;
                     ++k) {  // the gradient of a sampled distance is not exactly of unit length
                    const auto sample = distance.sample(target);
                    const double slope = sample.gradient.squaredNorm();
                    if (slope < 0.05) break;
                    target -= sample.gradient * (sample.distance / slope);
                }
                move_towards(mesh, around[v], static_cast<int>(v), target);
            } else if (sweep > 0) {
                Vec3 mean = Vec3::Zero();
                for (int tet : around[v])
                    for (int corner : mesh.tets[tet]) mean += mesh.vertices[corner];
                mean /= 4.0 * static_cast<double>(around[v].size());
                move_towards(mesh, around[v], static_cast<int>(v), mean);
            }
        }
    }
}

}  // namespace

TetMesh lattice_tets(const Mesh& surface, double cell_size) {
    Box3 box;
    for (const Vec3& vertex : surface.vertices) box.add(vertex);
    const Vec3 size = box.size();
    std::array<int, 3> cells;
    for (int k = 0; k < 3; ++k) cells[k] = static_cast<int>(std::ceil(size[k] / cell_size - 1e-9)) + 2;
    if (static_cast<double>(cells[0]) * cells[1] * cells[2] > 3e7)
        throw std::invalid_argument("the cell size asks for more than thirty million cells");
    SignedDistanceOptions options;
    options.cells = std::clamp(static_cast<int>(2 * size.maxCoeff() / cell_size), 24, 200);
    const SignedDistance distance(surface, options);

    Lattice lattice;
    lattice.half = 0.5 * cell_size;
    lattice.origin = box.center() - lattice.half * Vec3(cells[0], cells[1], cells[2]);
    TetMesh mesh;
    for (int z = 0; z < cells[2]; ++z)
        for (int y = 0; y < cells[1]; ++y)
            for (int x = 0; x < cells[0]; ++x)
                for (int axis = 0; axis < 3; ++axis)
                    add_face(lattice, {2 * x + 1, 2 * y + 1, 2 * z + 1}, axis, distance, mesh.tets);
    if (mesh.tets.empty()) throw std::invalid_argument("no cell of this size fits inside the surface");
    mesh.vertices = std::move(lattice.points);
    for (Tet& tet : mesh.tets)
        if (quality_of(mesh, tet) < 0) std::swap(tet[2], tet[3]);
    fit_to_surface(mesh, distance);
    mesh.region.assign(mesh.tets.size(), 0);
    return mesh;
}

}  // namespace tenon::geometry

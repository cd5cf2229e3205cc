#include "geometry/hole_caps.hpp"

#include <map>

#include "geometry/mesh_check.hpp"

namespace tenon::geometry {
namespace {

double area_of(const Mesh& mesh, std::size_t first) {
    double sum = 0;
    for (std::size_t t = first; t < mesh.triangles.size(); ++t) {
        const Triangle& triangle = mesh.triangles[t];
        const Vec3& a = mesh.vertices[triangle[0]];
        sum += 0.5 * (mesh.vertices[triangle[1]] - a).cross(mesh.vertices[triangle[2]] - a).norm();
    }
    return sum;
}

// Directed edges that no triangle runs the other way, by their first vertex.
std::multimap<int, int> rims_of(const Mesh& mesh) {
    std::map<Edge, int> runs;
    for (const Triangle& triangle : mesh.triangles)
        for (std::size_t k = 0; k < 3; ++k) ++runs[{triangle[k], triangle[(k + 1) % 3]}];
    std::multimap<int, int> rims;
    for (const auto& [edge, count] : runs) {
        const auto back = runs.find({edge[1], edge[0]});
        for (int left = count - (back == runs.end() ? 0 : back->second); left > 0; --left)
            rims.emplace(edge[0], edge[1]);
    }
    return rims;
}

}  // namespace

CappedMesh cap_holes(const Mesh& mesh) {
    CappedMesh out;
    out.mesh.vertices = mesh.vertices;
    out.mesh.triangles = mesh.triangles;
    const std::size_t surface = mesh.triangles.size();
    std::multimap<int, int> rims = rims_of(mesh);
    while (!rims.empty()) {
        std::vector<int> loop = {rims.begin()->first};
        for (auto next = rims.begin(); next != rims.end(); next = rims.find(loop.back())) {
            loop.push_back(next->second);
            rims.erase(next);
            if (loop.back() == loop.front()) break;
        }
        if (loop.back() != loop.front()) return out;
        loop.pop_back();
        Vec3 center = Vec3::Zero();
        for (const int vertex : loop) center += mesh.vertices[vertex] / static_cast<double>(loop.size());
        const int hub = static_cast<int>(out.mesh.vertices.size());
        out.mesh.vertices.push_back(center);
        for (std::size_t i = 0; i < loop.size(); ++i)
            out.mesh.triangles.push_back({loop[(i + 1) % loop.size()], loop[i], hub});
    }
    out.closed = is_closed_cycle(out.mesh);
    const double area = area_of(mesh, 0);
    out.cap_share = area > 0 ? area_of(out.mesh, surface) / area : 0.0;
    return out;
}

}  // namespace tenon::geometry

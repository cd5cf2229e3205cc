#include "geometry/tet_cut.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tenon::geometry {
namespace {

using Polygon = std::vector<int>;

constexpr std::array<std::array<int, 3>, 4> kFaces{{{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}};

double volume_of(const TetMesh& mesh, const Tet& t) {
    const Vec3& a = mesh.vertices[t[0]];
    return (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a).dot(mesh.vertices[t[3]] - a) / 6;
}

class Cutter {
  public:
    Cutter(TetMesh& mesh, const Vec3& point, const Vec3& normal)
        : mesh_(mesh), point_(point), normal_(normal.normalized()) {}

    std::vector<std::array<int, 2>> cut() {
        move_near_vertices();
        divide();
        return double_vertices();
    }

  private:
    void move_near_vertices() {
        std::vector<double> shortest(mesh_.vertices.size(), 1e300);
        for (const Tet& t : mesh_.tets)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < i; ++j) {
                    const double length = (mesh_.vertices[t[i]] - mesh_.vertices[t[j]]).norm();
                    for (int v : {t[i], t[j]}) shortest[v] = std::min(shortest[v], length);
                }
        height_.resize(mesh_.vertices.size());
        for (std::size_t v = 0; v < height_.size(); ++v) {
            height_[v] = normal_.dot(mesh_.vertices[v] - point_);
            if (std::abs(height_[v]) > 0.2 * shortest[v]) continue;
            mesh_.vertices[v] -= height_[v] * normal_;
            height_[v] = 0;
        }
    }

    void divide() {
        const std::vector<Tet> whole = std::move(mesh_.tets);
        const std::vector<int> region = std::move(mesh_.region);
        mesh_.tets.clear();
        mesh_.region.clear();
        for (std::size_t i = 0; i < whole.size(); ++i) {
            bool above = false, below = false;
            for (int v : whole[i]) above = above || height_[v] > 0, below = below || height_[v] < 0;
            if (above && below) {
                add_part(whole[i], 1);
                add_part(whole[i], -1);
            } else {
                mesh_.tets.push_back(whole[i]);
            }
            mesh_.region.resize(mesh_.tets.size(), region.empty() ? 0 : region[i]);
        }
    }

    // Where an edge meets the plane; one vertex for all tetrahedra around it.
    int crossing(int a, int b) {
        const auto [at, added] =
            crossing_.try_emplace(std::minmax(a, b), static_cast<int>(mesh_.vertices.size()));
        if (added) {
            const double t = height_[a] / (height_[a] - height_[b]);
            const Vec3 where = (1 - t) * mesh_.vertices[a] + t * mesh_.vertices[b];
            mesh_.vertices.push_back(where);
            height_.push_back(0.0);
        }
        return at->second;
    }

    Polygon clip(const std::array<int, 3>& face, const Tet& t, int side) {
        Polygon polygon;
        for (int k = 0; k < 3; ++k) {
            const int a = t[face[k]], b = t[face[(k + 1) % 3]];
            if (side * height_[a] >= 0) polygon.push_back(a);
            if (height_[a] * height_[b] < 0) polygon.push_back(crossing(a, b));
        }
        return polygon;
    }

    // The part of a tetrahedron on one side: from its vertex of lowest number to its faces, which are divided from
    // their own vertex of lowest number. Neighbours then agree on the faces that they share.
    void add_part(const Tet& t, int side) {
        std::vector<Polygon> faces;
        Polygon section;
        for (const auto& face : kFaces) {
            faces.push_back(clip(face, t, side));
            for (int v : faces.back())
                if (height_[v] == 0 && std::find(section.begin(), section.end(), v) == section.end())
                    section.push_back(v);
        }
        faces.push_back(in_order(section));
        int lowest = faces[0].empty() ? faces[1][0] : faces[0][0];
        for (const Polygon& face : faces)
            for (int v : face) lowest = std::min(lowest, v);
        for (const Polygon& face : faces) {
            if (face.size() < 3 || std::find(face.begin(), face.end(), lowest) != face.end()) continue;
            const auto first = std::min_element(face.begin(), face.end()) - face.begin();
            const std::size_t n = face.size();
            for (std::size_t k = 1; k + 1 < n; ++k) {
                Tet made{lowest, face[first], face[(first + k) % n], face[(first + k + 1) % n]};
                if (volume_of(mesh_, made) < 0) std::swap(made[2], made[3]);
                mesh_.tets.push_back(made);
            }
        }
    }

    // The vertices of the section around its middle.
    Polygon in_order(Polygon section) const {
        Vec3 middle = Vec3::Zero();
        for (int v : section) middle += mesh_.vertices[v] / static_cast<double>(section.size());
        const Vec3 u = (mesh_.vertices[section[0]] - middle).normalized(), w = normal_.cross(u);
        const auto angle = [&](int v) {
            return std::atan2((mesh_.vertices[v] - middle).dot(w), (mesh_.vertices[v] - middle).dot(u));
        };
        std::sort(section.begin(), section.end(), [&](int a, int b) { return angle(a) < angle(b); });
        return section;
    }

    std::vector<std::array<int, 2>> double_vertices() {
        const auto side_of = [&](const Tet& t) {
            for (int v : t)
                if (height_[v] != 0) return height_[v] > 0 ? 1 : -1;
            return 0;
        };
        std::vector<char> above(mesh_.vertices.size(), 0), below(mesh_.vertices.size(), 0);
        for (const Tet& t : mesh_.tets)
            for (int v : t) (side_of(t) > 0 ? above : below)[v] = 1;
        std::vector<std::array<int, 2>> pairs;
        std::vector<int> twin(mesh_.vertices.size(), -1);
        for (std::size_t v = 0; v < twin.size(); ++v) {
            if (height_[v] != 0 || !above[v] || !below[v]) continue;
            twin[v] = static_cast<int>(mesh_.vertices.size());
            mesh_.vertices.push_back(Vec3(mesh_.vertices[v]));
            pairs.push_back({static_cast<int>(v), twin[v]});
        }
        for (Tet& t : mesh_.tets)
            if (side_of(t) > 0)
                for (int& v : t)
                    if (twin[v] >= 0) v = twin[v];
        return pairs;
    }

    TetMesh& mesh_;
    Vec3 point_, normal_;
    std::vector<double> height_;  // over the plane; exactly zero in it
    std::map<std::pair<int, int>, int> crossing_;
};

}  // namespace

std::vector<std::array<int, 2>> cut_tets(TetMesh& mesh, const Vec3& point, const Vec3& normal) {
    return Cutter(mesh, point, normal).cut();
}

}  // namespace tenon::geometry

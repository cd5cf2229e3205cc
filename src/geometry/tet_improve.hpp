// Better tetrahedra on the same shape: vertices move on their feature, edges and faces are replaced, and every change
// is made only where the worst tetrahedron it touches becomes better.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "geometry/tet_mesh.hpp"
#include "geometry/tet_sites.hpp"

namespace tenon::geometry {

// The smallest sine of the six dihedral angles; negative when inverted. Angles near 0 and near 180 degrees are both bad.
double least_dihedral_sine(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

class TetImprover {
  public:
    // `segments` are the edges along feature curves: they stay.
    TetImprover(const FeatureSurface& surface, const SizeField& size, std::vector<Site> sites,
                std::vector<Tet> tets, const std::vector<std::array<int, 2>>& segments);

    void improve();
    // Puts vertices of the surface exactly on their corners, curves and patches.
    void settle();
    // Moves vertices of curved patches and curves a little off them, so that the faces between them lie as much outside
    // as inside: the volume becomes that of the surface.
    void balance();

    std::vector<Site>& sites() { return sites_; }
    std::vector<Tet> tets() const;

  private:
    using Key = std::array<int, 3>;
    struct KeyHash {
        std::size_t operator()(const Key& k) const {
            std::uint64_t h = static_cast<std::uint64_t>(k[0]) * 0x9e3779b97f4a7c15ull;
            h = (h ^ (h >> 29)) + static_cast<std::uint64_t>(k[1]) * 0xbf58476d1ce4e5b9ull;
            h = (h ^ (h >> 31)) + static_cast<std::uint64_t>(k[2]) * 0x94d049bb133111ebull;
            return h ^ (h >> 30);
        }
    };
    struct Ring {
        std::vector<int> tets, around;  // the vertices around an edge, in order
        bool open = false;              // the edge lies on the boundary
        bool usable = false;
    };

    const Vec3& at(int v) const { return sites_[v].x; }
    double quality(const Tet& t) const { return least_dihedral_sine(at(t[0]), at(t[1]), at(t[2]), at(t[3])); }
    double star_quality(int v) const;
    bool has(int tet, int v) const;
    int add_tet(const Tet& t);
    void remove_tet(int tet);
    int label(const Key& face) const;  // patch of a boundary face, -1 elsewhere
    bool locked(int a, int b) const;
    Ring ring_of(int a, int b) const;

    bool smooth(int v, double least);
    Vec3 on_feature(int v, const Vec3& wanted, double& along) const;
    bool remove_edge(int a, int b);
    bool surface_allows(int a, int b, const Ring& ring) const;
    bool flip_face(int tet, int opposite);
    bool collapse(int from, int to);
    bool split(int a, int b);
    void relax(int passes);
    bool improve_tet(int tet, int effort);

    const FeatureSurface& surface_;
    const SizeField& size_;
    std::vector<Site> sites_;
    std::vector<Tet> tets_;
    std::vector<double> quality_;  // of each tetrahedron, -2: removed
    std::vector<std::vector<int>> star_;
    std::unordered_map<Key, int, KeyHash> boundary_;
    std::unordered_set<std::uint64_t> locked_;
};

}  // namespace tenon::geometry

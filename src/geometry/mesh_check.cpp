#include "geometry/mesh_check.hpp"
#include "math/union_find.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <unordered_map>

namespace tenon::geometry {
namespace {

// One side of a triangle: its two vertices packed in order, the triangle, and which way it runs.
struct Side {
    std::uint64_t key = 0;
    int triangle = -1;
    bool forward = true;  // from the smaller to the larger vertex
};

std::uint64_t edge_key(int a, int b) {
    const auto lo = static_cast<std::uint32_t>(std::min(a, b)),
               hi = static_cast<std::uint32_t>(std::max(a, b));
    return (static_cast<std::uint64_t>(lo) << 32) | hi;
}

bool repeats_corner(const Triangle& t) {
    return t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
}

// The sides of all triangles that have three different corners, equal edges next to each other.
std::vector<Side> sorted_sides(const Mesh& mesh) {
    std::vector<Side> sides;
    sides.reserve(3 * mesh.triangles.size());
    for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
        const Triangle& t = mesh.triangles[i];
        if (repeats_corner(t)) continue;
        for (int k = 0; k < 3; ++k) {
            const int a = t[k], b = t[(k + 1) % 3];
            sides.push_back({edge_key(a, b), static_cast<int>(i), a < b});
        }
    }
    std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
        return a.key != b.key ? a.key < b.key : a.triangle < b.triangle;
    });
    return sides;
}

// Calls visit(begin, end) for each run of sides that share an edge.
template <class Visit>
void for_each_edge(const std::vector<Side>& sides, const Visit& visit) {
    for (std::size_t begin = 0; begin < sides.size();) {
        std::size_t end = begin + 1;
        while (end < sides.size() && sides[end].key == sides[begin].key) ++end;
        visit(begin, end);
        begin = end;
    }
}

UnionFind joined_vertices(const Mesh& mesh) {
    UnionFind sets(mesh.vertices.size());
    for (const Triangle& t : mesh.triangles) {
        sets.join(t[0], t[1]);
        sets.join(t[0], t[2]);
    }
    for (const Edge& e : mesh.edges) sets.join(e[0], e[1]);
    return sets;
}

std::vector<char> used_vertices(const Mesh& mesh) {
    std::vector<char> used(mesh.vertices.size(), 0);
    for (const Triangle& t : mesh.triangles)
        for (int v : t) used[v] = 1;
    for (const Edge& e : mesh.edges)
        for (int v : e) used[v] = 1;
    for (int v : mesh.points) used[v] = 1;
    return used;
}

int count_duplicates(const std::vector<Vec3>& vertices) {
    std::vector<Vec3> sorted = vertices;
    std::sort(sorted.begin(), sorted.end(), [](const Vec3& a, const Vec3& b) {
        return std::lexicographical_compare(a.data(), a.data() + 3, b.data(), b.data() + 3);
    });
    int count = 0;
    for (std::size_t i = 1; i < sorted.size(); ++i) count += sorted[i] == sorted[i - 1];
    return count;
}

// Zero area up to round-off of its own size.
bool is_degenerate(const Mesh& mesh, const Triangle& t) {
    if (repeats_corner(t)) return true;
    const Vec3 &a = mesh.vertices[t[0]], &b = mesh.vertices[t[1]], &c = mesh.vertices[t[2]];
    const double longest = std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()});
    return (b - a).cross(c - a).norm() <= 1e-14 * longest;
}

double signed_volume(const Mesh& mesh) {
    Box3 box;
    for (const Vec3& v : mesh.vertices) box.add(v);
    if (box.empty()) return 0.0;
    const Vec3 middle = box.center();
    double volume = 0.0;
    for (const Triangle& t : mesh.triangles)
        volume += (mesh.vertices[t[0]] - middle)
                      .dot((mesh.vertices[t[1]] - middle).cross(mesh.vertices[t[2]] - middle)) /
                  6.0;
    return volume;
}

// Keeps the given vertices (new index, or -1) and renumbers everything.
Mesh renumbered(const Mesh& mesh, const std::vector<int>& target, std::vector<Vec3> vertices) {
    Mesh result;
    result.vertices = std::move(vertices);
    for (const Triangle& t : mesh.triangles) {
        const Triangle moved{target[t[0]], target[t[1]], target[t[2]]};
        if (!repeats_corner(moved)) result.triangles.push_back(moved);
    }
    for (const Edge& e : mesh.edges)
        if (target[e[0]] != target[e[1]]) result.edges.push_back({target[e[0]], target[e[1]]});
    std::vector<char> taken(result.vertices.size(), 0);
    for (int v : mesh.points) {
        if (taken[target[v]]) continue;
        taken[target[v]] = 1;
        result.points.push_back(target[v]);
    }
    return result;
}

Mesh without_unused(const Mesh& mesh) {
    const std::vector<char> used = used_vertices(mesh);
    std::vector<int> target(mesh.vertices.size(), -1);
    std::vector<Vec3> vertices;
    for (std::size_t v = 0; v < used.size(); ++v) {
        if (!used[v]) continue;
        target[v] = static_cast<int>(vertices.size());
        vertices.push_back(mesh.vertices[v]);
    }
    return renumbered(mesh, target, std::move(vertices));
}

// A hashed grid of the vertices kept so far. Its cells are several tolerances wide, so that few points lie near a wall.
class PointGrid {
  public:
    PointGrid(double tolerance, std::size_t expected) : tolerance_(tolerance), width_(8.0 * tolerance) {
        cells_.reserve(expected);
    }

    // The first kept point within the tolerance, or -1 after noting this one as the next to be kept.
    int find_or_add(const Vec3& point, const std::vector<Vec3>& kept) {
        Vec3 lo = point, hi = point;
        if (tolerance_ > 0.0) {
            lo = ((point.array() - tolerance_) / width_).floor();
            hi = ((point.array() + tolerance_) / width_).floor();
        }
        int best = -1;
        for (int corner = 0; corner < 8; ++corner) {
            bool repeated = false;
            Vec3 cell = lo;
            for (int k = 0; k < 3; ++k) {
                if (!(corner >> k & 1)) continue;
                repeated = repeated || hi[k] == lo[k];
                cell[k] = hi[k];
            }
            if (!repeated) look(key(cell), point, kept, best);
        }
        const Vec3 home = tolerance_ > 0.0 ? Vec3((point / width_).array().floor()) : point;
        if (best < 0) cells_.emplace(key(home), static_cast<int>(kept.size()));
        return best;
    }

  private:
    static std::uint64_t key(const Vec3& cell) {
        std::uint64_t h = 0x2545f4914f6cdd1dULL;
        for (int k = 0; k < 3; ++k) {
            h = (h ^ std::hash<double>{}(cell[k] + 0.0)) * 0xff51afd7ed558ccdULL;  // + 0: no negative zero
            h ^= h >> 32;
        }
        return h;
    }
    void look(std::uint64_t cell, const Vec3& point, const std::vector<Vec3>& kept, int& best) const {
        const auto [first, last] = cells_.equal_range(cell);
        for (auto it = first; it != last; ++it)
            if ((kept[it->second] - point).norm() <= tolerance_ && (best < 0 || it->second < best))
                best = it->second;
    }

    double tolerance_, width_;
    std::unordered_multimap<std::uint64_t, int> cells_;
};

// Pairs of triangles that share an edge with no third one.
struct Neighbours {
    std::vector<std::array<int, 3>> other;  // -1: none
    std::vector<std::array<bool, 3>> agrees;
};

Neighbours neighbours_of(const Mesh& mesh) {
    Neighbours n;
    n.other.assign(mesh.triangles.size(), {-1, -1, -1});
    n.agrees.assign(mesh.triangles.size(), {true, true, true});
    std::vector<int> filled(mesh.triangles.size(), 0);
    const std::vector<Side> sides = sorted_sides(mesh);
    for_each_edge(sides, [&](std::size_t begin, std::size_t end) {
        if (end - begin != 2) return;
        const Side &a = sides[begin], &b = sides[begin + 1];
        const bool agrees = a.forward != b.forward;
        for (const auto& [from, to] :
             {std::pair{a.triangle, b.triangle}, std::pair{b.triangle, a.triangle}}) {
            n.other[from][filled[from]] = to;
            n.agrees[from][filled[from]++] = agrees;
        }
    });
    return n;
}

// Gives triangles joined by edges one patch number, and says which ones to flip so that neighbours agree.
bool agree_within_patches(const Neighbours& n, std::vector<int>& patch, std::vector<char>& flipped) {
    patch.assign(n.other.size(), -1);
    flipped.assign(n.other.size(), 0);
    std::vector<int> queue;
    int patches = 0;
    for (std::size_t seed = 0; seed < n.other.size(); ++seed) {
        if (patch[seed] >= 0) continue;
        patch[seed] = patches;
        queue.assign(1, static_cast<int>(seed));
        while (!queue.empty()) {
            const int t = queue.back();
            queue.pop_back();
            for (int k = 0; k < 3; ++k) {
                const int u = n.other[t][k];
                if (u < 0) continue;
                const char wanted = n.agrees[t][k] ? flipped[t] : !flipped[t];
                if (patch[u] < 0) {
                    patch[u] = patches;
                    flipped[u] = wanted;
                    queue.push_back(u);
                } else if (flipped[u] != wanted) {
                    return false;
                }
            }
        }
        ++patches;
    }
    return true;
}

// Turns closed patches of negative volume inside out.
void face_outward(Mesh& mesh, const Neighbours& n, const std::vector<int>& patch) {
    const std::size_t patches = patch.empty() ? 0 : *std::max_element(patch.begin(), patch.end()) + 1;
    std::vector<double> volume(patches, 0.0);
    std::vector<char> open(patches, 0);
    std::vector<int> first(patches, -1);  // volumes are measured from a vertex of the patch
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        const Triangle& corner = mesh.triangles[t];
        const int p = patch[t];
        if (first[p] < 0) first[p] = corner[0];
        const Vec3& origin = mesh.vertices[first[p]];
        const Vec3 a = mesh.vertices[corner[0]] - origin, b = mesh.vertices[corner[1]] - origin,
                   c = mesh.vertices[corner[2]] - origin;
        volume[p] += a.dot(b.cross(c));
        for (int k = 0; k < 3; ++k)
            if (n.other[t][k] < 0) open[p] = 1;
    }
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        if (!open[patch[t]] && volume[patch[t]] < 0.0) std::swap(mesh.triangles[t][1], mesh.triangles[t][2]);
}

// Each edge must bend the right way: the neighbour's far corner lies below the triangle's plane.
bool locally_convex(const Mesh& mesh, double tolerance) {
    const std::vector<Side> sides = sorted_sides(mesh);
    bool convex = true;
    for_each_edge(sides, [&](std::size_t begin, std::size_t end) {
        if (!convex || end - begin != 2) return;
        for (int k = 0; k < 2; ++k) {
            const Triangle& t = mesh.triangles[sides[begin + k].triangle];
            const Triangle& other = mesh.triangles[sides[begin + 1 - k].triangle];
            const Vec3& a = mesh.vertices[t[0]];
            const Vec3 normal = (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a).normalized();
            for (int v : other) convex = convex && normal.dot(mesh.vertices[v] - a) <= tolerance;
        }
    });
    return convex;
}

// No corner may wind more than once: angles around it add up to at most a full turn.
bool corners_wind_once(const Mesh& mesh) {
    std::vector<double> angle(mesh.vertices.size(), 0.0);
    for (const Triangle& t : mesh.triangles) {
        for (int k = 0; k < 3; ++k) {
            const Vec3 a = mesh.vertices[t[(k + 1) % 3]] - mesh.vertices[t[k]];
            const Vec3 b = mesh.vertices[t[(k + 2) % 3]] - mesh.vertices[t[k]];
            angle[t[k]] += std::atan2(a.cross(b).norm(), a.dot(b));
        }
    }
    return std::all_of(angle.begin(), angle.end(), [](double sum) { return sum < 2.0 * M_PI + 1e-3; });
}

bool below_every_plane(const Mesh& mesh, double tolerance) {
    for (const Triangle& t : mesh.triangles) {
        const Vec3& a = mesh.vertices[t[0]];
        const Vec3 normal = (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a).normalized();
        for (const Vec3& v : mesh.vertices)
            if (normal.dot(v - a) > tolerance) return false;
    }
    return true;
}

}  // namespace

MeshReport check_mesh(const Mesh& mesh) {
    MeshReport report;
    report.duplicate_vertices = count_duplicates(mesh.vertices);
    for (const Triangle& t : mesh.triangles) report.degenerate_triangles += is_degenerate(mesh, t);

    const std::vector<Side> sides = sorted_sides(mesh);
    for_each_edge(sides, [&](std::size_t begin, std::size_t end) {
        const std::size_t count = end - begin;
        report.boundary_edges += count == 1;
        report.non_manifold_edges += count > 2;
        report.inconsistent_edges += count == 2 && sides[begin].forward == sides[begin + 1].forward;
    });

    const std::vector<char> used = used_vertices(mesh);
    UnionFind sets = joined_vertices(mesh);
    for (std::size_t v = 0; v < used.size(); ++v) {
        report.unused_vertices += !used[v];
        report.components += used[v] && sets.root(static_cast<int>(v)) == static_cast<int>(v);
    }
    report.signed_volume = signed_volume(mesh);
    report.inside_out = !mesh.triangles.empty() && report.closed() && report.signed_volume < 0.0;
    return report;
}

bool is_closed_cycle(const Mesh& mesh) {
    const std::vector<Side> sides = sorted_sides(mesh);
    bool closed = !sides.empty();
    for_each_edge(sides, [&](std::size_t begin, std::size_t end) {
        int balance = 0;
        for (std::size_t i = begin; i < end; ++i) balance += sides[i].forward ? 1 : -1;
        closed = closed && balance == 0;
    });
    return closed;
}

Mesh weld(const Mesh& mesh, double tolerance) {
    PointGrid grid(std::max(0.0, tolerance), mesh.vertices.size());
    std::vector<Vec3> kept;
    std::vector<int> target(mesh.vertices.size());
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
        const int found = grid.find_or_add(mesh.vertices[v], kept);
        target[v] = found >= 0 ? found : static_cast<int>(kept.size());
        if (found < 0) kept.push_back(mesh.vertices[v]);
    }
    return without_unused(renumbered(mesh, target, std::move(kept)));
}

bool orient(Mesh& mesh) {
    const Neighbours n = neighbours_of(mesh);
    std::vector<int> patch;
    std::vector<char> flipped;
    if (!agree_within_patches(n, patch, flipped)) return false;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        if (flipped[t]) std::swap(mesh.triangles[t][1], mesh.triangles[t][2]);
    face_outward(mesh, n, patch);
    return true;
}

std::vector<Edge> all_edges(const Mesh& mesh) {
    std::vector<std::uint64_t> keys;
    keys.reserve(3 * mesh.triangles.size() + mesh.edges.size());
    for (const Triangle& t : mesh.triangles)
        for (int k = 0; k < 3; ++k) keys.push_back(edge_key(t[k], t[(k + 1) % 3]));
    for (const Edge& e : mesh.edges) keys.push_back(edge_key(e[0], e[1]));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    std::vector<Edge> edges;
    edges.reserve(keys.size());
    for (std::uint64_t key : keys) {
        const Edge edge{static_cast<int>(key >> 32), static_cast<int>(key & 0xffffffffu)};
        if (edge[0] != edge[1]) edges.push_back(edge);
    }
    return edges;
}

std::vector<Mesh> split_components(const Mesh& mesh) {
    const std::vector<char> used = used_vertices(mesh);
    UnionFind sets = joined_vertices(mesh);
    std::vector<int> part(mesh.vertices.size(), -1), target(mesh.vertices.size(), -1);
    std::vector<Mesh> parts;
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
        if (!used[v]) continue;
        const int root = sets.root(static_cast<int>(v));
        if (root == static_cast<int>(v)) {
            part[v] = static_cast<int>(parts.size());
            parts.emplace_back();
        }
        Mesh& mine = parts[part[v] = part[root]];
        target[v] = static_cast<int>(mine.vertices.size());
        mine.vertices.push_back(mesh.vertices[v]);
    }
    for (const Triangle& t : mesh.triangles)
        parts[part[t[0]]].triangles.push_back({target[t[0]], target[t[1]], target[t[2]]});
    for (const Edge& e : mesh.edges) parts[part[e[0]]].edges.push_back({target[e[0]], target[e[1]]});
    for (int v : mesh.points) parts[part[v]].points.push_back(target[v]);
    return parts;
}

bool is_convex(const Mesh& mesh, double tolerance) {
    if (!mesh.edges.empty() || !mesh.points.empty()) return false;
    const MeshReport report = check_mesh(mesh);
    if (mesh.triangles.empty() || !report.clean() || report.components != 1 || report.unused_vertices > 0)
        return false;
    if (!locally_convex(mesh, tolerance) || !corners_wind_once(mesh)) return false;
    // A sphere-like surface that bends outward at every edge and winds once at every corner is convex;
    // small ones are checked against every plane, which also sees bends below the tolerance that add up.
    const std::size_t edge_count = mesh.triangles.size() * 3 / 2;
    if (mesh.vertices.size() + mesh.triangles.size() != edge_count + 2) return false;
    if (mesh.vertices.size() * mesh.triangles.size() > 20'000'000) return true;
    return below_every_plane(mesh, tolerance);
}

}  // namespace tenon::geometry

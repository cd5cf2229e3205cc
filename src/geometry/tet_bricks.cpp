#include "geometry/tet_bricks.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tenon::geometry {
namespace {

constexpr double kThin = 0.3;  // a brick's least side over the cell

// Three directions at right angles to each other that all faces have; nothing when there are none.
std::optional<Mat3> brick_frame(const FeatureSurface& surface) {
    Mat3 axes = Mat3::Zero();
    int found = 0;
    for (std::size_t t = 0; t < surface.mesh().triangles.size(); ++t) {
        const Vec3& n = surface.normal_of(static_cast<int>(t));
        if (n.squaredNorm() == 0) continue;
        bool known = false, across = true;
        for (int k = 0; k < found; ++k) {
            const double along = std::abs(n.dot(axes.col(k)));
            known = known || along > 1 - 1e-12;
            across = across && along < 1e-6;
        }
        if (known) continue;
        if (!across || found == 3) return std::nullopt;
        axes.col(found++) = n;
    }
    if (found < 3) return std::nullopt;
    for (int k = 0; k < 3; ++k) {  // the coordinate axes in their order where those are meant
        int at = 0;
        axes.col(k).cwiseAbs().maxCoeff(&at);
        if (std::abs(axes(at, k)) > 1 - 1e-12) {
            axes.col(k).setZero();
            axes(at, k) = 1;
        }
    }
    if (axes.isApprox(axes.cwiseAbs()) && axes.sum() == 3) return Mat3::Identity();
    if (axes.determinant() < 0) axes.col(2) = -axes.col(2);
    return axes;
}

class Bricks {
  public:
    Bricks(const FeatureSurface& surface, const Mat3& axes, double cell)
        : surface_(surface), axes_(axes), cell_(cell) {}

    // False: planes too close to each other.
    bool set_planes(const std::vector<Box3>& regions) {
        Box3 box;
        for (const Vec3& v : surface_.mesh().vertices) box.add(axes_.transpose() * v);
        const double same = 1e-9 * box.diagonal();
        for (int k = 0; k < 3; ++k) {
            std::vector<double>& planes = planes_[k];
            for (const Vec3& v : surface_.mesh().vertices) planes.push_back(axes_.col(k).dot(v));
            std::sort(planes.begin(), planes.end());
            planes.erase(
                std::unique(planes.begin(), planes.end(), [&](double a, double b) { return b - a < same; }),
                planes.end());
            for (std::size_t i = 1; i < planes.size(); ++i)
                if (planes[i] - planes[i - 1] < kThin * cell_) return false;
            if (axes_.isIdentity()) add_region_planes(regions, k);
        }
        return true;
    }

    TetMesh fill() {
        divide();
        mark_inside();
        for (int z = 0; z < count_[2]; ++z)
            for (int y = 0; y < count_[1]; ++y)
                for (int x = 0; x < count_[0]; ++x)
                    if (inside({x, y, z})) add_brick({x, y, z});
        if (mesh_.tets.empty()) throw std::invalid_argument("no cell of this size fits inside the surface");
        mesh_.region.assign(mesh_.tets.size(), 0);
        return std::move(mesh_);
    }

  private:
    using Place = std::array<int, 3>;

    void add_region_planes(const std::vector<Box3>& regions, int k) {
        for (const Box3& region : regions)
            for (double plane : {region.lo[k], region.hi[k]}) {
                std::vector<double>& planes = planes_[k];
                if (plane <= planes.front() || plane >= planes.back()) continue;
                const auto after = std::lower_bound(planes.begin(), planes.end(), plane);
                const double above = *after - plane, below = plane - *(after - 1);
                if (std::min(above, below) <= 1e-9 * cell_) {  // one of the solid's own
                    interfaces_[k].push_back(above < below ? *after : *(after - 1));
                } else if (above >= kThin * cell_ && below >= kThin * cell_) {
                    planes.insert(after, plane);
                    interfaces_[k].push_back(plane);
                }
            }
    }

    // Tetrahedra do not reach through the planes of regions, so that each has one material.
    bool interface(int k, int line) const {
        return std::find(interfaces_[k].begin(), interfaces_[k].end(), line_[k][line]) !=
               interfaces_[k].end();
    }

    void divide() {
        for (int k = 0; k < 3; ++k) {
            for (std::size_t i = 1; i < planes_[k].size(); ++i) {
                const double length = planes_[k][i] - planes_[k][i - 1];
                const int pieces = std::max(1, static_cast<int>(std::lround(length / cell_)));
                for (int p = 0; p < pieces; ++p) {
                    line_[k].push_back(planes_[k][i - 1] + length * p / pieces);
                    interval_[k].push_back(static_cast<int>(i) - 1);
                }
            }
            line_[k].push_back(planes_[k].back());
            count_[k] = static_cast<int>(interval_[k].size());
        }
        corner_.assign(static_cast<std::size_t>(count_[0] + 1) * (count_[1] + 1) * (count_[2] + 1), -1);
        center_.assign(static_cast<std::size_t>(count_[0]) * count_[1] * count_[2], -1);
    }

    // Inside or outside is the same for all bricks between the same planes.
    void mark_inside() {
        for (int k = 0; k < 3; ++k) blocks_[k] = static_cast<int>(planes_[k].size()) - 1;
        for (int z = 0; z < blocks_[2]; ++z)
            for (int y = 0; y < blocks_[1]; ++y)
                for (int x = 0; x < blocks_[0]; ++x) {
                    const Place at{x, y, z};
                    Vec3 middle;
                    for (int k = 0; k < 3; ++k) middle[k] = 0.5 * (planes_[k][at[k]] + planes_[k][at[k] + 1]);
                    block_inside_.push_back(surface_.inside(axes_ * middle));
                }
    }

    bool inside(const Place& p) const {
        for (int k = 0; k < 3; ++k)
            if (p[k] < 0 || p[k] >= count_[k]) return false;
        return block_inside_[(static_cast<std::size_t>(interval_[2][p[2]]) * blocks_[1] +
                              interval_[1][p[1]]) *
                                 blocks_[0] +
                             interval_[0][p[0]]];
    }

    int corner(const Place& p) {
        int& number =
            corner_[(static_cast<std::size_t>(p[2]) * (count_[1] + 1) + p[1]) * (count_[0] + 1) + p[0]];
        if (number < 0) number = add_vertex({line_[0][p[0]], line_[1][p[1]], line_[2][p[2]]});
        return number;
    }
    int center(const Place& p) {
        int& number = center_[(static_cast<std::size_t>(p[2]) * count_[1] + p[1]) * count_[0] + p[0]];
        if (number < 0) {
            Vec3 middle;
            for (int k = 0; k < 3; ++k) middle[k] = 0.5 * (line_[k][p[k]] + line_[k][p[k] + 1]);
            number = add_vertex(middle);
        }
        return number;
    }
    int add_vertex(const Vec3& local) {
        mesh_.vertices.push_back(axes_ * local);
        return static_cast<int>(mesh_.vertices.size()) - 1;
    }

    void add_tet(int a, int b, int c, int d) {
        const auto& x = mesh_.vertices;
        if ((x[b] - x[a]).cross(x[c] - x[a]).dot(x[d] - x[a]) < 0) std::swap(c, d);
        mesh_.tets.push_back({a, b, c, d});
    }

    // Each face of a brick: four tetrahedra with the next brick's centre, or two on the boundary and on either side of an
    // interface, whose diagonal is that of the corners' parity and so the same from both sides.
    void add_brick(const Place& p) {
        for (int k = 0; k < 3; ++k)
            for (int side = 0; side < 2; ++side) {
                Place next = p;
                next[k] += side ? 1 : -1;
                const bool shared = inside(next) && !interface(k, p[k] + side);
                if (shared && side == 0) continue;  // the brick before has made these
                std::array<int, 4> ring;
                int parity = 0;
                for (int c = 0; c < 4; ++c) {
                    Place at = p;
                    at[k] += side;
                    at[(k + 1) % 3] += c == 1 || c == 2;
                    at[(k + 2) % 3] += c >= 2;
                    if (c == 0) parity = (at[0] + at[1] + at[2]) % 2;
                    ring[c] = corner(at);
                }
                if (shared) {
                    for (int c = 0; c < 4; ++c) add_tet(center(p), center(next), ring[c], ring[(c + 1) % 4]);
                } else {
                    add_tet(center(p), ring[parity], ring[parity + 1], ring[parity + 2]);
                    add_tet(center(p), ring[parity], ring[parity + 2], ring[(parity + 3) % 4]);
                }
            }
    }

    const FeatureSurface& surface_;
    Mat3 axes_;
    double cell_;
    std::array<std::vector<double>, 3> planes_, line_, interfaces_;
    std::array<std::vector<int>, 3> interval_;
    Place count_{}, blocks_{};
    std::vector<char> block_inside_;
    std::vector<int> corner_, center_;
    TetMesh mesh_;
};

}  // namespace

std::optional<TetMesh> brick_tets(const FeatureSurface& surface, double cell,
                                  const std::vector<Box3>& regions) {
    const auto axes = brick_frame(surface);
    if (!axes) return std::nullopt;
    Bricks bricks(surface, *axes, cell);
    if (!bricks.set_planes(regions)) return std::nullopt;
    return bricks.fill();
}

}  // namespace tenon::geometry

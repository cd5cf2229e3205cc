// Points found by where they are.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/types.hpp"

namespace tenon::geometry {

// Numbers of points by the cube of a regular grid that holds them.
class PointGrid {
  public:
    explicit PointGrid(double cell) : cell_(cell) {}
    void add(const Vec3& p, int item) { cubes_[key(cube(p))].push_back({p, item}); }
    template <class Visit>
    void visit(const Vec3& p, double reach, const Visit& visit) const {
        const auto lo = cube(p - Vec3::Constant(reach)), hi = cube(p + Vec3::Constant(reach));
        for (std::int64_t z = lo[2]; z <= hi[2]; ++z)
            for (std::int64_t y = lo[1]; y <= hi[1]; ++y)
                for (std::int64_t x = lo[0]; x <= hi[0]; ++x)
                    if (const auto found = cubes_.find(key({x, y, z})); found != cubes_.end())
                        for (const auto& [q, item] : found->second)
                            if ((q - p).squaredNorm() < reach * reach) visit(item, q);
    }
    bool free(const Vec3& p, double reach) const {
        bool empty = true;
        visit(p, reach, [&](int, const Vec3&) { empty = false; });
        return empty;
    }

  private:
    using Cube = std::array<std::int64_t, 3>;
    Cube cube(const Vec3& p) const {
        return {std::int64_t(std::floor(p.x() / cell_)), std::int64_t(std::floor(p.y() / cell_)),
                std::int64_t(std::floor(p.z() / cell_))};
    }
    static std::uint64_t key(const Cube& c) {
        return (static_cast<std::uint64_t>(c[0] + (1 << 20)) << 42) |
               (static_cast<std::uint64_t>(c[1] + (1 << 20)) << 21) |
               static_cast<std::uint64_t>(c[2] + (1 << 20));
    }
    double cell_;
    std::unordered_map<std::uint64_t, std::vector<std::pair<Vec3, int>>> cubes_;
};

}  // namespace tenon::geometry

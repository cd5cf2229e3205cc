// The bodies of a run for the verifier: their surfaces, who may touch whom, and where they are in a frame.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "run/run_file.hpp"
#include "verify/surface.hpp"

namespace tenon::verify {

// Rigid or affine bodies first, elastic ones after them.
struct BodySet {
    std::vector<Surface> surfaces;
    std::vector<int> surface_of;
    std::vector<std::string> name;
    std::vector<char> is_static, collides;
    std::vector<std::string> group;
    std::unordered_set<std::uint64_t> ignored;
    std::size_t rigid = 0;

    std::size_t size() const { return surface_of.size(); }
    bool may_touch(int a, int b) const;  // allowed to: not checked
};

BodySet bodies_of(const run::RunReader& run);
BodySet bodies_of(const Model& model, const State& state);

// Everything at one moment. Holds its own copies, so that two moments can be compared.
class Placement {
  public:
    Placement(const BodySet& bodies, const std::vector<Mat34>& q, const std::vector<std::vector<Vec3>>& x);
    Placement(const Placement&) = delete;
    Placement& operator=(const Placement&) = delete;

    const Placed& operator[](int body) const { return placed_[body]; }
    std::vector<Box3> boxes() const;

  private:
    std::vector<std::vector<Vec3>> x_;
    std::vector<std::vector<Box3>> node_boxes_;
    std::vector<Placed> placed_;
};

// First pair of cells that intersect, exactly; false when there is none.
bool surfaces_intersect(const Placed& a, const Placed& b, int& cell_a, int& cell_b);

// Whether a point is inside a closed surface: exact, by counting crossings of a segment that leaves it.
bool contains(const Placed& closed, const Vec3& point);

}  // namespace tenon::verify

// A closed surface by its features: corners, sharp edges joined to curves, and the smooth patches between them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "geometry/bvh_surface.hpp"
#include "geometry/closest.hpp"
#include "tenon/mesh.hpp"

namespace tenon::geometry {

// A chain of sharp edges between two corners, or a loop.
struct FeatureCurve {
    std::vector<Vec3> points;    // a loop ends with its first point again
    std::vector<double> length;  // along the curve up to each point
    bool loop = false;
    std::array<int, 2> corner{-1, -1};  // at its ends; -1 for loops

    double total() const { return length.back(); }
    Vec3 at(double along) const;
    // The nearest point of the curve whose place lies within `reach` of `along`; its place goes to `along`.
    Vec3 nearest(const Vec3& p, double& along, double reach) const;
};

struct FeaturePatch {
    Mesh mesh;
    std::vector<Edge> edges;
    std::unique_ptr<SurfaceTree> tree;
    bool flat = false;
    Vec3 normal = Vec3::Zero();  // of flat ones
};

class FeatureSurface {
  public:
    // Edges whose faces turn by more than `sharp` (radians) are features; pieces of features shorter than `least`
    // between ends that lead nowhere are not. Throws std::invalid_argument when the mesh is not closed.
    FeatureSurface(const Mesh& surface, double sharp, double least);

    const Mesh& mesh() const { return mesh_; }
    const SurfaceTree& tree() const { return *tree_; }
    bool inside(const Vec3& p) const;
    const std::vector<Vec3>& corners() const { return corners_; }
    const std::vector<FeatureCurve>& curves() const { return curves_; }
    const std::vector<FeaturePatch>& patches() const { return patches_; }
    int patch_of(int triangle) const { return patch_of_[triangle]; }
    const Vec3& normal_of(int triangle) const { return normals_[triangle]; }
    Vec3 patch_normal(int patch, const Vec3& p, Vec3* foot) const;  // of the triangle nearest to p

  private:
    void find_features(double sharp, double least);
    void find_patches();

    Mesh mesh_;
    std::vector<Edge> edges_;
    std::unique_ptr<SurfaceTree> tree_;
    std::unique_ptr<WindingNumber> winding_;
    std::vector<Vec3> normals_;
    std::vector<std::array<int, 2>> edge_triangles_;
    std::vector<char> sharp_;  // per edge
    std::vector<Vec3> corners_;
    std::vector<FeatureCurve> curves_;
    std::vector<FeaturePatch> patches_;
    std::vector<int> patch_of_;
    std::vector<std::vector<int>> patch_triangle_;  // triangle of the whole surface, per triangle of a patch
};

}  // namespace tenon::geometry

// A body's affine maps over time as translations, rotations and scales that glTF can hold.
#pragma once

#include <vector>

#include "tenon/types.hpp"

namespace tenon::exporting {

// glTF nodes scale along their own axes only. A map A = R S (S symmetric) with S = V D V^T becomes two nested nodes:
// the outer one turns by R V and scales by D, the inner one turns by V^T. V follows its axes from frame to frame, so
// that interpolation between frames stays smooth. Bodies that hardly stretch need the outer node's motion only.
class BodyTrack {
  public:
    // `scale` is that of the mesh in its file: the maps place the scaled mesh, the nodes the file's own.
    explicit BodyTrack(const Vec3& scale = Vec3::Ones()) : mesh_scale_(scale) {}
    void add(const Mat34& q);

    bool moves() const { return moves_; }
    bool stretches() const { return stretch_ > 1e-6; }  // float precision
    const std::vector<float>& translation() const { return translation_; }
    const std::vector<float>& rotation() const { return stretches() ? outer_ : rigid_; }  // x y z w
    const std::vector<float>& scale() const { return scale_; }  // of the outer node, when the body stretches
    bool scaled() const { return mesh_scale_ != Vec3::Ones(); }
    const Vec3& mesh_scale() const { return mesh_scale_; }
    const std::vector<float>& inner_rotation() const { return inner_; }

  private:
    Vec3 mesh_scale_;
    std::vector<float> translation_, rigid_, outer_, scale_, inner_;
    Mat34 first_ = Mat34::Zero();
    Mat3 axes_ = Mat3::Identity();  // V of the last frame
    bool moves_ = false;
    double stretch_ = 0.0;
};

}  // namespace tenon::exporting

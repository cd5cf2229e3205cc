#include "export/gltf_track.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/mass_properties.hpp"
#include "math/svd3.hpp"

namespace tenon::exporting {
namespace {

// Appends x y z w, on the side of the sphere where the last one was.
void append_rotation(std::vector<float>& values, const Mat3& rotation) {
    Quat quaternion(rotation);
    quaternion.normalize();
    const std::size_t n = values.size();
    if (n >= 4) {
        double dot = 0.0;
        for (int k = 0; k < 4; ++k) dot += quaternion.coeffs()[k] * values[n - 4 + k];
        if (dot < 0.0) quaternion.coeffs() = -quaternion.coeffs();
    }
    for (int k = 0; k < 4; ++k) values.push_back(static_cast<float>(quaternion.coeffs()[k]));
}

void append_vector(std::vector<float>& values, const Vec3& v) {
    for (int k = 0; k < 3; ++k) values.push_back(static_cast<float>(v[k]));
}

// A = R S, S symmetric.
struct Polar {
    Mat3 rotation, stretch;
};

Polar polar(const Mat3& map) {
    const RotationSvd svd = rotation_svd(map);
    const Mat3 rotation = svd.u * svd.v.transpose();
    return {rotation, rotation.transpose() * map};
}

}  // namespace

void BodyTrack::add(const Mat34& q) {
    if (translation_.empty()) first_ = q;
    moves_ = moves_ || q != first_;
    const Polar rigid = polar(q.leftCols<3>());
    stretch_ = std::max(stretch_, (rigid.stretch - Mat3::Identity()).cwiseAbs().maxCoeff());
    const auto [rotation, stretch] = scaled() ? polar(q.leftCols<3>() * mesh_scale_.asDiagonal()) : rigid;
    const geometry::PrincipalFrame turned = geometry::principal_frame(axes_.transpose() * stretch * axes_);
    axes_ = Quat(Mat3(axes_ * turned.axes)).normalized().toRotationMatrix();
    append_vector(translation_, q.col(3));
    append_rotation(rigid_, rigid.rotation);
    append_rotation(outer_, rotation * axes_);
    append_vector(scale_, turned.moments);
    append_rotation(inner_, axes_.transpose());
}

}  // namespace tenon::exporting

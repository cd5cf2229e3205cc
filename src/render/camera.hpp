// A perspective camera, and one that fits what moves.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tenon/types.hpp"

namespace tenon::render {

struct Camera {
    Vec3 eye = Vec3(3, 2, 5);
    Vec3 target = Vec3::Zero();
    Vec3 up = Vec3::UnitY();
    double fov = 30.0;  // degrees, of the shorter side

    Mat3 axes() const;  // rows: right, up, forward
};

struct CameraWish {
    std::map<std::string, std::vector<double>> hints;  // eye, target, fov: what is given is kept
    double azimuth = 28.0, elevation = 18.0;           // degrees, of the view when no eye is given
    double margin = 0.06;                              // of the picture, left empty at each side
};

// Looks at the points so that all of them are inside a picture of the given width to height ratio.
Camera fit_camera(const std::vector<Vec3>& points, const Vec3& up, double aspect,
                  const CameraWish& wish = {});

}  // namespace tenon::render

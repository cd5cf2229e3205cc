// Creatures and toys: a ball whose radius grows into a head, arms and ears.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "scene/builtin/scene_parts.hpp"

namespace tenon {

struct Bump {
    Vec3 direction;
    double height;  // m, above the ball
    double width;   // rad, where it has fallen to a third
};

// Of 20 detail^2 triangles.
inline Mesh bumpy_ball(double detail, double radius, const std::vector<Bump>& bumps) {
    Mesh mesh = shape_mesh("blob", {{"radius", 1.0}, {"amplitude", 0.0}, {"detail", detail}});
    for (Vec3& v : mesh.vertices) {
        const Vec3 d = v.normalized();
        double r = radius;
        for (const Bump& bump : bumps) {
            const double angle = std::acos(std::clamp(d.dot(bump.direction.normalized()), -1.0, 1.0));
            r += bump.height * std::exp(-std::pow(angle / bump.width, 2));
        }
        v = r * d;
    }
    return mesh;
}

// A head above eight arms, which reach `reach` far.
inline Mesh octopus_mesh(double detail, double reach) {
    std::vector<Bump> bumps = {{Vec3::UnitY(), 0.12 * reach, 0.6}};
    for (int k = 0; k < 8; ++k) {
        const double turned = 2 * EIGEN_PI * k / 8;
        bumps.push_back({Vec3(std::cos(turned), -0.35, std::sin(turned)), 0.7 * reach, 0.2});
    }
    return bumpy_ball(detail, 0.3 * reach, bumps);
}

// A bear: head, two ears, a snout, four limbs.
inline Mesh toy_mesh(double detail, double size) {
    const auto bump = [&](double x, double y, double z, double height, double width) {
        return Bump{Vec3(x, y, z), height * size, width};
    };
    return bumpy_ball(
        detail, 0.5 * size,
        {bump(0, 1, 0, 0.3, 0.5), bump(0.55, 1, 0, 0.28, 0.2), bump(-0.55, 1, 0, 0.28, 0.2),
         bump(0, 0.8, 0.7, 0.16, 0.22), bump(1, 0.12, 0.3, 0.45, 0.26), bump(-1, 0.12, 0.3, 0.45, 0.26),
         bump(0.55, -0.9, 0.35, 0.45, 0.3), bump(-0.55, -0.9, 0.35, 0.45, 0.3)});
}

}  // namespace tenon

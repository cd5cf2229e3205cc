// Small solids that stand for things without a surface: wires, points, arrows.
#pragma once

#include "render/colors.hpp"

namespace tenon::render {

struct DrawMesh;

void add_capsule(const Vec3f& from, const Vec3f& to, float radius, int sides, DrawMesh& out);
void add_ball(const Vec3f& center, float radius, DrawMesh& out);
void add_arrow(const Vec3f& from, const Vec3f& to, float radius, DrawMesh& out);  // the tip is at `to`

}  // namespace tenon::render

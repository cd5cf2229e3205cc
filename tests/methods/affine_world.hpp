// Worlds made by hand for tests of the affine method: bodies with given inertia and a small box as geometry.
#pragma once

#include <memory>

#include "geometry/mesh_check.hpp"
#include "tenon/method.hpp"
#include "test_world.hpp"

namespace tenon::test {

inline std::shared_ptr<const Shape> unit_box() {
    auto shape = std::make_shared<Shape>();
    shape->name = "box";
    for (int k = 0; k < 8; ++k)
        shape->mesh.vertices.push_back(Vec3(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5));
    shape->mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                             {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    for (const Vec3& vertex : shape->mesh.vertices) shape->box.add(vertex);
    shape->all_edges = geometry::all_edges(shape->mesh);
    shape->radius = std::sqrt(0.75);
    shape->volume = 1.0;
    shape->second_moments = Vec3::Constant(1.0 / 12.0);
    shape->closed = shape->convex = true;
    return shape;
}

inline int add_test_body(Model& model, double mass, const Vec3& second_moments, const Vec3& velocity,
                         const Vec3& spin) {
    if (model.shapes.empty()) model.shapes.push_back(unit_box());
    if (model.materials.empty()) model.materials.push_back(MaterialSpec{});
    Bodies& b = model.bodies;
    const int index = b.size();
    b.name.push_back("body" + std::to_string(index));
    b.shape.push_back(0);
    b.start_type.push_back(BodyType::dynamic_body);
    Mat34 q = Mat34::Zero(), rate = Mat34::Zero();
    q.leftCols<3>().setIdentity();
    q.col(3) = Vec3(10.0 * index, 0, 0);
    for (int k = 0; k < 3; ++k) rate.col(k) = spin.cross(Vec3(Vec3::Unit(k)));
    rate.col(3) = velocity;
    b.start_q.push_back(q);
    b.start_rate.push_back(rate);
    b.mass.push_back(mass);
    b.second_moments.push_back(second_moments);
    b.volume.push_back(1.0);
    b.material.push_back(0);
    b.friction.push_back(0.3);
    b.restitution.push_back(0.0);
    b.min_separation.push_back(0.0);
    b.fixed.push_back({});
    b.group.push_back("");
    b.collides.push_back(0);
    b.motion.push_back({});
    b.kinematic_until.push_back(1e300);
    b.color.push_back({-1, -1, -1});
    return index;
}

inline std::unique_ptr<Stepper> make_affine(const TestWorld& world,
                                            const std::map<std::string, ParamValue>& values) {
    const MethodInfo& info = find_method("affine", {});
    return info.make(world.model, world.state, resolve_params(info.parameters, values, {}));
}

inline StepReport advance(TestWorld& world, Stepper& method, double dt) {
    const StepReport report = method.step(world.model, world.state, world.outputs, dt);
    world.state.step += 1;
    world.state.time = static_cast<double>(world.state.step) * dt;
    return report;
}

}  // namespace tenon::test

// A world made by hand, so that these tests depend on nothing but the run file.
#pragma once

#include <filesystem>
#include <string>

#include <unistd.h>

#include "temporary_folder.hpp"
#include "test_world.hpp"

namespace tenon::test {

inline std::shared_ptr<Shape> tetrahedron_shape() {
    auto shape = std::make_shared<Shape>();
    shape->name = "tetrahedron";
    shape->mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    shape->mesh.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    shape->geometry_frame.position = Vec3(0.25, 0.5, -0.125);
    shape->geometry_frame.rotation = Quat(0.5, 0.5, 0.5, 0.5);
    shape->closed = true;
    return shape;
}

inline void add_plain_body(Model& model, const std::string& name, int shape, const Vec3& position) {
    Bodies& b = model.bodies;
    b.name.push_back(name);
    b.shape.push_back(shape);
    b.start_type.push_back(BodyType::dynamic_body);
    b.start_q.push_back(to_matrix({position, Quat::Identity()}));
    b.start_rate.push_back(Mat34::Zero());
    b.mass.push_back(2.0);
    b.second_moments.push_back(Vec3(0.1, 0.2, 0.3));
    b.volume.push_back(1.0 / 6);
    b.material.push_back(0);
    b.friction.push_back(0.3);
    b.restitution.push_back(0.0);
    b.min_separation.push_back(0.0);
    b.fixed.push_back({});
    b.group.emplace_back();
    b.collides.push_back(1);
    b.motion.emplace_back();
    b.kinematic_until.push_back(1e300);
    b.color.push_back({-1, -1, -1});
}

inline Model small_model(int bodies) {
    Model model;
    model.shapes.push_back(tetrahedron_shape());
    model.materials.push_back(MaterialSpec{"default"});
    for (int i = 0; i < bodies; ++i)
        add_plain_body(model, "body" + std::to_string(i), 0, Vec3(2.0 * i, 0, 0));
    return model;
}

inline TestWorld small_world(int bodies) {
    return make_world(small_model(bodies));
}

}  // namespace tenon::test

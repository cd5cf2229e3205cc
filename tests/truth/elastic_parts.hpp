// Elastic bodies for tests.
#pragma once

#include "methods/affine_parts.hpp"

namespace tenon::test {

inline int soft_material(Scene& scene, double young, double poisson, double damping) {
    MaterialSpec soft;
    soft.name = "soft";
    soft.young = young;
    soft.poisson = poisson;
    soft.density = 1000.0;
    soft.rayleigh_stiffness = damping;
    return scene.add_material(soft);
}

inline ElasticSpec elastic_box(Scene& scene, const Vec3& size, const Vec3& position, double cell,
                               int material) {
    ElasticSpec body;
    body.name = "soft";
    body.geometry = scene.add_geometry(box_spec(size));
    body.material = material;
    body.cell_size = cell;
    body.position = position;
    return body;
}

inline double mass_of(const ElasticBody& body) {
    double mass = 0.0;
    for (const double m : body.vertex_mass) mass += m;
    return mass;
}

inline Vec3 centre_of(const ElasticBody& body, const std::vector<Vec3>& x) {
    Vec3 sum = Vec3::Zero();
    for (std::size_t v = 0; v < x.size(); ++v) sum += body.vertex_mass[v] * x[v];
    return sum / mass_of(body);
}

}  // namespace tenon::test

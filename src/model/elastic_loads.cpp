#include "model/elastic_loads.hpp"

#include "geometry/tet_mesh.hpp"

namespace tenon {

std::vector<ElasticLoad> elastic_loads(const Model& model, int elastic) {
    const ElasticBody& body = model.elastic[elastic];
    std::vector<ElasticLoad> loads;
    for (std::size_t i = 0; i < model.forces.size(); ++i) {
        const ForceSpec& force = model.forces[i];
        if (force.body != model.bodies.size() + elastic) continue;
        ElasticLoad load;
        load.force = static_cast<int>(i);
        if (!force.point) {
            double mass = 0;
            for (double m : body.vertex_mass) mass += m;
            for (std::size_t v = 0; v < body.rest.size(); ++v) {
                load.vertices.push_back(static_cast<int>(v));
                load.share.push_back(body.vertex_mass[v] / mass);
            }
        } else if (body.plane_strain) {  // its nearest vertex
            int nearest = 0;
            for (std::size_t v = 1; v < body.rest.size(); ++v)
                if ((body.rest[v] - *force.point).norm() < (body.rest[nearest] - *force.point).norm())
                    nearest = static_cast<int>(v);
            load.vertices = {nearest};
            load.share = {1.0};
        } else {
            const geometry::TetMesh mesh{body.rest, body.tets, {}};
            const geometry::Embedding at = geometry::embed({*force.point}, mesh);
            const Tet& tet = body.tets[at.tet[0]];
            load.vertices.assign(tet.begin(), tet.end());
            for (int k = 0; k < 4; ++k) load.share.push_back(at.weight[0][k]);
        }
        loads.push_back(std::move(load));
    }
    return loads;
}

void add_loads(const Model& model, const std::vector<ElasticLoad>& loads, double time,
               std::vector<Vec3>& force) {
    for (const ElasticLoad& load : loads) {
        const ForceSpec& given = model.forces[load.force];
        if (time < given.from || time >= given.to) continue;
        for (std::size_t k = 0; k < load.vertices.size(); ++k)
            force[load.vertices[k]] += load.share[k] * given.force;
    }
}

}  // namespace tenon

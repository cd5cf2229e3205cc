#include "run/run_file.hpp"

namespace tenon::run {

RunModel describe(const Model& model) {
    RunModel run;
    for (const auto& shape : model.shapes)
        run.shapes.push_back({shape->name, shape->mesh, shape->geometry_frame, shape->closed});
    const Bodies& bodies = model.bodies;
    for (int i = 0; i < bodies.size(); ++i)
        run.bodies.push_back({bodies.name[i], bodies.shape[i], bodies.start_type[i], bodies.mass[i],
                              bodies.second_moments[i], bodies.color[i], bodies.collides[i] != 0,
                              bodies.group[i], bodies.min_separation[i]});
    for (const ElasticBody& body : model.elastic)
        run.elastic.push_back({body.name, body.rest, body.vertex_mass, body.tets, body.surface, body.embedded,
                               body.embedded_tet, body.embedded_weight, body.color});
    for (const Joint& joint : model.joints)
        run.joints.push_back({joint.spec.name, joint.spec.type, joint.bodies, joint.point});
    return run;
}

}  // namespace tenon::run

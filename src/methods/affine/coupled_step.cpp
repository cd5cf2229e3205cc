#include "methods/affine/coupled_step.hpp"

#include "math/parallel.hpp"

namespace tenon::affine {
namespace {

Vec12 corner_change(const ElasticPart& part, int element, const std::vector<Vec3>& x) {
    Vec12 change = Vec12::Zero();
    for (int c = 0; c < part.elements.corners; ++c) {
        const int v = part.elements.tets[element][c];
        change.segment<3>(3 * c) = x[v] - part.start[v];
    }
    return change;
}

}  // namespace

std::vector<ElasticPart> make_elastic_parts(const Model& model) {
    std::vector<ElasticPart> parts;
    for (std::size_t e = 0; e < model.elastic.size(); ++e) {
        const ElasticBody& body = model.elastic[e];
        ElasticPart& part = parts.emplace_back();
        part.elements = make_elements(body, model.materials);
        part.loads = elastic_loads(model, static_cast<int>(e));
        part.mass_damping.assign(body.rest.size(), 0.0);
        part.stiffness_damping.resize(body.tets.size());
        for (int i = 0; i < part.elements.size(); ++i) {
            const MaterialSpec& material = model.materials[body.tet_material[i]];
            part.stiffness_damping[i] = material.rayleigh_stiffness;
            part.damped = part.damped || material.rayleigh_stiffness > 0.0;
            for (int c = 0; c < part.elements.corners; ++c)
                part.mass_damping[part.elements.tets[i][c]] += material.rayleigh_mass * material.density *
                                                               part.elements.volume[i] / part.elements.corners;
        }
    }
    return parts;
}

void start_step(std::vector<ElasticPart>& parts, const State& state, double h) {
    for (std::size_t e = 0; e < parts.size(); ++e) {
        ElasticPart& part = parts[e];
        part.start = state.elastic[e].x;
        if (!part.damped) continue;
        part.viscosity.resize(part.elements.tets.size());
        parallel_for(part.viscosity.size(), 64, [&](std::size_t i) {
            const double damping = part.stiffness_damping[i] / h;
            if (damping > 0.0)
                part.viscosity[i] =
                    damping * element_stiffness(part.elements, static_cast<int>(i), part.start, true);
        });
    }
}

void CoupledStep::place_vertices(const std::vector<Mat34>& q, std::vector<std::vector<Vec3>>& x) const {
    x.resize(nodes.vertex.size());
    for (std::size_t e = 0; e < x.size(); ++e) {
        x[e].resize(nodes.vertex[e].size());
        parallel_for(x[e].size(), 2048, [&](std::size_t v) { x[e][v] = nodes.vertex[e][v].at(q); });
    }
}

double CoupledStep::smooth_energy(const std::vector<Mat34>& q, std::vector<std::vector<Vec3>>& x) const {
    double energy = parallel_sum(node.size(), 256, 0.0, [&](std::size_t n) {
        double sum = 0.0;
        for (int k = 0; k < 4; ++k)
            sum += 0.5 * node[n].mass[k] * (q[n].col(k) - node[n].target.col(k)).squaredNorm();
        if (nodes.node[n].turns()) sum += node[n].rigidity * rigidity_energy(rigidity, q[n].leftCols<3>());
        return sum;
    });
    for (const AttachedVertex& a : attached) energy += 0.5 * a.mass * (a.point.at(q) - a.target).squaredNorm();
    place_vertices(q, x);
    double potential = joints.drives_energy(q);
    for (std::size_t e = 0; e < elastic.size(); ++e) {
        potential += elastic_energy(elastic[e].elements, x[e]);
        if (!elastic[e].damped) continue;
        potential += parallel_sum(elastic[e].viscosity.size(), 256, 0.0, [&](std::size_t i) {
            if (elastic[e].stiffness_damping[i] <= 0.0) return 0.0;
            const Vec12 change = corner_change(elastic[e], static_cast<int>(i), x[e]);
            return 0.5 * change.dot(elastic[e].viscosity[i] * change);
        });
    }
    return energy + potential_scale * potential;
}

}  // namespace tenon::affine

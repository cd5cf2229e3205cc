#include "methods/adaptive/solid.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "solve/block_symbolic.hpp"

namespace tenon::adaptive {
namespace {

void set_masses(Solid& solid, const Model& model) {
    const ElasticBody& body = model.elastic[solid.index];
    const ElasticElements& e = solid.elements;
    solid.mass = body.vertex_mass;
    solid.damping.assign(solid.mass.size(), 0.0);
    solid.stiffness_damping.resize(e.tets.size());
    solid.rest_block.assign(solid.mass.size(), Mat3::Zero());
    solid.rest_damping_block = solid.rest_block;
    for (int i = 0; i < e.size(); ++i) {
        const MaterialSpec& material = model.materials[body.tet_material[i]];
        solid.stiffness_damping[i] = material.rayleigh_stiffness;
        const Mat12 k = element_stiffness(e, i, body.rest, true);
        for (int c = 0; c < e.corners; ++c) {
            const int v = e.tets[i][c];
            solid.damping[v] += material.rayleigh_mass * material.density * e.volume[i] / e.corners;
            solid.rest_block[v] += k.block<3, 3>(3 * c, 3 * c);
            solid.rest_damping_block[v] += material.rayleigh_stiffness * k.block<3, 3>(3 * c, 3 * c);
        }
    }
}

// Faces of tetrahedra (edges of triangles) that two elements share.
void find_neighbours(Solid& solid) {
    const ElasticElements& e = solid.elements;
    std::vector<std::pair<std::array<int, 3>, std::pair<int, int>>> faces;
    for (int i = 0; i < e.size(); ++i)
        for (int c = 0; c < e.corners; ++c) {
            std::array<int, 3> face{-1, -1, -1};
            for (int k = 0, n = 0; k < e.corners; ++k)
                if (k != c) face[n++] = e.tets[i][k];
            std::sort(face.begin(), face.end());
            faces.push_back({face, {i, c}});
        }
    std::sort(faces.begin(), faces.end());
    solid.across.assign(e.tets.size(), {-1, -1, -1, -1});
    std::vector<char> outside(solid.mass.size(), 0);
    for (std::size_t k = 0; k < faces.size(); ++k) {
        const auto [i, c] = faces[k].second;
        if (k + 1 < faces.size() && faces[k].first == faces[k + 1].first) {
            const auto [j, d] = faces[k + 1].second;
            solid.across[i][c] = j;
            solid.across[j][d] = i;
            ++k;
        } else {
            for (int v : faces[k].first)
                if (v >= 0) outside[v] = 1;
        }
    }
    for (std::size_t v = 0; v < outside.size(); ++v)
        if (outside[v]) solid.surface_vertices.push_back(static_cast<int>(v));
}

void find_order(Solid& solid) {
    const ElasticElements& e = solid.elements;
    const int count = solid.vertices();
    std::vector<std::pair<int, int>> pairs;
    for (const Tet& t : e.tets)
        for (int a = 0; a < e.corners; ++a)
            for (int b = 0; b < a; ++b) pairs.emplace_back(t[a], t[b]);
    const solve::BlockPattern pattern = solve::make_pattern(count, pairs);
    solid.order = solve::dissection_order(pattern);
    solid.position.resize(count);
    for (int p = 0; p < count; ++p) solid.position[solid.order[p]] = p;

    solid.adjacent_start.assign(count + 1, 0);
    const auto each = [&](const auto& visit) {
        for (int i = 0; i < count; ++i)
            for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k) {
                visit(i, pattern.columns[k]);
                visit(pattern.columns[k], i);
            }
    };
    each([&](int i, int) { ++solid.adjacent_start[i + 1]; });
    for (int i = 0; i < count; ++i) solid.adjacent_start[i + 1] += solid.adjacent_start[i];
    solid.adjacent.resize(solid.adjacent_start[count]);
    std::vector<int> next(solid.adjacent_start.begin(), solid.adjacent_start.end() - 1);
    each([&](int i, int j) { solid.adjacent[next[i]++] = j; });
    for (int i = 0; i < count; ++i)
        std::sort(solid.adjacent.begin() + solid.adjacent_start[i],
                  solid.adjacent.begin() + solid.adjacent_start[i + 1],
                  [&](int a, int b) { return solid.position[a] < solid.position[b]; });
}

void find_colours(Solid& solid) {
    const ElasticElements& e = solid.elements;
    std::vector<std::vector<char>> used(solid.mass.size());
    solid.colour.resize(e.tets.size());
    for (int i = 0; i < e.size(); ++i) {
        int c = 0;
        const auto taken = [&](int colour) {
            for (int k = 0; k < e.corners; ++k) {
                const auto& u = used[e.tets[i][k]];
                if (colour < static_cast<int>(u.size()) && u[colour]) return true;
            }
            return false;
        };
        while (taken(c)) ++c;
        for (int k = 0; k < e.corners; ++k) {
            auto& u = used[e.tets[i][k]];
            if (static_cast<int>(u.size()) <= c) u.resize(c + 1, 0);
            u[c] = 1;
        }
        solid.colour[i] = c;
        solid.colours = std::max(solid.colours, c + 1);
    }
}

}  // namespace

double Solid::mean_edge() const {
    double sum = 0;
    for (const Tet& t : elements.tets) sum += (rest[t[1]] - rest[t[0]]).norm();
    return elements.tets.empty() ? 0.0 : sum / static_cast<double>(elements.tets.size());
}

Solid make_solid(const Model& model, const State& state, int index) {
    Solid solid;
    solid.index = index;
    solid.elements = make_elements(model.elastic[index], model.materials);
    solid.rest = model.elastic[index].rest;
    solid.surface = model.elastic[index].surface;
    solid.loads = elastic_loads(model, index);
    set_masses(solid, model);
    find_neighbours(solid);
    find_order(solid);
    find_colours(solid);
    const auto add_drive = [&](int script, int body) {
        for (const Solid::Drive& d : solid.drives)
            if (d.script == script && d.body == body) return;
        solid.drives.push_back({script, body});
    };
    solid.pinned.assign(solid.mass.size(), 0);
    for (const ElasticBody::Pin& pin : model.elastic[index].pins) {
        solid.pinned[pin.vertex] = 1;
        if (pin.body < 0) {
            add_drive(pin.script, -1);
        } else if (!state.dynamic(pin.body)) {
            add_drive(-1, pin.body);
        } else if (std::find(solid.holders.begin(), solid.holders.end(), pin.body) == solid.holders.end()) {
            solid.holders.push_back(pin.body);
        }
    }
    return solid;
}

void list_elastic_elements(SolidState& part) {
    part.elastic_list.clear();
    part.rigid_energy = 0;
    for (std::size_t i = 0; i < part.element_of.size(); ++i)
        if (part.element_of[i] < 0)
            part.elastic_list.push_back(static_cast<int>(i));
        else
            part.rigid_energy += part.energy[i];
    part.elastic_elements = static_cast<int>(part.elastic_list.size());
}

SolidState make_state(const Solid& solid, const ElasticState& body) {
    SolidState s;
    s.x = body.x;
    s.v = body.v;
    s.owner.assign(body.x.size(), -1);
    s.local.assign(body.x.size(), Vec3::Zero());
    const int elements = solid.elements.size();
    s.rigid.assign(elements, 0);
    s.element_of.assign(elements, -1);
    s.calm.assign(elements, 0);
    s.rate.assign(elements, 0.0);
    s.forecast.assign(elements, 0.0f);
    s.strain.resize(elements);
    s.energy.resize(elements);
    for (int i = 0; i < elements; ++i) {
        const Mat3 f = solid.elements.deformation(i, s.x);
        s.strain[i] = green_strain(f);
        s.energy[i] =
            solid.elements.volume[i] * elastic_energy(solid.elements.model, solid.elements.material[i], f);
    }
    list_elastic_elements(s);
    s.first_component = static_cast<int>(solid.drives.size() + solid.holders.size());
    return s;
}

Vec3 mean_spin(const Solid& solid, const SolidState& part) {
    if (!solid.drives.empty()) return Vec3::Zero();
    Vec3 center = Vec3::Zero(), momentum = Vec3::Zero();
    double mass = 0;
    for (std::size_t v = 0; v < part.x.size(); ++v) {
        mass += solid.mass[v];
        center += solid.mass[v] * part.x[v];
    }
    center /= mass;
    Mat3 inertia = Mat3::Zero();
    for (std::size_t v = 0; v < part.x.size(); ++v) {
        const Vec3 r = part.x[v] - center;
        inertia += solid.mass[v] * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
        momentum += solid.mass[v] * r.cross(part.v[v]);
    }
    return inertia.ldlt().solve(momentum);
}

void respond_to(const Solid& solid, const SolidState& part, const std::vector<Vec3>& driven, const int* list,
                int count, double h, bool blocks, ElementBatch& batch, const Linearised* about) {
    const ElasticElements& e = solid.elements;
    const int drives = static_cast<int>(solid.drives.size());
    const Mat3 turn = skew(part.spin), chord = turn + 0.5 * h * turn * turn;
    const bool turns = !part.spin.isZero(0.0);
    ElementBatch elastic;
    for (int l = 0; l < ElementBatch::lanes; ++l) {
        const int i = list[std::min(l, count - 1)];
        set_lane(e, i, part.x, l, batch);
        batch.push[l] *= h;
        batch.step[l] = h;
        batch.damping[l] = batch.stiffening[l] * h * solid.stiffness_damping[i];
        batch.stiffening[l] *= h * h;
        std::array<Vec3, 4> v;
        for (int c = 0; c < e.corners; ++c) {
            const int vertex = e.tets[i][c], owner = part.owner[vertex];
            v[c] = owner >= 0 && owner < drives ? driven[vertex] : part.v[vertex];
            if (!turns || owner < part.first_component) continue;
            const model::RigidState& frame = part.components[owner - part.first_component].state;
            v[c] += 0.5 * h * frame.spin.cross(frame.spin.cross(part.x[vertex] - frame.position));
        }
        set_rate(e, i, v, l, batch);
        if (turns)
            for (int j = 0; j < 3; ++j)
                for (int r = 0; r < 3; ++r)
                    for (int k = 0; k < 3; ++k)
                        batch.rate[3 * j + r][l] -= chord(r, k) * batch.f[3 * j + k][l];
        if (!about) continue;
        for (int c = 0; c < e.corners; ++c) v[c] -= about->u[e.tets[i][c]];
        set_lane(e, i, about->x, l, elastic);
        set_rate(e, i, v, l, elastic);
        elastic.push[l] = batch.push[l];
        elastic.stiffening[l] = batch.stiffening[l];
        batch.push[l] = batch.stiffening[l] = 0;
    }
    respond(e, true, blocks, batch);
    if (!about) return;
    respond(e, true, blocks, elastic);
    for (int k = 0; k < 12; ++k)
        for (int l = 0; l < ElementBatch::lanes; ++l) batch.load[k][l] += elastic.load[k][l];
    if (!blocks) return;
    for (int b = 0; b < 10; ++b)
        for (int k = 0; k < 9; ++k)
            for (int l = 0; l < ElementBatch::lanes; ++l) batch.block[b][k][l] += elastic.block[b][k][l];
}

float shown_rate(double squared) {
    return std::clamp((std::log10(static_cast<float>(squared) + 1e-10f) + 10) * (1.0f / 16), 0.0f, 0.999f);
}

std::array<double, 6> green_strain(const Mat3& f) {
    const Vec3 a = f.col(0), b = f.col(1), c = f.col(2);
    return {0.5 * (a.dot(a) - 1), 0.5 * (b.dot(b) - 1), 0.5 * (c.dot(c) - 1),
            0.5 * a.dot(b),       0.5 * a.dot(c),       0.5 * b.dot(c)};
}

double squared_rate(const std::array<double, 6>& from, const std::array<double, 6>& to, double h) {
    double sum = 0;
    for (int k = 0; k < 6; ++k) sum += (k < 3 ? 1 : 2) * (to[k] - from[k]) * (to[k] - from[k]);
    return sum / (h * h);
}

}  // namespace tenon::adaptive

#include "methods/adaptive/components.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>

#include "math/parallel.hpp"
#include "model/keyframes.hpp"

namespace tenon::adaptive {
namespace {

// The search of one component, with what it must not touch.
class Search {
  public:
    Search(const Solid& solid, SolidState& part)
        : solid_(solid), state_(part), visited_(part.rigid.size(), 0) {}

    // Elements flagged rigid that hang together with the seeds through faces, and whose vertices are nobody else's.
    std::vector<int> grow(std::vector<int> queue, int owner) {
        const ElasticElements& e = solid_.elements;
        std::vector<int> found;
        for (std::size_t head = 0; head < queue.size(); ++head) {
            const int element = queue[head];
            if (visited_[element]) continue;
            visited_[element] = 1;
            bool hinge = false;
            for (int k = 0; k < e.corners; ++k) {
                const int other = state_.owner[e.tets[element][k]];
                hinge = hinge || (other >= 0 && other != owner);
            }
            if (hinge) continue;
            found.push_back(element);
            for (int k = 0; k < e.corners; ++k) state_.owner[e.tets[element][k]] = owner;
            for (int k = 0; k < e.corners; ++k) {
                const int next = solid_.across[element][k];
                if (next >= 0 && state_.rigid[next] && !visited_[next]) queue.push_back(next);
            }
        }
        return found;
    }
    bool visited(int element) const { return visited_[element]; }

  private:
    const Solid& solid_;
    SolidState& state_;
    std::vector<char> visited_;
};

void own_pinned_vertices(const Model& model, const Solid& solid, SolidState& part) {
    std::fill(part.owner.begin(), part.owner.end(), -1);
    const int drives = static_cast<int>(solid.drives.size());
    for (const ElasticBody::Pin& pin : model.elastic[solid.index].pins) {
        int owner = -1;
        for (int d = 0; d < drives; ++d)
            if (pin.body < 0 ? solid.drives[d].script == pin.script : solid.drives[d].body == pin.body)
                owner = d;
        for (std::size_t k = 0; k < solid.holders.size(); ++k)
            if (pin.body >= 0 && solid.holders[k] == pin.body) owner = drives + static_cast<int>(k);
        part.owner[pin.vertex] = owner;
        part.local[pin.vertex] = pin.local;
    }
}

// What a driven frame moves at least by a whole face follows it rigidly.
void grow_drives(const Model& model, const State& state, const Solid& solid, SolidState& part,
                 Search& search) {
    const ElasticElements& e = solid.elements;
    for (int d = 0; d < static_cast<int>(solid.drives.size()); ++d) {
        std::vector<int> seeds;
        for (int i = 0; i < e.size(); ++i) {
            if (!part.rigid[i]) continue;
            int held = 0;
            for (int k = 0; k < e.corners; ++k) held += part.owner[e.tets[i][k]] == d;
            if (held >= e.corners - 1) seeds.push_back(i);
        }
        std::vector<char> before(part.owner.size());
        for (std::size_t v = 0; v < before.size(); ++v) before[v] = part.owner[v] == d;
        search.grow(std::move(seeds), d);
        const Mat34 pose = drive_pose(model, state, solid, d, state.time);
        for (std::size_t v = 0; v < before.size(); ++v)
            if (part.owner[v] == d && !before[v])
                part.local[v] = pose.leftCols<3>().transpose() * (part.x[v] - pose.col(3));
    }
}

bool is_still(const Model& model, const State& state, const Solid& solid, int drive) {
    const Solid::Drive& d = solid.drives[drive];
    return d.script >= 0 ? model.elastic[solid.index].scripts[d.script].size() < 2
                         : state.type[d.body] == BodyType::static_body;
}

// Components at rest beside what a still drive holds, with elements between them that ask to be rigid, are held too. Otherwise
// those elements would lie between two that share no vertex, and stay elastic for ever.
void hold_still_components(const Model& model, const State& state, const Solid& solid, double stretch_rate,
                           SolidState& part) {
    const ElasticElements& e = solid.elements;
    const int drives = static_cast<int>(solid.drives.size());
    std::vector<int> holder(part.components.size(), -1);
    for (int i = 0; i < e.size() && drives > 0; ++i) {
        if (!part.rigid[i]) continue;
        int held = -1, other = -1;
        for (int k = 0; k < e.corners; ++k) {
            const int owner = part.owner[e.tets[i][k]];
            if (owner >= 0 && owner < drives) held = e.tets[i][k];
            if (owner >= part.first_component) other = e.tets[i][k];
        }
        if (held < 0 || other < 0 || !is_still(model, state, solid, part.owner[held])) continue;
        const int component = part.owner[other] - part.first_component;
        const model::RigidState& frame = part.components[component].state;
        const double reach = (part.x[held] - part.x[other]).norm();
        if (frame.spin.norm() <= stretch_rate &&
            model::velocity_at(frame, part.x[other]).norm() <= stretch_rate * reach)
            holder[component] = part.owner[held];
    }
    std::vector<Component> left;
    for (std::size_t c = 0; c < holder.size(); ++c) {
        const int owner = holder[c] >= 0 ? holder[c] : part.first_component + static_cast<int>(left.size());
        for (int v : part.components[c].vertices) part.owner[v] = owner;
        if (holder[c] < 0) {
            left.push_back(std::move(part.components[c]));
            continue;
        }
        const Mat34 pose = drive_pose(model, state, solid, owner, state.time);
        for (int v : part.components[c].vertices)
            part.local[v] = pose.leftCols<3>().transpose() * (part.x[v] - pose.col(3));
    }
    part.components = std::move(left);
}

// Elements that ask to be rigid at an edge or a corner of one component only: free to turn about it, but at rest against it.
void join_loose_elements(const Model& model, const State& state, const Solid& solid, double stretch_rate,
                         double h, SolidState& part) {
    const ElasticElements& e = solid.elements;
    std::vector<std::vector<int>> joining(part.components.size());
    for (int i = 0; i < e.size(); ++i) {
        if (!part.rigid[i]) continue;
        int owner = -1, hanging = -1, owned = 0;
        bool one = true;
        for (int k = 0; k < e.corners; ++k) {
            const int v = e.tets[i][k];
            if (part.owner[v] < 0) continue;
            one = one && (owner < 0 || owner == part.owner[v]);
            owner = part.owner[v];
            hanging = v;
            ++owned;
        }
        const bool still = owner >= 0 && owner < static_cast<int>(solid.drives.size()) &&
                           is_still(model, state, solid, owner);
        if (!one || (owner < part.first_component && !still)) continue;
        const model::RigidState frame =
            still ? model::RigidState{} : part.components[owner - part.first_component].state;
        bool along =
            true;  // a whole face may belong to an element that never asked, but whose corners all are rigid
        for (int k = 0; k < e.corners && along && owned < e.corners - 1; ++k) {
            const int v = e.tets[i][k];
            const double reach = (part.x[v] - part.x[hanging]).norm();
            const Vec3 chord = 0.5 * h * frame.spin.cross(frame.spin.cross(part.x[v] - frame.position));
            along = part.owner[v] >= 0 ||
                    (part.v[v] + chord - model::velocity_at(frame, part.x[v])).norm() <= stretch_rate * reach;
        }
        if (!along) continue;
        for (int k = 0; k < e.corners; ++k) {
            const int v = e.tets[i][k];
            if (part.owner[v] >= 0) continue;
            part.owner[v] = owner;
            if (!still) joining[owner - part.first_component].push_back(v);
            if (still) {
                const Mat34 pose = drive_pose(model, state, solid, owner, state.time);
                part.local[v] = pose.leftCols<3>().transpose() * (part.x[v] - pose.col(3));
            }
        }
    }
    for (std::size_t c = 0; c < joining.size(); ++c) {
        if (joining[c].empty()) continue;
        std::vector<int> vertices = part.components[c].vertices;
        vertices.insert(vertices.end(), joining[c].begin(), joining[c].end());
        std::sort(vertices.begin(), vertices.end());
        part.components[c] = rigid_component(solid, part, std::move(vertices));
    }
}

void add_internal_forces(const Solid& solid, SolidState& part) {
    const ElasticElements& e = solid.elements;
    std::vector<int> place(part.x.size(), -1);
    for (Component& c : part.components)
        for (std::size_t k = 0; k < c.vertices.size(); ++k) place[c.vertices[k]] = static_cast<int>(k);
    std::vector<Mat3> stress(e.tets.size());
    parallel_for(e.tets.size(), 256, [&](std::size_t k) {
        const int i = static_cast<int>(k);
        if (part.element_of[i] >= part.first_component)
            stress[i] = e.volume[i] * elastic_stress(e.model, e.material[i], e.deformation(i, part.x));
    });
    for (int i = 0; i < e.size(); ++i) {
        if (part.element_of[i] < part.first_component) continue;
        Component& c = part.components[part.element_of[i] - part.first_component];
        ++c.elements;
        for (int k = 0; k < e.corners; ++k)
            c.internal[place[e.tets[i][k]]] -= stress[i] * e.shape_gradient[i].row(k).transpose();
    }
    for (Component& c : part.components)
        for (Vec3& f : c.internal) f = c.state.rotation.conjugate() * f;
}

}  // namespace

Mat34 drive_pose(const Model& model, const State& state, const Solid& solid, int drive, double time) {
    const Solid::Drive& d = solid.drives[drive];
    if (d.script >= 0) return keyframe_pose(model.elastic[solid.index].scripts[d.script], time);
    if (state.type[d.body] == BodyType::kinematic_body) return scripted_pose(model, state, d.body, time);
    return state.q[d.body];
}

Component rigid_component(const Solid& solid, const SolidState& part, std::vector<int> vertices) {
    Component c;
    Vec3 momentum = Vec3::Zero(), center = Vec3::Zero();
    for (int v : vertices) {
        c.mass += solid.mass[v];
        center += solid.mass[v] * part.x[v];
        momentum += solid.mass[v] * part.v[v];
    }
    center /= c.mass;
    c.state.position = center;
    c.state.velocity = momentum / c.mass;
    Mat3 inertia = Mat3::Zero();
    Vec3 spin_momentum = Vec3::Zero();
    for (int v : vertices) {
        const Vec3 r = part.x[v] - center;
        inertia += solid.mass[v] * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
        spin_momentum += solid.mass[v] * r.cross(part.v[v]);
    }
    const Eigen::SelfAdjointEigenSolver<Mat3> eigen(inertia);
    Mat3 axes = eigen.eigenvectors();
    if (axes.determinant() < 0) axes.col(2) = -axes.col(2);
    c.moments = eigen.eigenvalues();
    c.state.rotation = Quat(axes).normalized();
    c.state.spin = axes * (axes.transpose() * spin_momentum).cwiseQuotient(c.moments);
    for (int v : vertices) {
        if (solid.damping[v] == 0) continue;
        const Mat3 cross = skew(axes.transpose() * (part.x[v] - center));  // v = velocity - r x spin
        c.damping.topLeftCorner<3, 3>() += solid.damping[v] * Mat3::Identity();
        c.damping.topRightCorner<3, 3>() -= solid.damping[v] * cross;
        c.damping.bottomLeftCorner<3, 3>() += solid.damping[v] * cross;
        c.damping.bottomRightCorner<3, 3>() -= solid.damping[v] * cross * cross;
    }
    c.internal.assign(vertices.size(), Vec3::Zero());
    c.vertices = std::move(vertices);
    return c;
}

void form_components(const Model& model, const State& state, const Solid& solid, int smallest,
                     double stretch_rate, double h, SolidState& part) {
    const ElasticElements& e = solid.elements;
    ++part.formed;
    part.shown = false;
    own_pinned_vertices(model, solid, part);
    part.components.clear();
    Search search(solid, part);
    grow_drives(model, state, solid, part, search);
    for (int i = 0; i < e.size(); ++i) {
        if (!part.rigid[i] || search.visited(i)) continue;
        const int owner = part.first_component + static_cast<int>(part.components.size());
        const std::vector<int> found = search.grow({i}, owner);
        if (found.empty()) continue;
        if (static_cast<int>(found.size()) < smallest && static_cast<int>(found.size()) < e.size()) {
            for (int element : found)
                for (int k = 0; k < e.corners; ++k) part.owner[e.tets[element][k]] = -1;
            continue;
        }
        part.components.emplace_back();
    }
    std::vector<std::vector<int>> vertices(part.components.size());
    for (int v = 0; v < solid.vertices(); ++v)
        if (part.owner[v] >= part.first_component)
            vertices[part.owner[v] - part.first_component].push_back(v);
    for (std::size_t c = 0; c < vertices.size(); ++c)
        part.components[c] = rigid_component(solid, part, std::move(vertices[c]));
    hold_still_components(model, state, solid, stretch_rate, part);
    join_loose_elements(model, state, solid, stretch_rate, h, part);
    for (const Component& c : part.components)
        for (int v : c.vertices) {
            part.local[v] = c.state.rotation.conjugate() * (part.x[v] - c.state.position);
            part.v[v] = model::velocity_at(c.state, part.x[v]);
        }
    for (int i = 0; i < e.size(); ++i) {
        int owner = part.owner[e.tets[i][0]];
        for (int k = 1; k < e.corners; ++k)
            if (part.owner[e.tets[i][k]] != owner) owner = -1;
        part.element_of[i] = owner;
    }
    list_elastic_elements(part);
    add_internal_forces(solid, part);
}

}  // namespace tenon::adaptive

// Newton's method for backward Euler, with a line search.
//
// A step minimises, for given contact impulses, a quadratic part (inertia, damping, gravity, impulses) plus the elastic
// energy at x + h u over the velocities u. One iteration linearises the elastic forces about u; the way d from there to
// the solution of that linear system goes down with slope -d A d.
#include <algorithm>
#include <cmath>

#include "math/parallel.hpp"
#include "methods/adaptive/mixed_system.hpp"

namespace tenon::adaptive {
namespace {

constexpr int kHalvings = 12;
constexpr double kEnough = 1e-4;  // of the slope (Armijo)

}  // namespace

void MixedSystem::start_newton(const StepInput& in) {
    about_.assign(3 * static_cast<std::size_t>(nodes_), 0.0);
    for (std::size_t k = 0; k < solids_.size(); ++k) {
        Part& part = parts_[k];
        const SolidState& state = in.states[solids_[k]];
        const int drives = static_cast<int>(in.solids[solids_[k]].drives.size());
        part.about.u.assign(state.x.size(), Vec3::Zero());
        part.about.x = state.x;
        for (std::size_t v = 0; v < state.x.size(); ++v) {
            if (state.owner[v] < 0 || state.owner[v] >= drives) continue;
            part.about.u[v] = in.driven[solids_[k]][v];
            part.about.x[v] += in.h * part.about.u[v];
        }
    }
}

// Of every vertex of an elastic element: what the nodes' change does to its velocity.
void MixedSystem::spread(const StepInput& in, int k, const std::vector<double>& nodes,
                         std::vector<Vec3>& vertices) const {
    const Part& part = parts_[k];
    const SolidState& state = in.states[solids_[k]];
    vertices.assign(state.x.size(), Vec3::Zero());
    const auto at = [&](int node) { return Eigen::Map<const Vec3>(nodes.data() + 3 * node); };
    for (int v : part.free) vertices[v] = at(part.node[v]);
    for (int v : part.boundary) {
        const int owner = state.owner[v], node = part.owner_node[owner];
        const Vec3 arm = state.x[v] - frame_center(in, solids_[k], owner);
        vertices[v] = at(node) + at(node + 1).cross(arm);
    }
}

double MixedSystem::largest_change(const StepInput& in) const {
    double largest = 0;
    for (std::size_t k = 0; k < solids_.size(); ++k)
        for (int v : parts_[k].free)
            largest = std::max(largest, (Eigen::Map<const Vec3>(velocity_.data() + 3 * parts_[k].node[v]) -
                                         in.states[solids_[k]].v[v])
                                            .squaredNorm());
    return std::sqrt(largest);
}

double MixedSystem::refine(const StepInput& in) {
    if (nodes_ == 0) return 0;
    const std::size_t size = velocity_.size();
    std::vector<double> way(size), image(size);
    for (std::size_t i = 0; i < size; ++i) way[i] = velocity_[i] - about_[i];
    matrix_.multiply(way.data(), image.data());
    double fall = 0;  // d A d
    for (std::size_t i = 0; i < size; ++i) fall += way[i] * image[i];

    double energy_slope = 0, stiffness = 0, largest = 0;
    std::vector<std::vector<Vec3>> change(solids_.size());
    for (std::size_t k = 0; k < solids_.size(); ++k) {
        spread(in, static_cast<int>(k), way, change[k]);
        for (const Vec3& c : change[k]) largest = std::max(largest, c.norm());
        const auto [slope, curvature] = elastic_slope(in, static_cast<int>(k), change[k]);
        energy_slope += slope;
        stiffness += curvature;
    }
    const double start = elastic_energy_along(in, change, 0);
    double share = 1;
    for (int i = 0; i < kHalvings; ++i, share *= 0.5) {
        const double quadratic = share * (-fall - energy_slope) + 0.5 * share * share * (fall - stiffness);
        const double found = elastic_energy_along(in, change, share) - start + quadratic;
        if (found <= -kEnough * share * fall + 1e-12 * (std::abs(start) + std::abs(quadratic))) break;
    }
    for (std::size_t i = 0; i < size; ++i) velocity_[i] = about_[i] += share * way[i];
    for (std::size_t k = 0; k < solids_.size(); ++k)
        for (std::size_t v = 0; v < change[k].size(); ++v) {
            parts_[k].about.u[v] += share * change[k][v];
            parts_[k].about.x[v] = in.states[solids_[k]].x[v] + in.h * parts_[k].about.u[v];
        }
    return largest;
}

// How the elastic energy changes along the way, first and second order; the latter as the matrix has it.
std::pair<double, double> MixedSystem::elastic_slope(const StepInput& in, int k,
                                                     const std::vector<Vec3>& change) const {
    const Solid& solid = in.solids[solids_[k]];
    const SolidState& state = in.states[solids_[k]];
    const ElasticElements& e = solid.elements;
    const std::vector<Vec3>& x = parts_[k].about.x;
    double slope = 0, curvature = 0;
    for (int i : state.elastic_list) {
        ElementBatch batch;
        std::array<Vec3, 4> rate{};
        for (int c = 0; c < e.corners; ++c) rate[c] = change[e.tets[i][c]];
        for (int l = 0; l < ElementBatch::lanes; ++l) {
            set_lane(e, i, x, l, batch);
            set_rate(e, i, rate, l, batch);
            (l == 0 ? batch.stiffening[l] : batch.push[l]) =
                0;  // forces in the first lane, stiffness in the second
        }
        respond(e, true, false, batch);
        for (int c = 0; c < e.corners; ++c)
            for (int r = 0; r < 3; ++r) {
                slope -= in.h * batch.load[3 * c + r][0] * rate[c][r];
                curvature -= in.h * in.h * batch.load[3 * c + r][1] * rate[c][r];
            }
    }
    return {slope, curvature};
}

std::vector<Vec3> MixedSystem::moved(const StepInput& in, int k, const std::vector<Vec3>& change,
                                     double share) const {
    std::vector<Vec3> x = parts_[k].about.x;
    for (std::size_t v = 0; v < x.size(); ++v) x[v] += in.h * share * change[v];
    return x;
}

double MixedSystem::elastic_energy_along(const StepInput& in, const std::vector<std::vector<Vec3>>& change,
                                         double share) const {
    double sum = 0;
    for (std::size_t k = 0; k < solids_.size(); ++k) {
        const ElasticElements& e = in.solids[solids_[k]].elements;
        const std::vector<Vec3> x = moved(in, static_cast<int>(k), change[k], share);
        for (int i : in.states[solids_[k]].elastic_list)
            sum += e.volume[i] * elastic_energy(e.model, e.material[i], e.deformation(i, x));
    }
    return sum;
}

}  // namespace tenon::adaptive

#include "methods/adaptive/oracle.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>

#include "math/parallel.hpp"

namespace tenon::adaptive {
namespace {

constexpr double kPinned = 1e6;      // pinned vertices act this much heavier
constexpr double kDropBelow = 1e-6;  // of the incomplete factor, as in the paper

}  // namespace

void Preconditioning::prepare(const Solid& solid, const std::vector<char>& pinned, double h,
                              Preconditioner kind) {
    if (h == h_ && kind == kind_ && !diagonal_.empty()) return;
    h_ = h;
    kind_ = kind;
    const ElasticElements& e = solid.elements;
    std::vector<std::pair<int, int>> pairs;
    for (const Tet& t : e.tets)
        for (int a = 0; a < e.corners; ++a)
            for (int b = 0; b < a; ++b) pairs.emplace_back(t[a], t[b]);
    solve::BlockMatrix matrix;
    matrix.resize(solve::make_pattern(solid.vertices(), std::move(pairs)), 1);
    for (int v = 0; v < solid.vertices(); ++v)
        matrix.diagonal[v] = (solid.mass[v] + h * solid.damping[v]) * (pinned[v] ? kPinned : 1.0);
    for (int i = 0; i < e.size(); ++i) {
        const double k = solid.scale(i, h) * e.volume[i] * (2 * e.material[i].mu + e.material[i].lambda);
        for (int a = 0; a < e.corners; ++a)
            for (int b = 0; b <= a; ++b) {
                const double term = k * e.shape_gradient[i].row(a).dot(e.shape_gradient[i].row(b));
                const int va = e.tets[i][a], vb = e.tets[i][b];
                if (a == b)
                    matrix.diagonal[va] += term;
                else
                    matrix.lower[matrix.find(std::max(va, vb), std::min(va, vb))] += term;
            }
    }
    for (int v = 0; v < solid.vertices(); ++v)
        if (pinned[v]) matrix.diagonal[v] *= kPinned;
    diagonal_ = matrix.diagonal;
    if (kind == Preconditioner::cholesky) factor(solid, matrix);
    if (kind == Preconditioner::incomplete) incomplete_.factor(matrix, kDropBelow);
}

void Preconditioning::factor(const Solid& solid, const solve::BlockMatrix& matrix) {
    std::vector<Eigen::Triplet<double>> entries;
    for (int i = 0; i < solid.vertices(); ++i) {
        const int at = solid.position[i];
        entries.emplace_back(at, at, matrix.diagonal[i]);
        for (int k = matrix.pattern.start[i]; k < matrix.pattern.start[i + 1]; ++k) {
            const int other = solid.position[matrix.pattern.columns[k]];
            entries.emplace_back(std::max(at, other), std::min(at, other), matrix.lower[k]);
        }
    }
    Eigen::SparseMatrix<double> lower(solid.vertices(), solid.vertices());
    lower.setFromTriplets(entries.begin(), entries.end());
    const Eigen::SimplicialLLT<Eigen::SparseMatrix<double>, Eigen::Lower, Eigen::NaturalOrdering<int>> full(
        lower);
    if (full.info() != Eigen::Success) throw StepFailure("the forecast's matrix is not positive");
    const Eigen::SparseMatrix<double> l = full.matrixL();
    order_ = solid.order;
    start_.assign(l.outerIndexPtr(), l.outerIndexPtr() + l.outerSize() + 1);
    row_.assign(l.innerIndexPtr(), l.innerIndexPtr() + l.nonZeros());
    value_.assign(l.valuePtr(), l.valuePtr() + l.nonZeros());
    for (int c = 0; c < solid.vertices(); ++c) value_[start_[c]] = 1 / value_[start_[c]];
}

void Preconditioning::apply(const std::vector<Vec3>& r, std::vector<Vec3>& z) const {
    const int count = static_cast<int>(r.size());
    z.resize(count);
    if (kind_ == Preconditioner::jacobi) {
        for (int v = 0; v < count; ++v) z[v] = r[v] / diagonal_[v];
        return;
    }
    if (kind_ == Preconditioner::cholesky) {  // all three directions at once: the factor is read once
        work_.resize(count);
        for (int c = 0; c < count; ++c) work_[c] = r[order_[c]];
        for (int c = 0; c < count; ++c) {
            const Vec3 x = work_[c] *= value_[start_[c]];
            for (int k = start_[c] + 1; k < start_[c + 1]; ++k) work_[row_[k]] -= value_[k] * x;
        }
        for (int c = count - 1; c >= 0; --c) {
            Vec3 x = work_[c];
            for (int k = start_[c] + 1; k < start_[c + 1]; ++k) x -= value_[k] * work_[row_[k]];
            z[order_[c]] = work_[c] = value_[start_[c]] * x;
        }
        return;
    }
    parallel_for(3, 1, [&](std::size_t c) {
        std::vector<double> b(count), x(count);
        for (int v = 0; v < count; ++v) b[v] = r[v][static_cast<int>(c)];
        incomplete_.solve(b.data(), x.data());
        for (int v = 0; v < count; ++v) z[v][static_cast<int>(c)] = x[v];
    });
}

// The right-hand side of Eq. 5 on every vertex, with contact impulses. Rigid elements exert the forces they had when
// they became rigid, turned with them; their stiffness sees no relative velocity.
void Oracle::gather_loads(const Input& in, const SolidState& part) {
    const Solid& solid = in.solid;
    const ElasticElements& e = solid.elements;
    r_.resize(solid.vertices());
    for (int v = 0; v < solid.vertices(); ++v)
        r_[v] =
            in.h * (solid.mass[v] * in.state.gravity - solid.damping[v] * part.v[v]) + in.contact_impulse[v];
    for (const Component& c : part.components) {
        const Mat3 R = c.state.rotation.toRotationMatrix();
        for (std::size_t k = 0; k < c.vertices.size(); ++k) r_[c.vertices[k]] += in.h * (R * c.internal[k]);
    }
    list_.clear();
    for (int i = 0; i < e.size(); ++i)
        if (part.element_of[i] < part.first_component) list_.push_back(i);
    constexpr int lanes = ElementBatch::lanes;
    const int count = static_cast<int>(list_.size());
    loads_.resize(count);
    parallel_for((count + lanes - 1) / lanes, 32, [&](std::size_t p) {
        const int first = lanes * static_cast<int>(p), left = std::min(lanes, count - first);
        ElementBatch batch;
        respond_to(solid, part, in.driven, list_.data() + first, left, in.h, false, batch);
        for (int l = 0; l < left; ++l)
            for (int k = 0; k < 12; ++k) loads_[first + l][k] = batch.load[k][l];
    });
    for (int p = 0; p < count; ++p)
        for (int c = 0; c < e.corners; ++c) r_[e.tets[list_[p]][c]] += loads_[p].segment<3>(3 * c);
}

// What is left after the acceleration each component would have as a rigid body, centripetal part included: zero for
// a part that flies, spins or rests in equilibrium.
void Oracle::subtract_rigid_motion(const Input& in, const SolidState& part) {
    const Solid& solid = in.solid;
    for (const Component& c : part.components) {
        Vec3 push = Vec3::Zero(), turn = Vec3::Zero();
        for (int v : c.vertices) {
            push += r_[v];
            turn += (part.x[v] - c.state.position).cross(r_[v]);
        }
        const Mat3 R = c.state.rotation.toRotationMatrix();
        const Mat3 inertia = R * c.moments.asDiagonal() * R.transpose();
        const Vec3& w = c.state.spin;
        const Vec3 dv = push / c.mass;
        const Vec3 dw = R * (R.transpose() * (turn - in.h * w.cross(inertia * w))).cwiseQuotient(c.moments);
        for (int v : c.vertices) {
            const Vec3 arm = part.x[v] - c.state.position;
            r_[v] -= solid.mass[v] * (dv + dw.cross(arm) + in.h * w.cross(w.cross(arm)));
        }
    }
    const int drives = static_cast<int>(solid.drives.size());
    for (int v = 0; v < solid.vertices(); ++v)
        if (part.owner[v] >= 0 && part.owner[v] < drives) r_[v] -= solid.mass[v] * (in.driven[v] - part.v[v]);
    for (int v = 0; v < solid.vertices(); ++v)
        if (pinned_[v]) r_[v].setZero();
}

void Oracle::forecast(const Input& in, Preconditioner kind, SolidState& part) {
    const Solid& solid = in.solid;
    const ElasticElements& e = solid.elements;
    pinned_.assign(solid.vertices(), 0);
    for (const ElasticBody::Pin& pin : in.model.elastic[solid.index].pins) pinned_[pin.vertex] = 1;
    preconditioning_.prepare(solid, pinned_, in.h, kind);
    gather_loads(in, part);
    subtract_rigid_motion(in, part);
    preconditioning_.apply(r_, z_);

    // alpha = r . z / z . A z, with A z never assembled: the rate of Green's strain along z (Eq. 16) is at hand, and the
    // stiffness against it is that of small strains. What geometric stiffness adds is left out.
    curvature_.resize(e.tets.size());
    strain_.resize(e.tets.size());
    parallel_for(e.tets.size(), 512, [&](std::size_t k) {
        const int i = static_cast<int>(k);
        const Mat3 half = e.deformation(i, part.x).transpose() * e.deformation_rate(i, z_);
        const double trace = half.trace();
        strain_[i] = 0.25 * (half + half.transpose()).squaredNorm();
        curvature_[i] = solid.scale(i, in.h) * e.volume[i] *
                        (2 * e.material[i].mu * strain_[i] + e.material[i].lambda * trace * trace);
    });
    double along = 0, work = 0;
    for (int v = 0; v < solid.vertices(); ++v) {
        work += r_[v].dot(z_[v]);
        along += (solid.mass[v] + in.h * solid.damping[v]) * z_[v].squaredNorm();
    }
    for (double c : curvature_) along += c;
    const double alpha = in.steps * (along > 0 && work > 0 ? work / along : 1.0);
    part.shown = false;
    for (int i = 0; i < e.size(); ++i)
        if (part.element_of[i] >= 0) {
            part.rate[i] = alpha * alpha * strain_[i];
            part.forecast[i] = shown_rate(part.rate[i]);
        }
}

}  // namespace tenon::adaptive

#include "methods/articulated/body_field.hpp"

#include <algorithm>
#include <cmath>

#include "math/parallel.hpp"
#include "math/rotation.hpp"

namespace tenon::articulated {
namespace {

constexpr std::size_t kGrain = 4096;

// Runs `visit(body, report)` over all bodies and gathers the reports in an order that threads do not change.
template <class Visit>
FieldReport over_bodies(const std::vector<int>& bodies, const Visit& visit) {
    const std::size_t chunks = (bodies.size() + kGrain - 1) / kGrain;
    std::vector<FieldReport> partial(chunks);
    parallel_for(chunks, 1, [&](std::size_t chunk) {
        const std::size_t end = std::min(bodies.size(), (chunk + 1) * kGrain);
        for (std::size_t i = chunk * kGrain; i < end; ++i) visit(bodies[i], partial[chunk]);
    });
    FieldReport total;
    for (const FieldReport& report : partial) {
        total.strain = std::max(total.strain, report.strain);
        total.turn = std::max(total.turn, report.turn);
        total.fallbacks += report.fallbacks;
        total.finite = total.finite && report.finite;
    }
    return total;
}

void set_stretch(BodyField& field, int body, const Mat3& stretch, FieldReport& report) {
    const KindMatrix& kind = field.matrix(body);
    if (!kind.rigid) field.stress[body] = volume_stress(kind, stretch);
    report.strain = std::max(report.strain, (stretch - Mat3::Identity()).cwiseAbs().maxCoeff());
}

}  // namespace

Mat34 DenseBody::apply_inverse(const Mat3& rotation, const Mat34& load) const {
    const Mat3 G = product_left_transposed(rotation, linear_part(load));
    const Vec3 push = rotation.transpose() * load.col(3);
    Mat34 out;
    if (rigid) {
        Vec6 u;
        u << torque_of(G), push;
        rigid_factor.forward<1>(u);
        rigid_factor.backward<1>(u);
        set_linear_part(out, skew(u.head<3>()));
        out.col(3) = rotation * u.tail<3>();
        return out;
    }
    Vec12 u;
    for (int k = 0; k < 9; ++k) u[k] = G.data()[k];
    u.tail<3>() = push;
    factor.forward<1>(u);
    factor.backward<1>(u);
    for (int k = 0; k < 9; ++k) out.data()[k] = u[k];
    out.col(3) = rotation * u.tail<3>();
    return out;
}

Reduced DenseBody::reduced(const Vec3& point) const {
    Reduced out = Reduced::Zero();
    if (rigid) {
        Eigen::Matrix<double, 6, 3> load;
        load << skew(point), Mat3::Identity();
        rigid_factor.forward<3>(load);
        out.topRows<6>() = load;
        return out;
    }
    for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < 3; ++j) out(3 * j + k, k) = point[j];
        out(9 + k, k) = 1.0;
    }
    factor.forward<3>(out);
    return out;
}

Mat3 dense_compliance(const DenseBody& dense, const Mat3& rotation, const Vec3& x, const Vec3& y) {
    return in_world(compliance(dense.reduced(x), dense.reduced(y)), rotation);
}

void judge(BodyField& field, int body, const Mat34& unbalanced, Balance& balance) {
    const KindMatrix& kind = field.matrix(body);
    const Mat3& R = field.rotation[body];
    const Mat34& x = field.x[body];
    const Mat3 G = product_left_transposed(R, linear_part(unbalanced));
    double turning = 0.0, elastic = 0.0;
    if (kind.rigid) {
        turning = torque_of(G).norm();
        field.force_stress[body] = 0.5 * (G + G.transpose());
    } else {
        turning = G.norm();
        elastic = field.stress[body].cwiseAbs().maxCoeff();
    }
    const double reach = x.col(3).cwiseAbs().maxCoeff(), rate = kind.inertia.maxCoeff();
    // what rounding of coordinates leaves of the stiff terms
    const double noise =
        64 * 2.2e-16 *
        (kind.mass_rate * reach +
         (rate + (kind.rigid ? 0.0 : 4.0 * kind.volume_mu + kind.volume_lambda)) / kind.gyration);
    const double left = std::max(unbalanced.col(3).cwiseAbs().maxCoeff(), turning / kind.gyration) - noise;
    balance.force = std::max(balance.force, left);
    if (!std::isfinite(left)) balance.give_up();  // a comparison would pass it over
    double spun = 0.0;
    for (int k = 0; k < 3; ++k)
        spun = std::max(spun, kind.inertia[k] * (x.col(k) - field.target[body].col(k)).norm());
    balance.scale = std::max({balance.scale, kind.mass_rate * (x.col(3) - field.target[body].col(3)).norm(),
                              field.kinds[field.kind[body]].mass * field.gravity,
                              std::max(spun, elastic) / kind.gyration});
}

void judge_joint_force(const BodyField& field, int body, const Mat34& force, Balance& balance) {
    const double size =
        std::max(force.col(3).norm(), force.leftCols<3>().norm() / field.matrix(body).gyration);
    balance.scale = std::max(balance.scale, size);
}

FieldReport refresh(BodyField& field, const std::vector<int>& bodies) {
    return over_bodies(bodies, [&](int body, FieldReport& report) {
        const Mat3 A = linear_part(field.x[body]);
        if (field.polar_free) {
            field.rotation[body] = normalised_columns(A);
            const Mat3 S = product_left_transposed(field.rotation[body], A);
            set_stretch(field, body, 0.5 * (S + S.transpose()), report);
            return;
        }
        const Polar polar = safe_polar(A);
        field.rotation[body] = polar.rotation;
        report.fallbacks += polar.fallback;
        set_stretch(field, body, polar.stretch, report);
    });
}

FieldReport move(BodyField& field, const std::vector<int>& bodies, double length) {
    return over_bodies(bodies, [&](int body, FieldReport& report) {
        Mat34& x = field.x[body];
        const Mat3 F = length * linear_part(field.dq[body]);
        x.col(3) += length * field.dq[body].col(3);
        report.turn = std::max(report.turn, 0.5 * torque_of(F).norm());
        report.finite = report.finite && field.dq[body].allFinite();
        if (field.polar_free) {
            const Mat3 A = linear_part(x) + product(field.rotation[body], F);
            set_linear_part(x, A);
            field.rotation[body] = normalised_columns(A);
            const Mat3 S = product_left_transposed(field.rotation[body], A);
            set_stretch(field, body, 0.5 * (S + S.transpose()), report);
            report.finite = report.finite && x.allFinite();
            return;
        }
        const Mat3 S = product_left_transposed(field.rotation[body], linear_part(x));
        Mat3 stretch = 0.5 * (S + S.transpose());
        retract(field.matrix(body), F, field.rotation[body], stretch);
        if (!field.matrix(body).rigid && !((stretch - Mat3::Identity()).cwiseAbs().maxCoeff() < 0.3)) {
            // far from a rotation the stretch may no longer be that of a polar decomposition
            const Polar polar = safe_polar(product(field.rotation[body], stretch));
            field.rotation[body] = polar.rotation;
            stretch = polar.stretch;
            report.fallbacks += polar.fallback;
        }
        set_linear_part(x, product(field.rotation[body], stretch));
        set_stretch(field, body, stretch, report);
        report.finite = report.finite && x.allFinite();
    });
}

void predict(BodyField& field, const std::vector<int>& bodies, bool with_joints) {
    parallel_for(bodies.size(), kGrain, [&](std::size_t i) {
        const int body = bodies[i];
        const KindMatrix& kind = field.matrix(body);
        Mat3 A = linear_part(field.target[body]);
        const bool loaded = !field.load_turn.empty();
        if (loaded) A -= field.load_turn[body];
        Mat3 R = field.polar_free ? normalised_columns(A) : safe_polar(A).rotation;
        if (loaded) {  // a torque turns a body by torque / (I_i + I_j)
            Mat3 G = product_left_transposed(R, field.load_turn[body]);
            for (int k = 0; k < 3; ++k) G.col(k) *= kind.inertia[k];
            Vec3 w = torque_of(G);
            for (int p = 0; p < 3; ++p) w[p] /= kind.inertia[(p + 1) % 3] + kind.inertia[(p + 2) % 3];
            R = product(R, exponential(w));
        }
        Mat3 stretch = Mat3::Identity();
        if (!kind.rigid) {
            const Mat3 S = product_left_transposed(field.rotation[body], linear_part(field.x[body]));
            stretch = 0.5 * (S + S.transpose());
        }
        field.x[body].col(3) = field.target[body].col(3);
        if (kind.rigid) {
            field.predicted[body] = R;
            const JointMove& last = field.joint_move[body];
            if (with_joints && last.eta == field.eta(body)) {
                R = product(R, exponential(last.turn));
                field.x[body].col(3) += last.shift;
            }
        }
        set_linear_part(field.x[body], product(R, stretch));
        field.rotation[body] = R;
    });
}

void remember_joint_moves(BodyField& field, const std::vector<int>& bodies) {
    if (field.joint_move.empty()) return;
    parallel_for(bodies.size(), kGrain, [&](std::size_t i) {
        const int body = bodies[i];
        if (!field.matrix(body).rigid) return;
        const Mat3 Q = product_left_transposed(field.predicted[body], field.rotation[body]);
        const Vec3 sine = axial(Q);
        const double size = sine.norm(), angle = std::atan2(size, 0.5 * (Q.trace() - 1.0));
        JointMove& move = field.joint_move[body];
        move.shift = field.x[body].col(3) - field.target[body].col(3);
        move.turn = size > 1e-300 ? Vec3(angle / size * sine) : Vec3(Vec3::Zero());
        move.eta = field.eta(body);
    });
}

void take_force_stress(BodyField& field, const std::vector<int>& bodies) {
    for (int body : bodies)
        if (field.matrix(body).rigid) field.stress[body] = field.force_stress[body];
}

}  // namespace tenon::articulated

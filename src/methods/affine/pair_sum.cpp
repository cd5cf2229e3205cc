#include "methods/affine/pair_sum.hpp"

#include "methods/affine/friction.hpp"

namespace tenon::affine {
namespace {

// r x each column.
[[gnu::always_inline]] inline Mat3 arms_about(const Vec3& r, const Mat3& columns) {
    Mat3 arms;
    for (int k = 0; k < 3; ++k) arms.col(k) = r.cross(columns.col(k));
    return arms;
}

// Springs between points of two rigid bodies, summed about the first body's centre. A motion is a turn, then a shift.
// Along a normal both points have the same arm; those of friction lie a gap and some sliding apart.
struct RigidSprings {
    Symmetric3 turn_a, turn_b, shift;
    Mat3 turn_ba = Mat3::Zero();
    Mat3 between_a = Mat3::Zero(), between_b = Mat3::Zero();  // what a shift does to a turn

    [[gnu::always_inline]] void add_normal(const Vec3& r, const Vec3& normal, double stiffness) {
        const Vec3 arm = r.cross(normal);
        turn_a.add_square(arm, stiffness);
        shift.add_square(normal, stiffness);
        for (int k = 0; k < 3; ++k) between_a.col(k) += (stiffness * normal[k]) * arm;
    }
    // After the last normal one.
    void share() {
        turn_b = turn_a;
        turn_ba = turn_a.full();
        between_b = between_a;
    }
    [[gnu::always_inline]] void add(const Vec3& arm_a, const Vec3& arm_b, const Symmetric3& stiffness) {
        const Mat3 D = stiffness.full(), turned_a = arms_about(arm_a, D), turned_b = arms_about(arm_b, D);
        shift.add(stiffness);
        between_a += turned_a;
        between_b += turned_b;
        turn_a.add(turned_twice(turned_a, arm_a));
        turn_b.add(turned_twice(turned_b, arm_b));
        for (int k = 0; k < 3; ++k)
            turn_ba.col(k) += arm_a[(k + 1) % 3] * turned_b.col((k + 2) % 3) -
                              arm_a[(k + 2) % 3] * turned_b.col((k + 1) % 3);
    }

    // `offset` leads from the second body's centre to the first's.
    void write(const Vec3& offset, PairSum<6>& out) const {
        const Mat3 S = shift.full(), moved_shift = between_b + arms_about(offset, S),
                   moved_back = moved_shift.transpose(), back_a = between_a.transpose();
        out.aa << turn_a.full(), between_a, back_a, S;
        out.ba << -(turn_ba + arms_about(offset, back_a)), -moved_shift, -back_a, -S;
        const Mat3 once = turn_b.full() + arms_about(offset, between_b.transpose());
        out.bb << once + arms_about(offset, moved_back).transpose(), moved_shift, moved_back, S;
    }

  private:
    // Each row of what is symmetric once it has been turned about the arm a second time.
    [[gnu::always_inline]] static Symmetric3 turned_twice(const Mat3& once, const Vec3& r) {
        return {r[1] * once(0, 2) - r[2] * once(0, 1), r[2] * once(0, 0) - r[0] * once(0, 2),
                r[0] * once(0, 1) - r[1] * once(0, 0), r[2] * once(1, 0) - r[0] * once(1, 2),
                r[0] * once(1, 1) - r[1] * once(1, 0), r[0] * once(2, 1) - r[1] * once(2, 0)};
    }
};

// A spring over the twelve coordinates: a point moves by its local coordinates times the columns of q.
void add_affine_spring(PairSum<12>& out, const Vec3& local_a, const Vec3& local_b, const Mat3& D) {
    for (int l = 0; l < 4; ++l) {
        const Mat3 Da = (l < 3 ? local_a[l] : 1.0) * D, Db = (l < 3 ? local_b[l] : 1.0) * D;
        for (int k = 0; k < 4; ++k) {
            const double a = k < 3 ? local_a[k] : 1.0, b = k < 3 ? local_b[k] : 1.0;
            out.aa.block<3, 3>(3 * k, 3 * l) += a * Da;
            out.bb.block<3, 3>(3 * k, 3 * l) += b * Db;
            out.ba.block<3, 3>(3 * k, 3 * l) -= b * Da;
        }
    }
}

[[gnu::always_inline]] inline void add_force(Mat34& gradient, const Vec3& local, const Vec3& force) {
    for (int k = 0; k < 3; ++k) gradient.col(k) += local[k] * force;
    gradient.col(3) += force;
}

// A load on q as a vector over the body's unknowns.
template <int Dof>
Eigen::Matrix<double, Dof, 1> unknowns_of_load(const Mat34& q, const Mat34& load) {
    if constexpr (Dof == 6) {
        Vec6 j = Vec6::Zero();
        for (int k = 0; k < 3; ++k) j.head<3>() += q.col(k).cross(load.col(k));
        j.tail<3>() = load.col(3);
        return j;
    } else {
        return Eigen::Map<const Vec12>(load.data());
    }
}

// Hard contacts whose distance curves as the bodies turn: without this part Newton turns them into each other.
template <int Dof>
void add_curvatures(const ContactField& field, int index, const Mat34& qa, const Mat34& qb, double scale,
                    double relevant_force, PairSum<Dof>& out) {
    std::array<ContactCurvature, 2> parts;
    for (const ContactPoint& p : field.contacts(index).points) {
        if (p.force < relevant_force) continue;
        const int count = field.curvatures(index, p, parts);
        for (int k = 0; k < count; ++k) {
            const auto ja = unknowns_of_load<Dof>(qa, parts[k].a);
            const auto jb = unknowns_of_load<Dof>(qb, parts[k].b);
            const double stiffness = scale * parts[k].stiffness;
            out.aa.noalias() += (stiffness * ja) * ja.transpose();
            out.bb.noalias() += (stiffness * jb) * jb.transpose();
            out.ba.noalias() += (stiffness * jb) * ja.transpose();
        }
    }
}

void sum_springs(const PairContacts& pair, const Mat34& qa, const Mat34& qb, const Mat34& moved_a,
                 const Mat34& moved_b, double scale, double eps, PairSum<6>& out) {
    RigidSprings springs;
    const Mat3 A = qa.leftCols<3>(), B = qb.leftCols<3>();
    const Vec3 offset = qa.col(3) - qb.col(3);
    for (const ContactPoint& p : pair.points) {
        const Vec3 force = -scale * p.force * p.normal;
        add_force(out.gradient_a, p.local_a, force);
        add_force(out.gradient_b, p.local_b, -force);
        const double stiffness = scale * p.stiffness;
        springs.add_normal(A * p.local_a, p.normal, stiffness);
        out.stretch_a += stiffness * p.local_a.squaredNorm();
        out.stretch_b += stiffness * p.local_b.squaredNorm();
    }
    springs.share();
    for (const FrictionPoint& p : pair.friction) {
        const FrictionSpring f = friction_spring(p, sliding(p, moved_a, moved_b), scale, eps);
        add_force(out.gradient_a, p.local_a, f.force);
        add_force(out.gradient_b, p.local_b, -f.force);
        springs.add(A * p.local_a, B * p.local_b - offset, f.stiffness);  // from the first body's centre
    }
    springs.write(offset, out);
}

void sum_springs(const PairContacts& pair, const Mat34&, const Mat34&, const Mat34& moved_a,
                 const Mat34& moved_b, double scale, double eps, PairSum<12>& out) {
    out.aa.setZero();
    out.bb.setZero();
    out.ba.setZero();
    for (const ContactPoint& p : pair.points) {
        const Vec3 force = -scale * p.force * p.normal;
        add_force(out.gradient_a, p.local_a, force);
        add_force(out.gradient_b, p.local_b, -force);
        const double stiffness = scale * p.stiffness;
        add_affine_spring(out, p.local_a, p.local_b, stiffness * p.normal * p.normal.transpose());
        out.stretch_a += stiffness * p.local_a.squaredNorm();
        out.stretch_b += stiffness * p.local_b.squaredNorm();
    }
    for (const FrictionPoint& p : pair.friction) {
        const FrictionSpring f = friction_spring(p, sliding(p, moved_a, moved_b), scale, eps);
        add_force(out.gradient_a, p.local_a, f.force);
        add_force(out.gradient_b, p.local_b, -f.force);
        add_affine_spring(out, p.local_a, p.local_b, f.stiffness.full());
    }
}

}  // namespace

double relevant_force(const StepContext& context, const CandidatePair& pair) {
    double force = 1e300;
    for (const int body : {pair.a, pair.b}) {
        if (context.node[body] < 0) continue;
        const BodyStep& step = context.bodies.body[body];
        const double radius = 0.5 * context.field.local_box(body).diagonal();
        force = std::min(force,
                         0.1 * step.inertia.moments.minCoeff() / (radius * context.bodies.potential_scale));
    }
    return force;
}

template <int Dof>
void sum_pair(PairSum<Dof>& sum, int index, const StepContext& context) {
    const CandidatePair& pair = context.field.pair(index);
    const PairContacts& contacts = context.field.contacts(index);
    if (sum.up_to_date(contacts)) return;
    const auto& bodies = context.bodies.body;
    const Mat34 &qa = context.q[pair.a], &qb = context.q[pair.b];
    const double scale = context.bodies.potential_scale;
    sum.gradient_a.setZero();
    sum.gradient_b.setZero();
    sum.stretch_a = sum.stretch_b = 0.0;
    sum_springs(contacts, qa, qb, qa - bodies[pair.a].slide_from, qb - bodies[pair.b].slide_from, scale,
                context.friction_eps, sum);
    add_curvatures(context.field, index, qa, qb, scale, relevant_force(context, pair), sum);
    sum.seen_a = contacts.seen_a;
    sum.seen_b = contacts.seen_b;
    sum.duals = contacts.duals;
}

template void sum_pair<6>(PairSum<6>&, int, const StepContext&);
template void sum_pair<12>(PairSum<12>&, int, const StepContext&);

}  // namespace tenon::affine

#include "model/joint_rows.hpp"

#include <cmath>

namespace tenon {
namespace {

// d (x) x~: the gradient of d . (A x + w t), w = 1 for points and 0 for directions. Written out: these are the innermost loops of
// long chains.
[[gnu::always_inline]] inline Mat34 outer(const Vec3& d, const Vec3& x, double w) {
    Mat34 g;
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i) g(i, k) = d[i] * x[k];
    for (int i = 0; i < 3; ++i) g(i, 3) = w * d[i];
    return g;
}

// d (x) x + e (x) y of two directions.
[[gnu::always_inline]] inline Mat34 outer_sum(const Vec3& d, const Vec3& x, const Vec3& e, const Vec3& y) {
    Mat34 g;
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i) g(i, k) = d[i] * x[k] + e[i] * y[k];
    g.col(3).setZero();
    return g;
}

struct Sides {
    const Joint& joint;
    const Mat34 &qa, &qb;
    Mat3 fa, fb;  // joint frames in the world: d, n1, n2
    Vec3 gap;     // x_b - x_a

    Sides(const Joint& j, const Mat34& a, const Mat34& b)
        : joint(j),
          qa(a),
          qb(b),
          fa(a.leftCols<3>() * j.frame[0]),
          fb(b.leftCols<3>() * j.frame[1]),
          gap(transform(b, j.point[1]) - transform(a, j.point[0])) {}

    Vec3 local_a(int k) const { return joint.frame[0].col(k); }
    Vec3 local_b(int k) const { return joint.frame[1].col(k); }
};

// Appends rows; gradients only when asked for.
struct Writer {
    const Sides& s;
    double* value;
    JointRows* rows;
    int count = 0;

    void add(double v) {
        value[count] = v;
        ++count;
    }
    void set(const Mat34& ga, const Mat34& gb) {
        rows->gradient[0][count] = ga;
        rows->gradient[1][count] = gb;
    }
    void point() {
        for (int i = 0; i < 3; ++i) {
            if (rows)
                set(outer(Vec3::Unit(i), s.joint.point[0], 1), outer(-Vec3::Unit(i), s.joint.point[1], 1));
            add(-s.gap[i]);
        }
    }
    void axes_meet() {
        const Vec3 u = s.fa.col(0), v = s.fb.col(0);
        for (int i = 1; i <= 2; ++i) {
            const Vec3 p = s.fa.col(i);
            if (rows) {
                set(outer_sum(u.cross(v), s.local_a(i), v.cross(p), s.local_a(0)),
                    outer(p.cross(u), s.local_b(0), 0));
            }
            add(p.cross(u).dot(v));
        }
    }
    void directions(int k, int l) {  // A_a f_k . A_b f_l
        if (rows) set(outer(s.fb.col(l), s.local_a(k), 0), outer(s.fa.col(k), s.local_b(l), 0));
        add(s.fa.col(k).dot(s.fb.col(l)));
    }
    void slide(int k) {  // A_a f_k . gap
        if (rows) {
            const Mat34 ga = outer(s.gap, s.local_a(k), 0) - outer(s.fa.col(k), s.joint.point[0], 1);
            set(ga, outer(s.fa.col(k), s.joint.point[1], 1));
        }
        add(s.fa.col(k).dot(s.gap));
    }
    void same_direction() {  // A_a d - A_b d, linear
        for (int i = 0; i < 3; ++i) {
            if (rows) set(outer(Vec3::Unit(i), s.local_a(0), 0), outer(-Vec3::Unit(i), s.local_b(0), 0));
            add(s.fa(i, 0) - s.fb(i, 0));
        }
    }
    void length() {
        const double norm = s.gap.norm();
        if (rows) {
            const Vec3 n = norm > 1e-12 ? Vec3(s.gap / norm) : Vec3(s.fa.col(0));
            set(outer(-n, s.joint.point[0], 1), outer(n, s.joint.point[1], 1));
        }
        add(norm - s.joint.rest_length);
    }

    void all() {
        switch (s.joint.spec.type) {
            case JointType::ball:
                point();
                break;
            case JointType::hinge:
                point(), s.joint.spec.linear ? same_direction() : axes_meet();
                break;
            case JointType::universal:
                point(), directions(0, 1);
                break;
            case JointType::prismatic:
                slide(1), slide(2), axes_meet(), directions(1, 2);
                break;
            case JointType::fixed:
                point(), axes_meet(), directions(1, 2);
                break;
            case JointType::cylindrical:
                slide(1), slide(2), axes_meet();
                break;
            case JointType::planar:
                slide(0), axes_meet();
                break;
            case JointType::distance:
                if (s.joint.spec.drives.empty()) length();
                break;
            case JointType::coupling:
                break;
        }
    }
};

using Gradient = std::array<Mat34, 2>;  // by side; a null pointer to one: the value alone is wanted

double slide_coordinate(const Sides& s, int k, Gradient* gradient) {
    if (gradient) {
        (*gradient)[0] = outer(s.gap, s.local_a(k), 0) - outer(s.fa.col(k), s.joint.point[0], 1);
        (*gradient)[1] = outer(s.fa.col(k), s.joint.point[1], 1);
    }
    return s.fa.col(k).dot(s.gap);
}

// atan2(sine, cosine) of two functions whose gradients are called for.
template <class Sine, class Cosine>
double angle_of(double sine, double cosine, Gradient* gradient, const Sine& dsine, const Cosine& dcosine) {
    if (gradient) {
        const double scale = 1.0 / std::max(sine * sine + cosine * cosine, 1e-300);
        const Gradient ds = dsine(), dc = dcosine();
        for (int side = 0; side < 2; ++side)
            (*gradient)[side] = scale * (cosine * ds[side] - sine * dc[side]);
    }
    return std::atan2(sine, cosine);
}

// Turn of b against a about d: with Q_kl = A_a f_k . A_b f_l, atan2(Q_21 - Q_12, Q_11 + Q_22). For a relative
// rotation with a swing as well, this is the twist of its swing-twist decomposition.
double twist_angle(const Sides& s, Gradient* gradient) {
    const auto Q = [&](int k, int l) { return s.fa.col(k).dot(s.fb.col(l)); };
    const double sine = Q(2, 1) - Q(1, 2), cosine = Q(1, 1) + Q(2, 2);
    if (gradient) {  // (cosine d sine - sine d cosine) / (sine^2 + cosine^2)
        const double scale = 1.0 / std::max(sine * sine + cosine * cosine, 1e-300);
        const double ds = scale * cosine, dc = scale * sine;
        const Vec3 a1 = s.fa.col(1), a2 = s.fa.col(2), b1 = s.fb.col(1), b2 = s.fb.col(2);
        (*gradient)[0] = outer_sum(ds * b1 - dc * b2, s.local_a(2), -ds * b2 - dc * b1, s.local_a(1));
        (*gradient)[1] = outer_sum(ds * a2 - dc * a1, s.local_b(1), -ds * a1 - dc * a2, s.local_b(2));
    }
    return std::atan2(sine, cosine);
}

// Universal: the second axis (n1 of b) seen from a turns about the first; the first axis (d of a) seen from b
// turns the other way about the second.
double universal_angle(const Sides& s, int which, Gradient* gradient) {
    if (which == 0) {
        const Vec3 v = s.fb.col(1);
        return angle_of(
            s.fa.col(2).dot(v), s.fa.col(1).dot(v), gradient,
            [&] {
                return Gradient{outer(v, s.local_a(2), 0), outer(s.fa.col(2), s.local_b(1), 0)};
            },
            [&] {
                return Gradient{outer(v, s.local_a(1), 0), outer(s.fa.col(1), s.local_b(1), 0)};
            });
    }
    const Vec3 u = s.fa.col(0);
    return angle_of(
        s.fb.col(2).dot(u), s.fb.col(0).dot(u), gradient,
        [&] {
            return Gradient{outer(s.fb.col(2), s.local_a(0), 0), outer(u, s.local_b(2), 0)};
        },
        [&] {
            return Gradient{outer(s.fb.col(0), s.local_a(0), 0), outer(u, s.local_b(0), 0)};
        });
}

double bend_angle(const Sides& s, Gradient* gradient) {
    const Vec3 u = s.fa.col(0), v = s.fb.col(0);
    const Vec3 cross = u.cross(v);
    const double sine = cross.norm();
    const Vec3 n = sine > 1e-12 ? Vec3(cross / sine) : Vec3(s.fa.col(1));
    return angle_of(
        sine, u.dot(v), gradient,
        [&] {
            return Gradient{outer(v.cross(n), s.local_a(0), 0), outer(n.cross(u), s.local_b(0), 0)};
        },
        [&] {
            return Gradient{outer(v, s.local_a(0), 0), outer(u, s.local_b(0), 0)};
        });
}

double length_coordinate(const Sides& s, Gradient* gradient) {
    const double length = s.gap.norm();
    if (gradient) {
        const Vec3 n = length > 1e-12 ? Vec3(s.gap / length) : Vec3(s.fa.col(0));
        (*gradient)[0] = outer(-n, s.joint.point[0], 1);
        (*gradient)[1] = outer(n, s.joint.point[1], 1);
    }
    return length;
}

double coordinate_of(const Sides& s, int coordinate, Gradient* gradient) {
    switch (s.joint.spec.type) {
        case JointType::ball:
            return coordinate == 0 ? bend_angle(s, gradient) : twist_angle(s, gradient);
        case JointType::universal:
            return universal_angle(s, coordinate, gradient);
        case JointType::prismatic:
            return slide_coordinate(s, 0, gradient);
        case JointType::cylindrical:
            return coordinate == 0 ? twist_angle(s, gradient) : slide_coordinate(s, 0, gradient);
        case JointType::planar:
            return coordinate < 2 ? slide_coordinate(s, 1 + coordinate, gradient) : twist_angle(s, gradient);
        case JointType::distance:
            return length_coordinate(s, gradient);
        default:
            return twist_angle(s, gradient);
    }
}

// angle / sin(angle) as a function of the cosine c, and its derivative; series where both vanish.
struct BendScale {
    double scale, slope;

    explicit BendScale(double c) {
        if (1.0 - c < 1e-4) {
            const double e = 1.0 - c;
            scale = 1.0 + e / 3.0 + 2.0 * e * e / 15.0;
            slope = -(1.0 / 3.0 + 4.0 * e / 15.0);
        } else {
            const double sine2 = std::max(1.0 - c * c, 1e-12);
            scale = std::acos(c) / std::sqrt(sine2);
            slope = (c * scale - 1.0) / sine2;
        }
    }
};

double cosine_between(const Vec3& u, const Vec3& v) {
    return std::clamp(u.dot(v) / std::sqrt(u.squaredNorm() * v.squaredNorm()), -1.0, 1.0);
}

double bend_of(const Sides& s, int i, Gradient* gradient) {
    const Vec3 u = s.fa.col(0), v = s.fb.col(0), p = s.fa.col(i + 1);
    const BendScale bend(cosine_between(u, v));
    const double sine = p.dot(v);
    if (gradient) {
        (*gradient)[0] = outer_sum(bend.scale * v, s.local_a(i + 1), bend.slope * sine * v, s.local_a(0));
        (*gradient)[1] = outer(bend.scale * p + bend.slope * sine * u, s.local_b(0), 0);
    }
    return bend.scale * sine;
}

}  // namespace

int joint_row_count(const JointSpec& spec) {
    switch (spec.type) {
        case JointType::ball:
            return 3;
        case JointType::hinge:
            return spec.linear ? 6 : 5;
        case JointType::universal:
            return 4;
        case JointType::prismatic:
            return 5;
        case JointType::fixed:
            return 6;
        case JointType::cylindrical:
            return 4;
        case JointType::planar:
            return 3;
        case JointType::distance:
            return spec.drives.empty() ? 1 : 0;
        case JointType::coupling:
            return 0;
    }
    return 0;
}

bool joint_rows_are_linear(const JointSpec& spec) {
    return spec.type == JointType::ball || (spec.type == JointType::hinge && spec.linear);
}

void joint_row_values(const Joint& joint, const Mat34& qa, const Mat34& qb, double* value) {
    if (joint.spec.type == JointType::ball) {  // by far the most common: no frames
        const Vec3 gap = transform(qa, joint.point[0]) - transform(qb, joint.point[1]);
        for (int i = 0; i < 3; ++i) value[i] = gap[i];
        return;
    }
    const Sides sides(joint, qa, qb);
    Writer{sides, value, nullptr}.all();
}

void joint_rows(const Joint& joint, const Mat34& qa, const Mat34& qb, JointRows& rows) {
    const Sides sides(joint, qa, qb);
    Writer writer{sides, rows.value.data(), &rows};
    writer.all();
    rows.count = writer.count;
}

int joint_coordinate_count(JointType type) {
    switch (type) {
        case JointType::ball:
            return 2;
        case JointType::hinge:
            return 1;
        case JointType::universal:
            return 2;
        case JointType::prismatic:
        case JointType::distance:
            return 1;
        case JointType::cylindrical:
            return 2;
        case JointType::planar:
            return 3;
        case JointType::fixed:
        case JointType::coupling:
            return 0;
    }
    return 0;
}

bool coordinate_is_angle(JointType type, int coordinate) {
    switch (type) {
        case JointType::ball:
        case JointType::hinge:
        case JointType::universal:
            return true;
        case JointType::cylindrical:
            return coordinate == 0;
        case JointType::planar:
            return coordinate == 2;
        default:
            return false;
    }
}

JointCoordinate joint_coordinate(const Joint& joint, int coordinate, const Mat34& qa, const Mat34& qb) {
    JointCoordinate out;
    out.value = coordinate_of(Sides(joint, qa, qb), coordinate, &out.gradient);
    return out;
}

double joint_coordinate_value(const Joint& joint, int coordinate, const Mat34& qa, const Mat34& qb) {
    return coordinate_of(Sides(joint, qa, qb), coordinate, nullptr);
}

JointCoordinate bend_component(const Joint& joint, int component, const Mat34& qa, const Mat34& qb) {
    JointCoordinate out;
    out.value = bend_of(Sides(joint, qa, qb), component, &out.gradient);
    return out;
}

double bend_component_value(const Joint& joint, int component, const Mat34& qa, const Mat34& qb) {
    return bend_of(Sides(joint, qa, qb), component, nullptr);
}

double unwrapped(double angle, double reference) {
    constexpr double turn = 2.0 * M_PI;
    return angle + turn * std::round((reference - angle) / turn);
}

const Mat34& world_map() {
    static const Mat34 identity = [] {
        Mat34 q = Mat34::Zero();
        q.leftCols<3>().setIdentity();
        return q;
    }();
    return identity;
}

const Mat34& side_map(const State& state, const Joint& joint, int side) {
    const int body = joint.bodies[side];
    return body < 0 ? world_map() : state.q[body];
}

}  // namespace tenon

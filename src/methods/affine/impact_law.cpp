#include "methods/affine/impact_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/LU>

namespace tenon::affine {
namespace {

constexpr int max_sweeps = 300;            // Gauss-Seidel over the contacts of an impact
constexpr double sweep_tolerance = 1e-12;  // change of velocity, relative to the fastest approach
constexpr int impacts_per_pair = 20;       // what is left after so many does not bounce
constexpr double joint_tolerance = 1e-13;  // of conjugate gradients on the joints' conditions

struct TwistChange {
    int body = -1;
    Vec3 v, w;
};

// What a unit impulse along a direction does to all bodies, the joints' reactions included.
struct Response {
    Vec3 direction;
    std::vector<TwistChange> changes;
    double along = 0.0;  // change of the relative velocity in its own direction, 1/kg
};

struct Pair {
    int begin = 0, end = 0;  // contacts
    bool met = false;
};

class Resolver {
  public:
    explicit Resolver(ImpactProblem& problem) : p_(problem) {}
    int run();

  private:
    void project();
    void find_pairs();
    void prepare_contacts();
    void respond(const ImpactContact& contact, Response& response) const;
    void solve_rows(std::vector<TwistChange>& change, bool velocities) const;
    double closing(const ImpactContact& c) const {
        return -c.normal.dot(p_.bodies[c.a].velocity_at(c.point) - p_.bodies[c.b].velocity_at(c.point));
    }
    double approach(const Pair& pair, int k) const {
        return closing(p_.contacts[k]) + (pair.met ? 0.0 : early_[k]);
    }
    double excess(const Pair& pair) const;
    void collide(Pair& pair);
    void sweep(int begin, int end, const std::vector<double>& target, std::vector<Vec3>& impulse);
    double apply(const Response& response, double impulse);
    double passive_share(const std::vector<ImpactBody>& before) const;

    ImpactProblem& p_;
    std::vector<Pair> pairs_;
    std::vector<std::array<Response, 3>> response_;  // per contact: normal and two tangents
    std::vector<double> early_;  // per contact, m/s: how much faster than at the step's end its surfaces met
};

Vec3 linear(const Vec6& row) {
    return row.head<3>();
}
Vec3 angular(const Vec6& row) {
    return row.tail<3>();
}

// Conjugate gradients on J M^-1 J^T, scaled by its diagonal: redundant conditions do no harm. `change`: one per body, the
// bodies' velocities or what they change by.
void Resolver::solve_rows(std::vector<TwistChange>& change, bool velocities) const {
    const std::size_t count = p_.rows.size();
    const auto add = [&](int body, const Vec6& row, double impulse, std::vector<TwistChange>& to) {
        if (body < 0) return;
        const ImpactBody& b = p_.bodies[body];
        to[body].v += impulse * b.inverse_mass * linear(row);
        to[body].w += impulse * (b.inverse_inertia * angular(row));
    };
    const auto rate = [&](const ImpactRow& row, const std::vector<TwistChange>& of) {
        double sum = 0.0;
        if (row.a >= 0) sum += linear(row.on_a).dot(of[row.a].v) + angular(row.on_a).dot(of[row.a].w);
        if (row.b >= 0) sum += linear(row.on_b).dot(of[row.b].v) + angular(row.on_b).dot(of[row.b].w);
        return sum;
    };
    const auto own = [&](int body, const Vec6& row) {
        if (body < 0) return 0.0;
        const ImpactBody& b = p_.bodies[body];
        return b.inverse_mass * linear(row).squaredNorm() +
               angular(row).dot(b.inverse_inertia * angular(row));
    };
    VecX scale(count), r(count), d, z;
    for (std::size_t k = 0; k < count; ++k) {
        const ImpactRow& row = p_.rows[k];
        const double diagonal = own(row.a, row.on_a) + own(row.b, row.on_b);
        scale[k] = diagonal > 0.0 ? 1.0 / diagonal : 0.0;
        r[k] = -rate(row, change) - (velocities ? row.given : 0.0);
    }
    z = scale.cwiseProduct(r);
    d = z;
    double rz = r.dot(z);
    const double enough = joint_tolerance * joint_tolerance * rz;
    std::vector<TwistChange> moved(change.size());
    for (std::size_t k = 0; k < 4 * count + 50 && rz > enough && rz > 1e-300; ++k) {
        for (TwistChange& each : moved) each.v = each.w = Vec3::Zero();
        for (std::size_t i = 0; i < count; ++i) {
            add(p_.rows[i].a, p_.rows[i].on_a, d[i], moved);
            add(p_.rows[i].b, p_.rows[i].on_b, d[i], moved);
        }
        VecX Ad(count);
        for (std::size_t i = 0; i < count; ++i) Ad[i] = rate(p_.rows[i], moved);
        const double curvature = d.dot(Ad);
        if (!(curvature > 0.0)) break;
        const double step = rz / curvature;
        for (std::size_t i = 0; i < change.size(); ++i) {
            change[i].v += step * moved[i].v;
            change[i].w += step * moved[i].w;
        }
        r -= step * Ad;
        z = scale.cwiseProduct(r);
        const double next = r.dot(z);
        d = z + next / rz * d;
        rz = next;
    }
}

// Velocities that the joints can have.
void Resolver::project() {
    if (p_.rows.empty()) return;
    std::vector<TwistChange> twist(p_.bodies.size());
    for (std::size_t i = 0; i < twist.size(); ++i)
        twist[i] = {static_cast<int>(i), p_.bodies[i].v, p_.bodies[i].w};
    solve_rows(twist, true);
    for (std::size_t i = 0; i < twist.size(); ++i) {
        if (p_.bodies[i].inverse_mass == 0.0) continue;
        p_.bodies[i].v = twist[i].v;
        p_.bodies[i].w = twist[i].w;
    }
}

void Resolver::find_pairs() {
    const int count = static_cast<int>(p_.contacts.size());
    for (int begin = 0, end = 0; begin < count; begin = end) {
        const ImpactContact& c = p_.contacts[begin];
        for (end = begin; end < count && p_.contacts[end].a == c.a && p_.contacts[end].b == c.b;) ++end;
        pairs_.push_back({begin, end, false});
    }
}

void Resolver::respond(const ImpactContact& contact, Response& response) const {
    std::vector<TwistChange>& changes = response.changes;
    for (const int side : {0, 1}) {
        const int body = side == 0 ? contact.a : contact.b;
        const ImpactBody& b = p_.bodies[body];
        const Vec3 impulse = side == 0 ? response.direction : Vec3(-response.direction);
        const Vec3 arm = contact.point - b.place;
        changes.push_back({body, b.inverse_mass * impulse, b.inverse_inertia * arm.cross(impulse)});
    }
    if (!p_.rows.empty()) {
        std::vector<TwistChange> all(p_.bodies.size());
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = {static_cast<int>(i), Vec3::Zero(), Vec3::Zero()};
        for (const TwistChange& each : changes) all[each.body] = each;
        solve_rows(all, false);
        changes.clear();
        for (const TwistChange& each : all)
            if (p_.bodies[each.body].inverse_mass > 0.0 && !(each.v.isZero(0.0) && each.w.isZero(0.0)))
                changes.push_back(each);
    }
    for (const TwistChange& each : changes) {
        const double sign = each.body == contact.a ? 1.0 : each.body == contact.b ? -1.0 : 0.0;
        const Vec3 arm = contact.point - p_.bodies[each.body].place;
        response.along += sign * response.direction.dot(each.v + each.w.cross(arm));
    }
}

// The speed at which surfaces met follows from that at the start of the step, the acceleration and how far they had to go.
void Resolver::prepare_contacts() {
    response_.resize(p_.contacts.size());
    early_.assign(p_.contacts.size(), 0.0);
    for (std::size_t k = 0; k < p_.contacts.size(); ++k) {
        const ImpactContact& c = p_.contacts[k];
        const double end = closing(c), slower = std::min(c.before, end), faster = std::max(c.before, end);
        const double square = c.before * c.before + 2.0 * (end - c.before) / p_.h * c.closed;
        if (c.before > 0.0) early_[k] = std::clamp(std::sqrt(std::max(square, 0.0)), slower, faster) - end;
        const Vec3 t1 = c.normal.unitOrthogonal();
        response_[k][0].direction = c.normal;
        response_[k][1].direction = t1;
        response_[k][2].direction = c.normal.cross(t1);
        for (int i = 0; i < (c.mu > 0.0 ? 3 : 1); ++i) respond(c, response_[k][i]);
    }
}

// By how much a pair's fastest contact is above the threshold; negative: it does not bounce.
double Resolver::excess(const Pair& pair) const {
    double most = -1.0;
    for (int k = pair.begin; k < pair.end; ++k)
        if (const ImpactContact& c = p_.contacts[k]; p_.plastic || c.restitution > 0.0)
            most = std::max(most, approach(pair, k) - p_.threshold);
    return most;
}

double Resolver::apply(const Response& response, double impulse) {
    for (const TwistChange& each : response.changes) {
        p_.bodies[each.body].v += impulse * each.v;
        p_.bodies[each.body].w += impulse * each.w;
    }
    return std::abs(impulse) * response.along;
}

// `impulse`: components along the contacts' directions; the normal one may only grow.
void Resolver::sweep(int begin, int end, const std::vector<double>& target, std::vector<Vec3>& impulse) {
    double fastest = 0.0;
    for (int k = begin; k < end; ++k) fastest = std::max(fastest, std::abs(closing(p_.contacts[k])));
    const std::vector<Vec3> first = impulse;
    for (int n = 0; n < max_sweeps; ++n) {
        double change = 0.0;
        for (int k = begin; k < end; ++k) {
            const ImpactContact& c = p_.contacts[k];
            const auto& r = response_[k];
            Vec3& now = impulse[k - begin];
            if (!(r[0].along > 0.0)) continue;
            const double normal =
                std::max(first[k - begin][0], now[0] + (target[k - begin] + closing(c)) / r[0].along);
            change = std::max(change, apply(r[0], normal - now[0]));
            now[0] = normal;
            if (!(c.mu > 0.0)) continue;
            const Vec3 slide = p_.bodies[c.a].velocity_at(c.point) - p_.bodies[c.b].velocity_at(c.point);
            const double stiff = std::max(r[1].along, r[2].along);
            Vec3 next = now;
            for (int i : {1, 2}) next[i] -= stiff > 0.0 ? r[i].direction.dot(slide) / stiff : 0.0;
            const double limit = c.mu * normal, length = next.tail<2>().norm();
            if (length > limit) next.tail<2>() *= limit / length;
            for (int i : {1, 2}) change = std::max(change, apply(r[i], next[i] - now[i]));
            now = next;
        }
        if (change <= sweep_tolerance * fastest) break;
    }
}

// Newton's law with friction may add energy where an impact is oblique: the share of the change that does not. Bodies that are
// driven may do work.
double Resolver::passive_share(const std::vector<ImpactBody>& before) const {
    double linear_part = 0.0, quadratic = 0.0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const ImpactBody &b = before[i], &now = p_.bodies[i];
        if (b.inverse_mass == 0.0) {
            if (!b.v.isZero(0.0) || !b.w.isZero(0.0)) return 1.0;
            continue;
        }
        const Vec3 dv = now.v - b.v, dw = now.w - b.w;
        if (dv.isZero(0.0) && dw.isZero(0.0)) continue;
        const Mat3 inertia = b.inverse_inertia.inverse();
        linear_part += dv.dot(b.v) / b.inverse_mass + dw.dot(inertia * b.w);
        quadratic += 0.5 * (dv.squaredNorm() / b.inverse_mass + dw.dot(inertia * dw));
    }
    if (linear_part + quadratic <= 0.0 || !(quadratic > 0.0)) return 1.0;
    return std::clamp(-linear_part / quadratic, 0.0, 1.0);
}

void Resolver::collide(Pair& pair) {
    std::vector<double> target;
    std::vector<Vec3> impulse(pair.end - pair.begin, Vec3::Zero());
    for (int k = pair.begin; k < pair.end; ++k) {
        const ImpactContact& c = p_.contacts[k];
        const double speed = approach(pair, k);
        target.push_back(speed > p_.threshold ? c.restitution * speed : 0.0);
    }
    const std::vector<ImpactBody> before = p_.bodies;
    sweep(pair.begin, pair.end, target, impulse);
    const double share = passive_share(before);
    for (std::size_t i = 0; share < 1.0 && i < before.size(); ++i) {
        p_.bodies[i].v = before[i].v + share * (p_.bodies[i].v - before[i].v);
        p_.bodies[i].w = before[i].w + share * (p_.bodies[i].w - before[i].w);
    }
    for (int k = pair.begin; k < pair.end; ++k) {
        ImpactContact& c = p_.contacts[k];
        c.bounced = true;
        for (int i = 0; i < 3; ++i)
            c.impulse += share * impulse[k - pair.begin][i] * response_[k][i].direction;
    }
    pair.met = true;
}

int Resolver::run() {
    const std::vector<ImpactBody> start = p_.bodies;
    project();
    find_pairs();
    prepare_contacts();
    int impacts = 0;
    for (const int most = impacts_per_pair * static_cast<int>(pairs_.size()); impacts < most; ++impacts) {
        Pair* fastest = nullptr;
        double largest = 0.0;
        for (Pair& pair : pairs_)
            if (const double speed = excess(pair); speed > largest) largest = speed, fastest = &pair;
        if (!fastest) break;
        collide(*fastest);
    }
    if (impacts == 0) {
        p_.bodies = start;
        return 0;
    }
    std::vector<Vec3> impulse;
    for (std::size_t k = 0; k < p_.contacts.size(); ++k) {
        Vec3& parts = impulse.emplace_back();
        for (int i = 0; i < 3; ++i) parts[i] = response_[k][i].direction.dot(p_.contacts[k].impulse);
    }
    sweep(0, static_cast<int>(p_.contacts.size()), std::vector<double>(p_.contacts.size(), 0.0), impulse);
    for (std::size_t k = 0; k < p_.contacts.size(); ++k) {
        p_.contacts[k].impulse.setZero();
        for (int i = 0; i < 3; ++i) p_.contacts[k].impulse += impulse[k][i] * response_[k][i].direction;
    }
    return impacts;
}

}  // namespace

int resolve_impacts(ImpactProblem& problem) {
    return Resolver(problem).run();
}

ImpactBody impact_body(const Mat34& start, const Mat34& rate, const Inertia& inertia, const Mat34& end,
                       const Vec3& force, const Vec3& torque, double h) {
    const Mat3 A = end.leftCols<3>();
    const Mat3 second = A * inertia.moments.asDiagonal() * A.transpose();
    const Mat3 tensor = second.trace() * Mat3::Identity() - second;
    ImpactBody body;
    body.place = end.col(3);
    body.inverse_mass = 1.0 / inertia.mass;
    body.inverse_inertia = tensor.inverse();
    body.v = rate.col(3) + h / inertia.mass * force;
    body.w = angular_velocity(start, rate, inertia) + h * (body.inverse_inertia * torque);
    return body;
}

Vec6 twist_row(const Mat34& gradient, const Mat34& q) {
    Vec6 row;
    row.head<3>() = gradient.col(3);
    row.tail<3>().setZero();
    for (int k = 0; k < 3; ++k) row.tail<3>() += q.col(k).cross(gradient.col(k));
    return row;
}

Mat34 rate_of(const ImpactBody& body, const Mat34& q) {
    Mat34 rate;
    rate.leftCols<3>() = skew(body.w) * q.leftCols<3>();
    rate.col(3) = body.v;
    return rate;
}

void restart_history(const Mat34& q, const Mat34& rate, const Inertia& inertia, const Mat34& acceleration,
                     double h, BodyHistory& history) {
    history.acceleration = rigid_acceleration(q, rate, acceleration, inertia);
    history.older_q = extrapolate_rigidly(q, rate, inertia, -h);
    history.older_q.col(3) += 0.5 * h * h * acceleration.col(3);
    history.older_rate.leftCols<3>() =
        skew(angular_velocity(q, rate, inertia)) * history.older_q.leftCols<3>();
    history.older_rate.col(3) = rate.col(3) - h * acceleration.col(3);
}

}  // namespace tenon::affine

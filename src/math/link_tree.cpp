// Forward kinematics, Jacobians, mass matrix and Newton-Euler inverse dynamics of trees.
#include "tenon/link_tree.hpp"

#include <cmath>
#include <stdexcept>

#include <Eigen/Cholesky>

#include "math/rotation.hpp"

namespace tenon::kinematics {
namespace {

std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

Quat quaternion(const VecX& q, int first) {
    return Quat(q[first], q[first + 1], q[first + 2], q[first + 3]).normalized();
}

struct Sizes {
    int positions, freedoms;
};

Sizes sizes(Link::Motion motion) {
    switch (motion) {
        case Link::Motion::fixed:
            return {0, 0};
        case Link::Motion::ball:
            return {4, 3};
        case Link::Motion::free:
            return {7, 6};
        default:
            return {1, 1};
    }
}

}  // namespace

int position_count(Link::Motion motion) {
    return sizes(motion).positions;
}

int freedom_count(Link::Motion motion) {
    return sizes(motion).freedoms;
}

int Tree::add(Link link) {
    if (link.parent >= static_cast<int>(links.size()))
        throw std::invalid_argument("a link's parent comes before it");
    link.q = positions;
    link.v = freedoms;
    positions += position_count(link.motion);
    freedoms += freedom_count(link.motion);
    links.push_back(std::move(link));
    return static_cast<int>(links.size()) - 1;
}

VecX Tree::zero() const {
    VecX q = VecX::Zero(positions);
    for (const Link& link : links) {
        if (link.motion == Link::Motion::ball) q[link.q] = 1;
        if (link.motion == Link::Motion::free) {
            q.segment<3>(link.q) = link.anchor;
            q[link.q + 3] = 1;
        }
    }
    return q;
}

Frames forward(const Tree& tree, const VecX& q) {
    Frames frames;
    frames.rotation.resize(tree.links.size());
    frames.origin.resize(tree.links.size());
    frames.angular.assign(at(tree.freedoms), Vec3::Zero());
    frames.linear.assign(at(tree.freedoms), Vec3::Zero());
    for (std::size_t i = 0; i < tree.links.size(); ++i) {
        const Link& link = tree.links[i];
        const Mat3 R = link.parent < 0 ? Mat3(Mat3::Identity()) : frames.rotation[at(link.parent)];
        const Vec3 p = link.parent < 0 ? Vec3(Vec3::Zero()) : frames.origin[at(link.parent)];
        frames.rotation[i] = R;
        frames.origin[i] = p + R * link.anchor;
        switch (link.motion) {
            case Link::Motion::fixed:
                break;
            case Link::Motion::hinge:
                frames.rotation[i] = R * Eigen::AngleAxisd(q[link.q], link.axis).toRotationMatrix();
                frames.angular[at(link.v)] = R * link.axis;
                break;
            case Link::Motion::slide:
                frames.origin[i] += R * (q[link.q] * link.axis);
                frames.linear[at(link.v)] = R * link.axis;
                break;
            case Link::Motion::ball:  // speeds along the child's axes
                frames.rotation[i] = R * quaternion(q, link.q).toRotationMatrix();
                for (int k = 0; k < 3; ++k) frames.angular[at(link.v + k)] = frames.rotation[i].col(k);
                break;
            case Link::Motion::free:  // linear speed along the world's axes, angular along the body's
                frames.rotation[i] = quaternion(q, link.q + 3).toRotationMatrix();
                frames.origin[i] = q.segment<3>(link.q);
                for (int k = 0; k < 3; ++k) {
                    frames.linear[at(link.v + k)] = Vec3::Unit(k);
                    frames.angular[at(link.v + 3 + k)] = frames.rotation[i].col(k);
                }
                break;
        }
    }
    return frames;
}

MatX jacobian(const Tree& tree, const Frames& frames, int link, const Vec3& local_point) {
    MatX J = MatX::Zero(6, tree.freedoms);
    const Vec3 x = point_of(frames, link, local_point);
    for (int i = link; i >= 0; i = tree.links[at(i)].parent) {
        const Link& here = tree.links[at(i)];
        for (int k = here.v; k < here.v + freedom_count(here.motion); ++k) {
            const Vec3& w = frames.angular[at(k)];
            J.col(k).head<3>() = frames.linear[at(k)] + w.cross(x - frames.origin[at(i)]);
            J.col(k).tail<3>() = w;
        }
    }
    return J;
}

// H_jk = work of freedom j against the momentum that unit speed of freedom k gives the links beyond it.
MatX mass_matrix(const Tree& tree, const Frames& frames) {
    struct Composite {
        double mass = 0;
        Vec3 center = Vec3::Zero();
        Mat3 inertia = Mat3::Zero();  // about the centre
    };
    const std::size_t n = tree.links.size();
    // composite mass, centre and inertia about that centre, gathered from the leaves
    std::vector<Composite> sum(n);
    const auto merge = [](Composite& into, const Composite& part) {
        const double total = into.mass + part.mass;
        if (!(total > 0)) return;
        const Vec3 d = part.center - into.center;
        const double reduced = into.mass * part.mass / total;
        into.inertia += part.inertia + reduced * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
        into.center += (part.mass / total) * d;
        into.mass = total;
    };
    for (std::size_t i = 0; i < n; ++i) {
        const Link& link = tree.links[i];
        const Mat3& R = frames.rotation[i];
        sum[i] = {link.mass, frames.origin[i] + R * link.center, R * link.inertia * R.transpose()};
    }
    for (std::size_t i = n; i-- > 0;)
        if (tree.links[i].parent >= 0) merge(sum[at(tree.links[i].parent)], sum[i]);

    MatX H = MatX::Zero(tree.freedoms, tree.freedoms);
    for (std::size_t i = 0; i < n; ++i) {
        const Link& link = tree.links[i];
        for (int k = link.v; k < link.v + freedom_count(link.motion); ++k) {
            const Vec3& w = frames.angular[at(k)];
            const Vec3 momentum =
                sum[i].mass * (frames.linear[at(k)] + w.cross(sum[i].center - frames.origin[i]));
            const Vec3 spin = sum[i].inertia * w;  // about the composite's centre
            for (int j = static_cast<int>(i); j >= 0; j = tree.links[at(j)].parent) {
                const Link& above = tree.links[at(j)];
                const Vec3 about = spin + (sum[i].center - frames.origin[at(j)]).cross(momentum);
                for (int m = above.v; m < above.v + freedom_count(above.motion); ++m)
                    H(m, k) = H(k, m) = frames.linear[at(m)].dot(momentum) + frames.angular[at(m)].dot(about);
            }
        }
        for (int k = link.v; k < link.v + freedom_count(link.motion); ++k) H(k, k) += link.armature;
    }
    return H;
}

VecX inverse_dynamics(const Tree& tree, const Frames& frames, const VecX& v, const VecX& a) {
    const std::size_t n = tree.links.size();
    std::vector<Vec3> spin(n), spin_rate(n), velocity(n), acceleration(n);  // of the link's origin
    std::vector<Vec3> force(n), moment(n);                                  // on the link, about its origin
    for (std::size_t i = 0; i < n; ++i) {
        const Link& link = tree.links[i];
        const bool root = link.parent < 0;
        const Vec3 zero = Vec3::Zero();
        const Vec3 w = root ? zero : spin[at(link.parent)], dw = root ? zero : spin_rate[at(link.parent)];
        const Vec3 r = frames.origin[i] - (root ? zero : frames.origin[at(link.parent)]);
        Vec3 turn = zero, turn_rate = zero, slide = zero, slide_rate = zero;
        for (int k = link.v; k < link.v + freedom_count(link.motion); ++k) {
            turn += v[k] * frames.angular[at(k)];
            turn_rate += a[k] * frames.angular[at(k)];
            slide += v[k] * frames.linear[at(k)];
            slide_rate += a[k] * frames.linear[at(k)];
        }
        if (link.motion == Link::Motion::free) {  // its speeds are absolute
            spin[i] = turn;
            spin_rate[i] = turn_rate;
            velocity[i] = slide;
            acceleration[i] = slide_rate;
        } else {
            spin[i] = w + turn;
            // axes of a joint turn with the parent; a ball's turn with the child, which adds nothing: turn x turn = 0
            spin_rate[i] = dw + turn_rate + w.cross(turn);
            velocity[i] = (root ? zero : velocity[at(link.parent)]) + w.cross(r) + slide;
            acceleration[i] = (root ? zero : acceleration[at(link.parent)]) + dw.cross(r) +
                              w.cross(w.cross(r)) + slide_rate + 2 * w.cross(slide);
        }
        const Mat3& R = frames.rotation[i];
        const Vec3 c = R * link.center;
        const Vec3 center_acceleration =
            acceleration[i] + spin_rate[i].cross(c) + spin[i].cross(spin[i].cross(c));
        const Mat3 inertia = R * link.inertia * R.transpose();
        force[i] = link.mass * (center_acceleration - tree.gravity);
        moment[i] = inertia * spin_rate[i] + spin[i].cross(inertia * spin[i]) + c.cross(force[i]);
    }
    VecX tau = VecX::Zero(tree.freedoms);
    for (std::size_t i = n; i-- > 0;) {
        const Link& link = tree.links[i];
        for (int k = link.v; k < link.v + freedom_count(link.motion); ++k)
            tau[k] = frames.angular[at(k)].dot(moment[i]) + frames.linear[at(k)].dot(force[i]) +
                     link.armature * a[k];
        if (link.parent < 0) continue;
        const std::size_t up = at(link.parent);
        force[up] += force[i];
        moment[up] += moment[i] + (frames.origin[i] - frames.origin[up]).cross(force[i]);
    }
    return tau;
}

VecX gravity_torques(const Tree& tree, const Frames& frames) {
    const VecX zero = VecX::Zero(tree.freedoms);
    return inverse_dynamics(tree, frames, zero, zero);
}

VecX coriolis_torques(const Tree& tree, const Frames& frames, const VecX& v) {
    const VecX zero = VecX::Zero(tree.freedoms);
    return inverse_dynamics(tree, frames, v, zero) - inverse_dynamics(tree, frames, zero, zero);
}

VecX forward_dynamics(const Tree& tree, const Frames& frames, const VecX& v, const VecX& tau) {
    const VecX rest = tau - inverse_dynamics(tree, frames, v, VecX::Zero(tree.freedoms));
    return mass_matrix(tree, frames).ldlt().solve(rest);
}

VecX integrate(const Tree& tree, const VecX& q, const VecX& v, double time) {
    VecX out = q;
    for (const Link& link : tree.links) {
        switch (link.motion) {
            case Link::Motion::fixed:
                break;
            case Link::Motion::hinge:
            case Link::Motion::slide:
                out[link.q] += time * v[link.v];
                break;
            case Link::Motion::ball:
            case Link::Motion::free: {
                const bool free = link.motion == Link::Motion::free;
                if (free) out.segment<3>(link.q) += time * v.segment<3>(link.v);
                const int first = free ? link.q + 3 : link.q;
                const Quat turned =
                    (quaternion(q, first) * exponential_map(time * v.segment<3>(free ? link.v + 3 : link.v)))
                        .normalized();
                out[first] = turned.w();
                out.segment<3>(first + 1) = turned.vec();
                break;
            }
        }
    }
    return out;
}

VecX difference(const Tree& tree, const VecX& from, const VecX& to) {
    VecX v = VecX::Zero(tree.freedoms);
    for (const Link& link : tree.links) {
        switch (link.motion) {
            case Link::Motion::fixed:
                break;
            case Link::Motion::hinge:
            case Link::Motion::slide:
                v[link.v] = to[link.q] - from[link.q];
                break;
            case Link::Motion::ball:
            case Link::Motion::free: {
                const bool free = link.motion == Link::Motion::free;
                if (free) v.segment<3>(link.v) = to.segment<3>(link.q) - from.segment<3>(link.q);
                const int first = free ? link.q + 3 : link.q;
                v.segment<3>(free ? link.v + 3 : link.v) =
                    logarithm_map(quaternion(from, first).conjugate() * quaternion(to, first));
                break;
            }
        }
    }
    return v;
}

}  // namespace tenon::kinematics

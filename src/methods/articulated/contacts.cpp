#include "methods/articulated/contacts.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/collide/collide.hpp"
#include "math/binary_io.hpp"

namespace tenon::articulated {
namespace {

constexpr double huge = 1e9;
constexpr double most_carried =
    1e4;                            // times a body's own mass: what may weigh on its contacts through joints
constexpr double most_borne = 1e7;  // times what a body's contacts carry otherwise
constexpr double too_far_beyond = 40.0;  // times what two bodies measure across: a way in a step
constexpr double least_slope = 0.3;      // of a normal, upwards, where one body lies on another
constexpr double bounce_stiffness =
    1e5;  // of a bouncing contact, times mass / h^2: its share of the speed is right to 1e-5

// The same for the same features of the same pair in every step. Mixed (splitmix64), because the three do not fit side by side
// into 64 bits.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// The speed along the normal at the end of a step in which a body bounces. It turns round where the step begins, `distance`
// from the surface: with the energy that it has after an impact at the surface, where its speed is
// sqrt(approach^2 + 2 pull distance), and the height that the step takes it to.
double rebound_speed(double bounce, double approach, double distance, double pull, double h) {
    const double height = pull * distance;
    const double square = bounce * bounce * (approach * approach + 2.0 * height) + pull * h * pull * h;
    return std::sqrt(std::max(0.0, square - 2.0 * height)) - pull * h;
}

// What is round where a solid of revolution touches at x (body frame): the ball at the end of a capsule, the circle about the
// axis of a cylinder or a cone.
ContactPoint::Round round_at(const Primitive& solid, const Mat34& placed, const Vec3& x) {
    using Kind = Primitive::Kind;
    ContactPoint::Round round;
    if (solid.kind != Kind::sphere && solid.kind != Kind::capsule && solid.kind != Kind::cylinder &&
        solid.kind != Kind::cone)
        return round;
    const Vec3 axis = solid.frame.rotation * Vec3::UnitY();
    const double along = axis.dot(x - solid.frame.position), half = 0.5 * solid.size.y();
    round.center = solid.frame.position;
    if (solid.kind == Kind::capsule) round.center += std::clamp(along, -half, half) * axis;
    if (solid.kind == Kind::cylinder || solid.kind == Kind::cone) {
        round.center += along * axis;
        round.axis = axis;
    }
    round.radius = placed.leftCols<3>() * (x - round.center);
    round.is = round.radius.norm() > 1e-6 * solid.size.x();  // not the middle of an end
    return round;
}

// Where a point is; of something round, the point that touches.
Vec3 place(const Mat34& q, const Vec3& x, const ContactPoint::Round& round) {
    return round.is ? Vec3(transform(q, round.center) + round.radius) : transform(q, x);
}

// The branch of friction on which a slide is: below `least` the points stick.
void choose_slide(ContactPoint& contact, const Vec3& slide, double least) {
    const double length = slide.norm();
    contact.slide_stiffness = contact.friction_limit / std::max(length, least);
    contact.slides = length > least ? Vec3(slide / length) : Vec3(Vec3::Zero());
}

}  // namespace

Box3 collider_box(const geometry::collide::Collider& collider, const Mat34& x, double margin) {
    Box3 box;
    if (collider.kind == geometry::collide::Collider::Kind::plane) {
        box.lo.setConstant(-huge);
        box.hi.setConstant(huge);
        return box;
    }
    const Vec3 center = transform(x, collider.box.center());
    const Vec3 half = x.leftCols<3>().cwiseAbs() * (0.5 * collider.box.size());
    box.lo = center - half;
    box.hi = center + half;
    box.inflate(margin);
    return box;
}

double step_reach(const State& state, const BodyField& field, int body, double radius, double h) {
    if (!field.moving[body]) return 0.0;
    const Mat34& v = state.rate[body];
    return h * (v.col(3).norm() + radius * v.leftCols<3>().norm() * 0.71) +
           0.5 * h * h * state.gravity.norm();
}

Mat3 contact_directions(const ContactPoint& contact) {
    Mat3 directions;
    directions.col(0) = contact.normal;
    directions.col(1) = contact.slides.isZero(0.0) ? contact.normal.unitOrthogonal() : contact.slides;
    directions.col(2) = contact.normal.cross(Vec3(directions.col(1)));
    return directions;
}

Vec3 contact_stiffness(const ContactPoint& contact) {
    return {contact.active ? contact.stiffness : 0.0,
            contact.slides.isZero(0.0) ? contact.slide_stiffness : 0.0, contact.slide_stiffness};
}

std::uint64_t contact_key(int a, int b, std::uint64_t feature) {
    const auto pair = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32) |
                      static_cast<std::uint64_t>(static_cast<std::uint32_t>(b));
    return mixed(mixed(pair) ^ feature);
}

ContactSet::ContactSet(const Model& model, const State& state, const ContactOptions& options)
    : options_(options) {
    std::vector<char> used(model.shapes.size(), 0);
    bool same_group = true;
    for (int i = 0; i < model.bodies.size(); ++i) {
        if (!model.bodies.collides[i]) continue;
        const bool moving = state.dynamic(i);
        (moving ? moving_ : fixed_).push_back(i);
        if (moving) {
            const std::string& group = model.bodies.group[i];
            same_group = same_group && !group.empty() && group == model.bodies.group[moving_.front()];
        }
    }
    links_collide_ = !same_group && moving_.size() > 1;
    enabled_ = !moving_.empty() && (!fixed_.empty() || links_collide_);
    if (!enabled_) {
        moving_.clear();
        return;
    }
    bool field_needed = false;
    for (const auto& list : {fixed_, moving_})
        for (int i : list) {
            used[model.bodies.shape[i]] = 1;
            field_needed = field_needed || geometry::collide::needs_field(model.shape_of(i));
        }
    colliders_.resize(model.shapes.size());
    for (std::size_t s = 0; s < model.shapes.size(); ++s)
        if (used[s])
            colliders_[s] = geometry::collide::make_collider(*model.shapes[s], field_needed, {},
                                                             {"", model.shapes[s]->name});
    probes_.resize(model.shapes.size());
    for (int i : moving_)
        if (auto& probes = probes_[model.bodies.shape[i]]; probes.empty())
            probes = make_probes(model.shape_of(i));
    first_of_body_.assign(model.bodies.size(), -1);
    carried_ = model.bodies.mass;
    if (!links_collide_) return;
    boxes_.resize(model.bodies.size());
    moves_.assign(model.bodies.size(), 0);
    for (int i : moving_) moves_[i] = 1;
}

void ContactSet::carry(const std::vector<int>& bodies, const BodyField& field) {
    if (!enabled_) return;
    double all = 0.0;
    for (int body : bodies) all += field.kinds[field.kind[body]].mass;
    for (int body : bodies) {
        const BodyKind& kind = field.kinds[field.kind[body]];
        carried_[body] = kind.rigid ? std::min(all, most_carried * kind.mass) : kind.mass;
    }
}

void ContactSet::collider_pairs(const Model& model, const State& state, const BodyField& field, double h) {
    pairs_.clear();
    const auto collider = [&](int i) -> const auto& {
        return colliders_[model.bodies.shape[i]];
    };
    if (!links_collide_) {  // colliders against links
        double most = 0.0;
        for (int i : moving_) most = std::max(most, 1.2 * step_reach(state, field, i, collider(i).radius, h));
        fixed_boxes_.clear();
        for (int f : fixed_) fixed_boxes_.push_back(collider_box(collider(f), field.x[f], 0.0));
        near_.begin(fixed_boxes_, moving_.size(), most);
        for (std::size_t k = 0; k < moving_.size(); ++k) {
            if (near_.sleeps(k)) continue;
            const int i = moving_[k];
            const double radius = collider(i).radius;
            near_.find(k, collider_box(collider(i), field.x[i], 1.2 * step_reach(state, field, i, radius, h)),
                       radius, hits_);
            for (int hit : hits_) pairs_.push_back({fixed_[hit], i});
        }
        return;
    }
    for (Box3& box : boxes_) {  // bodies that do not collide overlap nothing
        box.lo.setConstant(2 * huge);
        box.hi.setConstant(2 * huge);
    }
    for (int f : fixed_) boxes_[f] = collider_box(collider(f), field.x[f], 0.0);
    for (int i : moving_)
        boxes_[i] =
            collider_box(collider(i), field.x[i], 1.2 * step_reach(state, field, i, collider(i).radius, h));
    broad_.find_pairs(boxes_, pairs_, moves_);
}

void ContactSet::moved(const Model& model, const std::vector<Mat34>& from, const std::vector<Mat34>& to) {
    if (!enabled_ || links_collide_) return;
    double most = 0.0;
    for (int i : moving_) {
        const Mat34 way = to[i] - from[i];
        const Box3& box = colliders_[model.bodies.shape[i]].box;
        const double corner = box.lo.cwiseAbs().cwiseMax(box.hi.cwiseAbs()).norm();
        most = std::max(most, way.col(3).norm() + corner * way.leftCols<3>().norm());
    }
    near_.travel(most);
}

void ContactSet::find(const Model& model, const State& state, const BodyField& field, double h,
                      std::vector<int>& impacts) {
    points_.clear();
    impacts.clear();
    start_ = &state.q;
    if (!enabled_) return;
    for (int i : moving_) first_of_body_[i] = -1;
    slide_ = options_.slide_speed * h;
    collider_pairs(model, state, field, h);
    // the order in which a tree finds them depends on its history
    std::sort(pairs_.begin(), pairs_.end(),
              [](const auto& p, const auto& q) { return std::pair(p.a, p.b) < std::pair(q.a, q.b); });
    for (const auto& pair : pairs_)
        if (model.may_collide(pair.a, pair.b)) add_pair(model, state, field, pair.a, pair.b, h, impacts);
    if (links_collide_) bear_what_is_above(model, state, field);
    next_of_body_.assign(points_.size(), -1);
    for (int k = static_cast<int>(points_.size()) - 1; k >= 0; --k) {
        if (points_[k].both_move) continue;
        next_of_body_[k] = first_of_body_[points_[k].b];
        first_of_body_[points_[k].b] = k;
    }
    std::sort(impacts.begin(), impacts.end());
    impacts.erase(std::unique(impacts.begin(), impacts.end()), impacts.end());
}

void ContactSet::add_pair(const Model& model, const State& state, const BodyField& field, int first,
                          int second, double h, std::vector<int>& impacts) {
    const int a = field.moving[second] ? first : second, b = field.moving[second] ? second : first;
    const auto &ca = colliders_[model.bodies.shape[a]], &cb = colliders_[model.bodies.shape[b]];
    const double margin =
        1.2 * (step_reach(state, field, a, ca.radius, h) + step_reach(state, field, b, cb.radius, h));
    // Bodies as they will be turned at the step's end: what rolls touches there with another point than now.
    const auto pose = [&](int i) -> Mat34 {
        Mat34 placed = field.x[i];
        if (field.moving[i]) placed.leftCols<3>() = safe_polar(field.target[i].leftCols<3>()).rotation;
        return placed;
    };
    const Mat34 pose_a = pose(a), pose_b = pose(b);
    found_.clear();
    const double near = std::max(margin, 1e-4 * cb.radius);
    const Primitive& primitive = model.shape_of(a).primitive;
    // What is smaller than the body would find its way between the body's probes.
    const bool probed = !field.moving[a] && !(ca.radius > 0.0 && ca.radius < cb.radius);
    if (probed && has_closed_form(primitive.kind))
        probe_contacts(&primitive, nullptr, pose_a, model.shape_of(b), probes_[model.bodies.shape[b]], pose_b,
                       near, 6, found_);
    else if (probed && ca.field)
        probe_contacts(nullptr, ca.field.get(), pose_a, model.shape_of(b), probes_[model.bodies.shape[b]],
                       pose_b, near, 6, found_);
    else
        geometry::collide::find_contacts(ca, pose_a.leftCols<3>(), pose_a.col(3), cb, pose_b.leftCols<3>(),
                                         pose_b.col(3), near, found_);
    // Deeper than the smaller body is no contact that a push along one normal could mend; a collider with a closed form
    // knows the way out at any depth.
    if (field.moving[a] || !has_closed_form(primitive.kind)) {
        const double deepest = -std::min(ca.radius > 0 ? ca.radius : huge, cb.radius);
        std::erase_if(found_, [&](const auto& contact) { return contact.distance < deepest; });
    }
    const auto stiffness = [&](int i) {
        const double young = model.materials[model.bodies.material[i]].young;
        const double material = 1e-3 * young * std::cbrt(model.bodies.volume[i]);
        const double eta = field.eta(i);
        return options_.stiffness * std::max(material, 10.0 * carried_[i] / (eta * eta));
    };
    for (const auto& contact : found_) {
        ContactPoint p;
        p.a = a;
        p.b = b;
        p.both_move = field.moving[a] != 0;
        p.normal = contact.normal;
        p.friction = model.pair_friction(a, b);
        p.stiffness = p.both_move ? std::min(stiffness(a), stiffness(b)) : stiffness(b);
        const Vec3 on_a = contact.point - 0.5 * contact.distance * contact.normal;
        const Vec3 on_b = contact.point + 0.5 * contact.distance * contact.normal;
        const auto local = [](const Mat34& placed, const Vec3& point) -> Vec3 {
            return placed.leftCols<3>().transpose() * (point - placed.col(3));
        };
        p.xa = local(pose_a, on_a);
        p.xb = local(pose_b, on_b);
        p.start = transform(state.q[b], p.xb) - transform(state.q[a], p.xa);
        const auto round = [&](int i, const Mat34& placed, const Vec3& x) -> ContactPoint::Round {
            if (!field.moving[i] || !field.kinds[field.kind[i]].rigid) return {};
            return round_at(model.shape_of(i).primitive, placed, x);
        };
        p.round_a = round(a, pose_a, p.xa);
        p.round_b = round(b, pose_b, p.xb);
        p.key = contact_key(a, b, contact.id);
        const Vec3 velocity = transform(state.rate[b], p.xb) - transform(state.rate[a], p.xa);
        const double approach = -velocity.dot(p.normal);
        // What the points that will touch overlap by now: bodies are placed as they will be turned, and have not moved on yet.
        const double gap =
            p.normal.dot(place(state.q[b], p.xb, p.round_b) - place(state.q[a], p.xa, p.round_a));
        // in parts of a step parts of the overlap: pushed out as much in each of them, it would be thrown
        const double mended = (1.0 - overlap_left) * (whole_step_ > h ? h / whole_step_ : 1.0);
        p.aim = (1.0 - mended) * std::min(0.0, gap);
        const auto last = last_force_.find(p.key);
        const bool fresh = last == last_force_.end();
        p.force = fresh ? 0.0 : last->second;
        // where inertia alone would take the gap
        const auto goal = [&](int i) -> const Mat34& {
            return field.moving[i] ? field.target[i] : field.x[i];
        };
        const double ahead = p.normal.dot(transform(goal(b), p.xb) - transform(goal(a), p.xa));
        p.active = ahead < p.aim || p.force > 0.0;
        if (p.active && fresh && approach > 3.0 * h * state.gravity.norm()) {
            impacts.push_back(b);
            if (p.both_move) impacts.push_back(a);
            const double bounce = model.pair_restitution(a, b);
            const double across = ca.box.size().minCoeff() + cb.box.size().minCoeff();
            if (bounce <= 0.0 && approach * h > too_far_beyond * across) too_fast_ = {a, b};
            if (bounce > 0.0) {  // leaves with the share of its speed, as stiff as the solve allows
                const double pull = std::max(0.0, -state.gravity.dot(p.normal));
                const double leaves = rebound_speed(bounce, approach, std::max(0.0, gap), pull, h);
                p.bounces = true;
                p.aim = std::max(p.aim, gap + leaves * h);
                const auto heavy = [&](int i) {
                    return std::max(bounce_stiffness * field.kinds[field.kind[i]].mass, 100.0 * carried_[i]) /
                           (h * h);
                };
                p.stiffness = std::max(p.stiffness, p.both_move ? std::min(heavy(a), heavy(b)) : heavy(b));
            }
        }
        const Vec3 slide = h * (velocity + approach * p.normal);
        p.friction_limit = p.friction * p.force;
        choose_slide(p, slide, slide_);
        points_.push_back(p);
    }
}

// Contacts are as stiff as their bodies are heavy. Under something much heavier than themselves they have to be stiff enough for
// that: downwards from contact to contact, the heaviest counts.
void ContactSet::bear_what_is_above(const Model& model, const State& state, const BodyField& field) {
    const double gravity = state.gravity.norm();
    if (gravity == 0.0) return;
    const auto rigid = [&](int i) { return field.kinds[field.kind[i]].rigid; };
    // which of the two lies on the other; -1 where neither does
    const auto upper = [&](const ContactPoint& p) {
        const double up = -p.normal.dot(state.gravity) / gravity;
        return up > least_slope ? p.b : up < -least_slope ? p.a : -1;
    };
    bool unequal = false;
    borne_.assign(model.bodies.size(), 0.0);
    for (const ContactPoint& p : points_)
        for (int i : {p.a, p.b})
            if (field.moving[i]) borne_[i] = carried_[i];
    for (bool more = true; more;) {  // ends: weights only grow, and only to those of other bodies
        more = false;
        for (const ContactPoint& p : points_) {
            const int top = upper(p), low = top == p.b ? p.a : p.b;
            const bool bears =
                p.active || p.aim < 0.0 || p.normal.dot(p.start) <= 0.0;  // presses, or overlaps
            if (!p.both_move || !bears || top < 0 || !rigid(p.a) || !rigid(p.b)) continue;
            const double weight = std::min(borne_[top], most_borne * carried_[low]);
            if (weight <= borne_[low]) continue;
            borne_[low] = weight;
            more = unequal = true;
        }
    }
    if (!unequal) return;
    for (ContactPoint& p : points_) {
        const int top = upper(p);
        if (top < 0 || !field.moving[top] || !rigid(top)) continue;
        const double eta = field.eta(top);
        p.stiffness = std::max(p.stiffness, options_.stiffness * 10.0 * borne_[top] / (eta * eta));
    }
}

Vec3 ContactSet::separation(const ContactPoint& contact, const BodyField& field) {
    return transform(field.x[contact.b], contact.xb) - transform(field.x[contact.a], contact.xa);
}

Vec3 contact_slope(const ContactPoint& contact, const Vec3& separation, double least_slide) {
    const Vec3& n = contact.normal;
    const Vec3 moved = separation - contact.start, slide = moved - n * n.dot(moved);
    return contact.stiffness * std::min(0.0, n.dot(separation) - contact.aim) * n +
           (contact.friction_limit / std::max(slide.norm(), least_slide)) * slide;
}

Vec3 ContactSet::slope(const ContactPoint& contact, const Vec3& separation) const {
    return contact_slope(contact, separation, slide_);
}

Vec3 ContactSet::model_slope(const ContactPoint& contact, const Vec3& separation) {
    const Vec3& n = contact.normal;
    const Vec3 moved = separation - contact.start;
    const double push = contact.active ? contact.stiffness * (n.dot(separation) - contact.aim) : 0.0;
    const Vec3 slide = moved - n * n.dot(moved), across = slide - contact.slides * contact.slides.dot(slide);
    return push * n + contact.friction_limit * contact.slides + contact.slide_stiffness * across;
}

void choose_contact_branch(ContactPoint& contact, const Vec3& separation, double slide) {
    const Vec3& n = contact.normal;
    const Vec3 moved = separation - contact.start;
    contact.active = n.dot(separation) < contact.aim;
    choose_slide(contact, moved - n * n.dot(moved), slide);
}

void ContactSet::choose_branch(ContactPoint& contact, const Vec3& separation) const {
    choose_contact_branch(contact, separation, slide_);
}

void ContactSet::make_dense(BodyField& field, const std::vector<int>& bodies) const {
    for (int body : bodies) {
        DenseBody& dense = field.dense_bodies[field.dense[body]];
        const KindMatrix& kind = field.matrix(body);
        const Mat3& R = field.rotation[body];
        dense.rigid = kind.rigid;
        dense.force.setZero();
        if (kind.rigid) {
            dense.rigid_matrix.setZero();
            dense.rigid_matrix.topLeftCorner<3, 3>() = turn_matrix(kind, field.stress[body]);
            dense.rigid_matrix.bottomRightCorner<3, 3>().diagonal().setConstant(kind.mass_rate);
        } else {
            dense.matrix = dense_body_matrix(kind, geometric_stiffness(field.stress[body]), Mat3::Identity());
        }
        for (int k = first_of_body_[body]; k >= 0; k = next_of_body_[k]) {
            const ContactPoint& c = points_[k];
            const Vec3 push = -model_slope(c, separation(c, field));
            const Vec4 x(c.xb.x(), c.xb.y(), c.xb.z(), 1.0);
            for (int i = 0; i < 4; ++i) dense.force.col(i) += x[i] * push;
            const Mat3 directions = R.transpose() * contact_directions(c);
            const Mat3 block = directions * contact_stiffness(c).asDiagonal() * directions.transpose();
            if (kind.rigid) {
                Eigen::Matrix<double, 3, 6> J;
                J << -skew(c.xb), Mat3::Identity();
                dense.rigid_matrix += J.transpose() * block * J;
                continue;
            }
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) dense.matrix.block<3, 3>(3 * i, 3 * j) += (x[i] * x[j]) * block;
        }
        if (kind.rigid)
            dense.rigid_factor.compute(dense.rigid_matrix);
        else
            dense.factor.compute(dense.matrix);
    }
}

void ContactSet::set_forces(BodyField& field, const std::vector<int>& bodies) const {
    for (int body : bodies) {
        Mat34& force = field.dense_bodies[field.dense[body]].force;
        force.setZero();
        for (int k = first_of_body_[body]; k >= 0; k = next_of_body_[k]) {
            const ContactPoint& c = points_[k];
            const Vec3 push = -slope(c, separation(c, field));
            const Vec4 x(c.xb.x(), c.xb.y(), c.xb.z(), 1.0);
            for (int i = 0; i < 4; ++i) force.col(i) += x[i] * push;
        }
    }
}

// The slide since the start of the step is that of the points which touch now.
void ContactSet::roll(ContactPoint& contact, const BodyField& field) const {
    const auto turn = [&](const ContactPoint::Round& round, int body, Vec3& x, double sign) {
        if (!round.is) return;
        const Mat3 turned = field.x[body].leftCols<3>();
        Vec3 radius = round.radius;
        if (!round.axis.isZero()) {  // at right angles to where the axis points now
            const Vec3 axis = turned * round.axis;
            radius -= axis.dot(radius) * axis;
            radius *= round.radius.norm() / radius.norm();
        }
        const Vec3 now = round.center + turned.transpose() * radius;
        contact.start += sign * ((*start_)[body].leftCols<3>() * (now - x));
        x = now;
    };
    turn(contact.round_b, contact.b, contact.xb, 1.0);
    turn(contact.round_a, contact.a, contact.xa, -1.0);
}

void ContactSet::roll(const BodyField& field, const std::vector<int>& bodies) {
    for (int body : bodies)
        for (int k = first_of_body_[body]; k >= 0; k = next_of_body_[k]) roll(points_[k], field);
}

void ContactSet::roll_listed(const BodyField& field, const std::vector<int>& contacts) {
    for (int k : contacts) roll(points_[k], field);
}

FrictionLimit friction_allowed(ContactPoint& contact, const Vec3& force) {
    return {&contact.friction_limit, contact.friction * std::max(0.0, -contact.normal.dot(force))};
}

double renew_contact(ContactPoint& contact, const Vec3& s, double slide) {
    contact.force = contact.stiffness * std::max(0.0, contact.aim - contact.normal.dot(s));
    choose_contact_branch(contact, s, slide);
    return std::abs(contact.friction * contact.force - contact.friction_limit);
}

double ContactSet::renew(ContactPoint& contact, const BodyField& field) const {
    return renew_contact(contact, separation(contact, field), slide_);
}

double ContactSet::renew(const BodyField& field, int body) {
    double most = 0.0;
    for (int k = first_of_body_[body]; k >= 0; k = next_of_body_[k])
        most = std::max(most, renew(points_[k], field));
    return most;
}

double ContactSet::renew(const BodyField& field, const std::vector<int>& contacts) {
    double most = 0.0;
    for (int k : contacts) most = std::max(most, renew(points_[k], field));
    return most;
}

ColliderTerms::ColliderTerms(ContactSet& contacts, const std::vector<int>& bodies) : contacts_(contacts) {
    for (int body : bodies)
        for (int k = contacts.first_of(body); k >= 0; k = contacts.next_of(k)) contact_.push_back(k);
}

void ColliderTerms::read_terms(const BodyField& field, BoundedTerm* terms) {
    for (std::size_t k = 0; k < contact_.size(); ++k) {
        const ContactPoint& c = contacts_.points()[contact_[k]];
        terms[k].at = ContactSet::separation(c, field) + field.moved_point(c.b, field.dq[c.b], c.xb);
        terms[k].force = ContactSet::model_slope(c, terms[k].at);
    }
}

void ColliderTerms::choose_branches(const BoundedTerm* terms) {
    for (std::size_t k = 0; k < contact_.size(); ++k)
        contacts_.choose_branch(contacts_.points()[contact_[k]], terms[k].at);
}

void ColliderTerms::list_friction(const BoundedTerm* terms, std::vector<FrictionLimit>& list) {
    for (std::size_t k = 0; k < contact_.size(); ++k)
        list.push_back(friction_allowed(contacts_.points()[contact_[k]], terms[k].force));
}

void ContactSet::write(const BodyField& field, Outputs& outputs) const {
    outputs.contacts.clear();
    for (const ContactPoint& c : points_) {
        const Vec3 s = separation(c, field);
        const Vec3 force = -slope(c, s);
        if (!(force.dot(c.normal) > 0.0)) continue;
        Contact out;
        out.a = c.a;
        out.b = c.b;
        out.point = transform(field.x[c.b], c.xb);
        out.normal = c.normal;
        out.distance = c.normal.dot(s);
        out.force = force;
        outputs.contacts.push_back(out);
    }
}

double ContactSet::min_distance(const BodyField& field) const {
    double least = 1e300;
    for (const ContactPoint& c : points_) least = std::min(least, c.normal.dot(separation(c, field)));
    return least;
}

int ContactSet::count() const {
    return static_cast<int>(
        std::count_if(points_.begin(), points_.end(), [](const auto& c) { return c.active; }));
}

void ContactSet::remember() {
    last_force_.clear();
    for (const ContactPoint& c : points_)
        if (c.force > 0.0) last_force_[c.key] = c.force;
}

void save_forces(const ContactForces& last, std::ostream& out) {
    std::vector<std::pair<std::uint64_t, double>> sorted(last.begin(), last.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::uint64_t> keys;
    std::vector<double> forces;
    for (const auto& [key, force] : sorted) keys.push_back(key), forces.push_back(force);
    write_values(out, keys);
    write_values(out, forces);
}

void load_forces(ContactForces& last, std::istream& in) {
    std::vector<std::uint64_t> keys;
    std::vector<double> forces;
    read_values(in, keys);
    read_values(in, forces);
    last.clear();
    for (std::size_t k = 0; k < keys.size() && k < forces.size(); ++k) last[keys[k]] = forces[k];
}

void ContactSet::save(std::ostream& out) const {
    save_forces(last_force_, out);
}

void ContactSet::load(std::istream& in) {
    load_forces(last_force_, in);
}

}  // namespace tenon::articulated

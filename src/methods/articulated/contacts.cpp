#include "methods/articulated/contacts.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/collide/collide.hpp"
#include "math/binary_io.hpp"

namespace tenon::articulated {
namespace {

constexpr double recovery = 0.8;  // share of an overlap that may remain after a step: no pop
constexpr double huge = 1e9;
constexpr double small_share = 0.03;  // of what presses on a body: too little to solve again for

Box3 box_of(const geometry::collide::Collider& collider, const Mat34& x, double margin) {
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

// How far a point of the body can move in the step, by its velocity.
double reach(const State& state, const BodyField& field, int body, double radius, double h) {
    if (!field.moving[body]) return 0.0;
    const Mat34& v = state.rate[body];
    return h * (v.col(3).norm() + radius * v.leftCols<3>().norm() * 0.71) +
           0.5 * h * h * state.gravity.norm();
}

// How hard an active contact presses at the iterate.
double press(const ContactPoint& contact, const BodyField& field) {
    return contact.stiffness * (contact.aim - contact.normal.dot(ContactSet::separation(contact, field)));
}

}  // namespace

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
    if (!links_collide_) return;
    boxes_.resize(model.bodies.size());
    load_.resize(model.bodies.size());
    moves_.assign(model.bodies.size(), 0);
    for (int i : moving_) moves_[i] = 1;
}

void ContactSet::collider_pairs(const Model& model, const State& state, const BodyField& field, double h) {
    pairs_.clear();
    const auto collider = [&](int i) -> const auto& {
        return colliders_[model.bodies.shape[i]];
    };
    if (!links_collide_) {  // colliders against links
        double most = 0.0;
        for (int i : moving_) most = std::max(most, 1.2 * reach(state, field, i, collider(i).radius, h));
        fixed_boxes_.clear();
        for (int f : fixed_) fixed_boxes_.push_back(box_of(collider(f), field.x[f], 0.0));
        near_.begin(fixed_boxes_, moving_.size(), most);
        for (std::size_t k = 0; k < moving_.size(); ++k) {
            if (near_.sleeps(k)) continue;
            const int i = moving_[k];
            const double radius = collider(i).radius;
            near_.find(k, box_of(collider(i), field.x[i], 1.2 * reach(state, field, i, radius, h)), radius,
                       hits_);
            for (int hit : hits_) pairs_.push_back({fixed_[hit], i});
        }
        return;
    }
    for (Box3& box : boxes_) {  // bodies that do not collide overlap nothing
        box.lo.setConstant(2 * huge);
        box.hi.setConstant(2 * huge);
    }
    for (int f : fixed_) boxes_[f] = box_of(collider(f), field.x[f], 0.0);
    for (int i : moving_)
        boxes_[i] = box_of(collider(i), field.x[i], 1.2 * reach(state, field, i, collider(i).radius, h));
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
    if (!enabled_) return;
    for (int i : moving_) first_of_body_[i] = -1;
    slide_ = options_.slide_speed * h;
    collider_pairs(model, state, field, h);
    for (const auto& pair : pairs_)
        if (model.may_collide(pair.a, pair.b)) add_pair(model, state, field, pair.a, pair.b, h, impacts);
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
    const double margin = 1.2 * (reach(state, field, a, ca.radius, h) + reach(state, field, b, cb.radius, h));
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
    if (!field.moving[a] && has_closed_form(primitive.kind))
        probe_contacts(&primitive, nullptr, pose_a, model.shape_of(b), probes_[model.bodies.shape[b]], pose_b,
                       near, 6, found_);
    else if (!field.moving[a] && ca.field)
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
        return options_.stiffness * std::max(material, 10.0 * field.matrix(i).mass_rate);
    };
    for (const auto& contact : found_) {
        ContactPoint p;
        p.a = a;
        p.b = b;
        p.both_move = field.moving[a] != 0;
        p.weight = 0.05 * model.bodies.mass[b] * state.gravity.norm();
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
        p.key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 40) ^
                (static_cast<std::uint64_t>(static_cast<std::uint32_t>(b)) << 16) ^ contact.id;
        const Vec3 velocity = transform(state.rate[b], p.xb) - transform(state.rate[a], p.xa);
        const double approach = -velocity.dot(p.normal);
        p.aim = contact.distance < 0.0 ? recovery * contact.distance : 0.0;
        const auto last = last_force_.find(p.key);
        const bool fresh = last == last_force_.end();
        p.force = fresh ? 0.0 : last->second;
        // where inertia alone would take the gap
        const auto goal = [&](int i) -> const Mat34& {
            return field.moving[i] ? field.target[i] : field.x[i];
        };
        const double ahead = p.normal.dot(transform(goal(b), p.xb) - transform(goal(a), p.xa));
        p.active = ahead < p.aim || p.force > p.weight;
        if (p.active && fresh && approach > 3.0 * h * state.gravity.norm()) {
            impacts.push_back(b);
            if (p.both_move) impacts.push_back(a);
            const double bounce = model.pair_restitution(a, b);
            if (bounce > 0.0) p.aim = std::max(p.aim, contact.distance + bounce * approach * h);
        }
        const Vec3 slide = h * (velocity + approach * p.normal);
        p.slide_stiffness = p.active ? p.friction * p.force / std::max(slide.norm(), slide_) : 0.0;
        points_.push_back(p);
    }
}

Vec3 ContactSet::separation(const ContactPoint& contact, const BodyField& field) {
    return transform(field.x[contact.b], contact.xb) - transform(field.x[contact.a], contact.xa);
}

double ContactSet::point_energy(const ContactPoint& contact, const BodyField& field) const {
    const Vec3 s = separation(contact, field);
    const double overlap = std::min(0.0, contact.normal.dot(s) - contact.aim);
    double energy = 0.5 * contact.stiffness * overlap * overlap;
    if (contact.slide_stiffness > 0.0) {
        const Vec3 moved = s - contact.start;
        const Vec3 slide = moved - contact.normal * contact.normal.dot(moved);
        energy += 0.5 * contact.slide_stiffness * slide.squaredNorm();
    }
    return energy;
}

double ContactSet::energy(const BodyField& field, int body) const {
    double sum = 0.0;
    for (int k = first_of_body_[body]; k >= 0; k = next_of_body_[k]) sum += point_energy(points_[k], field);
    return sum;
}

void ContactSet::make_dense(BodyField& field, const std::vector<int>& bodies) const {
    for (int body : bodies) {
        DenseBody& dense = field.dense_bodies[field.dense[body]];
        dense.matrix = dense_body_matrix(field.matrix(body), geometric_stiffness(field.stress[body]),
                                         field.rotation[body]);
        dense.force.setZero();
        for (int k = first_of_body_[body]; k >= 0; k = next_of_body_[k]) {
            const ContactPoint& c = points_[k];
            if (!c.active) continue;
            const Vec3 s = separation(c, field), moved = s - c.start;
            const Mat3 nn = c.normal * c.normal.transpose();
            const Mat3 block = c.stiffness * nn + c.slide_stiffness * (Mat3::Identity() - nn);
            const Vec3 push = -c.stiffness * (c.normal.dot(s) - c.aim) * c.normal -
                              c.slide_stiffness * (moved - c.normal * c.normal.dot(moved));
            const Vec4 x(c.xb.x(), c.xb.y(), c.xb.z(), 1.0);
            for (int i = 0; i < 4; ++i) {
                dense.force.col(i) += x[i] * push;
                for (int j = 0; j < 4; ++j) dense.matrix.block<3, 3>(3 * i, 3 * j) += (x[i] * x[j]) * block;
            }
        }
        dense.factor.compute(dense.matrix);
    }
}

bool ContactSet::update_point(ContactPoint& contact, const BodyField& field, double load) const {
    const Vec3 s = separation(contact, field);
    const double gap = contact.normal.dot(s);
    const double push = contact.stiffness * (contact.aim - gap);
    const bool was = contact.active;
    // a contact that only just lets go, or only just touches, is not worth another solve: the next step will see to it
    const double noise = std::max(contact.weight, small_share * load);
    if (contact.active ? push < -noise : push > noise) contact.active = !contact.active;
    contact.force = contact.active ? std::max(0.0, push) : 0.0;
    const Vec3 moved = s - contact.start;
    const double slide = (moved - contact.normal * contact.normal.dot(moved)).norm();
    const double before = contact.slide_stiffness;
    contact.slide_stiffness = contact.friction * contact.force / std::max(slide, slide_);
    const double limit = contact.friction * contact.force;
    const bool settling = std::abs(contact.slide_stiffness - before) * slide >
                              std::max(0.02 * limit, small_share * contact.friction * load) &&
                          limit > 0.0;
    return contact.active != was || settling;
}

bool ContactSet::update(const BodyField& field, int body) {
    double load = 0.0;
    for (int k = first_of_body_[body]; k >= 0; k = next_of_body_[k])
        if (points_[k].active) load += std::max(0.0, press(points_[k], field));
    bool changed = false;
    for (int k = first_of_body_[body]; k >= 0; k = next_of_body_[k])
        changed |= update_point(points_[k], field, load);
    return changed;
}

bool ContactSet::update(const BodyField& field, const std::vector<int>& contacts) {
    for (int k : contacts) load_[points_[k].a] = load_[points_[k].b] = 0.0;
    for (int k : contacts) {
        if (!points_[k].active) continue;
        const double push = std::max(0.0, press(points_[k], field));
        load_[points_[k].a] += push;
        load_[points_[k].b] += push;
    }
    bool changed = false;
    for (int k : contacts)
        changed |= update_point(points_[k], field, std::min(load_[points_[k].a], load_[points_[k].b]));
    return changed;
}

void ContactSet::write(const BodyField& field, Outputs& outputs) const {
    outputs.contacts.clear();
    for (const ContactPoint& c : points_) {
        if (!c.active || c.force <= 0.0) continue;
        const Vec3 s = separation(c, field), moved = s - c.start;
        Contact out;
        out.a = c.a;
        out.b = c.b;
        out.point = transform(field.x[c.b], c.xb);
        out.normal = c.normal;
        out.distance = c.normal.dot(s);
        out.force = c.force * c.normal - c.slide_stiffness * (moved - c.normal * c.normal.dot(moved));
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
        if (c.active) last_force_[c.key] = c.force;
}

void ContactSet::save(std::ostream& out) const {
    std::vector<std::pair<std::uint64_t, double>> sorted(last_force_.begin(), last_force_.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::uint64_t> keys;
    std::vector<double> forces;
    for (const auto& [key, force] : sorted) keys.push_back(key), forces.push_back(force);
    write_values(out, keys);
    write_values(out, forces);
}

void ContactSet::load(std::istream& in) {
    std::vector<std::uint64_t> keys;
    std::vector<double> forces;
    read_values(in, keys);
    read_values(in, forces);
    last_force_.clear();
    for (std::size_t k = 0; k < keys.size() && k < forces.size(); ++k) last_force_[keys[k]] = forces[k];
}

}  // namespace tenon::articulated

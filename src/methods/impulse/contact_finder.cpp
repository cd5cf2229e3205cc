#include "methods/impulse/contact_finder.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "math/binary_io.hpp"
#include "math/static_partition.hpp"
#include "tenon/error.hpp"

namespace tenon::impulse {
namespace {

namespace collide = geometry::collide;

// Contacts are kept while surfaces are this close, in units of the smaller body's size.
constexpr double kept_gap = 0.01;
// Relative motion below which the contacts found before still describe the pair: lengths in units of the smaller
// body's size, and radians.
constexpr double reuse_shift = 2e-3, reuse_turn = 2e-3;
// The same for round shapes. A contact that is carried along with a rolling body falls behind the point that touches, where
// the body's surface moves away from the other: held by it, the body would sink.
constexpr double reuse_round = 1e-7;
constexpr std::size_t chunk_pairs = 256;

Box3 box_of(const Box3& local, const Mat34& q) {
    const Vec3 center = transform(q, local.center());
    const Vec3 half = q.leftCols<3>().cwiseAbs() * (0.5 * local.size());
    Box3 box;
    box.lo = center - half;
    box.hi = center + half;
    return box;
}

}  // namespace

ContactFinder::ContactFinder(const Model& model, const geometry::SignedDistanceOptions& options) {
    bool any_mesh = false;
    for (const auto& shape : model.shapes) any_mesh = any_mesh || collide::needs_field(*shape);
    std::vector<std::string> used(model.shapes.size());
    for (int i = 0; i < model.bodies.size(); ++i)
        if (model.bodies.collides[i] && used[model.bodies.shape[i]].empty())
            used[model.bodies.shape[i]] = fmt::format("bodies[{}]", i);
    colliders_.resize(model.shapes.size());
    for (std::size_t s = 0; s < model.shapes.size(); ++s)
        if (!used[s].empty())
            colliders_[s] = collide::make_collider(*model.shapes[s], any_mesh, options, {"", used[s]});
    for (int i = 0; i < model.bodies.size(); ++i) {
        const collide::Collider& c = colliders_[model.bodies.shape[i]];
        is_plane_.push_back(c.kind == collide::Collider::Kind::plane && model.bodies.collides[i]);
        if (is_plane_.back()) planes_.push_back(i);
        using Kind = collide::Collider::Kind;
        is_round_.push_back(c.kind == Kind::sphere || c.kind == Kind::capsule || c.kind == Kind::cylinder ||
                            c.kind == Kind::cone);
        radius_.push_back(model.shape_of(i).radius);
    }
}

// Boxes are swept along this step's motion. Planes are endless, so they are paired with what comes below
// their surface instead of through a box.
void ContactFinder::find_pairs(const Model& model, const State& state, const std::vector<Twist>& twist,
                               double dt) {
    const Bodies& bodies = model.bodies;
    const int count = bodies.size();
    boxes_.resize(count);
    moves_.resize(count);
    static_partition_for(count, 1024, [&](std::size_t i) {
        Box3 box = box_of(colliders_[bodies.shape[i]].box, state.q[i]);
        box.inflate(0.5 * kept_gap * radius_[i] + dt * twist[i].w.norm() * radius_[i]);
        const Vec3 way = dt * twist[i].v;
        box.lo += way.cwiseMin(0.0);
        box.hi += way.cwiseMax(0.0);
        boxes_[i] = box;
        moves_[i] = state.dynamic(static_cast<int>(i)) && bodies.collides[i];
    });
    const Box3 nowhere = [&] {
        Box3 box;
        for (int i = 0; i < count; ++i)
            if (moves_[i]) {
                box.add(boxes_[i].center());
                break;
            }
        if (box.empty()) box.add(Vec3(0, 0, 0));
        return box;
    }();
    for (int i = 0; i < count; ++i)
        if (is_plane_[i] || !bodies.collides[i]) boxes_[i] = nowhere;
    broad_phase_.find_pairs(boxes_, raw_pairs_, moves_);
    pairs_.clear();
    for (const geometry::ItemPair& pair : raw_pairs_)
        if (!is_plane_[pair.a] && !is_plane_[pair.b] && model.may_collide(pair.a, pair.b))
            pairs_.push_back(pair);
    const auto boxed = static_cast<std::ptrdiff_t>(pairs_.size());
    for (int plane : planes_) {
        const collide::Placement place = collide::placement(
            colliders_[bodies.shape[plane]], state.q[plane].leftCols<3>(), state.q[plane].col(3));
        const Vec3 n = place.R.col(1);
        for (int i = 0; i < count; ++i) {
            if (!moves_[i]) continue;
            const double reach = n.cwiseAbs().dot(0.5 * boxes_[i].size());
            if (n.dot(boxes_[i].center() - place.t) > reach || !model.may_collide(plane, i)) continue;
            pairs_.push_back({std::min(plane, i), std::max(plane, i)});
        }
    }
    std::sort(pairs_.begin() + boxed, pairs_.end());
    std::inplace_merge(pairs_.begin(), pairs_.begin() + boxed, pairs_.end());
}

// The old contacts moved along with their bodies, when these have hardly moved against each other.
bool ContactFinder::refresh(const State& state, const Manifold& old, double margin, ChunkResult& out) const {
    if (margin > old.margin + 0.5 * reuse_shift * std::min(radius_[old.a], radius_[old.b])) return false;
    const Mat34 &qa = state.q[old.a], &qb = state.q[old.b];
    const double size = std::min(radius_[old.a], radius_[old.b]);
    const Vec3 t = qa.leftCols<3>().transpose() * (qb.col(3) - qa.col(3));
    const bool round = is_round_[old.a] || is_round_[old.b];
    const double shift = size * (round ? reuse_round : reuse_shift);
    if ((t - old.relative_t).squaredNorm() > shift * shift) return false;
    const Mat3 R = qa.leftCols<3>().transpose() * qb.leftCols<3>();
    if ((R - old.relative_R).cwiseAbs().maxCoeff() > (round ? reuse_round : reuse_turn)) return false;
    // A surface that rolls lifts the old anchor by r (1 - cos turn). Taken for a gap, that would let the body sink to close it.
    const double lifted = 0.25 * (R - old.relative_R).squaredNorm() * size;
    Manifold now = old;
    now.begin = static_cast<int>(out.contacts.size());
    for (int k = old.begin; k < old.begin + old.count; ++k) {
        ManifoldContact c = old_contacts_[k];
        const Vec3 pa = transform(qa, c.local_a), pb = transform(qb, c.local_b);
        c.normal = qa.leftCols<3>() * c.local_normal;
        c.distance = c.normal.dot(pb - pa) - lifted;
        c.point = 0.5 * (pa + pb);
        out.contacts.push_back(c);
    }
    out.manifolds.push_back(now);
    return true;
}

void ContactFinder::find_pair(const Model& model, const State& state, const geometry::ItemPair& pair,
                              const Manifold* old, const std::vector<Twist>& twist,
                              const std::vector<char>& awake, double dt, ChunkResult& out) {
    const auto [a, b] = pair;
    if (!awake[a] && !awake[b]) {  // nothing has moved
        if (!old) return;
        Manifold now = *old;
        now.begin = static_cast<int>(out.contacts.size());
        out.contacts.insert(out.contacts.end(), old_contacts_.begin() + old->begin,
                            old_contacts_.begin() + old->begin + old->count);
        out.manifolds.push_back(now);
        return;
    }
    const double size = std::min(radius_[a], radius_[b]);
    const double turning = (is_plane_[a] ? 0.0 : twist[a].w.norm() * radius_[a]) +
                           (is_plane_[b] ? 0.0 : twist[b].w.norm() * radius_[b]);
    const double margin = kept_gap * size + dt * ((twist[b].v - twist[a].v).norm() + turning);
    if (old && refresh(state, *old, margin, out)) return;

    ++out.tested;
    const Mat34 &qa = state.q[a], &qb = state.q[b];
    const Mat3 Ra = qa.leftCols<3>(), Rb = qb.leftCols<3>();
    const Vec3 ta = qa.col(3), tb = qb.col(3);
    out.found.clear();
    collide::find_contacts(colliders_[model.bodies.shape[a]], Ra, ta, colliders_[model.bodies.shape[b]], Rb,
                           tb, margin, out.found);
    Manifold manifold;
    manifold.a = a;
    manifold.b = b;
    manifold.begin = static_cast<int>(out.contacts.size());
    manifold.count = static_cast<int>(out.found.size());
    manifold.margin = margin;
    manifold.relative_t = Ra.transpose() * (tb - ta);
    manifold.relative_R = Ra.transpose() * Rb;
    if (old) {
        manifold.friction = old->friction;
        manifold.restitution = old->restitution;
    } else {
        manifold.friction = model.pair_friction(a, b);
        manifold.restitution = model.pair_restitution(a, b);
    }
    const double near2 = 0.01 * size * size;  // contacts without a common id match within a tenth of the size
    for (const collide::PairContact& f : out.found) {
        ManifoldContact c;
        c.normal = f.normal;
        c.point = f.point;
        c.distance = f.distance;
        c.id = f.id;
        c.local_normal = Ra.transpose() * f.normal;
        c.local_a = Ra.transpose() * (f.point - 0.5 * f.distance * f.normal - ta);
        c.local_b = Rb.transpose() * (f.point + 0.5 * f.distance * f.normal - tb);
        const ManifoldContact* match = nullptr;
        for (int k = 0; old && k < old->count && !match; ++k)
            if (old_contacts_[old->begin + k].id == f.id) match = &old_contacts_[old->begin + k];
        double nearest = near2;
        for (int k = 0; old && k < old->count && !match; ++k) {
            const ManifoldContact& o = old_contacts_[old->begin + k];
            if (const double d = (o.local_a - c.local_a).squaredNorm(); d < nearest) {
                nearest = d;
                match = &o;
            }
        }
        if (match) {
            c.normal_impulse = match->normal_impulse;
            c.friction_impulse = match->friction_impulse;
        }
        out.contacts.push_back(c);
    }
    out.manifolds.push_back(manifold);
}

void ContactFinder::find(const Model& model, const State& state, const std::vector<Twist>& twist,
                         const std::vector<char>& awake, double dt) {
    find_pairs(model, state, twist, dt);
    old_manifolds_.swap(manifolds_);
    old_contacts_.swap(contacts_);
    // one thread alone writes them where they belong at once
    const std::size_t chunk_size =
        thread_count() == 1 ? std::max<std::size_t>(1, pairs_.size()) : chunk_pairs;
    const std::size_t chunks = (pairs_.size() + chunk_size - 1) / chunk_size;
    if (chunks_.size() < chunks) chunks_.resize(chunks);
    parallel_for(chunks, 1, [&](std::size_t chunk) {
        ChunkResult& out = chunks_[chunk];
        out.manifolds.clear();
        out.contacts.clear();
        out.tested = 0;
        const std::size_t end = std::min(pairs_.size(), (chunk + 1) * chunk_size);
        std::size_t i = chunk * chunk_size;
        auto old = std::lower_bound(old_manifolds_.begin(), old_manifolds_.end(), pairs_[i],
                                    [](const Manifold& m, const geometry::ItemPair& p) {
                                        return std::pair(m.a, m.b) < std::pair(p.a, p.b);
                                    });
        for (; i < end; ++i) {
            const geometry::ItemPair& pair = pairs_[i];
            while (old != old_manifolds_.end() && std::pair(old->a, old->b) < std::pair(pair.a, pair.b))
                ++old;
            const bool known = old != old_manifolds_.end() && old->a == pair.a && old->b == pair.b;
            find_pair(model, state, pair, known ? &*old : nullptr, twist, awake, dt, out);
        }
    });
    join(chunks);
}

// The chunks' results one after the other.
void ContactFinder::join(std::size_t chunks) {
    std::size_t manifolds = 0, contacts = 0;
    pairs_tested_ = 0;
    for (std::size_t k = 0; k < chunks; ++k) {
        chunks_[k].first_manifold = manifolds;
        chunks_[k].first_contact = contacts;
        manifolds += chunks_[k].manifolds.size();
        contacts += chunks_[k].contacts.size();
        pairs_tested_ += chunks_[k].tested;
    }
    if (chunks == 1) {
        manifolds_.swap(chunks_[0].manifolds);
        contacts_.swap(chunks_[0].contacts);
        return;
    }
    manifolds_.resize(manifolds);
    contacts_.resize(contacts);
    static_partition_for(chunks, 1, [&](std::size_t k) {
        const ChunkResult& part = chunks_[k];
        std::size_t at = part.first_manifold;
        for (Manifold m : part.manifolds) {
            m.begin += static_cast<int>(part.first_contact);
            manifolds_[at++] = m;
        }
        std::copy(part.contacts.begin(), part.contacts.end(),
                  contacts_.begin() + static_cast<std::ptrdiff_t>(part.first_contact));
    });
}

void ContactFinder::save(std::ostream& out) const {
    write_values(out, manifolds_);
    write_values(out, contacts_);
}

void ContactFinder::load(std::istream& in) {
    read_values(in, manifolds_);
    read_values(in, contacts_);
    const int bodies = static_cast<int>(radius_.size());
    const long all = static_cast<long>(contacts_.size());
    for (const Manifold& m : manifolds_)
        expect_sound(m.a >= 0 && m.a < bodies && m.b >= 0 && m.b < bodies && m.begin >= 0 && m.count >= 0 &&
                     static_cast<long>(m.begin) + m.count <= all);
}

}  // namespace tenon::impulse

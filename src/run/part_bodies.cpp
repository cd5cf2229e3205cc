#include "run/part_bodies.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "geometry/broad_phase.hpp"
#include "geometry/collide/collide.hpp"
#include "math/interrupt.hpp"
#include "model/initial_check.hpp"
#include "tenon/error.hpp"

namespace tenon::run {
namespace {

using geometry::ItemPair;
namespace collide = geometry::collide;

constexpr int most_passes = 400;
constexpr int most_checks = 8;        // by triangles; each asks for more of the pairs that it finds
constexpr double gap_of_body = 1e-4;  // of the smaller body's radius: how far apart pairs end
constexpr double closed_part = 0.5;   // of that gap: a pair that has it is left as it is
constexpr double wider = 3.0;         // times the gap, of pairs that the triangles say are not apart
constexpr double carrier = 0.05;      // times its mobility, of a body below another: piles grow upward

class Parting {
  public:
    Parting(const Model& model, State& state) : model_(model), state_(state), boxes_(state.q.size()) {
        colliders_.resize(model.shapes.size());
        bool fields = false;
        for (int i = 0; i < model.bodies.size(); ++i)
            fields = fields || (model.bodies.collides[i] && collide::needs_field(model.shape_of(i)));
        std::vector<char> made(model.shapes.size(), 0);
        for (int i = 0; i < model.bodies.size(); ++i) {
            const int s = model.bodies.shape[i];
            moves_.push_back(state.dynamic(i));
            if (!model.bodies.collides[i] || made[s]) continue;
            made[s] = 1;
            colliders_[s] = collide::make_collider(*model.shapes[s], fields, {}, {"", model.bodies.name[i]});
        }
        up_ = state.gravity.norm() > 0.0 ? Vec3(-state.gravity.normalized()) : Vec3::Zero();
    }

    // One pass over all pairs, those farthest down first. Returns the deepest overlap that it found.
    double pass() {
        find_pairs();
        double deepest = 0.0;
        for (const ItemPair& pair : pairs_) deepest = std::max(deepest, part(pair.a, pair.b));
        return deepest;
    }

    void widen(int a, int b) {
        double& factor = factor_.try_emplace({a, b}, 1.0).first->second;
        factor *= wider;
    }

  private:
    double gap_of(int a, int b) const {
        const auto known = factor_.find({a, b});
        const double size = std::min(model_.shape_of(a).radius, model_.shape_of(b).radius);
        return model::required_separation(model_, a, b) +
               gap_of_body * size * (known == factor_.end() ? 1.0 : known->second);
    }

    void find_pairs() {
        for (std::size_t i = 0; i < boxes_.size(); ++i) {
            const int body = static_cast<int>(i);
            const Box3& local = model_.shape_of(body).box;
            boxes_[i] = {};
            for (int c = 0; c < 8; ++c)
                boxes_[i].add(transform(state_.q[i], Vec3(c & 1 ? local.hi.x() : local.lo.x(),
                                                          c & 2 ? local.hi.y() : local.lo.y(),
                                                          c & 4 ? local.hi.z() : local.lo.z())));
            boxes_[i].inflate(gap_of_body * wider * model_.shape_of(body).radius +
                              model_.bodies.min_separation[i]);
        }
        broad_phase_.find_pairs(boxes_, pairs_, moves_);
        std::erase_if(pairs_, [&](const ItemPair& p) { return !model_.may_collide(p.a, p.b); });
        const auto height = [&](const ItemPair& p) {
            return std::min(up_.dot(state_.q[p.a].col(3)), up_.dot(state_.q[p.b].col(3)));
        };
        std::stable_sort(pairs_.begin(), pairs_.end(),
                         [&](const ItemPair& x, const ItemPair& y) { return height(x) < height(y); });
    }

    // How easily a body goes along +n or -n: it gives way less to what it carries.
    double mobility(int body, const Vec3& away) const {
        if (!moves_[body]) return 0.0;
        return (up_.dot(away) < -0.5 ? carrier : 1.0) / model_.bodies.mass[body];
    }

    double part(int a, int b) {
        Mat34 &qa = state_.q[a], &qb = state_.q[b];
        const double gap = gap_of(a, b);
        contacts_.clear();
        collide::find_contacts(colliders_[model_.bodies.shape[a]], qa.leftCols<3>(), qa.col(3),
                               colliders_[model_.bodies.shape[b]], qb.leftCols<3>(), qb.col(3), gap,
                               contacts_);
        double deepest = 0.0;
        Vec3 apart = Vec3::Zero();  // what this pair has been moved by
        for (const collide::PairContact& contact : contacts_) {
            const double missing = gap - contact.distance - contact.normal.dot(apart);
            if (missing <= closed_part * gap) continue;
            deepest = std::max(deepest, missing);
            const double of_a = mobility(a, -contact.normal), of_b = mobility(b, contact.normal);
            if (!(of_a + of_b > 0.0)) continue;
            const Vec3 push = missing / (of_a + of_b) * contact.normal;
            qa.col(3) -= of_a * push;
            qb.col(3) += of_b * push;
            apart += missing * contact.normal;
        }
        return deepest;
    }

    const Model& model_;
    State& state_;
    std::vector<collide::Collider> colliders_;  // of shapes
    std::vector<char> moves_;
    std::vector<Box3> boxes_;
    std::vector<ItemPair> pairs_;
    std::map<std::pair<int, int>, double> factor_;  // of the gap
    geometry::BroadPhase broad_phase_;
    collide::ContactList contacts_;
    Vec3 up_;
};

}  // namespace

PartReport part_bodies(const Model& model, State& state, const std::function<void(const std::string&)>& say) {
    PartReport report;
    const std::vector<Mat34> before = state.q;
    try {
        Parting parting(model, state);
        for (int check = 0, passes = 0; check < most_checks && passes < most_passes; ++check) {
            for (double deepest = 1.0; deepest > 0.0 && passes < most_passes; ++passes) {
                check_interrupt();
                deepest = parting.pass();
                if (say) say(fmt::format("moving bodies apart, pass {}: {:.3g} m deep", passes + 1, deepest));
            }
            const std::vector<model::InitialProblem> problems =
                model::check_initial_state(model, state).problems;
            report.clean = problems.empty();
            if (report.clean) break;
            for (const model::InitialProblem& problem : problems) {
                if (std::max(problem.a, problem.b) >= model.bodies.size()) check = most_checks;  // elastic
                parting.widen(problem.a, problem.b);
            }
        }
    } catch (const InputError&) {  // a shape without an inside
        report.clean = false;
    }
    if (!report.clean) {
        state.q = before;
        return report;
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
        const double distance = (state.q[i] - before[i]).col(3).norm();
        report.moved += distance > 0.0;
        report.farthest = std::max(report.farthest, distance);
    }
    return report;
}

}  // namespace tenon::run

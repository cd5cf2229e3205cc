#include "methods/volume/untangle.hpp"

#include <algorithm>
#include <cmath>

#include "math/interrupt.hpp"
#include "methods/volume/contact_problem.hpp"
#include "methods/volume/contacts.hpp"
#include "methods/volume/linked.hpp"
#include "methods/volume/volume_method.hpp"
#include "model/initial_check.hpp"
#include "tenon/error.hpp"

namespace tenon::volume {
namespace {

constexpr double kAllowedPixels = 0.5;

double chosen_margin(const Model& model, const State& state, const UntangleOptions& options) {
    if (options.margin > 0) return options.margin;
    double least = model.contact_spec.dhat.value_or(1e-3 * scene_length(model, state));
    for (double separation : model.bodies.min_separation) least = std::max(least, 2.1 * separation);
    return least;
}

// The deepest of some overlaps, and how many there are.
struct Overlap {
    double depth = 0;
    int a = -1, b = -1;
    int contacts = 0;
};

// One correction of all positions by the position problem (Eqs. 18, 19); returns the deepest overlap before it.
Overlap correct(const Model& model, const State& state, ContactFinder& finder, Motion& motion) {
    std::vector<VolumeContact> contacts;
    finder.find(model, motion, contacts);
    const double allowed = kAllowedPixels * finder.grid().pixel;
    Overlap worst;
    worst.contacts = static_cast<int>(contacts.size());
    std::vector<double> deepest(model.bodies.size(), 0.0);
    for (const VolumeContact& contact : contacts) {
        if (contact.depth() > worst.depth) {
            worst.depth = contact.depth();
            worst.a = contact.a, worst.b = contact.b;
        }
        for (int body : {contact.a, contact.b}) deepest[body] = std::max(deepest[body], contact.depth());
    }
    if (worst.depth <= allowed) return worst;
    ContactProblem problem(model, state, motion);
    problem.set_positions(contacts, 0.5 * kAllowedPixels, false);
    problem.couple();
    std::vector<double> multiplier(contacts.size(), 0.0), step;
    problem.solve({200, 0.02 * allowed}, multiplier, step);
    // a linearised step is good for about the overlap's own depth
    for (int i = 0; i < model.bodies.size(); ++i) {
        Eigen::Map<Vec6> d(step.data() + motion.rigid_offset(i));
        const double reach = d.head<3>().norm() + d.tail<3>().norm() * model.shape_of(i).radius;
        const double limit = std::max(deepest[i], 4 * allowed);
        if (reach > limit) d *= limit / reach;
    }
    motion.shift(model, state, step);
    return worst;
}

// Volumes may have no way down: a ring around a gear is pressed from both sides. Such a pair is taken apart along the
// shortest of some directions, wherever its hulls come apart. False when neither body can give way.
bool part_pair(const Model& model, const State& state, Motion& motion, int a, int b, double margin) {
    Vec3 best = Vec3::Zero();
    double shortest = 1e300;
    for (const Vec3& direction : ways()) {
        const double way = way_out(model, motion, a, b, direction);
        if (way < shortest) shortest = way, best = direction;
    }
    Vec6 push = Vec6::Zero();
    push.head<3>() = best;
    const Vec3 of_a = motion.rigid_response(model, state, a, push).head<3>(),
               of_b = motion.rigid_response(model, state, b, push).head<3>();
    const double gives = best.dot(of_a + of_b);
    if (!(gives > 0)) return false;
    motion.rigid[a].position -= (shortest + margin) / gives * of_a;
    motion.rigid[b].position += (shortest + margin) / gives * of_b;
    return true;
}

// Corrections until nothing is deeper than allowed, or until they lead nowhere; returns the depth that is left.
double separate(const Model& model, const State& state, ContactFinder& finder, Motion& motion,
                const UntangleOptions& options, UntangleReport& report) {
    constexpr int patience = 8;
    double best = 1e300;
    Overlap deepest;
    int partings = 3 * model.bodies.size();
    for (int round = 0, since = 0; round < options.rounds; ++round, ++report.rounds) {
        check_interrupt();
        deepest = correct(model, state, finder, motion);
        if (options.progress) options.progress(report.rounds, deepest.depth, deepest.contacts);
        if (deepest.depth <= kAllowedPixels * finder.grid().pixel) break;
        since = deepest.depth < 0.99 * best ? 0 : since + 1;
        best = std::min(best, deepest.depth);
        if (since < patience) continue;
        if (deepest.depth < 2 * finder.grid().pixel || --partings < 0 ||
            !part_pair(model, state, motion, deepest.a, deepest.b, report.margin))
            break;
        report.parted.emplace_back(model.bodies.name[deepest.a], model.bodies.name[deepest.b]);
        since = 0;
        best = 1e300;
    }
    return deepest.depth;
}

// How deep bodies overlap as they are: the surfaces themselves, not inflated.
double overlap_depth(const Model& model, const State& state, const Motion& motion, double pixel) {
    ContactFinder finder(model, state, {{pixel, 8}, 0, false, 0.0});
    std::vector<VolumeContact> contacts;
    finder.find(model, motion, contacts);
    double depth = 0;
    for (const VolumeContact& contact : contacts) depth = std::max(depth, contact.depth());
    return depth;
}

// Images see surfaces to half a pixel, so that bodies end up farther apart than need be. Each body goes back towards where
// it started, as far as an exact check of distances finds the margin kept: first all the way, then by bisection.
class PullBack {
  public:
    PullBack(const Model& model, const State& state, double margin) : trial_(model), posed_(state) {
        for (double& separation : trial_.bodies.min_separation)
            separation = std::max(separation, 0.5 * margin);
    }

    void run(const Model& model, const State& state, Motion& motion) {
        const int count = model.bodies.size();
        start_.clear();
        for (int i = 0; i < count; ++i) start_.push_back(model::rigid_state(state, i));
        away_ = motion.rigid;
        share_.assign(count, 1.0);
        refused_.assign(count, 0.0);
        frozen_.assign(count, 0);
        for (int i = 0; i < count; ++i) frozen_[i] = !state.dynamic(i);
        for (const model::InitialProblem& problem : problems(share_))
            frozen_[problem.a] = frozen_[problem.b] = 1;
        constexpr int halvings = 20;
        for (int round = 0; round <= halvings; ++round) {
            std::vector<double> wanted = share_;
            for (int i = 0; i < count; ++i)
                if (!frozen_[i] && share_[i] > 0)
                    wanted[i] = round == 0 ? 0.0 : 0.5 * (share_[i] + refused_[i]);
            settle(wanted);
        }
        for (int i = 0; i < count; ++i) motion.rigid[i] = between(i, share_[i]);
    }

  private:
    model::RigidState between(int i, double share) const {
        model::RigidState state = share > 0 ? away_[i] : start_[i];
        if (share <= 0 || share >= 1) return state;
        state.position = start_[i].position + share * (away_[i].position - start_[i].position);
        state.rotation = start_[i].rotation.slerp(share, away_[i].rotation).normalized();
        return state;
    }

    std::vector<model::InitialProblem> problems(const std::vector<double>& share) {
        for (std::size_t i = 0; i < share.size(); ++i)
            if (share[i] != placed_at(i)) {
                const Mat34 rate = posed_.rate[i];
                posed_.q[i] = model::to_q(between(static_cast<int>(i), share[i]));
                posed_.rate[i] = rate;
                placed_[i] = share[i];
            }
        return model::check_initial_state(trial_, posed_).problems;
    }

    double placed_at(std::size_t i) {
        if (placed_.size() < start_.size()) placed_.assign(start_.size(), 0.0);
        return placed_[i];
    }

    // Takes over what the check accepts. Bodies in its way return to where they were, which is known to be free.
    void settle(std::vector<double>& wanted) {
        for (;;) {
            check_interrupt();
            bool returned = false;
            for (const model::InitialProblem& problem : problems(wanted))
                for (int body : {problem.a, problem.b})
                    if (wanted[body] != share_[body]) {
                        refused_[body] = wanted[body];
                        wanted[body] = share_[body];
                        returned = true;
                    }
            if (!returned) break;
        }
        share_ = wanted;
    }

    Model trial_;  // with the margin as minimum separation
    State posed_;
    std::vector<model::RigidState> start_, away_;
    std::vector<double> share_, refused_;  // of the way from start to away: accepted, and too close
    std::vector<double> placed_;           // shares at which the trial's bodies are
    std::vector<char> frozen_;
};

void write_back(const Model& model, const State& state, const Motion& motion, Scene& scene,
                UntangleReport& report) {
    for (int i = 0; i < model.bodies.size(); ++i) {
        const model::RigidState start = model::rigid_state(state, i);
        const double distance = (motion.rigid[i].position - start.position).norm();
        const double degrees =
            logarithm_map(motion.rigid[i].rotation * start.rotation.conjugate()).norm() * 180 / M_PI;
        if (distance == 0 && degrees == 0) continue;
        const Pose& geometry = model.shape_of(i).geometry_frame;
        BodySpec& body = scene.bodies[i];
        body.rotation = (motion.rigid[i].rotation * geometry.rotation).normalized();
        body.position = motion.rigid[i].position + motion.rigid[i].rotation * geometry.position;
        report.moved.push_back({body.name, distance, degrees});
    }
    std::stable_sort(report.moved.begin(), report.moved.end(),
                     [](const auto& a, const auto& b) { return a.distance > b.distance; });
}

}  // namespace

UntangleReport untangle(Scene& scene, const UntangleOptions& options) {
    if (!scene.joints.empty())
        throw InputError(scene.file.empty() ? scene.name : scene.file, "joints[0]",
                         "jointed bodies cannot be moved apart one by one",
                         "untangle the bodies without their joints");
    if (!scene.elastic.empty())
        throw InputError(scene.file.empty() ? scene.name : scene.file, "elastic[0]",
                         "untangling moves rigid bodies only",
                         "run the scene with --method volume, which separates elastic bodies as it goes");
    const Model model = compile(scene);
    const State state = initial_state(model);
    State posed = state;
    Motion motion(model, state);
    UntangleReport report;
    report.margin = chosen_margin(model, state, options);
    report.pixel = options.pixel > 0 ? options.pixel : choose_pixel(model, state);
    report.overlap_depth = overlap_depth(model, state, motion, report.pixel);
    for (int refinement = 0; refinement <= options.refinements; ++refinement, report.pixel *= 0.5) {
        // surfaces may overlap by half a pixel's depth in the end: inflate by that much more
        const double allowed = kAllowedPixels * report.pixel;
        ContactFinder finder(model, state, {{report.pixel, 8}, 0, false, 0.5 * report.margin + allowed});
        const double left = separate(model, state, finder, motion, options, report);
        motion.store(model, posed);
        const model::InitialCheck check = model::check_initial_state(model, posed);
        report.remaining.clear();
        for (const model::InitialProblem& problem : check.problems)
            report.remaining.push_back(model::describe(model, problem));
        // finer pixels help against what coarse ones miss, not against bodies that cannot give way
        if (report.clean() || left > 4 * report.pixel) break;
    }
    if (report.clean()) PullBack(model, state, report.margin).run(model, state, motion);
    if (report.clean())
        for (const auto& [a, b] : linked_pairs(model, state, motion, 0.5 * choose_pixel(model, state)))
            report.linked.emplace_back(model.bodies.name[a], model.bodies.name[b]);
    write_back(model, state, motion, scene, report);
    return report;
}

}  // namespace tenon::volume

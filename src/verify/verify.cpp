#include "verify/verify.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <unordered_set>

#include <fmt/format.h>
#include <Eigen/LU>
#include <nlohmann/json.hpp>

#include "math/parallel.hpp"
#include "tenon/error.hpp"
#include "verify/bodies.hpp"
#include "verify/facts.hpp"
#include "verify/findings.hpp"
#include "verify/flight.hpp"
#include "verify/joints.hpp"
#include "verify/momentum.hpp"
#include "verify/motion.hpp"
#include "verify/path_sweep.hpp"
#include "verify/penetration.hpp"
#include "verify/records.hpp"
#include "verify/self_contact.hpp"
#include "verify/stored_scene.hpp"

namespace tenon::verify {
namespace {

using Pair = std::array<int, 2>;

constexpr double overlap_share = 0.05;  // of the smaller body's diagonal, for methods that let bodies overlap
constexpr double touching_share = 1e-9;  // of the smaller body's diagonal: overlaps of that much are rounding
constexpr double strain_worth_a_word = 1e-3;  // of A^T A - I

std::uint64_t ordered_key(int inner, int outer) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(inner)) << 32) |
           static_cast<std::uint32_t>(outer);
}

std::vector<Pair> pairs_to_check(const BodySet& bodies, const std::vector<Box3>& boxes) {
    std::vector<Pair> pairs = overlapping_pairs(boxes);
    std::erase_if(pairs, [&](const Pair& pair) { return bodies.may_touch(pair[0], pair[1]); });
    return pairs;
}

std::vector<Box3> joined(std::vector<Box3> boxes, const std::vector<Box3>& others) {
    for (std::size_t i = 0; i < boxes.size(); ++i) boxes[i].add(others[i]);
    return boxes;
}

template <class List>
bool finite(const List& values) {
    return std::all_of(values.begin(), values.end(), [](const auto& value) { return value.allFinite(); });
}

bool all_finite(const run::Frame& frame) {
    bool good = std::isfinite(frame.time) && finite(frame.q) && finite(frame.rate);
    for (const auto& x : frame.x) good = good && finite(x);
    for (const auto& v : frame.v) good = good && finite(v);
    return good;
}

// A frame with everything that is asked of it.
struct Moment {
    long index = 0;
    run::Frame frame;
    std::unique_ptr<Placement> placement;
    std::unordered_set<std::uint64_t> contained;     // (inner, outer) bodies
    std::unordered_set<std::uint64_t> intersecting;  // pairs, found in the frame itself
};

double largest_vertex_change(const std::vector<Vec3>& before, const std::vector<Vec3>& after) {
    double largest = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
        largest = std::max(largest, (after[i] - before[i]).norm());
    return largest;
}

// The end of a straight piece of motion. Without vertices, when elastic bodies were not recorded with it.
struct Piece {
    std::vector<Mat34> q;
    std::vector<std::vector<Vec3>> x;
};

// All bodies' matrices come first, then the vertices of all elastic bodies, four to a matrix.
Piece piece_of(const std::vector<Mat34>& recorded, const run::Frame& frame) {
    Piece piece;
    piece.q.assign(recorded.begin(), recorded.begin() + frame.q.size());
    std::size_t at = 4 * frame.q.size();
    if (recorded.size() == frame.q.size()) return piece;
    for (const std::vector<Vec3>& body : frame.x) {
        std::vector<Vec3>& x = piece.x.emplace_back(body.size());
        for (Vec3& vertex : x) {
            vertex = recorded[at / 4].col(static_cast<int>(at % 4));
            ++at;
        }
    }
    return piece;
}

class Verifier {
  public:
    Verifier(const run::RunReader& run, const Options& options)
        : run_(run),
          options_(options),
          bodies_(bodies_of(run)),
          scene_(scene_of(run)),
          facts_(facts_of(run, scene_)),
          momentum_(run, facts_),
          flight_(run, scene_, facts_),
          has_path_(run.has_path()),
          findings_(options.max_listed) {}

    Result verify();

  private:
    Moment load(long index);
    void check_surfaces(Moment& moment);
    bool touches_at_start(const Moment& moment, const Pair& pair) const;
    void check_containment(const Moment& before, const Moment& now);
    void start();
    void count_jointed_pairs();
    double allowance(const Placed& a, const Placed& b) const;
    void check_shapes(const Moment& moment);
    void check_joints(const Moment& moment);
    run::Frame as_written(run::Frame first) const;
    void check_between(const Moment& before, const Moment& now);
    void check_motion(const Moment& before, const Moment& now, bool elastic_only);
    void check_path(const Moment& before, const Moment& now, const std::vector<Piece>& pieces, bool elastic);
    void check_piece(const Moment& before, const Moment& now, const Placement& from, const Placement& to,
                     bool elastic);
    void check_self(const Moment& moment);
    void check_self_motion(const Moment& now, const Placement& from, const Placement& to, bool known);
    Travel travel(const Moment& before, const Moment& now, int body) const;
    void count_steps(long between);
    std::vector<Pair> moving_pairs(const Moment& before, const Moment& now, const Placement& from,
                                   const Placement& to) const;
    Finding pair_finding(const char* kind, const Moment& moment, const Pair& pair, int cell_a, int cell_b,
                         const std::string& text) const;

    const run::RunReader& run_;
    const Options& options_;
    BodySet bodies_;
    nlohmann::json scene_;
    SceneFacts facts_;
    MomentumAudit momentum_;
    FlightAudit flight_;
    std::optional<StoredScene> stored_;
    std::optional<RecordAudit> records_;
    std::optional<JointAudit> joints_;
    bool has_path_;
    bool stretched_ = false;  // a body changed its shape visibly, within what is allowed
    PathSweep path_;
    std::vector<SelfSweep> self_;  // per elastic body
    Result result_;
    FindingList findings_;
};

Finding Verifier::pair_finding(const char* kind, const Moment& moment, const Pair& pair, int cell_a,
                               int cell_b, const std::string& text) const {
    Finding finding;
    finding.kind = kind;
    finding.frame = moment.index;
    finding.time = moment.frame.time;
    finding.a = bodies_.name[pair[0]];
    finding.b = bodies_.name[pair[1]];
    finding.triangle_a = cell_a;
    finding.triangle_b = cell_b;
    finding.text = text;
    return finding;
}

Moment Verifier::load(long index) {
    Moment moment;
    moment.index = index;
    moment.frame = run_.frame(index);
    if (!all_finite(moment.frame))
        throw InputError(run_.file(), fmt::format("frames[{}]", index), "holds a number that is not finite",
                         "the run is damaged");
    moment.placement = std::make_unique<Placement>(bodies_, moment.frame.q, moment.frame.x);
    return moment;
}

// Whether a scene puts two bodies so that they touch without overlapping. A barrier method begins by moving them apart.
bool Verifier::touches_at_start(const Moment& moment, const Pair& pair) const {
    const Placed &a = (*moment.placement)[pair[0]], &b = (*moment.placement)[pair[1]];
    const bool start = stored_ && moment.index == 0 && moment.frame.step == 0;
    if (!start || !a.surface->closed || !b.surface->closed) return false;
    return penetration_depth(a, b) <= touching_share * std::min(a.box().diagonal(), b.box().diagonal());
}

// Exact test of all near pairs, and which bodies lie inside closed others.
void Verifier::check_surfaces(Moment& moment) {
    const Placement& placement = *moment.placement;
    const std::vector<Pair> pairs = pairs_to_check(bodies_, placement.boxes());
    result_.body_pairs += static_cast<long>(pairs.size());
    result_.elastic_pairs += std::count_if(pairs.begin(), pairs.end(), [&](const Pair& pair) {
        return pair[1] >= static_cast<int>(bodies_.rigid);
    });
    struct Found {
        bool hit = false;
        int cell_a = -1, cell_b = -1;
        std::array<bool, 2> inside{};  // first in second, second in first
        double depth = 0.0, allowed = 0.0;
    };
    std::vector<Found> found(pairs.size());
    parallel_for(pairs.size(), 1, [&](std::size_t i) {
        const Placed &a = placement[pairs[i][0]], &b = placement[pairs[i][1]];
        if (kept_apart(a, a, b, b)) return;
        found[i].hit = surfaces_intersect(a, b, found[i].cell_a, found[i].cell_b);
        if (found[i].hit) {
            found[i].allowed = allowance(a, b);
            if (found[i].allowed > 0) found[i].depth = penetration_depth(a, b);
            return;
        }
        if (b.surface->closed) found[i].inside[0] = contains(b, a.vertex(a.surface->cells[0][0]));
        if (a.surface->closed) found[i].inside[1] = contains(a, b.vertex(b.surface->cells[0][0]));
    });
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (found[i].inside[0]) moment.contained.insert(ordered_key(pairs[i][0], pairs[i][1]));
        if (found[i].inside[1]) moment.contained.insert(ordered_key(pairs[i][1], pairs[i][0]));
        if (!found[i].hit) continue;
        moment.intersecting.insert(ordered_key(pairs[i][0], pairs[i][1]));
        if (found[i].allowed > 0) {
            result_.penetration_max = std::max(result_.penetration_max, found[i].depth);
            if (found[i].depth <= found[i].allowed) {
                ++result_.penetrations;
                continue;
            }
            ++result_.intersections;
            Finding deep = pair_finding("penetration", moment, pairs[i], found[i].cell_a, found[i].cell_b,
                                        fmt::format("they overlap by {:.3g} m, allowed are {:.3g} m",
                                                    found[i].depth, found[i].allowed));
            deep.amount = found[i].depth;
            findings_.add(deep);
            continue;
        }
        if (touches_at_start(moment, pairs[i])) {
            ++result_.touching_at_start;
            continue;
        }
        ++result_.intersections;
        // A hit says nothing about inside or outside: later frames compare with what was known before.
        findings_.add(pair_finding("surface", moment, pairs[i], found[i].cell_a, found[i].cell_b,
                                   "their surfaces intersect"));
    }
}

// No continuous motion takes a body into, or out of, a closed one without its surface being crossed.
void Verifier::check_containment(const Moment& before, const Moment& now) {
    std::vector<std::uint64_t> changed;
    for (const std::uint64_t key : now.contained)
        if (before.contained.count(key) == 0) changed.push_back(key);
    for (const std::uint64_t key : before.contained)
        if (now.contained.count(key) == 0) changed.push_back(key);
    std::sort(changed.begin(), changed.end());
    for (const std::uint64_t key : changed) {
        const Pair pair{static_cast<int>(key >> 32), static_cast<int>(key & 0xffffffffu)};
        ++result_.intersections;
        const bool inside = now.contained.count(key) > 0;
        findings_.add(pair_finding(
            "contained", now, pair, -1, -1,
            inside ? "the first is now inside the second" : "the first is no longer inside the second"));
    }
}

void Verifier::check_shapes(const Moment& moment) {
    for (std::size_t i = 0; i < bodies_.rigid; ++i) {
        const Mat3 A = moment.frame.q[i].leftCols<3>();
        const double stretch = (A.transpose() * A - Mat3::Identity()).cwiseAbs().maxCoeff();
        result_.deformation_max = std::max(result_.deformation_max, stretch);
        if (stretch > facts_.allowed_strain[i]) {
            ++result_.deformed;
            findings_.add(finding("deformed", moment.index, moment.frame.time, bodies_.name[i],
                                  fmt::format("its matrix is off a rotation by {:.3g}, allowed are {:.3g}",
                                              stretch, facts_.allowed_strain[i]),
                                  stretch));
        } else if (stretch > strain_worth_a_word) {
            stretched_ = true;
        }
        if (A.determinant() > 0) continue;
        ++result_.inverted;
        findings_.add(finding("inverted", moment.index, moment.frame.time, bodies_.name[i],
                              "the body is turned inside out"));
    }
}

// Anchors and axes are given for bodies as the scene writes them, before joints are moved to where they start.
run::Frame Verifier::as_written(run::Frame first) const {
    if (!stored_) return first;
    Scene scene = stored_->scene;
    bool moved = !scene.start.empty() || first.time > 0.0;  // handed over by another run
    scene.start.clear();
    for (JointSpec& joint : scene.joints) {
        moved = moved || !joint.start.empty();
        joint.start.clear();
        joint.start_rate.clear();
    }
    if (!moved) return first;
    std::vector<Mat34> written = compile(scene).bodies.start_q;
    if (written.size() == first.q.size()) first.q = std::move(written);  // else another scene, as was said
    return first;
}

void Verifier::check_joints(const Moment& moment) {
    if (!joints_) joints_.emplace(run_, scene_, as_written(moment.frame));
    const std::vector<double> residuals = joints_->residuals(moment.frame, options_.joint_tolerance);
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        result_.joint_residual_max = std::max(result_.joint_residual_max, residuals[i]);
        if (residuals[i] > options_.joint_tolerance) {
            ++result_.joints_open;
            findings_.add(finding("joint", moment.index, moment.frame.time, joints_->name(i),
                                  fmt::format("open by {:.3g} (m or rad)", residuals[i]), residuals[i]));
        }
        const double excess = joints_->limit_excess(i);
        result_.limit_excess_max = std::max(result_.limit_excess_max, excess);
        if (excess <= options_.limit_tolerance) continue;
        ++result_.limits_passed;
        findings_.add(finding("limit", moment.index, moment.frame.time, joints_->name(i),
                              fmt::format("beyond its limits by {:.3g} (m or rad)", excess), excess));
    }
}

Travel Verifier::travel(const Moment& before, const Moment& now, int body) const {
    Travel travel;
    travel.start = (*before.placement)[body];
    travel.end = (*now.placement)[body];
    if (static_cast<std::size_t>(body) < bodies_.rigid) {
        travel.rate_start = before.frame.rate[body];
        travel.rate_end = now.frame.rate[body];
    } else {
        const std::size_t k = body - bodies_.rigid;
        travel.vertex_change = largest_vertex_change(before.frame.v[k], now.frame.v[k]);
    }
    return travel;
}

// Pairs that come near on the way; those that intersect at one of its ends are known already.
std::vector<Pair> Verifier::moving_pairs(const Moment& before, const Moment& now, const Placement& from,
                                         const Placement& to) const {
    std::vector<Pair> pairs = pairs_to_check(bodies_, joined(from.boxes(), to.boxes()));
    std::erase_if(pairs, [&](const Pair& pair) {
        const std::uint64_t key = ordered_key(pair[0], pair[1]);
        return before.intersecting.count(key) > 0 || now.intersecting.count(key) > 0;
    });
    return pairs;
}

// Between two frames the recorded path decides; runs without one leave the straight way.
void Verifier::check_between(const Moment& before, const Moment& now) {
    const bool elastic = bodies_.size() > bodies_.rigid;
    std::vector<Piece> pieces;
    if (has_path_)
        for (const auto& recorded : run_.path_pieces(before.frame.step + 1, now.frame.step))
            pieces.push_back(piece_of(recorded, now.frame));
    if (pieces.empty()) {
        path_ = {};
        check_motion(before, now, false);
        if (elastic) check_self_motion(now, *before.placement, *now.placement, false);
        return;
    }
    // Of a method that lets bodies overlap the frames' own rules hold for elastic bodies.
    const bool elastic_path =
        elastic && never_overlaps(run_.meta("method")) &&
        std::all_of(pieces.begin(), pieces.end(), [](const Piece& piece) { return !piece.x.empty(); });
    result_.elastic_path = result_.elastic_path || elastic_path;
    check_path(before, now, pieces, elastic_path);
    if (elastic && !elastic_path) {
        check_motion(before, now, true);
        check_self_motion(now, *before.placement, *now.placement, false);
    }
}

// Straight motion of every vertex from frame to frame; what touches on it is judged by other plausible motions.
void Verifier::check_motion(const Moment& before, const Moment& now, bool elastic_only) {
    const Placement &from = *before.placement, &to = *now.placement;
    std::vector<Pair> pairs = moving_pairs(before, now, from, to);
    const int rigid = static_cast<int>(bodies_.rigid);
    if (elastic_only) std::erase_if(pairs, [&](const Pair& pair) { return pair[1] < rigid; });
    const double seconds = now.frame.time - before.frame.time;
    const bool steps_between = now.frame.step - before.frame.step > 1;
    struct Found {
        SweepHit chord;
        Verdict verdict = Verdict::free;
    };
    std::vector<Found> found(pairs.size());
    parallel_for(pairs.size(), 1, [&](std::size_t i) {
        const auto [a, b] = pairs[i];
        found[i].chord = sweep(from[a], to[a], from[b], to[b]);
        if (!found[i].chord.hit) return;
        found[i].verdict = judge(travel(before, now, a), travel(before, now, b), found[i].chord, seconds,
                                 facts_.gravity, steps_between, allowance(from[a], from[b]));
    });
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (!found[i].chord.hit) continue;
        ++result_.chord_hits;
        ++result_.unproven;  // frames alone prove neither
        if (found[i].verdict == Verdict::avoidable) continue;
        ++result_.unexplained;
        findings_.add(pair_finding(
            "motion", now, pairs[i], found[i].chord.cell_a, found[i].chord.cell_b,
            "no motion was found that fits the recorded poses and velocities and keeps them apart since the "
            "frame before; record the path to know"));
    }
}

// The recorded path is the motion itself: every piece is checked for every near pair.
void Verifier::check_path(const Moment& before, const Moment& now, const std::vector<Piece>& pieces,
                          bool elastic) {
    const auto place = [&](const Piece& piece) {
        return std::make_unique<Placement>(bodies_, piece.q, elastic ? piece.x : before.frame.x);
    };
    std::unique_ptr<Placement> from = place({before.frame.q, before.frame.x}), to;
    for (const Piece& piece : pieces) {
        to = place(piece);
        check_piece(before, now, *from, *to, elastic);
        from = std::move(to);
    }
    const Piece& last = pieces.back();
    if (last.q == now.frame.q && (!elastic || last.x == now.frame.x)) return;
    to = place({now.frame.q, now.frame.x});
    check_piece(before, now, *from, *to, elastic);
}

void Verifier::check_piece(const Moment& before, const Moment& now, const Placement& from,
                           const Placement& to, bool elastic) {
    std::vector<Pair> pairs = moving_pairs(before, now, from, to);
    const int rigid = static_cast<int>(bodies_.rigid);
    if (!elastic) std::erase_if(pairs, [&](const Pair& pair) { return pair[1] >= rigid; });
    const std::vector<SweepHit> hits = path_.advance(from, to, pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (!hits[i].hit) continue;
        ++result_.intersections;
        findings_.add(pair_finding("path", now, pairs[i], hits[i].cell_a, hits[i].cell_b,
                                   "they touch on the recorded path since the frame before"));
    }
    if (elastic) check_self_motion(now, from, to, true);
}

// Elastic bodies of a method that lets nothing overlap keep away from themselves too.
void Verifier::check_self(const Moment& moment) {
    if (!never_overlaps(run_.meta("method"))) return;
    const std::size_t count = bodies_.size() - bodies_.rigid;
    result_.self_tests += static_cast<long>(count);
    std::vector<std::optional<SelfPair>> found(count);
    parallel_for(count, 1, [&](std::size_t e) {
        found[e] = self_intersection((*moment.placement)[static_cast<int>(bodies_.rigid + e)]);
    });
    for (std::size_t e = 0; e < count; ++e) {
        if (!found[e]) continue;
        const int body = static_cast<int>(bodies_.rigid + e);
        ++result_.intersections;
        findings_.add(pair_finding("surface", moment, {body, body}, found[e]->cell_a, found[e]->cell_b,
                                   "its surface intersects itself"));
    }
}

// `known`: vertices did move straight, by the recorded path. Otherwise a hit proves nothing.
void Verifier::check_self_motion(const Moment& now, const Placement& from, const Placement& to, bool known) {
    if (!never_overlaps(run_.meta("method"))) return;
    const std::size_t count = bodies_.size() - bodies_.rigid;
    self_.resize(count);
    std::vector<SweepHit> hits(count);
    parallel_for(count, 1, [&](std::size_t e) {
        const int body = static_cast<int>(bodies_.rigid + e);
        hits[e] = self_[e].advance(from[body], to[body]);
    });
    for (std::size_t e = 0; e < count; ++e) {
        if (!hits[e].hit) continue;
        const int body = static_cast<int>(bodies_.rigid + e);
        if (!known) {
            ++result_.chord_hits;
            ++result_.unproven;
            continue;
        }
        ++result_.intersections;
        findings_.add(pair_finding("path", now, {body, body}, hits[e].cell_a, hits[e].cell_b,
                                   "it touches itself on the recorded path since the frame before"));
    }
}

void Verifier::count_steps(long between) {
    result_.steps_between_min =
        result_.steps_between_min == 0 ? between : std::min(result_.steps_between_min, between);
    result_.steps_between_max = std::max(result_.steps_between_max, between);
}

// What can be said before any frame is looked at.
void Verifier::start() {
    result_.file = run_.file();
    result_.scene = run_.meta("name");
    result_.method = run_.meta("method");
    result_.path_recorded = has_path_;
    result_.motion_checked = options_.motion;
    result_.pushed = facts_.pushed;
    if (facts_.pushed)
        result_.warnings.push_back(
            "bodies were pulled at while it ran: free flight and energy were not judged, nothing is proven");
    result_.allowance_relative = options_.penetration_allowance < 0;
    result_.penetration_allowance = !result_.allowance_relative           ? options_.penetration_allowance
                                    : never_overlaps(run_.meta("method")) ? 0.0
                                                                          : overlap_share;
    std::string why;
    stored_ = rebuild(run_, why);
    result_.scene_rebuilt = stored_.has_value();
    double dt = facts_.dt;
    long steps = -1;
    if (stored_) {
        compare_with_scene(run_, *stored_, result_, findings_);
        dt = stored_->scene.dt;
        steps = std::lround(stored_->scene.seconds / dt);
    } else {
        // Meshes may be elsewhere on another machine; anything else that is wrong with a scene was wrong before it ran.
        if (!names_files(scene_)) {
            ++result_.record_errors;
            findings_.add(finding("scene", 0, 0.0, "", "the stored scene cannot be made: " + why));
        }
        result_.warnings.push_back(
            "shapes and masses were taken from the run file, unchecked, because its scene cannot be made: " +
            why);
    }
    records_.emplace(run_, dt, steps);
    // What only the whole run shows is no fault of a part of it.
    if (options_.first_frame <= 0 && options_.last_frame < 0) records_->check(options_, result_, findings_);
    count_jointed_pairs();
}

// Bodies that share a joint overlap by design more often than not: the reader should know which were looked at.
void Verifier::count_jointed_pairs() {
    std::unordered_set<std::uint64_t> seen;
    for (const run::JointInfo& joint : run_.joints()) {
        const auto [a, b] = joint.bodies;
        if (joint.type == JointType::coupling || a < 0 || b < 0 || a == b) continue;
        if (!seen.insert(ordered_key(std::min(a, b), std::max(a, b))).second) continue;
        ++(bodies_.may_touch(a, b) ? result_.jointed_ignored : result_.jointed_checked);
    }
}

double Verifier::allowance(const Placed& a, const Placed& b) const {
    if (!result_.allowance_relative) return result_.penetration_allowance;
    return result_.penetration_allowance * std::min(a.box().diagonal(), b.box().diagonal());
}

Result Verifier::verify() {
    const auto begin = std::chrono::steady_clock::now();
    start();
    const std::vector<run::FrameEntry>& list = records_->frames();
    if (list.empty())
        throw InputError(run_.file(), "frames", "there are none", "let the run go on for longer");
    const long count = list.back().id + 1;
    const long first = std::clamp<long>(options_.first_frame, 0, count - 1);
    const long last = options_.last_frame < 0 ? count - 1 : std::min(options_.last_frame, count - 1);
    if (first > 0) joints_.emplace(run_, scene_, as_written(run_.frame(list.front().id)));
    Moment before;
    for (std::size_t at = 0; at < list.size(); ++at) {
        const long index = list[at].id;
        if (index < first || index > last) continue;
        Moment now = load(index);
        ++result_.frames;
        if (stored_ && index == 0) compare_start(run_, now.frame, *stored_, result_, findings_);
        if (stored_)
            compare_scripts(run_, index, before.placement ? &before.frame : nullptr, now.frame, *stored_,
                            result_, findings_);
        records_->check_frame(at, now.frame, result_, findings_);
        check_surfaces(now);
        check_self(now);
        check_shapes(now);
        check_joints(now);
        momentum_.add(index, now.frame, options_, result_, findings_);
        if (!before.placement) {
            result_.contained_at_start = static_cast<long>(now.contained.size());
        } else {
            count_steps(now.frame.step - before.frame.step);
            flight_.add(index, before.frame, now.frame, before.placement->boxes(), now.placement->boxes(),
                        result_, findings_);
            check_containment(before, now);
            if (options_.motion) check_between(before, now);
        }
        before = std::move(now);
        if (options_.progress) options_.progress(index - first + 1, last - first + 1);
    }
    momentum_.finish(result_, findings_);
    flight_.finish(result_, findings_);
    if (stretched_)
        result_.warnings.push_back(
            fmt::format("bodies changed their shape by up to {:.3g}", result_.deformation_max));
    if (result_.script_held_up)
        result_.warnings.push_back(
            fmt::format("contact held up scripted bodies, by up to {:.3g} m", result_.script_deviation));
    result_.findings = findings_.take();
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(result_);
}

}  // namespace

Result verify_run(const run::RunReader& run, const Options& options) {
    // The scene inside a damaged file may be JSON without being a scene.
    try {
        return Verifier(run, options).verify();
    } catch (const nlohmann::json::exception&) {
    } catch (const std::out_of_range&) {
    }
    throw InputError(run.file(), "meta.scene", "does not describe this run", "run the scene again");
}

long count_intersections(const Model& model, const State& state) {
    const BodySet bodies = bodies_of(model, state);
    std::vector<std::vector<Vec3>> x;
    for (const ElasticState& body : state.elastic) x.push_back(body.x);
    const Placement placement(bodies, state.q, x);
    const std::vector<Pair> pairs = pairs_to_check(bodies, placement.boxes());
    std::vector<char> hit(pairs.size(), 0);
    parallel_for(pairs.size(), 1, [&](std::size_t i) {
        int cell_a = -1, cell_b = -1;
        hit[i] = surfaces_intersect(placement[pairs[i][0]], placement[pairs[i][1]], cell_a, cell_b);
    });
    return std::count(hit.begin(), hit.end(), 1);
}

}  // namespace tenon::verify

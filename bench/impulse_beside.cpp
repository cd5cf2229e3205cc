// The same scene in our method and in Bullet, and scenes that must hold: pyramids, hulls, rest.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/impulse_bullet.hpp"
#include "bench/impulse_parts.hpp"
#include "math/parallel.hpp"
#include "methods/impulse/contact_finder.hpp"
#include "scene/builtin/scene_parts.hpp"

namespace tenon::bench::impulse_parts {
namespace {

State with_poses_of(const Simulation& simulation, const BulletScene& peer) {
    State state;
    state.assign_without_memory(simulation.state());
    for (std::size_t i = 0; i < state.q.size(); ++i) state.q[i] = peer.pose(static_cast<int>(i));
    return state;
}

// Deepest penetration at given poses, found by the same code for every engine.
class Depth {
  public:
    explicit Depth(const Model& model) : model_(model), empty_(model, {}) {}
    double operator()(const State& state) const {
        impulse::ContactFinder finder = empty_;
        finder.find(model_, state, std::vector<impulse::Twist>(state.q.size()),
                    std::vector<char>(state.q.size(), 1), 0.0);
        double depth = 0;
        for (const impulse::ManifoldContact& c : finder.contacts()) depth = std::max(depth, -c.distance);
        return depth;
    }

  private:
    const Model& model_;
    impulse::ContactFinder empty_;
};

// What one engine did: medians over windows of 25 steps, the costliest and the last.
struct Track {
    static constexpr int window = 25;
    double total_ms = 0, peak = 0, last = 0;
    std::vector<double> current;
    int steps = 0, contacts = 0, most_contacts = 0;
    double worst = 0, end = 0;
    double own = 0;  // by a peer's own contacts, which may be of other shapes than ours
    std::vector<Vec3> before_end;

    void add(const Cost& cost, int count) {
        total_ms += cost.cpu_ms;
        current.push_back(cost.cpu_ms);
        contacts = count;
        most_contacts = std::max(most_contacts, count);
        if (++steps % window) return;
        last = median(current);
        peak = std::max(peak, last);
        current.clear();
    }
    Row row(const std::string& name, const std::string& engine, int size, double drift) const {
        Row row;
        row.set("bench", "impulse").set("case", name).set("engine", engine);
        if (engine == "tenon") row.set("method", "impulse");
        row.set("size", size).set("threads", 1).set("cpu_ms_per_step", total_ms / steps);
        row.set("cpu_ms_peak", peak).set("cpu_ms_end", last);
        row.set("contacts_max", most_contacts).set("contacts_end", contacts);
        row.set("max_penetration", worst).set("penetration_end", end).set("drift_last_half_second", drift);
        if (engine != "tenon") row.set("max_penetration_by_own_contacts", own);
        return row;
    }
};

Scene without_sleep(Scene scene) {
    scene.method_params["sleeping"] = false;
    return scene;
}

// The true shapes of the chess pieces replaced by their convex hulls.
Scene hulls_of(Scene scene) {
    for (GeometrySpec& geometry : scene.geometries) {
        if (geometry.shape == "plane" || geometry.shape == "box") continue;
        geometry = mesh_spec(convex_hull(geometry::find_shape(geometry.shape)->make(geometry.shape_params)));
    }
    return scene;
}

// Boxes of 0.5 m on each other's gaps: `rows` at the bottom, one at the top. Their faces touch from the start.
Scene pyramid(int rows, double dt) {
    constexpr double side = 0.5, pitch = 0.52;
    Scene scene;
    scene.method = "impulse";
    scene.dt = dt;
    scene.materials[0].friction = 0.5;
    BodySpec ground = body_spec(scene, "ground", shape_spec("plane", {}), Vec3::Zero());
    ground.type = BodyType::static_body;
    scene.add_body(ground);
    const GeometrySpec box = box_spec(Vec3::Constant(side));
    for (int row = 0; row < rows; ++row)
        for (int i = 0; i < rows - row; ++i)
            scene.add_body(body_spec(scene, fmt::format("box{}-{}", row, i), box,
                                     Vec3(pitch * (i + 0.5 * row), side * (row + 0.5), 0)));
    return scene;
}

Scene wall(int blocks) {
    Scene scene = make_builtin(*find_builtin("wrecking-ball"),
                               {{"blocks", static_cast<double>(blocks)}, {"chain", false}});
    scene.method = "impulse";
    scene.method_params.clear();
    scene.expect.clear();
    return scene;
}

double fastest(const State& state) {
    double speed = 0;
    for (std::size_t i = 0; i < state.q.size(); ++i)
        if (state.dynamic(static_cast<int>(i))) speed = std::max(speed, state.rate[i].col(3).norm());
    return speed;
}

}  // namespace

// Both engines step by step in turn, one thread each, sleeping off.
void beside_bullet(const Options& options, const std::string& name, const Scene& scene, int size,
                   double seconds) {
    set_threads(1);
    Simulation simulation(without_sleep(scene));
    const Depth deepest(simulation.model());
    std::unique_ptr<BulletScene> bullet;
    if (BulletScene::available())
        bullet = std::make_unique<BulletScene>(simulation.model(), simulation.state());
    else
        options.note("Bullet is not installed: only our own numbers");
    Track ours, theirs;
    const int steps = static_cast<int>(std::lround(seconds / simulation.dt()));
    const int half_second = static_cast<int>(std::lround(0.5 / simulation.dt()));
    std::vector<Vec3> ours_then, theirs_then;
    for (int s = 1; s <= steps; ++s) {
        StepReport report;
        const Cost cost = cost_of([&] { report = simulation.step(); });
        ours.add(cost, report.contacts);
        if (bullet) {
            PeerStep step;
            const Cost peer = cost_of([&] { step = bullet->step(simulation.dt()); });
            theirs.add(peer, step.contacts);
            theirs.own = std::max(theirs.own, step.penetration);
        }
        if (s == steps - half_second) {
            ours_then = places(simulation.state());
            if (bullet) theirs_then = places(with_poses_of(simulation, *bullet));
        }
        if (s % 10 && s != steps) continue;
        ours.end = deepest(simulation.state());
        ours.worst = std::max(ours.worst, ours.end);
        if (!bullet) continue;
        theirs.end = deepest(with_poses_of(simulation, *bullet));
        theirs.worst = std::max(theirs.worst, theirs.end);
    }
    options.print(ours.row(name, "tenon", size, mean_distance(ours_then, places(simulation.state()))));
    if (bullet) {
        options.print(theirs.row(name, "bullet", size,
                                 mean_distance(theirs_then, places(with_poses_of(simulation, *bullet)))));
        options.note(fmt::format(
            "{}: {:.2f} of Bullet's processor time at the peak, {:.2f} at the end, {:.2f} over all; "
            "penetration {:.2g} mm against {:.2g} mm at worst, {:.2g} mm against {:.2g} mm at the end",
            name, ours.peak / theirs.peak, ours.last / theirs.last, ours.total_ms / theirs.total_ms,
            1e3 * ours.worst, 1e3 * theirs.worst, 1e3 * ours.end, 1e3 * theirs.end));
    }
    set_threads(0);
}

void wall_beside_bullet(const Options& options, int blocks, double seconds) {
    beside_bullet(options, "wall", wall(blocks), blocks, seconds);
}

void hulls_beside_bullet(const Options& options, int pieces, double seconds) {
    if (!BulletScene::available())
        return options.note("hulls of chess pieces are built by Bullet: not installed");
    beside_bullet(options, "hulls",
                  hulls_of(make_builtin(*find_builtin("chess"), {{"pieces", static_cast<double>(pieces)}})),
                  pieces, seconds);
}

// Ten seconds of a pyramid: does it stand? Bullet goes along for the first second, for the scale of the times.
void pyramid_stands(const Options& options, const std::string& name, int rows, double dt, double seconds) {
    set_threads(1);
    const Scene scene = without_sleep(pyramid(rows, dt));
    Simulation simulation(scene);
    const Depth deepest(simulation.model());
    std::unique_ptr<BulletScene> bullet;
    if (BulletScene::available())
        bullet = std::make_unique<BulletScene>(simulation.model(), simulation.state());
    Track ours, theirs;
    const std::vector<Vec3> start = places(simulation.state());
    std::vector<Vec3> then;
    const int steps = static_cast<int>(std::lround(seconds / dt)),
              half_second = static_cast<int>(std::lround(0.5 / dt));
    for (int s = 1; s <= steps; ++s) {
        StepReport report;
        const Cost cost = cost_of([&] { report = simulation.step(); });
        ours.add(cost, report.contacts);
        if (bullet && s <= 2 * half_second) {
            PeerStep step;
            const Cost peer = cost_of([&] { step = bullet->step(dt); });
            theirs.add(peer, step.contacts);
        }
        if (s == steps - half_second) then = places(simulation.state());
        if (s % 50 && s != steps) continue;
        ours.end = deepest(simulation.state());
        ours.worst = std::max(ours.worst, ours.end);
    }
    const std::vector<Vec3> end = places(simulation.state());
    double moved = 0;
    for (std::size_t i = 0; i < start.size(); ++i) moved = std::max(moved, (end[i] - start[i]).norm());
    const double drop = start.back().y() - end.back().y();
    Row row = ours.row(name, "tenon", static_cast<int>(start.size()), mean_distance(then, end));
    row.set("dt", dt)
        .set("largest_move", moved)
        .set("top_fell", drop)
        .set("stands", moved < 0.25 ? "yes" : "no");
    if (bullet) row.set("of_bullet_first_second", ours.last / (theirs.total_ms / theirs.steps));
    options.print(row);
    set_threads(0);
}

// Sleeping on: how long after the last impact (a body faster than 0.2 m/s) everything sleeps, what a step then costs, and
// what a push of 1 N wakes.
void rest_is_rest(const Options& options, int pieces, bool hulls, double seconds) {
    set_threads(1);
    Scene scene = make_builtin(*find_builtin("chess"), {{"pieces", static_cast<double>(pieces)}});
    if (hulls) scene = hulls_of(scene);
    Simulation simulation(scene);
    double last_impact = 0, all_asleep = -1, awake_share = 0, asleep_ms = 0;
    const int steps = static_cast<int>(std::lround(seconds / simulation.dt()));
    for (int s = 1; s <= steps; ++s) {
        StepReport report;
        asleep_ms = cost_of([&] { report = simulation.step(); }).cpu_ms;
        const double asleep = figure(report, "asleep");
        awake_share = 1 - asleep / pieces;
        if (fastest(simulation.state()) > 0.2) last_impact = simulation.time();
        if (asleep < pieces)
            all_asleep = -1;
        else if (all_asleep < 0)
            all_asleep = simulation.time();
    }
    const std::vector<Vec3> before = places(simulation.state());
    ForceSpec push;
    push.body = 1 + pieces / 2;
    push.force = Vec3(1, 0, 0);
    simulation.state().pushes = {push};
    const double asleep_then = figure(simulation.step(), "asleep");
    const double speed = simulation.state().rate[push.body].norm();
    Row row = row_of(hulls ? "rest-hulls" : "rest-chess");
    row.set("size", pieces).set("threads", 1).set("last_impact", last_impact).set("all_asleep", all_asleep);
    row.set("awake_share_end", awake_share).set("cpu_ms_end", asleep_ms);
    row.set("woken_by_1_newton", pieces - asleep_then - awake_share * pieces).set("speed_after_push", speed);
    options.print(row);
    set_threads(0);
}

}  // namespace tenon::bench::impulse_parts

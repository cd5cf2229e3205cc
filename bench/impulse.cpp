// The impulse method: beside Bullet, solver against solver, over sizes and threads.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "bench/bench.hpp"
#include "bench/impulse_bullet.hpp"
#include "math/parallel.hpp"
#include "methods/impulse/contact_finder.hpp"
#include "methods/impulse/impulse_method.hpp"
#include "methods/impulse/sweeps.hpp"
#include "tenon/tenon.hpp"

namespace tenon::bench {
namespace {

using Values = std::map<std::string, ParamValue>;

// Wall clock and the processor time of this process: the second does not suffer from other work on the machine.
struct Cost {
    double wall_ms = 0, cpu_ms = 0;
    Cost& operator+=(const Cost& other) {
        wall_ms += other.wall_ms;
        cpu_ms += other.cpu_ms;
        return *this;
    }
};

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Cost cost_of(const std::function<void()>& work) {
    const double start = cpu_seconds();
    Cost cost;
    cost.wall_ms = 1e3 * seconds_of(work);
    cost.cpu_ms = 1e3 * (cpu_seconds() - start);
    return cost;
}

Scene scene_of(const std::string& name, const Values& values, const Values& method = {}) {
    Scene scene = make_builtin(*find_builtin(name), values);
    scene.method_params["sleeping"] = false;
    for (const auto& [key, value] : method) scene.method_params[key] = value;
    return scene;
}

double figure(const StepReport& report, const std::string& name) {
    for (const auto& [key, value] : report.figures)
        if (key == name) return value;
    return 0;
}

double phase(const StepReport& report, const std::string& name) {
    for (const auto& [key, value] : report.phases)
        if (key == name) return value;
    return 0;
}

// Deepest penetration at given poses, found by the same code for every engine.
double deepest(World world, const BulletScene* peer = nullptr) {
    if (peer)
        for (int i = 0; i < world.bodies.size(); ++i) world.bodies.q[i] = peer->pose(i);
    impulse::ContactFinder finder(world, {});
    finder.find(world, std::vector<impulse::Twist>(world.bodies.q.size()),
                std::vector<char>(world.bodies.q.size(), 1), 0.0);
    double depth = 0;
    for (const impulse::ManifoldContact& c : finder.contacts()) depth = std::max(depth, -c.distance);
    return depth;
}

std::vector<Vec3> places(const World& world, const BulletScene* peer = nullptr) {
    std::vector<Vec3> out;
    for (int i = 0; i < world.bodies.size(); ++i)
        if (world.bodies.dynamic(i)) out.push_back((peer ? peer->pose(i) : world.bodies.q[i]).col(3));
    return out;
}

double mean_distance(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]).norm();
    return sum / static_cast<double>(std::max<std::size_t>(1, a.size()));
}

// What one engine did: means over windows of 25 steps, the costliest and the last.
struct Track {
    static constexpr int window = 25;
    Cost total, current, peak, last;
    int steps = 0, contacts = 0, most_contacts = 0;
    double worst = 0, end = 0;
    std::vector<Vec3> before_end;

    void add(const Cost& cost, int count) {
        total += cost;
        current += cost;
        contacts = count;
        most_contacts = std::max(most_contacts, count);
        if (++steps % window) return;
        last = {current.wall_ms / window, current.cpu_ms / window};
        if (last.cpu_ms > peak.cpu_ms) peak = last;
        current = {};
    }
    void print(const Options& options, const std::string& name, const std::string& engine, int size,
               int threads, double drift) const {
        Row row;
        row.set("bench", "impulse").set("case", name).set("engine", engine);
        if (engine == "tenon") row.set("method", "impulse");
        row.set("size", size).set("threads", threads).set("ms_per_step", total.wall_ms / steps);
        row.set("cpu_ms_per_step", total.cpu_ms / steps)
            .set("cpu_ms_peak", peak.cpu_ms)
            .set("cpu_ms_end", last.cpu_ms);
        row.set("contacts_max", most_contacts).set("contacts_end", contacts);
        row.set("max_penetration", worst).set("penetration_end", end).set("drift_last_half_second", drift);
        options.print(row);
    }
};

// The same scene in both engines, step by step in turn, one thread each, sleeping off.
void beside_bullet(const Options& options, const std::string& name, const std::string& parameter, int size,
                   double seconds) {
    set_threads(1);
    Simulation simulation(scene_of(name, {{parameter, static_cast<double>(size)}, {"seconds", seconds}}));
    std::unique_ptr<BulletScene> bullet;
    if (BulletScene::available())
        bullet = std::make_unique<BulletScene>(simulation.world());
    else
        options.note("Bullet is not installed: only our own numbers");
    Track ours, theirs;
    const int steps = static_cast<int>(std::lround(seconds / simulation.dt()));
    std::vector<Vec3> ours_then, theirs_then;
    for (int s = 1; s <= steps; ++s) {
        StepReport report;
        const Cost cost = cost_of([&] { report = simulation.step(); });
        ours.add(cost, report.contacts);
        if (bullet) {
            PeerStep step;
            const Cost peer = cost_of([&] { step = bullet->step(simulation.dt()); });
            theirs.add(peer, step.contacts);
        }
        if (s == steps - 50) {
            ours_then = places(simulation.world());
            if (bullet) theirs_then = places(simulation.world(), bullet.get());
        }
        if (s % 10 && s != steps) continue;
        ours.end = deepest(simulation.world());
        ours.worst = std::max(ours.worst, ours.end);
        if (!bullet) continue;
        theirs.end = deepest(simulation.world(), bullet.get());
        theirs.worst = std::max(theirs.worst, theirs.end);
    }
    ours.print(options, name, "tenon", size, 1, mean_distance(ours_then, places(simulation.world())));
    if (bullet) {
        theirs.print(options, name, "bullet", size, 1,
                     mean_distance(theirs_then, places(simulation.world(), bullet.get())));
        options.note(fmt::format(
            "{}: {:.2f}x as fast as Bullet in processor time at the peak, {:.2f}x at the end; "
            "penetration {:.2g} mm against {:.2g} mm at worst, {:.2g} mm against {:.2g} mm at the end",
            name, theirs.peak.cpu_ms / ours.peak.cpu_ms, theirs.last.cpu_ms / ours.last.cpu_ms,
            1e3 * ours.worst, 1e3 * theirs.worst, 1e3 * ours.end, 1e3 * theirs.end));
    }
    set_threads(0);
}

struct SolverChoice {
    const char* label;
    Values params;
};

const std::vector<SolverChoice>& solver_choices() {
    static const std::vector<SolverChoice> choices = {
        {"decomposition, third law", {}},
        {"decomposition, as in the paper", {{"third_law", false}}},
        {"ffd", {{"solver", std::string("ffd")}}},
        {"pgs, 5 iterations", {{"solver", std::string("pgs")}}}};
    return choices;
}

// Fig. 6: time per step over simulated time, total and solver, on the same scene.
void figure_6(const Options& options, int pieces, double seconds) {
    set_threads(1);
    for (const SolverChoice& choice : solver_choices()) {
        Simulation simulation(scene_of(
            "chess", {{"pieces", static_cast<double>(pieces)}, {"seconds", seconds}}, choice.params));
        double total = 0, solver = 0;
        int contacts = 0;
        const int steps = static_cast<int>(std::lround(seconds / simulation.dt()));
        for (int s = 1; s <= steps; ++s) {
            StepReport report;
            total += cost_of([&] { report = simulation.step(); }).wall_ms;
            solver += phase(report, "solve");
            contacts = std::max(contacts, report.contacts);
            if (s % 40) continue;
            Row row;
            row.set("bench", "impulse")
                .set("case", "fig6")
                .set("engine", "tenon")
                .set("method", std::string("impulse: ") + choice.label);
            row.set("size", pieces)
                .set("threads", 1)
                .set("ms_per_step", total / 40)
                .set("ms_solver", solver / 40);
            row.set("time", s * simulation.dt())
                .set("contacts", contacts)
                .set("max_penetration", figure(report, "penetration"));
            options.print(row);
            total = solver = 0;
            contacts = 0;
        }
    }
    set_threads(0);
}

// Which kinds of friction a scene shows, from contacts that carry load.
struct Phenomena {
    bool sticking = false, slipping = false, rolling = false, rotating = false;

    void look(const World& world) {
        auto spin = [&](int i) {
            const Mat3 W = world.bodies.rate[i].leftCols<3>() * world.bodies.q[i].leftCols<3>().transpose();
            return Vec3(0.5 * Vec3(W(2, 1) - W(1, 2), W(0, 2) - W(2, 0), W(1, 0) - W(0, 1)));
        };
        for (const Contact& c : world.contacts) {
            const double load = c.force.dot(c.normal);
            if (load <= 0) continue;
            const Vec3 wa = spin(c.a), wb = spin(c.b), pa = world.bodies.q[c.a].col(3),
                       pb = world.bodies.q[c.b].col(3);
            Vec3 slip = world.bodies.rate[c.b].col(3) + wb.cross(c.point - pb) -
                        world.bodies.rate[c.a].col(3) - wa.cross(c.point - pa);
            slip -= c.normal.dot(slip) * c.normal;
            const Vec3 turn = wb - wa;
            const double about_normal = std::abs(turn.dot(c.normal)),
                         across = (turn - turn.dot(c.normal) * c.normal).norm();
            const double speed = slip.norm(), drag = (c.force - load * c.normal).norm();
            sticking = sticking || (speed < 1e-3 && drag > 0.02 * load);
            slipping = slipping || speed > 0.05;
            rolling = rolling || (across > 1.0 && speed < 0.05 * across * world.shape_of(c.b).radius);
            rotating = rotating || (about_normal > 1.0 && speed < 0.02);
        }
    }
};

// Table II: the six scenes, their size, and the cost of the step with the most contacts.
void table_2(const Options& options) {
    struct Case {
        const char* name;
        Values quick;
    };
    const std::vector<Case> cases = {
        {"bar", {}},   {"stack", {{"hold", 0.5}}},    {"chess", {{"pieces", 40.0}}},
        {"truck", {}}, {"cubes", {{"cubes", 125.0}}}, {"basin", {{"objects", 30.0}}}};
    for (const Case& c : cases) {
        if (!options.wants("table2") && !options.wants(std::string("table2-") + c.name)) continue;
        Values values = c.quick;
        if (!options.quick) values = {{"preset", std::string("paper")}};
        if (std::string(c.name) == "stack" && !options.quick) values = {{"hold", 1.0}};
        if (std::string(c.name) == "basin" && !options.quick) values = {{"objects", 684.0}, {"seconds", 6.0}};
        Simulation simulation(scene_of(c.name, values));
        int most = 0, triangles = 0;
        double ms_at_most = 0, total = 0;
        Phenomena seen;
        const int steps = static_cast<int>(std::lround(simulation.scene().seconds / simulation.dt()));
        for (int s = 0; s < steps; ++s) {
            StepReport report;
            const double ms = cost_of([&] { report = simulation.step(); }).wall_ms;
            total += ms;
            if (report.contacts > most) {
                most = report.contacts;
                ms_at_most = ms;
            }
            seen.look(simulation.world());
        }
        for (int i = 0; i < simulation.world().bodies.size(); ++i)
            triangles += static_cast<int>(simulation.world().shape_of(i).mesh.triangles.size());
        Row row;
        row.set("bench", "impulse")
            .set("case", std::string("table2-") + c.name)
            .set("engine", "tenon")
            .set("method", "impulse");
        row.set("size", simulation.world().bodies.size())
            .set("threads", thread_count())
            .set("ms_per_step", total / steps);
        row.set("triangles", triangles).set("contacts_max", most).set("ms_at_most_contacts", ms_at_most);
        row.set("static_friction", seen.sticking ? "yes" : "no")
            .set("slipping", seen.slipping ? "yes" : "no");
        row.set("rolling", seen.rolling ? "yes" : "no").set("rotating", seen.rotating ? "yes" : "no");
        options.print(row);
    }
}

// The solvers on one and the same state and contact set: a settled pile of cubes, and a cloud without gravity.
void solvers(const Options& options, int cubes) {
    set_threads(1);
    Simulation pile(scene_of("cubes", {{"cubes", static_cast<double>(cubes)}}));
    for (int s = 0; s < 120; ++s) pile.step();
    std::stringstream state;
    pile.save(state);
    auto measure = [&](const char* name, const Scene& base, const SolverChoice& choice,
                       const std::string& saved) {
        Scene scene = base;
        for (const auto& [key, value] : choice.params) scene.method_params[key] = value;
        std::vector<double> times;
        double residual = 0, energy = 0, drift = 0;
        int contacts = 0;
        for (int repeat = 0; repeat < std::max(1, options.repeats); ++repeat) {
            Simulation simulation(scene);
            std::istringstream in(saved);
            simulation.load(in);
            const Vec3 momentum = linear_momentum(simulation.world());
            const double before = energies(simulation.world()).kinetic;
            double size = 0;
            for (int i = 0; i < simulation.world().bodies.size(); ++i)
                if (simulation.world().bodies.dynamic(i))
                    size +=
                        simulation.world().bodies.mass[i] * simulation.world().bodies.rate[i].col(3).norm();
            const StepReport report = simulation.step();
            times.push_back(phase(report, "solve"));
            const auto& method = dynamic_cast<const impulse::ImpulseMethod&>(simulation.method());
            residual = impulse::contact_residual(method.problem());
            contacts = report.contacts;
            drift = (linear_momentum(simulation.world()) - momentum).norm() / size;
            energy = energies(simulation.world()).kinetic / before;
        }
        Row row;
        row.set("bench", "impulse")
            .set("case", name)
            .set("engine", "tenon")
            .set("method", std::string("impulse: ") + choice.label);
        row.set("size", static_cast<double>(base.bodies.size()))
            .set("threads", 1)
            .set("ms_solver", median(times));
        row.set("contacts", contacts).set("contact_residual", residual).set("kinetic_energy_ratio", energy);
        if (base.gravity.isZero(0)) row.set("momentum_drift", drift);
        options.print(row);
    };
    for (const SolverChoice& choice : solver_choices())
        measure("solvers-pile", pile.scene(), choice, state.str());

    Scene cloud = scene_of("cubes", {{"cubes", 500.0}});
    cloud.gravity = Vec3::Zero();
    std::erase_if(cloud.bodies, [](const BodySpec& body) { return body.type == BodyType::static_body; });
    cloud.expect.clear();
    for (BodySpec& body : cloud.bodies) body.linear_velocity = -1.5 * (body.position - Vec3(0, 1, 0));
    Simulation flying(cloud);
    for (int s = 0; s < 25; ++s) flying.step();
    std::stringstream cloud_state;
    flying.save(cloud_state);
    for (const SolverChoice& choice : solver_choices())
        measure("solvers-cloud", cloud, choice, cloud_state.str());
    set_threads(0);
}

// Cost per contact and sweep of the solver alone, over sizes; and the whole step with one and two threads.
void scaling(const Options& options, const std::vector<int>& sizes) {
    for (int cubes : sizes) {
        Simulation simulation(scene_of("cubes", {{"cubes", static_cast<double>(cubes)}}));
        for (int s = 0; s < 100; ++s) simulation.step();
        const auto& method = dynamic_cast<const impulse::ImpulseMethod&>(simulation.method());
        std::vector<Vec3> centers;
        for (const Mat34& q : simulation.world().bodies.q) centers.push_back(q.col(3));
        impulse::SweepSettings settings;
        settings.max_sweeps = 20;
        settings.tolerance = 0;
        const int contacts = static_cast<int>(method.problem().contacts.size());
        for (int threads : {1, 2}) {
            set_threads(threads);
            std::vector<double> times, prepare;
            for (int repeat = 0; repeat < std::max(3, options.repeats); ++repeat) {
                impulse::ContactProblem problem = method.problem();
                impulse::Sweeper sweeper;
                prepare.push_back(cost_of([&] { sweeper.prepare(problem, centers, settings); }).wall_ms);
                const Cost cost = cost_of([&] { sweeper.solve(problem); });
                times.push_back(threads == 1 ? cost.cpu_ms : cost.wall_ms);
            }
            Row row;
            row.set("bench", "impulse")
                .set("case", "scaling")
                .set("engine", "tenon")
                .set("method", "impulse");
            row.set("size", cubes).set("threads", threads).set("contacts", contacts);
            row.set("ns_per_contact_and_sweep", 1e6 * median(times) / (contacts * 20.0))
                .set("ms_prepare", median(prepare));
            options.print(row);
        }
        set_threads(0);
    }
}

void threads(const Options& options, int cubes) {
    Simulation settled(scene_of("cubes", {{"cubes", static_cast<double>(cubes)}}));
    for (int s = 0; s < 100; ++s) settled.step();
    std::stringstream state;
    settled.save(state);
    double single = 0;
    for (int count : {1, 2}) {
        set_threads(count);
        Simulation simulation(settled.scene());
        std::istringstream in(state.str());
        simulation.load(in);
        std::vector<double> times;
        for (int s = 0; s < 20; ++s) times.push_back(cost_of([&] { simulation.step(); }).wall_ms);
        const double ms = *std::min_element(times.begin(), times.end());  // the least disturbed step
        if (count == 1) single = ms;
        Row row;
        row.set("bench", "impulse").set("case", "threads").set("engine", "tenon").set("method", "impulse");
        row.set("size", cubes).set("threads", count).set("ms_per_step", ms).set("speedup", single / ms);
        options.print(row);
    }
    set_threads(0);
}

void run(const Options& options) {
    const bool quick = options.quick;
    if (options.wants("cubes"))
        beside_bullet(options, "cubes", "cubes", quick ? 216 : 5000, quick ? 1.0 : 4.0);
    if (options.wants("chess"))
        beside_bullet(options, "chess", "pieces", quick ? 40 : 320, quick ? 1.0 : 3.0);
    if (options.wants("fig6")) figure_6(options, quick ? 40 : 320, quick ? 0.8 : 2.8);
    table_2(options);
    if (options.wants("solvers")) solvers(options, quick ? 216 : 2000);
    if (options.wants("scaling"))
        scaling(options, quick ? std::vector<int>{125, 343} : std::vector<int>{216, 1000, 5000, 12000});
    if (options.wants("threads")) threads(options, quick ? 216 : 5000);
}

}  // namespace

Bench impulse_bench() {
    return {"impulse", "contact impulses beside Bullet; Fig. 6, Table II; solvers, sizes, threads", run};
}

}  // namespace tenon::bench

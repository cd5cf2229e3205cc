// The articulated method: time per link of long chains, the heavy chain and the net beside peers, and the table of the
// rolling cylinder.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "bench/articulated_figures.hpp"
#include "bench/articulated_peers.hpp"
#include "bench/articulated_table1.hpp"
#include "bench/bench.hpp"
#include "math/parallel.hpp"
#include "methods/articulated/reference.hpp"
#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon::bench {
namespace {

using Values = std::map<std::string, ParamValue>;

Simulation simulation_of(const std::string& name, const Values& values) {
    return Simulation(make_builtin(*find_builtin(name), values));
}

// Processor time of this program: what other programs take of the machine meanwhile does not count.
double processor_ms() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

// Bytes per second that one core moves when it reads one array and writes another, the lines fetched for writing counted.
double memory_bandwidth() {
    std::vector<double> from(1 << 24, 1.0), to(1 << 24, 0.0);  // 128 MiB each: no cache holds them
    double best = 1e300;
    for (int k = 0; k < 5; ++k) {
        const double start = processor_ms();
        for (std::size_t i = 0; i < from.size(); ++i) to[i] = 0.5 * from[i] + static_cast<double>(k);
        best = std::min(best, processor_ms() - start);
    }
    return 3.0 * 8.0 * static_cast<double>(from.size()) / (1e-3 * best) * (to[7] > 0 ? 1.0 : 0.5);
}

// What this program holds in memory now.
double resident_bytes() {
    long pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double peak_memory_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

struct Measured {
    double ms = 0, residual = 0, strain = 0, solves = 0, corrections = 0, bytes = 0, processor_ms = 0,
           contacts = 0;
    bool finite = true;
    std::string solver;
};

Measured measure(Simulation& simulation, int steps, int warm_up) {
    for (int i = 0; i < warm_up; ++i) simulation.step();
    Measured m;
    std::vector<double> times, processor;
    for (int i = 0; i < steps; ++i) {
        StepReport report;
        const double start = processor_ms();
        times.push_back(1e3 * seconds_of([&] { report = simulation.step(); }));
        processor.push_back(processor_ms() - start);
        m.residual = std::max(m.residual, report.joint_residual);
        m.solver = report.solver;
        m.contacts += static_cast<double>(report.contacts) / steps;
        for (const auto& [name, value] : report.metrics) {
            if (name == "strain") m.strain = std::max(m.strain, value);
            if (name == "solves") m.solves += value / steps;
            if (name == "corrections") m.corrections += value / steps;
            if (name == "bytes_per_link") m.bytes = value;
        }
    }
    m.ms = median(times);
    m.processor_ms = median(processor);
    return m;
}

Row row_of(const std::string& name, const std::string& engine, double size) {
    Row row;
    row.set("bench", "articulated").set("case", name).set("engine", engine).set("method", "articulated");
    row.set("size", size).set("threads", static_cast<double>(thread_count()));
    return row;
}

void chain_times(const Options& options) {
    std::vector<double> sizes = {1e4, 1e5};
    if (!options.quick) sizes.push_back(1076748);
    const double bandwidth = memory_bandwidth();
    for (double links : sizes) {
        const double memory = resident_bytes();
        Simulation simulation =
            simulation_of("heavy-chain", {{"links", links}, {"end_mass_ratio", 0.0}, {"young", 1e8}});
        const Measured m = measure(simulation, options.quick ? 3 : links > 5e4 ? 10 : 40, 2);
        const double ns = 1e6 * m.processor_ms / links;
        options.print(row_of("ball-chain", "tenon", links)
                          .set("ms_per_step", m.ms)
                          .set("ns_per_link", ns)
                          .set("bytes_per_link", m.bytes)
                          .set("bandwidth_share", m.bytes / (1e-9 * ns) / bandwidth)
                          .set("memory_bytes_per_link", (resident_bytes() - memory) / links)
                          .set("solves_per_step", m.solves)
                          .set("joint_residual_max", m.residual));
    }
    for (int links : {1000, 10000}) {
        if (links > 1000 && options.quick) continue;
        for (const PeerRun& peer : peer_multibody_chain(links, 0.01, 10))
            options.print(row_of("ball-chain", peer.engine, links)
                              .set("setting", peer.setting)
                              .set("ms_per_step", peer.ms_per_step)
                              .set("ns_per_link", 1e6 * peer.processor_ms_per_step / links)
                              .set("finite", peer.finite ? 1.0 : 0.0));
    }
}

// A chain that runs over pulleys: contacts with them, so that it goes the general way. A million links are 54 km of chain;
// over 2,999 drums the spans between them are 17 m long. Implicit Euler, as in the paper, which damps the waves of a chain
// that starts without tension; sides of contacts are changed once per step.
void pulley(const Options& options) {
    const double links = options.quick ? 1e4 : 1076748, drums = options.quick ? 14 : 1500;
    const double bandwidth = memory_bandwidth();
    Scene scene =
        make_builtin(*find_builtin("pulley"), {{"links", links}, {"pulleys", drums}, {"check", false}});
    scene.method_params["integrator"] = std::string("euler");
    scene.method_params["contact_iterations"] = 2.0;
    Simulation simulation(std::move(scene));
    const int steps = options.quick ? 3 : 100;
    const Measured m = measure(simulation, steps, 0);
    const double ns = 1e6 * m.processor_ms / links;
    options.print(row_of("pulley", "tenon", links)
                      .set("steps", steps)
                      .set("ms_per_step", m.ms)
                      .set("ns_per_link", ns)
                      .set("bytes_per_link", m.bytes)
                      .set("bandwidth_share", m.bytes / (1e-9 * ns) / bandwidth)
                      .set("solver", m.solver)
                      .set("solves_per_step", m.solves)
                      .set("contacts", m.contacts)
                      .set("strain_max", m.strain)
                      .set("memory_bytes_per_link", peak_memory_bytes() / links)
                      .set("memory_gib", peak_memory_bytes() / std::pow(2.0, 30))
                      .set("joint_residual_max", m.residual));
}

// The short chains have E = 1e9 Pa; the long ones the scene's own choice for their end mass (2.2e10 Pa), which energy would
// strain by 14 % otherwise.
void heavy_chains(const Options& options) {
    struct Case {
        double links, ratio, young;
        const char* start;
    };
    const Case cases[] = {{100, 1000, 1e9, "horizontal"},
                          {100, 1000, 1e9, "folded"},
                          {1000, 10000, 0, "horizontal"},
                          {1000, 10000, 0, "folded"}};
    for (double dt : {1e-2, 1e-3})
        for (const Case& c : cases) {
            if (options.quick && c.links > 100) continue;
            const double seconds = options.quick ? 0.5 : 60.0;
            const int steps = static_cast<int>(std::lround(seconds / dt));
            Simulation simulation = simulation_of("heavy-chain", {{"links", c.links},
                                                                  {"end_mass_ratio", c.ratio},
                                                                  {"young", c.young},
                                                                  {"start", std::string(c.start)},
                                                                  {"dt", dt}});
            const Measured m = measure(simulation, steps, 0);
            const std::string name = fmt::format("heavy-chain {} h={}", c.start, dt);
            options.print(row_of(name, "tenon", c.links)
                              .set("ms_per_step", m.ms)
                              .set("seconds", seconds)
                              .set("solves_per_step", m.solves)
                              .set("strain_max", m.strain)
                              .set("joint_residual_max", m.residual));
            if (std::string(c.start) == "folded" || c.links > 100) continue;
            for (const PeerRun& peer : peer_chains(100, 1000, dt, steps, 15.0))
                options.print(row_of(name, peer.engine, 100)
                                  .set("setting", peer.setting)
                                  .set("ms_per_step", peer.ms_per_step)
                                  .set("seconds", peer.seconds)
                                  .set("joint_residual_max", peer.gap)
                                  .set("outcome", !peer.sound                         ? "fails"
                                                  : peer.seconds < seconds - 0.5 * dt ? "out of time"
                                                                                      : "lasts"));
        }
}

void nets(const Options& options) {
    struct Case {
        double n, dt;
    };
    std::vector<Case> cases = {{10, 1.0 / 30}, {20, 0.01}};
    if (!options.quick) cases.push_back({50, 0.01}), cases.push_back({100, 0.01});
    for (const Case& c : cases) {
        const int steps = options.quick ? 10 : c.n > 30 ? 20 : 100;
        for (const char* collider : {"none", "cylinder"}) {
            Simulation simulation =
                simulation_of("joint-net", {{"n", c.n}, {"dt", c.dt}, {"collider", std::string(collider)}});
            const Measured m = measure(simulation, steps, 2);
            options.print(row_of(fmt::format("joint-net {}", collider), "tenon", c.n)
                              .set("ms_per_step", m.ms)
                              .set("processor_ms", m.processor_ms)
                              .set("solver", m.solver)
                              .set("solves_per_step", m.solves)
                              .set("joint_residual_max", m.residual));
        }
        if (c.n == 10) {  // rigid bodies with exact joints by Newton's method, as the paper's VQ
            Scene scene = make_builtin(*find_builtin("joint-net"), {{"n", c.n}, {"dt", c.dt}});
            scene.method_params["model"] = std::string("rigid");
            Simulation simulation(scene);
            const Measured m = measure(simulation, steps, 2);
            options.print(row_of("joint-net none", "tenon", c.n)
                              .set("setting", "rigid reference (VQ)")
                              .set("ms_per_step", m.ms)
                              .set("solver", m.solver)
                              .set("solves_per_step", m.solves)
                              .set("joint_residual_max", m.residual));
        }
        for (const PeerRun& peer : peer_nets(static_cast<int>(c.n), c.dt, steps, 30))
            options.print(row_of("joint-net none", peer.engine, c.n)
                              .set("setting", peer.setting)
                              .set("ms_per_step", peer.ms_per_step)
                              .set("processor_ms", peer.processor_ms_per_step)
                              .set("joint_residual_max", peer.gap));
    }
}

// A grid of balls, ball joints half way between neighbours, the top row pinned: 19,701 joints and almost 10,000 loops.
void joint_grid(const Options& options) {
    const int rows = options.quick ? 29 : 99, columns = options.quick ? 30 : 100;
    Scene scene = articulated_scene(0.01, 1.0);
    const auto ball = shape_spec("sphere", {{"radius", 0.4}});
    const auto name = [](const char* kind, int r, int c) { return fmt::format("{}-{}-{}", kind, r, c); };
    const auto place = [](double r, double c) { return Vec3(c, -r, 0); };
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) {
            BodySpec body = body_spec(scene, name("ball", r, c), ball, place(r, c));
            body.collides = false;
            const int index = scene.add_body(body);
            const auto join = [&](const char* kind, int other, const Vec3& at) {
                scene.joints.push_back(joint_spec(name(kind, r, c), JointType::ball, other, index, at));
            };
            if (c > 0) join("across", index - 1, place(r, c - 0.5));
            join(r > 0 ? "down" : "pin", r > 0 ? index - columns : -1, place(r - 0.5, c));
        }
    scene.method_params["joint_tolerance"] = 1e-12;  // of the joints' size, 0.4 m
    const double joints = static_cast<double>(scene.joints.size());
    Simulation simulation(std::move(scene));
    const Measured m = measure(simulation, options.quick ? 3 : 20, 2);
    options.print(row_of("joint-grid", "tenon", joints)
                      .set("bodies", static_cast<double>(rows) * columns)
                      .set("ms_per_step", m.ms)
                      .set("processor_ms", m.processor_ms)
                      .set("solver", m.solver)
                      .set("solves_per_step", m.solves)
                      .set("corrections", m.corrections)
                      .set("joint_residual_max", m.residual));
}

// Fig. 2: one rolling body, 10,000 steps of 10 ms. Steady rolling needs no force, so the references fly freely.
void rolling_cylinder(const Options& options) {
    const int steps = options.quick ? 1000 : 10000;
    const double h = 0.01, radius = 0.5, speed = 2.0, mass = 1000 * M_PI * radius * radius,
                 spin = speed / radius;
    const Vec3 moments(0.25 * mass * radius * radius, 0.25 * mass * radius * radius, mass / 12);
    const Vec3 inertia(moments.y() + moments.z(), moments.z() + moments.x(), moments.x() + moments.y());
    const auto print = [&](const std::string& method, double seconds, double spin_left) {
        Row row = row_of("rolling-cylinder", "tenon", steps);
        row.set("variant", method)
            .set("ms_total", 1e3 * seconds)
            .set("ms_per_step", 1e3 * seconds / steps)
            .set("spin_kept", spin_left / spin);
        options.print(row);
    };
    using articulated::RigidReference;
    const auto rigid = [&](const std::string& name, void (*step)(RigidReference&, const Vec3&, double)) {
        RigidReference body;
        body.mass = mass;
        body.inertia = inertia;
        body.velocity = Vec3(speed, 0, 0);
        body.spin = Vec3(0, 0, spin);
        const double seconds = seconds_of([&] {
            for (int i = 0; i < steps; ++i) step(body, Vec3::Zero(), h);
        });
        print(name, seconds, body.spin.z());
    };
    rigid("rigid, explicit", articulated::step_explicit);
    rigid("rigid, implicit", articulated::step_implicit);
    rigid("rigid, Runge-Kutta 4", articulated::step_runge_kutta);
    articulated::AffineReference affine;
    affine.mass = mass;
    affine.moments = moments;
    affine.stiffness = 1e9 * mass / 1000;
    affine.q.leftCols<3>().setIdentity();
    for (int k = 0; k < 3; ++k) affine.rate.col(k) = Vec3(0, 0, spin).cross(Vec3(Vec3::Unit(k)));
    const double seconds = seconds_of([&] {
        for (int i = 0; i < steps; ++i) articulated::step_affine(affine, Vec3::Zero(), h);
    });
    const Mat3 W = affine.rate.leftCols<3>() * affine.q.leftCols<3>().inverse();
    print("affine, plain Newton", seconds, 0.5 * (W(1, 0) - W(0, 1)));
    for (const char* integrator : {"euler", "bdf2"})
        for (const char* rotation : {"polar", "normalised"}) {
            Scene scene = make_builtin(*find_builtin("rolling-cylinder"), {});
            scene.method_params["integrator"] = std::string(integrator);
            scene.method_params["rotation"] = std::string(rotation);
            scene.bodies.erase(scene.bodies.begin());  // the ground: rolling free, like the references
            scene.gravity.setZero();
            Simulation simulation(scene);
            const double time = seconds_of([&] {
                for (int i = 0; i < steps; ++i) simulation.step();
            });
            const Mat34 &q = simulation.state().q[0], &v = simulation.state().rate[0];
            const Mat3 S = v.leftCols<3>() * q.leftCols<3>().inverse();
            print(fmt::format("co-rotated, {}, {}", rotation, integrator), time, -0.5 * (S(1, 0) - S(0, 1)));
        }
}

void run(const Options& options) {
    set_threads(1);
#ifndef TENON_HAVE_BULLET
    options.note("Bullet is not installed: no rows of it");
#endif
#ifndef TENON_HAVE_MUJOCO
    options.note("MuJoCo is not installed: no rows of it");
#endif
    if (options.wants("ball-chain")) chain_times(options);
    if (options.wants("pulley")) pulley(options);
    if (options.wants("heavy-chain")) heavy_chains(options);
    if (options.wants("joint-net")) nets(options);
    if (options.wants("joint-grid")) joint_grid(options);
    if (options.wants("rolling-cylinder")) rolling_cylinder(options);
    if (options.wants("figures")) articulated_figures(options);
    articulated_table1(options);
}

}  // namespace

Bench articulated_bench() {
    return {"articulated",
            "chains, heavy chains and nets beside Bullet and MuJoCo; the paper's Figs. 2 and 7-10 and its "
            "Table 1",
            run};
}

}  // namespace tenon::bench

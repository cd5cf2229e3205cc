// What Python is measured against: steps of a scene from C++, and batches of MuJoCo's mjData stepped by threads.
#include <chrono>
#include <ctime>
#include <thread>

#include <fmt/format.h>

#include "bench/python.hpp"
#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

#ifdef TENON_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

namespace tenon::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Of this thread alone: a BLAS that a peer brings has threads of its own, which wait busily.
double thread_ms() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

// Processor time of the steps alone, the scene being made before; with --threads 1 this thread makes them all.
void steps_of_wrecking_ball(const Options& options) {
    Scene scene = make_builtin(*find_builtin("wrecking-ball"), {});
    scene.method = "affine";
    scene.dt = 0.01;
    Simulation sim(scene);
    const int steps = options.quick ? 10 : 60;
    const double start = thread_ms();
    for (int k = 0; k < steps; ++k) sim.step();
    Row row;
    row.set("bench", std::string("python")).set("case", std::string("wrecking-ball"));
    row.set("engine", std::string("tenon")).set("method", std::string("affine"));
    row.set("size", static_cast<double>(scene.bodies.size())).set("steps", static_cast<double>(steps));
    row.set("cpu_ms_per_step", (thread_ms() - start) / steps);
    options.print(row);
}

#ifdef TENON_HAVE_MUJOCO
double processor_ms() {
    return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// A rod of 1 m and 2 kg on a hinge, as python_bench.py has it; or seven of them in a chain, with servos.
std::string rods(int joints) {
    std::string xml = "<mujoco><option timestep='0.002' gravity='0 -9.81 0'/><worldbody>", actuators, ends;
    for (int k = 0; k < joints; ++k) {
        xml += fmt::format(
            "<body pos='{} 0 0'><joint name='j{}' type='hinge' axis='0 {} {}'/>"
            "<inertial pos='0.5 0 0' mass='2' diaginertia='0.000833 0.167 0.167'/>",
            k == 0 ? 0 : 1, k, k % 2, 1 - k % 2);
        ends += "</body>";
        if (joints > 1)
            actuators += fmt::format(
                "<general joint='j{}' gainprm='2000' biastype='affine' biasprm='0 -2000 -200'/>", k);
    }
    return xml + ends + "</worldbody><actuator>" + actuators + "</actuator></mujoco>";
}

mjModel* load(const std::string& xml) {
    mjVFS files;
    mj_defaultVFS(&files);
    mj_makeEmptyFileVFS(&files, "rods.xml", static_cast<int>(xml.size()));
    std::copy(xml.begin(), xml.end(), static_cast<char*>(files.filedata[0]));
    char error[500] = "";
    mjModel* model = mj_loadXML("rods.xml", &files, error, sizeof error);
    mj_deleteVFS(&files);
    return model;
}

// n states in equal parts on threads that live as long as the batch: each takes its part through all steps.
void mujoco_batch(const Options& options, const std::string& name, int joints, int n, int threads) {
    mjModel* model = load(rods(joints));
    if (!model) return options.note("MuJoCo refuses the model of " + name);
    std::vector<mjData*> data;
    for (int i = 0; i < n; ++i) data.push_back(mj_makeData(model));
    const int steps = options.quick ? 20 : 400;
    std::vector<double> rates, cpu;
    for (int round = 0; round < options.repeats; ++round) {
        const auto start = Clock::now();
        const double before = processor_ms();
        const auto part = [&](int t) {
            for (int k = 0; k < steps; ++k)
                for (int i = t * n / threads; i < (t + 1) * n / threads; ++i) mj_step(model, data[i]);
        };
        std::vector<std::thread> team;
        for (int t = 1; t < threads; ++t) team.emplace_back(part, t);
        part(0);
        for (std::thread& one : team) one.join();
        const double all = static_cast<double>(n) * steps;
        rates.push_back(all / std::chrono::duration<double>(Clock::now() - start).count());
        cpu.push_back(1e3 * (processor_ms() - before) / all);
    }
    for (mjData* one : data) mj_deleteData(one);
    mj_deleteModel(model);
    Row row;
    row.set("bench", std::string("python")).set("case", name).set("engine", std::string("mujoco"));
    row.set("method", std::string("Euler")).set("size", static_cast<double>(n));
    row.set("threads", static_cast<double>(threads)).set("steps_per_second", median(rates));
    row.set("cpu_us_per_step", median(cpu));
    options.print(row);
}
#endif

void run(const Options& options) {
    if (options.wants("wrecking-ball")) steps_of_wrecking_ball(options);
    const std::pair<const char*, int> batches[] = {{"pendula", 1}, {"arms", 7}};
    for (const auto& [name, joints] : batches) {
        if (!options.wants(name)) continue;
#ifdef TENON_HAVE_MUJOCO
        for (const int threads : {1, 2}) mujoco_batch(options, name, joints, 256, threads);
#else
        options.note(std::string(name) + ": MuJoCo is not installed");
#endif
    }
}

}  // namespace

Bench python_bench() {
    return {
        "python",
        "the C++ side of bench/python_bench.py: steps of a scene, and batches of MuJoCo's data on threads",
        run};
}

}  // namespace tenon::bench

#include "bench/articulated_peers.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include <fmt/format.h>

#ifdef TENON_HAVE_BULLET
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>
#endif
#ifdef TENON_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

namespace tenon::bench {
namespace {

constexpr double link_length = 0.1, link_width = 0.02, link_mass = 1000.0 * 0.1 * 0.02 * 0.02;

[[maybe_unused]] double now_ms() {  // no peer may be installed
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

[[maybe_unused]] double processor_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Follows the end mass of a chain: what falls by the chain's length is no faster than sqrt(2 g L).
class Judge {
  public:
    Judge(int links, double end_mass, double dt, double most_seconds)
        : fastest_(2.0 * std::sqrt(2.0 * 9.81 * (links * link_length + std::cbrt(end_mass / 7850.0)))),
          dt_(dt),
          most_(most_seconds),
          start_(processor_seconds()) {}

    // After a step: false when the run is to end.
    bool goes_on(PeerRun& run, double open, double x, double y, double z) {
        run.seconds += dt_;
        run.gap = std::max(run.gap, open);
        const double way = std::hypot(x - x_, y - y_, z - z_);
        run.finite = run.finite && std::isfinite(open) && std::isfinite(way);
        run.sound = run.finite && open < 0.1 && (steps_ == 0 || way < fastest_ * dt_);
        x_ = x, y_ = y, z_ = z;
        ++steps_;
        const double spent = processor_seconds() - start_;
        run.ms_per_step = run.processor_ms_per_step = 1e3 * spent / steps_;
        return run.sound && spent < most_;
    }

  private:
    double fastest_, dt_, most_, start_, x_ = 0, y_ = 0, z_ = 0;
    int steps_ = 0;
};

#ifdef TENON_HAVE_BULLET
struct BulletWorld {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btPoint2PointConstraint>> joints;

    explicit BulletWorld(int iterations) {
        world.setGravity(btVector3(0, btScalar(-9.81), 0));
        world.getSolverInfo().m_numIterations = iterations;
    }
    ~BulletWorld() {
        for (auto& joint : joints) world.removeConstraint(joint.get());
        for (auto& body : bodies) world.removeRigidBody(body.get());
    }
    btRigidBody* add(const btVector3& half, btScalar mass, const btTransform& at) {
        shapes.push_back(std::make_unique<btBoxShape>(half));
        btVector3 inertia(0, 0, 0);
        shapes.back()->calculateLocalInertia(mass, inertia);
        btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shapes.back().get(), inertia);
        info.m_startWorldTransform = at;
        bodies.push_back(std::make_unique<btRigidBody>(info));
        bodies.back()->setActivationState(DISABLE_DEACTIVATION);
        world.addRigidBody(bodies.back().get(), 0, 0);  // nothing collides
        return bodies.back().get();
    }
    void join(btRigidBody* a, btRigidBody* b, const btVector3& at) {
        const btVector3 in_a = a->getWorldTransform().inverse() * at;
        if (b)
            joints.push_back(std::make_unique<btPoint2PointConstraint>(
                *a, *b, in_a, b->getWorldTransform().inverse() * at));
        else
            joints.push_back(std::make_unique<btPoint2PointConstraint>(*a, in_a));
        world.addConstraint(joints.back().get(), true);
    }
    double gap() {
        double worst = 0;
        for (auto& joint : joints) {
            const btVector3 a = joint->getRigidBodyA().getWorldTransform() * joint->getPivotInA();
            const btVector3 b = joint->getRigidBodyB().getWorldTransform() * joint->getPivotInB();
            const double d = (a - b).length();
            if (!std::isfinite(d)) return d;
            worst = std::max(worst, d);
        }
        return worst;
    }
    PeerRun run_chain(double dt, int steps, const std::string& setting, Judge judge) {
        PeerRun result{"bullet", setting};
        for (int done = 0; done < steps; ++done) {
            world.stepSimulation(static_cast<btScalar>(dt), 0);
            const btVector3 end = bodies.back()->getWorldTransform().getOrigin();
            if (!judge.goes_on(result, gap(), end.x(), end.y(), end.z())) break;
        }
        return result;
    }
    PeerRun run(double dt, int steps, const std::string& setting) {
        PeerRun result{"bullet", setting};
        const double start = now_ms(), processor = processor_seconds();
        int done = 0;
        for (; done < steps && result.finite; ++done) {
            world.stepSimulation(static_cast<btScalar>(dt), 0);
            const double open = gap();
            result.finite = std::isfinite(open) && open < 1e3;
            result.gap = std::max(result.gap, open);
        }
        result.ms_per_step = (now_ms() - start) / std::max(1, done);
        result.processor_ms_per_step = 1e3 * (processor_seconds() - processor) / std::max(1, done);
        return result;
    }
};

// A chain of ball joints from horizontal in reduced coordinates.
struct BulletMultibody {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btMultiBodyConstraintSolver solver;
    btMultiBodyDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    btMultiBody chain;

    BulletMultibody(int links, double end_mass)
        : chain(links + (end_mass > 0), btScalar(link_mass), inertia(), true, false) {
        world.setGravity(btVector3(0, btScalar(-9.81), 0));
        const btVector3 first(btScalar(link_length / 2), 0, 0);
        for (int i = 0; i < links; ++i)
            chain.setupSpherical(i, btScalar(link_mass), inertia(), i - 1, btQuaternion(0, 0, 0, 1), first,
                                 first, true);
        if (end_mass > 0) {
            const double side = std::cbrt(end_mass / 7850.0);
            const btScalar turn = btScalar(end_mass * side * side / 6);
            chain.setupSpherical(links, btScalar(end_mass), btVector3(turn, turn, turn), links - 1,
                                 btQuaternion(0, 0, 0, 1), first, btVector3(btScalar(side / 2), 0, 0), true);
        }
        chain.finalizeMultiDof();
        world.addMultiBody(&chain);
    }
    ~BulletMultibody() { world.removeMultiBody(&chain); }

    static btVector3 inertia() {
        return {btScalar(link_mass / 12 * 2 * link_width * link_width),
                btScalar(link_mass / 12 * (0.01 + 4e-4)), btScalar(link_mass / 12 * (0.01 + 4e-4))};
    }
};

btTransform placed(double x, double y, double z, bool along_z = false) {
    btTransform at;
    at.setIdentity();
    if (along_z) at.setRotation(btQuaternion(btVector3(0, 1, 0), btScalar(M_PI / 2)));
    at.setOrigin(btVector3(btScalar(x), btScalar(y), btScalar(z)));
    return at;
}
#endif

#ifdef TENON_HAVE_MUJOCO
std::string tree_chain(int links, double end_mass, double dt, const char* integrator) {
    std::string xml = fmt::format(
        "<mujoco><size nconmax='10' njmax='10' nstack='20000000'/><option timestep='{}' integrator='{}' "
        "gravity='0 -9.81 "
        "0'><flag contact='disable'/></option><worldbody>",
        dt, integrator);
    std::string close;
    for (int i = 0; i < links; ++i) {
        xml += fmt::format(
            "<body pos='{} 0 0'><joint type='ball'/><geom type='box' size='{} {} {}' pos='{} 0 0' "
            "mass='{}'/>",
            i == 0 ? 0.0 : link_length, link_length / 2, link_width / 2, link_width / 2, link_length / 2,
            link_mass);
        close += "</body>";
    }
    const double half = 0.5 * std::cbrt(end_mass / 7850.0);
    xml += fmt::format(
        "<body pos='{} 0 0'><joint type='ball'/><geom type='box' size='{} {} {}' pos='{} 0 0' "
        "mass='{}'/></body>",
        link_length, half, half, half, half, end_mass);
    return xml + close + "</worldbody></mujoco>";
}

// Free bodies held together by connect constraints.
std::string equality_chain(int links, double end_mass, double dt) {
    std::string xml = fmt::format(
        "<mujoco><size njmax='2000' nconmax='10'/><option timestep='{}' gravity='0 -9.81 0'><flag "
        "contact='disable'/></option><worldbody>",
        dt);
    for (int i = 0; i < links; ++i)
        xml += fmt::format(
            "<body name='b{}' pos='{} 0 0'><freejoint/><geom type='box' size='{} {} {}' mass='{}'/></body>",
            i, (i + 0.5) * link_length, link_length / 2, link_width / 2, link_width / 2, link_mass);
    const double half = 0.5 * std::cbrt(end_mass / 7850.0);
    xml += fmt::format(
        "<body name='b{}' pos='{} 0 0'><freejoint/><geom type='box' size='{} {} {}' "
        "mass='{}'/></body></worldbody><equality>",
        links, links * link_length + half, half, half, half, end_mass);
    xml += fmt::format("<connect body1='b0' anchor='{} 0 0'/>", -link_length / 2);
    for (int i = 0; i < links; ++i)
        xml += fmt::format("<connect body1='b{}' body2='b{}' anchor='{} 0 0'/>", i, i + 1, link_length / 2);
    return xml + "</equality></mujoco>";
}

// n x n nodes and their rods as free bodies held together by connect constraints, one edge pinned.
std::string equality_net(int n, double dt, int iterations) {
    const double s = 0.2, t = 0.02, half_node = 0.015;
    std::string xml = fmt::format(
        "<mujoco><size njmax='{}' nconmax='10'/><option timestep='{}' iterations='{}' gravity='0 -9.81 "
        "0'><flag "
        "contact='disable'/></option><worldbody>",
        20 * n * n, dt, iterations);
    std::string joins;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
            xml += fmt::format(
                "<body name='n{}' pos='{} 0 {}'><freejoint/><geom type='box' size='{} {} {}' "
                "mass='{}'/></body>",
                j * n + i, i * s, j * s, half_node, half_node, half_node,
                8000 * half_node * half_node * half_node);
    const auto rod = [&](int a, int b, double x, double z, bool along_z) {
        const int k = a * 2 + (along_z ? 1 : 0);
        xml += fmt::format(
            "<body name='r{}' pos='{} 0 {}'><freejoint/><geom type='box' size='{} {} {}' mass='{}'/></body>",
            k, x, z, along_z ? t / 2 : s / 2, t / 2, along_z ? s / 2 : t / 2, 1000 * s * t * t);
        joins += fmt::format(
            "<connect body1='n{}' body2='r{}' anchor='0 0 0'/><connect body1='n{}' body2='r{}' anchor='0 0 "
            "0'/>",
            a, k, b, k);
    };
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            if (i + 1 < n) rod(j * n + i, j * n + i + 1, (i + 0.5) * s, j * s, false);
            if (j + 1 < n) rod(j * n + i, (j + 1) * n + i, i * s, (j + 0.5) * s, true);
        }
    for (int i = 0; i < n; ++i) joins += fmt::format("<connect body1='n{}' anchor='0 0 0'/>", i);
    return xml + "</worldbody><equality>" + joins + "</equality></mujoco>";
}

PeerRun run_mujoco(const std::string& xml, int steps, const std::string& setting,
                   std::optional<Judge> judge = {}) {
    PeerRun result{"mujoco", setting};
    const auto file = std::filesystem::temp_directory_path() / "tenon_bench_chain.xml";
    std::ofstream(file) << xml;
    char error[500] = "";
    mjModel* model = mj_loadXML(file.c_str(), nullptr, error, sizeof(error));
    std::filesystem::remove(file);
    if (!model) {
        result.finite = result.sound = false;
        result.setting += std::string(" (does not load: ") + error + ")";
        return result;
    }
    mjData* data = mj_makeData(model);
    const double start = now_ms(), processor = processor_seconds();
    int done = 0;
    for (; done < steps && result.finite; ++done) {
        mj_step(model, data);
        for (int i = 0; i < model->nv && result.finite; ++i)
            result.finite = std::isfinite(data->qvel[i]) && std::abs(data->qvel[i]) < 1e5;
        for (int i = 0; i < data->nefc; ++i) result.gap = std::max(result.gap, std::abs(data->efc_pos[i]));
        result.finite = result.finite && data->warning[mjWARN_BADQACC].number == 0 &&
                        data->warning[mjWARN_BADQPOS].number == 0;
        const double* end = data->xpos + 3 * (model->nbody - 1);
        if (judge && !judge->goes_on(result, result.gap, end[0], end[1], end[2])) break;
    }
    if (!judge) {
        result.ms_per_step = (now_ms() - start) / std::max(1, done);
        result.processor_ms_per_step = 1e3 * (processor_seconds() - processor) / std::max(1, done);
    }
    mj_deleteData(data);
    mj_deleteModel(model);
    return result;
}
#endif

}  // namespace

std::vector<PeerRun> peer_chains([[maybe_unused]] int links, [[maybe_unused]] double end_mass_ratio,
                                 [[maybe_unused]] double dt, [[maybe_unused]] int steps,
                                 [[maybe_unused]] double most_seconds) {
    std::vector<PeerRun> runs;
    [[maybe_unused]] const double end_mass = end_mass_ratio * link_mass;
#ifdef TENON_HAVE_BULLET
    for (int iterations : {30, 300}) {
        BulletWorld bullet(iterations);
        btRigidBody* before = nullptr;
        const btVector3 half(btScalar(link_length / 2), btScalar(link_width / 2), btScalar(link_width / 2));
        for (int i = 0; i < links; ++i) {
            btRigidBody* body = bullet.add(half, btScalar(link_mass), placed((i + 0.5) * link_length, 0, 0));
            bullet.join(body, before, btVector3(btScalar(i * link_length), 0, 0));
            before = body;
        }
        const double side = std::cbrt(end_mass / 7850.0);
        btRigidBody* end = bullet.add(btVector3(btScalar(side / 2), btScalar(side / 2), btScalar(side / 2)),
                                      btScalar(end_mass), placed(links * link_length + side / 2, 0, 0));
        bullet.join(end, before, btVector3(btScalar(links * link_length), 0, 0));
        runs.push_back(bullet.run_chain(dt, steps, fmt::format("point-to-point, {} iterations", iterations),
                                        Judge(links, end_mass, dt, most_seconds)));
    }
    BulletMultibody bullet(links, end_mass);
    PeerRun result{"bullet", "multibody"};
    Judge judge(links, end_mass, dt, most_seconds);
    for (int done = 0; done < steps; ++done) {
        bullet.world.stepSimulation(static_cast<btScalar>(dt), 0);
        const btVector3 at = bullet.chain.localPosToWorld(links, btVector3(0, 0, 0));
        if (!judge.goes_on(result, 0.0, at.x(), at.y(), at.z())) break;
    }
    runs.push_back(result);
#endif
#ifdef TENON_HAVE_MUJOCO
    const int deep = std::min(links, 90);  // the XML reader of Debian's package nests no deeper
    for (const char* integrator : {"Euler", "implicit", "RK4"})
        runs.push_back(run_mujoco(tree_chain(deep, end_mass, dt, integrator), steps,
                                  fmt::format("tree of {} links, {}", deep, integrator),
                                  Judge(deep, end_mass, dt, most_seconds)));
    runs.push_back(run_mujoco(equality_chain(links, end_mass, dt), steps, "equality",
                              Judge(links, end_mass, dt, most_seconds)));
#endif
    return runs;
}

std::vector<PeerRun> peer_nets([[maybe_unused]] int n, [[maybe_unused]] double dt, [[maybe_unused]] int steps,
                               [[maybe_unused]] int iterations) {
    std::vector<PeerRun> runs;
#ifdef TENON_HAVE_BULLET
    BulletWorld bullet(iterations);
    const double s = 0.2, t = 0.02, node_half = 0.015;
    std::vector<btRigidBody*> nodes;
    const btScalar node_mass = btScalar(1000 * 8 * node_half * node_half * node_half),
                   rod_mass = btScalar(1000 * s * t * t);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
            nodes.push_back(
                bullet.add(btVector3(btScalar(node_half), btScalar(node_half), btScalar(node_half)),
                           node_mass, placed(i * s, 0, j * s)));
    const btVector3 half(btScalar(s / 2), btScalar(t / 2), btScalar(t / 2));
    const auto link = [&](int a, int b, double x, double z, bool along_z) {
        btRigidBody* rod = bullet.add(half, rod_mass, placed(x, 0, z, along_z));
        bullet.join(rod, nodes[a], nodes[a]->getWorldTransform().getOrigin());
        bullet.join(rod, nodes[b], nodes[b]->getWorldTransform().getOrigin());
    };
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            if (i + 1 < n) link(j * n + i, j * n + i + 1, (i + 0.5) * s, j * s, false);
            if (j + 1 < n) link(j * n + i, (j + 1) * n + i, i * s, (j + 0.5) * s, true);
        }
    for (int i = 0; i < n; ++i) bullet.join(nodes[i], nullptr, nodes[i]->getWorldTransform().getOrigin());
    runs.push_back(bullet.run(dt, steps, fmt::format("point-to-point, {} iterations", iterations)));
#endif
#ifdef TENON_HAVE_MUJOCO
    if (n <= 10)  // its constraint matrix is dense here: a net of 20 would need gigabytes
        runs.push_back(run_mujoco(equality_net(n, dt, iterations), steps,
                                  fmt::format("equality, {} iterations", iterations)));
#endif
    return runs;
}

std::vector<PeerRun> peer_multibody_chain([[maybe_unused]] int links, [[maybe_unused]] double dt,
                                          [[maybe_unused]] int steps) {
    std::vector<PeerRun> runs;
#ifdef TENON_HAVE_BULLET
    BulletMultibody bullet(links, 0.0);
    btMultiBodyDynamicsWorld& world = bullet.world;
    btMultiBody& chain = bullet.chain;
    PeerRun result{"bullet", "multibody"};
    const double start = now_ms();
    const std::clock_t processor = std::clock();
    for (int k = 0; k < steps; ++k) world.stepSimulation(static_cast<btScalar>(dt), 0);
    result.ms_per_step = (now_ms() - start) / steps;
    result.processor_ms_per_step =
        1e3 * static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC / steps;
    result.finite = std::isfinite(static_cast<double>(chain.getJointPosMultiDof(links - 1)[0]));
    runs.push_back(result);
#endif
    return runs;
}

}  // namespace tenon::bench

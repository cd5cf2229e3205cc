#include "bench/affine_bullet.hpp"

#include <memory>
#include <vector>

#include "bench/affine_measure.hpp"
#include "tenon/state.hpp"

#ifdef TENON_HAVE_BULLET
#include <btBulletDynamicsCommon.h>
#endif

namespace tenon::bench {

#ifndef TENON_HAVE_BULLET

std::optional<BulletRun> bullet_wall(const Scene&, int, bool) {
    return std::nullopt;
}

#else

namespace {

btVector3 vector_of(const Vec3& v) {
    return btVector3(static_cast<btScalar>(v.x()), static_cast<btScalar>(v.y()),
                     static_cast<btScalar>(v.z()));
}

btTransform pose_of(const Mat34& q) {
    const Quat r(Mat3(q.leftCols<3>()));
    return btTransform(btQuaternion(static_cast<btScalar>(r.x()), static_cast<btScalar>(r.y()),
                                    static_cast<btScalar>(r.z()), static_cast<btScalar>(r.w())),
                       vector_of(q.col(3)));
}

std::unique_ptr<btCollisionShape> shape_of(const Shape& shape, bool hulls) {
    if (!hulls && shape.primitive.kind == Primitive::Kind::box)
        return std::make_unique<btBoxShape>(vector_of(0.5 * shape.box.size()));
    if (!hulls && shape.primitive.kind == Primitive::Kind::sphere)
        return std::make_unique<btSphereShape>(static_cast<btScalar>(shape.primitive.size.x()));
    auto hull = std::make_unique<btConvexHullShape>();
    for (const Vec3& v : shape.mesh.vertices) hull->addPoint(vector_of(v), false);
    hull->recalcLocalAabb();
    return hull;
}

double deepest(btDispatcher& dispatcher) {
    double depth = 0.0;
    for (int k = 0; k < dispatcher.getNumManifolds(); ++k) {
        const btPersistentManifold* manifold = dispatcher.getManifoldByIndexInternal(k);
        for (int c = 0; c < manifold->getNumContacts(); ++c)
            depth = std::max(depth, -static_cast<double>(manifold->getContactPoint(c).getDistance()));
    }
    return depth;
}

BulletRun run_once(const Scene& scene, int steps, bool hulls) {
    const Model model = compile(scene);
    const State state = initial_state(model);
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld bullet(&dispatcher, &broadphase, &solver, &configuration);
    bullet.setGravity(vector_of(state.gravity));
    std::vector<std::unique_ptr<btCollisionShape> > shapes;
    std::vector<std::unique_ptr<btRigidBody> > bodies;
    for (const auto& shape : model.shapes) shapes.push_back(shape_of(*shape, hulls));
    for (int i = 0; i < model.bodies.size(); ++i) {
        const bool moves = state.dynamic(i);
        const Vec3 moments = model.bodies.moments_of_inertia(i);
        btRigidBody::btRigidBodyConstructionInfo info(
            moves ? static_cast<btScalar>(model.bodies.mass[i]) : 0.0f, nullptr,
            shapes[model.bodies.shape[i]].get(), moves ? vector_of(moments) : btVector3(0, 0, 0));
        info.m_startWorldTransform = pose_of(state.q[i]);
        info.m_friction = static_cast<btScalar>(model.bodies.friction[i]);
        bodies.push_back(std::make_unique<btRigidBody>(info));
        bodies.back()->setLinearVelocity(vector_of(state.rate[i].col(3)));
        bullet.addRigidBody(bodies.back().get());
    }
    double depth = 0.0, total = 0.0;
    for (int k = 0; k < steps; ++k) {
        total += cpu_seconds_of([&] { bullet.stepSimulation(static_cast<btScalar>(scene.dt), 0); });
        depth = std::max(depth, deepest(dispatcher));
    }
    for (auto& body : bodies) bullet.removeRigidBody(body.get());
    return {1e3 * total / steps, depth};
}

}  // namespace

std::optional<BulletRun> bullet_wall(const Scene& scene, int steps, bool hulls) {
    return run_once(scene, steps, hulls);
}

#endif

BulletRun median_of(const std::vector<BulletRun>& runs) {
    std::vector<double> times;
    for (const BulletRun& run : runs) times.push_back(run.ms_per_step);
    return {median(times), runs.back().deepest};
}

Row bullet_row(const std::string& name, const Scene& scene, bool hulls, const BulletRun& run) {
    Row row;
    row.set("bench", "affine")
        .set("case", name)
        .set("engine", "bullet")
        .set("method", hulls ? "hulls" : "boxes");
    row.set("size", static_cast<double>(scene.bodies.size())).set("threads", 1).set("dt", scene.dt);
    row.set("ms_per_step", run.ms_per_step).set("max_penetration", run.deepest);
    row.set("cpu_s_per_second", run.ms_per_step * 1e-3 / scene.dt);
    return row;
}

}  // namespace tenon::bench

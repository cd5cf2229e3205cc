#include "bench/affine_bullet_scenes.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "math/parallel.hpp"
#include "run/run_loop.hpp"
#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"
#include "verify/verify.hpp"

#ifdef TENON_HAVE_BULLET
#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <btBulletDynamicsCommon.h>
#endif

namespace tenon::bench {
namespace {

// What a scene's own expectations say about a run, and how it looked at the end.
struct Outcome {
    double ms_per_step = 0, max_penetration = 0;
    long intersections = 0, unconverged = 0;
    int held = 0, expected = 0;
    std::string failed;  // the first expectation that did not hold
};

void judge(const run::ExpectChecker& checker, const Simulation& simulation, Outcome& out) {
    for (const run::ExpectResult& result : checker.results(simulation)) {
        ++out.expected;
        out.held += result.held;
        if (!result.held && out.failed.empty()) out.failed = result.text;
    }
    out.intersections = verify::count_intersections(simulation.model(), simulation.state());
}

Outcome run_ours(const Scene& scene, int steps) {
    Simulation simulation(scene);
    run::ExpectChecker checker(simulation, verify::count_intersections);
    Outcome out;
    double total = 0;
    for (int k = 0; k < steps; ++k) {
        StepReport report;
        total += seconds_of([&] { report = simulation.step(); });
        out.unconverged += !report.converged;
        checker.after_step(simulation, report);
    }
    out.ms_per_step = 1e3 * total / steps;
    judge(checker, simulation, out);
    return out;
}

void print_row(const std::string& name, const std::string& engine, const std::string& method,
               const Scene& scene, const Outcome& out, const Options& options) {
    Row row;
    row.set("bench", "affine").set("case", name).set("engine", engine).set("method", method);
    row.set("size", static_cast<double>(scene.bodies.size())).set("threads", 1).set("dt", scene.dt);
    row.set("ms_per_step", out.ms_per_step).set("max_penetration", out.max_penetration);
    row.set("intersections", static_cast<double>(out.intersections));
    row.set("unconverged", static_cast<double>(out.unconverged));
    row.set("outcome", out.held == out.expected ? "as expected" : "not so: " + out.failed);
    options.print(row);
}

#ifdef TENON_HAVE_BULLET

btScalar scalar(double x) {
    return static_cast<btScalar>(x);
}

btVector3 vector_of(const Vec3& v) {
    return btVector3(scalar(v.x()), scalar(v.y()), scalar(v.z()));
}

// Hulls for convex bodies; triangles as they are for others, in Bullet's own way for still and for moving ones.
struct BulletShape {
    std::unique_ptr<btTriangleMesh> mesh;
    std::unique_ptr<btCollisionShape> shape;
};

BulletShape bullet_shape(const Shape& shape, bool moves) {
    BulletShape out;
    if (shape.convex) {
        auto hull = std::make_unique<btConvexHullShape>();
        for (const Vec3& v : shape.mesh.vertices) hull->addPoint(vector_of(v), false);
        hull->recalcLocalAabb();
        out.shape = std::move(hull);
    } else {
        out.mesh = std::make_unique<btTriangleMesh>();
        for (const Triangle& t : shape.mesh.triangles)
            out.mesh->addTriangle(vector_of(shape.mesh.vertices[t[0]]), vector_of(shape.mesh.vertices[t[1]]),
                                  vector_of(shape.mesh.vertices[t[2]]));
        if (moves) {
            auto concave = std::make_unique<btGImpactMeshShape>(out.mesh.get());
            concave->updateBound();
            out.shape = std::move(concave);
        } else {
            out.shape = std::make_unique<btBvhTriangleMeshShape>(out.mesh.get(), true);
        }
    }
    // Bullet's usual margin is 4 cm, thicker than a card: here less than half of the gaps these scenes start with.
    out.shape->setMargin(scalar(0.0009));
    return out;
}

class BulletScene {
  public:
    explicit BulletScene(const Model& model, const State& state)
        : dispatcher_(&configuration_), world_(&dispatcher_, &broadphase_, &solver_, &configuration_) {
        btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher_);
        world_.setGravity(vector_of(state.gravity));
        for (int i = 0; i < model.bodies.size(); ++i) add(model, state, i);
    }
    ~BulletScene() {
        for (auto& body : bodies_) world_.removeRigidBody(body.get());
    }
    void step(double dt) { world_.stepSimulation(scalar(dt), 0); }
    double deepest() const {
        double depth = 0.0;
        for (int k = 0; k < dispatcher_.getNumManifolds(); ++k) {
            const btPersistentManifold* manifold =
                const_cast<btCollisionDispatcher&>(dispatcher_).getManifoldByIndexInternal(k);
            for (int c = 0; c < manifold->getNumContacts(); ++c)
                depth = std::max(depth, -static_cast<double>(manifold->getContactPoint(c).getDistance()));
        }
        return depth;
    }
    // Poses and rates for those who judge.
    void copy_to(State& state) const {
        for (std::size_t i = 0; i < bodies_.size(); ++i) {
            const btTransform& pose = bodies_[i]->getWorldTransform();
            const btVector3 &v = bodies_[i]->getLinearVelocity(), &w = bodies_[i]->getAngularVelocity();
            Mat34& q = state.q[i];
            for (int row = 0; row < 3; ++row) {
                for (int column = 0; column < 3; ++column) q(row, column) = pose.getBasis()[row][column];
                q(row, 3) = pose.getOrigin()[row];
                state.rate[i](row, 3) = v[row];
            }
            const Vec3 spin(w.x(), w.y(), w.z());
            for (int k = 0; k < 3; ++k) state.rate[i].col(k) = spin.cross(Vec3(q.col(k)));
        }
    }

  private:
    void add(const Model& model, const State& state, int i) {
        const bool moves = state.dynamic(i);
        auto [found, is_new] = shapes_.try_emplace({model.bodies.shape[i], moves});
        if (is_new) found->second = bullet_shape(model.shape_of(i), moves);
        btRigidBody::btRigidBodyConstructionInfo info(
            moves ? scalar(model.bodies.mass[i]) : 0, nullptr, found->second.shape.get(),
            moves ? vector_of(model.bodies.moments_of_inertia(i)) : btVector3(0, 0, 0));
        const Quat r(Mat3(state.q[i].leftCols<3>()));
        info.m_startWorldTransform =
            btTransform(btQuaternion(scalar(r.x()), scalar(r.y()), scalar(r.z()), scalar(r.w())),
                        vector_of(state.q[i].col(3)));
        info.m_friction = scalar(model.bodies.friction[i]);
        bodies_.push_back(std::make_unique<btRigidBody>(info));
        bodies_.back()->setLinearVelocity(vector_of(state.rate[i].col(3)));
        world_.addRigidBody(bodies_.back().get());
    }

    std::map<std::pair<int, bool>, BulletShape> shapes_;
    btDefaultCollisionConfiguration configuration_;
    btCollisionDispatcher dispatcher_;
    btDbvtBroadphase broadphase_;
    btSequentialImpulseConstraintSolver solver_;
    btDiscreteDynamicsWorld world_;
    std::vector<std::unique_ptr<btRigidBody>> bodies_;
};

Outcome run_bullet(const Scene& scene, int steps) {
    Simulation simulation(scene);
    run::ExpectChecker checker(simulation, verify::count_intersections);
    BulletScene bullet(simulation.model(), simulation.state());
    Outcome out;
    double total = 0;
    for (int k = 0; k < steps; ++k) {
        total += seconds_of([&] { bullet.step(scene.dt); });
        out.max_penetration = std::max(out.max_penetration, bullet.deepest());
        bullet.copy_to(simulation.state());
        simulation.state().time = (k + 1) * scene.dt;
        checker.after_step(simulation, {});
    }
    out.ms_per_step = 1e3 * total / steps;
    judge(checker, simulation, out);
    return out;
}

#endif

}  // namespace

void friction_scenes(const Options& options) {
    const std::pair<std::string, std::map<std::string, ParamValue>> scenes[] = {
        {"screw", {}},
        {"arch", {{"seconds", 1.0}}},
        {"card-house", {{"seconds", 1.0}, {"boxes", false}}},
        {"spiky-pile", {}}};
    for (const auto& [name, values] : scenes) {
        if (!options.wants("scene-" + name)) continue;
        Scene scene = make_builtin(*find_builtin(name), values);
        if (options.quick) scene.seconds = 0.1;
        const auto steps = [&] { return static_cast<int>(std::round(scene.seconds / scene.dt)); };
        print_row("scene-" + name, "tenon", "affine", scene, run_ours(scene, steps()), options);
#ifdef TENON_HAVE_BULLET
        for (const double rate : {100.0, 240.0, 2000.0}) {
            scene.dt = 1.0 / rate;
            print_row("scene-" + name, "bullet", "hulls and meshes", scene, run_bullet(scene, steps()),
                      options);
        }
#endif
    }
#ifndef TENON_HAVE_BULLET
    if (options.note) options.note("Bullet is not installed: no comparison");
#endif
}

}  // namespace tenon::bench

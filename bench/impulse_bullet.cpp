#include "bench/impulse_bullet.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bench/bench.hpp"

#ifdef TENON_HAVE_BULLET
#include <LinearMath/btConvexHullComputer.h>
#include <btBulletDynamicsCommon.h>

namespace tenon::bench {
namespace {

btVector3 bt(const Vec3& v) {
    return {static_cast<btScalar>(v.x()), static_cast<btScalar>(v.y()), static_cast<btScalar>(v.z())};
}

btTransform bt(const Mat34& q) {
    const Quat r(Mat3(q.leftCols<3>()));
    return btTransform(btQuaternion(static_cast<btScalar>(r.x()), static_cast<btScalar>(r.y()),
                                    static_cast<btScalar>(r.z()), static_cast<btScalar>(r.w())),
                       bt(Vec3(q.col(3))));
}

std::unique_ptr<btCollisionShape> make_shape(const Shape& shape) {
    const Primitive& p = shape.primitive;
    const bool centred = p.frame.position.norm() < 1e-9 && p.frame.rotation.vec().norm() < 1e-9;
    if (p.kind == Primitive::Kind::box && centred)
        return std::make_unique<btBoxShape>(bt(Vec3(0.5 * p.size)));
    if (p.kind == Primitive::Kind::sphere)
        return std::make_unique<btSphereShape>(static_cast<btScalar>(p.size.x()));
    if (p.kind == Primitive::Kind::plane)
        return std::make_unique<btStaticPlaneShape>(bt(Vec3(p.frame.rotation * Vec3::UnitY())), btScalar(0));
    auto hull = std::make_unique<btConvexHullShape>();
    for (const Vec3& v : shape.mesh.vertices) hull->addPoint(bt(v), false);
    hull->optimizeConvexHull();
    hull->recalcLocalAabb();
    return hull;
}

}  // namespace

struct BulletScene::Parts {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btDefaultMotionState>> states;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    ~Parts() {
        for (auto& body : bodies) world.removeRigidBody(body.get());
    }
};

bool BulletScene::available() {
    return true;
}

BulletScene::BulletScene(const Model& model, const State& state, int iterations)
    : parts_(std::make_unique<Parts>()) {
    parts_->world.setGravity(bt(state.gravity));
    parts_->world.getSolverInfo().m_numIterations = iterations;
    for (const auto& shape : model.shapes) parts_->shapes.push_back(make_shape(*shape));
    for (int i = 0; i < model.bodies.size(); ++i) {
        const bool moves = state.dynamic(i);
        parts_->states.push_back(std::make_unique<btDefaultMotionState>(bt(state.q[i])));
        btRigidBody::btRigidBodyConstructionInfo info(
            moves ? static_cast<btScalar>(model.bodies.mass[i]) : btScalar(0), parts_->states.back().get(),
            parts_->shapes[model.bodies.shape[i]].get(),
            moves ? bt(model.bodies.moments_of_inertia(i)) : btVector3(0, 0, 0));
        // Bullet multiplies the two bodies' coefficients, we take their geometric mean
        info.m_friction = static_cast<btScalar>(std::sqrt(model.bodies.friction[i]));
        parts_->bodies.push_back(std::make_unique<btRigidBody>(info));
        parts_->bodies.back()->setActivationState(DISABLE_DEACTIVATION);
        if (moves) parts_->bodies.back()->setLinearVelocity(bt(Vec3(state.rate[i].col(3))));
        parts_->world.addRigidBody(parts_->bodies.back().get());
    }
}

BulletScene::~BulletScene() = default;

PeerStep BulletScene::step(double dt) {
    PeerStep out;
    out.ms = 1e3 * seconds_of([&] { parts_->world.stepSimulation(static_cast<btScalar>(dt), 0); });
    for (int i = 0; i < parts_->dispatcher.getNumManifolds(); ++i) {
        const btPersistentManifold* manifold = parts_->dispatcher.getManifoldByIndexInternal(i);
        out.contacts += manifold->getNumContacts();
        for (int k = 0; k < manifold->getNumContacts(); ++k)
            out.penetration =
                std::max(out.penetration, -static_cast<double>(manifold->getContactPoint(k).getDistance()));
    }
    return out;
}

Mat34 BulletScene::pose(int body) const {
    const btTransform& t = parts_->bodies[body]->getWorldTransform();
    Mat34 q;
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) q(r, c) = t.getBasis()[r][c];
        q(r, 3) = t.getOrigin()[r];
    }
    return q;
}

Mesh convex_hull(const Mesh& mesh) {
    std::vector<double> coordinates;
    for (const Vec3& v : mesh.vertices) coordinates.insert(coordinates.end(), v.data(), v.data() + 3);
    btConvexHullComputer computer;
    computer.compute(coordinates.data(), 3 * sizeof(double), static_cast<int>(mesh.vertices.size()), 0, 0);
    Mesh hull;
    for (int i = 0; i < computer.vertices.size(); ++i) {
        const btVector3& v = computer.vertices[i];
        hull.vertices.emplace_back(v.x(), v.y(), v.z());
    }
    for (int f = 0; f < computer.faces.size(); ++f) {  // fans of triangles
        const btConvexHullComputer::Edge* first = &computer.edges[computer.faces[f]];
        for (const auto* edge = first->getNextEdgeOfFace();
             edge->getTargetVertex() != first->getSourceVertex(); edge = edge->getNextEdgeOfFace())
            hull.triangles.push_back(
                {first->getSourceVertex(), edge->getSourceVertex(), edge->getTargetVertex()});
    }
    return hull;
}

}  // namespace tenon::bench

#else

namespace tenon::bench {

struct BulletScene::Parts {};
bool BulletScene::available() {
    return false;
}
BulletScene::BulletScene(const Model&, const State&, int) {
    throw std::logic_error("built without Bullet");
}
BulletScene::~BulletScene() = default;
PeerStep BulletScene::step(double) {
    return {};
}
Mat34 BulletScene::pose(int) const {
    return Mat34::Zero();
}
Mesh convex_hull(const Mesh&) {
    throw std::logic_error("built without Bullet");
}

}  // namespace tenon::bench

#endif

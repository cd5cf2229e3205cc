// The coupled solve of the affine method, part by part: derivatives, the mixed factorisation, unknowns.
#include <gtest/gtest.h>

#include <random>

#include <Eigen/Cholesky>

#include "methods/affine/coupled_system.hpp"
#include "scene/builtin/scene_parts.hpp"

namespace tenon::affine {
namespace {

// A soft block on a stiff one, one vertex layer attached to it, above a floor; the stiff block hinged to another one.
Scene block_scene() {
    Scene scene;
    MaterialSpec soft;
    soft.name = "soft";
    soft.young = 1e4;
    soft.rayleigh_stiffness = 0.01;
    const int material = scene.add_material(soft);
    BodySpec floor = body_spec(scene, "floor", box_spec({2, 0.2, 2}), Vec3(0, -0.1, 0));
    floor.type = BodyType::static_body;
    scene.add_body(floor);
    scene.add_body(body_spec(scene, "base", box_spec({0.2, 0.1, 0.2}), Vec3(0, 0.054, 0)));
    scene.add_body(body_spec(scene, "arm", box_spec({0.2, 0.05, 0.05}), Vec3(0.21, 0.06, 0)));
    JointSpec hinge;
    hinge.name = "hinge";
    hinge.type = JointType::hinge;
    hinge.bodies = {1, 2};
    hinge.point = Vec3(0.105, 0.06, 0);
    hinge.axis = Vec3::UnitZ();
    DriveSpec drive;
    drive.spring = SpringSpec{};
    drive.spring->stiffness = 3.0;
    drive.spring->rest = 0.2;
    hinge.drives.push_back(drive);
    scene.joints.push_back(hinge);
    ElasticSpec block;
    block.name = "block";
    block.geometry = scene.add_geometry(box_spec({0.1, 0.1, 0.1}));
    block.material = material;
    block.cell_size = 0.05;
    block.position = Vec3(0, 0.1545, 0);
    block.pins.push_back({Vec3(-1, -0.051, -1), Vec3(1, -0.049, 1), {}, "base"});
    scene.elastic.push_back(block);
    return scene;
}

struct Fixture {
    Model model = compile(block_scene());
    State state = initial_state(model);
    CoupledStep step{model, state, RigidityModel::orthogonality};
    std::vector<Mat34> q;
    std::vector<Vec3> x;
    std::vector<std::vector<Vec3>> vertices;

    Fixture() {
        const double h = 0.01;
        step.potential_scale = h * h;
        step.node.resize(step.nodes.node.size());
        for (int n = 0; n < step.nodes.size(); ++n) {
            const CoupledNode& node = step.nodes.node[n];
            NodeStep& own = step.node[n];
            if (node.kind == CoupledNode::Kind::body) {
                own.start = state.q[node.body];
                own.mass.head<3>() = model.bodies.second_moments[node.body];
                own.mass[3] = model.bodies.mass[node.body];
                own.rigidity = 1e3 * own.mass.head<3>().maxCoeff();
            } else {
                own.start.setZero();
                for (int k = 0; k < 4; ++k) {
                    if (node.vertex[k] < 0) continue;
                    own.start.col(k) = state.elastic[node.elastic].x[node.vertex[k]];
                    own.mass[k] = model.elastic[node.elastic].vertex_mass[node.vertex[k]];
                }
            }
            own.target = own.start;
            q.push_back(own.start);
        }
        for (const auto& [e, v] : step.nodes.attached)
            step.attached.push_back({step.nodes.vertex[e][v], model.elastic[e].vertex_mass[v],
                                     state.elastic[e].x[v] + Vec3(0, -1e-3, 0)});
        start_step(step.elastic, state, h);
        StepTimes times;
        times.h = h;
        times.potential_scale = h * h;
        step.joints.start_step(model, state, times);
        step.contacts.place(q, x);
        ContactScale scale;
        scale.dhat = 0.01;
        scale.friction_eps = 1e-4;
        step.contacts.start_step(model, scale, std::vector<double>(4, 1.0), x, x, x, 1e-9, false);
        step.contacts.evaluate(x);
        step.contacts.lag_friction();
        shake(1e-3);
    }

    // A state away from rest, with contacts in range.
    void shake(double size) {
        std::mt19937 random(3);
        std::uniform_real_distribution<double> pick(-size, size);
        for (std::size_t n = 0; n < q.size(); ++n) {
            Vec12 d;
            for (int k = 0; k < 12; ++k) d[k] = pick(random);
            if (step.nodes.node[n].turns()) d.segment<3>(3) *= 0.2;
            q[n] = moved(step.nodes.node[n], q[n], d, 1.0);
        }
    }

    double energy(const std::vector<Mat34>& at) {
        step.contacts.place(at, x);
        const double contact = step.contacts.evaluate(x) + step.contacts.friction_energy(x);
        return step.smooth_energy(at, vertices) + step.potential_scale * contact;
    }
};

TEST(AffineCoupled, GradientIsThatOfTheEnergy) {
    Fixture f;
    CoupledSystem system;
    f.energy(f.q);
    ASSERT_FALSE(f.step.contacts.contacts().empty());
    ASSERT_FALSE(f.step.contacts.friction().empty());
    std::vector<double> multipliers(f.step.joints.rows().size(), 0.0);
    system.assemble(f.step, f.q, f.x, f.vertices, multipliers);
    const std::vector<double> gradient = system.gradient();
    double largest = 0.0;
    for (const double g : gradient) largest = std::max(largest, std::abs(g));
    const double eps = 1e-7;
    for (std::size_t n = 0; n < f.q.size(); ++n)
        for (int k = 0; k < 12; ++k) {
            const CoupledNode& node = f.step.nodes.node[n];
            if (!node.turns() && node.vertex[k / 3] < 0) continue;
            std::vector<Mat34> up = f.q, down = f.q;
            up[n] = moved(node, f.q[n], Vec12::Unit(k), eps);
            down[n] = moved(node, f.q[n], Vec12::Unit(k), -eps);
            const double slope = (f.energy(up) - f.energy(down)) / (2 * eps);
            EXPECT_NEAR(gradient[12 * n + k], slope, 2e-6 * largest) << "node " << n << " unknown " << k;
        }
}

// The matrix is symmetric and definite, and its factorisation solves it: against a dense one.
TEST(AffineCoupled, MixedFactorisationAgreesWithADenseOne) {
    Fixture f;
    CoupledSystem system;
    f.energy(f.q);
    std::vector<double> multipliers(f.step.joints.rows().size(), 0.0), direction;
    system.assemble(f.step, f.q, f.x, f.vertices, multipliers);
    system.factor();
    system.solve(f.step, 0.0, direction, multipliers);
    const int size = 12 * f.step.nodes.size(), rows = static_cast<int>(multipliers.size());
    ASSERT_EQ(rows, 5);
    MatX H(size, size);
    VecX unit = VecX::Zero(size), column(size);
    for (int k = 0; k < size; ++k) {
        unit[k] = 1.0;
        system.matrix().multiply(unit.data(), column.data());
        H.col(k) = column;
        unit[k] = 0.0;
    }
    EXPECT_LT((H - H.transpose()).norm(), 1e-12 * H.norm());
    EXPECT_EQ(Eigen::LLT<MatX>(H).info(), Eigen::Success);
    MatX kkt = MatX::Zero(size + rows, size + rows);
    VecX right(size + rows);
    kkt.topLeftCorner(size, size) = H;
    for (int k = 0; k < size; ++k) {
        std::vector<double> e(size, 0.0);
        e[k] = 1.0;
        for (int r = 0; r < rows; ++r) kkt(size + r, k) = kkt(k, size + r) = system.row_value(f.step, r, e);
        right[k] = -system.gradient()[k];
    }
    for (int r = 0; r < rows; ++r) right[size + r] = -f.step.joints.rows()[r].value;
    const VecX dense = kkt.fullPivLu().solve(right);
    double largest = dense.head(size).cwiseAbs().maxCoeff();
    for (int k = 0; k < size; ++k) EXPECT_NEAR(direction[k], dense[k], 1e-9 * largest) << k;
    for (int r = 0; r < rows; ++r)
        EXPECT_NEAR(multipliers[r], dense[size + r], 1e-7 * dense.tail(rows).cwiseAbs().maxCoeff()) << r;
}

TEST(AffineCoupled, EveryVertexHasItsPlace) {
    Fixture f;
    const ElasticBody& body = f.model.elastic[0];
    std::vector<Mat34> q;
    for (const NodeStep& node : f.step.node) q.push_back(node.start);
    std::vector<std::vector<Vec3>> placed;
    f.step.place_vertices(q, placed);
    for (std::size_t v = 0; v < body.rest.size(); ++v)
        EXPECT_LT((placed[0][v] - f.state.elastic[0].x[v]).norm(), 1e-14);
    EXPECT_EQ(f.step.nodes.attached.size(), body.pins.size());
    EXPECT_GT(body.pins.size(), 3u);
}

}  // namespace
}  // namespace tenon::affine

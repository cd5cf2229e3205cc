// What the affine method's choices cost: energies, culling, assembly.
#include <Eigen/SparseCore>

#include <fmt/format.h>

#include "bench/affine_measure.hpp"
#include "geometry/overlap.hpp"
#include "math/parallel.hpp"
#include "methods/affine/newton_system.hpp"

namespace tenon::bench {
namespace {

// The energies that can keep bodies rigid, on the same scene.
void energies_ablation(const Options& options) {
    for (const char* energy : {"orthogonality", "arap", "neo-hookean"}) {
        Scene scene = builtin_scene("gear-pair", {});
        scene.method_params["energy"] = std::string(energy);
        const std::string name = std::string("energy-") + energy;
        options.print(affine_row(name, scene, measure_median(scene, options.quick ? 10 : 50, options)));
    }
}

// Culling on two entangled bodies: block trees, the overlap of their boxes at one level, and a tree inside it.
void culling_ablation(const Options& options) {
    Scene scene =
        builtin_scene("entangled-pair",
                      options.quick ? std::map<std::string, ParamValue>{}
                                    : std::map<std::string, ParamValue>{{"preset", std::string("paper")}});
    scene.dt = 0.01;
    const Model model = compile(scene);
    const State state = initial_state(model);
    const geometry::SurfaceTree a(model.shape_of(0).mesh, model.shape_of(0).all_edges);
    const geometry::SurfaceTree b(model.shape_of(1).mesh, model.shape_of(1).all_edges);
    Mat34 qa = state.q[0], qb = state.q[1];
    qa.col(3).x() += 0.4;  // spikes between spikes
    qb.col(3).x() -= 0.4;
    const std::pair<const char*, geometry::OverlapMethod> methods[] = {
        {"block-trees", geometry::OverlapMethod::blocks},
        {"one-level", geometry::OverlapMethod::region},
        {"local-tree", geometry::OverlapMethod::region_tree}};
    for (const auto& [name, method] : methods) {
        geometry::OverlapScratch scratch;
        geometry::Candidates found;
        geometry::OverlapStats stats;
        const double seconds = seconds_of([&] {
            geometry::find_candidates(geometry::posed(a, qa), geometry::posed(b, qb), 1e-3, scratch, found,
                                      method, &stats);
        });
        Row row;
        row.set("bench", "affine").set("case", std::string("culling-") + name).set("engine", "tenon");
        row.set("size", static_cast<double>(model.shape_of(0).mesh.triangles.size() +
                                            model.shape_of(1).mesh.triangles.size()));
        row.set("threads", 1).set("ms_per_step", 1e3 * seconds);
        row.set("box_tests", static_cast<double>(stats.node_tests + stats.box_tests));
        row.set("candidates", static_cast<double>(found.size()));
        options.print(row);
    }
}

// A wall at rest with its contacts, as a step sees it.
struct WallContacts {
    Model model;
    State state;
    affine::ContactField field;
    affine::Settings settings;
    affine::StepBodies bodies;
    std::vector<affine::Sweep> sweeps;
    std::vector<Mat34> q, wanted;
    std::vector<char> left;
    std::vector<int> node;
    std::vector<affine::JointRow> rows;
    std::vector<double> multipliers;
    std::vector<std::unique_ptr<solve::BlockCholesky>> solvers;
    affine::IslandMemories memories;
    affine::Island island;

    explicit WallContacts(const Scene& scene)
        : model(compile(scene)), state(initial_state(model)), field(model, state) {
        const std::size_t count = state.q.size();
        q = wanted = state.q;
        left.assign(q.size(), 0);
        bodies.potential_scale = 1e-4;
        bodies.body.resize(count);
        node.assign(count, -1);
        solvers.resize(count);
        std::vector<double> mass(count, 1e300);
        for (std::size_t i = 0; i < count; ++i) {
            affine::BodyStep& body = bodies.body[i];
            body.inertia = affine::inertia_of(model.bodies, static_cast<int>(i));
            body.start = body.target = body.predicted = q[i];
            body.rigidity = 1e7 * model.bodies.volume[i];
            const bool moves = state.dynamic(static_cast<int>(i));
            sweeps.push_back({q[i], q[i], 0.0, moves});
            if (!moves) continue;
            body.role = affine::Role::moving;
            mass[i] = model.bodies.mass[i];
            node[i] = static_cast<int>(island.bodies.size());
            island.bodies.push_back(static_cast<int>(i));
        }
        affine::ContactScale scale;
        scale.dhat = 0.02;
        field.rebuild(model, sweeps, scale, mass);
        for (int k = 0; k < field.pair_count(); ++k) island.pairs.push_back(k);
        for (std::size_t i = 0; i < count; ++i) field.set_pose(static_cast<int>(i), q[i]);
        for (int k = 0; k < field.pair_count(); ++k) field.evaluate(k);
    }

    // Each contact's 24x24 block on its own, straight into the sparse matrix of the whole system.
    double naive_assembly_ms() const {
        std::vector<Eigen::Triplet<double>> entries;
        Eigen::SparseMatrix<double> H(12 * island.bodies.size(), 12 * island.bodies.size());
        return 1e3 * cpu_seconds_of([&] {
                   for (int k = 0; k < field.pair_count(); ++k)
                       for (const affine::ContactPoint& p : field.contacts(k).points) add(entries, k, p);
                   H.setFromTriplets(entries.begin(), entries.end());
               });
    }

  private:
    void add(std::vector<Eigen::Triplet<double>>& entries, int k, const affine::ContactPoint& p) const {
        Eigen::Matrix<double, 24, 3> J = Eigen::Matrix<double, 24, 3>::Zero();
        for (int side = 0; side < 2; ++side) {
            const Vec3& x = side == 0 ? p.local_a : p.local_b;
            for (int axis = 0; axis < 4; ++axis)
                J.block<3, 3>(12 * side + 3 * axis, 0) =
                    (side == 0 ? 1.0 : -1.0) * (axis < 3 ? x[axis] : 1.0) * Mat3::Identity();
        }
        const Eigen::Matrix<double, 24, 24> block =
            J * (p.stiffness * p.normal * p.normal.transpose()) * J.transpose();
        const int nodes[2] = {node[field.pair(k).a], node[field.pair(k).b]};
        for (int i = 0; i < 24; ++i)
            for (int j = 0; j < 24; ++j)
                if (nodes[i / 12] >= 0 && nodes[j / 12] >= 0)
                    entries.emplace_back(12 * nodes[i / 12] + i % 12, 12 * nodes[j / 12] + j % 12,
                                         block(i, j));
    }
};

void assembly_ablation(const Options& options) {
    const int blocks = options.quick ? 14 : 560;
    const Scene scene = builtin_scene("wrecking-ball", {{"blocks", double(blocks)}, {"chain", false}});
    WallContacts wall(scene);
    affine::StepContext context{wall.settings, wall.bodies, wall.sweeps,      wall.field,
                                wall.q,        wall.rows,   wall.multipliers, wall.wanted,
                                wall.left,     wall.node,   wall.solvers,     wall.memories};
    context.friction_eps = 1e-6;
    double contacts = 0.0;
    for (int k = 0; k < wall.field.pair_count(); ++k) contacts += wall.field.contacts(k).points.size();
    std::vector<double> naive, ours, rigid;
    affine::NewtonSystem<12> system;
    affine::NewtonSystem<6> rigid_system;
    system.assemble(wall.island, context);
    rigid_system.assemble(wall.island, context);
    for (int k = 0; k < repeats_of(options); ++k) {
        naive.push_back(wall.naive_assembly_ms());
        // Sums of a pair are kept while nothing changes: have all of them made anew, in both forms.
        const auto all_changed = [&] {
            for (int p = 0; p < wall.field.pair_count(); ++p) ++wall.field.contacts(p).duals;
        };
        all_changed();
        ours.push_back(1e3 * cpu_seconds_of([&] { system.assemble(wall.island, context); }));
        rigid.push_back(1e3 * cpu_seconds_of([&] { rigid_system.assemble(wall.island, context); }));
    }
    const std::pair<const char*, double> rows[] = {{"contact-by-contact", median(naive)},
                                                   {"contact-aware-12", median(ours)},
                                                   {"contact-aware-6", median(rigid)}};
    for (const auto& [name, ms] : rows) {
        Row row;
        row.set("bench", "affine").set("case", std::string("assembly-") + name).set("engine", "tenon");
        row.set("size", contacts).set("threads", 1).set("ms_per_step", ms);
        row.set("speedup", ms > 0.0 ? median(naive) / ms : 0.0);
        options.print(row);
    }
}

}  // namespace

void affine_ablations(const Options& options) {
    if (options.wants("energy")) energies_ablation(options);
    if (options.wants("culling")) culling_ablation(options);
    if (options.wants("assembly")) assembly_ablation(options);
}

}  // namespace tenon::bench

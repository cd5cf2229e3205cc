// `tenon check`: everything that can be known about a scene before it is run.
#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/tenon/check_accuracy.hpp"
#include "apps/tenon/common.hpp"
#include "geometry/mesh_check.hpp"
#include "model/initial_check.hpp"
#include "run/scene_warnings.hpp"
#include "tenon/error.hpp"
#include "tenon/method.hpp"
#include "tenon/state.hpp"

namespace tenon::app {
namespace {

using Json = nlohmann::ordered_json;

struct Finding {
    bool bad = false;  // the scene cannot be simulated well as it is
    std::string where, what;
};

// How many of what are wrong with a mesh, as words; empty when it is clean.
std::string mesh_problems(const geometry::MeshReport& report) {
    std::string text;
    const auto add = [&](int count, const char* what) {
        if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
    };
    add(report.degenerate_triangles, "degenerate triangles");
    add(report.boundary_edges, "boundary edges");
    add(report.non_manifold_edges, "edges with more than two triangles");
    add(report.inconsistent_edges, "edges whose triangles disagree on orientation");
    add(report.unused_vertices, "unused vertices");
    if (report.inside_out) text += fmt::format("{}inside out", text.empty() ? "" : ", ");
    return text;
}

void check_meshes(const Model& model, std::vector<Finding>& findings) {
    for (std::size_t i = 0; i < model.shapes.size(); ++i) {
        const Shape& shape = *model.shapes[i];
        if (shape.mesh.triangles.empty()) continue;
        const std::string problems = mesh_problems(geometry::check_mesh(shape.mesh));
        if (!problems.empty()) findings.push_back({false, "shape " + shape.name, problems});
    }
}

void check_method(const Scene& scene, std::vector<Finding>& findings) {
    const Origin origin{scene.file.empty() ? scene.name : scene.file, "method"};
    const MethodInfo& method = find_method(scene.method, origin);
    resolve_params(method.parameters, scene.method_params, origin);
    if (const auto unsupported = method.supports(scene))
        findings.push_back({true, unsupported->path, unsupported->problem + " (" + unsupported->cure + ")"});
}

// Barrier contact cannot start from bodies that intersect; for the other methods it is worth knowing.
void check_contact(const Scene& scene, const Model& model, const State& state,
                   std::vector<Finding>& findings) {
    constexpr std::size_t shown = 20;
    const model::InitialCheck check = model::check_initial_state(model, state);
    for (std::size_t i = 0; i < std::min(shown, check.problems.size()); ++i) {
        const model::InitialProblem& problem = check.problems[i];
        const bool bad = scene.method == "affine" && problem.kind != model::InitialProblem::Kind::enclosed;
        findings.push_back({bad, "contact", describe(model, problem)});
    }
    if (check.problems.size() > shown)
        findings.push_back(
            {false, "contact", fmt::format("{} more such pairs", check.problems.size() - shown)});
}

// Where the first step begins: methods that cannot start from bodies that touch open them first.
State opened_start(const Scene& scene, const Model& model, const State& state) {
    State opened = state;
    try {
        Method(scene).stepper(model, opened);
    } catch (const InputError&) {
        return state;  // what is wrong is told among the findings
    }
    return opened;
}

struct Totals {
    int dynamic = 0, fixed = 0, kinematic = 0;
    long triangles = 0, tets = 0;
    double mass = 0, lightest = 1e300, heaviest = 0;
};

Totals count(const Model& model, const State& state) {
    Totals totals;
    for (int i = 0; i < model.bodies.size(); ++i) {
        totals.triangles += static_cast<long>(model.shape_of(i).mesh.triangles.size());
        if (state.type[i] == BodyType::static_body) ++totals.fixed;
        if (state.type[i] == BodyType::kinematic_body) ++totals.kinematic;
        if (!state.dynamic(i)) continue;
        ++totals.dynamic;
        totals.mass += model.bodies.mass[i];
        totals.lightest = std::min(totals.lightest, model.bodies.mass[i]);
        totals.heaviest = std::max(totals.heaviest, model.bodies.mass[i]);
    }
    for (const ElasticBody& elastic : model.elastic) {
        totals.tets += static_cast<long>(elastic.tets.size());
        for (double mass : elastic.vertex_mass) totals.mass += mass;
    }
    return totals;
}

void print_text(const Scene& scene, const Model& model, const State& state, const Totals& totals,
                const AccuracyNote& accuracy, const std::vector<Finding>& findings) {
    fmt::print("{}: {} dynamic, {} static, {} kinematic bodies, {} joints, {} elastic bodies\n",
               shown(scene.name), totals.dynamic, totals.fixed, totals.kinematic, model.joints.size(),
               model.elastic.size());
    fmt::print("  geometry   {} shapes, {} triangles", model.shapes.size(),
               short_count(static_cast<double>(totals.triangles)));
    if (totals.tets > 0) fmt::print(", {} tetrahedra", short_count(static_cast<double>(totals.tets)));
    const Box3 box = bounds(model, state);
    if (!box.empty())
        fmt::print("; {:.4g} x {:.4g} x {:.4g} m", box.size().x(), box.size().y(), box.size().z());
    fmt::print("\n  mass       {:.6g} kg that moves", totals.mass);
    if (totals.dynamic > 0) fmt::print("; bodies from {:.4g} to {:.4g} kg", totals.lightest, totals.heaviest);
    fmt::print("\n  motion     {} with {} in steps of {:g} s; gravity [{:g}, {:g}, {:g}]\n",
               short_seconds(scene.seconds), scene.method, scene.dt, scene.gravity.x(), scene.gravity.y(),
               scene.gravity.z());
    for (const auto& [name, text] : accuracy_rows(accuracy, scene)) fmt::print("  {:<10} {}\n", name, text);
    for (const Finding& finding : findings)
        fmt::print("  {:<10} {}: {}\n", finding.bad ? "PROBLEM" : "note", shown(finding.where),
                   shown(finding.what));
}

Json accuracy_json(const AccuracyNote& note, const Scene& scene) {
    const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
    return {{"dhat", number(note.dhat)},
            {"kappa", number(note.kappa)},
            {"young", number(note.young)},
            {"time_scale", number(note.time_scale)},
            {"time_scale_of", note.time_scale_of},
            {"step_over_time_scale", number(scene.dt / note.time_scale)},
            {"expected_error", number(note.expected_error)},
            {"warnings", note.warnings}};
}

void print_json(const Scene& scene, const Model& model, const Totals& totals, const AccuracyNote& accuracy,
                const std::vector<Finding>& findings) {
    Json json = {{"scene", scene.name},
                 {"method", scene.method},
                 {"dt", scene.dt},
                 {"seconds", scene.seconds},
                 {"dynamic", totals.dynamic},
                 {"static", totals.fixed},
                 {"kinematic", totals.kinematic},
                 {"joints", model.joints.size()},
                 {"elastic", model.elastic.size()},
                 {"shapes", model.shapes.size()},
                 {"triangles", totals.triangles},
                 {"tets", totals.tets},
                 {"mass", totals.mass}};
    json["accuracy"] = accuracy_json(accuracy, scene);
    json["findings"] = Json::array();
    for (const Finding& finding : findings)
        json["findings"].push_back({{"severity", finding.bad ? "problem" : "note"},
                                    {"where", finding.where},
                                    {"what", finding.what}});
    std::cout << json.dump(2) << "\n";
}

}  // namespace

int check_verb(const CheckRequest& request) {
    if (is_run_file(request.scene.scene))
        throw InputError(request.scene.scene, "", "is a run file, not a scene",
                         "'tenon verify' checks a run; 'tenon check' its scene before it");
    const Scene scene = load_requested(request.scene);
    const Model model = compile(scene);
    const State state = initial_state(model);
    std::vector<Finding> findings;
    check_method(scene, findings);
    check_meshes(model, findings);
    check_contact(scene, model, opened_start(scene, model, state), findings);
    for (const std::string& doubt : run::start_warnings(scene, model))
        findings.push_back({false, "units", doubt});
    const Totals totals = count(model, state);
    const AccuracyNote accuracy = check_accuracy(scene, model, state);
    const bool good = std::none_of(findings.begin(), findings.end(), [](const Finding& f) { return f.bad; });
    if (request.json) {
        print_json(scene, model, totals, accuracy, findings);
    } else {
        print_text(scene, model, state, totals, accuracy, findings);
        std::cout << (good ? "  good to run\n" : "  not good to run as it is\n");
    }
    return good ? 0 : 1;
}

}  // namespace tenon::app

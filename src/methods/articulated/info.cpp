// What the articulated method is called, takes and cannot do.
#include <algorithm>

#include <fmt/format.h>

#include "methods/articulated/method.hpp"
#include "methods/articulated/rigid_method.hpp"

namespace tenon {
namespace articulated {

Options read_options(const Params& params) {
    Options options;
    options.bdf2 = params.text("integrator") == "bdf2";
    options.polar_free = params.text("rotation") == "normalised";
    options.max_iterations = params.integer("max_iterations");
    options.min_iterations = std::min(params.integer("min_iterations"), options.max_iterations);
    options.joint_tolerance = params.number("joint_tolerance");
    options.force_tolerance = params.number("force_tolerance");
    options.start_substeps = params.integer("start_substeps");
    options.solver.solver = params.text("solver");
    options.solver.max_closer_rows = params.integer("max_closer_rows");
    options.solver.sweep_tolerance = params.number("sweep_tolerance");
    options.solver.max_sweeps = params.integer("max_sweeps");
    options.contact.stiffness = params.number("contact_stiffness");
    options.contact.slide_speed = params.number("slide_speed");
    options.contact.max_iterations = params.integer("contact_iterations");
    return options;
}

namespace {

std::vector<ParamInfo> parameters() {
    return {
        {"model",
         std::string("corotated"),
         "corotated affine bodies, or a reference to compare with: rigid bodies by Newton's method, implicit "
         "Euler",
         0,
         0,
         {"corotated", "rigid"}},
        {"integrator",
         std::string("bdf2"),
         "bdf2, or euler (implicit) for the paper's comparisons",
         0,
         0,
         {"bdf2", "euler"}},
        {"solver",
         std::string("auto"),
         "solver of each connected component; auto chooses by its topology",
         0,
         0,
         {"auto", "chain", "tree", "loops", "sparse", "points", "gauss-seidel"}},
        {"rotation",
         std::string("polar"),
         "polar decomposition, or the paper's normalised columns",
         0,
         0,
         {"polar", "normalised"}},
        {"max_iterations", 12.0, "most linearisations per step", 1, 1000},
        {"min_iterations", 1.0, "fewest linearisations per step", 1, 1000},
        {"joint_tolerance", 1e-9,
         "a step has converged when joints are closed to this share of their bodies' size (or rad) ...",
         1e-14, 1},
        {"force_tolerance", 1e-6, "... and forces balance to this share of the largest", 1e-14, 1},
        {"start_substeps", 8.0, "implicit Euler steps that make up the first BDF2 step", 1, 1000},
        {"max_closer_rows", 96.0, "loops with more closing rows go to the sparse solver", 0, 100000},
        {"contact_stiffness", 1.0, "times the contact stiffness chosen from material and step", 1e-6, 1e6},
        {"slide_speed", 1e-3, "friction is smoothed below this speed", 1e-9, 1, {}, "m/s"},
        {"contact_iterations", 5.0, "most solves per step spent on contacts that change sides", 1, 100},
        {"sweep_tolerance", 1e-10, "gauss-seidel: relative residual", 1e-16, 1},
        {"max_sweeps", 200.0, "gauss-seidel: most sweeps per solve", 1, 1e6},
    };
}

// A rule for the two materials wins; otherwise the larger of the two.
double pair_restitution(const Scene& scene, int a, int b, double of_b) {
    for (auto rule = scene.contact.pairs.rbegin(); rule != scene.contact.pairs.rend(); ++rule) {
        const auto& m = rule->materials;
        if (rule->restitution && ((m[0] == a && m[1] == b) || (m[0] == b && m[1] == a)))
            return *rule->restitution;
    }
    return std::max(scene.materials[a].restitution, of_b);
}

// What an elastic body would bounce off, by name; empty: nothing.
std::string bounces_off(const Scene& scene, const ElasticSpec& body) {
    const auto bounces = [&](int material, double restitution) {
        return pair_restitution(scene, body.material, material, restitution) > 0.0;
    };
    const auto own = [&](int material) { return scene.materials[material].restitution; };
    for (const BodySpec& other : scene.bodies)
        if (other.collides &&
            bounces(other.material, other.restitution ? *other.restitution : own(other.material)))
            return other.name;
    for (const ElasticSpec& other : scene.elastic)
        if (&other != &body && bounces(other.material, own(other.material))) return other.name;
    return "";
}

std::optional<Unsupported> supports(const Scene& scene) {
    for (std::size_t e = 0; e < scene.elastic.size(); ++e) {
        const ElasticSpec& body = scene.elastic[e];
        if (body.plane_strain)
            return Unsupported{
                fmt::format("elastic[{}].plane_strain", e),
                fmt::format("'{}': the articulated method has no plane-strain bodies", body.name),
                "use --method adaptive"};
        if (const std::string other = bounces_off(scene, body); !other.empty())
            return Unsupported{
                fmt::format("elastic[{}].material", e),
                fmt::format("'{}' would bounce off '{}': elastic bodies have no restitution in "
                            "the articulated method, they spring back by themselves",
                            body.name, other),
                "give the pair of materials \"restitution\": 0 in contact.pairs, or use "
                "--method affine"};
    }
    for (std::size_t j = 0; j < scene.joints.size(); ++j)
        if (scene.joints[j].linear && scene.joints[j].type == JointType::universal)
            return Unsupported{fmt::format("joints[{}].linear", j),
                               "a universal joint has no linear rows here",
                               "leave out \"linear\": its four rows are corrected to the joint tolerance"};
    const auto model = scene.method_params.find("model");
    if (model != scene.method_params.end() && model->second == ParamValue(std::string("rigid")))
        return rigid_supports(scene);
    return std::nullopt;
}

std::unique_ptr<Stepper> make(const Model& model, const State& state, const Params& params) {
    if (params.text("model") == "rigid") return std::make_unique<RigidMethod>(model, state, RigidOptions{});
    return std::make_unique<ArticulatedMethod>(model, state, read_options(params));
}

}  // namespace
}  // namespace articulated

MethodInfo articulated_method() {
    return {"articulated", "jointed co-rotated affine bodies with exact joints (M-ABD)",
            articulated::parameters(), articulated::supports, articulated::make};
}

}  // namespace tenon

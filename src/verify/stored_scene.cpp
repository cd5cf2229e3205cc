#include "verify/stored_scene.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "run/joint_axes.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"
#include "verify/facts.hpp"

namespace tenon::verify {
namespace {

constexpr double same = 1e-9;  // relative: another compiler may round the integrals of a mesh otherwise

bool near(double a, double b, double scale) {
    return std::abs(a - b) <= same * std::max({std::abs(a), std::abs(b), scale});
}

template <class A, class B>
bool near_points(const A& a, const B& b, double scale) {
    return (a - b).cwiseAbs().maxCoeff() <= same * std::max(scale, 1e-9);
}

bool near_lists(const std::vector<Vec3>& a, const std::vector<Vec3>& b, double scale) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!near_points(a[i], b[i], scale)) return false;
    return true;
}

double largest_coordinate(const std::vector<Vec3>& points) {
    double largest = 0;
    for (const Vec3& point : points) largest = std::max(largest, point.cwiseAbs().maxCoeff());
    return largest;
}

class Comparison {
  public:
    Comparison(const run::RunReader& run, const StoredScene& stored, Result& result, FindingList& findings)
        : run_(run), stored_(stored), result_(result), findings_(findings) {}

    void all() {
        meta();
        if (counts()) {
            bodies();
            joints();
            elastic();
        }
        ignored();
    }

  private:
    void differs(const std::string& who, const std::string& what) {
        ++result_.record_errors;
        findings_.add(finding("scene", 0, 0.0, who, what));
    }
    void meta();
    bool counts();
    void bodies();
    void joints();
    static bool near_joint(const run::JointInfo& joint, const run::JointAxes& axes, const Joint& made);
    void elastic();
    static bool same_embedding(const run::ElasticInfo& body, const ElasticBody& made, double size);
    void ignored();
    std::string shape_difference(const run::ShapeData& recorded, const Shape& made) const;

    const run::RunReader& run_;
    const StoredScene& stored_;
    Result& result_;
    FindingList& findings_;
};

void Comparison::meta() {
    const Scene& scene = stored_.scene;
    if (run_.meta("method") != scene.method)
        differs("", fmt::format("the run claims method '{}', its scene says '{}'", run_.meta("method"),
                                scene.method));
    if (const std::string up = run_.meta("up"); up != scene.up)
        differs("", fmt::format("the run claims that '{}' is up, its scene says '{}'", up, scene.up));
    if (run_.meta("name") != scene.name) differs("", "the run's name is not its scene's");
    if (!near(std::strtod(run_.meta("dt").c_str(), nullptr), scene.dt, 0))
        differs("", fmt::format("the run claims time steps of {} s, its scene {:g} s", run_.meta("dt"),
                                scene.dt));
    const auto gravity = nlohmann::json::parse(run_.meta("gravity"), nullptr, false);
    bool agrees = gravity.is_array() && gravity.size() == 3;
    for (int k = 0; agrees && k < 3; ++k)
        agrees = gravity[k].is_number() && near(gravity[k].get<double>(), scene.gravity[k], 1e-9);
    if (!agrees) differs("", "the run's gravity is not its scene's");
}

bool Comparison::counts() {
    const Model& model = stored_.model;
    const bool agree = run_.bodies().size() == static_cast<std::size_t>(model.bodies.size()) &&
                       run_.joints().size() == model.joints.size() &&
                       run_.elastic().size() == model.elastic.size();
    if (!agree)
        differs("", fmt::format(
                        "the run holds {} bodies, {} joints and {} elastic bodies, its scene {}, {} and {}",
                        run_.bodies().size(), run_.joints().size(), run_.elastic().size(),
                        static_cast<std::size_t>(model.bodies.size()), model.joints.size(),
                        model.elastic.size()));
    return agree;
}

std::string Comparison::shape_difference(const run::ShapeData& recorded, const Shape& made) const {
    if (recorded.name != made.name) return "names";
    if (recorded.mesh.vertices.size() != made.mesh.vertices.size()) return "number of vertices";
    if (!near_lists(recorded.mesh.vertices, made.mesh.vertices, made.radius)) return "vertices";
    if (recorded.mesh.triangles != made.mesh.triangles || recorded.mesh.edges != made.mesh.edges ||
        recorded.mesh.points != made.mesh.points)
        return "triangles";
    if (recorded.closed != made.closed) return "mark of being closed";
    if (!near_points(recorded.geometry_frame.position, made.geometry_frame.position, made.radius) ||
        std::abs(recorded.geometry_frame.rotation.dot(made.geometry_frame.rotation)) < 1 - same)
        return "frame";
    return {};
}

void Comparison::bodies() {
    const Model& model = stored_.model;
    std::vector<std::pair<int, int>> compared;  // recorded and made shapes that were found equal
    for (int i = 0; i < model.bodies.size(); ++i) {
        const run::BodyInfo& body = run_.bodies()[i];
        const Bodies& made = model.bodies;
        if (body.name != made.name[i]) {
            differs(body.name, fmt::format("is '{}' in the scene", made.name[i]));
            continue;
        }
        if (body.type != stored_.state.type[i]) differs(body.name, "is of another type in the scene");
        if (!near(body.mass, made.mass[i], 0))
            differs(body.name,
                    fmt::format("has a mass of {:.9g} kg, by the scene {:.9g} kg", body.mass, made.mass[i]));
        if (!near_points(body.second_moments, made.second_moments[i], made.second_moments[i].maxCoeff()))
            differs(body.name, "has other moments of inertia than the scene gives it");
        if (body.collides != (made.collides[i] != 0) || body.group != made.group[i] ||
            !near(body.min_separation, made.min_separation[i], 0))
            differs(body.name, "touches others by other rules than in the scene");
        const std::pair<int, int> shapes{body.shape, made.shape[i]};
        if (std::find(compared.begin(), compared.end(), shapes) != compared.end()) continue;
        const std::string what = shape_difference(run_.shapes()[body.shape], model.shape_of(i));
        if (what.empty())
            compared.push_back(shapes);
        else
            differs(body.name, fmt::format("its shape is not the scene's: the {} differ", what));
    }
}

bool Comparison::near_joint(const run::JointInfo& joint, const run::JointAxes& axes, const Joint& made) {
    bool same_place = near(axes.rest_length, made.rest_length, 1e-9);
    for (int k = 0; k < 2; ++k)
        same_place = same_place &&
                     near_points(joint.point[k], made.point[k], made.point[k].cwiseAbs().maxCoeff()) &&
                     near_points(axes.frame[k], made.frame[k], 1.0);
    return same_place;
}

void Comparison::joints() {
    const std::vector<run::JointAxes> axes = run::joint_axes(run_);
    for (std::size_t i = 0; i < run_.joints().size(); ++i) {
        const run::JointInfo& joint = run_.joints()[i];
        const Joint& made = stored_.model.joints[i];
        // joints without a name get one when a scene is read
        const bool renamed = !joint.name.empty() && joint.name != made.spec.name;
        if (renamed || joint.type != made.spec.type || joint.bodies != made.bodies)
            differs(joint.name, "is another joint in the scene");
        if (joint.type != JointType::coupling && !near_joint(joint, axes[i], made))
            differs(joint.name, "lies otherwise in its bodies than the scene says");
    }
}

// The fine surface that pictures and exports show.
bool Comparison::same_embedding(const run::ElasticInfo& body, const ElasticBody& made, double size) {
    if (!near_lists(body.embedded.vertices, made.embedded.vertices, size) ||
        body.embedded.triangles != made.embedded.triangles || body.embedded_tet != made.embedded_tet ||
        body.embedded_weight.size() != made.embedded_weight.size())
        return false;
    for (std::size_t k = 0; k < made.embedded_weight.size(); ++k)
        if (!near_points(body.embedded_weight[k], made.embedded_weight[k], 1.0)) return false;
    return true;
}

void Comparison::elastic() {
    for (std::size_t i = 0; i < run_.elastic().size(); ++i) {
        const run::ElasticInfo& body = run_.elastic()[i];
        const ElasticBody& made = stored_.model.elastic[i];
        const double size = largest_coordinate(made.rest);
        if (body.name != made.name || !near_lists(body.rest, made.rest, size) || body.tets != made.tets ||
            body.surface != made.surface)
            differs(body.name,
                    run_.meta("record").empty()
                        ? "is not the elastic body that the scene describes; the file seems to be of "
                          "version 0.1, which made other meshes: run its scene again"
                        : "is not the elastic body that the scene describes");
        if (!same_embedding(body, made, size))
            differs(body.name, "is drawn with another surface than the scene gives it");
        bool masses = body.vertex_mass.size() == made.vertex_mass.size();
        for (std::size_t k = 0; masses && k < made.vertex_mass.size(); ++k)
            masses = near(body.vertex_mass[k], made.vertex_mass[k], 0);
        if (!masses) differs(body.name, "has other masses than the scene gives it");
    }
}

// A pair on this list is not checked, so the list has to be the scene's own.
void Comparison::ignored() {
    std::vector<std::uint64_t> recorded,
        made(stored_.model.ignored_pairs.begin(), stored_.model.ignored_pairs.end());
    for (const auto& pair : run_.ignored_pairs()) recorded.push_back(pair_key(pair[0], pair[1]));
    for (std::size_t i = 0; i < stored_.model.elastic.size(); ++i)
        for (const ElasticBody::Pin& pin : stored_.model.elastic[i].pins)
            if (pin.body >= 0)
                made.push_back(pair_key(pin.body, stored_.model.bodies.size() + static_cast<int>(i)));
    for (auto* list : {&recorded, &made}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    if (recorded != made) differs("", "the pairs that may touch are not those of the scene");
}

}  // namespace

std::optional<StoredScene> rebuild(const run::RunReader& run, std::string& why) {
    try {
        StoredScene stored;
        stored.scene = parse_scene(run.scene_json(), run.file(), "");
        stored.model = compile(stored.scene);
        stored.state = initial_state(stored.model);
        return stored;
    } catch (const InputError& error) {
        why = error.what();
        return std::nullopt;
    }
}

void compare_with_scene(const run::RunReader& run, const StoredScene& stored, Result& result,
                        FindingList& findings) {
    Comparison(run, stored, result, findings).all();
}

// A method without overlap opens a start in which bodies touch: a displacement of some millionths of a body's size, for each
// body that it may lie on.
bool is_opened(const run::RunReader& run, const Model& model, const Mat34& q, const State& scene, int body) {
    constexpr double gap_part = 4e-6;  // of the larger body's size
    if (!never_overlaps(run.meta("method")) || !scene.dynamic(body)) return false;
    double largest = 0.0;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (scene.dynamic(i)) largest = std::max(largest, model.shape_of(i).radius);
    const double most =
        std::min(gap_part * largest * model.bodies.size(), 1e-3 * model.shape_of(body).radius);
    const Mat34& put = scene.q[body];
    return near_points(q.leftCols<3>(), put.leftCols<3>(), 1.0) && (q.col(3) - put.col(3)).norm() <= most;
}

void compare_start(const run::RunReader& run, const run::Frame& first, const StoredScene& stored,
                   Result& result, FindingList& findings) {
    if (first.step != 0) {  // the records' audit asks whether the file says so
        result.warnings.push_back("the start was handed over by another run: " + run.meta("from"));
        return;
    }
    const Model& model = stored.model;
    const auto differs = [&](const std::string& who, const char* what) {
        ++result.record_errors;
        findings.add(finding("scene", 0, first.time, who, what));
    };
    if (first.q.size() != static_cast<std::size_t>(model.bodies.size()) ||
        first.x.size() != model.elastic.size())
        return;  // said already
    int opened = 0;
    for (std::size_t i = 0; i < first.q.size(); ++i) {
        const double size = std::max(stored.state.q[i].cwiseAbs().maxCoeff(), 1.0);
        if (!near_points(first.q[i], stored.state.q[i], size)) {
            if (is_opened(run, model, first.q[i], stored.state, static_cast<int>(i)))
                ++opened;
            else
                differs(run.bodies()[i].name, "does not start where the scene puts it");
        }
        if (!near_points(first.rate[i], stored.state.rate[i],
                         std::max(1e-3, stored.state.rate[i].cwiseAbs().maxCoeff())))
            differs(run.bodies()[i].name, "does not start with the scene's velocity");
    }
    if (opened > 0)
        result.warnings.push_back(
            fmt::format("{} bodies that touch in the scene start a hair beside where it puts them", opened));
    for (std::size_t e = 0; e < first.x.size(); ++e) {
        const ElasticBody& body = model.elastic[e];
        const double size = std::max(largest_coordinate(stored.state.elastic[e].x), 1.0),
                     speed = std::max(largest_coordinate(stored.state.elastic[e].v), 1e-3);
        if (!near_lists(first.x[e], stored.state.elastic[e].x, size))
            differs(body.name, "does not start where the scene puts it");
        if (!near_lists(first.v[e], stored.state.elastic[e].v, speed))
            differs(body.name, "does not start with the scene's velocity");
    }
}

namespace {

double off_script(const Model& model, int body, const run::Frame& frame) {
    const Mat34 off = frame.q[body] - scripted_pose(model, body, frame.time);
    return off.col(3).norm() + model.shape_of(body).radius * off.leftCols<3>().cwiseAbs().maxCoeff();
}

bool touched(const run::Frame& frame, int body) {
    return std::any_of(frame.contacts.begin(), frame.contacts.end(), [&](const Contact& contact) {
        return (contact.a == body || contact.b == body) && !contact.force.isZero(0.0);
    });
}

// A method without overlap stops a script that leaves no room: its body falls behind while something presses on it, and
// catches up afterwards. It never goes on by itself.
bool held_up(const run::RunReader& run, const run::Frame* before, const run::Frame& frame,
             const StoredScene& stored, int body, double deviation) {
    if (!never_overlaps(run.meta("method")) || !before) return false;
    return touched(frame, body) || deviation < off_script(stored.model, body, *before);
}

}  // namespace

void compare_scripts(const run::RunReader& run, long index, const run::Frame* before, const run::Frame& frame,
                     const StoredScene& stored, Result& result, FindingList& findings) {
    const Model& model = stored.model;
    if (frame.q.size() != static_cast<std::size_t>(model.bodies.size())) return;
    for (int i = 0; i < model.bodies.size(); ++i) {
        const Bodies& bodies = model.bodies;
        const double radius = model.shape_of(i).radius;
        if (stored.state.type[i] == BodyType::static_body) {
            if (near_points(frame.q[i], stored.state.q[i],
                            std::max(1.0, stored.state.q[i].cwiseAbs().maxCoeff())))
                continue;
            ++result.record_errors;
            findings.add(
                finding("moved", index, frame.time, run.bodies()[i].name, "is static, yet it moved"));
        } else if (stored.state.type[i] == BodyType::kinematic_body && !bodies.motion[i].empty() &&
                   frame.time <= bodies.kinematic_until[i]) {
            const double deviation = off_script(model, i, frame);
            result.script_deviation = std::max(result.script_deviation, deviation);
            if (deviation <= 1e-3 * radius) continue;
            if (held_up(run, before, frame, stored, i, deviation)) {
                result.script_held_up = true;
                continue;
            }
            ++result.record_errors;
            findings.add(finding("moved", index, frame.time, run.bodies()[i].name,
                                 fmt::format("is {:.3g} m away from where its script has it", deviation),
                                 deviation));
        }
    }
}

}  // namespace tenon::verify

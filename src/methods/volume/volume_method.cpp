#include "methods/volume/volume_method.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "math/binary_io.hpp"
#include "math/timer.hpp"

namespace tenon::volume {
namespace {

// Intersections shallower than this part of a pixel are left in place: contact needs an overlap to be seen.
constexpr double kAllowedDepthPixels = 0.5;
// Overlaps deeper than this are no drift of a contact that was kept, but a state to get out of.
constexpr double kDeepPixels = 2.0;
// Elastic bodies change shape by this much in one correction at most: a linearised step is good for no more, and where
// there is no room, in a tight pile, deep overlaps asked for at once would tear bodies. The rest is left to later steps.
constexpr double kBentPixels = 1.0;

using Key = std::array<int, 6>;

Key key_of(const VolumeContact& contact) {
    return {contact.a, contact.b, contact.cell.cell[0], contact.cell.cell[1], contact.cell.cell[2], 0};
}

}  // namespace

// A sixteenth of the smallest side of the smallest moving body, but not more than two thousand pixels across the scene.
double choose_pixel(const Model& model, const State& state) {
    double smallest = 1e300;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.dynamic(i)) smallest = std::min(smallest, model.shape_of(i).box.size().minCoeff());
    for (const ElasticBody& body : model.elastic) {
        Box3 box;
        for (const Vec3& x : body.rest) box.add(x);
        smallest = std::min(smallest, box.size().minCoeff());
    }
    const double length = scene_length(model, state);
    return std::clamp(smallest / 16, length / 2000, length / 20);
}

VolumeMethod::VolumeMethod(const Model& model, const State& state, const Settings& settings)
    : settings_(settings),
      motion_(model, state, settings.cut),
      finder_(model, state,
              {{settings.pixel > 0 ? settings.pixel : choose_pixel(model, state), settings.cell_pixels},
               settings.refine,
               settings.self_contact,
               0.0}) {}

// Algorithm 1 of the paper.
StepReport VolumeMethod::step(const Model& model, State& state, Outputs& outputs, double dt) {
    StageTimer timer;
    StepReport report;
    {
        const auto stage = timer.stage("mechanical_motion");
        motion_.predict(model, state, dt);
    }
    {
        const auto stage = timer.stage("collision_detection");
        finder_.find(model, motion_, contacts_);
    }
    if (settings_.response == "penalty")
        apply_penalties(model, state, dt, timer);
    else
        solve_velocities(model, state, timer, report);
    {
        const auto stage = timer.stage("mechanical_motion");
        motion_.advance(model, state, dt);
    }
    if (settings_.response != "penalty") stabilise(model, state, timer, report);
    warn(model, state, dt, report);
    motion_.store(model, state);
    report_contacts(outputs, dt, report);
    report.phases = timer.stages();
    return report;
}

void VolumeMethod::solve_velocities(const Model& model, const State& state, StageTimer& timer,
                                    StepReport& report) {
    ContactProblem problem(model, state, motion_);
    {
        const auto stage = timer.stage("contact_modelling");
        problem.set_velocities(contacts_, settings_.forces_at_center);
        problem.couple();
        problem.guess(contacts_, impulse_);
        warm_start();
    }
    const auto stage = timer.stage("constraint_solver");
    const solve::PgsResult result = problem.solve({settings_.sweeps, settings_.tolerance}, impulse_, change_);
    for (std::size_t k = 0; k < change_.size(); ++k) motion_.velocity[k] += change_[k];
    cache_impulses();
    report.iterations = result.sweeps;
    report.converged = result.converged;
    report.metrics.emplace_back("residual", result.residual);
}

Vec3 VolumeMethod::impulse_of(std::size_t contact) const {
    const VolumeContact& c = contacts_[contact];
    // friction rows weigh side b's velocities by minus its area
    return impulse_[3 * contact] * c.normal - impulse_[3 * contact + 1] * c.tangent[0] -
           impulse_[3 * contact + 2] * c.tangent[1];
}

// Cells stay where they are in space: what pressed there a step ago is the best start for what presses now. Where it is not
// known for all contacts, the even pressure that came before is kept.
void VolumeMethod::warm_start() {
    std::vector<double> cached(3 * contacts_.size(), 0.0);
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        const VolumeContact& contact = contacts_[i];
        const Key key = key_of(contact);
        const auto at = std::lower_bound(cache_.begin(), cache_.end(), key,
                                         [](const CachedImpulse& r, const Key& k) { return r.key < k; });
        if (at == cache_.end() || at->key != key) return;
        const double normal = std::max(0.0, at->impulse.dot(contact.normal));
        const double limit = contact.friction * normal;
        cached[3 * i] = normal;
        for (int k = 0; k < 2; ++k)
            cached[3 * i + 1 + k] = std::clamp(-at->impulse.dot(contact.tangent[k]), -limit, limit);
    }
    impulse_ = std::move(cached);
}

void VolumeMethod::cache_impulses() {
    cache_.clear();
    for (std::size_t i = 0; i < contacts_.size(); ++i)
        cache_.push_back({key_of(contacts_[i]), impulse_of(i)});
    std::sort(cache_.begin(), cache_.end(),
              [](const CachedImpulse& a, const CachedImpulse& b) { return a.key < b.key; });
}

void VolumeMethod::save(std::ostream& out) const {
    write_values(out, cache_);
}

void VolumeMethod::load(std::istream& in) {
    read_values(in, cache_);
}

// Eq. 15, the soft constraint that the paper improves on: a force against the gradient of k V^2 / 2, and viscous friction.
void VolumeMethod::apply_penalties(const Model& model, const State& state, double dt, StageTimer& timer) {
    const auto stage = timer.stage("constraint_solver");
    ContactProblem problem(model, state, motion_);
    problem.set_velocities(contacts_, settings_.forces_at_center);
    impulse_.assign(3 * contacts_.size(), 0.0);
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        const VolumeContact& contact = contacts_[i];
        const Vec3 velocity = problem.relative_velocity(static_cast<int>(i));
        impulse_[3 * i] = dt * settings_.penalty * contact.cell.volume() * contact.area;
        for (int k = 1; k < 3; ++k)
            impulse_[3 * i + k] = -dt * settings_.viscous * contact.area * contact.area * velocity[k];
    }
    problem.respond(impulse_, change_);
    for (std::size_t k = 0; k < change_.size(); ++k) motion_.velocity[k] += change_[k];
}

// Positions are corrected until no contact is deeper than allowed; velocities are not touched. Elastic bodies get out of
// deep overlaps as a whole, as long as that helps: it strains nothing, and strain would come back as velocity.
void VolumeMethod::stabilise(const Model& model, const State& state, StageTimer& timer, StepReport& report) {
    int loops = 0;
    double worst = 0, depth = 0, before = 1e300;
    bool whole = false;
    std::vector<double> multiplier;
    for (;; ++loops) {
        {
            const auto stage = timer.stage("collision_detection");
            finder_.find(model, motion_, now_);
        }
        worst = depth = 0;
        for (const VolumeContact& contact : now_) {
            worst = std::max(worst, contact.depth() / contact.pixel);
            depth = std::max(depth, contact.depth());
        }
        if (worst <= 1.02 * kAllowedDepthPixels || loops == settings_.stabilisation_loops) break;
        whole = loops == 0 ? worst > kDeepPixels : whole && worst < 0.95 * before;
        before = worst;
        ContactProblem problem(model, state, motion_);
        {
            const auto stage = timer.stage("contact_modelling");
            problem.set_positions(now_, kAllowedDepthPixels, whole, whole ? 1e300 : kBentPixels);
            problem.couple();
        }
        const auto stage = timer.stage("constraint_solver");
        multiplier.assign(now_.size(), 0.0);
        problem.solve({settings_.sweeps, 0.01 * kAllowedDepthPixels * finder_.grid().pixel}, multiplier,
                      change_);
        if (!whole) limit_change(model, 2 * kBentPixels * finder_.grid().pixel);
        motion_.shift(model, state, change_);
    }
    report.metrics.emplace_back("stabilisation_loops", loops);
    report.metrics.emplace_back("depth", depth);
    report.min_distance = now_.empty() ? 1e300 : -depth;
}

// No vertex of an elastic body farther than this: its whole change is scaled.
void VolumeMethod::limit_change(const Model& model, double most) {
    for (int e = 0; e < static_cast<int>(model.elastic.size()); ++e) {
        Eigen::Map<Eigen::Matrix3Xd> change(change_.data() + motion_.elastic_offset(e), 3,
                                            static_cast<Eigen::Index>(motion_.vertices[e].size()));
        const double farthest = change.colwise().norm().maxCoeff();
        if (farthest > most) change *= most / farthest;
    }
}

void VolumeMethod::report_contacts(Outputs& outputs, double dt, StepReport& report) const {
    outputs.contacts.clear();
    double volume = 0;
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        const VolumeContact& contact = contacts_[i];
        Contact made;
        made.a = contact.a, made.b = contact.b;
        made.point = contact.center;
        made.normal = contact.normal;
        made.distance = -contact.depth();
        made.force = impulse_of(i) / dt;
        outputs.contacts.push_back(made);
        volume += contact.cell.volume();
    }
    report.contacts = static_cast<int>(contacts_.size());
    report.metrics.emplace_back("volume", volume);
    report.metrics.emplace_back("elastic_energy", motion_.elastic_energy());
    report.metrics.emplace_back("ldi_rays", static_cast<double>(finder_.stats().rays));
    report.metrics.emplace_back("ldi_layers", finder_.stats().layers);
    report.metrics.emplace_back("ldi_triangles", static_cast<double>(finder_.stats().triangles));
}

// What this method cannot see well: solids of few pixels, motion past a solid within one step, open surfaces.
void VolumeMethod::warn(const Model& model, const State& state, double dt, StepReport& report) const {
    report.warnings = finder_.warnings();
    const int bodies = model.bodies.size();
    const auto name = [&](int i) {
        return i < bodies ? model.bodies.name[i] : model.elastic[i - bodies].name;
    };
    for (int i = 0; i < bodies + static_cast<int>(model.elastic.size()); ++i) {
        const double thickness = finder_.thickness(i), pixel = finder_.grid_of(i, i).pixel;
        if ((i < bodies && !model.bodies.collides[i]) || thickness > 1e299) continue;
        if (thickness < 2 * pixel)
            report.warnings.push_back(
                fmt::format("body '{}' is {:.3g} m thin, under two pixels of {:.3g} m: contact may miss it; "
                            "set method.pixel to {:.2g} or less",
                            name(i), thickness, pixel, thickness / 4));
        else if (thickness < 4 * pixel)
            report.warnings.push_back(fmt::format(
                "pixels of {:.3g} m are coarse for body '{}', which is {:.3g} m thin: its contacts will "
                "be rough; set method.pixel to {:.2g} or less",
                pixel, name(i), thickness, thickness / 4));
        double speed = 0;
        if (i >= bodies)
            for (std::size_t v = 0; v < motion_.vertices[i - bodies].size(); ++v)
                speed = std::max(speed, Eigen::Map<const Vec3>(motion_.velocity.data() +
                                                               motion_.elastic_offset(i - bodies) + 3 * v)
                                            .norm());
        else if (state.type[i] != BodyType::static_body)
            speed = motion_.rigid[i].velocity.norm();
        if (speed * dt > 0.5 * thickness)
            report.warnings.push_back(
                fmt::format("body '{}' moves by more than half its thickness in a step and may tunnel; "
                            "set dt to {:.2g} or less",
                            name(i), 0.25 * thickness / speed));
    }
    for (int i : finder_.leaking())
        report.warnings.push_back(
            fmt::format("some rays are inside body '{}' or one that it touches more than once: a mesh "
                        "intersects itself; run "
                        "`tenon check`, and mend it",
                        name(i)));
}

Settings read_settings(const Params& params) {
    Settings settings;
    settings.pixel = params.number("pixel");
    settings.cell_pixels = params.text("contacts") == "mono" ? 0 : params.integer("cell_pixels");
    settings.response = params.text("response");
    settings.penalty = params.number("penalty");
    settings.viscous = params.number("viscous_friction");
    settings.forces_at_center = params.flag("forces_at_center");
    settings.stabilisation_loops = params.integer("stabilisation_loops");
    settings.sweeps = params.integer("sweeps");
    settings.tolerance = params.number("tolerance");
    settings.refine = params.integer("refine");
    settings.self_contact = params.flag("self_contact");
    settings.cut = read_cut(params);
    return settings;
}

namespace {

std::vector<ParamInfo> parameters() {
    std::vector<ParamInfo> made = {
        {"pixel",
         0.0,
         "size of a pixel of the depth images; 0: a sixteenth of the thinnest moving body",
         0.0,
         1e3,
         {},
         "m"},
        {"contacts",
         std::string("multi"),
         "one volume per pair of bodies, or one per grid cell",
         0,
         0,
         {"mono", "multi"}},
        {"cell_pixels", 8.0, "pixels along the side of a grid cell", 1.0, 4096.0},
        {"response",
         std::string("constraint"),
         "unilateral constraints, or the penalty force they improve on",
         0,
         0,
         {"constraint", "penalty"}},
        {"penalty", 1e9, "stiffness of the penalty force per volume", 0.0, 1e18, {}, "Pa/m^3"},
        {"viscous_friction", 0.0, "viscous friction of the penalty response", 0.0, 1e18, {}, "N s/m^5"},
        {"forces_at_center", false, "apply friction at the contact's centre instead of its surfaces"},
        {"stabilisation_loops", 8.0, "most corrections of positions in a step", 0.0, 1000.0},
        {"sweeps", 500.0, "most Gauss-Seidel sweeps of a solve", 1.0, 100000.0},
        {"refine", 2.0, "halvings of the pixel, at most, for pairs with a body thinner than four pixels", 0.0,
         8.0},
        {"tolerance", 1e-5, "residual at which sweeps end", 0.0, 1.0, {}, "m/s"},
        {"self_contact", true, "let elastic bodies touch themselves"},
    };
    for (const ParamInfo& info : cut_parameters()) made.push_back(info);
    return made;
}

std::optional<Unsupported> supports(const Scene& scene) {
    if (!scene.joints.empty())
        return Unsupported{"joints[0]", "the volume method has no joints",
                           "use --method articulated or affine"};
    const std::optional<CutSpec> cut = cut_of(scene);
    const auto named = [&](const ElasticSpec& body) { return body.name == cut->body; };
    if (cut && std::none_of(scene.elastic.begin(), scene.elastic.end(), named))
        return Unsupported{"method.cut_body", "there is no elastic body named '" + cut->body + "'",
                           "name one of the scene's elastic bodies"};
    for (std::size_t i = 0; i < scene.forces.size(); ++i)
        if (scene.forces[i].body >= static_cast<int>(scene.bodies.size()))
            return Unsupported{fmt::format("forces[{}]", i),
                               "the volume method has no forces on elastic bodies", "use --method adaptive"};
    return std::nullopt;
}

std::unique_ptr<Stepper> make(const Model& model, const State& state, const Params& params) {
    return std::make_unique<VolumeMethod>(model, state, read_settings(params));
}

}  // namespace
}  // namespace tenon::volume

namespace tenon {

MethodInfo volume_method() {
    return {"volume", "contact from intersection volumes at any resolution; untangles overlaps",
            volume::parameters(), volume::supports, volume::make};
}

}  // namespace tenon

#include "methods/volume/volume_method.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "math/timer.hpp"

namespace tenon::volume {
namespace {

// Intersections shallower than this part of a pixel are left in place: contact needs an overlap to be seen.
constexpr double kAllowedDepthPixels = 0.5;

}  // namespace

// A sixteenth of the smallest side of the smallest moving body, but not more than two thousand pixels across the scene.
double choose_pixel(const World& world) {
    double smallest = 1e300;
    for (int i = 0; i < world.bodies.size(); ++i)
        if (world.bodies.dynamic(i)) smallest = std::min(smallest, world.shape_of(i).box.size().minCoeff());
    for (const ElasticBody& body : world.elastic) {
        Box3 box;
        for (const Vec3& x : body.rest) box.add(x);
        smallest = std::min(smallest, box.size().minCoeff());
    }
    const double length = world.scene_length();
    return std::clamp(smallest / 16, length / 2000, length / 20);
}

VolumeMethod::VolumeMethod(const World& world, const Settings& settings)
    : settings_(settings),
      motion_(world),
      finder_(world, {{settings.pixel > 0 ? settings.pixel : choose_pixel(world), settings.cell_pixels},
                      settings.self_contact,
                      0.0}) {}

// Algorithm 1 of the paper.
StepReport VolumeMethod::step(World& world, double dt) {
    StageTimer timer;
    StepReport report;
    {
        const auto stage = timer.stage("mechanical_motion");
        motion_.predict(world, dt);
    }
    {
        const auto stage = timer.stage("collision_detection");
        finder_.find(world, motion_, contacts_);
    }
    {
        const auto stage = timer.stage("constraint_solver");
        if (settings_.response == "penalty")
            apply_penalties(world, dt);
        else
            solve_velocities(world, report);
    }
    {
        const auto stage = timer.stage("mechanical_motion");
        motion_.advance(world, dt);
    }
    if (settings_.response != "penalty") {
        const auto stage = timer.stage("stabilisation");
        stabilise(world, report);
    }
    warn(world, dt, report);
    motion_.store(world);
    report_contacts(world, dt, report);
    report.phases = timer.stages();
    return report;
}

void VolumeMethod::solve_velocities(const World& world, StepReport& report) {
    ContactRows rows(world, motion_);
    rows.velocity_problem(contacts_, settings_.forces_at_center);
    normal_row_.clear();
    for (int row = 0; row < rows.problem().rows(); ++row)
        if (rows.problem().normal_row[row] < 0) normal_row_.push_back(row);
    solve::PgsSettings pgs;
    pgs.max_sweeps = settings_.sweeps;
    pgs.tolerance = settings_.tolerance;
    pgs.symmetric = true;
    impulse_.assign(rows.problem().rows(), 0.0);
    const solve::PgsResult result = pgs_.solve(rows.problem(), pgs, impulse_, motion_.velocity);
    report.iterations = result.sweeps;
    report.converged = result.converged || contacts_.empty();
    report.figures.emplace_back("residual", result.residual);
}

// Eq. 15, the soft constraint that the paper improves on: a force against the gradient of k V^2 / 2, and viscous friction.
void VolumeMethod::apply_penalties(const World& world, double dt) {
    ContactRows rows(world, motion_);
    rows.velocity_problem(contacts_, settings_.forces_at_center);
    const solve::PgsProblem& problem = rows.problem();
    impulse_.assign(problem.rows(), 0.0);
    normal_row_.clear();
    const std::vector<double> before = motion_.velocity;
    int contact = -1;
    for (int row = 0; row < problem.rows(); ++row) {
        const bool normal = problem.normal_row[row] < 0;
        if (normal) {
            normal_row_.push_back(row);
            ++contact;
        }
        const VolumeContact& c = contacts_[contact];
        double speed = 0;
        for (int e = problem.j_start[row]; e < problem.j_start[row + 1]; ++e)
            speed += problem.j_value[e] * before[problem.j_index[e]];
        impulse_[row] = normal ? dt * settings_.penalty * c.cell.volume() * c.area
                               : -dt * settings_.viscous * c.area * c.area * speed;
        for (int e = problem.b_start[row]; e < problem.b_start[row + 1]; ++e)
            motion_.velocity[problem.b_index[e]] += problem.b_value[e] * impulse_[row];
    }
}

// Positions are corrected until no contact is deeper than allowed; velocities are not touched.
void VolumeMethod::stabilise(const World& world, StepReport& report) {
    const double allowed = kAllowedDepthPixels * finder_.grid().pixel;
    int loops = 0;
    double worst = 0;
    std::vector<double> step, multiplier;
    for (;; ++loops) {
        finder_.find(world, motion_, now_);
        worst = 0;
        for (const VolumeContact& contact : now_) worst = std::max(worst, contact.depth());
        if (worst <= 1.02 * allowed || loops == settings_.stabilisation_loops) break;
        ContactRows rows(world, motion_);
        rows.position_problem(now_, allowed);
        solve::PgsSettings pgs;
        pgs.max_sweeps = settings_.sweeps;
        pgs.tolerance = 0.01 * allowed;
        multiplier.assign(rows.problem().rows(), 0.0);
        step.assign(motion_.unknowns(), 0.0);
        pgs_.solve(rows.problem(), pgs, multiplier, step);
        motion_.shift(world, step);
    }
    report.figures.emplace_back("stabilisation_loops", loops);
    report.figures.emplace_back("depth", worst);
    report.min_distance = now_.empty() ? 1e300 : -worst;
}

void VolumeMethod::report_contacts(World& world, double dt, StepReport& report) const {
    world.contacts.clear();
    double volume = 0;
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        const VolumeContact& contact = contacts_[i];
        Contact made;
        made.a = contact.a, made.b = contact.b;
        made.point = contact.center;
        made.normal = contact.normal;
        made.distance = -contact.depth();
        const int row = normal_row_[i];
        made.force = impulse_[row] / dt * contact.normal;
        if (contact.friction > 0)
            // friction rows weigh side b's velocities by minus its area
            made.force -=
                (impulse_[row + 1] * contact.tangent[0] + impulse_[row + 2] * contact.tangent[1]) / dt;
        world.contacts.push_back(made);
        volume += contact.cell.volume();
    }
    report.contacts = static_cast<int>(contacts_.size());
    report.figures.emplace_back("volume", volume);
    report.figures.emplace_back("elastic_energy", motion_.elastic_energy());
    report.figures.emplace_back("ldi_rays", static_cast<double>(finder_.stats().rays));
    report.figures.emplace_back("ldi_triangles", static_cast<double>(finder_.stats().triangles));
}

// What this method cannot see: solids thinner than two pixels, and motion past a solid within one step.
void VolumeMethod::warn(const World& world, double dt, StepReport& report) const {
    report.warnings = finder_.warnings();
    const double pixel = finder_.grid().pixel;
    for (int i = 0; i < world.bodies.size(); ++i) {
        if (!world.bodies.collides[i] || !world.shape_of(i).closed) continue;
        const double thinnest = world.shape_of(i).box.size().minCoeff();
        if (thinnest < 2 * pixel)
            report.warnings.push_back(
                fmt::format("body '{}' is {:.3g} m thin, under two pixels of {:.3g} m: contact may miss it; "
                            "set method.pixel to {:.2g} or less",
                            world.bodies.name[i], thinnest, pixel, thinnest / 4));
        const double speed = motion_.rigid[i].velocity.norm();
        if (world.bodies.dynamic(i) && speed * dt > 0.5 * thinnest)
            report.warnings.push_back(
                fmt::format("body '{}' moves by more than half its thickness in a step and may tunnel; "
                            "set dt to {:.2g} or less",
                            world.bodies.name[i], 0.25 * thinnest / speed));
    }
    if (finder_.stats().parity_errors > 0)
        report.warnings.push_back(
            "some rays leave a surface they never entered: a mesh is open or intersects itself; run `tenon "
            "check`");
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
    settings.self_contact = params.flag("self_contact");
    return settings;
}

namespace {

std::vector<ParamInfo> parameters() {
    return {
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
        {"sweeps", 200.0, "most Gauss-Seidel sweeps of a solve", 1.0, 100000.0},
        {"tolerance", 1e-9, "residual at which sweeps end", 0.0, 1.0, {}, "m/s"},
        {"self_contact", true, "let elastic bodies touch themselves"},
    };
}

std::optional<Unsupported> supports(const Scene& scene) {
    if (!scene.joints.empty())
        return Unsupported{"joints[0]", "the volume method has no joints",
                           "use --method articulated or affine"};
    return std::nullopt;
}

std::unique_ptr<Method> make(const World& world, const Params& params) {
    return std::make_unique<VolumeMethod>(world, read_settings(params));
}

}  // namespace
}  // namespace tenon::volume

namespace tenon {

MethodInfo volume_method() {
    return {"volume", "contact from intersection volumes at any resolution; untangles overlaps",
            volume::parameters(), volume::supports, volume::make};
}

}  // namespace tenon

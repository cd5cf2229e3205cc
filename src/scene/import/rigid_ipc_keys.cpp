#include "scene/import/rigid_ipc_keys.hpp"

namespace tenon::scene {
namespace {

const ObjectInfo& pose_object() {
    static const ObjectInfo info{
        "kinematic pose",
        "Pose of the centre of mass after one more time step.",
        {{.name = "position", .kind = Kind::vec3, .help = "metres"},
         {.name = "rotation", .kind = Kind::vec3, .help = "rotation vector in radians"}}};
    return info;
}

const ObjectInfo& body_object() {
    static const ObjectInfo info{
        "rigid body",
        "One entry of rigid_bodies.",
        {{.name = "mesh", .kind = Kind::text, .help = "file relative to the folder of meshes"},
         {.name = "vertices", .kind = Kind::points, .help = "inline mesh"},
         {.name = "faces", .kind = Kind::indices, .help = "inline mesh", .count = 3},
         {.name = "edges", .kind = Kind::indices, .help = "inline mesh", .count = 2},
         {.name = "density", .kind = Kind::number, .help = "kg/m^3", .min = 0},
         {.name = "is_dof_fixed", .kind = Kind::fixed, .help = "one or six flags"},
         {.name = "oriented", .kind = Kind::flag, .help = "of planar scenes"},
         {.name = "group_id", .kind = Kind::integer, .help = "bodies of one group do not collide"},
         {.name = "position", .kind = Kind::vec3, .help = "of the model's origin"},
         {.name = "rotation", .kind = Kind::vec3, .help = "degrees, R = Rz Ry Rx"},
         {.name = "scale", .kind = Kind::scale, .help = "about the model's origin"},
         {.name = "dimensions", .kind = Kind::vec3, .help = "full size, instead of scale", .min = 0},
         {.name = "linear_velocity", .kind = Kind::vec3, .help = "m/s"},
         {.name = "angular_velocity", .kind = Kind::vec3, .help = "degrees/s, world frame"},
         {.name = "force", .kind = Kind::vec3, .help = "N, at the centre of mass"},
         {.name = "torque", .kind = Kind::vec3, .help = "in units of pi/180 N m, world frame"},
         {.name = "enabled", .kind = Kind::flag, .help = "false: left out"},
         {.name = "type", .kind = Kind::text, .help = "kind", .choices = {"dynamic", "static", "kinematic"}},
         {.name = "kinematic_max_time", .kind = Kind::number, .help = "s; static afterwards"},
         {.name = "kinematic_poses", .kind = Kind::objects, .help = "one a step", .object = pose_object},
         {.name = "split_components", .kind = Kind::flag, .help = "one body for each connected part"},
         {.name = "ipc_comparison_enabled", .kind = Kind::flag, .help = "of its comparison scripts"}}};
    return info;
}

const ObjectInfo& problem_object() {
    static const ObjectInfo info{
        "rigid body problem",
        "The bodies and what they share.",
        {{.name = "rigid_bodies",
          .kind = Kind::objects,
          .help = "the bodies",
          .object = body_object,
          .required = true},
         {.name = "coefficient_restitution", .kind = Kind::number, .help = "negative: none", .max = 1},
         {.name = "coefficient_friction",
          .kind = Kind::number,
          .help = "of all pairs",
          .min = 0,
          .max = 1000},
         {.name = "gravity", .kind = Kind::vec3, .help = "m/s^2"},
         {.name = "time_stepper", .kind = Kind::text, .help = "integrator"},
         {.name = "collision_eps", .kind = Kind::number, .help = "of its collision checks"},
         {.name = "do_intersection_check", .kind = Kind::flag, .help = "of its own checks"}}};
    return info;
}

const ObjectInfo& barrier_object() {
    static const ObjectInfo info{
        "distance barrier constraint",
        "Contact.",
        {{.name = "initial_barrier_activation_distance",
          .kind = Kind::number,
          .help = "m",
          .min = 0,
          .open_min = true},
         {.name = "minimum_separation_distance", .kind = Kind::number, .help = "m", .min = 0},
         {.name = "barrier_type", .kind = Kind::text, .help = "its barrier"},
         {.name = "detection_method", .kind = Kind::text, .help = "its broad phase"},
         {.name = "trajectory_type", .kind = Kind::text, .help = "its paths within a step"}}};
    return info;
}

const ObjectInfo& friction_object() {
    static const ObjectInfo info{"friction constraints",
                                 "Friction.",
                                 {{.name = "iterations",
                                   .kind = Kind::integer,
                                   .help = "renewals a step; 0 none, -1 until converged",
                                   .min = -1},
                                  {.name = "static_friction_speed_bound",
                                   .kind = Kind::number,
                                   .help = "m/s",
                                   .min = 0,
                                   .open_min = true}}};
    return info;
}

const ObjectInfo& linear_solver_object() {
    static const ObjectInfo info{"linear solver",
                                 "Its linear solver.",
                                 {{.name = "name", .kind = Kind::text, .help = "its linear solver"},
                                  {.name = "max_iter", .kind = Kind::number, .help = "iterations"},
                                  {.name = "tolerance", .kind = Kind::number, .help = "tolerance"}}};
    return info;
}

const ObjectInfo& solver_object() {
    static const ObjectInfo info{
        "solver",
        "The Newton solver.",
        {{.name = "velocity_conv_tol", .kind = Kind::number, .help = "m/s", .min = 0, .open_min = true},
         {.name = "max_iterations", .kind = Kind::number, .help = "Newton iterations a step"},
         {.name = "is_velocity_conv_tol_abs", .kind = Kind::flag, .help = "tolerance in m/s, or relative"},
         {.name = "convergence_criteria", .kind = Kind::text, .help = "its criterion"},
         {.name = "is_energy_converged_tol_abs", .kind = Kind::flag, .help = "its criterion"},
         {.name = "energy_conv_tol", .kind = Kind::number, .help = "its criterion"},
         {.name = "dhat_epsilon", .kind = Kind::number, .help = "its stiffness"},
         {.name = "min_barrier_stiffness_scale", .kind = Kind::number, .help = "its stiffness"},
         {.name = "linear_solver",
          .kind = Kind::object,
          .help = "its linear solver",
          .object = linear_solver_object}}};
    return info;
}

}  // namespace

const ObjectInfo& rigid_ipc_keys() {
    static const ObjectInfo info{
        "rigid-ipc scene",
        "A scene of rigid-ipc.",
        {{.name = "scene_type",
          .kind = Kind::text,
          .help = "the problem",
          .choices = {"distance_barrier_rb_problem"}},
         {.name = "solver", .kind = Kind::text, .help = "name of the solver's settings"},
         {.name = "timestep", .kind = Kind::number, .help = "s", .min = 0, .max = 1000, .open_min = true},
         {.name = "max_time", .kind = Kind::number, .help = "s; negative: not given"},
         {.name = "max_iterations", .kind = Kind::integer, .help = "steps; negative: not given"},
         {.name = "rigid_body_problem",
          .kind = Kind::object,
          .help = "the bodies",
          .object = problem_object,
          .required = true},
         {.name = "distance_barrier_constraint",
          .kind = Kind::object,
          .help = "contact",
          .object = barrier_object},
         {.name = "friction_constraints",
          .kind = Kind::object,
          .help = "friction",
          .object = friction_object},
         {.name = "ipc_solver", .kind = Kind::object, .help = "solver", .object = solver_object},
         {.name = "newton_solver", .kind = Kind::object, .help = "solver", .object = solver_object},
         {.name = "seed", .kind = Kind::number, .help = "of its random numbers"}}};
    return info;
}

}  // namespace tenon::scene

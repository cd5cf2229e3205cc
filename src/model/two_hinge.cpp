#include "model/two_hinge.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/shapes.hpp"
#include "tenon/state.hpp"

namespace tenon::model {
namespace {

constexpr double mass_share = 0.01;  // of the lighter of the two bodies
constexpr double size_share = 0.25;  // of the side of a cube of its volume

// The body whose mass and size the cross is made from: the lighter one that moves.
int lighter(const Model& model, const JointSpec& joint) {
    int found = -1;
    for (int body : joint.bodies)
        if (body >= 0 && model.bodies.start_type[body] != BodyType::static_body &&
            (found < 0 || model.bodies.mass[body] < model.bodies.mass[found]))
            found = body;
    return found;
}

BodySpec cross_of(Scene& scene, const Model& model, const JointSpec& joint, int pattern) {
    const auto spin = [&](int body) {
        return body < 0 ? Vec3(Vec3::Zero()) : scene.bodies[body].angular_velocity;
    };
    const double side = size_share * std::cbrt(model.bodies.volume[pattern]);
    BodySpec cross;
    cross.name = joint.name + "-cross";
    GeometrySpec geometry;
    geometry.shape = "box";
    geometry.shape_params = resolve_params(geometry::find_shape("box")->parameters,
                                           {{"size", std::vector<double>{side, side, side}}}, {});
    cross.geometry = scene.add_geometry(geometry);
    cross.material = scene.bodies[pattern].material;
    cross.mass = mass_share * model.bodies.mass[pattern];
    cross.position = joint.point;
    cross.collides = false;
    cross.group = scene.bodies[pattern].group;
    // it turns with the first body but for the turn about the first axis
    const Vec3 first = spin(joint.bodies[0]), second = spin(joint.bodies[1]);
    cross.angular_velocity = first + joint.axis.normalized().dot(second - first) * joint.axis.normalized();
    const BodySpec& carrier = scene.bodies[pattern];
    cross.linear_velocity =
        carrier.linear_velocity +
        carrier.angular_velocity.cross(Vec3(joint.point - model.bodies.start_q[pattern].col(3)));
    return cross;
}

bool splits(const JointSpec& joint) {
    return joint.type == JointType::universal && joint.linear;
}

}  // namespace

bool has_linear_universals(const Scene& scene) {
    return std::any_of(scene.joints.begin(), scene.joints.end(), splits);
}

Scene split_linear_universals(const Scene& given) {
    Scene scene = given;
    const int count = static_cast<int>(scene.joints.size()), bodies = static_cast<int>(scene.bodies.size());
    Scene bare = scene;  // masses and sizes are known once bodies are built
    bare.joints.clear();
    bare.elastic.clear();
    bare.actuators.clear();  // they name joints
    bare.start.clear();
    const Model model = compile(bare);
    std::vector<int> second_hinge(scene.joints.size(), -1);
    for (int j = 0; j < count; ++j) {
        if (!splits(scene.joints[j])) continue;
        const JointSpec joint = scene.joints[j];
        const int pattern = lighter(model, joint);
        if (pattern < 0) continue;  // refused when the joints are built
        const int cross = scene.add_body(cross_of(scene, model, joint, pattern));
        const Vec3 axis = joint.axis.normalized();
        Vec3 other = joint.axis_b.value_or(axis.unitOrthogonal());
        other = (other - axis * axis.dot(other)).normalized();
        JointSpec first = joint, second = joint;
        first.type = second.type = JointType::hinge;
        first.axis_b.reset(), second.axis_b.reset();
        first.bodies[1] = second.bodies[0] = cross;
        second.name += "-b";
        second.axis = other;
        if (first.drives.size() > 1) first.drives.resize(1);
        second.drives.assign(joint.drives.begin() + std::min<std::ptrdiff_t>(1, std::ssize(joint.drives)),
                             joint.drives.end());
        scene.joints[j] = first;
        second_hinge[j] = static_cast<int>(scene.joints.size());
        scene.joints.push_back(second);
    }
    for (JointSpec& joint : scene.joints) {
        if (joint.type != JointType::coupling) continue;
        for (int k = 0; k < 2; ++k)
            if (joint.coordinates[k] == 1 && second_hinge[joint.joints[k]] >= 0) {
                joint.joints[k] = second_hinge[joint.joints[k]];
                joint.coordinates[k] = 0;
            }
    }
    const int added = static_cast<int>(scene.bodies.size()) - bodies;
    for (ForceSpec& force : scene.forces)  // elastic bodies are numbered after the bodies
        if (force.body >= bodies) force.body += added;
    return scene;
}

}  // namespace tenon::model

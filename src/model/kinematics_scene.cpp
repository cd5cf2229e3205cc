// From a scene's bodies and joints to a tree in joint coordinates.
#include <deque>

#include <fmt/format.h>

#include "model/joint_rows.hpp"
#include "tenon/error.hpp"
#include "tenon/kinematics.hpp"
#include "tenon/model.hpp"
#include "tenon/params.hpp"

namespace tenon::kinematics {
namespace {

std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

class Builder {
  public:
    Builder(const Scene& scene, const Model& model) : scene_(scene), model_(model) {}

    SceneTree build() {
        const std::size_t count = scene_.bodies.size();
        out_.tree.gravity = scene_.gravity;
        out_.link_of_body.assign(count, -1);
        out_.body_in_link.resize(count);
        out_.joints.resize(scene_.joints.size());
        seen_.assign(count + 1, 0);
        around_.resize(count + 1);
        used_.assign(scene_.joints.size(), 0);
        for (std::size_t j = 0; j < scene_.joints.size(); ++j) {
            const JointSpec& joint = scene_.joints[j];
            if (joint.type == JointType::coupling) continue;
            for (const int body : joint.bodies) around_[node(body)].push_back(static_cast<int>(j));
        }
        visit(-1, -1);
        for (std::size_t i = 0; i < count; ++i)
            if (model_.bodies.start_type[i] != BodyType::dynamic_body) visit(static_cast<int>(i), -1);
        walk();
        for (std::size_t i = 0; i < count; ++i)
            if (!seen_[i]) {
                Link link;
                link.name = scene_.bodies[i].name;
                link.motion = Link::Motion::free;
                link.anchor = scene_.bodies[i].position;
                carry(link, static_cast<int>(i), link.anchor);
                visit(static_cast<int>(i), add(link, link.anchor));
                walk();
            }
        for (std::size_t j = 0; j < scene_.joints.size(); ++j)
            if (!used_[j] && scene_.joints[j].type != JointType::coupling)
                out_.cut_joints.push_back(static_cast<int>(j));
        return std::move(out_);
    }

  private:
    std::size_t node(int body) const { return body < 0 ? scene_.bodies.size() : at(body); }

    void visit(int body, int link) {
        seen_[node(body)] = 1;
        if (body >= 0) out_.link_of_body[at(body)] = link;
        queue_.push_back(body);
    }

    int add(const Link& link, const Vec3& origin) {
        link_origin_.push_back(origin);
        return out_.tree.add(link);
    }

    // The body's mass in a link whose frame, at zero, sits at `origin` and is turned like the world.
    void carry(Link& link, int body, const Vec3& origin) {
        const Mat34& q = model_.bodies.start_q[body];
        const Mat3 R = q.leftCols<3>();
        link.mass = model_.bodies.mass[body];
        link.center = q.col(3) - origin;
        const BodySpec& spec = scene_.bodies[at(body)];
        Vec3 moments = model_.bodies.moments_of_inertia(body);
        if (spec.inertia) moments = spec.inertia->moments;  // as given: flat bodies too
        link.inertia = R * moments.asDiagonal() * R.transpose();
        out_.body_in_link[at(body)] = {spec.position - origin, spec.rotation};
    }

    void walk() {
        while (!queue_.empty()) {
            const int body = queue_.front();
            queue_.pop_front();
            for (const int j : around_[node(body)]) {
                const JointSpec& joint = scene_.joints[at(j)];
                const bool reversed = joint.bodies[1] == body;
                const int other = joint.bodies[reversed ? 0 : 1];
                if (used_[at(j)] || joint.type == JointType::distance || seen_[node(other)]) continue;
                used_[at(j)] = 1;
                extend(j, body, other, reversed);
            }
        }
    }

    struct Step {
        Link::Motion motion;
        Vec3 axis;
        int coordinate;
    };
    std::vector<Step> steps(const JointSpec& spec) const {
        const Mat3 frame = reference_frame(spec);
        using Motion = Link::Motion;
        switch (spec.type) {
            case JointType::hinge:
                return {{Motion::hinge, frame.col(0), 0}};
            case JointType::prismatic:
                return {{Motion::slide, frame.col(0), 0}};
            case JointType::cylindrical:
                return {{Motion::hinge, frame.col(0), 0}, {Motion::slide, frame.col(0), 1}};
            case JointType::universal:
                return {{Motion::hinge, frame.col(0), 0}, {Motion::hinge, frame.col(1), 1}};
            case JointType::planar:
                return {{Motion::slide, frame.col(1), 0},
                        {Motion::slide, frame.col(2), 1},
                        {Motion::hinge, frame.col(0), 2}};
            case JointType::ball:
                return {{Motion::ball, frame.col(0), 0}};
            default:
                return {{Motion::fixed, frame.col(0), 0}};
        }
    }

    Mat3 reference_frame(const JointSpec& spec) const {
        const auto index = static_cast<std::size_t>(&spec - scene_.joints.data());
        const Joint& joint = model_.joints[index];
        return joint.bodies[0] < 0
                   ? joint.frame[0]
                   : Mat3(model_.bodies.start_q[joint.bodies[0]].leftCols<3>() * joint.frame[0]);
    }

    void extend(int j, int body, int other, bool reversed) {
        const JointSpec& spec = scene_.joints[at(j)];
        std::vector<Step> chain = steps(spec);
        if (reversed) std::reverse(chain.begin(), chain.end());
        int parent = body < 0 ? -1 : out_.link_of_body[at(body)];
        // frames are turned like the world at zero: anchors are differences of world points
        Vec3 origin = parent < 0 ? Vec3(Vec3::Zero()) : link_origin_[at(parent)];
        SceneTree::JointPlace place{static_cast<int>(out_.tree.links.size()), static_cast<int>(chain.size()),
                                    reversed};
        for (std::size_t k = 0; k < chain.size(); ++k) {
            Link link;
            link.name = chain.size() == 1 ? spec.name : fmt::format("{}.{}", spec.name, chain[k].coordinate);
            link.parent = parent;
            link.motion = chain[k].motion;
            link.axis = reversed ? Vec3(-chain[k].axis) : chain[k].axis;
            link.anchor = spec.point - origin;
            const auto coordinate = at(chain[k].coordinate);
            if (coordinate < spec.drives.size() && link.motion != Link::Motion::ball) {
                link.armature = spec.drives[coordinate].armature;
                link.limits = spec.drives[coordinate].limits;
            }
            if (k + 1 == chain.size()) carry(link, other, spec.point);
            parent = add(link, spec.point);
            origin = spec.point;
        }
        out_.joints[at(j)] = place;
        visit(other, parent);
    }

    const Scene& scene_;
    const Model& model_;
    SceneTree out_;
    std::vector<char> seen_, used_;
    std::vector<std::vector<int>> around_;
    std::vector<Vec3> link_origin_;  // at zero, in the world
    std::deque<int> queue_;
};

}  // namespace

SceneTree tree_of(const Scene& scene) {
    Scene bare = scene;  // as it is with all joints at zero
    bare.start.clear();
    bare.actuators.clear();
    bare.elastic.clear();
    for (JointSpec& joint : bare.joints) {
        joint.start.clear();
        joint.start_rate.clear();
    }
    const Model model = compile(bare);
    return Builder(bare, model).build();
}

int SceneTree::link(const Scene& scene, const std::string& joint) const {
    std::vector<std::string> names;
    for (std::size_t j = 0; j < scene.joints.size(); ++j) {
        if (scene.joints[j].name == joint && joints[j].first_link >= 0) return joints[j].first_link;
        names.push_back(scene.joints[j].name);
    }
    throw InputError(scene.file, "joints", fmt::format("no joint of the tree is named '{}'", joint),
                     suggestion(joint, names));
}

}  // namespace tenon::kinematics
